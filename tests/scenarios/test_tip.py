"""TIP files become Lean text that says the same, or are refused with the construct and its place."""

import re
from collections import Counter
from pathlib import Path

import pytest

from bus.errors import BadProblem
from scenarios.lean.lean_names import CORE, GRAMMAR, Names, constructor_names, readable
from scenarios.lean.sexpr import Form, read
from scenarios.lean.tip_lean import import_tip

ROOT = Path(__file__).parents[2]
PUBLIC_SETS = ROOT.parent / "shared" / "data" / "tip"
MINICORE = ROOT / "lemma_store" / "minicore"

LIST = "(declare-datatype list (par (a) ((nil) (cons (head a) (tail (list a))))))\n"
NAT = "(declare-datatype Nat ((Z) (S (pred Nat))))\n"
APPEND = """(define-fun-rec ++ (par (a) (((x (list a)) (y (list a))) (list a)))
  (match x ((nil y) ((cons z xs) (cons z (++ xs y))))))
"""
MEMBER = """(define-fun-rec elem (par (a) (((x a) (y (list a))) Bool))
  (match y ((nil false) ((cons z xs) (or (= x z) (elem x xs))))))
"""


def lean(text: str, *, encoding: str = "flat") -> str:
    return import_tip(text, name="goal", encoding="nested" if encoding == "nested" else "flat").source


def statement(text: str) -> str:
    last = lean(text).rstrip().splitlines()[-1]
    return last.removeprefix("theorem goal : ").removesuffix(" := by sorry")


def refusal(text: str) -> str:
    with pytest.raises(BadProblem) as caught:
        import_tip(text, name="goal")
    return caught.value.message


def test_a_datatype_a_function_and_a_goal_become_regular_lean_text() -> None:
    text = LIST + APPEND + "(prove (par (b) (forall ((x (list b))) (= (++ x (_ nil b)) x))))"
    assert lean(text) == (
        "inductive list (a : Type) where\n"
        "  | nil\n"
        "  | cons (head : a) (tail : list a)\n"
        "  deriving DecidableEq\n"
        "\n"
        "def append {a : Type} : list a → list a → list a\n"
        "  | .nil, y => y\n"
        "  | .cons z xs, y => list.cons z (append xs y)\n"
        "\n"
        "theorem goal : ∀ {b : Type} (x : list b), append x (@list.nil b) = x := by sorry\n"
    )


def test_the_nested_encoding_keeps_the_matches_of_the_file() -> None:
    text = LIST + APPEND + "(prove (forall ((x (list Bool))) (= (++ x x) x)))"
    body = "match x with | .nil => y | .cons z xs => list.cons z (append xs y)"
    assert f"def append {{a : Type}} (x : list a) (y : list a) : list a :=\n  {body}\n" in lean(text, encoding="nested")


def test_nested_matches_and_wildcards_become_disjoint_equations() -> None:
    text = f"""{NAT}(define-fun f ((x Nat) (y Nat)) Nat
      (match x (((S z) (match y ((Z x) ((S x2) z)))) (_ y))))
    (prove (forall ((n Nat)) (= (f n n) n)))"""
    equations = [line for line in lean(text).splitlines() if line.startswith("  | .") and "=>" in line]
    assert equations == ["  | .S z, .Z => nat.S z", "  | .S z, .S x2 => z", "  | .Z, y => y"]


def test_a_match_on_what_is_already_known_is_decided() -> None:
    text = f"""{NAT}(define-fun f ((x Nat)) Nat (match x ((Z (match x ((Z x) ((S y) y)))) ((S z) z))))
    (prove (forall ((n Nat)) (= (f n) n)))"""
    assert "  | .Z => nat.Z\n  | .S z => z\n" in lean(text)


def test_shadowed_variables_keep_their_meaning() -> None:
    text = f"""{NAT}(define-fun f ((x Nat) (y Nat)) Nat
      (match x ((Z y) ((S y) (match y ((Z x) ((S x) (f2 x y))))))))
    (prove (forall ((n Nat)) (= (f n n) n)))"""
    text = text.replace("(f2 x y)", "(S y)")
    found = lean(text)
    assert "  | .Z, y => y\n" in found
    # the inner y is the predecessor of x, renamed; its own predecessor shadows x
    assert "  | .S .Z, y => nat.S nat.Z\n  | .S (.S x2), y => nat.S (nat.S x2)\n" in found


