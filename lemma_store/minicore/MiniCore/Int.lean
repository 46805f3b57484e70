/-
MiniCore.Int: integers, their arithmetic and order.
-/
prelude
import MiniCore.NatDiv
set_option linter.all false
set_option autoImplicit false
universe u

set_option genCtorIdx false in
inductive Int : Type where
  | ofNat (n : Nat) : Int
  | negSucc (n : Nat) : Int
@[reducible] protected noncomputable def Int.ctorIdx (a : Int) : Nat := Int.casesOn a (fun _ => 0) (fun _ => 1)
class NatCast (R : Type u) where natCast : Nat → R
attribute [coe] NatCast.natCast
class IntCast (R : Type u) where intCast : Int → R
instance instNatCastInt : NatCast Int := ⟨Int.ofNat⟩
instance (n : Nat) : CoeT Nat n Int := ⟨NatCast.natCast n⟩
instance instOfNat {n : Nat} : OfNat Int n := ⟨Int.ofNat n⟩

namespace Int
instance instInhabited : Inhabited Int := ⟨ofNat 0⟩
def negOfNat : Nat → Int
  | 0 => 0
  | n + 1 => negSucc n
@[extern "lean_int_neg"] protected def neg : Int → Int
  | ofNat n => negOfNat n
  | negSucc n => ofNat (n + 1)
def subNatNat (m n : Nat) : Int :=
  match n - m with
  | 0 => ofNat (m - n)
  | k + 1 => negSucc k
@[extern "lean_int_add"] protected def add : Int → Int → Int
  | ofNat m, ofNat n => ofNat (m + n)
  | ofNat m, negSucc n => subNatNat m (n + 1)
  | negSucc m, ofNat n => subNatNat n (m + 1)
  | negSucc m, negSucc n => negSucc (m + n + 1)
@[extern "lean_int_mul"] protected def mul : Int → Int → Int
  | ofNat m, ofNat n => ofNat (m * n)
  | ofNat m, negSucc n => negOfNat (m * (n + 1))
  | negSucc m, ofNat n => negOfNat ((m + 1) * n)
  | negSucc m, negSucc n => ofNat ((m + 1) * (n + 1))
@[reducible] instance instNegInt : Neg Int := ⟨Int.neg⟩
@[reducible] instance instAdd : Add Int := ⟨Int.add⟩
@[reducible] instance instMul : Mul Int := ⟨Int.mul⟩
@[extern "lean_int_sub"] protected def sub (m n : Int) : Int := m + -n
@[reducible] instance instSub : Sub Int := ⟨Int.sub⟩
@[extern "lean_nat_abs"] def natAbs : Int → Nat
  | ofNat n => n
  | negSucc n => n + 1
/-- Division with a remainder that is never negative; `/` on integers. -/
@[extern "lean_int_ediv"] def ediv : Int → Int → Int
  | ofNat m, ofNat n => ofNat (m / n)
  | ofNat m, negSucc n => negOfNat (m / (n + 1))
  | negSucc _, ofNat 0 => 0
  | negSucc m, ofNat (n + 1) => negSucc (m / (n + 1))
  | negSucc m, negSucc n => ofNat (m / (n + 1) + 1)
@[extern "lean_int_emod"] def emod : Int → Int → Int
  | ofNat m, n => ofNat (m % natAbs n)
  | negSucc m, n => subNatNat (natAbs n) (m % natAbs n + 1)
@[reducible] instance instDiv : Div Int := ⟨Int.ediv⟩
@[reducible] instance instMod : Mod Int := ⟨Int.emod⟩
instance instDvd : Dvd Int := ⟨fun a b => ∃ c, b = a * c⟩
inductive NonNeg : Int → Prop where
  | mk (n : Nat) : NonNeg (ofNat n)
