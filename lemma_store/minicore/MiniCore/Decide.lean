/-
MiniCore.Decide: decidable propositions, classical logic, `if … then … else`.
-/
prelude
import MiniCore.Logic
set_option linter.all false
set_option autoImplicit false
universe u v

/-! ## Decidable propositions -/
@[reducible] def DecidableEq (α : Sort u) := (a b : α) → Decidable (a = b)
abbrev DecidableRel {α : Sort u} {β : Sort v} (r : α → β → Prop) := (a : α) → (b : β) → Decidable (r a b)
abbrev DecidablePred {α : Sort u} (p : α → Prop) := (a : α) → Decidable (p a)
def Decidable.decide (p : Prop) [h : Decidable p] : Bool :=
  match h with
  | .isTrue _ => true
  | .isFalse _ => false
export Decidable (isTrue isFalse decide)
theorem decide_eq_true {p : Prop} [inst : Decidable p] (h : p) : decide p = true :=
  match inst with
  | .isTrue _ => rfl
  | .isFalse n => absurd h n
theorem decide_eq_false {p : Prop} [inst : Decidable p] (h : ¬p) : decide p = false :=
  match inst with
  | .isTrue y => absurd y h
  | .isFalse _ => rfl
theorem of_decide_eq_true {p : Prop} [inst : Decidable p] (h : decide p = true) : p :=
  match inst, h with
  | .isTrue y, _ => y
  | .isFalse _, h => Bool.noConfusion h
theorem of_decide_eq_false {p : Prop} [inst : Decidable p] (h : decide p = false) : ¬p :=
  match inst, h with
  | .isFalse n, _ => n
  | .isTrue _, h => Bool.noConfusion h
instance : Decidable True := .isTrue trivial
instance : Decidable False := .isFalse not_false
instance {p q : Prop} [hp : Decidable p] [hq : Decidable q] : Decidable (p ∧ q) :=
  match hp, hq with
  | .isTrue a, .isTrue b => .isTrue ⟨a, b⟩
  | .isFalse a, _ => .isFalse fun h => a h.left
  | _, .isFalse b => .isFalse fun h => b h.right
instance {p q : Prop} [hp : Decidable p] [hq : Decidable q] : Decidable (p ∨ q) :=
  match hp, hq with
  | .isTrue a, _ => .isTrue (.inl a)
  | _, .isTrue b => .isTrue (.inr b)
  | .isFalse a, .isFalse b => .isFalse fun h => h.elim a b
instance {p : Prop} [hp : Decidable p] : Decidable (¬p) :=
  match hp with
  | .isTrue a => .isFalse fun h => h a
  | .isFalse a => .isTrue a
instance {p q : Prop} [hp : Decidable p] [hq : Decidable q] : Decidable (p → q) :=
  match hp, hq with
  | .isFalse a, _ => .isTrue fun h => absurd h a
  | _, .isTrue b => .isTrue fun _ => b
  | .isTrue a, .isFalse b => .isFalse fun h => b (h a)
instance {p q : Prop} [Decidable p] [Decidable q] : Decidable (p ↔ q) :=
  if h : (p → q) ∧ (q → p) then .isTrue ⟨h.left, h.right⟩ else .isFalse fun i => h ⟨i.mp, i.mpr⟩
def decidable_of_bool {p : Prop} (b : Bool) (h : b = true ↔ p) : Decidable p :=
  match b, h with
  | true, h => .isTrue (h.mp rfl)
  | false, h => .isFalse fun hp => Bool.noConfusion (h.mpr hp)
