/- Equality and rewriting.  Each part must elaborate without a message. -/

-- rw in both directions
theorem t (a b c : Nat) (h : a = b) (k : c = b) : a = c := by
  rw [h, ← k]

-- rw at a hypothesis
theorem t (a b c : Nat) (h : a = b) (k : a = c) : b = c := by
  rw [h] at k
  exact k

-- rw with an equivalence
theorem t (p q : Prop) (h : p ↔ q) (b : q) : p := by
  rw [h]
  exact b

-- calc
theorem t (a b c : Nat) (h : a ≤ b) (k : b = c) : a ≤ c := calc
  a ≤ b := h
  _ = c := k

-- subst and symm
theorem t (a b : Nat) (h : a = b) : b = a := by
  symm
  subst h
  rfl

-- congr
theorem t (f : Nat → Nat → Nat) (a b : Nat) (h : a = b) : f a 1 = f b 1 := by
  congr

-- funext
theorem t (f g : Nat → Nat) (h : ∀ n, f n = g n) : f = g := by
  funext n
  exact h n

-- injection
theorem t (a b : Nat) (h : a + 1 = b + 1) : a = b := by
  injection h

-- generalize
theorem t (a b : Nat) : a * b + 1 ≠ 0 := by
  generalize a * b = c
  exact Nat.succ_ne_zero c

-- triangle
theorem t (a b : Nat) (p : Nat → Prop) (h : a = b) (k : p a) : p b := h ▸ k

-- conv
theorem t (a b : Nat) : a + b = b + a := by
  conv => lhs; rw [Nat.add_comm]

-- injectivity of pairs
theorem t (a b c d : Nat) (h : (a, b) = (c, d)) : b = d := by
  simp at h
  exact h.2

-- rwa at the goal and at a hypothesis
theorem t (a b c : Nat) (h : a = b) (k : a = c) (l : b = c → c = 7) : c = 7 := by
  have m : b = c := by rwa [← h]
  rw [h] at k
  exact l (m ▸ rfl)
theorem u (a b c : Nat) (h : a = b) (k : a = c) : b = c := by
  rwa [h] at k

-- extensionality
@[ext] structure Pair where
  x : Nat
  y : Nat
theorem t (p q : Pair) (h : p.x = q.x) (k : p.y = q.y) : p = q := by
  ext
  · exact h
  · exact k
theorem u (f g : Nat → Prop) (h : ∀ n, f n ↔ g n) : f = g := by
  ext n
  exact h n
