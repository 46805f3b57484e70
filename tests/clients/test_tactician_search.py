import random

from clients.tactician.conjectures import conjectures
from clients.tactician.definitions import Names, read_theory
from clients.tactician.evaluation import Evaluator, find_witness
from clients.tactician.exploration import Equation, Exploration
from clients.tactician.goals import read_goals
from clients.tactician.naming import lemma_name
from clients.tactician.planning import splits
from clients.tactician.printing import show
from clients.tactician.proving import Simp, Tactics, any_of
from clients.tactician.rewriting import Rewriter
from clients.tactician.rippling import Rippling
from clients.tactician.statements import read_statement, show_statement, with_types
from clients.tactician.subgoals import Hint
from clients.tactician.syntax import parse
from clients.tactician.terms import Term

from .problems import APPEND_NIL, LE_TOTAL, LISTS, NUMBERS, REV_APPEND_ONE, REV_REV, TREES, knowledge

QREV = """
def qrev {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => qrev xs (lst.cons x ys)
"""


def value(source: str, text: str) -> object:
    theory = read_theory(source)
    return Evaluator(theory).compile(Names(theory).resolve(parse(text)), ())()


def test_definitions_run_as_they_read() -> None:
    numerals = {0: "num.zero"}
    for index in range(1, 6):
        numerals[index] = f"(num.succ {numerals[index - 1]})"
    assert value(NUMBERS, f"half {numerals[5]}") == 2
    assert value(NUMBERS, f"least {numerals[4]} {numerals[2]}") == 2
    assert value(NUMBERS, f"pred {numerals[3]}") == 2
    assert value(NUMBERS, f"le {numerals[3]} {numerals[2]}") is False


def test_a_false_statement_has_a_witness_and_a_true_one_has_none() -> None:
    theory = read_theory(LISTS)
    names, evaluator = Names(theory), Evaluator(theory)
    wrong = read_statement("∀ {a : Type} (xs : lst a), rev xs = xs", names)
    right = read_statement(REV_REV, names)
    assert find_witness(wrong, evaluator, rng=random.Random(1)) is not None
    assert find_witness(right, evaluator, rng=random.Random(1)) is None


def test_statements_about_trees_and_numbers_are_tested() -> None:
    theory = read_theory(NUMBERS + TREES)
    names, evaluator = Names(theory), Evaluator(theory)
    right = read_statement("∀ {a : Type} (t : tree a), mirror (mirror t) = t", names)
    wrong = read_statement("∀ {a : Type} (t : tree a) (n : num), nodes t = n", names)
    assert find_witness(right, evaluator, rng=random.Random(1)) is None
    found = find_witness(wrong, evaluator, rng=random.Random(1))
    assert found is not None
    assert show(evaluator.term(found["n"], Term("num"))).startswith("num.")


def test_equations_are_oriented_towards_the_smaller_side() -> None:
    known = knowledge(LISTS, REV_REV)
    backwards = known.read("∀ {a : Type} (xs : lst a), xs = append xs lst.nil")
    assert backwards is not None
    assert show_statement(known.oriented(backwards)) == APPEND_NIL
    known.learn("backwards", show_statement(backwards), author="ada")
    assert known.lemmas["backwards"].rule == "← backwards"


def test_rewriting_uses_definitions_lemmas_and_conditions() -> None:
    known = knowledge(NUMBERS, LE_TOTAL)
    names = known.names
    rewriter = Rewriter(known.theory, known.precedence)
    assert rewriter.normal(names.resolve(parse("half (num.succ (num.succ num.zero))"))) == names.resolve(
        parse("num.succ num.zero")
    )
    known.use(read_statement(LE_TOTAL, names), rewriter)
    rewriter.add(Term("le", (Term("!m"), Term("!n"))), Term("false"))
    assert rewriter.normal(Term("le", (Term("!n"), Term("!m")))) == Term("true")


def test_commutativity_does_not_make_rewriting_run_forever() -> None:
    known = knowledge(LISTS, REV_REV)
    statement = known.read("∀ {a : Type} (xs ys : lst a), append xs ys = append ys xs")
    assert statement is not None
    known.use(statement, known.rewriter)
    assert known.rewriter.joins(
        known.names.resolve(parse("append (rev zs) us")), known.names.resolve(parse("append us (rev zs)"))
    )


def hint(source: str, text: str) -> Hint | None:
    known = knowledge(source, text)
    statement = known.root.statement
    assert statement is not None
    return Rippling(known.rewriter, known.theory).hint_for(statement, Tactics(statement, known.theory))


def test_rippling_finds_an_induction_that_needs_no_lemma() -> None:
    found = hint(LISTS, APPEND_NIL)
    assert found is not None
    assert (found.variable, found.cases, found.rules) == ("xs", (), {"append"})
    assert hint(LISTS, REV_REV) is None


