/-
MiniCore.NatOrder: `≤` and `<` on natural numbers, and their decision by computation.
-/
prelude
import MiniCore.Nat
set_option linter.all false
set_option autoImplicit false

namespace Nat
theorem le_refl (n : Nat) : n ≤ n := .refl
theorem le_succ (n : Nat) : n ≤ n + 1 := .step .refl
theorem zero_le (n : Nat) : 0 ≤ n := by
  induction n with
  | zero => exact .refl
  | succ n ih => exact .step ih
theorem le_trans {a b c : Nat} (h₁ : a ≤ b) (h₂ : b ≤ c) : a ≤ c := by
  induction h₂ with
  | refl => exact h₁
  | step _ ih => exact .step ih
theorem succ_le_succ {n m : Nat} (h : n ≤ m) : n + 1 ≤ m + 1 := by
  induction h with
  | refl => exact .refl
  | step _ ih => exact .step ih
theorem pred_le_pred {n m : Nat} (h : n ≤ m) : Nat.pred n ≤ Nat.pred m := by
  cases h with
  | refl => exact .refl
  | step h =>
    cases n with
    | zero => exact h
    | succ n => exact le_trans (le_succ n) h
theorem le_of_succ_le_succ {n m : Nat} (h : n + 1 ≤ m + 1) : n ≤ m := pred_le_pred h
theorem not_succ_le_zero (n : Nat) : ¬(n + 1 ≤ 0) := fun h => nomatch h
theorem not_lt_zero (n : Nat) : ¬(n < 0) := not_succ_le_zero n
theorem lt_irrefl (n : Nat) : ¬(n < n) := by
  induction n with
  | zero => exact not_lt_zero 0
  | succ n ih => exact fun h => ih (le_of_succ_le_succ h)
theorem le_of_lt {n m : Nat} (h : n < m) : n ≤ m := le_trans (le_succ n) h
theorem lt_of_lt_of_le {a b c : Nat} (h₁ : a < b) (h₂ : b ≤ c) : a < c := le_trans h₁ h₂
theorem lt_of_le_of_lt {a b c : Nat} (h₁ : a ≤ b) (h₂ : b < c) : a < c := le_trans (succ_le_succ h₁) h₂
theorem lt_trans {a b c : Nat} (h₁ : a < b) (h₂ : b < c) : a < c := le_trans h₁ (le_of_lt h₂)
theorem le_antisymm {n m : Nat} (h₁ : n ≤ m) (h₂ : m ≤ n) : n = m := by
  cases h₁ with
  | refl => rfl
  | step h => exact absurd (le_trans (succ_le_succ h) h₂) (lt_irrefl _)
theorem le_or_lt (n m : Nat) : n ≤ m ∨ m < n := by
  induction m with
  | zero =>
    cases n with
    | zero => exact .inl .refl
    | succ n => exact .inr (succ_le_succ (zero_le n))
  | succ m ih =>
    cases ih with
    | inl h => exact .inl (.step h)
    | inr h =>
      cases h with
      | refl => exact .inl .refl
      | step h => exact .inr (succ_le_succ h)
theorem le_total (n m : Nat) : n ≤ m ∨ m ≤ n := (le_or_lt n m).elim .inl (fun h => .inr (le_of_lt h))
theorem le_add_right (n k : Nat) : n ≤ n + k := by
  induction k with
  | zero => exact .refl
  | succ k ih => exact .step ih
theorem le_add_left (n k : Nat) : n ≤ k + n := add_comm n k ▸ le_add_right n k
theorem le.dest {n m : Nat} (h : n ≤ m) : ∃ k, n + k = m := by
  induction h with
  | refl => exact ⟨0, rfl⟩
  | step _ ih =>
    obtain ⟨k, hk⟩ := ih
    exact ⟨k + 1, congrArg succ hk⟩
theorem add_le_add_right {n m : Nat} (h : n ≤ m) (k : Nat) : n + k ≤ m + k := by
  induction k with
  | zero => exact h
  | succ k ih => exact succ_le_succ ih
theorem add_le_add_left {n m : Nat} (h : n ≤ m) (k : Nat) : k + n ≤ k + m := by
  rw [add_comm k n, add_comm k m]
  exact add_le_add_right h k

theorem ble_eq_true_of_le {n m : Nat} (h : n ≤ m) : ble n m = true := by
  induction n generalizing m with
  | zero => rfl
  | succ n ih =>
    cases m with
    | zero => exact absurd h (not_succ_le_zero n)
    | succ m => exact ih (le_of_succ_le_succ h)
