/-
A power with a sum as exponent is a product of powers.
Grade: 4 of 5.
Source: textbook fact, our own formulation.
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

def power : num → num → num
  | m, .zero => num.succ num.zero
  | m, .succ n => times m (power m n)

theorem power_plus : ∀ (x m n : num), power x (plus m n) = times (power x m) (power x n) := by sorry