def test_only_a_rule_for_a_term_where_rewriting_stopped_is_a_reason_to_look_again() -> None:
    known = knowledge(LISTS + QREV, REV_REV)
    assert known.root.statement is not None
    rippling = Rippling(known.rewriter, known.theory)
    assert rippling.hint_for(known.root.statement, Tactics(known.root.statement, known.theory)) is None
    stuck, before = rippling.stuck, known.rewriter.count
    known.learn("qrev_twice", "∀ {a : Type} (xs ys : lst a), qrev (qrev xs ys) lst.nil = qrev ys xs", author="bob")
    assert not known.rewriter.concerns(stuck, since=before)
    known.learn("rev_append_one", REV_APPEND_ONE, author="bob")
    assert known.rewriter.concerns(stuck, since=before)
    assert rippling.hint_for(known.root.statement, Tactics(known.root.statement, known.theory)) is not None


def test_rippling_takes_a_second_variable_apart_where_it_blocks() -> None:
    found = hint(NUMBERS, LE_TOTAL)
    assert found is not None
    assert (found.variable, found.cases) == ("m", ("n",))


def test_the_stuck_goal_of_rev_rev_asks_for_the_lemma_that_people_use() -> None:
    known = knowledge(LISTS, REV_REV)
    text = (
        "case cons\na : Type\nhead✝ : a\ntail✝ : lst a\ntail_ih✝ : rev (rev tail✝) = tail✝\n"
        "⊢ rev (append (rev tail✝) (lst.cons head✝ lst.nil)) = lst.cons head✝ tail✝"
    )
    (goal,) = read_goals(text, known.names)
    found = conjectures(goal, known.names, known.evaluator, random.Random(1))
    assert show_statement(found[0]) == REV_APPEND_ONE


def test_a_split_is_calculated_without_lean() -> None:
    known = knowledge(LISTS, REV_REV)
    assert known.root.statement is not None
    best = splits(known.root.statement, known)[0]
    assert [show_statement(child) for child in best.children] == [REV_APPEND_ONE]
    assert best.provable == 1


LENGTHS = """
def len {a : Type} : lst a → num
  | .nil => num.zero
  | .cons x xs => num.succ (len xs)

def pairs {a b : Type} : lst a → lst b → lst (Prod a b)
  | .nil, ys => @lst.nil (Prod a b)
  | .cons x xs, .nil => @lst.nil (Prod a b)
  | .cons x xs, .cons y ys => lst.cons (Prod.mk x y) (pairs xs ys)

def cut {a : Type} : num → lst a → lst a
  | .zero, xs => xs
  | .succ n, .nil => @lst.nil a
  | .succ n, .cons x xs => cut n xs
"""


def test_what_a_term_has_in_common_with_a_variable_stays_known_when_it_is_generalised() -> None:
    """The reverse of a list is as long as the list, so two reverses are as long as each other."""
    source = LISTS + NUMBERS.partition("def ")[0] + LENGTHS
    known = knowledge(
        source,
        "∀ {a b : Type} (xs : lst a) (ys : lst b), len xs = len ys → pairs (rev xs) (rev ys) = rev (pairs xs ys)",
    )
    known.learn("len_rev", "∀ {a : Type} (xs : lst a), len (rev xs) = len xs", author="other")
    assert known.root.statement is not None
    best = splits(known.root.statement, known)[0]
    assert best.provable == 1
    (child,) = best.children
    assert show_statement(child).endswith(
        "len xs = len ys → pairs (append xs (lst.cons x lst.nil)) (append ys (lst.cons y lst.nil)) = "
        "append (pairs xs ys) (lst.cons (x, y) lst.nil)"
    )


def test_exploration_finds_what_holds_when_a_value_is_the_least_of_its_type() -> None:
    known = knowledge(LISTS + NUMBERS.partition("def ")[0] + LENGTHS, APPEND_NIL)
    assert known.root.statement is not None
    exploration = Exploration(known.theory, known.root.statement, seed=0)
    found = [item for level in exploration.levels(4) for item in level or () if item.conditions]
    statements = [made for item in found if (made := exploration.statement(item)) is not None]
    texts = [show_statement(item) for item in statements]
    assert "∀ {a : Type} (m : num) (xs : lst a), cut m xs = lst.nil → cut m (rev xs) = lst.nil" in texts


def test_exploration_discovers_the_laws_of_append_and_rev() -> None:
    known = knowledge(LISTS, REV_REV)
    assert known.root.statement is not None
    exploration = Exploration(known.theory, known.root.statement, seed=1)
    found: set[str] = set()
    for equations in exploration.levels(6):
        found |= {show_statement(made) for item in equations or () if (made := exploration.statement(item))}
    assert APPEND_NIL in found
    assert any("append (append xs ys) zs = append xs (append ys zs)" in text for text in found)
    assert any("rev (append ys xs) = append (rev xs) (rev ys)" in text for text in found)