theorem le_of_ble_eq_true {n m : Nat} (h : ble n m = true) : n ≤ m := by
  induction n generalizing m with
  | zero => exact zero_le m
  | succ n ih =>
    cases m with
    | zero => exact Bool.noConfusion h
    | succ m => exact succ_le_succ (ih h)
instance decLe (n m : Nat) : Decidable (n ≤ m) :=
  decidable_of_bool (ble n m) ⟨le_of_ble_eq_true, ble_eq_true_of_le⟩
instance decLt (n m : Nat) : Decidable (n < m) := decLe (n + 1) m

/-! ## Deciding bounded statements -/
theorem lt_or_eq_of_lt_succ {x n : Nat} (h : x < n + 1) : x < n ∨ x = n :=
  (le_or_lt n x).elim (fun h' => .inr (le_antisymm (le_of_succ_le_succ h) h')) .inl
/-- `decide` on `∀ x, x < n → p x`. -/
def decidableBallLT (p : Nat → Prop) [DecidablePred p] : (n : Nat) → Decidable (∀ x, x < n → p x)
  | 0 => .isTrue fun x h => absurd h (not_lt_zero x)
  | n + 1 =>
    match decidableBallLT p n, (inferInstance : Decidable (p n)) with
    | .isFalse f, _ => .isFalse fun h => f fun x hx => h x (.step hx)
    | _, .isFalse f => .isFalse fun h => f (h n .refl)
    | .isTrue t, .isTrue tn => .isTrue fun x hx =>
      (lt_or_eq_of_lt_succ hx).elim (t x) fun e => e ▸ tn
