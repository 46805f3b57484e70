/-
MiniCore.Simp: what `simp` builds its proofs from, and its default set for logic.
-/
prelude
import MiniCore.Decide
set_option linter.all false
set_option autoImplicit false
universe u v

/-! ## What `simp` builds its proofs from -/
theorem of_eq_true {p : Prop} (h : p = True) : p := h ▸ trivial
theorem of_eq_false {p : Prop} (h : p = False) : ¬p := fun hp => h ▸ hp
theorem eq_true {p : Prop} (h : p) : p = True := propext ⟨fun _ => trivial, fun _ => h⟩
theorem eq_false {p : Prop} (h : ¬p) : p = False := propext ⟨h, False.elim⟩
theorem eq_self {α : Sort u} (a : α) : (a = a) = True := eq_true rfl
theorem iff_self (p : Prop) : (p ↔ p) = True := eq_true Iff.rfl
theorem ne_eq {α : Sort u} (a b : α) : (a ≠ b) = ¬(a = b) := rfl
theorem eq_false_of_ne_true : {b : Bool} → b ≠ true → b = false
  | true, h => absurd rfl h
  | false, _ => rfl
theorem false_of_true_eq_false (h : True = False) : False := h ▸ trivial
theorem implies_congr {p₁ p₂ : Sort u} {q₁ q₂ : Sort v} (h₁ : p₁ = p₂) (h₂ : q₁ = q₂) :
    (p₁ → q₁) = (p₂ → q₂) := h₁ ▸ h₂ ▸ rfl
theorem implies_congr_ctx {p₁ p₂ q₁ q₂ : Prop} (h₁ : p₁ = p₂) (h₂ : p₂ → q₁ = q₂) :
    (p₁ → q₁) = (p₂ → q₂) :=
  propext ⟨fun h hp => (h₂ hp).mp (h (h₁.mpr hp)), fun h hp => (h₂ (h₁.mp hp)).mpr (h (h₁.mp hp))⟩
theorem implies_dep_congr_ctx {p₁ p₂ q₁ : Prop} (h₁ : p₁ = p₂) {q₂ : p₂ → Prop} (h₂ : (h : p₂) → q₁ = q₂ h) :
    (p₁ → q₁) = ((h : p₂) → q₂ h) :=
  propext ⟨fun h hp => (h₂ hp).mp (h (h₁.mpr hp)), fun h hp => (h₂ (h₁.mp hp)).mpr (h (h₁.mp hp))⟩
theorem forall_congr {α : Sort u} {p q : α → Prop} (h : ∀ a, p a = q a) : (∀ a, p a) = (∀ a, q a) :=
  (funext h : p = q) ▸ rfl
theorem forall_prop_domain_congr {p₁ p₂ : Prop} {q : p₁ → Prop} (h : p₁ = p₂) :
    (∀ a : p₁, q a) = (∀ a : p₂, q (h.mpr a)) :=
  propext ⟨fun f a => f (h.mpr a), fun f a => f (h.mp a)⟩
theorem forall_prop_congr_dom {p₁ p₂ : Prop} (h : p₁ = p₂) (q : p₁ → Prop) :
    (∀ a : p₁, q a) = (∀ a : p₂, q (h.mpr a)) := forall_prop_domain_congr h
theorem ite_congr {α : Sort u} {b c : Prop} {x y z w : α} {s : Decidable b} [Decidable c]
    (h₁ : b = c) (h₂ : c → x = z) (h₃ : ¬c → y = w) : ite b x y = ite c z w := by
  cases Decidable.em c with
  | inl h => rw [if_pos h, if_pos (h₁.mpr h)]; exact h₂ h
  | inr h => rw [if_neg h, if_neg (fun hb => h (h₁.mp hb))]; exact h₃ h
theorem ite_eq_left_of_eq_true {α : Sort u} {c : Prop} {_ : Decidable c} (a b : α) (h : c = True) :
    (if c then a else b) = a := if_pos (of_eq_true h)
theorem ite_eq_right_of_eq_false {α : Sort u} {c : Prop} {_ : Decidable c} (a b : α) (h : c = False) :
    (if c then a else b) = b := if_neg (of_eq_false h)
