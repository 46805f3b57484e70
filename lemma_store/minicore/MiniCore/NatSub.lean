/-
MiniCore.NatSub: truncated subtraction, `min` and `max`, and the equations by which `simp`
moves numerals from one side of an arithmetic goal to the other.
-/
prelude
import MiniCore.NatOrder
set_option linter.all false
set_option autoImplicit false
universe u

namespace Nat
section
variable {a b c n m k : Nat}
@[simp] theorem pred_zero : pred 0 = 0 := rfl
@[simp] theorem pred_succ (n : Nat) : pred (succ n) = n := rfl
@[simp] theorem sub_zero (n : Nat) : n - 0 = n := rfl
theorem sub_succ (n m : Nat) : n - succ m = pred (n - m) := rfl
theorem sub_one (n : Nat) : n - 1 = pred n := rfl
theorem pred_eq_sub_one (n : Nat) : pred n = n - 1 := rfl
theorem succ_sub_one (n : Nat) : succ n - 1 = n := rfl
@[simp] theorem add_one_sub_one (n : Nat) : n + 1 - 1 = n := rfl
theorem succ_sub_succ_eq_sub (n m : Nat) : succ n - succ m = n - m := by
  induction m with
  | zero => rfl
  | succ m ih => exact congrArg pred ih
theorem succ_sub_succ (n m : Nat) : succ n - succ m = n - m := succ_sub_succ_eq_sub n m
theorem add_one_sub_add_one (n m : Nat) : (n + 1) - (m + 1) = n - m := succ_sub_succ_eq_sub n m
@[simp] theorem zero_sub (n : Nat) : 0 - n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih => exact congrArg pred ih
@[simp] theorem sub_self (n : Nat) : n - n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih => rw [add_one_sub_add_one, ih]
theorem sub_add_eq (a b c : Nat) : a - (b + c) = a - b - c := by
  induction c with
  | zero => rfl
  | succ c ih => exact congrArg pred ih
theorem sub_sub (n m k : Nat) : n - m - k = n - (m + k) := (sub_add_eq n m k).symm
theorem sub_right_comm (m n k : Nat) : m - n - k = m - k - n := by rw [sub_sub, sub_sub, add_comm]
@[simp] theorem add_sub_cancel (n m : Nat) : n + m - m = n := by
  induction m with
  | zero => rfl
  | succ m ih => exact (add_one_sub_add_one (n + m) m).trans ih
@[simp] theorem add_sub_cancel_left (n m : Nat) : n + m - n = m := by rw [add_comm, add_sub_cancel]
@[simp] theorem add_sub_add_right (n k m : Nat) : (n + k) - (m + k) = n - m := by
  rw [add_comm m, sub_add_eq, add_sub_cancel]
@[simp] theorem add_sub_add_left (k n m : Nat) : (k + n) - (k + m) = n - m := by
  rw [sub_add_eq, add_sub_cancel_left]
@[simp] theorem sub_le (n m : Nat) : n - m ≤ n := by
  induction m with
  | zero => exact le_refl n
  | succ m ih => exact le_trans (pred_le (n - m)) ih
where
  pred_le : (n : Nat) → pred n ≤ n
  | 0 => le_refl 0
  | n + 1 => le_succ n
theorem sub_lt (h₁ : 0 < n) (h₂ : 0 < m) : n - m < n := by
  cases n with
  | zero => exact absurd h₁ (lt_irrefl 0)
  | succ n =>
    cases m with
    | zero => exact absurd h₂ (lt_irrefl 0)
    | succ m => rw [add_one_sub_add_one]; exact lt_succ_of_le (sub_le n m)
theorem sub_one_lt (h : n ≠ 0) : n - 1 < n := sub_lt (pos_of_ne_zero h) zero_lt_one
theorem pred_lt (h : n ≠ 0) : pred n < n := sub_one_lt h
theorem sub_one_lt_of_lt (h : n < m) : m - 1 < m := sub_one_lt (ne_of_gt (zero_lt_of_lt h))
theorem sub_lt_of_lt (h : a < c) : a - b < c := lt_of_le_of_lt (sub_le a b) h
theorem add_sub_of_le (h : a ≤ b) : a + (b - a) = b := by
  obtain ⟨k, rfl⟩ := le.dest h
  rw [add_sub_cancel_left]
theorem sub_add_cancel (h : m ≤ n) : n - m + m = n := by rw [add_comm, add_sub_of_le h]
theorem add_sub_assoc (h : k ≤ m) (n : Nat) : n + m - k = n + (m - k) := by
  obtain ⟨d, rfl⟩ := le.dest h
  rw [add_sub_cancel_left, add_comm k, ← add_assoc, add_sub_cancel]
