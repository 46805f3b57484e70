/-
MiniCore.NatDiv: division with remainder and divisibility of natural numbers.
-/
prelude
import MiniCore.Linear
set_option linter.all false
set_option autoImplicit false

namespace Nat
theorem divGo_spec (f n m : Nat) (hn : n ≤ f) (hm : 0 < m) : m * divGo f n m ≤ n ∧ n < m * divGo f n m + m := by
  induction f generalizing n with
  | zero =>
    rw [eq_zero_of_le_zero hn, divGo, mul_zero, zero_add]
    exact ⟨le_refl 0, hm⟩
  | succ f ih =>
    rw [divGo]
    cases h : ble m n with
    | true =>
      have hmn := le_of_ble_eq_true h
      have hlt := sub_lt (lt_of_lt_of_le hm hmn) hm
      obtain ⟨h₁, h₂⟩ := ih (n - m) (le_of_lt_succ (lt_of_lt_of_le hlt hn))
      rw [cond_true, mul_add_one]
      exact ⟨le_trans (add_le_add_right h₁ m) (le_of_eq (sub_add_cancel hmn)),
        lt_of_le_of_lt (le_of_eq (sub_add_cancel hmn).symm) (add_lt_add_right h₂ m)⟩
    | false =>
      rw [cond_false, mul_zero, zero_add]
      exact ⟨zero_le n, lt_of_not_le fun h' => Bool.ne_false_of_eq_true (ble_eq_true_of_le h') h⟩
theorem div_eq_divGo {n m : Nat} (hm : 0 < m) : n / m = divGo n n m := by
  show cond (beq m 0) 0 (divGo n n m) = _
  cases m with
  | zero => exact absurd hm (lt_irrefl 0)
  | succ m => rfl
@[simp] theorem div_zero (n : Nat) : n / 0 = 0 := rfl
@[simp] theorem mod_zero (n : Nat) : n % 0 = n := by
  show n - 0 * (n / 0) = n
  rw [zero_mul, sub_zero]
theorem mul_div_le (m n : Nat) : n * (m / n) ≤ m := by
  rcases eq_zero_or_pos n with rfl | h
  · rw [zero_mul]; exact zero_le m
  · rw [div_eq_divGo h]; exact (divGo_spec m m n (le_refl m) h).left
theorem lt_mul_div_add (m : Nat) {n : Nat} (h : 0 < n) : m < n * (m / n) + n := by
  rw [div_eq_divGo h]
  exact (divGo_spec m m n (le_refl m) h).right
theorem div_add_mod (m n : Nat) : n * (m / n) + m % n = m := add_sub_of_le (mul_div_le m n)
theorem mod_add_div (m n : Nat) : m % n + n * (m / n) = m := by rw [add_comm, div_add_mod]
theorem mod_lt (x : Nat) {y : Nat} (h : y > 0) : x % y < y := by
  have h' := lt_mul_div_add x h
  rw [← add_lt_add_iff_left (k := y * (x / y)), div_add_mod]
  exact h'
theorem mod_le (x y : Nat) : x % y ≤ x := sub_le _ _
theorem div_le_self (n k : Nat) : n / k ≤ n := by
  rcases eq_zero_or_pos k with rfl | h
  · exact zero_le n
  · have h' := mul_le_mul_right (n / k) h
    rw [zero_add, one_mul] at h'
    exact le_trans h' (mul_div_le n k)
/-- Quotient and remainder are determined by what they are for. -/
theorem div_mod_unique {n m q r : Nat} (h : r + m * q = n) (hr : r < m) : n / m = q ∧ n % m = r := by
  have hm : 0 < m := zero_lt_of_lt hr
  have hq : n / m = q := by
    rcases lt_trichotomy (n / m) q with l | e | l
    · have h₁ := lt_mul_div_add n hm
      have h₂ := mul_le_mul_left m (succ_le_of_lt l)
      rw [mul_add_one] at h₂
      exact absurd (lt_of_lt_of_le h₁ h₂) (not_lt_of_le (h ▸ le_add_left _ _))
    · exact e
    · have h₁ := mul_le_mul_left m (succ_le_of_lt l)
      rw [mul_add_one] at h₁
      have h₂ := le_trans h₁ (mul_div_le n m)
      rw [← h, add_comm r, add_le_add_iff_left] at h₂
      exact absurd hr (not_lt_of_le h₂)
  refine ⟨hq, add_left_cancel (n := m * q) ?_⟩
  have e := div_add_mod n m
  rw [hq] at e
  rw [e, ← h, add_comm]
