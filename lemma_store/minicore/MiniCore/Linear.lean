/-
MiniCore.Linear: linear arithmetic by reflection, what `simp +arith` builds its proofs from.
The elaborator normalises a (dis)equation by itself and hands back both as `ExprCnstr`; the
theorems at the end let the kernel confirm it with the checker below.
-/
prelude
import MiniCore.NatSub
set_option linter.all false
set_option autoImplicit false
universe u

/-- A read-only array as a binary tree: `branch p l r` holds the indices below `p` in `l`. -/
inductive Lean.RArray (α : Type u) where
  | leaf (a : α)
  | branch (p : Nat) (l r : RArray α)
noncomputable def Lean.RArray.get {α : Type u} (a : RArray α) (n : Nat) : α :=
  RArray.rec (fun x => x) (fun p _ _ l r => Bool.rec l r (Nat.ble p n)) a

namespace Nat.Internal.Linear
abbrev Var := Nat
abbrev Context := Lean.RArray Nat
inductive Expr where
  | num (v : Nat)
  | var (i : Var)
  | add (a b : Expr)
  | mulL (k : Nat) (a : Expr)
  | mulR (a : Expr) (k : Nat)
structure ExprCnstr where
  eq : Bool
  lhs : Expr
  rhs : Expr
noncomputable def Expr.denote (ctx : Context) : Expr → Nat
  | .num v => v
  | .var i => ctx.get i
  | .add a b => Nat.add (a.denote ctx) (b.denote ctx)
  | .mulL k a => Nat.mul k (a.denote ctx)
  | .mulR a k => Nat.mul (a.denote ctx) k
noncomputable def ExprCnstr.denote (ctx : Context) (c : ExprCnstr) : Prop :=
  cond c.eq (c.lhs.denote ctx = c.rhs.denote ctx) (c.lhs.denote ctx ≤ c.rhs.denote ctx)

/-! ## Linear forms: the list of coefficients, that of the constant `1` first -/
def unit : Nat → List Nat
  | 0 => [1]
  | i + 1 => 0 :: unit i
def plus : List Nat → List Nat → List Nat
  | [], bs => bs
  | a :: as, [] => a :: as
  | a :: as, b :: bs => (a + b) :: plus as bs
def times (k : Nat) : List Nat → List Nat
  | [] => []
  | a :: as => (k * a) :: times k as
def Expr.form : Expr → List Nat
  | .num v => [v]
  | .var i => unit (i + 1)
  | .add a b => plus a.form b.form
  | .mulL k a => times k a.form
  | .mulR a k => times k a.form
/-- What is left of `as` when everything that `bs` has too is taken away. -/
def less : List Nat → List Nat → List Nat
  | [], _ => []
  | a :: as, [] => a :: as
  | a :: as, b :: bs => (a - b) :: less as bs
def isZero : List Nat → Bool
  | [] => true
  | a :: as => Nat.beq a 0 && isZero as
def isPositive : List Nat → Bool
  | [] => false
  | a :: _ => Nat.ble 1 a
def same : List Nat → List Nat → Bool
  | [], bs => isZero bs
  | a :: as, [] => Nat.beq a 0 && isZero as
  | a :: as, b :: bs => Nat.beq a b && same as bs

def dot (f : Nat → Nat) : List Nat → Nat
  | [] => 0
  | a :: as => a * f 0 + dot (fun i => f (i + 1)) as
theorem dot_unit (f : Nat → Nat) (i : Nat) : dot f (unit i) = f i := by
  induction i generalizing f with
  | zero => rw [unit, dot, dot, Nat.one_mul, Nat.add_zero]
  | succ i ih => rw [unit, dot, ih, Nat.zero_mul, Nat.zero_add]
theorem dot_plus (f : Nat → Nat) (as bs : List Nat) : dot f (plus as bs) = dot f as + dot f bs := by
  induction as generalizing f bs with
  | nil => rw [plus, dot, Nat.zero_add]
  | cons a as ih =>
    cases bs with
    | nil => rw [plus, dot, dot, Nat.add_zero]
    | cons b bs =>
      rw [plus, dot, dot, dot, ih, Nat.add_mul]
      simp only [Nat.add_assoc, Nat.add_left_comm]
theorem dot_times (f : Nat → Nat) (k : Nat) (as : List Nat) : dot f (times k as) = k * dot f as := by
  induction as generalizing f with
  | nil => rfl
  | cons a as ih => rw [times, dot, dot, ih, Nat.mul_add, Nat.mul_assoc]
theorem dot_isZero (f : Nat → Nat) (as : List Nat) (h : isZero as = true) : dot f as = 0 := by
  induction as generalizing f with
  | nil => rfl
  | cons a as ih =>
    rw [isZero, Bool.and_eq_true] at h
    rw [dot, ih _ h.right, Nat.eq_of_beq_eq_true a 0 h.left, Nat.zero_mul]
theorem dot_same (f : Nat → Nat) (as bs : List Nat) (h : same as bs = true) : dot f as = dot f bs := by
  induction as generalizing f bs with
  | nil => exact (dot_isZero f bs h).symm
  | cons a as ih =>
    cases bs with
    | nil => exact dot_isZero f (a :: as) h
    | cons b bs =>
      rw [same, Bool.and_eq_true] at h
      rw [dot, dot, ih _ _ h.right, Nat.eq_of_beq_eq_true a b h.left]
theorem dot_isPositive (f : Nat → Nat) (as : List Nat) (hf : f 0 = 1) (h : isPositive as = true) : 0 < dot f as := by
  cases as with
  | nil => exact Bool.noConfusion h
  | cons a as =>
    rw [dot, hf, Nat.mul_one]
    exact Nat.lt_add_right _ (Nat.le_of_ble_eq_true h)
