"""TIP problems as Lean text.

The text is regular, since programs read it too: one equation or constructor a line, every compound argument in
parentheses, no notation beyond `=`, `≠`, `¬`, `∧`, `∨`, `→`, `∀`, `∃`, `if`, `match`, `let` and `fun`. Booleans are
`Bool.and p q` and so on; a Boolean where a proposition stands is `b = true`. Matches inside the goal become functions
of their own (see `tip_goals`).
"""

from typing import Literal

from .lean_names import Names, constructor_names
from .lean_terms import TermPrinter
from .problem import LeanProblem
from .tip import read_tip
from .tip_equations import Equation, equations
from .tip_goals import lift_matches
from .tip_recursion import Measure, Part, measures
from .tip_signatures import heads
from .tip_syntax import DatatypeDeclaration, FunctionDeclaration, TipProblem
from .tip_types import Typing, check_types

Encoding = Literal["flat", "nested"]


def import_tip(text: str, *, name: str, encoding: Encoding = "flat") -> LeanProblem:
    """The Lean problem of a TIP file; the theorem is called after `name`.

    `flat` makes one equation per row of nested matches, so that `simp` unfolds on constructors only; `nested` keeps the
    matches of the file, so that it unfolds early and `split` distinguishes the cases.

    Raises:
        BadProblem: see `read_tip` and `check_types`.
    """
    problem = read_tip(text)
    problem = lift_matches(problem, check_types(problem), name=f"{name}_case")
    return _FilePrinter(problem, check_types(problem), name, encoding).problem()


class _FilePrinter:
    def __init__(self, problem: TipProblem, typing: Typing, name: str, encoding: Encoding) -> None:
        self.tip, self.typing, self.encoding = problem, typing, encoding
        self.datatypes = [d for group in problem.datatypes for d in group]
        self.functions = [f for group in problem.functions for f in group]
        self.owners = {c.name: (d, c) for d in self.datatypes for c in d.constructors}
        self.constructors: dict[str, str] = {}
        for declaration in self.datatypes:
            self.constructors |= constructor_names(c.name for c in declaration.constructors)
        used = self._sorts_of_definitions()
        self.opaque_sorts = tuple(sort for sort in problem.sorts if sort in used)
        self.goal_sorts = tuple(sort for sort in problem.sorts if sort not in used)
        self.names = Names()
        self.theorem = self.names.pick(name, kind="theorem")
        for symbol in (*(d.name for d in self.datatypes), *self.opaque_sorts):
            self.names.pick(symbol, kind="type", lower_first=True)
        for function in self.functions:
            self.names.pick(function.name, kind="function")

    def problem(self) -> LeanProblem:
        # an opaque type needs some value; no proof can see which
        blocks = [f"opaque {self.names.pick(sort, kind='type')} : Type := Bool" for sort in self.opaque_sorts]
        blocks += [_mutual([self._datatype(d) for d in group]) for group in self.tip.datatypes]
        blocks += [self._functions(group) for group in self.tip.functions]
        blocks.append(f"theorem {self.theorem} : {self._statement()} := by sorry")
        return LeanProblem(name=self.theorem, source="\n\n".join(blocks) + "\n", theorem=self.theorem)

    def _sorts_of_definitions(self) -> frozenset[str]:
        types = [f.type for d in self.datatypes for c in d.constructors for f in c.fields]
        types += [type_ for f in self.functions for type_ in (*(p.type for p in f.params), f.result)]
        return frozenset(head for type_ in types for head in heads(type_))

    def _printer(self) -> TermPrinter:
        type_params = {function.name: function.type_params for function in self.functions}
        return TermPrinter(
            self.names, self.constructors, self.owners, type_params, self.typing.needs, frozenset(self.goal_sorts)
        )

    def _datatype(self, declaration: DatatypeDeclaration) -> str:
        params = "".join(f" ({self._printer().type_variable(p)} : Type)" for p in declaration.type_params)
        lines = [f"inductive {self.names.pick(declaration.name, kind='type')}{params} where"]
        for constructor in declaration.constructors:
            printer = self._printer()
            for symbol in declaration.type_params:
                printer.type_variable(symbol)
            fields = f" {printer.parameters(constructor.fields)}" if constructor.fields else ""
            lines.append(f"  | {self.constructors[constructor.name]}{fields}")
        if declaration.name in self.typing.decidable:
            lines.append("  deriving DecidableEq")
        return "\n".join(lines)

    def _functions(self, group: tuple[FunctionDeclaration, ...]) -> str:
        rows = {function.name: equations(function, self.owners) for function in group}
        why = measures(group, rows)
        return _mutual([self._function(function, rows[function.name], why.get(function.name)) for function in group])

    def _function(self, function: FunctionDeclaration, rows: tuple[Equation, ...], measure: Measure | None) -> str:
        printer = self._printer()
        printer.names_conditions = measure is not None and measure.up is not None
        head = f"def {self.names.pick(function.name, kind='function')}"
        head += _type_binders(printer, function.type_params, self.typing.needs[function.name])
        is_flat = len(rows) > 1 and self.encoding == "flat"
        if is_flat:
            type_ = " → ".join((*(printer.type_param(p.type) for p in function.params), printer.type(function.result)))
            lines = [f"{head} : {type_}"]
            lines += [
                f"  | {', '.join(map(printer.pattern, row.patterns))} => {printer.term(row.body)}" for row in rows
            ]
        else:
            params = f" {printer.parameters(function.params)}" if function.params else ""
            lines = [f"{head}{params} : {printer.type(function.result)} :=", f"  {printer.term(function.body)}"]
        if measure is not None:
            lines += _termination(function, printer, measure, is_flat=is_flat)
        return "\n".join(lines)

    def _statement(self) -> str:
        goal, printer = self.tip.goal, self._printer()
        for symbol in (*goal.type_params, *self.goal_sorts):
            printer.type_variable(symbol)  # named before the variables of the goal
        body = printer.prop(goal.body)
        used = tuple(sort for sort in self.goal_sorts if sort in printer.used_sorts)
        binders = _type_binders(printer, (*goal.type_params, *used), self.typing.goal_needs)
        if not binders:
            return body
        return f"∀{binders}{body[1:]}" if body.startswith("∀ ") else f"∀{binders}, {body}"