protected def le (a b : Int) : Prop := NonNeg (b - a)
@[reducible] instance instLEInt : LE Int := ⟨Int.le⟩
protected def lt (a b : Int) : Prop := a + 1 ≤ b
@[reducible] instance instLTInt : LT Int := ⟨Int.lt⟩
theorem not_nonNeg_negSucc {n : Nat} (h : NonNeg (negSucc n)) : False := nomatch h
noncomputable def decNonneg : (a : Int) → Decidable (NonNeg a)
  | ofNat n => .isTrue (.mk n)
  | negSucc _ => .isFalse not_nonNeg_negSucc
@[extern "lean_int_dec_le"] instance decLe (a b : Int) : Decidable (a ≤ b) := decNonneg (b - a)
@[extern "lean_int_dec_lt"] instance decLt (a b : Int) : Decidable (a < b) := decNonneg (b - (a + 1))
@[extern "lean_int_dec_eq"] protected def decEq : (a b : Int) → Decidable (a = b)
  | ofNat m, ofNat n => if h : m = n then .isTrue (h ▸ rfl) else .isFalse fun e => h (ofNat.inj e)
  | negSucc m, negSucc n => if h : m = n then .isTrue (h ▸ rfl) else .isFalse fun e => h (negSucc.inj e)
  | ofNat _, negSucc _ => .isFalse fun e => nomatch e
  | negSucc _, ofNat _ => .isFalse fun e => nomatch e
instance instDecidableEq : DecidableEq Int := Int.decEq
instance instMin : Min Int := minOfLe
instance instMax : Max Int := maxOfLe
def toNat : Int → Nat
  | ofNat n => n
  | negSucc _ => 0

/-! ## Integers as differences of natural numbers -/
theorem subNatNat_of_le {m n : Nat} (h : n ≤ m) : subNatNat m n = ofNat (m - n) := by
  rw [subNatNat, Nat.sub_eq_zero_of_le h]
theorem subNatNat_add_add (m n k : Nat) : subNatNat (m + k) (n + k) = subNatNat m n := by
  rw [subNatNat, subNatNat, Nat.add_sub_add_right, Nat.add_sub_add_right]
theorem subNatNat_zero (m : Nat) : subNatNat m 0 = ofNat m := by rw [subNatNat, Nat.zero_sub]; rfl
theorem zero_subNatNat (n : Nat) : subNatNat 0 (n + 1) = negSucc n := rfl
theorem subNatNat_self (n : Nat) : subNatNat n n = 0 := by
  rw [subNatNat_of_le (Nat.le_refl n), Nat.sub_self]
  rfl
/-- Every integer is a difference in which one side is zero. -/
theorem exists_sub : (a : Int) → ∃ m n, a = subNatNat m n
  | ofNat m => ⟨m, 0, (subNatNat_zero m).symm⟩
  | negSucc n => ⟨0, n + 1, rfl⟩
theorem subNatNat_cases (m n : Nat) :
    (∃ d, m = d + n ∧ subNatNat m n = ofNat d) ∨ ∃ d, n = d + 1 + m ∧ subNatNat m n = negSucc d := by
  rcases Nat.lt_or_ge m n with h | h
  · obtain ⟨d, rfl⟩ := Nat.le.dest h
    have e := subNatNat_add_add 0 (d + 1) m
    rw [Nat.zero_add, show d + 1 + m = m + 1 + d by simp +arith] at e
    exact .inr ⟨d, by simp +arith, e⟩
  · obtain ⟨d, rfl⟩ := Nat.le.dest h
    exact .inl ⟨d, Nat.add_comm _ _, by rw [subNatNat_of_le h, Nat.add_sub_cancel_left]⟩
theorem subNatNat_eq {m n p q : Nat} (h : m + q = p + n) : subNatNat m n = subNatNat p q := by
  rw [← subNatNat_add_add m n q, h, ← subNatNat_add_add p q n, Nat.add_comm q]