theorem sub_add_comm (h : k ≤ n) : n + m - k = n - k + m := by rw [add_comm n, add_sub_assoc h, add_comm]
theorem succ_sub (h : n ≤ m) : succ m - n = succ (m - n) := sub_add_comm h (m := 1)
theorem sub_eq_zero_of_le (h : n ≤ m) : n - m = 0 := by
  obtain ⟨k, rfl⟩ := le.dest h
  rw [sub_add_eq, sub_self, zero_sub]
theorem le_of_sub_eq_zero (h : n - m = 0) : n ≤ m :=
  (le_total n m).elim id fun h' => by rw [← sub_add_cancel h', h, zero_add]; exact le_refl m
theorem sub_eq_zero_iff_le : n - m = 0 ↔ n ≤ m := ⟨le_of_sub_eq_zero, sub_eq_zero_of_le⟩
theorem sub_pos_of_lt (h : m < n) : 0 < n - m := pos_of_ne_zero fun e => not_lt_of_le (le_of_sub_eq_zero e) h
theorem sub_ne_zero_of_lt (h : a < b) : b - a ≠ 0 := ne_of_gt (sub_pos_of_lt h)
theorem sub_pos_iff_lt : 0 < n - m ↔ m < n :=
  ⟨fun h => lt_of_not_le fun h' => ne_of_gt h (sub_eq_zero_of_le h'), sub_pos_of_lt⟩
theorem sub_le_iff_le_add : a - b ≤ c ↔ a ≤ c + b := by
  rcases le_total a b with h | h
  · rw [sub_eq_zero_of_le h]
    exact iff_of_true (zero_le c) (le_trans h (le_add_left b c))
  · obtain ⟨k, rfl⟩ := le.dest h
    rw [add_sub_cancel_left, add_comm c, add_le_add_iff_left]
theorem le_sub_iff_add_le (h : k ≤ m) : n ≤ m - k ↔ n + k ≤ m := by
  obtain ⟨d, rfl⟩ := le.dest h
  rw [add_sub_cancel_left, add_comm n, add_le_add_iff_left]
theorem le_sub_of_add_le (h : a + b ≤ c) : a ≤ c - b :=
  (le_sub_iff_add_le (le_trans (le_add_left b a) h)).mpr h
theorem lt_sub_iff_add_lt : a < c - b ↔ a + b < c := by
  rcases le_total b c with h | h
  · exact (le_sub_iff_add_le h).trans (by rw [add_right_comm]; exact Iff.rfl)
  · rw [sub_eq_zero_of_le h]
    exact iff_of_false (not_lt_zero a) (not_lt_of_le (le_trans h (le_add_left b a)))
theorem lt_sub_of_add_lt (h : a + b < c) : a < c - b := lt_sub_iff_add_lt.mpr h
theorem sub_eq_iff_eq_add (h : b ≤ a) : a - b = c ↔ a = c + b :=
  ⟨fun e => by rw [← e, sub_add_cancel h], fun e => by rw [e, add_sub_cancel]⟩
theorem eq_sub_of_add_eq (h : a + b = c) : a = c - b := by rw [← h, add_sub_cancel]
theorem sub_eq_of_eq_add (h : a = c + b) : a - b = c := by rw [h, add_sub_cancel]
theorem sub_sub_self (h : m ≤ n) : n - (n - m) = m := by
  obtain ⟨k, rfl⟩ := le.dest h
  rw [add_sub_cancel_left, add_sub_cancel]
theorem sub_le_sub_right (h : n ≤ m) (k : Nat) : n - k ≤ m - k :=
  sub_le_iff_le_add.mpr (le_trans h (sub_le_iff_le_add.mp (le_refl _)))
theorem sub_le_sub_left (h : n ≤ m) (k : Nat) : k - m ≤ k - n := by
  obtain ⟨d, rfl⟩ := le.dest h
  rw [sub_add_eq]
  exact sub_le _ _
theorem succ_pred_eq_of_pos (h : 0 < n) : succ (pred n) = n := sub_add_cancel (m := 1) h
theorem succ_pred (h : n ≠ 0) : succ (pred n) = n := succ_pred_eq_of_pos (pos_of_ne_zero h)
theorem sub_one_add_one (h : n ≠ 0) : n - 1 + 1 = n := succ_pred h
theorem sub_mul (n m k : Nat) : (n - m) * k = n * k - m * k := by
  rcases le_total m n with h | h
  · obtain ⟨d, rfl⟩ := le.dest h
    rw [add_sub_cancel_left, add_mul, add_sub_cancel_left]
  · rw [sub_eq_zero_of_le h, sub_eq_zero_of_le (mul_le_mul_right k h), zero_mul]
