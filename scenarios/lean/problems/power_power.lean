/-
A power of a power multiplies the exponents.
Grade: 5 of 5.
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

theorem power_power : ∀ (x m n : num), power (power x m) n = power x (times m n) := by sorry