def test_booleans_become_functions_and_propositions_become_connectives() -> None:
    goal = "(forall ((p Bool) (q Bool)) (=> (and p (not q)) (= (or p q) (ite q q p))))"
    expected = "∀ (p : Bool) (q : Bool), ((p = true) ∧ (¬ (q = true))) → (Bool.or p q = (if q = true then q else p))"
    assert statement(f"(prove {goal})") == expected


def test_equality_in_a_function_asks_for_decidable_equality_where_a_type_is_open() -> None:
    caller = "(define-fun twice (par (a) (((x a) (y (list a))) Bool)) (and (elem x y) (elem x y)))"
    text = LIST + MEMBER + caller + "(prove (par (a) (forall ((x a) (y (list a))) (= (elem x y) (twice x y)))))"
    found = lean(text)
    assert "def elem {a : Type} [DecidableEq a] : a → list a → Bool" in found
    assert "Bool.or (decide (x = z)) (elem x xs)" in found
    assert "def twice {a : Type} [DecidableEq a] (x : a) (y : list a) : Bool" in found
    assert "theorem goal : ∀ {a : Type} [DecidableEq a] (x : a) (y : list a), elem x y = twice x y" in found


def test_equality_of_closed_datatypes_needs_no_instance() -> None:
    text = LIST + NAT + MEMBER + "(prove (forall ((y (list Nat))) (elem Z y)))"
    assert statement(text) == "∀ (y : list nat), elem nat.Z y = true"


def test_a_match_in_the_goal_becomes_a_function() -> None:
    text = f"{LIST}(prove (par (a) (forall ((ys (list a))) (not (match ys ((nil true) ((cons x y) false)))))))"
    found = lean(text)
    assert "def goal_case {a : Type} : list a → Bool\n  | .nil => true\n  | .cons x y => false\n" in found
    assert found.endswith("theorem goal : ∀ {a : Type} (ys : list a), ¬ (goal_case ys = true) := by sorry\n")


def test_a_sort_of_the_goal_is_any_type() -> None:
    text = f"(declare-sort Any 0)(declare-sort Other 0){LIST}(prove (forall ((x (list Any))) (= x (_ nil Any))))"
    assert statement(text) == "∀ {Any : Type} (x : list Any), x = @list.nil Any"


def test_higher_order_functions_are_functions() -> None:
    text = f"""{LIST}(define-fun-rec map (par (a b) (((f (=> a b)) (x (list a))) (list b)))
      (match x ((nil (_ nil b)) ((cons y ys) (cons (@ f y) (map f ys))))))
    (prove (par (a) (forall ((x (list a))) (= (map (lambda ((y a)) y) x) x))))"""
    found = lean(text)
    assert "def map {a : Type} {b : Type} : (a → b) → list a → list b" in found
    assert "map (fun (y : a) => y) x = x" in found


def test_integers_keep_their_type_and_their_order() -> None:
    text = f"""{LIST}(define-fun-rec len (par (a) (((x (list a))) Int))
      (match x ((nil 0) ((cons y ys) (+ 1 (len ys))))))
    (prove (forall ((m Int) (n Int)) (=> (> m 0) (not (>= (- (mod n m)) (len (cons n (_ nil Int))))))))"""
    found = lean(text)
    assert "  | .nil => (0 : Int)\n  | .cons y ys => (1 : Int) + (len ys)\n" in found
    expected = "((0 : Int) < m) → (¬ ((len (list.cons n (@list.nil Int))) ≤ (-(n % m))))"
    assert statement(text) == f"∀ (m : Int) (n : Int), {expected}"


def test_comparisons_are_decided_in_functions() -> None:
    text = "(define-fun max2 ((m Int) (n Int)) Int (ite (<= m n) n m))(prove (= (< 1 2) (= (max2 1 2) 2)))"
    assert "def max2 (m : Int) (n : Int) : Int :=\n  if m ≤ n then n else m\n" in lean(text)
    assert statement(text) == "decide ((1 : Int) < (2 : Int)) = decide (max2 (1 : Int) (2 : Int) = (2 : Int))"


def test_functions_that_shrink_together_get_a_measure() -> None:
    text = f"""{LIST}(define-fun-rec weave (((x (list Bool)) (y (list Bool))) (list Bool))
      (match x ((nil y) ((cons z xs) (match y ((nil x) ((cons w ys) (ite z (weave xs y) (weave x ys)))))))))
    (prove (forall ((x (list Bool))) (= (weave x x) x)))""".replace(
        "weave (((x (list Bool)) (y (list Bool))) (list Bool))", "weave ((x (list Bool)) (y (list Bool))) (list Bool)"
    )
    assert "termination_by x y => sizeOf x + sizeOf y\n" in lean(text)


