/-
MiniCore.Function: injective and surjective functions, and composition.
-/
prelude
import MiniCore.Simp
set_option linter.all false
set_option autoImplicit false
universe u v w

namespace Function
variable {α : Sort u} {β : Sort v} {γ : Sort w}
def Injective (f : α → β) : Prop := ∀ ⦃a₁ a₂ : α⦄, f a₁ = f a₂ → a₁ = a₂
def Surjective (f : α → β) : Prop := ∀ b, ∃ a, f a = b
def LeftInverse (g : β → α) (f : α → β) : Prop := ∀ x, g (f x) = x
def RightInverse (g : β → α) (f : α → β) : Prop := LeftInverse f g
theorem Injective.eq_iff {f : α → β} (h : Injective f) {a b : α} : f a = f b ↔ a = b :=
  ⟨@h a b, congrArg f⟩
theorem Injective.comp {g : β → γ} {f : α → β} (hg : Injective g) (hf : Injective f) :
    Injective fun x => g (f x) := fun _ _ h => hf (hg h)
theorem Surjective.comp {g : β → γ} {f : α → β} (hg : Surjective g) (hf : Surjective f) :
    Surjective fun x => g (f x) := fun c =>
  have ⟨b, hb⟩ := hg c
  have ⟨a, ha⟩ := hf b
  ⟨a, (congrArg g ha).trans hb⟩
theorem LeftInverse.injective {g : β → α} {f : α → β} (h : LeftInverse g f) : Injective f :=
  fun a b e => by rw [← h a, e, h b]
theorem RightInverse.surjective {g : β → α} {f : α → β} (h : RightInverse g f) : Surjective f :=
  fun b => ⟨g b, h b⟩
@[simp] theorem comp_apply {f : β → γ} {g : α → β} {x : α} : comp f g x = f (g x) := rfl
@[simp] theorem const_apply {y : β} {x : α} : const α y x = y := rfl
theorem comp_def (f : β → γ) (g : α → β) : comp f g = fun x => f (g x) := rfl
theorem comp_assoc {δ : Sort u} (f : γ → δ) (g : β → γ) (h : α → β) : comp (comp f g) h = comp f (comp g h) := rfl
end Function
@[simp] theorem id_eq {α : Sort u} (a : α) : id a = a := rfl
