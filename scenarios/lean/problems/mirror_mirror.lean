/-
The mirror image of the mirror image of a tree is the tree.
Grade: 1 of 5.
Source: textbook fact, our own formulation.
-/
inductive tree (a : Type) where
  | leaf
  | node (left : tree a) (label : a) (right : tree a)
  deriving DecidableEq

def mirror {a : Type} : tree a → tree a
  | .leaf => @tree.leaf a
  | .node l x r => tree.node (mirror r) x (mirror l)

theorem mirror_mirror : ∀ {a : Type} (t : tree a), mirror (mirror t) = t := by sorry
