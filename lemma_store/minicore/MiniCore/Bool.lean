/-
MiniCore.Bool: `&&`, `||`, `!`, `decide`, `==`, and how `simp` turns them into propositions.
-/
prelude
import MiniCore.Simp
set_option linter.all false
set_option autoImplicit false
universe u v

namespace Bool
theorem eq_false_or_eq_true : (b : Bool) → b = true ∨ b = false
  | true => .inl rfl
  | false => .inr rfl
theorem of_not_eq_true : {b : Bool} → ¬(b = true) → b = false
  | true, h => absurd rfl h
  | false, _ => rfl
theorem of_not_eq_false : {b : Bool} → ¬(b = false) → b = true
  | true, _ => rfl
  | false, h => absurd rfl h
theorem ne_false_of_eq_true {b : Bool} (h : b = true) : b ≠ false := h ▸ Bool.noConfusion
theorem ne_true_of_eq_false {b : Bool} (h : b = false) : b ≠ true := h ▸ Bool.noConfusion
theorem false_ne_true : false ≠ true := Bool.noConfusion
@[simp] theorem true_eq_false : (true = false) = False := eq_false Bool.noConfusion
@[simp] theorem false_eq_true : (false = true) = False := eq_false Bool.noConfusion
variable (a b c : Bool)
@[simp low] theorem true_eq : (true = b) = (b = true) := eq_comm.eq
@[simp low] theorem false_eq : (false = b) = (b = false) := eq_comm.eq
@[simp] theorem not_eq_true : (¬(b = true)) = (b = false) := propext ⟨of_not_eq_true, ne_true_of_eq_false⟩
@[simp] theorem not_eq_false : (¬(b = false)) = (b = true) := propext ⟨of_not_eq_false, ne_false_of_eq_true⟩
@[simp] theorem and_true : (b && true) = b := by cases b <;> rfl
@[simp] theorem and_false : (b && false) = false := by cases b <;> rfl
@[simp] theorem true_and : (true && b) = b := rfl
@[simp] theorem false_and : (false && b) = false := rfl
@[simp] theorem and_self : (b && b) = b := by cases b <;> rfl
@[simp] theorem or_true : (b || true) = true := by cases b <;> rfl
@[simp] theorem or_false : (b || false) = b := by cases b <;> rfl
@[simp] theorem true_or : (true || b) = true := rfl
@[simp] theorem false_or : (false || b) = b := rfl
@[simp] theorem or_self : (b || b) = b := by cases b <;> rfl
@[simp] theorem not_true : (!true) = false := rfl
@[simp] theorem not_false : (!false) = true := rfl
@[simp] theorem not_not : (!!b) = b := by cases b <;> rfl
@[simp] theorem and_not_self : (b && !b) = false := by cases b <;> rfl
@[simp] theorem not_and_self : (!b && b) = false := by cases b <;> rfl
@[simp] theorem or_not_self : (b || !b) = true := by cases b <;> rfl
@[simp] theorem not_or_self : (!b || b) = true := by cases b <;> rfl
@[simp] theorem not_and : (!(a && b)) = (!a || !b) := by cases a <;> rfl
@[simp] theorem not_or : (!(a || b)) = (!a && !b) := by cases a <;> rfl
theorem and_comm : (a && b) = (b && a) := by cases a <;> cases b <;> rfl
theorem or_comm : (a || b) = (b || a) := by cases a <;> cases b <;> rfl
theorem and_assoc : (a && b && c) = (a && (b && c)) := by cases a <;> rfl
theorem or_assoc : (a || b || c) = (a || (b || c)) := by cases a <;> rfl
theorem and_left_comm : (a && (b && c)) = (b && (a && c)) := by cases a <;> cases b <;> rfl
theorem or_left_comm : (a || (b || c)) = (b || (a || c)) := by cases a <;> cases b <;> rfl
theorem and_or_distrib_left : (a && (b || c)) = (a && b || a && c) := by cases a <;> rfl
theorem or_and_distrib_left : (a || b && c) = ((a || b) && (a || c)) := by cases a <;> rfl
@[simp] theorem and_eq_true : ((a && b) = true) = (a = true ∧ b = true) := by cases a <;> simp
@[simp] theorem or_eq_true : ((a || b) = true) = (a = true ∨ b = true) := by cases a <;> simp
@[simp] theorem not_eq_true' : ((!b) = true) = (b = false) := by cases b <;> simp
@[simp] theorem not_eq_false' : ((!b) = false) = (b = true) := by cases b <;> simp
theorem not_eq_not : {a b : Bool} → (¬(a = !b)) ↔ a = b := by intro a b; cases a <;> cases b <;> simp
@[simp] theorem not_eq_self : ((!b) = b) ↔ False := by cases b <;> simp
@[simp] theorem eq_not_self : (b = !b) ↔ False := by cases b <;> simp
@[simp] theorem and_eq_false_imp {x y : Bool} : (x && y) = false ↔ (x = true → y = false) := by cases x <;> simp
@[simp] theorem or_eq_false_iff {x y : Bool} : (x || y) = false ↔ x = false ∧ y = false := by cases x <;> simp
theorem and_eq_true_iff {x y : Bool} : (x && y) = true ↔ x = true ∧ y = true := by rw [and_eq_true]
theorem or_eq_true_iff {x y : Bool} : (x || y) = true ↔ x = true ∨ y = true := by rw [or_eq_true]
theorem not_inj {x y : Bool} (h : (!x) = !y) : x = y := by rw [← not_not x, h, not_not]
@[simp] theorem not_inj_iff {x y : Bool} : (!x) = (!y) ↔ x = y := ⟨not_inj, fun h => h ▸ rfl⟩
theorem eq_iff_iff {a b : Bool} : a = b ↔ (a = true ↔ b = true) := by cases a <;> cases b <;> simp
theorem not_eq_eq_eq_not {a b : Bool} : (!a) = b ↔ a = !b := by cases a <;> cases b <;> simp
end Bool
theorem eq_true_of_ne_false : {b : Bool} → b ≠ false → b = true := Bool.of_not_eq_false
@[simp] theorem cond_true {α : Sort u} {a b : α} : cond true a b = a := rfl
@[simp] theorem cond_false {α : Sort u} {a b : α} : cond false a b = b := rfl
@[simp] theorem Bool.cond_eq_if {α : Sort u} {b : Bool} {x y : α} : (cond b x y) = if b then x else y := by
  cases b <;> rfl