theorem dite_eq_left_of_eq_true {α : Sort u} {c : Prop} {_ : Decidable c} {t : c → α} {e : ¬c → α}
    (h : c = True) : (dite c t e) = t (of_eq_true h) := dite_eq_left _
theorem dite_eq_right_of_eq_false {α : Sort u} {c : Prop} {_ : Decidable c} {t : c → α} {e : ¬c → α}
    (h : c = False) : (dite c t e) = e (of_eq_false h) := dite_eq_right _
theorem eq_true_of_decide {p : Prop} [Decidable p] (h : decide p = true) : p = True :=
  eq_true (of_decide_eq_true h)
theorem eq_false_of_decide {p : Prop} [Decidable p] (h : decide p = false) : p = False :=
  eq_false (of_decide_eq_false h)
theorem eq_false' {p : Prop} (h : p → False) : p = False := eq_false h
theorem not_eq_false {p : Prop} (h : (¬p) = False) : p = True :=
  propext ⟨fun _ => trivial, fun _ => Decidable.byContradiction (h := Classical.propDecidable p) (fun n => h ▸ n)⟩

/-! ## The default `simp` set -/
section
variable (p q r : Prop)
theorem eq_self_iff_true {α : Sort u} (a : α) : a = a ↔ True := ⟨fun _ => trivial, fun _ => rfl⟩
@[simp] theorem heq_eq_eq {α : Sort u} (a b : α) : (a ≍ b) = (a = b) := propext ⟨eq_of_heq, heq_of_eq⟩
@[simp] theorem eq_iff_iff {a b : Prop} : a = b ↔ (a ↔ b) := ⟨fun h => h ▸ Iff.rfl, propext⟩
theorem eq_comm {α : Sort u} {a b : α} : a = b ↔ b = a := ⟨Eq.symm, Eq.symm⟩
theorem ne_comm {α : Sort u} {a b : α} : a ≠ b ↔ b ≠ a := ⟨Ne.symm, Ne.symm⟩
@[simp] theorem and_true : (p ∧ True) = p := propext ⟨And.left, fun h => ⟨h, trivial⟩⟩
@[simp] theorem true_and : (True ∧ p) = p := propext ⟨And.right, fun h => ⟨trivial, h⟩⟩
@[simp] theorem and_false : (p ∧ False) = False := propext ⟨And.right, False.elim⟩
@[simp] theorem false_and : (False ∧ p) = False := propext ⟨And.left, False.elim⟩
@[simp] theorem and_self : (p ∧ p) = p := propext ⟨And.left, fun h => ⟨h, h⟩⟩
@[simp] theorem or_true : (p ∨ True) = True := eq_true (.inr trivial)
@[simp] theorem true_or : (True ∨ p) = True := eq_true (.inl trivial)
@[simp] theorem or_false : (p ∨ False) = p := propext ⟨fun h => h.elim id False.elim, .inl⟩
@[simp] theorem false_or : (False ∨ p) = p := propext ⟨fun h => h.elim False.elim id, .inr⟩
@[simp] theorem or_self : (p ∨ p) = p := propext ⟨fun h => h.elim id id, .inl⟩
@[simp] theorem not_true_eq_false : (¬True) = False := eq_false fun h => h trivial
@[simp] theorem not_false_eq_true : (¬False) = True := eq_true not_false
@[simp] theorem iff_true : (p ↔ True) = p :=
  propext ⟨fun h => h.mpr trivial, fun h => ⟨fun _ => trivial, fun _ => h⟩⟩
@[simp] theorem true_iff : (True ↔ p) = p :=
  propext ⟨fun h => h.mp trivial, fun h => ⟨fun _ => h, fun _ => trivial⟩⟩
