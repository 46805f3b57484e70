/-
Insertion sort changes no number of occurrences.
Grade: 4 of 5.
Source: prod 50 of TIP (A. Ireland, A. Bundy, Productive Use of Failure in Inductive Proof, 1996), our own
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

def same : num → num → Bool
  | .zero, .zero => true
  | .zero, .succ n => false
  | .succ m, .zero => false
  | .succ m, .succ n => same m n

def count : num → lst num → num
  | x, .nil => num.zero
  | x, .cons y ys => if same x y = true then num.succ (count x ys) else count x ys

theorem count_sort : ∀ (x : num) (xs : lst num), count x (sort xs) = count x xs := by sorry
