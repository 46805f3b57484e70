/-
Twice the sum of the first numbers.
Grade: 4 of 5.
Source: textbook fact, our own formulation (known from C. F. Gauss).
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

def sumTo : num → num
  | .zero => num.zero
  | .succ n => plus (num.succ n) (sumTo n)

theorem gauss : ∀ (n : num), plus (sumTo n) (sumTo n) = times n (num.succ n) := by sorry
