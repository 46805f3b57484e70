/-
Half of the double of a number is the number.
Grade: 1 of 5.
Source: textbook fact, our own formulation.
-/
inductive num where
  | zero
  | succ (pred : num)
  deriving DecidableEq

def double : num → num
  | .zero => num.zero
  | .succ n => num.succ (num.succ (double n))

def half : num → num
  | .zero => num.zero
  | .succ .zero => num.zero
  | .succ (.succ n) => num.succ (half n)

theorem half_double : ∀ (n : num), half (double n) = n := by sorry
