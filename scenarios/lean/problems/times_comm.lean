/-
Multiplication of natural numbers is commutative.
Grade: 3 of 5.
Source: textbook fact, our own formulation (G. Peano, Arithmetices principia, 1889).
-/
inductive num where
  | zero
  | succ (pred : num)
  deriving DecidableEq

def plus : num → num → num
  | .zero, n => n
  | .succ m, n => num.succ (plus m n)

def times : num → num → num
  | .zero, n => num.zero
  | .succ m, n => plus n (times m n)

theorem times_comm : ∀ (m n : num), times m n = times n m := by sorry
