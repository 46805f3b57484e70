/-
Appending in either order gives lists of the same length.
Grade: 2 of 5.
Source: prod 2 of TIP (A. Ireland, A. Bundy, Productive Use of Failure in Inductive Proof, 1996), our own
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

theorem length_append_comm : ∀ {a : Type} (xs ys : lst a), length (append xs ys) = length (append ys xs) := by sorry