@[simp] theorem iff_false : (p ↔ False) = ¬p := propext ⟨Iff.mp, fun h => ⟨h, False.elim⟩⟩
@[simp] theorem false_iff : (False ↔ p) = ¬p := propext ⟨Iff.mpr, fun h => ⟨False.elim, h⟩⟩
@[simp] theorem implies_true (α : Sort u) : (α → True) = True := eq_true fun _ => trivial
@[simp] theorem true_implies : (True → p) = p := propext ⟨fun h => h trivial, fun h _ => h⟩
@[simp] theorem false_implies : (False → p) = True := eq_true False.elim
end
section
variable {a b c d : Prop}
theorem iff_of_true (ha : a) (hb : b) : a ↔ b := ⟨fun _ => hb, fun _ => ha⟩
theorem iff_of_false (ha : ¬a) (hb : ¬b) : a ↔ b := ⟨fun h => absurd h ha, fun h => absurd h hb⟩
theorem iff_iff_eq : (a ↔ b) ↔ a = b := eq_iff_iff.symm
theorem iff_comm : (a ↔ b) ↔ (b ↔ a) := ⟨Iff.symm, Iff.symm⟩
theorem not_congr (h : a ↔ b) : ¬a ↔ ¬b := ⟨mt h.mpr, mt h.mp⟩
theorem not_not_intro (h : a) : ¬¬a := fun n => n h
theorem not_not_of_not_imp : ¬(a → b) → ¬¬a := mt fun n h => absurd h n
theorem and_comm : a ∧ b ↔ b ∧ a := ⟨And.symm, And.symm⟩
theorem or_comm : a ∨ b ↔ b ∨ a := ⟨Or.symm, Or.symm⟩
theorem and_assoc : (a ∧ b) ∧ c ↔ a ∧ (b ∧ c) :=
  ⟨fun ⟨⟨x, y⟩, z⟩ => ⟨x, y, z⟩, fun ⟨x, y, z⟩ => ⟨⟨x, y⟩, z⟩⟩
theorem or_assoc : (a ∨ b) ∨ c ↔ a ∨ (b ∨ c) := by
  constructor
  · rintro ((h | h) | h)
    · exact .inl h
    · exact .inr (.inl h)
    · exact .inr (.inr h)
  · rintro (h | h | h)
    · exact .inl (.inl h)
    · exact .inl (.inr h)
    · exact .inr h
theorem and_left_comm : a ∧ (b ∧ c) ↔ b ∧ (a ∧ c) := ⟨fun ⟨x, y, z⟩ => ⟨y, x, z⟩, fun ⟨y, x, z⟩ => ⟨x, y, z⟩⟩
theorem or_left_comm : a ∨ (b ∨ c) ↔ b ∨ (a ∨ c) := by rw [← or_assoc, ← or_assoc, or_comm (a := a)]
theorem And.imp (f : a → c) (g : b → d) (h : a ∧ b) : c ∧ d := ⟨f h.left, g h.right⟩
theorem Or.imp (f : a → c) (g : b → d) (h : a ∨ b) : c ∨ d := h.elim (fun x => .inl (f x)) fun y => .inr (g y)
theorem Or.resolve_left (h : a ∨ b) (n : ¬a) : b := h.elim (fun x => absurd x n) id
theorem Or.resolve_right (h : a ∨ b) (n : ¬b) : a := h.elim id fun y => absurd y n
theorem and_congr (h₁ : a ↔ c) (h₂ : b ↔ d) : a ∧ b ↔ c ∧ d := ⟨And.imp h₁.mp h₂.mp, And.imp h₁.mpr h₂.mpr⟩
theorem or_congr (h₁ : a ↔ c) (h₂ : b ↔ d) : a ∨ b ↔ c ∨ d := ⟨Or.imp h₁.mp h₂.mp, Or.imp h₁.mpr h₂.mpr⟩
theorem imp_congr (h₁ : a ↔ c) (h₂ : b ↔ d) : (a → b) ↔ (c → d) :=
  ⟨fun f x => h₂.mp (f (h₁.mpr x)), fun f x => h₂.mpr (f (h₁.mp x))⟩
theorem and_or_left : a ∧ (b ∨ c) ↔ (a ∧ b) ∨ (a ∧ c) :=
  ⟨fun ⟨x, y⟩ => y.imp (⟨x, ·⟩) (⟨x, ·⟩), fun h => h.elim (.imp_right .inl) (.imp_right .inr)⟩