theorem subNatNat_add (m n p q : Nat) : subNatNat m n + subNatNat p q = subNatNat (m + p) (n + q) := by
  rcases subNatNat_cases m n with ⟨d, rfl, e⟩ | ⟨d, rfl, e⟩ <;>
    rcases subNatNat_cases p q with ⟨k, rfl, f⟩ | ⟨k, rfl, f⟩ <;> rw [e, f]
  · exact (subNatNat_zero (d + k)).symm.trans (subNatNat_eq (by simp +arith))
  · exact (show _ = subNatNat d (k + 1) from rfl).trans (subNatNat_eq (by simp +arith))
  · exact (show _ = subNatNat k (d + 1) from rfl).trans (subNatNat_eq (by simp +arith))
  · exact (show _ = subNatNat 0 (d + k + 1 + 1) from rfl).trans (subNatNat_eq (by simp +arith))
theorem neg_subNatNat (m n : Nat) : -subNatNat m n = subNatNat n m := by
  rcases subNatNat_cases m n with ⟨d, rfl, e⟩ | ⟨d, rfl, e⟩ <;> rw [e]
  · cases d with
    | zero => rw [Nat.zero_add, subNatNat_self]; rfl
    | succ d => exact (show _ = subNatNat 0 (d + 1) from rfl).trans (subNatNat_eq (by simp +arith))
  · exact (subNatNat_zero (d + 1)).symm.trans (subNatNat_eq (by simp +arith))
theorem negOfNat_eq (n : Nat) : negOfNat n = subNatNat 0 n := by
  cases n with
  | zero => rfl
  | succ n => rfl
theorem subNatNat_mul (m n p q : Nat) : subNatNat m n * subNatNat p q = subNatNat (m * p + n * q) (m * q + n * p) :=
  by
  rcases subNatNat_cases m n with ⟨d, rfl, e⟩ | ⟨d, rfl, e⟩ <;>
    rcases subNatNat_cases p q with ⟨k, rfl, f⟩ | ⟨k, rfl, f⟩ <;> rw [e, f]
  · exact (subNatNat_zero (d * k)).symm.trans (subNatNat_eq (by simp +arith [Nat.add_mul, Nat.mul_add]))
  · exact (negOfNat_eq _).trans (subNatNat_eq (by simp +arith [Nat.add_mul, Nat.mul_add]))
  · exact (negOfNat_eq _).trans (subNatNat_eq (by simp +arith [Nat.add_mul, Nat.mul_add]))
  · exact (subNatNat_zero _).symm.trans (subNatNat_eq (by simp +arith [Nat.add_mul, Nat.mul_add]))

/-! ## Ring laws -/
protected theorem add_comm (a b : Int) : a + b = b + a := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  rw [subNatNat_add, subNatNat_add, Nat.add_comm m, Nat.add_comm n]
protected theorem add_assoc (a b c : Int) : a + b + c = a + (b + c) := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  obtain ⟨r, s, rfl⟩ := exists_sub c
  rw [subNatNat_add, subNatNat_add, subNatNat_add, subNatNat_add, Nat.add_assoc, Nat.add_assoc]
protected theorem add_left_comm (a b c : Int) : a + (b + c) = b + (a + c) := by
  rw [← Int.add_assoc, Int.add_comm a, Int.add_assoc]
protected theorem add_right_comm (a b c : Int) : a + b + c = a + c + b := by
  rw [Int.add_assoc, Int.add_comm b, ← Int.add_assoc]
@[simp] protected theorem add_zero (a : Int) : a + 0 = a := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  exact subNatNat_add m n 0 0
@[simp] protected theorem zero_add (a : Int) : 0 + a = a := by rw [Int.add_comm, Int.add_zero]
protected theorem add_right_neg (a : Int) : a + -a = 0 := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  rw [neg_subNatNat, subNatNat_add, Nat.add_comm n, subNatNat_self]
protected theorem add_left_neg (a : Int) : -a + a = 0 := by rw [Int.add_comm, Int.add_right_neg]
@[simp] protected theorem neg_neg (a : Int) : - -a = a := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  rw [neg_subNatNat, neg_subNatNat]
@[simp] protected theorem neg_zero : -(0 : Int) = 0 := rfl
protected theorem neg_add {a b : Int} : -(a + b) = -a + -b := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  rw [subNatNat_add, neg_subNatNat, neg_subNatNat, neg_subNatNat, subNatNat_add]
protected theorem sub_eq_add_neg {a b : Int} : a - b = a + -b := rfl
@[simp] protected theorem sub_self (a : Int) : a - a = 0 := Int.add_right_neg a
@[simp] protected theorem sub_zero (a : Int) : a - 0 = a := Int.add_zero a
@[simp] protected theorem zero_sub (a : Int) : 0 - a = -a := Int.zero_add (-a)
protected theorem neg_sub (a b : Int) : -(a - b) = b - a := by
  rw [Int.sub_eq_add_neg, Int.neg_add, Int.neg_neg, Int.add_comm, Int.sub_eq_add_neg]
