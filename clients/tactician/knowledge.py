"""What one tactician knows: the problem, the lemmas of the team, the parts of the plan."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import msgspec

from .connectives import as_equation
from .definitions import Names, read_theory, split_commands
from .evaluation import Evaluator
from .ordering import Precedence
from .proving import Simp
from .rewriting import Rewriter
from .rules import Rule, defining_rules
from .statements import Statement, heads, read_statement, weight, whole
from .syntax import NotInSubset
from .terms import Expr, Term, constants, is_plain, variables
from .theory import Function, Theory

MOST_RULES = 28


class Lemma(msgspec.Struct, frozen=True, kw_only=True):
    """A lemma of the store."""

    name: str
    author: str
    statement: Statement | None
    rule: str
    """How the simplifier should use it, empty when it should not."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A node of the plan."""

    node: str
    name: str
    text: str
    statement: Statement | None


class Knowledge:
    """Grows with every reply; all searching starts from here."""

    def __init__(self, *, source: str, target: str, root: str, seed: int) -> None:
        self.rng = random.Random(seed)
        self.theory: Theory = read_theory(source)
        self.names = Names(self.theory)
        self.evaluator = Evaluator(self.theory)
        self.precedence = Precedence(self.theory)
        self.rewriter = Rewriter(self.theory, self.precedence)
        self.definitions = tuple(name for name in (*self.theory.functions, *_unread_functions(source, self.theory)))
        self.lemmas: dict[str, Lemma] = {}
        self.refuted: set[tuple[Expr, ...]] = set()
        self.stated: set[tuple[Expr, ...]] = set()
        self.root = Part(node=root, name="goal", text=target, statement=self.read(target))

    def read(self, text: str) -> Statement | None:
        """A statement, None when it is outside the subset."""
        try:
            return read_statement(text, self.names)
        except (NotInSubset, IndexError, RecursionError):
            return None

    def learn(self, name: str, text: str, *, author: str) -> bool:
        """Take up a lemma; False when it was known or says what is known already."""
        if not name or name in self.lemmas:
            return False
        statement = self.read(text)
        rule = "" if statement is None else self._rule(name, statement)
        if statement is not None and statement.key() in {
            item.statement.key() for item in self.lemmas.values() if item.statement is not None
        }:
            rule = ""
        self.lemmas[name] = Lemma(name=name, author=author, statement=statement, rule=rule)
        if statement is not None:
            self.stated.add(statement.key())
            if rule:
                self.use(statement, self.rewriter, source=rule)
        return bool(rule)

    def is_open_question(self, statement: Statement) -> bool:
        """Neither known nor the target itself."""
        root = self.root.statement
        return statement.key() not in self.stated and (root is None or statement.key() != root.key())

    def oriented(self, statement: Statement) -> Statement:
        """The same with an equation written from greater to smaller side."""
        if statement.equation is None or not self.precedence.is_greater(*reversed(statement.equation)):
            return statement
        return msgspec.structs.replace(statement, conclusion=Term("=", statement.equation[::-1]))

    def use(self, statement: Statement, rewriter: Rewriter, *, source: str = "") -> None:
        """Take a statement as a rule of a rewriter."""
        if statement.equation is not None:
            conditions = tuple(as_equation(item) for item in statement.hypotheses)
            rewriter.add(*statement.equation, conditions, source=source)

    def _rule(self, name: str, statement: Statement) -> str:
        """The orientation of an equation; conditions must be decided by its left side."""
        if not all(is_plain(item) for item in statement.hypotheses):
            return ""
        if statement.equation is None:
            return name
        left, right = statement.equation
        oriented = self.precedence.orient(left, right)
        if oriented is None:
            if not set(variables(right)) <= set(variables(left)):
                return ""
            oriented = (left, right)
        if not set(variables(whole(statement))) <= set(variables(oriented[0])):
            return ""
        return name if oriented[0] == left else f"← {name}"

    def rules(self, statement: Statement | None = None) -> list[str]:
        """Rules of all lemmas about functions that the statement can reach, simple ones first."""
        usable = [item for item in self.lemmas.values() if item.rule and item.statement is not None]
        if statement is not None:
            reachable = self.reachable(heads(statement))
            usable = [item for item in usable if item.statement and self._is_near(item.statement, reachable)]
        usable.sort(key=lambda item: weight(item.statement) if item.statement else (0, 0))
        return [item.rule for item in usable[:MOST_RULES]]

    def eliminating(self, rules: Sequence[str]) -> list[str]:
        """The rules with those turned around that express a function by others, empty when there are none."""
        turned: dict[str, str] = {}
        for item in self.lemmas.values():
            if item.rule in rules and item.statement is not None and not item.statement.hypotheses:
                sides = item.statement.equation
                if sides is not None and self._expresses(*(sides if item.rule.startswith("← ") else sides[::-1])):
                    turned[item.rule] = item.name if item.rule.startswith("← ") else f"← {item.name}"
        return [turned.get(rule, rule) for rule in rules] if turned else []

    def _expresses(self, function: Expr, other: Expr) -> bool:
        """Whether one side is a function of distinct variables that the other side does without."""
        if not isinstance(function, Term) or function.head not in self.theory.functions or not function.args:
            return False
        args = function.args
        are_variables = all(isinstance(arg, Term) and arg.is_var and not arg.args for arg in args)
        is_distinct = len(set(args)) == len(args) and set(variables(other)) == set(variables(function))
        return are_variables and is_distinct and function.head not in constants(other)

    def _is_near(self, statement: Statement, reachable: frozenset[str]) -> bool:
        used = heads(statement) & self.theory.functions.keys()
        return bool(used & reachable) or not used

    def reachable(self, start: frozenset[str]) -> frozenset[str]:
        """Functions called, directly or not, by the given ones."""
        found: set[str] = set()
        pending = [name for name in start if name in self.theory.functions]
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                called = frozenset[str]().union(*(constants(body) for _, body in self.theory.functions[name].rows))
                pending += [other for other in called if other in self.theory.functions]
        return frozenset(found)

    def exactly(self, used: Iterable[str], *, splits: int = 0) -> Simp:
        """The rules that rewriting used, and the definitions that only Lean can unfold."""
        known = {rule.left.head for function in self.theory.functions.values() for rule in self._rules_of(function)}
        opaque = [name for name in self.definitions if name not in known]
        named = set(used)
        order = [*self.definitions, *(item.rule for item in self.lemmas.values())]
        return Simp(tuple(name for name in order if name in named or name in opaque), "plain", splits)

    def _rules_of(self, function: Function) -> list[Rule]:
        """Defining equations, none when rewriting knows only some of them."""
        rules = defining_rules(function.name, function.rows)
        return rules if len(rules) == len(function.rows) else []

    def simp(self, rules: list[str] | tuple[str, ...] = (), *, style: str = "all") -> Simp:
        """The definitions and some rules."""
        return Simp((*self.definitions, *rules), style)


def _unread_functions(source: str, theory: Theory) -> list[str]:
    """Functions outside the subset can still be unfolded by name."""
    found: list[str] = []
    for command in split_commands(source):
        words = command.split(None, 2)
        if len(words) > 1 and words[0] in {"def", "abbrev"} and words[1] in theory.unread:
            found.append(words[1])
    return found
