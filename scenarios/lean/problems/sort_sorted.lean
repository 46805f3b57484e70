/-
Insertion sort sorts.
Grade: 4 of 5.
Source: prod 14 of TIP (A. Ireland, A. Bundy, Productive Use of Failure in Inductive Proof, 1996), our own
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

def below : num → lst num → Bool
  | x, .nil => true
  | x, .cons y ys => leq x y

def sorted : lst num → Bool
  | .nil => true
  | .cons x xs => if below x xs = true then sorted xs else false

theorem sort_sorted : ∀ (xs : lst num), sorted (sort xs) = true := by sorry
