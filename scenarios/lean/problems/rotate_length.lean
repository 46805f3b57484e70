/-
Rotating a list by its length gives the list back.
Grade: 4 of 5.
Source: prod 32 of TIP (A. Ireland, A. Bundy, Productive Use of Failure in Inductive Proof, 1996), our own
  formulation.
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

def length {a : Type} : lst a → num
  | .nil => num.zero
  | .cons x xs => num.succ (length xs)

def rotate {a : Type} : num → lst a → lst a
  | .zero, xs => xs
  | .succ n, .nil => @lst.nil a
  | .succ n, .cons x xs => rotate n (append xs (lst.cons x (@lst.nil a)))

theorem rotate_length : ∀ {a : Type} (xs : lst a), rotate (length xs) xs = xs := by sorry