def test_mutual_functions_get_a_measure_of_two_parts_when_one_is_not_lowered_by_every_call() -> None:
    text = f"""{NAT}{LIST}(define-funs-rec
      ((deep ((n Nat) (x (list Nat))) Nat) (wide ((m Nat) (y (list Nat))) Nat))
      ((match n ((Z Z) ((S k) (wide k (cons k x)))))
       (match y ((nil m) ((cons z ys) (match (deep m y) ((Z (wide m ys)) ((S z2) m))))))))
    (prove (= (deep Z (_ nil Nat)) Z))"""
    found = lean(text)
    assert "termination_by n _ => (sizeOf n, 0)\n" in found
    assert "termination_by m y => (sizeOf m, 1 + sizeOf y)\n" in found


UP = "(define-fun-rec up ((x Int) (y Int)) (list Int) (ite (> x y) (_ nil Int) (cons x (up (+ 1 x) y))))"


def test_counting_up_to_a_bound_ends_by_the_distance_to_it() -> None:
    found = lean(f"{LIST}{UP}(prove (= (up 1 0) (_ nil Int)))")
    assert "  if _ : y < x then @list.nil Int else list.cons x (up ((1 : Int) + x) y)\n" in found
    assert "termination_by (y + 1 - x).toNat\ndecreasing_by exact Int.toNat_up" in found


@pytest.mark.parametrize(
    "broken",
    [UP.replace("(+ 1 x)", "(- x 1)"), UP.replace("(> x y)", "(> y x)"), UP.replace("(+ 1 x) y", "(+ 1 x) (+ 1 y)")],
)
def test_recursion_that_does_not_end_for_all_arguments_is_refused(broken: str) -> None:
    assert broken != UP
    message = refusal(f"{LIST}{broken}(prove (= (up 1 0) (_ nil Int)))")
    assert "unsupported: the recursion of up (it is not seen to end for all arguments)" in message


@pytest.mark.parametrize(
    ("symbol", "name"),
    [("++", "append"), ("<=2", "le2"), ("x.+.", "x_dot_plus_dot"), ("maximum-maximum1", "maximum_maximum1"),
     (":>:", "colon_gt_colon"), ("proj1-:+:", "proj1_colon_plus_colon"), ("a b", "a_b"), ("7up", "x7up"), ("", "x")],
)  # fmt: skip
def test_names_resemble_the_symbols(symbol: str, name: str) -> None:
    assert readable(symbol) == name


def test_names_are_injective_and_never_lean_s_own() -> None:
    symbols = [
        "Nat",
        "nat",
        "max",
        "max'",
        "&&",
        "and",
        "||",
        "or",
        "end",
        "a-b",
        "a_b",
        "a b",
        "List",
        "list",
        "[",
        "{",
    ]
    names = Names()
    chosen = [names.pick(symbol, kind="type", lower_first=True) for symbol in symbols]
    assert len(set(chosen)) == len(symbols)
    assert not set(chosen) & (CORE | GRAMMAR)
    assert [names.pick(symbol, kind="type") for symbol in symbols] == chosen
    inner = names.child()
    assert not {inner.pick(symbol) for symbol in symbols} & set(chosen)


