/-
MiniCore.ListLemmas: `map`, `filter`, folds, `take` and `drop` on lists.
-/
prelude
import MiniCore.List
set_option linter.all false
set_option autoImplicit false
universe u v w

namespace List
variable {α : Type u} {β : Type v}
/-! ## Equations between lists -/
theorem cons_ne_nil (a : α) (as : List α) : a :: as ≠ [] := fun h => nomatch h
theorem cons_eq_cons {a b : α} {as bs : List α} : a :: as = b :: bs ↔ a = b ∧ as = bs := by simp
theorem append_inj_right {as bs cs : List α} (h : as ++ bs = as ++ cs) : bs = cs := by
  induction as with
  | nil => exact h
  | cons a as ih => exact ih (List.cons.inj h).2
theorem append_cancel_left {as bs cs : List α} (h : as ++ bs = as ++ cs) : bs = cs := append_inj_right h
@[simp] theorem append_cancel_left_eq (as bs cs : List α) : (as ++ bs = as ++ cs) = (bs = cs) :=
  propext ⟨append_cancel_left, congrArg (as ++ ·)⟩
@[simp] theorem append_eq_nil_iff {as bs : List α} : as ++ bs = [] ↔ as = [] ∧ bs = [] := by
  cases as <;> simp
@[simp] theorem length_eq_zero_iff {as : List α} : as.length = 0 ↔ as = [] := by cases as <;> simp
theorem length_pos_iff {as : List α} : 0 < as.length ↔ as ≠ [] := by cases as <;> simp
@[simp] theorem reverse_eq_nil_iff {as : List α} : as.reverse = [] ↔ as = [] := by
  cases as <;> simp [reverse_cons]

/-! ## `map`, `filter`, folds -/
@[simp] theorem length_map {as : List α} (f : α → β) : (as.map f).length = as.length := by
  induction as <;> simp_all
@[simp] theorem map_map {γ : Type w} {g : β → γ} {f : α → β} {as : List α} : (as.map f).map g = as.map (g ∘ f) := by
  induction as <;> simp_all [Function.comp]
theorem map_id (as : List α) : as.map id = as := by induction as <;> simp_all [id]
theorem map_reverse {f : α → β} {as : List α} : as.reverse.map f = (as.map f).reverse := by
  induction as <;> simp_all [map_append, reverse_cons]
@[simp] theorem mem_map {b : β} {f : α → β} {as : List α} : b ∈ as.map f ↔ ∃ a, a ∈ as ∧ f a = b := by
  induction as with
  | nil => simp
  | cons c cs ih =>
    rw [map_cons, mem_cons, ih]
    constructor
    · rintro (rfl | ⟨a, h, e⟩)
      · exact ⟨c, mem_cons.mpr (.inl rfl), rfl⟩
      · exact ⟨a, mem_cons.mpr (.inr h), e⟩
    · rintro ⟨a, h, e⟩
      rcases mem_cons.mp h with rfl | h
      · exact .inl e.symm
      · exact .inr ⟨a, h, e⟩
@[simp] theorem filter_nil (p : α → Bool) : filter p [] = [] := rfl
theorem filter_cons {p : α → Bool} {a : α} {as : List α} :
    (a :: as).filter p = if p a then a :: as.filter p else as.filter p := by
  rw [filter]
  cases p a <;> rfl
@[simp] theorem filter_cons_of_pos {p : α → Bool} {a : α} {as : List α} (h : p a) :
    (a :: as).filter p = a :: as.filter p := by rw [filter_cons, if_pos h]
@[simp] theorem filter_cons_of_neg {p : α → Bool} {a : α} {as : List α} (h : ¬p a) :
    (a :: as).filter p = as.filter p := by rw [filter_cons, if_neg h]
@[simp] theorem filter_append {p : α → Bool} (as bs : List α) :
    (as ++ bs).filter p = as.filter p ++ bs.filter p := by
  induction as with
  | nil => rfl
  | cons a as ih => cases h : p a <;> simp [h, ih]
@[simp] theorem mem_filter {p : α → Bool} {a : α} {as : List α} : a ∈ as.filter p ↔ a ∈ as ∧ p a = true := by
  induction as with
  | nil => simp
  | cons b bs ih =>
    cases h : p b
    · rw [filter_cons_of_neg (by simp [h]), ih, mem_cons]
      exact ⟨fun ⟨m, e⟩ => ⟨.inr m, e⟩, fun ⟨m, e⟩ => ⟨m.resolve_left fun q => by simp_all, e⟩⟩
    · rw [filter_cons_of_pos h, mem_cons, ih, mem_cons]
      constructor
      · rintro (rfl | ⟨m, e⟩)
        · exact ⟨.inl rfl, h⟩
        · exact ⟨.inr m, e⟩
      · rintro ⟨rfl | m, e⟩
        · exact .inl rfl
        · exact .inr ⟨m, e⟩