/-! Classical logic: excluded middle from choice (Diaconescu's argument). -/
namespace Classical
noncomputable def indefiniteDescription {α : Sort u} (p : α → Prop) (h : ∃ x, p x) : {x // p x} :=
  choice (match h with | ⟨x, hx⟩ => ⟨⟨x, hx⟩⟩)
noncomputable def choose {α : Sort u} {p : α → Prop} (h : ∃ x, p x) : α := (indefiniteDescription p h).val
theorem choose_spec {α : Sort u} {p : α → Prop} (h : ∃ x, p x) : p (choose h) :=
  (indefiniteDescription p h).property
theorem em (p : Prop) : p ∨ ¬p :=
  let U (x : Prop) : Prop := x = True ∨ p
  let V (x : Prop) : Prop := x = False ∨ p
  have exU : ∃ x, U x := ⟨True, .inl rfl⟩
  have exV : ∃ x, V x := ⟨False, .inl rfl⟩
  have same : p → choose exU = choose exV := fun hp =>
    have hUV : U = V := funext fun x => propext ⟨fun _ => .inr hp, fun _ => .inr hp⟩
    have aux : ∀ (W : Prop → Prop) (e : U = W) (exW : ∃ x, W x), choose exU = choose exW := by
      intro W e; subst e; intro _; rfl
    aux V hUV exV
  match choose_spec exU, choose_spec exV with
  | .inr hp, _ => .inl hp
  | _, .inr hp => .inl hp
  | .inl hu, .inl hv => .inr fun hp =>
    have e : True = False := hu.symm.trans ((same hp).trans hv)
    e.mp trivial
theorem byContradiction {p : Prop} (h : ¬p → False) : p := (em p).elim id fun n => (h n).elim
theorem byCases {p q : Prop} (hpq : p → q) (hnpq : ¬p → q) : q := (em p).elim hpq hnpq
/-- Every proposition is decidable: with `open Classical`, which `by_cases` does itself. -/
noncomputable scoped instance (priority := low) propDecidable (p : Prop) : Decidable p :=
  choice ((em p).elim (fun h => ⟨.isTrue h⟩) fun h => ⟨.isFalse h⟩)
end Classical
instance instDecidableEqNat : DecidableEq Nat := Nat.decEq
instance : CoeSort Bool Prop := ⟨fun b => b = true⟩
instance (b : Bool) : CoeT Bool b Prop := ⟨b = true⟩
instance (p : Prop) [Decidable p] : CoeT Prop p Bool := ⟨decide p⟩
instance instDecidableEqBool : DecidableEq Bool
  | true, true => .isTrue rfl
  | false, false => .isTrue rfl
  | true, false => .isFalse fun h => Bool.noConfusion h
  | false, true => .isFalse fun h => Bool.noConfusion h
theorem Decidable.em (p : Prop) [h : Decidable p] : p ∨ ¬p :=
  match h with
  | .isTrue y => .inl y
  | .isFalse n => .inr n
theorem Decidable.byContradiction {p : Prop} [h : Decidable p] (f : ¬p → False) : p :=
  match h with
  | .isTrue y => y
  | .isFalse n => (f n).elim
theorem ite_eq_left {c : Prop} {h : Decidable c} (hc : c) {α : Sort u} {t e : α} : (ite c t e) = t :=
  match h with
  | .isTrue _ => rfl
  | .isFalse n => absurd hc n
theorem ite_eq_right {c : Prop} {h : Decidable c} (hn : ¬c) {α : Sort u} {t e : α} : (ite c t e) = e :=
  match h with
  | .isTrue y => absurd y hn
  | .isFalse _ => rfl
theorem dite_eq_left {c : Prop} {h : Decidable c} (hc : c) {α : Sort u} {t : c → α} {e : ¬c → α} :
    (dite c t e) = t hc :=
  match h with
  | .isTrue _ => rfl
  | .isFalse n => absurd hc n
theorem dite_eq_right {c : Prop} {h : Decidable c} (hn : ¬c) {α : Sort u} {t : c → α} {e : ¬c → α} :
    (dite c t e) = e hn :=
  match h with
  | .isTrue y => absurd y hn
  | .isFalse _ => rfl

class Subsingleton (α : Sort u) : Prop where
  intro ::
  allEq : ∀ a b : α, a = b
protected theorem Subsingleton.elim {α : Sort u} [h : Subsingleton α] : (a b : α) → a = b := h.allEq
protected theorem Subsingleton.helim {α β : Sort u} [h₁ : Subsingleton α] (h₂ : α = β) (a : α) (b : β) :
    a ≍ b := by
  subst h₂
  exact heq_of_eq (Subsingleton.elim a b)
instance instSubsingletonProp (p : Prop) : Subsingleton p := ⟨fun a b => proof_irrel a b⟩
instance instSubsingletonDecidable (p : Prop) : Subsingleton (Decidable p) := ⟨fun
  | .isTrue _, .isTrue _ => rfl
  | .isFalse _, .isFalse _ => rfl
  | .isTrue y, .isFalse n => absurd y n
  | .isFalse n, .isTrue y => absurd y n⟩
theorem if_pos {c : Prop} {h : Decidable c} (hc : c) {α : Sort u} {t e : α} : (ite c t e) = t := ite_eq_left hc
theorem if_neg {c : Prop} {h : Decidable c} (hn : ¬c) {α : Sort u} {t e : α} : (ite c t e) = e := ite_eq_right hn
