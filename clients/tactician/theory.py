"""What a problem declares, as data: inductive types, functions and their signatures."""

from __future__ import annotations

import msgspec

from .terms import Expr, Term, constants


class Constructor(msgspec.Struct, frozen=True):
    """A constructor with its full name and the types of its explicit arguments."""

    name: str
    args: tuple[Expr, ...]


class Datatype(msgspec.Struct, frozen=True):
    """An inductive type over type parameters."""

    name: str
    params: tuple[str, ...]
    constructors: tuple[Constructor, ...]


class Function(msgspec.Struct, frozen=True):
    """A definition as rows of patterns; a plain definition is one row of variables."""

    name: str
    params: tuple[str, ...]
    args: tuple[Expr, ...]
    result: Expr
    rows: tuple[tuple[tuple[Expr, ...], Expr], ...]


class Signature(msgspec.Struct, frozen=True):
    """Type of a constant: type parameters, explicit argument types, result."""

    params: tuple[str, ...]
    args: tuple[Expr, ...]
    result: Expr


class Theory(msgspec.Struct, frozen=True):
    """What a problem text declares."""

    datatypes: dict[str, Datatype]
    functions: dict[str, Function]
    sorts: tuple[str, ...]
    unread: tuple[str, ...]
    """Names of declarations that are outside the subset."""
    namespaces: tuple[str, ...] = ()
    """Those that something is declared in; names may be written without them."""

    def constructors(self) -> dict[str, tuple[Datatype, Constructor]]:
        """Full constructor name -> its type and itself."""
        return {item.name: (kind, item) for kind in self.datatypes.values() for item in kind.constructors}

    def has_integers(self) -> bool:
        """Whether numbers are integers here: a problem has either these or natural numbers."""
        kinds = [kind for item in self.functions.values() for kind in (*item.args, item.result)]
        kinds += [arg for kind in self.datatypes.values() for item in kind.constructors for arg in item.args]
        return any("Int" in constants(kind) for kind in kinds)

    def signatures(self) -> dict[str, Signature]:
        """Types of all constants, built-in operations included."""
        found = dict(OPERATIONS)
        for kind in self.datatypes.values():
            whole = Term(kind.name, tuple(Term(name, (), True) for name in kind.params))
            for item in kind.constructors:
                found[item.name] = Signature(kind.params, item.args, whole)
        for function in self.functions.values():
            found[function.name] = Signature(function.params, function.args, function.result)
        return found


_A = Term("α", (), True)
_NAT, _BOOL, _LIST = Term("Nat"), Term("Bool"), Term("List", (_A,))
BUILT_IN = {
    "Bool": Datatype("Bool", (), (Constructor("true", ()), Constructor("false", ()))),
    "Nat": Datatype("Nat", (), (Constructor("Nat.zero", ()), Constructor("Nat.succ", (_NAT,)))),
    "List": Datatype("List", ("α",), (Constructor("List.nil", ()), Constructor("List.cons", (_A, _LIST)))),
}
OPERATIONS = {
    "+": Signature((), (_NAT, _NAT), _NAT),
    "-": Signature((), (_NAT, _NAT), _NAT),
    "*": Signature((), (_NAT, _NAT), _NAT),
    "++": Signature(("α",), (_LIST, _LIST), _LIST),
    "Bool.and": Signature((), (_BOOL, _BOOL), _BOOL),
    "Bool.or": Signature((), (_BOOL, _BOOL), _BOOL),
    "Bool.not": Signature((), (_BOOL,), _BOOL),
}
