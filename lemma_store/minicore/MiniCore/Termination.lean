/-
MiniCore.Termination: further steps of `decreasing_trivial`, for recursion on `n - k` and `n % k`.
-/
prelude
import MiniCore.WF
import MiniCore.Meta
set_option linter.all false
set_option autoImplicit false

macro_rules
  | `(tactic| decreasing_trivial) =>
    `(tactic| exact Nat.sub_lt (Nat.pos_of_ne_zero fun e => by simp_all) (by simp))
macro_rules
  | `(tactic| decreasing_trivial) => `(tactic| exact Nat.mod_lt _ (Nat.pos_of_ne_zero fun e => by simp_all))
