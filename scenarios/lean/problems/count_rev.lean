/-
Reversing changes no number of occurrences.
Grade: 3 of 5.
Source: isaplanner 52 of TIP (M. Johansson, L. Dixon, A. Bundy, Case-Analysis for Rippling and Inductive
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

def append {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => lst.cons x (append xs ys)

def rev {a : Type} : lst a → lst a
  | .nil => @lst.nil a
  | .cons x xs => append (rev xs) (lst.cons x (@lst.nil a))

def same : num → num → Bool
  | .zero, .zero => true
  | .zero, .succ n => false
  | .succ m, .zero => false
  | .succ m, .succ n => same m n

def count : num → lst num → num
  | x, .nil => num.zero
  | x, .cons y ys => if same x y = true then num.succ (count x ys) else count x ys

theorem count_rev : ∀ (x : num) (xs : lst num), count x (rev xs) = count x xs := by sorry
