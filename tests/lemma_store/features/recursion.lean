/- Datatypes, recursion and induction.  Each part must elaborate without a message. -/

-- induction with names
theorem t (n : Nat) : 0 + n = n := by
  induction n with
  | zero => rfl
  | succ n ih => rw [← Nat.add_assoc, ih]

-- induction generalizing
theorem t (n m : Nat) : n + m = m + n := by
  induction n generalizing m with
  | zero => exact Nat.zero_add m
  | succ n ih => rw [Nat.add_right_comm, ih, Nat.add_assoc]

-- own datatype
inductive Tree where
  | leaf
  | node (l r : Tree)
  deriving DecidableEq
def Tree.turn : Tree → Tree
  | .leaf => .leaf
  | .node l r => .node r.turn l.turn
theorem t (x : Tree) : x.turn.turn = x := by
  induction x <;> simp_all [Tree.turn]

-- injectivity of own constructors
inductive N where
  | z
  | s (n : N)
theorem t (a b : N) (h : N.s a = N.s b) : a = b := by simpa using h

-- deriving decidable equality
inductive Color where
  | red
  | mixed (a b : Color)
  deriving DecidableEq
theorem t : Color.red ≠ .mixed .red .red := by decide

-- lists
theorem t {α : Type} (xs ys zs : List α) : xs ++ ys ++ zs = xs ++ (ys ++ zs) := by
  induction xs with
  | nil => rfl
  | cons x xs ih => exact congrArg (x :: ·) ih

-- list literals
theorem t : [1, 2] ++ [3] = [1, 2, 3] ∧ 2 ∈ [1, 2] := by simp

-- computation by rfl
def fact : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * fact n
theorem t : fact 10 = 3628800 := rfl

-- mutual recursion
mutual
def isEven : Nat → Bool
  | 0 => true
  | n + 1 => isOdd n
def isOdd : Nat → Bool
  | 0 => false
  | n + 1 => isEven n
end
theorem t : isEven 100 = true := rfl

-- nested datatype
inductive Rose (α : Type) where
  | node (label : α) (children : List (Rose α))
theorem t (a b : Nat) (h : Rose.node a [] = Rose.node b []) : a = b := by simpa using h

-- indexed family
inductive Vec (α : Type) : Nat → Type where
  | nil : Vec α 0
  | cons {n : Nat} (a : α) (v : Vec α n) : Vec α (n + 1)
def Vec.head {α : Type} {n : Nat} : Vec α (n + 1) → α
  | .cons a _ => a
theorem t : (Vec.cons 1 .nil).head = 1 := rfl

-- inductive predicate
inductive Even : Nat → Prop where
  | zero : Even 0
  | step {n : Nat} : Even n → Even (n + 2)
theorem t : ¬Even 1 := by
  intro h
  cases h

-- termination shown by a tactic
def down (n : Nat) : Nat := if h : n = 0 then 0 else down (n - 1)
termination_by n
decreasing_by exact Nat.sub_one_lt h
theorem t : down 1 = 0 := by
  rw [down, down]
  simp

-- termination found: lexicographic
def ack : Nat → Nat → Nat
  | 0, n => n + 1
  | m + 1, 0 => ack m 1
  | m + 1, n + 1 => ack m (ack (m + 1) n)
termination_by m n => (m, n)
theorem t (n : Nat) : ack 0 n = n + 1 := by rw [ack]

-- termination found: sum of sizes
def zip {α : Type} : List α → List α → List α
  | [], ys => ys
  | x :: xs, ys => x :: zip ys xs
termination_by xs ys => sizeOf xs + sizeOf ys
theorem t (xs : List Nat) : zip [] xs = xs := by rw [zip]

-- termination found: subtraction
def half (n : Nat) : Nat := if h : n < 2 then 0 else half (n - 2) + 1
termination_by n
theorem t : half 0 = 0 := by rw [half]; simp

-- well-founded induction
theorem t (p : Nat → Prop) (h : ∀ n, (∀ m, m < n → p m) → p n) (n : Nat) : p n :=
  h n fun m _ => t p h m
termination_by n

-- induction along a function
def last : List Nat → Nat
  | [] => 0
  | [x] => x
  | _ :: y :: xs => last (y :: xs)
theorem t (xs : List Nat) : last xs = 0 ∨ last xs ∈ xs := by
  fun_induction last xs with
  | case1 => exact .inl rfl
  | case2 => simp
  | case3 x y xs ih => exact ih.imp id fun h => List.mem_cons.mpr (.inr h)

-- termination found: remainder
def euclid (m n : Nat) : Nat := if _h : m = 0 then n else euclid (n % m) m
termination_by m
theorem t (n : Nat) : euclid 0 n = n := by
  rw [euclid]
  simp

-- mutual recursion by a measure of two parts
mutual
def deep : Nat → List Nat → Nat
  | 0, xs => xs.length
  | n + 1, xs => wide n (n :: xs)
termination_by n _ => (n, 0)
def wide : Nat → List Nat → Nat
  | n, [] => n
  | n, _ :: xs => deep n xs + wide n xs
termination_by n xs => (n, 1 + sizeOf xs)
end
theorem deep_of_two : deep 2 [5] = 2 := by simp [deep, wide]

-- counting up to a bound
def upTo (x y : Int) : List Int :=
  if _ : y < x then [] else x :: upTo (1 + x) y
termination_by (y + 1 - x).toNat
decreasing_by exact Int.toNat_up (by assumption) (by decide)
theorem upTo_of_one : upTo (-1) 1 = [-1, 0, 1] := by decide +kernel
