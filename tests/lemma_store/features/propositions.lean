/- Propositional and predicate logic.  Each part must elaborate without a message. -/

-- intro and exact
theorem t (p q : Prop) : p → q → p := by
  intro left _
  exact left

-- apply with bullets
theorem t (p q r : Prop) (f : p → q → r) (a : p) (b : q) : r := by
  apply f
  · exact a
  · exact b

-- refine with holes
theorem t (p q : Prop) (a : p) (b : q) : q ∧ p := by
  refine ⟨?_, ?_⟩ <;> assumption

-- constructor and case
theorem t (p q : Prop) (a : p) (b : q) : p ∧ q := by
  constructor
  case right => exact b
  case left => exact a

-- anonymous constructor
theorem t (p q : Prop) (h : p ∧ q) : q ∧ p := ⟨h.2, h.1⟩

-- cases with names
theorem t (p q : Prop) (h : p ∨ q) : q ∨ p := by
  cases h with
  | inl a => exact .inr a
  | inr b => exact .inl b

-- left and right
theorem t (p q : Prop) (h : p ∨ q) : q ∨ p := by
  cases h
  · right; assumption
  · left; assumption

-- rcases patterns
theorem t (p q r : Prop) (h : (p ∨ q) ∧ r) : (p ∧ r) ∨ q := by
  rcases h with ⟨a | b, c⟩
  · exact .inl ⟨a, c⟩
  · exact .inr b

-- obtain
theorem t (p : Nat → Prop) (h : ∃ n, p n ∧ n = 3) : p 3 := by
  obtain ⟨n, hn, rfl⟩ := h
  exact hn

-- rintro
theorem t (p q : Prop) : p ∧ q → q := by
  rintro ⟨_, b⟩
  exact b

-- exists
theorem t : ∃ n : Nat, n * n = 49 := by
  exists 7

-- iff by both directions
theorem t (p q : Prop) : p ∨ q ↔ q ∨ p := by
  constructor <;> exact Or.symm

-- by_cases
theorem t (p q : Prop) (f : p → q) (g : ¬p → q) : q := by
  by_cases h : p
  · exact f h
  · exact g h

-- exfalso and contradiction
theorem t (p q : Prop) (a : p) (n : ¬p) : q := by
  exfalso
  contradiction

-- match on a hypothesis
theorem t (p q : Prop) (h : p ∧ q) : q := match h with
  | ⟨_, b⟩ => b

-- nomatch
theorem t (p : Prop) (h : False) : p := nomatch h

-- have, show, suffices
theorem t (p q r : Prop) (f : p → q) (g : q → r) (a : p) : r := by
  suffices b : q from g b
  have b := f a
  show q
  exact b

-- excluded middle
theorem t (p q : Prop) : ((p → q) → p) → p := by
  intro h
  by_cases a : p
  · exact a
  · exact h fun b => absurd b a

-- quantifiers exchanged
theorem t (p : Nat → Nat → Prop) : (∃ x, ∀ y, p x y) → ∀ y, ∃ x, p x y := fun ⟨x, h⟩ y => ⟨x, h y⟩

-- bounded quantifier
theorem t : ∀ n < 5, n * n < 17 := by decide

-- and_intros
theorem t (p q r : Prop) (a : p) (b : q) (c : r) : p ∧ q ∧ r := by
  and_intros <;> assumption

-- repeat and first
theorem t (p q r : Prop) (a : p) (b : q) (c : r) : p ∧ q ∧ r := by
  repeat (first | assumption | constructor)

-- specialize and revert
theorem t (p : Nat → Prop) (h : ∀ n, p n) : p 8 := by
  specialize h 8
  revert h
  exact id

-- rename_i and next
theorem t (p q : Prop) : p ∧ q → q := by
  intro h
  cases h
  next _ b => exact b

-- solve_by_elim and apply_assumption
theorem t (p q r : Prop) (f : p → q) (g : q → r) (a : p) : r ∧ q := by
  constructor
  · solve_by_elim
  · apply_assumption
    exact a
