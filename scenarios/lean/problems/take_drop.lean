/-
A list is what one takes from it, followed by what one drops.
Grade: 1 of 5.
Source: textbook fact, our own formulation (R. Bird, P. Wadler, Introduction to Functional Programming, 1988).
-/
inductive lst (a : Type) where
  | nil
  | cons (head : a) (tail : lst a)
  deriving DecidableEq

inductive num where
  | zero
  | succ (pred : num)
  deriving DecidableEq

def append {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => lst.cons x (append xs ys)

def take {a : Type} : num → lst a → lst a
  | .zero, xs => @lst.nil a
  | .succ n, .nil => @lst.nil a
  | .succ n, .cons x xs => lst.cons x (take n xs)

def drop {a : Type} : num → lst a → lst a
  | .zero, xs => xs
  | .succ n, .nil => @lst.nil a
  | .succ n, .cons x xs => drop n xs

theorem take_drop : ∀ {a : Type} (n : num) (xs : lst a), append (take n xs) (drop n xs) = xs := by sorry