/-! ## `decide` -/
section
variable {p q : Prop}
@[simp] theorem decide_true (h : Decidable True) : @decide True h = true := decide_eq_true trivial
@[simp] theorem decide_false (h : Decidable False) : @decide False h = false := decide_eq_false _root_.not_false
@[simp] theorem decide_eq_true_eq [Decidable p] : (decide p = true) = p := propext ⟨of_decide_eq_true, decide_eq_true⟩
theorem decide_eq_true_iff [Decidable p] : decide p = true ↔ p := ⟨of_decide_eq_true, decide_eq_true⟩
@[simp] theorem decide_eq_false_iff_not [Decidable p] : decide p = false ↔ ¬p :=
  ⟨of_decide_eq_false, decide_eq_false⟩
@[simp] theorem Bool.decide_eq_true {b : Bool} [Decidable (b = true)] : decide (b = true) = b := by
  cases b <;> simp
@[simp] theorem Bool.decide_eq_false {b : Bool} [Decidable (b = false)] : decide (b = false) = !b := by
  cases b <;> simp
@[simp] theorem decide_not [Decidable p] [Decidable ¬p] : decide (¬p) = !decide p := by
  by_cases h : p <;> simp [h]
@[simp] theorem decide_eq_decide [Decidable p] [Decidable q] : decide p = decide q ↔ (p ↔ q) := by
  by_cases h : p <;> by_cases h' : q <;> simp [h, h']
theorem decide_and [Decidable p] [Decidable q] [Decidable (p ∧ q)] : decide (p ∧ q) = (decide p && decide q) := by
  by_cases h : p <;> by_cases h' : q <;> simp [h, h']
