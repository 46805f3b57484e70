/-
The sum of the first odd numbers is a square.
Grade: 4 of 5.
Source: textbook fact, our own formulation (F. Maurolico, Arithmeticorum libri duo, 1575).
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

def sumOdd : num → num
  | .zero => num.zero
  | .succ n => plus (num.succ (plus n n)) (sumOdd n)

theorem odd_squares : ∀ (n : num), sumOdd n = times n n := by sorry
