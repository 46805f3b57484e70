"""Operations on TIP types: substitution, what occurs in them, their text, and whether their equality can be derived."""

from collections.abc import Iterable, Mapping

from .tip_syntax import DataType, DatatypeDeclaration, FunctionType, Type, TypeVariable

UNKNOWN = "?"
"""Types that inference has yet to find are type variables whose names begin so; no file can bind such a name."""


def substitute(type_: Type, known: Mapping[str, Type]) -> Type:
    """Replace type variables."""
    match type_:
        case TypeVariable(name):
            return known.get(name, type_)
        case DataType(name, args):
            return DataType(name, tuple(substitute(arg, known) for arg in args)) if args else type_
        case FunctionType(params, result):
            return FunctionType(tuple(substitute(p, known) for p in params), substitute(result, known))


def variables(type_: Type) -> tuple[str, ...]:
    """Type variables in order of occurrence, each once."""
    match type_:
        case TypeVariable(name):
            return (name,)
        case DataType(_, args):
            return tuple(dict.fromkeys(name for arg in args for name in variables(arg)))
        case FunctionType(params, result):
            return tuple(dict.fromkeys(name for part in (*params, result) for name in variables(part)))


def type_text(type_: Type) -> str:
    """A type in the file's own notation, for messages."""
    match type_:
        case TypeVariable(name):
            return "_" if name.startswith(UNKNOWN) else name
        case DataType(name, args):
            return f"({name} {' '.join(map(type_text, args))})" if args else name
        case FunctionType(params, result):
            return f"(=> {' '.join(map(type_text, (*params, result)))})"


def derivable(groups: Iterable[tuple[DatatypeDeclaration, ...]]) -> frozenset[str]:
    """Datatypes whose equality Lean can derive: first-order, and recursive only through themselves."""
    good = {"Bool", "Int"}
    for group in groups:
        own = frozenset(declaration.name for declaration in group)
        fields = [f.type for declaration in group for c in declaration.constructors for f in c.fields]
        if all(_is_derivable(type_, own, good) for type_ in fields):
            good |= own
    return frozenset(good)


def _is_derivable(type_: Type, own: frozenset[str], good: set[str]) -> bool:
    match type_:
        case TypeVariable():
            return True
        case DataType(name, args):
            is_nested = name not in own and any(own & set(heads(arg)) for arg in args)
            return not is_nested and name in own | good and all(_is_derivable(arg, own, good) for arg in args)
        case FunctionType():
            return False


def heads(type_: Type) -> tuple[str, ...]:
    """The datatypes and sorts that a type mentions."""
    match type_:
        case TypeVariable():
            return ()
        case DataType(name, args):
            return (name, *(head for arg in args for head in heads(arg)))
        case FunctionType(params, result):
            return tuple(head for part in (*params, result) for head in heads(part))