protected theorem add_sub_cancel (a b : Int) : a + b - b = a := by
  rw [Int.sub_eq_add_neg, Int.add_assoc, Int.add_right_neg, Int.add_zero]
protected theorem sub_add_cancel (a b : Int) : a - b + b = a := by
  rw [Int.sub_eq_add_neg, Int.add_assoc, Int.add_left_neg, Int.add_zero]
protected theorem add_left_cancel {a b c : Int} (h : a + b = a + c) : b = c := by
  rw [← Int.add_sub_cancel b a, Int.add_comm b, h, Int.add_comm a, Int.add_sub_cancel]
protected theorem mul_comm (a b : Int) : a * b = b * a := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  rw [subNatNat_mul, subNatNat_mul]
  exact subNatNat_eq (by simp +arith [Nat.mul_comm])
protected theorem mul_assoc (a b c : Int) : a * b * c = a * (b * c) := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  obtain ⟨r, s, rfl⟩ := exists_sub c
  simp only [subNatNat_mul]
  exact subNatNat_eq (by simp +arith [Nat.add_mul, Nat.mul_add, Nat.mul_assoc])
protected theorem mul_add (a b c : Int) : a * (b + c) = a * b + a * c := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  obtain ⟨r, s, rfl⟩ := exists_sub c
  simp only [subNatNat_mul, subNatNat_add]
  exact subNatNat_eq (by simp +arith [Nat.mul_add])
protected theorem add_mul (a b c : Int) : (a + b) * c = a * c + b * c := by
  rw [Int.mul_comm, Int.mul_add, Int.mul_comm c, Int.mul_comm c]
@[simp] protected theorem mul_one (a : Int) : a * 1 = a := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  exact (subNatNat_mul m n 1 0).trans (subNatNat_eq (by simp +arith))
@[simp] protected theorem one_mul (a : Int) : 1 * a = a := by rw [Int.mul_comm, Int.mul_one]
@[simp] protected theorem mul_zero (a : Int) : a * 0 = 0 := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  exact (subNatNat_mul m n 0 0).trans (subNatNat_self 0)
@[simp] protected theorem zero_mul (a : Int) : 0 * a = 0 := by rw [Int.mul_comm, Int.mul_zero]
protected theorem neg_mul (a b : Int) : -a * b = -(a * b) := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  rw [neg_subNatNat, subNatNat_mul, subNatNat_mul, neg_subNatNat]
  exact subNatNat_eq (by simp +arith)

/-! ## Order -/
theorem subNatNat_le {m n p q : Nat} : subNatNat m n ≤ subNatNat p q ↔ m + q ≤ p + n := by
  show NonNeg (subNatNat p q + -subNatNat m n) ↔ _
  rw [neg_subNatNat, subNatNat_add]
  rcases subNatNat_cases (p + n) (q + m) with ⟨d, h, e⟩ | ⟨d, h, e⟩ <;> rw [e, Nat.add_comm m, h]
  · exact iff_of_true (.mk d) (Nat.le_add_left _ _)
  · exact iff_of_false not_nonNeg_negSucc (Nat.not_le_of_lt (by simp +arith))
protected theorem le_refl (a : Int) : a ≤ a := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  exact subNatNat_le.mpr (Nat.le_refl _)
protected theorem le_trans {a b c : Int} (h₁ : a ≤ b) (h₂ : b ≤ c) : a ≤ c := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  obtain ⟨r, s, rfl⟩ := exists_sub c
  rw [subNatNat_le] at *
  refine Nat.le_of_add_le_add_right (b := p + q) ?_
  have h := Nat.add_le_add h₁ h₂
  simp only [Nat.add_comm, Nat.add_left_comm] at h ⊢
  exact h
