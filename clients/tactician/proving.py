"""Tactic texts for a statement: the finishing tactic, inductions, case splits, in rounds of growing cost."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from .statements import Statement
from .terms import Expr, Match, Term, subterms
from .theory import Datatype, Theory


class Simp(msgspec.Struct, frozen=True):
    """What the simplifier may use, and in which manner."""

    rules: tuple[str, ...]
    style: str = "all"
    """`all`: simp_all with splits; `star`: simp with the hypotheses, which keeps them as they are; `plain`: simp_all
    alone, which fails when it cannot begin, and splits only when some are asked for."""

    splits: int = 3

    def tactic(self) -> str:
        """The finishing tactic; it leaves what it cannot prove."""
        rules = ", ".join(self.rules)
        if self.style == "plain" and self.splits == 0:
            return f"simp_all [{rules}]"
        if self.style == "star":
            simp = f"(try simp [{rules}, *])"
            return f"(intros <;> {simp}" + f" <;> (try (split <;> {simp}))" * 2 + ")"
        simp = f"(try simp_all [{rules}])"
        either = f"refine Or.elim ‹_ ∨ _› (fun _ => ?_) (fun _ => ?_) <;> {simp}"
        split = f" <;> (try (first | (split <;> {simp}) | (split at * <;> {simp}) | ({either})))"
        return f"(intros <;> {simp}{split * self.splits})"


class Variable(msgspec.Struct, frozen=True):
    """A quantified variable of an inductive type."""

    name: str
    datatype: Datatype
    kind: Expr
    score: int
    """How often it stands where a function recurses."""


class Tactics:
    """Proof attempts for one statement."""

    def __init__(self, statement: Statement, theory: Theory) -> None:
        self._statement = statement
        self._theory = theory
        self._all = [name for name, _ in statement.binders]
        self._unfolded = _abbreviations(statement.hypotheses, theory)
        self.variables = self._inductive_variables()

    def _inductive_variables(self) -> list[Variable]:
        places = recursive_positions(self._theory)
        scores = dict.fromkeys(self._all, 0)
        for part in (*self._statement.hypotheses, self._statement.conclusion):
            for sub in subterms(part):
                if isinstance(sub, Term):
                    for index in places.get(sub.head, ()):
                        arg = sub.args[index] if index < len(sub.args) else None
                        if isinstance(arg, Term) and arg.is_var and arg.head in scores:
                            scores[arg.head] += 1
        found = [
            Variable(name, self._theory.datatypes[kind.head], kind, scores[name])
            for name, kind in self._statement.binders
            if isinstance(kind, Term) and kind.head in self._theory.datatypes
        ]
        return sorted(found, key=lambda item: -item.score)

    def intro(self) -> str:
        """Brings types, instances and variables into scope under their names; hypotheses stay in the goal.

        Abbreviations in hypotheses are unfolded at once: `simp_all`, told to unfold one, drops an induction hypothesis
        whose condition is also a hypothesis (Lean 4.35).
        """
        names = self._statement.intros
        unfold = f"(try simp only [{', '.join(self._unfolded)}]); " if self._unfolded else ""
        return f"intro {' '.join(names)}; {unfold}" if names else unfold

    def generalizing(self, name: str, *, keep: Iterable[str] = ()) -> str:
        """The clause that quantifies the other variables in the induction hypothesis."""
        others = [other for other in self._all if other != name and other not in keep]
        return f" generalizing {' '.join(others)}" if others else ""

    def rounds(self, simp: Simp) -> list[list[str]]:
        """Attempts, cheap and likely ones first; each closes the goal or leaves goals."""
        finish = simp.tactic()
        return [
            [self.intro() + text for text in texts]
            for texts in (self._first(finish), self._second(finish), self._third(finish))
            if texts
        ]

    def induction(self, simp: Simp, index: int = 0) -> str | None:
        """Induction on the best variable, its plain form: what it leaves is worth reading."""
        if index >= len(self.variables):
            return None
        name = self.variables[index].name
        return f"{self.intro()}induction {name}{self.generalizing(name)} <;> {simp.tactic()}"

    def suggested(self, simp: Simp, variable: str, cases: Sequence[str] = (), *, is_deep: bool = False) -> list[str]:
        """Attempts when it is known on which variable to do induction (empty: on none) and which to take apart."""
        finish = simp.tactic()
        if self._statement.hypotheses and finish.startswith("simp_all"):
            finish = f"intros <;> {finish}"
        splits = "".join(f"cases {name} <;> " for name in cases)
        if not variable:
            return [self.intro() + splits + finish]
        found = [f"{self.intro()}induction {variable}{self.generalizing(variable)} <;> {splits}{finish}"]
        item = next(item for item in self.variables if item.name == variable)
        if is_deep and (deep := self._structured(item, splits + finish)):
            found.insert(0, self.intro() + deep)
        if self._statement.hypotheses:
            found[0] = any_of([found[0], self._instantiated(item, simp, splits, is_deep=is_deep)])
        others = [other.name for other in self.variables if other.score > 0 and other.name != variable]
        found += [f"{self.intro()}induction {name}{self.generalizing(name)} <;> {finish}" for name in others[:1]]
        return found

    def _instantiated(self, item: Variable, simp: Simp, splits: str, *, is_deep: bool) -> str:
        """Induction with the other variables as they are, and all functions unfolded before anything is simplified.

        `simp_all` drops an induction hypothesis when its condition follows from another hypothesis (Lean 4.35).
        """
        functions = ", ".join(rule for rule in simp.rules if rule in self._theory.functions)
        unfold = f"intros <;> (try simp only [{functions}] at *) <;> "
        finish = splits + unfold + msgspec.structs.replace(simp, style="all", splits=max(simp.splits, 2)).tactic()
        deep = self._structured(item, finish, rest="") if is_deep else None
        return self.intro() + (deep or f"induction {item.name} <;> {finish}")

    def _first(self, finish: str) -> list[str]:
        useful = [item for item in self.variables if item.score > 0] or self.variables
        return [f"induction {item.name}{self.generalizing(item.name)} <;> {finish}" for item in useful] + [finish]

    def _second(self, finish: str) -> list[str]:
        found: list[str] = []
        for item in self.variables:
            name, rest = item.name, self.generalizing(item.name)
            if rest:
                found.append(f"induction {name} <;> {finish}")
            if deep := self._structured(item, finish):
                found.append(deep)
            others = [other.name for other in self.variables if other.name != name and other.score > 0]
            found += [f"induction {name}{rest} <;> cases {other} <;> {finish}" for other in others]
            found.append(f"cases {name} <;> {finish}")
        return found

    def _structured(self, item: Variable, finish: str, *, rest: str | None = None) -> str | None:
        """Induction that looks one constructor deeper into the recursive arguments."""
        text = f"induction {item.name}{self.generalizing(item.name) if rest is None else rest} with"
        is_recursive = False
        for constructor in item.datatype.constructors:
            fields = [f"w{index}" for index in range(len(constructor.args))]
            inner = [
                field
                for field, kind in zip(fields, constructor.args, strict=True)
                if isinstance(kind, Term) and kind.head == item.datatype.name
            ]
            is_recursive = is_recursive or bool(inner)
            names = [*fields, *(f"ih{index}" for index in range(len(inner)))]
            short = constructor.name.rpartition(".")[2]
            splits = "".join(f"cases {field} <;> " for field in inner)
            text += f" | {' '.join([short, *names])} => ({splits}{finish})"
        return text if is_recursive else None

    def _third(self, finish: str) -> list[str]:
        found: list[str] = []
        for item, other in itertools.permutations(self.variables, 2):
            keep = self.generalizing(item.name, keep=(other.name,))
            found.append(f"induction {item.name}{keep} <;> induction {other.name} <;> {finish}")
        for item in self.variables:
            start = f"induction {item.name}{self.generalizing(item.name)}"
            rest = [other.name for other in self.variables if other is not item]
            pairs = itertools.combinations(rest, 2)
            found += [f"{start} <;> cases {one} <;> cases {two} <;> {finish}" for one, two in pairs]
        return found


def _abbreviations(hypotheses: Sequence[Expr], theory: Theory) -> list[str]:
    """The functions in the hypotheses that do not recurse and take nothing apart, in order of appearance."""
    heads = [sub.head for item in hypotheses for sub in subterms(item) if isinstance(sub, Term)]
    return [head for head in dict.fromkeys(heads) if head in theory.functions and _is_abbreviation(head, theory)]


def _is_abbreviation(name: str, theory: Theory) -> bool:
    rows = theory.functions[name].rows
    if len(rows) != 1 or any(not isinstance(item, Term) or not item.is_var for item in rows[0][0]):
        return False
    return all(not isinstance(sub, Match) and getattr(sub, "head", "") != name for sub in subterms(rows[0][1]))


def recursive_positions(theory: Theory) -> dict[str, frozenset[int]]:
    """For each function the arguments that it takes apart."""
    found: dict[str, frozenset[int]] = {}
    for name, function in theory.functions.items():
        places: set[int] = set()
        for patterns, body in function.rows:
            places |= {index for index, item in enumerate(patterns) if isinstance(item, Term) and not item.is_var}
            matched = {
                item.head
                for sub in subterms(body)
                if isinstance(sub, Match)
                for item in sub.scrutinees
                if isinstance(item, Term) and item.is_var
            }
            places |= {index for index, item in enumerate(patterns) if isinstance(item, Term) and item.head in matched}
        found[name] = frozenset(places)
    for operator, index in (("+", 1), ("*", 1), ("++", 0)):
        found[operator] = frozenset({index})
    return found


def any_of(attempts: Sequence[str], *, leave_goals: str | None = None) -> str:
    """One proof that tries the attempts in turn; the last may leave goals, which the error then shows."""
    closed = [f"({text}; done)" for text in attempts]
    if leave_goals is not None:
        closed.append(f"({leave_goals})")
    if len(closed) == 1:
        return attempts[0] if attempts else str(leave_goals)
    return "first\n  | " + "\n  | ".join(closed)


def theorem(name: str, statement: str, proof: str) -> str:
    """Source text of a theorem."""
    return f"theorem {name} : {statement} := by\n  {proof}\n"


def negations(values: Sequence[str], definitions: Sequence[str]) -> Iterator[str]:
    """Proofs of a negation for values where deciding by plain unfolding is not enough."""
    start = f"by\n  intro h\n  have at_values := h {' '.join(values)}\n  revert at_values\n"
    rules = ", ".join(definitions)
    for finish in ("decide +kernel", f"(intro e; simp [{rules}] at e)", f"(intro e; simp_all [{rules}])"):
        yield f"{start}  {finish}\n"