theorem mul_sub (k m n : Nat) : k * (m - n) = k * m - k * n := by
  rw [mul_comm, sub_mul, mul_comm k, mul_comm k]
end

/-! ## Numerals on both sides -/
namespace Simproc
theorem sub_add_eq_comm (a b c : Nat) : a - (b + c) = a - c - b := by rw [add_comm b, sub_add_eq]
theorem add_eq_add_le (a c : Nat) {b d : Nat} (h : b ≤ d) : (a + b = c + d) = (a = c + (d - b)) := by
  obtain ⟨k, rfl⟩ := le.dest h
  rw [add_sub_cancel_left, add_comm b, ← add_assoc]
  exact propext add_right_cancel_iff
theorem add_eq_add_ge (a c : Nat) {b d : Nat} (h : b ≥ d) : (a + b = c + d) = (a + (b - d) = c) :=
  eq_comm.eq.trans ((add_eq_add_le c a h).trans eq_comm.eq)
theorem add_sub_add_le (a c : Nat) {b d : Nat} (h : b ≤ d) : a + b - (c + d) = a - (c + (d - b)) := by
  obtain ⟨k, rfl⟩ := le.dest h
  rw [add_sub_cancel_left, add_comm b, ← add_assoc, add_sub_add_right]
theorem add_sub_add_ge (a c : Nat) {b d : Nat} (h : b ≥ d) : a + b - (c + d) = a + (b - d) - c := by
  rw [sub_add_eq_comm, add_sub_assoc h]
theorem add_sub_le (a : Nat) {b c : Nat} (h : b ≤ c) : a + b - c = a - (c - b) := by
  obtain ⟨k, rfl⟩ := le.dest h
  rw [add_sub_cancel_left, sub_add_eq, add_sub_cancel]
theorem add_eq_gt (a : Nat) {b c : Nat} (h : b > c) : (a + b = c) = False :=
  eq_false (ne_of_gt (lt_add_left a h))
theorem eq_add_gt (a : Nat) {b c : Nat} (h : c > a) : (a = b + c) = False :=
  eq_false (ne_of_lt (lt_add_left b h))
theorem add_eq_le (a : Nat) {b c : Nat} (h : b ≤ c) : (a + b = c) = (a = c - b) :=
  propext ⟨eq_sub_of_add_eq, fun e => by rw [e, sub_add_cancel h]⟩
theorem eq_add_le {a : Nat} (b : Nat) {c : Nat} (h : c ≤ a) : (a = b + c) = (b = a - c) :=
  eq_comm.eq.trans (add_eq_le b h)
theorem add_le_add_le (a c : Nat) {b d : Nat} (h : b ≤ d) : (a + b ≤ c + d) = (a ≤ c + (d - b)) := by
  obtain ⟨k, rfl⟩ := le.dest h
  rw [add_sub_cancel_left, add_comm b, ← add_assoc]
  exact propext add_le_add_iff_right
theorem add_le_add_ge (a c : Nat) {b d : Nat} (h : b ≥ d) : (a + b ≤ c + d) = (a + (b - d) ≤ c) := by
  obtain ⟨k, rfl⟩ := le.dest h
  rw [add_sub_cancel_left, add_comm d, ← add_assoc]
  exact propext add_le_add_iff_right
theorem add_le_le (a : Nat) {b c : Nat} (h : b ≤ c) : (a + b ≤ c) = (a ≤ c - b) :=
  propext (le_sub_iff_add_le h).symm
theorem add_le_gt (a : Nat) {b c : Nat} (h : b > c) : (a + b ≤ c) = False :=
  eq_false (not_le_of_lt (lt_add_left a h))
theorem le_add_le (a : Nat) {b c : Nat} (h : a ≤ c) : (a ≤ b + c) = True := eq_true (le_add_left_of_le h)
theorem le_add_ge (a : Nat) {b c : Nat} (h : a ≥ c) : (a ≤ b + c) = (a - c ≤ b) :=
  propext sub_le_iff_le_add.symm
section
variable {a b : Nat}
theorem beqEqOfEqEq {a' b' : Nat} (h : (a = b) = (a' = b')) : (a == b) = (a' == b') :=
  decide_eq_decide.mpr h.to_iff
