"""Problem texts that the tests of the tactician share."""

from clients.tactician.knowledge import Knowledge

LISTS = """\
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
"""
REV_REV = "∀ {a : Type} (xs : lst a), rev (rev xs) = xs"
APPEND_NIL = "∀ {a : Type} (xs : lst a), append xs lst.nil = xs"
REV_APPEND_ONE = "∀ {a : Type} (xs : lst a) (x : a), rev (append xs (lst.cons x lst.nil)) = lst.cons x (rev xs)"

NUMBERS = """\
inductive num where
  | zero
  | succ (pred : num)
  deriving DecidableEq

def le : num → num → Bool
  | .zero, n => true
  | .succ m, .zero => false
  | .succ m, .succ n => le m n

def least (m n : num) : num := if le m n = true then m else n

def half : num → num
  | .zero => num.zero
  | .succ .zero => num.zero
  | .succ (.succ n) => num.succ (half n)

def pred (n : num) : num := match n with
  | .zero => num.zero
  | .succ m => m
"""
LE_TOTAL = "∀ (m n : num), le m n = false → le n m = true"


TREES = """\
inductive tree (a : Type) where
  | leaf
  | node (left : tree a) (label : a) (right : tree a)
  deriving DecidableEq

def mirror {a : Type} : tree a → tree a
  | .leaf => @tree.leaf a
  | .node l x r => tree.node (mirror r) x (mirror l)

def nodes {a : Type} : tree a → num
  | .leaf => num.zero
  | .node l x r => num.succ (nodes l)
"""


def knowledge(source: str, target: str) -> Knowledge:
    """What an agent knows at first."""
    text = f"{source}\ntheorem target : {target} := by sorry\n"
    return Knowledge(source=text, target=target, root="n0", seed=1)
