/-
Flattening a tree with an accumulator is flattening.
Grade: 3 of 5.
Source: textbook fact, our own formulation (R. Bird, P. Wadler, Introduction to Functional Programming, 1988).
-/
inductive lst (a : Type) where
  | nil
  | cons (head : a) (tail : lst a)
  deriving DecidableEq

inductive tree (a : Type) where
  | leaf
  | node (left : tree a) (label : a) (right : tree a)
  deriving DecidableEq

def append {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => lst.cons x (append xs ys)

def flatten {a : Type} : tree a → lst a
  | .leaf => @lst.nil a
  | .node l x r => append (flatten l) (lst.cons x (flatten r))

def flattenOnto {a : Type} : tree a → lst a → lst a
  | .leaf, ys => ys
  | .node l x r, ys => flattenOnto l (lst.cons x (flattenOnto r ys))

theorem flatten_onto : ∀ {a : Type} (t : tree a), flattenOnto t (@lst.nil a) = flatten t := by sorry
