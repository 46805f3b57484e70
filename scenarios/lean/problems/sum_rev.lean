/-
A list and its reverse have the same sum.
Grade: 3 of 5.
Source: textbook fact, our own formulation.
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

def plus : num → num → num
  | .zero, n => n
  | .succ m, n => num.succ (plus m n)

def sum : lst num → num
  | .nil => num.zero
  | .cons x xs => plus x (sum xs)

theorem sum_rev : ∀ (xs : lst num), sum (rev xs) = sum xs := by sorry
