/-
The empty list is a right unit of append.
Grade: 1 of 5.
Source: textbook fact, our own formulation (R. Bird, P. Wadler, Introduction to Functional Programming, 1988).
-/
inductive lst (a : Type) where
  | nil
  | cons (head : a) (tail : lst a)
  deriving DecidableEq

def append {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => lst.cons x (append xs ys)

theorem append_nil : ∀ {a : Type} (xs : lst a), append xs (@lst.nil a) = xs := by sorry
