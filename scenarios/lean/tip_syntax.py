"""What a TIP file means, as data: types, terms, declarations and the goal.

Symbols are those of the file; names for Lean are chosen at printing.
"""

from typing import Literal

import msgspec

from .sexpr import Position


class TypeVariable(msgspec.Struct, frozen=True):
    """A type parameter of the declaration it occurs in."""

    name: str


class DataType(msgspec.Struct, frozen=True):
    """A declared datatype or sort applied to its arguments, `Bool` or `Int`."""

    name: str
    args: "tuple[Type, ...]" = ()


class FunctionType(msgspec.Struct, frozen=True):
    """`(=> A B C)`: A and B are parameters, C is the result."""

    params: "tuple[Type, ...]"
    result: "Type"


Type = TypeVariable | DataType | FunctionType
BOOL = DataType("Bool")
INT = DataType("Int")


class Parameter(msgspec.Struct, frozen=True):
    """A bound variable with its type."""

    name: str
    type: Type


class Variable(msgspec.Struct, frozen=True):
    """A use of a bound variable."""

    name: str
    at: Position


class Truth(msgspec.Struct, frozen=True):
    """`true` or `false`."""

    value: bool
    at: Position


class Constructor(msgspec.Struct, frozen=True):
    """A use of a constructor; `types` are the arguments of its datatype when the file states them."""

    name: str
    types: tuple[Type, ...] | None
    at: Position


class Function(msgspec.Struct, frozen=True):
    """A use of a defined function; `types` as for constructors."""

    name: str
    types: tuple[Type, ...] | None
    at: Position


class Apply(msgspec.Struct, frozen=True):
    """Application to one argument or more."""

    function: "Term"
    args: "tuple[Term, ...]"
    at: Position


class Lambda(msgspec.Struct, frozen=True):
    """An anonymous function."""

    params: tuple[Parameter, ...]
    body: "Term"
    at: Position


class Let(msgspec.Struct, frozen=True):
    """Parallel local definitions."""

    bindings: "tuple[tuple[str, Term], ...]"
    body: "Term"
    at: Position


class Case(msgspec.Struct, frozen=True):
    """One row of a match; `constructor` is None for a row that takes whatever is left."""

    constructor: str | None
    variables: tuple[str, ...]
    body: "Term"
    at: Position


class Match(msgspec.Struct, frozen=True):
    """Case distinction by constructor."""

    subject: "Term"
    cases: tuple[Case, ...]
    at: Position


class Ite(msgspec.Struct, frozen=True):
    """`(ite condition yes no)`."""

    condition: "Term"
    yes: "Term"
    no: "Term"
    at: Position


class Equal(msgspec.Struct, frozen=True):
    """`(= left right)`, or `(distinct left right)` when negated."""

    left: "Term"
    right: "Term"
    is_negated: bool
    at: Position


class Logic(msgspec.Struct, frozen=True):
    """A propositional connective over Booleans or propositions."""

    op: Literal["and", "or", "not", "=>"]
    args: "tuple[Term, ...]"
    at: Position


class Number(msgspec.Struct, frozen=True):
    """An integer that is not negative."""

    value: int
    at: Position


Comparison = Literal["<", "<="]


class Arithmetic(msgspec.Struct, frozen=True):
    """`+ - * div mod` of two integers or the negative of one; `<` and `<=` compare two (`>` is read as `<`)."""

    op: Literal["+", "-", "*", "div", "mod"] | Comparison
    args: "tuple[Term, ...]"
    at: Position

    @property
    def is_comparison(self) -> bool:
        """Whether it is a Boolean or proposition, not an integer."""
        return self.op in {"<", "<="}


class Quantifier(msgspec.Struct, frozen=True):
    """`forall` or `exists`; only where a proposition may stand."""

    kind: Literal["forall", "exists"]
    params: tuple[Parameter, ...]
    body: "Term"
    at: Position


Term = (
    Variable
    | Truth
    | Number
    | Constructor
    | Function
    | Apply
    | Lambda
    | Let
    | Match
    | Ite
    | Equal
    | Logic
    | Arithmetic
    | Quantifier
)


class ConstructorDeclaration(msgspec.Struct, frozen=True):
    """A constructor with its fields; field names are the file's selectors."""

    name: str
    fields: tuple[Parameter, ...]


class DatatypeDeclaration(msgspec.Struct, frozen=True):
    """A datatype with its type parameters."""

    name: str
    type_params: tuple[str, ...]
    constructors: tuple[ConstructorDeclaration, ...]
    at: Position


class FunctionDeclaration(msgspec.Struct, frozen=True):
    """A function definition; `body` is complete, recursion goes by name."""

    name: str
    type_params: tuple[str, ...]
    params: tuple[Parameter, ...]
    result: Type
    body: Term
    is_recursive: bool
    at: Position


class Goal(msgspec.Struct, frozen=True):
    """The proposition to prove."""

    type_params: tuple[str, ...]
    body: Term
    at: Position


class TipProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A whole file. Declarations come in groups: a group of more than one is mutually recursive."""

    datatypes: tuple[tuple[DatatypeDeclaration, ...], ...]
    sorts: tuple[str, ...]
    functions: tuple[tuple[FunctionDeclaration, ...], ...]
    goal: Goal


def parts(term: Term) -> tuple[Term, ...]:
    """The direct subterms."""
    match term:
        case Variable() | Truth() | Number() | Constructor() | Function():
            return ()
        case Apply():
            return (term.function, *term.args)
        case Lambda() | Quantifier():
            return (term.body,)
        case Let():
            return (*(value for _, value in term.bindings), term.body)
        case Match():
            return (term.subject, *(case.body for case in term.cases))
        case Ite():
            return (term.condition, term.yes, term.no)
        case Equal():
            return (term.left, term.right)
        case Logic() | Arithmetic():
            return term.args