def test_constructors_never_take_the_names_that_lean_makes() -> None:
    assert set(constructor_names(["rec", "casesOn", "nil"]).values()).isdisjoint({"rec", "casesOn"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: the file is empty"),
        ("(prove true", "line 1, column 1: this parenthesis is never closed"),
        ("(prove true))", "line 1, column 13: a closing parenthesis without an opening one"),
        ("(prove |x)", "line 1, column 8: a quoted symbol that never ends"),
        ("(" * 500, "line 1, column 151: nested deeper than 150 parentheses"),
        (NAT, "line 1, column 1: no (prove …) in the file"),
        ("(assert true)", "line 1, column 1: unsupported declaration assert"),
        ("(prove (forall ((n Real)) (= n n)))", "line 1, column 20: unsupported: the type Real"),
        ("(prove (= 1.5 1))", "line 1, column 11: unsupported: 1.5"),
        ("(prove (= (/ 1 2) 1))", "line 1, column 12: unsupported: /"),
        ("(prove (= (+ true true) true))", "line 1, column 14: unsupported: + on Bool"),
        ("(prove (par (t) (forall ((x t)) (<= x x))))", "line 1, column 37: unsupported: <= on t"),
        (f"{NAT}(prove (forall ((n Nat)) (= (pred n) n)))", "line 2, column 30: unsupported: selector pred"),
        (f"{NAT}(prove (forall ((n Nat)) (is-Z n)))", "line 2, column 27: unsupported: tester is-Z"),
        (f"{NAT}(prove (forall ((n Nat)) (= m n)))", "line 2, column 29: unknown symbol m"),
        (f"{NAT}(prove (forall ((n Nat)) (= n true)))", "line 2, column 31: ill-typed: expected Nat, found Bool"),
        (f"{NAT}(prove (forall ((n Nat)) (S n)))", "line 2, column 26: ill-typed: expected Bool, found Nat"),
        (
            f"{NAT}(prove (forall ((n Nat)) (= (S n n) n)))",
            "line 2, column 29: ill-typed: 2 arguments for (=> Nat Nat)",
        ),
        (f"{NAT}(prove (forall ((n Nat)) (match n ((Z true)))))", "line 2, column 26: the match leaves out S"),
        (f"{LIST}(prove (= nil nil))", "line 2, column 11: the type of this term stays open"),
        ("(prove true)(prove true)", "line 1, column 13: unsupported: more than one (prove …)"),
        (
            f"{NAT}(define-fun f ((x Nat)) Bool (forall ((y Nat)) (= x y)))(prove (f Z))",
            "line 2, column 30: unsupported: forall where a Boolean is computed",
        ),
        (
            "(define-fun f ((g (=> Bool Bool))) Bool (= g g))(prove true)",
            "line 1, column 41: unsupported: equality of (=> Bool Bool) as a Boolean",
        ),
    ],
)
def test_what_cannot_be_taken_is_refused_with_its_place(text: str, message: str) -> None:
    assert refusal(text).startswith(message)


def test_deep_nesting_costs_an_error_and_not_the_stack() -> None:
    term = "true"
    for _ in range(145):
        term = f"(not {term})"
    assert "¬" in statement(f"(prove {term})")


def test_the_reader_remembers_places_and_skips_comments() -> None:
    (form,) = read("; first\n  (a |b c| ; more\n  d)")
    assert isinstance(form, Form)
    assert [(item.at.line, item.at.column) for item in form.items] == [(2, 4), (2, 6), (3, 3)]


needs_public_sets = pytest.mark.skipif(
    not PUBLIC_SETS.is_dir(), reason="the public problem sets are not beside the checkout"
)


def imported(path: Path, *, encoding: str = "flat") -> str | None:
    """Lean text of a public problem; None when it orders values of any type or counts integers without an end."""
    try:
        return import_tip(
            path.read_text(), name=path.stem, encoding="nested" if encoding == "nested" else "flat"
        ).source
    except BadProblem as error:
        if re.fullmatch(r"line \d+, column \d+: unsupported: (<= on t|the recursion of .*)", error.message):
            return None
        raise


def root_names(source: str) -> set[str]:
    """Names that a Lean file declares outside of namespaces."""
    declaration = re.compile(
        r"(?:@\[[^\]]*\]\s*)*(?:(?:protected|private|unsafe|noncomputable)\s+)*"
        r"(?:def|theorem|abbrev|axiom|opaque|inductive|structure|class(?:\s+inductive)?)\s+([\w']+)(?![\w'.])"
    )
    depth, found = 0, set[str]()
    for line in source.splitlines():
        depth += line.startswith("namespace ") - (line.startswith("end ") and depth > 0)
        if depth == 0 and (match := declaration.match(line)):
            found.add(match[1])
    return found


@needs_public_sets
@pytest.mark.parametrize("encoding", ["flat", "nested"])
def test_all_public_problems_import_but_those_with_an_order_on_any_type_or_without_an_end(encoding: str) -> None:
    paths = sorted(PUBLIC_SETS.rglob("*.smt2"))
    counts = Counter(path.parent.name for path in paths if imported(path, encoding=encoding) is not None)
    assert counts == {"isaplanner": 86, "prod": 74, "false": 50}


@needs_public_sets
def test_no_imported_constant_collides_with_the_core_library() -> None:
    core = {name for path in MINICORE.rglob("*.lean") for name in root_names(path.read_text())}
    assert {"Nat", "List", "id"} <= core
    for path in sorted(PUBLIC_SETS.rglob("*.smt2")):
        assert not root_names(imported(path) or "") & core, path