instance (n : Nat) (p : Nat → Prop) [DecidablePred p] : Decidable (∀ x, x < n → p x) := decidableBallLT p n
/-! ## `≤` and `<` against each other -/
section
variable {a b c d n m k : Nat}
theorem le_of_eq (h : n = m) : n ≤ m := h ▸ le_refl n
theorem le_succ_of_le (h : n ≤ m) : n ≤ m + 1 := .step h
theorem le_step (h : n ≤ m) : n ≤ m + 1 := .step h
theorem le_of_succ_le (h : n + 1 ≤ m) : n ≤ m := le_of_lt h
theorem succ_le_of_lt (h : n < m) : n + 1 ≤ m := h
theorem lt_of_succ_le (h : n + 1 ≤ m) : n < m := h
theorem lt_succ_of_le (h : n ≤ m) : n < m + 1 := succ_le_succ h
theorem le_of_lt_succ (h : n < m + 1) : n ≤ m := le_of_succ_le_succ h
theorem lt_succ_self (n : Nat) : n < n + 1 := .refl
theorem lt_add_one (n : Nat) : n < n + 1 := .refl
theorem lt_succ_of_lt (h : n < m) : n < m + 1 := .step h
theorem succ_pos (n : Nat) : 0 < n + 1 := succ_le_succ (zero_le n)
theorem zero_lt_succ (n : Nat) : 0 < n + 1 := succ_pos n
theorem zero_lt_one : 0 < 1 := succ_pos 0
theorem succ_lt_succ (h : n < m) : n + 1 < m + 1 := succ_le_succ h
theorem lt_of_succ_lt_succ (h : n + 1 < m + 1) : n < m := le_of_succ_le_succ h
theorem lt_of_succ_lt (h : n + 1 < m) : n < m := le_of_lt h
theorem succ_le_succ_iff : n + 1 ≤ m + 1 ↔ n ≤ m := ⟨le_of_succ_le_succ, succ_le_succ⟩
theorem succ_lt_succ_iff : n + 1 < m + 1 ↔ n < m := ⟨lt_of_succ_lt_succ, succ_lt_succ⟩
theorem add_one_le_iff : n + 1 ≤ m ↔ n < m := Iff.rfl
theorem lt_add_one_iff : n < m + 1 ↔ n ≤ m := ⟨le_of_lt_succ, lt_succ_of_le⟩
theorem lt_succ_iff : n < succ m ↔ n ≤ m := lt_add_one_iff
theorem succ_le_iff : succ n ≤ m ↔ n < m := Iff.rfl
theorem ne_of_lt (h : a < b) : a ≠ b := fun e => lt_irrefl b (e ▸ h)
theorem ne_of_gt (h : b < a) : a ≠ b := fun e => lt_irrefl b (e ▸ h)
theorem lt_asymm (h : n < m) : ¬(m < n) := fun h' => lt_irrefl n (lt_trans h h')
theorem not_le_of_lt (h : a < b) : ¬(b ≤ a) := fun h' => lt_irrefl a (lt_of_lt_of_le h h')
theorem not_le_of_gt (h : n > m) : ¬(n ≤ m) := not_le_of_lt h
theorem not_lt_of_le (h : a ≤ b) : ¬(b < a) := fun h' => lt_irrefl b (lt_of_lt_of_le h' h)
theorem not_lt_of_ge (h : b ≥ a) : ¬(b < a) := not_lt_of_le h
theorem lt_or_ge (a b : Nat) : a < b ∨ a ≥ b := (le_or_lt b a).symm
theorem lt_of_not_le (h : ¬(a ≤ b)) : b < a := (le_or_lt a b).resolve_left h
theorem lt_of_not_ge (h : ¬(b ≥ a)) : b < a := lt_of_not_le h
theorem le_of_not_lt (h : ¬(a < b)) : b ≤ a := (lt_or_ge a b).resolve_left h
theorem le_of_not_gt (h : ¬(b > a)) : b ≤ a := le_of_not_lt h
theorem le_of_not_le (h : ¬(b ≤ a)) : a ≤ b := (le_total b a).resolve_left h
@[simp] theorem not_le : ¬(n ≤ m) ↔ m < n := ⟨lt_of_not_le, not_le_of_lt⟩
@[simp] theorem not_lt : ¬(n < m) ↔ m ≤ n := ⟨le_of_not_lt, not_lt_of_le⟩
theorem not_le_eq (a b : Nat) : (¬(a ≤ b)) = (b + 1 ≤ a) := propext not_le
theorem not_ge_eq (a b : Nat) : (¬(a ≥ b)) = (a + 1 ≤ b) := propext not_le
theorem not_lt_eq (a b : Nat) : (¬(a < b)) = (b ≤ a) := propext not_lt
theorem not_gt_eq (a b : Nat) : (¬(a > b)) = (a ≤ b) := propext not_lt
theorem lt_eq (n m : Nat) : (n < m) = (n + 1 ≤ m) := rfl
theorem lt_or_eq_of_le (h : n ≤ m) : n < m ∨ n = m := lt_or_eq_of_lt_succ (lt_succ_of_le h)
theorem eq_or_lt_of_le (h : n ≤ m) : n = m ∨ n < m := (lt_or_eq_of_le h).symm
theorem lt_of_le_of_ne (h : n ≤ m) (ne : n ≠ m) : n < m := (lt_or_eq_of_le h).resolve_right ne
theorem le_iff_lt_or_eq : n ≤ m ↔ n < m ∨ n = m := ⟨lt_or_eq_of_le, fun h => h.elim le_of_lt le_of_eq⟩
theorem lt_iff_le_and_ne : m < n ↔ m ≤ n ∧ m ≠ n :=
  ⟨fun h => ⟨le_of_lt h, ne_of_lt h⟩, fun ⟨h, e⟩ => lt_of_le_of_ne h e⟩
theorem le_antisymm_iff : n = m ↔ n ≤ m ∧ m ≤ n :=
  ⟨fun h => ⟨le_of_eq h, le_of_eq h.symm⟩, fun ⟨h, h'⟩ => le_antisymm h h'⟩
theorem lt_trichotomy (a b : Nat) : a < b ∨ a = b ∨ b < a := by
  rcases le_or_lt a b with h | h
  · exact (lt_or_eq_of_le h).elim .inl fun e => .inr (.inl e)
  · exact .inr (.inr h)
theorem lt_or_gt_of_ne (ne : a ≠ b) : a < b ∨ a > b := (lt_trichotomy a b).imp id (Or.resolve_left · ne)
theorem eq_zero_of_le_zero (h : n ≤ 0) : n = 0 := le_antisymm h (zero_le n)
@[simp] theorem le_zero_eq (n : Nat) : (n ≤ 0) = (n = 0) := propext ⟨eq_zero_of_le_zero, le_of_eq⟩
theorem le_zero : n ≤ 0 ↔ n = 0 := ⟨eq_zero_of_le_zero, le_of_eq⟩
theorem eq_zero_or_pos : (n : Nat) → n = 0 ∨ 0 < n
  | 0 => .inl rfl
  | n + 1 => .inr (succ_pos n)