theorem or_imp : (a ∨ b → c) ↔ (a → c) ∧ (b → c) :=
  ⟨fun h => ⟨fun x => h (.inl x), fun y => h (.inr y)⟩, fun ⟨f, g⟩ h => h.elim f g⟩
@[simp] theorem and_imp : (a ∧ b → c) ↔ (a → b → c) := ⟨fun h x y => h ⟨x, y⟩, fun h ⟨x, y⟩ => h x y⟩
@[simp] theorem imp_self : (a → a) ↔ True := ⟨fun _ => trivial, fun _ => id⟩
@[simp] theorem imp_false : (a → False) ↔ ¬a := Iff.rfl
theorem imp_not_comm : (a → ¬b) ↔ (b → ¬a) := ⟨fun h y x => h x y, fun h x y => h y x⟩
@[simp] theorem not_or : ¬(a ∨ b) ↔ ¬a ∧ ¬b :=
  ⟨fun h => ⟨fun x => h (.inl x), fun y => h (.inr y)⟩, fun ⟨x, y⟩ h => h.elim x y⟩
@[simp] theorem not_and : ¬(a ∧ b) ↔ (a → ¬b) := and_imp
@[simp] theorem and_not_self : ¬(a ∧ ¬a) := fun h => h.right h.left
@[simp] theorem not_and_self : ¬(¬a ∧ a) := fun h => h.left h.right
@[simp] theorem iff_not_self : ¬(a ↔ ¬a) := fun h => have n : ¬a := fun x => h.mp x x; n (h.mpr n)
@[simp] theorem not_iff_self : ¬(¬a ↔ a) := fun h => iff_not_self h.symm
@[simp] theorem and_self_left : a ∧ (a ∧ b) ↔ a ∧ b := ⟨And.right, fun h => ⟨h.left, h⟩⟩
@[simp] theorem and_self_right : (a ∧ b) ∧ b ↔ a ∧ b := ⟨And.left, fun h => ⟨h, h.right⟩⟩
@[simp] theorem or_self_left : a ∨ (a ∨ b) ↔ a ∨ b := ⟨fun h => h.elim .inl id, .inr⟩
@[simp] theorem or_self_right : (a ∨ b) ∨ b ↔ a ∨ b := ⟨fun h => h.elim id .inr, .inl⟩
end
namespace Classical
variable {a b : Prop}
@[simp] theorem not_not : ¬¬a ↔ a := ⟨byContradiction, not_not_intro⟩
@[simp] theorem not_forall {α : Sort u} {p : α → Prop} : (¬∀ x, p x) ↔ ∃ x, ¬p x :=
  ⟨fun h => byContradiction fun n => h fun x => byContradiction fun hx => n ⟨x, hx⟩,
   fun ⟨x, hx⟩ h => hx (h x)⟩
@[simp low] theorem not_imp : ¬(a → b) ↔ a ∧ ¬b :=
  ⟨fun h => ⟨byContradiction (not_not_of_not_imp h), fun y => h fun _ => y⟩, fun ⟨x, n⟩ h => n (h x)⟩
theorem not_and_iff_not_or_not : ¬(a ∧ b) ↔ ¬a ∨ ¬b :=
  ⟨fun h => (em a).elim (fun x => .inr fun y => h ⟨x, y⟩) .inl, fun h ⟨x, y⟩ => h.elim (· x) (· y)⟩
theorem not_iff_not : (¬a ↔ ¬b) ↔ (a ↔ b) :=
  ⟨fun h => ⟨fun x => byContradiction fun n => h.mpr n x, fun y => byContradiction fun n => h.mp n y⟩, not_congr⟩
theorem or_iff_not_imp_left : a ∨ b ↔ (¬a → b) := ⟨Or.resolve_left, fun h => (em a).elim .inl fun n => .inr (h n)⟩
@[simp] theorem or_not_self : a ∨ ¬a ↔ True := iff_of_true (em a) trivial
end Classical
@[simp] theorem Decidable.not_not {p : Prop} [Decidable p] : ¬¬p ↔ p := ⟨Decidable.byContradiction, not_not_intro⟩

