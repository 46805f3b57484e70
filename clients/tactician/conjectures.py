"""Lemmas that would help with a stuck goal: use the induction hypothesis, then generalise."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping

from .definitions import Names
from .evaluation import Evaluator, Undefined, find_witness
from .goals import Goal
from .statements import Statement, Types, close_statement, split_statement, weight, with_types
from .terms import Expr, Term, is_larger, is_plain, match, replace, size, substitute, subterms, var, variables

LARGEST = 32
MOST_TESTED = 36
MOST_CONDITIONS = 4
MOST_SINGLE = 8


def conjectures(goal: Goal, names: Names, evaluator: Evaluator, rng: random.Random) -> list[Statement]:
    """Candidates that survive random testing, simplest first."""
    found: dict[tuple[Expr, ...], Statement] = {}
    answers: dict[tuple[Expr, ...], bool] = {}

    def is_true(statement: Statement) -> bool:
        key = statement.key()
        if key not in answers:
            answers[key] = survives(statement, evaluator, rng)
        return answers[key]

    for hypotheses, conclusion in _forms(goal):
        for statement in _generalised(hypotheses, conclusion, goal, names, is_true):
            tidy = tidy_names(statement, names)
            if size(tidy.body) <= LARGEST and tidy.key() not in found and _is_worthwhile(tidy):
                found[tidy.key()] = tidy
    ranked = sorted(found.values(), key=_rank)[:MOST_TESTED]
    return _undominated([item for item in ranked if is_true(item)])


def _rank(statement: Statement) -> tuple[int, int, int]:
    """Simple ones first, among them those whose larger side is small."""
    return *weight(statement), max(size(side) for side in statement.equation or (statement.conclusion,))


def _undominated(found: list[Statement]) -> list[Statement]:
    """Without those that another one implies by having fewer hypotheses."""
    kept: list[Statement] = []
    for item in found:
        given = set(item.hypotheses)
        if not any(one.conclusion == item.conclusion and given >= set(one.hypotheses) for one in kept):
            kept.append(item)
    return kept


def survives(statement: Statement, evaluator: Evaluator, rng: random.Random) -> bool:
    """Whether random testing finds no witness against it (also true when it cannot be tested)."""
    try:
        return find_witness(statement, evaluator, rng=rng) is None
    except Undefined:
        return True


def _is_worthwhile(statement: Statement) -> bool:
    equation = statement.equation
    if equation is None:
        return isinstance(statement.conclusion, Term) and statement.conclusion.head not in {"False", "True"}
    left, right = equation
    return left != right and bool(statement.binders) and not (_is_bare(left) and _is_bare(right))


def _is_bare(expr: Expr) -> bool:
    return isinstance(expr, Term) and not expr.args


def _forms(goal: Goal) -> Iterator[tuple[tuple[Expr, ...], Expr]]:
    """The conclusion as it stands and after cross-fertilisation; with and without the plain conditions."""
    if not is_plain(goal.conclusion) or is_larger(goal.conclusion, 2 * LARGEST):
        return
    known = [item for item in goal.hypotheses if item in goal.facts or _is_condition(item)]
    conditions = tuple(item for item in known if is_plain(item))
    seen: set[Expr] = set()
    for conclusion in itertools.chain(_fertilised(goal), [goal.conclusion]):
        if conclusion in seen:
            continue
        seen.add(conclusion)
        yield (), conclusion
        free = set(variables(conclusion))
        relevant = tuple(item for item in conditions if set(variables(item)) & free)
        yield from (((item,), conclusion) for item in relevant[:MOST_CONDITIONS])
        if len(relevant) > 1:
            yield relevant, conclusion


def _is_condition(expr: Expr) -> bool:
    """Tests such as `f x = true`; equations between data are induction hypotheses."""
    if isinstance(expr, Term) and expr.head == "=":
        return any(isinstance(arg, Term) and arg.head in {"true", "false"} for arg in expr.args)
    return isinstance(expr, Term) and expr.head in {"¬", "≠", "<", "≤"}


def _fertilised(goal: Goal) -> Iterator[Expr]:
    if not isinstance(goal.conclusion, Term) or goal.conclusion.head != "=":
        return
    left, right = goal.conclusion.args
    for hypothesis in goal.hypotheses:
        statement = split_statement(hypothesis)
        if statement.equation is None or statement.hypotheses:
            continue
        bound = frozenset(name for name, _ in statement.binders)
        for source, target in (statement.equation, statement.equation[::-1]):
            for side, other in ((left, right), (right, left)):
                for changed in _rewritten(side, source, target, bound):
                    yield Term("=", (changed, other) if side is left else (other, changed))


def _rewritten(side: Expr, source: Expr, target: Expr, bound: frozenset[str]) -> Iterator[Expr]:
    """One rewriting step at each place; variables of the goal stand for themselves."""
    pattern = substitute(source, {name: var(f"?{name}") for name in bound})
    result = substitute(target, {name: var(f"?{name}") for name in bound})
    if isinstance(pattern, Term) and pattern.is_var and pattern.head.startswith("?"):
        return
    for sub in dict.fromkeys(subterms(side)):
        found: dict[str, Expr] = {}
        if match(pattern, sub, found) and all(key.startswith("?") or value == var(key) for key, value in found.items()):
            changed = substitute(result, {key: value for key, value in found.items() if key.startswith("?")})
            if not any(name.startswith("?") for name in variables(changed)):
                yield replace(side, sub, changed)


def _generalised(
    hypotheses: tuple[Expr, ...], conclusion: Expr, goal: Goal, names: Names, is_true: Callable[[Statement], bool]
) -> Iterator[Statement]:
    """The statement with none, one or two repeated subterms replaced by variables, the most general first."""
    whole = Term("all", (*hypotheses, conclusion))
    kinds_of = Types(names).of_subterms(whole, goal.kinds)
    counted = {item: count for item, count in _counted(conclusion, hypotheses).items() if item in kinds_of}
    repeated = [item for item, count in counted.items() if count > 1][:6]
    single = [(item,) for item, count in counted.items() if count == 1][:MOST_SINGLE]
    for chosen in (*itertools.combinations(repeated, 2), *((item,) for item in repeated), *single, ()):
        seen = _seen_through(whole, chosen, kinds_of, goal, is_true)
        for body in (seen, whole) if seen != whole else (whole,) if chosen not in single else ():
            made = _with_variables(body, {item: kinds_of[item] for item in chosen}, goal)
            if made is not None:
                yield made


def _with_variables(body: Expr, chosen: Mapping[Expr, Expr], goal: Goal) -> Statement | None:
    """The statement with variables of the given types for subterms."""
    kinds = dict(goal.kinds)
    for index, item in enumerate(sorted(chosen, key=size, reverse=True)):
        kinds[f"g{index}"] = chosen[item]
        body = replace(body, item, var(f"g{index}"))
    if not isinstance(body, Term):
        return None
    return close_statement(body.args[:-1], body.args[-1], kinds=kinds, instances=goal.instances)


def _seen_through(
    whole: Term,
    chosen: tuple[Expr, ...],
    kinds_of: Mapping[Expr, Expr],
    goal: Goal,
    is_true: Callable[[Statement], bool],
) -> Term:
    """What is said of a variable, said of a subterm instead that is about to be generalised, where that is the same.

    A length of a list is the length of its reverse: when the reverse becomes a variable, its length stays known.
    """
    for item in chosen:
        inside = {name for name in variables(item) if goal.kinds.get(name) == kinds_of[item]}
        parts = set(subterms(item))
        for view in dict.fromkeys(subterms(whole)):
            if not isinstance(view, Term) or view not in kinds_of or view in parts or item in subterms(view):
                continue
            for at, arg in enumerate(view.args):
                if isinstance(arg, Term) and arg.is_var and arg.head in inside:
                    other = Term(view.head, (*view.args[:at], item, *view.args[at + 1 :]), view.is_var)
                    same = close_statement((), Term("=", (view, other)), kinds=goal.kinds, instances=goal.instances)
                    if same is not None and is_true(same):
                        changed = replace(whole, view, other)
                        whole = changed if isinstance(changed, Term) else whole
    return whole


def _counted(conclusion: Expr, hypotheses: tuple[Expr, ...]) -> dict[Expr, int]:
    """How often compound subterms with variables occur, the largest first."""
    counts: dict[Expr, int] = {}
    for part in (conclusion, *hypotheses):
        for sub in subterms(part):
            if isinstance(sub, Term) and sub.args and sub.head not in {"=", "¬", "≠"} and is_plain(sub):
                counts[sub] = counts.get(sub, 0) + 1
    return {item: counts[item] for item in sorted(counts, key=size, reverse=True) if variables(item)}


def tidy_names(statement: Statement, names: Names) -> Statement:
    """The same statement with readable variable names."""
    taken = set(names.signatures)
    type_map = dict(zip(statement.types, _fresh("abcde", taken), strict=False))
    renamed: dict[str, Expr] = {}
    kinds: dict[str, Expr] = {}
    types: dict[str, Expr] = {old: var(new) for old, new in type_map.items()}
    taken |= set(type_map.values())
    for name, kind in statement.binders:
        is_function = isinstance(kind, Term) and kind.head == "→"
        is_list = isinstance(kind, Term) and bool(kind.args) and not is_function
        stems = ("f", "g", "h") if is_function else ("xs", "ys", "zs") if is_list else ("x", "y", "z", "u", "v", "w")
        fresh = next(_fresh(stems, taken))
        taken.add(fresh)
        renamed[name] = var(fresh)
        kinds[fresh] = substitute(kind, types)
    tidy = Statement(
        types=tuple(type_map.get(name, name) for name in statement.types),
        instances=tuple(substitute(item, types) for item in statement.instances),
        binders=tuple(kinds.items()),
        hypotheses=tuple(substitute(item, renamed) for item in statement.hypotheses),
        conclusion=substitute(statement.conclusion, renamed),
        intros=(*type_map.values(), *("_" for _ in statement.instances), *kinds),
    )
    return with_types(tidy, names)


def _fresh(stems: str | tuple[str, ...], taken: set[str]) -> Iterator[str]:
    for suffix in itertools.chain([""], map(str, range(1, 999))):
        for stem in stems:
            if stem + suffix not in taken:
                yield stem + suffix
