/-
The reverse of two lists one after the other.
Grade: 2 of 5.
Source: textbook fact, our own formulation (R. Bird, P. Wadler, Introduction to Functional Programming, 1988).
-/
inductive lst (a : Type) where
  | nil
  | cons (head : a) (tail : lst a)
  deriving DecidableEq

def append {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => lst.cons x (append xs ys)

def rev {a : Type} : lst a → lst a
  | .nil => @lst.nil a
  | .cons x xs => append (rev xs) (lst.cons x (@lst.nil a))

theorem rev_append : ∀ {a : Type} (xs ys : lst a), rev (append xs ys) = append (rev ys) (rev xs) := by sorry