/-! ## Quantifiers -/
section
variable {α : Sort u} {p q : α → Prop} {a' : α} {b : Prop}
@[simp] theorem not_exists : (¬∃ x, p x) ↔ ∀ x, ¬p x := ⟨fun h x hx => h ⟨x, hx⟩, fun h ⟨x, hx⟩ => h x hx⟩
theorem forall_congr' (h : ∀ a, p a ↔ q a) : (∀ a, p a) ↔ ∀ a, q a :=
  ⟨fun f a => (h a).mp (f a), fun f a => (h a).mpr (f a)⟩
theorem exists_congr (h : ∀ a, p a ↔ q a) : (∃ a, p a) ↔ ∃ a, q a :=
  ⟨fun ⟨a, x⟩ => ⟨a, (h a).mp x⟩, fun ⟨a, x⟩ => ⟨a, (h a).mpr x⟩⟩
theorem Exists.imp (h : ∀ a, p a → q a) : (∃ a, p a) → ∃ a, q a := fun ⟨a, x⟩ => ⟨a, h a x⟩
theorem forall_and : (∀ x, p x ∧ q x) ↔ (∀ x, p x) ∧ ∀ x, q x :=
  ⟨fun h => ⟨fun x => (h x).left, fun x => (h x).right⟩, fun h x => ⟨h.left x, h.right x⟩⟩
theorem exists_or : (∃ x, p x ∨ q x) ↔ (∃ x, p x) ∨ ∃ x, q x :=
  ⟨fun ⟨x, h⟩ => h.imp (⟨x, ·⟩) (⟨x, ·⟩), fun h => h.elim (.imp fun _ => .inl) (.imp fun _ => .inr)⟩
@[simp] theorem exists_imp : ((∃ x, p x) → b) ↔ ∀ x, p x → b := ⟨fun h x hx => h ⟨x, hx⟩, fun h ⟨x, hx⟩ => h x hx⟩
@[simp] theorem forall_const (α : Sort u) [i : Nonempty α] : (α → b) ↔ b :=
  ⟨fun h => i.elim h, fun h _ => h⟩
@[simp] theorem exists_const (α : Sort u) [i : Nonempty α] : (∃ _ : α, b) ↔ b :=
  ⟨fun ⟨_, h⟩ => h, fun h => i.elim (⟨·, h⟩)⟩
@[simp] theorem forall_eq : (∀ a, a = a' → p a) ↔ p a' := ⟨fun h => h a' rfl, fun h _ e => e ▸ h⟩
@[simp] theorem forall_eq' : (∀ a, a' = a → p a) ↔ p a' := ⟨fun h => h a' rfl, fun h _ e => e ▸ h⟩
@[simp] theorem exists_eq : ∃ a, a = a' := ⟨_, rfl⟩
@[simp] theorem exists_eq' : ∃ a, a' = a := ⟨_, rfl⟩
@[simp] theorem exists_eq_left : (∃ a, a = a' ∧ p a) ↔ p a' := ⟨fun ⟨_, e, h⟩ => e ▸ h, fun h => ⟨_, rfl, h⟩⟩
@[simp] theorem exists_eq_right : (∃ a, p a ∧ a = a') ↔ p a' := ⟨fun ⟨_, h, e⟩ => e ▸ h, fun h => ⟨_, h, rfl⟩⟩
@[simp] theorem exists_eq_left' : (∃ a, a' = a ∧ p a) ↔ p a' := ⟨fun ⟨_, e, h⟩ => e ▸ h, fun h => ⟨_, rfl, h⟩⟩
@[simp] theorem exists_eq_right' : (∃ a, p a ∧ a' = a) ↔ p a' := ⟨fun ⟨_, h, e⟩ => e ▸ h, fun h => ⟨_, h, rfl⟩⟩
@[simp] theorem exists_and_left : (∃ x, b ∧ p x) ↔ b ∧ ∃ x, p x :=
  ⟨fun ⟨x, h, hx⟩ => ⟨h, x, hx⟩, fun ⟨h, x, hx⟩ => ⟨x, h, hx⟩⟩
@[simp] theorem exists_and_right : (∃ x, p x ∧ b) ↔ (∃ x, p x) ∧ b :=
  ⟨fun ⟨x, hx, h⟩ => ⟨⟨x, hx⟩, h⟩, fun ⟨⟨x, hx⟩, h⟩ => ⟨x, hx, h⟩⟩
@[simp] theorem exists_prop {a : Prop} : (∃ _ : a, b) ↔ a ∧ b := ⟨fun ⟨x, y⟩ => ⟨x, y⟩, fun ⟨x, y⟩ => ⟨x, y⟩⟩
@[simp] theorem exists_false : ¬∃ _ : α, False := fun ⟨_, h⟩ => h
end
@[simp] theorem forall_prop_of_true {p : Prop} {q : p → Prop} (h : p) : (∀ h' : p, q h') ↔ q h :=
  ⟨fun f => f h, fun x _ => x⟩

/-! ## `if … then … else` -/
section
variable {α : Sort u} {c : Prop} [Decidable c] {a b : α}
@[simp] theorem ite_true (a b : α) : (if True then a else b) = a := rfl
@[simp] theorem ite_false (a b : α) : (if False then a else b) = b := rfl
@[simp] theorem ite_self (c : Prop) [Decidable c] (a : α) : (if c then a else a) = a := by split <;> rfl
@[simp] theorem ite_eq_left_iff : (if c then a else b) = a ↔ ¬c → b = a := by
  split
  next h => exact ⟨fun _ n => absurd h n, fun _ => rfl⟩
  next h => exact ⟨fun e _ => e, fun f => f h⟩
@[simp] theorem ite_eq_right_iff : (if c then a else b) = b ↔ c → a = b := by
  split
  next h => exact ⟨fun e _ => e, fun f => f h⟩
  next h => exact ⟨fun _ x => absurd x h, fun _ => rfl⟩
@[simp] theorem left_eq_ite_iff : a = (if c then a else b) ↔ ¬c → a = b := by
  rw [eq_comm, ite_eq_left_iff, eq_comm (a := b)]
@[simp] theorem right_eq_ite_iff : b = (if c then a else b) ↔ c → b = a := by
  rw [eq_comm, ite_eq_right_iff, eq_comm (a := b)]
@[simp] theorem ite_not (c : Prop) [Decidable c] [Decidable ¬c] (a b : α) :
    (if ¬c then a else b) = if c then b else a := by
  by_cases h : c
  · rw [if_neg (not_not_intro h), if_pos h]
  · rw [if_pos h, if_neg h]
end
theorem apply_ite {α : Sort u} {β : Sort v} (f : α → β) (c : Prop) [Decidable c] (a b : α) :
    f (if c then a else b) = if c then f a else f b := by split <;> rfl
@[simp] theorem if_true_left {p q : Prop} [Decidable p] : (if p then True else q) ↔ (¬p → q) := by
  split
  next h => exact iff_of_true trivial fun n => absurd h n
  next h => exact ⟨fun x _ => x, fun f => f h⟩
@[simp] theorem if_false_left {p q : Prop} [Decidable p] : (if p then False else q) ↔ ¬p ∧ q := by
  split
  next h => exact iff_of_false id fun n => n.left h
  next h => exact ⟨fun x => ⟨h, x⟩, And.right⟩
@[simp] theorem if_true_right {p q : Prop} [Decidable p] : (if p then q else True) ↔ (p → q) := by
  split
  next h => exact ⟨fun x _ => x, fun f => f h⟩
  next h => exact iff_of_true trivial fun x => absurd x h
@[simp] theorem if_false_right {p q : Prop} [Decidable p] : (if p then q else False) ↔ p ∧ q := by
  split
  next h => exact ⟨fun x => ⟨h, x⟩, And.right⟩
  next h => exact iff_of_false id fun n => h n.left
@[simp] theorem dite_eq_ite {α : Sort u} {c : Prop} [Decidable c] {a b : α} :
    (dite c (fun _ => a) fun _ => b) = ite c a b := rfl
attribute [simp] ne_eq eq_self iff_self
