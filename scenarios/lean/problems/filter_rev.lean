/-
Filtering and reversing may change places.
Grade: 3 of 5.
Source: isaplanner 73 of TIP (M. Johansson, L. Dixon, A. Bundy, Case-Analysis for Rippling and Inductive
  Proof, 2010), our own formulation.
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

def filter {a : Type} : (a → Bool) → lst a → lst a
  | p, .nil => @lst.nil a
  | p, .cons x xs => if p x = true then lst.cons x (filter p xs) else filter p xs

theorem filter_rev : ∀ {a : Type} (p : a → Bool) (xs : lst a), filter p (rev xs) = rev (filter p xs) := by sorry