theorem sub_common (a b : Nat) : ∃ m, a = a - b + m ∧ b = b - a + m := by
  rcases Nat.le_total a b with h | h
  · exact ⟨a, by rw [Nat.sub_eq_zero_of_le h, Nat.zero_add], (Nat.sub_add_cancel h).symm⟩
  · exact ⟨b, (Nat.sub_add_cancel h).symm, by rw [Nat.sub_eq_zero_of_le h, Nat.zero_add]⟩
theorem dot_less (f : Nat → Nat) (as bs : List Nat) :
    ∃ m, dot f as = dot f (less as bs) + m ∧ dot f bs = dot f (less bs as) + m := by
  induction as generalizing f bs with
  | nil => exact ⟨0, rfl, by cases bs <;> rfl⟩
  | cons a as ih =>
    cases bs with
    | nil => exact ⟨0, rfl, rfl⟩
    | cons b bs =>
      obtain ⟨m, h₁, h₂⟩ := ih (fun i => f (i + 1)) bs
      obtain ⟨k, e₁, e₂⟩ := sub_common a b
      refine ⟨k * f 0 + m, ?_, ?_⟩
      · rw [less, dot, dot, h₁, congrArg (· * f 0) e₁, Nat.add_mul]
        simp only [Nat.add_assoc, Nat.add_left_comm]
      · rw [less, dot, dot, h₂, congrArg (· * f 0) e₂, Nat.add_mul]
        simp only [Nat.add_assoc, Nat.add_left_comm]

/-! ## The checker against the meaning -/
noncomputable def value (ctx : Context) : Nat → Nat
  | 0 => 1
  | i + 1 => ctx.get i
theorem Expr.denote_form (ctx : Context) (e : Expr) : e.denote ctx = dot (value ctx) e.form := by
  induction e with
  | num v => rw [form, dot, dot, value, Nat.mul_one]; rfl
  | var i => rw [form, dot_unit]; rfl
  | add a b iha ihb => rw [form, dot_plus, ← iha, ← ihb]; rfl
  | mulL k a ih => rw [form, dot_times, ← ih]; rfl
  | mulR a k ih => rw [form, dot_times, ← ih, Nat.mul_comm]; rfl
def ExprCnstr.left (c : ExprCnstr) : List Nat := less c.lhs.form c.rhs.form
def ExprCnstr.right (c : ExprCnstr) : List Nat := less c.rhs.form c.lhs.form
theorem ExprCnstr.denote_form (ctx : Context) (c : ExprCnstr) : c.denote ctx =
    cond c.eq (dot (value ctx) c.left = dot (value ctx) c.right) (dot (value ctx) c.left ≤ dot (value ctx) c.right) :=
      by
  obtain ⟨m, h₁, h₂⟩ := dot_less (value ctx) c.lhs.form c.rhs.form
  rw [denote, Expr.denote_form, Expr.denote_form, h₁, h₂]
  exact congr (congrArg (cond c.eq) (propext Nat.add_right_cancel_iff)) (propext Nat.add_le_add_iff_right)

def ExprCnstr.agrees (c d : ExprCnstr) : Bool :=
  (c.eq && d.eq || !c.eq && !d.eq) && (same c.left d.left && same c.right d.right)
def ExprCnstr.isUnsat (c : ExprCnstr) : Bool :=
  isPositive c.left && isZero c.right || c.eq && (isZero c.left && isPositive c.right)
def ExprCnstr.isValid (c : ExprCnstr) : Bool := isZero c.left && (!c.eq || isZero c.right)

theorem ExprCnstr.eq_of_toNormPoly_eq (ctx : Context) (c d : ExprCnstr) (h : c.agrees d = true) :
    c.denote ctx = d.denote ctx := by
  simp only [agrees, Bool.and_eq_true] at h
  have e : c.eq = d.eq := by
    have h := h.left
    cases hc : c.eq <;> cases hd : d.eq <;> simp [hc, hd] at h ⊢
  rw [denote_form, denote_form, dot_same _ _ _ h.right.left, dot_same _ _ _ h.right.right, e]
theorem ExprCnstr.eq_true_of_isValid (ctx : Context) (c : ExprCnstr) (h : c.isValid = true) : c.denote ctx = True :=
  by
  simp only [isValid, Bool.and_eq_true] at h
  rw [denote_form, dot_isZero _ _ h.left]
  cases hc : c.eq with
  | true =>
    have h := h.right
    rw [hc] at h
    exact eq_true (dot_isZero _ _ h).symm
  | false => exact eq_true (Nat.zero_le _)
theorem ExprCnstr.eq_false_of_isUnsat (ctx : Context) (c : ExprCnstr) (h : c.isUnsat = true) : c.denote ctx = False :=
  by
  simp only [isUnsat, Bool.or_eq_true, Bool.and_eq_true] at h
  rw [denote_form]
  rcases h with ⟨hl, hr⟩ | ⟨hc, hl, hr⟩
  · have pos := dot_isPositive (value ctx) _ rfl hl
    rw [dot_isZero _ _ hr]
    cases c.eq with
    | true => exact eq_false (Nat.ne_of_gt pos)
    | false => exact eq_false (Nat.not_le_of_lt pos)
  · have pos := dot_isPositive (value ctx) _ rfl hr
    rw [dot_isZero _ _ hl, hc]
    exact eq_false (Nat.ne_of_lt pos)
theorem Expr.eq_of_toNormPoly_eq (ctx : Context) (e e' : Expr) (h : same e.form e'.form = true) :
    e.denote ctx = e'.denote ctx := by
  rw [denote_form, denote_form, dot_same _ _ _ h]
end Nat.Internal.Linear
