/-
Insertion sort keeps the length of a list.
Grade: 2 of 5.
Source: isaplanner 20 of TIP (M. Johansson, L. Dixon, A. Bundy, Case-Analysis for Rippling and Inductive
  Proof, 2010), our own formulation.
-/
inductive lst (a : Type) where
  | nil
  | cons (head : a) (tail : lst a)
  deriving DecidableEq

inductive num where
  | zero
  | succ (pred : num)
  deriving DecidableEq

def length {a : Type} : lst a → num
  | .nil => num.zero
  | .cons x xs => num.succ (length xs)

def leq : num → num → Bool
  | .zero, n => true
  | .succ m, .zero => false
  | .succ m, .succ n => leq m n

def insert : num → lst num → lst num
  | x, .nil => lst.cons x (@lst.nil num)
  | x, .cons y ys => if leq x y = true then lst.cons x (lst.cons y ys) else lst.cons y (insert x ys)

def sort : lst num → lst num
  | .nil => @lst.nil num
  | .cons x xs => insert x (sort xs)

theorem sort_length : ∀ (xs : lst num), length (sort xs) = length xs := by sorry
