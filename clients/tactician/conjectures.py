"""Lemmas that would help with a stuck goal: use the induction hypothesis, then generalise."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from .definitions import Names
from .evaluation import Evaluator, Undefined, find_witness
from .goals import Goal
from .statements import Statement, Types, close_statement, split_statement, weight, with_types
from .terms import Expr, Term, is_plain, match, replace, size, substitute, subterms, var, variables

LARGEST = 26


def conjectures(goal: Goal, names: Names, evaluator: Evaluator, rng: random.Random) -> list[Statement]:
    """Candidates that survive random testing, simplest first."""
    found: dict[tuple[Expr, ...], Statement] = {}
    for hypotheses, conclusion in _forms(goal):
        for statement in _generalised(hypotheses, conclusion, goal, names):
            tidy = tidy_names(statement, names)
            if size(tidy.body) <= LARGEST and tidy.key() not in found and _is_worthwhile(tidy):
                found[tidy.key()] = tidy
    ranked = sorted(found.values(), key=weight)[:24]
    return [item for item in ranked if survives(item, evaluator, rng)]


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
    if not is_plain(goal.conclusion):
        return
    conditions = tuple(item for item in goal.hypotheses if is_plain(item) and _is_condition(item))
    seen: set[Expr] = set()
    for conclusion in itertools.chain(_fertilised(goal), [goal.conclusion]):
        if conclusion in seen:
            continue
        seen.add(conclusion)
        yield (), conclusion
        free = set(variables(conclusion))
        relevant = tuple(item for item in conditions if set(variables(item)) & free)
        if relevant:
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


def _generalised(hypotheses: tuple[Expr, ...], conclusion: Expr, goal: Goal, names: Names) -> Iterator[Statement]:
    """The statement with none, one or two repeated subterms replaced by variables, the most general first."""
    whole = Term("all", (*hypotheses, conclusion))
    types = Types(names)
    kinds_of = types.of_subterms(whole, goal.kinds)
    repeated = [item for item in _repeated(conclusion, hypotheses) if item in kinds_of]
    for count in (2, 1, 0):
        for chosen in itertools.combinations(repeated[:6], count):
            body: Expr = whole
            kinds = dict(goal.kinds)
            for index, item in enumerate(sorted(chosen, key=size, reverse=True)):
                kinds[f"g{index}"] = kinds_of[item]
                body = replace(body, item, var(f"g{index}"))
            if isinstance(body, Term):
                made = close_statement(body.args[:-1], body.args[-1], kinds=kinds, instances=goal.instances)
                if made is not None:
                    yield made


def _repeated(conclusion: Expr, hypotheses: tuple[Expr, ...]) -> list[Expr]:
    """Compound subterms with variables that occur at least twice, largest first."""
    counts: dict[Expr, int] = {}
    for part in (conclusion, *hypotheses):
        for sub in subterms(part):
            if isinstance(sub, Term) and sub.args and sub.head not in {"=", "¬", "≠"} and is_plain(sub):
                counts[sub] = counts.get(sub, 0) + 1
    found = [item for item, count in counts.items() if count >= 2 and variables(item)]
    return sorted(found, key=size, reverse=True)


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