def test_lemma_names_tell_the_left_side_and_avoid_names_that_are_taken() -> None:
    known = knowledge(LISTS, REV_REV)
    statement = known.read(REV_APPEND_ONE)
    assert statement is not None
    assert lemma_name(statement) == "rev_append_cons_nil"
    assert lemma_name(statement, taken={"rev_append_cons_nil"}) == "rev_append_cons_nil_eq"


def test_attempts_bring_variables_into_scope_before_induction() -> None:
    known = knowledge(LISTS, REV_APPEND_ONE)
    assert known.root.statement is not None
    tactics = Tactics(known.root.statement, known.theory)
    first = tactics.rounds(Simp(("append",)))[0][0]
    assert first.startswith("intro a xs x; induction xs generalizing x <;> ")
    assert any_of([first]) == first
    assert any_of([first, "rfl"]).count("; done)") == 2


def test_an_abbreviation_in_a_condition_is_unfolded_before_induction() -> None:
    """`simp_all [differ]` would drop the induction hypothesis: prod/lemma_19 was lost so."""
    source = NUMBERS + "def differ (m n : num) : Bool := if le m n = true then Bool.not (le n m) else true\n"
    known = knowledge(source, "∀ (m n : num), differ m n = true → le m n = le (half m) n")
    assert known.root.statement is not None
    first = Tactics(known.root.statement, known.theory).rounds(Simp(()))[0][0]
    assert first.startswith("intro m n; (try simp only [differ]); induction ")


def test_a_type_that_nothing_decides_is_written_out() -> None:
    names = knowledge(LISTS, REV_REV).names
    found = with_types(read_statement("rev lst.nil = lst.nil", names), names)
    assert show_statement(found) == "∀ {a : Type}, rev (@lst.nil a) = @lst.nil a"
    assert read_statement(show_statement(found), names).key() == found.key()
    decided = read_statement(APPEND_NIL, names)
    assert with_types(decided, names) == decided


EQUAL = """
def same : num → num → Bool
  | .zero, .zero => true
  | .zero, .succ n => false
  | .succ m, .zero => false
  | .succ m, .succ n => same m n
"""


def test_a_test_that_holds_exactly_for_equal_values_becomes_a_lemma_that_rewriting_proves_and_uses() -> None:
    known = knowledge(NUMBERS + EQUAL, "∀ (m n : num), same m n = true → le m n = true")
    assert known.root.statement is not None
    exploration = Exploration(known.theory, known.root.statement, seed=1)
    (lemma,) = [exploration.statement(item) for item in exploration.reflections()]
    assert lemma is not None
    assert show_statement(lemma) == "∀ (m n : num), (same m n = true) = (m = n)"
    assert Rippling(known.rewriter, known.theory).hint_for(lemma, Tactics(lemma, known.theory)) is not None
    target = read_statement("∀ (m n k : num), same m n = true → le m k = true → le n k = true", known.names)
    ask = Rippling(known.rewriter, known.theory)
    assert ask.hint_for(target, Tactics(target, known.theory), cases=0) is None
    known.learn("same_iff", show_statement(lemma), author="bob")
    assert ask.hint_for(target, Tactics(target, known.theory), cases=0) is not None


def test_a_lemma_that_expresses_a_function_by_others_is_also_used_the_other_way_round() -> None:
    known = knowledge(LISTS + QREV, "∀ {a : Type} (xs : lst a), rev xs = qrev xs lst.nil")
    known.learn("append_nil", APPEND_NIL, author="bob")
    assert known.eliminating(known.rules()) == []
    known.learn("qrev_is", "∀ {a : Type} (xs ys : lst a), append (rev xs) ys = qrev xs ys", author="bob")
    assert known.rules() == ["append_nil", "qrev_is"]
    assert known.eliminating(known.rules()) == ["append_nil", "← qrev_is"]


def test_an_equation_between_tests_gives_an_implication() -> None:
    known = knowledge(NUMBERS, LE_TOTAL)
    assert known.root.statement is not None
    exploration = Exploration(known.theory, known.root.statement, seed=1)
    sides = (known.names.resolve(parse(text)) for text in ("le (num.succ m) (num.succ n)", "le m n"))
    left, right = (side for side in sides if isinstance(side, Term))
    found = exploration.implication(Equation(left, right))
    assert found == Equation(left, Term("true"), (Term("=", (right, Term("true"))),))
    assert exploration.implication(Equation(left, Term("true"))) is None
