/- `simp` and its relatives, and which normal forms they know.  Each part must elaborate without a message. -/

-- hypotheses as rules
theorem t (a b : Nat) (h : a = b) : a + 0 = b := by simp [h]

-- simp only
theorem t (a b : Nat) : a + 0 + (0 + b) = a + b := by simp only [Nat.add_zero, Nat.zero_add]

-- simp at everything
theorem t (a b : Nat) (h : a + 0 = b) (k : 0 + b = 3) : a = 3 := by
  simp at *
  rw [h, k]

-- simp_all
theorem t (p q r : Prop) (f : p → q) (g : q → r) (a : p) : r := by simp_all

-- simpa
theorem t (a b : Nat) (h : a + 0 = b * 1) : a = b := by simpa using h

-- commutativity as a rule
theorem t (a b c : Nat) : a + b + c = c + b + a := by simp only [Nat.add_comm, Nat.add_left_comm]

-- numerals
theorem t : 2 + 3 * 4 = 14 ∧ 2 ^ 10 = 1024 ∧ 17 / 5 = 3 ∧ 17 % 5 = 2 ∧ 3 - 5 = 0 := by simp

-- numerals on both sides
theorem t (a b : Nat) (h : a + 3 = b + 5) : a = b + 2 := by simpa using h

-- Boolean connectives
theorem t (a b c : Bool) : (a && b || !c) = true ↔ (a = true ∧ b = true) ∨ c = false := by simp

-- negated Boolean
theorem t (f : Nat → Bool) (h : ¬f 0 = true) : f 0 = false := by simp_all

-- different constructors
theorem t : true ≠ false ∧ (∀ n : Nat, some n ≠ none) ∧ ∀ n : Nat, n + 1 ≠ 0 := by simp

-- decide as a proposition
theorem t (a b : Nat) : decide (a < b) = true ↔ a < b := by simp

-- Boolean equality
theorem t (a b : Nat) : (a == b) = true ↔ a = b := by simp

-- Boolean inequality
theorem t (a b : Nat) : (a != b) = true ↔ ¬a = b := by simp

-- condition in a conditional
theorem t (a b : Nat) : (if a = b then true else false) = true ↔ a = b := by simp

-- conditional with a known condition
theorem t (n : Nat) (h : n < 3) : (if n < 3 then 1 else 2) = 1 := by simp [h]

-- negated quantifiers
theorem t (p : Nat → Prop) : (¬∀ n, p n) ↔ ∃ n, ¬p n := by simp

-- one-point rule
theorem t (p : Nat → Prop) : (∃ n, n = 4 ∧ p n) ↔ p 4 := by simp

-- negated implication
theorem t (p q : Prop) : ¬(p → q) ↔ p ∧ ¬q := by simp

-- negated order
theorem t (a b : Nat) : ¬a ≤ b ↔ b < a := by simp

-- cancellation
theorem t (a b c : Nat) : a + b = a + c ↔ b = c := by simp

-- linear arithmetic
theorem t (a b c : Nat) : a + 2 * b < c + b + a + b + 1 + c := by simp +arith

-- linear contradiction
theorem t (a b : Nat) (h : 2 * a + b < b + a) : False := by simp +arith at h

-- split
theorem t (n : Nat) : (if n = 0 then 1 else n) ≠ 0 := by
  split
  · decide
  · assumption

-- split at a hypothesis
theorem t (n m : Nat) (h : (if n = 0 then 1 else 2) = m) : m ≠ 0 := by
  split at h <;> subst h <;> decide

-- lists
theorem t (xs ys : List Nat) (f : Nat → Nat) : ((xs ++ ys).map f).reverse.length = ys.length + xs.length := by
  simp +arith

-- membership
theorem t (xs : List Nat) (p : Nat → Bool) (n : Nat) : n ∈ xs.filter p → p n = true ∧ n ∈ xs.reverse := by
  simp_all

-- integer literals
theorem t : (3 : Int) - 5 = -2 ∧ (2 : Int) * -3 < -5 := by simp
