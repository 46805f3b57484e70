/-
A tree and its mirror image have the same number of labels.
Grade: 2 of 5.
Source: textbook fact, our own formulation.
-/
inductive tree (a : Type) where
  | leaf
  | node (left : tree a) (label : a) (right : tree a)
  deriving DecidableEq

inductive num where
  | zero
  | succ (pred : num)
  deriving DecidableEq

def plus : num → num → num
  | .zero, n => n
  | .succ m, n => num.succ (plus m n)

def mirror {a : Type} : tree a → tree a
  | .leaf => @tree.leaf a
  | .node l x r => tree.node (mirror r) x (mirror l)

def size {a : Type} : tree a → num
  | .leaf => num.zero
  | .node l x r => num.succ (plus (size l) (size r))

theorem mirror_size : ∀ {a : Type} (t : tree a), size (mirror t) = size t := by sorry
