/-
Reversing with an accumulator is reversing.
Grade: 3 of 5.
Source: prod 27 of TIP (A. Ireland, A. Bundy, Productive Use of Failure in Inductive Proof, 1996), our own
  formulation.
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

def revOnto {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => revOnto xs (lst.cons x ys)

theorem rev_onto : ∀ {a : Type} (xs : lst a), revOnto xs (@lst.nil a) = rev xs := by sorry
