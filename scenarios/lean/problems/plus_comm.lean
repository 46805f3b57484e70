/-
Addition of natural numbers is commutative.
Grade: 2 of 5.
Source: textbook fact, our own formulation (G. Peano, Arithmetices principia, 1889).
-/
inductive num where
  | zero
  | succ (pred : num)
  deriving DecidableEq

def plus : num → num → num
  | .zero, n => n
  | .succ m, n => num.succ (plus m n)

theorem plus_comm : ∀ (m n : num), plus m n = plus n m := by sorry
