/-
The labels of the mirror image are those of the tree in reverse.
Grade: 3 of 5.
Source: textbook fact, our own formulation.
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

def rev {a : Type} : lst a → lst a
  | .nil => @lst.nil a
  | .cons x xs => append (rev xs) (lst.cons x (@lst.nil a))

def mirror {a : Type} : tree a → tree a
  | .leaf => @tree.leaf a
  | .node l x r => tree.node (mirror r) x (mirror l)

def flatten {a : Type} : tree a → lst a
  | .leaf => @lst.nil a
  | .node l x r => append (flatten l) (lst.cons x (flatten r))

theorem flatten_mirror : ∀ {a : Type} (t : tree a), flatten (mirror t) = rev (flatten t) := by sorry