theorem pos_of_ne_zero (h : n ≠ 0) : 0 < n := (eq_zero_or_pos n).resolve_left h
theorem pos_iff_ne_zero : 0 < n ↔ n ≠ 0 := ⟨ne_of_gt, pos_of_ne_zero⟩
theorem zero_lt_of_ne_zero (h : n ≠ 0) : 0 < n := pos_of_ne_zero h
theorem zero_lt_of_lt (h : n < m) : 0 < m := lt_of_le_of_lt (zero_le n) h
theorem lt_one_iff : n < 1 ↔ n = 0 := lt_add_one_iff.trans le_zero
theorem exists_eq_succ_of_ne_zero : {n : Nat} → n ≠ 0 → ∃ k, n = succ k
  | 0, h => absurd rfl h
  | n + 1, _ => ⟨n, rfl⟩
theorem exists_eq_add_one_of_ne_zero (h : n ≠ 0) : ∃ k, n = k + 1 := exists_eq_succ_of_ne_zero h
@[simp] theorem succ_ne_self (n : Nat) : succ n ≠ n := ne_of_gt (lt_succ_self n)

/-! ## Order and addition -/
theorem add_le_add (h₁ : a ≤ b) (h₂ : c ≤ d) : a + c ≤ b + d :=
  le_trans (add_le_add_right h₁ c) (add_le_add_left h₂ b)
theorem add_lt_add_left (h : n < m) (k : Nat) : k + n < k + m := add_le_add_left h k
theorem add_lt_add_right (h : n < m) (k : Nat) : n + k < m + k := by
  rw [add_comm n, add_comm m]
  exact add_lt_add_left h k
theorem add_lt_add (h₁ : a < b) (h₂ : c < d) : a + c < b + d :=
  lt_trans (add_lt_add_right h₁ c) (add_lt_add_left h₂ b)
theorem add_lt_add_of_le_of_lt (h₁ : a ≤ b) (h₂ : c < d) : a + c < b + d :=
  lt_of_le_of_lt (add_le_add_right h₁ c) (add_lt_add_left h₂ b)
theorem add_lt_add_of_lt_of_le (h₁ : a < b) (h₂ : c ≤ d) : a + c < b + d :=
  lt_of_lt_of_le (add_lt_add_right h₁ c) (add_le_add_left h₂ b)
theorem le_of_add_le_add_left (h : a + b ≤ a + c) : b ≤ c := by
  obtain ⟨k, hk⟩ := le.dest h
  rw [add_assoc] at hk
  exact add_left_cancel hk ▸ le_add_right b k
theorem le_of_add_le_add_right (h : a + b ≤ c + b) : a ≤ c := by
  rw [add_comm a, add_comm c] at h
  exact le_of_add_le_add_left h
theorem lt_of_add_lt_add_left (h : n + k < n + m) : k < m := le_of_add_le_add_left h
theorem lt_of_add_lt_add_right (h : k + n < m + n) : k < m := by
  rw [add_comm k, add_comm m] at h
  exact lt_of_add_lt_add_left h
@[simp] theorem add_le_add_iff_left : n + m ≤ n + k ↔ m ≤ k := ⟨le_of_add_le_add_left, (add_le_add_left · n)⟩
@[simp] theorem add_le_add_iff_right : m + n ≤ k + n ↔ m ≤ k := ⟨le_of_add_le_add_right, (add_le_add_right · n)⟩
@[simp] theorem add_lt_add_iff_left : k + n < k + m ↔ n < m := ⟨lt_of_add_lt_add_left, (add_lt_add_left · k)⟩
@[simp] theorem add_lt_add_iff_right : n + k < m + k ↔ n < m := ⟨lt_of_add_lt_add_right, (add_lt_add_right · k)⟩
@[simp] theorem add_left_cancel_iff : m + k = m + n ↔ k = n := ⟨add_left_cancel, congrArg (m + ·)⟩
@[simp] theorem add_right_cancel_iff : k + m = n + m ↔ k = n := ⟨add_right_cancel, congrArg (· + m)⟩
theorem le_add_right_of_le (h : n ≤ m) : n ≤ m + k := le_trans h (le_add_right m k)
theorem le_add_left_of_le (h : n ≤ m) : n ≤ k + m := le_trans h (le_add_left m k)
theorem lt_add_right (c : Nat) (h : a < b) : a < b + c := lt_of_lt_of_le h (le_add_right b c)
theorem lt_add_left (c : Nat) (h : a < b) : a < c + b := lt_of_lt_of_le h (le_add_left b c)
theorem le_of_add_right_le (h : n + k ≤ m) : n ≤ m := le_trans (le_add_right n k) h
theorem le_of_add_left_le (h : k + n ≤ m) : n ≤ m := le_trans (le_add_left n k) h
theorem lt_add_of_pos_right (h : 0 < k) : n < n + k := add_lt_add_left h n
theorem lt_add_of_pos_left (h : 0 < k) : n < k + n := by
  rw [add_comm]
  exact lt_add_of_pos_right h