theorem beqFalseOfEqFalse (h : (a = b) = False) : (a == b) = false := decide_eq_false (of_eq_false h)
theorem bneEqOfEqEq {a' b' : Nat} (h : (a = b) = (a' = b')) : (a != b) = (a' != b') :=
  congrArg not (beqEqOfEqEq h)
theorem bneTrueOfEqFalse (h : (a = b) = False) : (a != b) = true := congrArg not (beqFalseOfEqFalse h)
end
end Simproc
end Nat

/-! ## `min` and `max` -/
class Min (α : Type u) where min : α → α → α
class Max (α : Type u) where max : α → α → α
export Min (min)
export Max (max)
@[instance_reducible] def minOfLe {α : Type u} [LE α] [DecidableRel (@LE.le α _)] : Min α :=
  ⟨fun a b => if a ≤ b then a else b⟩
@[instance_reducible] def maxOfLe {α : Type u} [LE α] [DecidableRel (@LE.le α _)] : Max α :=
  ⟨fun a b => if a ≤ b then b else a⟩
instance instMinNat : Min Nat := minOfLe
instance instMaxNat : Max Nat := maxOfLe
namespace Nat
theorem min_def {n m : Nat} : min n m = if n ≤ m then n else m := rfl
theorem max_def {n m : Nat} : max n m = if n ≤ m then m else n := rfl
theorem min_eq_left {a b : Nat} (h : a ≤ b) : min a b = a := if_pos h
theorem max_eq_right {a b : Nat} (h : a ≤ b) : max a b = b := if_pos h
theorem min_eq_right {a b : Nat} (h : b ≤ a) : min a b = b := by
  rw [min_def]
  split
  next h' => exact le_antisymm h' h
  next => rfl
theorem max_eq_left {a b : Nat} (h : b ≤ a) : max a b = a := by
  rw [max_def]
  split
  next h' => exact le_antisymm h h'
  next => rfl
theorem min_comm (a b : Nat) : min a b = min b a := by
  rcases le_total a b with h | h
  · rw [min_eq_left h, min_eq_right h]
  · rw [min_eq_left h, min_eq_right h]
theorem max_comm (a b : Nat) : max a b = max b a := by
  rcases le_total a b with h | h
  · rw [max_eq_left h, max_eq_right h]
  · rw [max_eq_left h, max_eq_right h]
theorem min_le_left (a b : Nat) : min a b ≤ a := by
  rcases le_total a b with h | h
  · exact le_of_eq (min_eq_left h)
  · rw [min_eq_right h]; exact h
theorem min_le_right (a b : Nat) : min a b ≤ b := min_comm b a ▸ min_le_left b a
theorem le_max_left (a b : Nat) : a ≤ max a b := by
  rcases le_total a b with h | h
  · rw [max_eq_right h]; exact h
  · exact le_of_eq (max_eq_left h).symm
theorem le_max_right (a b : Nat) : b ≤ max a b := max_comm b a ▸ le_max_left b a
theorem le_min {a b c : Nat} : a ≤ min b c ↔ a ≤ b ∧ a ≤ c := by
  constructor
  · exact fun h => ⟨le_trans h (min_le_left b c), le_trans h (min_le_right b c)⟩
  · rintro ⟨h₁, h₂⟩
    rw [min_def]
    split <;> assumption
theorem max_le {a b c : Nat} : max a b ≤ c ↔ a ≤ c ∧ b ≤ c := by
  constructor
  · exact fun h => ⟨le_trans (le_max_left a b) h, le_trans (le_max_right a b) h⟩
  · rintro ⟨h₁, h₂⟩
    rw [max_def]
    split <;> assumption
theorem add_min_add_right (a b c : Nat) : min (a + c) (b + c) = min a b + c := by
  rcases le_total a b with h | h
  · rw [min_eq_left h, min_eq_left (add_le_add_right h c)]
  · rw [min_eq_right h, min_eq_right (add_le_add_right h c)]
@[simp] theorem min_self (a : Nat) : min a a = a := min_eq_left (le_refl a)
@[simp] theorem max_self (a : Nat) : max a a = a := max_eq_left (le_refl a)
@[simp] theorem zero_min (a : Nat) : min 0 a = 0 := min_eq_left (zero_le a)
@[simp] theorem min_zero (a : Nat) : min a 0 = 0 := min_eq_right (zero_le a)
@[simp] theorem zero_max (a : Nat) : max 0 a = a := max_eq_right (zero_le a)
@[simp] theorem max_zero (a : Nat) : max a 0 = a := max_eq_left (zero_le a)
end Nat