def _mutual(declarations: list[str]) -> str:
    return "\n".join(declarations if len(declarations) == 1 else ("mutual", *declarations, "end"))


def _type_binders(printer: TermPrinter, symbols: tuple[str, ...], needs: frozenset[str]) -> str:
    names = [(printer.type_variable(symbol), symbol in needs) for symbol in symbols]
    return "".join(f" {{{name} : Type}}" + (f" [DecidableEq {name}]" if is_needed else "") for name, is_needed in names)


def _termination(function: FunctionDeclaration, printer: TermPrinter, measure: Measure, *, is_flat: bool) -> list[str]:
    names = [printer.local(param.name) for param in function.params]
    if measure.up is not None:
        counted, bound = (names[at] for at in measure.up)
        total, used = f"({bound} + 1 - {counted}).toNat", set(measure.up)
        why = ["decreasing_by exact Int.toNat_up (by assumption) (by decide)"]
    else:
        shown = [_sum(part, names) for part in measure.parts]
        total, used = (
            f"({', '.join(shown)})" if len(shown) > 1 else shown[0],
            {at for p in measure.parts for at in p.params},
        )
        why = []
    binders = " ".join(name if at in used else "_" for at, name in enumerate(names))
    return [f"termination_by {binders} => {total}" if is_flat else f"termination_by {total}", *why]


def _sum(part: Part, names: list[str]) -> str:
    sizes = [f"sizeOf {names[at]}" for at in part.params]
    return " + ".join([str(part.constant), *sizes] if part.constant or not sizes else sizes)