theorem filter_reverse {p : α → Bool} {as : List α} : as.reverse.filter p = (as.filter p).reverse := by
  induction as with
  | nil => rfl
  | cons a as ih => cases h : p a <;> simp [reverse_cons, h, ih]
@[simp] theorem foldr_nil {f : α → β → β} {b : β} : [].foldr f b = b := rfl
@[simp] theorem foldr_cons {a : α} {as : List α} {f : α → β → β} {b : β} :
    (a :: as).foldr f b = f a (as.foldr f b) := rfl
@[simp] theorem foldl_nil {f : β → α → β} {b : β} : [].foldl f b = b := rfl
@[simp] theorem foldl_cons {a : α} {as : List α} {f : β → α → β} {b : β} :
    (a :: as).foldl f b = as.foldl f (f b a) := rfl
@[simp] theorem foldr_append {f : α → β → β} {b : β} {as bs : List α} :
    (as ++ bs).foldr f b = as.foldr f (bs.foldr f b) := by
  induction as <;> simp_all
@[simp] theorem foldl_append {f : β → α → β} {b : β} {as bs : List α} :
    (as ++ bs).foldl f b = bs.foldl f (as.foldl f b) := by
  induction as generalizing b <;> simp_all
@[simp] theorem foldl_reverse {as : List α} {f : β → α → β} {b : β} :
    as.reverse.foldl f b = as.foldr (fun x y => f y x) b := by
  induction as <;> simp_all [reverse_cons]
@[simp] theorem foldr_reverse {as : List α} {f : α → β → β} {b : β} :
    as.reverse.foldr f b = as.foldl (fun x y => f y x) b := by
  induction as generalizing b <;> simp_all [reverse_cons]
@[simp] theorem mem_reverse {a : α} {as : List α} : a ∈ as.reverse ↔ a ∈ as := by
  induction as with
  | nil => exact Iff.rfl
  | cons b bs ih => rw [reverse_cons, mem_append, ih, mem_cons, mem_cons, or_comm]; simp

/-! ## `take` and `drop` -/
def take : Nat → List α → List α
  | 0, _ => []
  | _ + 1, [] => []
  | n + 1, a :: as => a :: take n as
def drop : Nat → List α → List α
  | 0, as => as
  | _ + 1, [] => []
  | n + 1, _ :: as => drop n as
@[simp] theorem take_zero {as : List α} : as.take 0 = [] := rfl
@[simp] theorem take_nil {n : Nat} : ([] : List α).take n = [] := by cases n <;> rfl
@[simp] theorem take_succ_cons {n : Nat} {a : α} {as : List α} : (a :: as).take (n + 1) = a :: as.take n := rfl
@[simp] theorem drop_zero {as : List α} : as.drop 0 = as := rfl
@[simp] theorem drop_nil {n : Nat} : ([] : List α).drop n = [] := by cases n <;> rfl
@[simp] theorem drop_succ_cons {n : Nat} {a : α} {as : List α} : (a :: as).drop (n + 1) = as.drop n := rfl
@[simp] theorem take_append_drop (n : Nat) (as : List α) : as.take n ++ as.drop n = as := by
  induction n generalizing as <;> cases as <;> simp_all
@[simp] theorem length_drop {n : Nat} {as : List α} : (as.drop n).length = as.length - n := by
  induction n generalizing as <;> cases as <;> simp_all
@[simp] theorem length_take {n : Nat} {as : List α} : (as.take n).length = min n as.length := by
  induction n generalizing as with
  | zero => simp
  | succ n ih =>
    cases as with
    | nil => simp
    | cons a as => rw [take_succ_cons, length_cons, ih, length_cons, Nat.add_min_add_right]
def replicate : Nat → α → List α
  | 0, _ => []
  | n + 1, a => a :: replicate n a
@[simp] theorem replicate_zero {a : α} : replicate 0 a = [] := rfl
theorem replicate_succ {n : Nat} {a : α} : replicate (n + 1) a = a :: replicate n a := rfl
@[simp] theorem length_replicate {n : Nat} {a : α} : (replicate n a).length = n := by
  induction n <;> simp_all [replicate_succ]
end List
