/-
Two maps in a row are one.
Grade: 1 of 5.
Source: textbook fact, our own formulation (R. Bird, P. Wadler, Introduction to Functional Programming, 1988).
-/
inductive lst (a : Type) where
  | nil
  | cons (head : a) (tail : lst a)
  deriving DecidableEq

def map {a b : Type} : (a → b) → lst a → lst b
  | f, .nil => @lst.nil b
  | f, .cons x xs => lst.cons (f x) (map f xs)

def compose {a b c : Type} (f : b → c) (g : a → b) (x : a) : c := f (g x)

theorem map_fusion :
    ∀ {a b c : Type} (f : b → c) (g : a → b) (xs : lst a), map f (map g xs) = map (compose f g) xs := by sorry