theorem div_eq_of_lt {a b : Nat} (h : a < b) : a / b = 0 := (div_mod_unique (q := 0) rfl h).left
theorem mod_eq_of_lt {a b : Nat} (h : a < b) : a % b = a := (div_mod_unique (q := 0) rfl h).right
@[simp] theorem zero_div (n : Nat) : 0 / n = 0 := eq_zero_of_le_zero (div_le_self 0 n)
@[simp] theorem zero_mod (n : Nat) : 0 % n = 0 := eq_zero_of_le_zero (mod_le 0 n)
@[simp] theorem mod_self (n : Nat) : n % n = 0 := by
  rcases eq_zero_or_pos n with rfl | h
  · rfl
  · exact (div_mod_unique (q := 1) (by rw [zero_add, mul_one]) h).right
theorem div_self {n : Nat} (h : 0 < n) : n / n = 1 :=
  (div_mod_unique (q := 1) (by rw [zero_add, mul_one]) h).left
@[simp] theorem div_one (n : Nat) : n / 1 = n := (div_mod_unique (by rw [zero_add, one_mul]) zero_lt_one).left
@[simp] theorem mod_one (n : Nat) : n % 1 = 0 := (div_mod_unique (by rw [zero_add, one_mul]) zero_lt_one).right
theorem add_mul_div_left (x z : Nat) {y : Nat} (h : 0 < y) : (x + y * z) / y = x / y + z := by
  refine (div_mod_unique (r := x % y) ?_ (mod_lt x h)).left
  rw [mul_add, ← add_assoc, mod_add_div]
@[simp] theorem add_mul_mod_self_left (x y z : Nat) : (x + y * z) % y = x % y := by
  rcases eq_zero_or_pos y with rfl | h
  · rw [zero_mul, add_zero]
  · refine (div_mod_unique (q := x / y + z) ?_ (mod_lt x h)).right
    rw [mul_add, ← add_assoc, mod_add_div]
@[simp] theorem add_mod_right (x z : Nat) : (x + z) % z = x % z := by
  have h := add_mul_mod_self_left x z 1
  rwa [mul_one] at h
@[simp] theorem mul_mod_right (m n : Nat) : m * n % m = 0 := by
  have h := add_mul_mod_self_left 0 m n
  rwa [zero_add, zero_mod] at h
theorem mul_div_cancel_left (m : Nat) {n : Nat} (h : 0 < n) : n * m / n = m := by
  have e := add_mul_div_left 0 m h
  rwa [zero_add, zero_div, zero_add] at e

/-! ## Divisibility -/
theorem dvd_refl (a : Nat) : a ∣ a := ⟨1, (mul_one a).symm⟩
theorem dvd_zero (a : Nat) : a ∣ 0 := ⟨0, rfl⟩
theorem one_dvd (n : Nat) : 1 ∣ n := ⟨n, (one_mul n).symm⟩
theorem dvd_mul_right (a b : Nat) : a ∣ a * b := ⟨b, rfl⟩
theorem dvd_mul_left (a b : Nat) : a ∣ b * a := ⟨b, mul_comm b a⟩
theorem dvd_trans {a b c : Nat} (h₁ : a ∣ b) (h₂ : b ∣ c) : a ∣ c := by
  obtain ⟨d, rfl⟩ := h₁
  obtain ⟨e, rfl⟩ := h₂
  exact ⟨d * e, mul_assoc a d e⟩
theorem dvd_add {m n k : Nat} (h₁ : k ∣ m) (h₂ : k ∣ n) : k ∣ m + n := by
  obtain ⟨d, rfl⟩ := h₁
  obtain ⟨e, rfl⟩ := h₂
  exact ⟨d + e, (mul_add k d e).symm⟩
theorem dvd_of_mod_eq_zero {k n : Nat} (h : n % k = 0) : k ∣ n := by
  have e := div_add_mod n k
  rw [h, add_zero] at e
  exact ⟨n / k, e.symm⟩
theorem mod_eq_zero_of_dvd {k n : Nat} (h : k ∣ n) : n % k = 0 := by
  obtain ⟨c, rfl⟩ := h
  exact mul_mod_right k c
theorem dvd_iff_mod_eq_zero {k n : Nat} : k ∣ n ↔ n % k = 0 := ⟨mod_eq_zero_of_dvd, dvd_of_mod_eq_zero⟩
instance decidable_dvd (k n : Nat) : Decidable (k ∣ n) :=
  if h : n % k = 0 then .isTrue (dvd_of_mod_eq_zero h) else .isFalse fun h' => h (mod_eq_zero_of_dvd h')
end Nat
