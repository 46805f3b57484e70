import pytest
from hypothesis import given
from hypothesis import strategies as st

from clients.tactician.definitions import Names, read_theory
from clients.tactician.goals import read_goals
from clients.tactician.printing import show
from clients.tactician.statements import read_statement, show_statement
from clients.tactician.syntax import NotInSubset, parse
from clients.tactician.terms import Term

from .problems import LISTS, NUMBERS, REV_APPEND_ONE, REV_REV


@pytest.mark.parametrize(
    "text",
    [
        "a + b * c = d",
        "(a + b) * c = d",
        "x :: xs ++ ys = z :: zs",
        "p → (q → r) → s",
        "¬(a = b) ∧ c ≠ d",
        "if a = b then f x else g (h y)",
        "f (fun (x : num) => g x y) z",
        "∀ (x : num), ∃ (y : num), x = y",
    ],
)
def test_printing_what_was_read_and_reading_it_again_gives_the_same(text: str) -> None:
    expr = parse(text)
    assert parse(show(expr)) == expr


terms = st.recursive(
    st.sampled_from("xyz").map(Term),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda args: Term("+", args)),
        st.tuples(inner, inner).map(lambda args: Term("List.cons", args)),
        st.tuples(inner, inner).map(lambda args: Term("=", args)),
        st.tuples(inner, inner).map(lambda args: Term("→", args)),
        st.tuples(inner, inner).map(lambda args: Term("f", args)),
        st.tuples(inner).map(lambda args: Term("¬", args)),
        st.tuples(inner, inner, inner).map(lambda args: Term("ite", args)),
    ),
    max_leaves=12,
)


@given(terms)
def test_parentheses_are_put_where_they_are_needed(term: Term) -> None:
    assert parse(show(term)) == term


@pytest.mark.parametrize("text", ["f (x", "a = ", "∀ x y", "«odd name»", "a b )"])
def test_text_outside_the_subset_is_refused(text: str) -> None:
    with pytest.raises(NotInSubset):
        parse(text)


def test_a_statement_keeps_its_binders_and_their_order() -> None:
    names = Names(read_theory(LISTS))
    statement = read_statement(REV_APPEND_ONE, names)
    assert statement.types == ("a",)
    assert [name for name, _ in statement.binders] == ["xs", "x"]
    assert statement.intros == ("a", "xs", "x")
    assert show_statement(statement) == REV_APPEND_ONE


def test_shortened_constructors_get_the_name_of_the_type_that_is_expected() -> None:
    theory = read_theory(LISTS + NUMBERS)
    patterns = [row[0][0] for row in theory.functions["rev"].rows]
    assert [pattern.head for pattern in patterns if isinstance(pattern, Term)] == ["lst.nil", "lst.cons"]
    assert theory.unread == ()


def test_definitions_with_match_and_if_are_read() -> None:
    theory = read_theory(NUMBERS)
    assert set(theory.functions) == {"le", "least", "half", "pred"}
    assert len(theory.functions["least"].args) == 2


def test_a_definition_outside_the_subset_is_named_and_the_rest_is_read() -> None:
    theory = read_theory(NUMBERS + "\ndef odd (n : num) : num := by exact n\n")
    assert theory.unread == ("odd",)
    assert "half" in theory.functions


def test_goals_are_read_with_daggers_wrapped_lines_and_field_notation() -> None:
    text = (
        "case succ\npred✝ : num\npred_ih✝ : ∀ (n : num), le pred✝ n = false →\n    le n pred✝ = true\n"
        "n : num\na✝ : le pred✝.succ n = false\n⊢ le n pred✝.succ = true"
    )
    (goal,) = read_goals(text, Names(read_theory(NUMBERS)))
    assert set(goal.kinds) == {"pred✝", "n"}
    assert len(goal.hypotheses) == 2
    assert show(goal.conclusion) == "le n (num.succ pred✝) = true"


def test_several_goals_in_one_text_are_told_apart() -> None:
    text = "case nil\na : Type\n⊢ rev lst.nil = lst.nil\n\ncase cons\na : Type\nxs : lst a\n⊢ rev xs = xs"
    assert len(read_goals(text, Names(read_theory(LISTS)))) == 2


def test_statements_that_differ_in_names_have_the_same_key() -> None:
    names = Names(read_theory(LISTS))
    other = read_statement("∀ {b : Type} (ys : lst b), rev (rev ys) = ys", names)
    assert read_statement(REV_REV, names).key() == other.key()
