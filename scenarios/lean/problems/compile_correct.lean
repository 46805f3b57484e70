/-
Compiled expressions compute on a stack what the expressions mean.
Grade: 5 of 5.
Source: J. McCarthy, J. Painter, Correctness of a Compiler for Arithmetic Expressions, 1967; our own
  formulation.
-/
inductive num where
  | zero
  | succ (pred : num)
  deriving DecidableEq

inductive lst (a : Type) where
  | nil
  | cons (head : a) (tail : lst a)
  deriving DecidableEq

def plus : num → num → num
  | .zero, n => n
  | .succ m, n => num.succ (plus m n)

def times : num → num → num
  | .zero, n => num.zero
  | .succ m, n => plus n (times m n)

inductive expr where
  | const (value : num)
  | add (left : expr) (right : expr)
  | mul (left : expr) (right : expr)
  deriving DecidableEq

inductive instr where
  | push (value : num)
  | addTop
  | mulTop
  deriving DecidableEq

def append {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => lst.cons x (append xs ys)

def eval : expr → num
  | .const n => n
  | .add e f => plus (eval e) (eval f)
  | .mul e f => times (eval e) (eval f)

def compile : expr → lst instr
  | .const n => lst.cons (instr.push n) (@lst.nil instr)
  | .add e f => append (compile e) (append (compile f) (lst.cons instr.addTop (@lst.nil instr)))
  | .mul e f => append (compile e) (append (compile f) (lst.cons instr.mulTop (@lst.nil instr)))

def step : instr → lst num → lst num
  | .push n, s => lst.cons n s
  | .addTop, .nil => @lst.nil num
  | .addTop, .cons x .nil => lst.cons x (@lst.nil num)
  | .addTop, .cons x (.cons y s) => lst.cons (plus y x) s
  | .mulTop, .nil => @lst.nil num
  | .mulTop, .cons x .nil => lst.cons x (@lst.nil num)
  | .mulTop, .cons x (.cons y s) => lst.cons (times y x) s

def run : lst instr → lst num → lst num
  | .nil, s => s
  | .cons i is, s => run is (step i s)

theorem compile_correct : ∀ (e : expr), run (compile e) (@lst.nil num) = lst.cons (eval e) (@lst.nil num) := by sorry
