/- Ordinary Lean: what the judge must never refuse. Each part is one text, every theorem of it is accepted. -/

-- names: primes, subscripts, Greek, namespaces, private, protected, root
namespace Foo.Bar
theorem it's_so' (x₁ x₂ : Nat) (h : x₁ = x₂) : x₂ = x₁ := h.symm
private theorem αβ_γ? : True := trivial
protected theorem get! (n : Nat) : n = n := rfl
theorem _root_.outside (n : Nat) : n + 0 = n := rfl
theorem uses_all : True := αβ_γ?
end Foo.Bar
open Foo.Bar in
theorem opened (x y : Nat) (h : x = y) : y = x := it's_so' x y h

-- sections, variables, universes, nested and anonymous
section
universe u v
variable {α : Type u} {β : Type v} (f : α → β)
section Inner
variable (x : α)
include x
theorem applied : f x = f x := rfl
omit x in
theorem not_applied : f = f := rfl
end Inner
theorem polymorphic.{w} {γ : Sort w} (c : γ) : c = c := rfl
end

-- indented declarations and two on one line
namespace A
  theorem one : 1 = 1 := by
    rfl
  @[simp]
  theorem two : 2 = 2 := rfl
  section
    variable (n : Nat)
    theorem three : n = n := rfl
  end
end A
theorem four : 4 = 4 := rfl theorem five : 5 = 5 := rfl

-- attributes, documentation, module documentation
/-! A text about `axiom`s, «quotes» and #eval, all of it in comments. -/
/-- Documented: `set_option`, "strings" and it's apostrophes. -/
@[simp, reducible] def doc_me (n : Nat) : Nat := n /- inline /- nested -/ -/
  -- @[extern "c"] unsafe partial
@[elab_as_elim] theorem my_induction {motive : Nat → Prop} (n : Nat) (zero : motive 0)
    (succ : ∀ n, motive n → motive (n + 1)) : motive n := by
  induction n with
  | zero => exact zero
  | succ n ih => exact succ n ih
attribute [local simp] Nat.add_comm in
theorem with_local (a b : Nat) : a + b = b + a := by simp
theorem doc_me_eq (n : Nat) : doc_me n = n := by simp

-- structures, extension, classes, instances, deriving
structure Point where
  x : Nat
  y : Nat := 0
  deriving DecidableEq
structure Point3 extends Point where
  z : Nat
class HasSize (α : Type) where
  size : α → Nat
  positive : ∀ a, 0 < size a
instance : HasSize Bool where
  size _ := 1
  positive _ := by decide
theorem point (p : Point3) : p.toPoint.x = p.x := rfl
theorem default_y : ({ x := 1 } : Point).y = 0 := rfl
theorem size_pos {α : Type} [HasSize α] (a : α) : 0 < HasSize.size a := HasSize.positive a
theorem eta (p : Point) : p = ⟨p.x, p.y⟩ := rfl
theorem update (p : Point) : { p with x := 3 }.y = p.y := rfl

-- recursion: structural, by measure, where, let rec, mutual
def ack : Nat → Nat → Nat
  | 0, n => n + 1
  | m + 1, 0 => ack m 1
  | m + 1, n + 1 => ack m (ack (m + 1) n)
termination_by m n => (m, n)
theorem ack_zero (n : Nat) : ack 0 n = n + 1 := by simp [ack]
def total (n : Nat) : Nat := go n 0
where
  go : Nat → Nat → Nat
    | 0, acc => acc
    | k + 1, acc => go k (acc + k)
theorem total_zero : total 0 = 0 := rfl
mutual
def even : Nat → Bool
  | 0 => true
  | n + 1 => odd n
def odd : Nat → Bool
  | 0 => false
  | n + 1 => even n
end
theorem even_two : even 2 = true := by simp [even, odd]
mutual
theorem even_or : (n : Nat) → even n = true ∨ even n = false
  | 0 => .inl rfl
  | n + 1 => by simpa [even] using odd_or n
theorem odd_or : (n : Nat) → odd n = true ∨ odd n = false
  | 0 => .inr rfl
  | n + 1 => by simpa [odd] using even_or n
end

-- inductive families, nested and mutual types, predicates
inductive Vec (α : Type) : Nat → Type where
  | nil : Vec α 0
  | cons {n : Nat} (a : α) (v : Vec α n) : Vec α (n + 1)
def Vec.head {α : Type} {n : Nat} : Vec α (n + 1) → α
  | .cons a _ => a
theorem Vec.head_cons {α : Type} {n : Nat} (a : α) (v : Vec α n) : (Vec.cons a v).head = a := rfl
inductive Rose where
  | node (children : List Rose)
theorem Rose.exists_one : ∃ r : Rose, r = .node [] := ⟨_, rfl⟩
mutual
inductive Even : Nat → Prop
  | zero : Even 0
  | succ {n} : Odd n → Even (n + 1)
inductive Odd : Nat → Prop
  | succ {n} : Even n → Odd (n + 1)
end
theorem even_two' : Even 2 := .succ (.succ .zero)
theorem odd_inv (n : Nat) (h : Odd (n + 1)) : Even n := by
  cases h with
  | succ h => exact h

-- proofs of every style
theorem style1 (p q : Prop) : p ∧ q ↔ q ∧ p := ⟨fun ⟨a, b⟩ => ⟨b, a⟩, fun ⟨a, b⟩ => ⟨b, a⟩⟩
theorem style2 (a b c : Nat) (h : a = b) (k : b = c) : a = c :=
  calc a = b := h
    _ = c := k
theorem style3 (p q : Prop) (h : p ∨ q) : q ∨ p := by
  rcases h with h | h
  · exact .inr h
  · exact .inl h
theorem style4 (n : Nat) : match n with | 0 => True | _ + 1 => True := by
  split <;> trivial
theorem style5 (n : Nat) (h : n ≠ 0) : ∃ m, n = m + 1 := by
  obtain _ | m := n
  · contradiction
  · exact ⟨m, rfl⟩
theorem style6 (f : Nat → Nat) (h : ∀ x, f x = x) : f (f 3) = 3 := by
  conv => lhs; rw [h]
  rw [h]
theorem style7 : ∀ n : Nat, n = 0 ∨ 0 < n
  | 0 => .inl rfl
  | n + 1 => .inr (Nat.zero_lt_succ n)
theorem style8 (x : Nat) : (let y := x + 1; y - 1) = x := by simp
theorem style9 (p : Prop) [Decidable p] : (if p then 1 else 1) = 1 := by
  by_cases h : p <;> simp [h]
theorem style10 (p : Prop) (h : ¬¬p) : p := Classical.byContradiction h
theorem style11 : 'a' = 'a' ∧ "it's" = "it's" ∧ '"' = '"' := ⟨rfl, rfl, rfl⟩

-- options that only steer the search
set_option maxRecDepth 2000 in
theorem deep : 100 + 100 = 200 := by decide
set_option linter.unusedVariables false
theorem unused (n : Nat) (h : n = n) : True := trivial
