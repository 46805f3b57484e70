"""A problem that every team solves at once."""

EASY = """inductive lst (a : Type) where
  | nil
  | cons (head : a) (tail : lst a)
  deriving DecidableEq

def app {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => lst.cons x (app xs ys)

theorem app_nil : ∀ {a : Type} (xs : lst a), app xs (@lst.nil a) = xs := by sorry
"""