theorem lt_of_add_one_le (h : n + 1 ≤ m) : n < m := h
theorem eq_zero_of_add_eq_zero_left (h : n + m = 0) : m = 0 := eq_zero_of_le_zero (h ▸ le_add_left m n)
theorem eq_zero_of_add_eq_zero_right (h : n + m = 0) : n = 0 := eq_zero_of_le_zero (h ▸ le_add_right n m)
@[simp] theorem add_eq_zero_iff : n + m = 0 ↔ n = 0 ∧ m = 0 :=
  ⟨fun h => ⟨eq_zero_of_add_eq_zero_right h, eq_zero_of_add_eq_zero_left h⟩, fun ⟨h, h'⟩ => by rw [h, h']⟩
@[simp] theorem add_eq_left : a + b = a ↔ b = 0 := ⟨fun h => add_left_cancel (n := a) h, fun h => by rw [h, add_zero]⟩
@[simp] theorem add_eq_right : a + b = b ↔ a = 0 := by rw [add_comm, add_eq_left]
@[simp] theorem left_eq_add : a = a + b ↔ b = 0 := by rw [eq_comm, add_eq_left]
@[simp] theorem right_eq_add : b = a + b ↔ a = 0 := by rw [eq_comm, add_eq_right]
theorem exists_eq_add_of_le (h : m ≤ n) : ∃ k, n = m + k := (le.dest h).imp fun _ => Eq.symm
theorem exists_eq_add_of_lt (h : m < n) : ∃ k, n = m + k + 1 := (le.dest h).imp fun k e => by
  rw [← e, add_right_comm]

/-! ## Order and multiplication -/
theorem mul_le_mul_left (k : Nat) (h : m ≤ n) : k * m ≤ k * n := by
  obtain ⟨d, rfl⟩ := le.dest h
  rw [mul_add]
  exact le_add_right _ _
theorem mul_le_mul_right (k : Nat) (h : m ≤ n) : m * k ≤ n * k := by
  rw [mul_comm m, mul_comm n]
  exact mul_le_mul_left k h
theorem mul_le_mul (h₁ : a ≤ b) (h₂ : c ≤ d) : a * c ≤ b * d :=
  le_trans (mul_le_mul_right c h₁) (mul_le_mul_left b h₂)
theorem mul_lt_mul_of_pos_left (h : m < n) (hk : k > 0) : k * m < k * n :=
  lt_of_lt_of_le (lt_add_of_pos_right hk) (mul_le_mul_left k h)
theorem mul_lt_mul_of_pos_right (h : m < n) (hk : k > 0) : m * k < n * k := by
  rw [mul_comm m, mul_comm n]
  exact mul_lt_mul_of_pos_left h hk
theorem mul_pos (hn : n > 0) (hm : m > 0) : n * m > 0 := mul_lt_mul_of_pos_left hm hn
theorem eq_of_mul_eq_mul_left (ha : 0 < a) (h : a * b = a * c) : b = c := by
  rcases lt_trichotomy b c with l | e | l
  · exact absurd h (ne_of_lt (mul_lt_mul_of_pos_left l ha))
  · exact e
  · exact absurd h (ne_of_gt (mul_lt_mul_of_pos_left l ha))
theorem eq_of_mul_eq_mul_right (hb : 0 < b) (h : a * b = c * b) : a = c := by
  rw [mul_comm a, mul_comm c] at h
  exact eq_of_mul_eq_mul_left hb h
@[simp] theorem mul_eq_zero : m * n = 0 ↔ m = 0 ∨ n = 0 := by
  constructor
  · intro h
    rcases eq_zero_or_pos m with hm | hm
    · exact .inl hm
    · rcases eq_zero_or_pos n with hn | hn
      · exact .inr hn
      · exact absurd h (ne_of_gt (mul_pos hm hn))
  · rintro (h | h)
    · rw [h, zero_mul]
    · rw [h, mul_zero]
end
attribute [simp] le_refl zero_le lt_irrefl not_lt_zero succ_pos le_add_left le_add_right lt_add_one
end Nat