theorem decide_or [Decidable p] [Decidable q] [Decidable (p ∨ q)] : decide (p ∨ q) = (decide p || decide q) := by
  by_cases h : p <;> by_cases h' : q <;> simp [h, h']
end
namespace Bool
@[simp] theorem if_true_left (p : Prop) [Decidable p] (f : Bool) : (if p then true else f) = (decide p || f) := by
  by_cases h : p <;> simp [h]
@[simp] theorem if_false_left (p : Prop) [Decidable p] (f : Bool) : (if p then false else f) = (!decide p && f) := by
  by_cases h : p <;> simp [h]
@[simp] theorem if_true_right (p : Prop) [Decidable p] (t : Bool) : (if p then t else true) = (!decide p || t) := by
  by_cases h : p <;> simp [h]
@[simp] theorem if_false_right (p : Prop) [Decidable p] (t : Bool) : (if p then t else false) = (decide p && t) := by
  by_cases h : p <;> simp [h]
end Bool

/-! ## Equality as a function to `Bool` -/
@[inline] def bne {α : Type u} [BEq α] (a b : α) : Bool := !(a == b)
instance instBEqOfDecidableEq {α : Type u} [DecidableEq α] : BEq α := ⟨fun a b => decide (a = b)⟩
class ReflBEq (α : Type u) [BEq α] : Prop where
  protected rfl {a : α} : a == a
class LawfulBEq (α : Type u) [BEq α] : Prop extends ReflBEq α where
  eq_of_beq : {a b : α} → a == b → a = b
export LawfulBEq (eq_of_beq)
instance instLawfulBEq {α : Type u} [DecidableEq α] : LawfulBEq α where
  eq_of_beq := of_decide_eq_true
  rfl := decide_eq_true rfl
section
variable {α : Type u} [BEq α] [LawfulBEq α] {a b : α}
@[simp] theorem beq_self_eq_true {α : Type u} [BEq α] [ReflBEq α] (a : α) : (a == a) = true := ReflBEq.rfl
theorem beq_of_eq (h : a = b) : a == b := h ▸ ReflBEq.rfl
@[simp] theorem beq_iff_eq : a == b ↔ a = b := ⟨eq_of_beq, beq_of_eq⟩
theorem ne_of_beq_false (h : (a == b) = false) : a ≠ b := fun e => Bool.ne_true_of_eq_false h (beq_of_eq e)
theorem beq_false_of_ne (h : a ≠ b) : (a == b) = false := Bool.of_not_eq_true fun e => h (eq_of_beq e)
@[simp] theorem beq_eq_false_iff_ne : (a == b) = false ↔ a ≠ b := ⟨ne_of_beq_false, beq_false_of_ne⟩
@[simp] theorem bne_iff_ne : a != b ↔ a ≠ b := by rw [bne, Bool.not_eq_true', beq_eq_false_iff_ne]
@[simp] theorem bne_eq_false_iff_eq : (a != b) = false ↔ a = b := by rw [bne, Bool.not_eq_false', beq_iff_eq]
@[simp] theorem bne_self_eq_false {α : Type u} [BEq α] [ReflBEq α] (a : α) : (a != a) = false := by
  rw [bne, beq_self_eq_true, Bool.not_true]
theorem decide_eq {α : Type u} [BEq α] [LawfulBEq α] [DecidableEq α] (a b : α) : decide (a = b) = (a == b) := by
  by_cases h : a = b
  · simp [h]
  · rw [decide_eq_false h, beq_false_of_ne h]
end
@[simp] theorem beq_true (b : Bool) : (b == true) = b := by cases b <;> rfl
@[simp] theorem beq_false (b : Bool) : (b == false) = !b := by cases b <;> rfl
@[simp] theorem Bool.true_beq (b : Bool) : (true == b) = b := by cases b <;> rfl
@[simp] theorem Bool.false_beq (b : Bool) : (false == b) = !b := by cases b <;> rfl
@[simp] theorem Bool.not_bne (a b : Bool) : (!a != b) = (a == b) := by cases a <;> cases b <;> rfl
@[simp] theorem Bool.beq_not_self (b : Bool) : (b == !b) = false := by cases b <;> rfl
