/-
A number added to itself is even.
Grade: 2 of 5.
Source: prod 16 of TIP (A. Ireland, A. Bundy, Productive Use of Failure in Inductive Proof, 1996), our own
  formulation.
-/
inductive num where
  | zero
  | succ (pred : num)
  deriving DecidableEq

def plus : num → num → num
  | .zero, n => n
  | .succ m, n => num.succ (plus m n)

def even : num → Bool
  | .zero => true
  | .succ .zero => false
  | .succ (.succ n) => even n

theorem even_plus_self : ∀ (n : num), even (plus n n) = true := by sorry
