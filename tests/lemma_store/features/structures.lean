/- Structures, classes, notation.  Each part must elaborate without a message. -/

-- structure
structure Point where
  x : Nat
  y : Nat
  deriving DecidableEq
theorem t (p : Point) (h : p = ⟨1, 2⟩) : p.y = 2 := by rw [h]

-- class with a law
class Monoid' (α : Type) where
  op : α → α → α
  one : α
  one_op : ∀ a, op one a = a
  op_one : ∀ a, op a one = a
theorem t {α : Type} [Monoid' α] (e : α) (h : ∀ a : α, Monoid'.op e a = a) : e = Monoid'.one := by
  rw [← Monoid'.op_one e, h]

-- instance
structure Pair where
  fst : Nat
  snd : Nat
instance : Add Pair := ⟨fun p q => ⟨p.fst + q.fst, p.snd + q.snd⟩⟩
theorem t : (Pair.mk 1 2 + Pair.mk 3 4).snd = 6 := rfl

-- namespace and variable
namespace Box
variable (p q : Prop)
theorem swap (h : p ∧ q) : q ∧ p := h.symm
end Box
open Box in
theorem t (p q : Prop) (h : p ∧ q) : q ∧ p := swap p q h

-- section and abbrev
section
abbrev Endo (α : Type) := α → α
def twice {α : Type} (f : Endo α) : Endo α := fun a => f (f a)
end
theorem t : twice Nat.succ 3 = 5 := rfl

-- pipelines and composition
theorem t (f g : Nat → Nat) (n : Nat) : (f ∘ g) n = (g n |> f) := rfl

-- strings
theorem t : "ab" ≠ "ba" := by decide

-- minimum and maximum
theorem t (a b : Nat) : min a b ≤ max a b := Nat.le_trans (Nat.min_le_left a b) (Nat.le_max_left a b)

-- divisibility
theorem t (a b : Nat) : 3 ∣ 12 ∧ ¬5 ∣ 12 ∧ (a + 7 * b) % 7 = a % 7 := ⟨⟨4, rfl⟩, by decide, by simp⟩

-- injective function
theorem t : Function.Injective Nat.succ := fun _ _ h => Nat.succ.inj h

-- conditional on a Boolean
theorem t (b : Bool) : (if b then 1 else 2) = bif b then 1 else 2 := by simp

-- notation
notation:65 a " ⊞ " b => a + b + 1
theorem t : (2 ⊞ 3) = 6 := rfl

-- macro
macro "done_by_rfl" : tactic => `(tactic| exact rfl)
theorem t : 2 + 2 = 4 := by done_by_rfl

-- integers
def sign (a : Int) : Int := if a < 0 then -1 else 1
theorem t (a b : Int) : a + b - b = a ∧ sign (-7) = -1 := ⟨Int.add_sub_cancel a b, rfl⟩