protected theorem le_antisymm {a b : Int} (h₁ : a ≤ b) (h₂ : b ≤ a) : a = b := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  rw [subNatNat_le] at *
  exact subNatNat_eq (Nat.le_antisymm h₁ h₂)
protected theorem le_total (a b : Int) : a ≤ b ∨ b ≤ a := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  rw [subNatNat_le, subNatNat_le]
  exact Nat.le_total _ _
protected theorem lt_iff_add_one_le {a b : Int} : a < b ↔ a + 1 ≤ b := Iff.rfl
protected theorem add_le_add_left {a b : Int} (h : a ≤ b) (c : Int) : c + a ≤ c + b := by
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  obtain ⟨r, s, rfl⟩ := exists_sub c
  rw [subNatNat_le] at h
  rw [subNatNat_add, subNatNat_add, subNatNat_le]
  have h := Nat.add_le_add_left h (r + s)
  simp only [Nat.add_comm, Nat.add_left_comm] at h ⊢
  exact h
protected theorem add_le_add_right {a b : Int} (h : a ≤ b) (c : Int) : a + c ≤ b + c := by
  rw [Int.add_comm a, Int.add_comm b]
  exact Int.add_le_add_left h c
protected theorem not_le {a b : Int} : ¬(a ≤ b) ↔ b < a := by
  show _ ↔ b + 1 ≤ a
  obtain ⟨m, n, rfl⟩ := exists_sub a
  obtain ⟨p, q, rfl⟩ := exists_sub b
  rw [show subNatNat p q + 1 = subNatNat (p + 1) q from subNatNat_add p q 1 0, subNatNat_le, subNatNat_le, Nat.not_le,
    Nat.add_right_comm]
  exact Iff.rfl
protected theorem not_lt {a b : Int} : ¬(a < b) ↔ b ≤ a := by
  rw [← Int.not_le, Classical.not_not]
protected theorem lt_irrefl (a : Int) : ¬(a < a) := Int.not_lt.mpr (Int.le_refl a)
protected theorem le_of_lt {a b : Int} (h : a < b) : a ≤ b :=
  (Int.le_total a b).elim id fun h' => absurd h (Int.not_lt.mpr h')
theorem ofNat_le {m n : Nat} : (ofNat m ≤ ofNat n) ↔ m ≤ n := by
  rw [← subNatNat_zero, ← subNatNat_zero, subNatNat_le]
  exact Iff.rfl
theorem toNat_lt_toNat {a b : Int} (h : a < b) (hb : 0 < b) : a.toNat < b.toNat := by
  cases b with
  | negSucc n => exact (not_nonNeg_negSucc (n := n + 1) hb).elim
  | ofNat n =>
    cases a with
    | ofNat m => exact ofNat_le.mp h
    | negSucc m => exact ofNat_le.mp hb
/-- What makes recursion end that counts up to a bound. -/
theorem toNat_up {x a k : Int} (h : ¬(a < x)) (hk : 0 < k) : (a + 1 - (k + x)).toNat < (a + 1 - x).toNat := by
  refine toNat_lt_toNat ?_ ?_
  · have h₂ := Int.add_le_add_left (Int.lt_iff_add_one_le.mp hk) (a + 1 - (k + x))
    have e : a + 1 - (k + x) + k = a + 1 - x := by
      rw [Int.sub_eq_add_neg, Int.neg_add, Int.add_assoc (a + 1), Int.add_right_comm (-k), Int.add_left_neg,
        Int.zero_add, Int.sub_eq_add_neg]
    rw [e, Int.zero_add] at h₂
    exact h₂
  · have h₁ := Int.add_le_add_right (Int.not_lt.mp h) (1 + -x)
    rw [Int.add_left_comm x, Int.add_right_neg, Int.add_zero, ← Int.add_assoc] at h₁
    exact h₁
end Int
