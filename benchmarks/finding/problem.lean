inductive L where
  | nil : L
  | cons : Nat → L → L

def app : L → L → L
  | .nil, y => y
  | .cons h t, y => .cons h (app t y)

def rev : L → L
  | .nil => .nil
  | .cons h t => app (rev t) (.cons h .nil)

def len : L → Nat
  | .nil => 0
  | .cons _ t => len t + 1

def sum : L → Nat
  | .nil => 0
  | .cons h t => h + sum t

def map : (Nat → Nat) → L → L
  | _, .nil => .nil
  | f, .cons h t => .cons (f h) (map f t)

def snoc : L → Nat → L
  | .nil, n => .cons n .nil
  | .cons h t, n => .cons h (snoc t n)

def double : Nat → Nat
  | 0 => 0
  | n + 1 => double n + 2

theorem target : ∀ (x y : L), rev (rev (app x y)) = app x y := by sorry
