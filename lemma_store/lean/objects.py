"""Lean runtime objects by ctypes: allocation, lists, strings, numbers and the few kernel functions in use.

Every object is marked persistent: it is never freed.
"""

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

_POINTER = ctypes.c_void_p
_SMALL_NUMBER_LIMIT = 1 << 62
_WRITER_BYTES, _GAPS = (8 << 20) + 64, 2
_CLOSURE, _ARRAY = 245, 246
_AXIOMS = "l___private_Lean_Util_CollectAxioms_0__Lean_CollectAxioms_collectAndGet"
_TEXT_AT = 32
_PRIVATE = 2
"""Lean's `OLeanLevel.private`."""

_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "lean_alloc_object": (_POINTER, ctypes.c_size_t),
    "lean_mk_string_from_bytes": (_POINTER, ctypes.c_char_p, ctypes.c_size_t),
    "lean_cstr_to_nat": (_POINTER, ctypes.c_char_p),
    "lean_name_mk_string": (_POINTER, _POINTER, _POINTER),
    "lean_name_mk_numeral": (_POINTER, _POINTER, _POINTER),
    "lean_level_mk_zero": (_POINTER, _POINTER),
    "lean_level_mk_succ": (_POINTER, _POINTER),
    "lean_level_mk_max": (_POINTER, _POINTER, _POINTER),
    "lean_level_mk_imax": (_POINTER, _POINTER, _POINTER),
    "lean_level_mk_param": (_POINTER, _POINTER),
    "lean_expr_mk_bvar": (_POINTER, _POINTER),
    "lean_expr_mk_sort": (_POINTER, _POINTER),
    "lean_expr_mk_const": (_POINTER, _POINTER, _POINTER),
    "lean_expr_mk_app": (_POINTER, _POINTER, _POINTER),
    "lean_expr_mk_lambda": (_POINTER, _POINTER, _POINTER, _POINTER, ctypes.c_uint8),
    "lean_expr_mk_forall": (_POINTER, _POINTER, _POINTER, _POINTER, ctypes.c_uint8),
    "lean_expr_mk_let": (_POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
    "lean_expr_mk_lit": (_POINTER, _POINTER),
    "lean_expr_mk_proj": (_POINTER, _POINTER, _POINTER, _POINTER),
    "lean_expr_eqv": (ctypes.c_uint8, _POINTER, _POINTER),
    "lean_add_decl": (_POINTER, _POINTER, ctypes.c_size_t, ctypes.c_size_t, _POINTER, _POINTER),
    "lean_environment_find": (_POINTER, _POINTER, _POINTER),
    "l_Lean_mkEmptyEnvironment": (_POINTER, ctypes.c_uint32),
    "lean_elab_environment_to_kernel_env": (_POINTER, _POINTER),
    "l_Lean_saveModuleData": (_POINTER, _POINTER, _POINTER, _POINTER),
    "lean_init_search_path": (_POINTER,),
    "l_Lean_importModules": (
        _POINTER,
        _POINTER,
        _POINTER,
        ctypes.c_uint32,
        _POINTER,
        ctypes.c_uint8,
        ctypes.c_uint8,
        ctypes.c_uint8,
        _POINTER,
    ),
    "lean_io_error_to_string": (_POINTER, _POINTER),
    _AXIOMS: (_POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
}


@cache
def load(library: Path) -> ctypes.CDLL:
    """Load and initialise the Lean runtime, once per process.

    Raises:
        OSError: the library cannot be loaded.
    """
    # Siblings first: the library names them as needed, and no search path leads to them.
    for sibling in ("libInit_shared.so", "libleanshared_2.so", "libleanshared_1.so"):
        if (library.parent / sibling).exists():
            ctypes.CDLL(str(library.parent / sibling), ctypes.RTLD_GLOBAL)
    lean = ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    for name, (result, *arguments) in _SIGNATURES.items():
        function = getattr(lean, name)
        function.restype, function.argtypes = result, arguments
    lean.lean_initialize.restype = None
    lean.lean_initialize()
    lean.lean_io_mark_end_initialization.restype = None
    lean.lean_io_mark_end_initialization()
    return lean


# All memory as numbers: cheaper than an object of ctypes for each place.
_counts = (ctypes.c_int32 * (1 << 45)).from_address(0)
_words = (ctypes.c_uint64 * (1 << 44)).from_address(0)


def _field(address: int, index: int) -> int:
    return _words[(address >> 3) + 1 + index]


def _tag(address: int) -> int:
    return address >> 1 if address & 1 else _words[address >> 3] >> 56


def _keep(address: int) -> int:
    # A count of zero marks a persistent object: the runtime neither counts nor frees it.
    if not address & 1 and _counts[address >> 2]:  # a write would copy a page that a fork shares
        _counts[address >> 2] = 0
    return address


def _fill(address: int, words: list[int]) -> None:
    at = address >> 3
    _words[at : at + len(words)] = words


def _name_text(address: int) -> str:
    parts: list[str] = []
    while not address & 1:
        part = _field(address, 1)
        is_text = _tag(address) == 1
        parts.append(ctypes.string_at(part + _TEXT_AT).decode(errors="replace") if is_text else str(part >> 1))
        address = _field(address, 0)
    return ".".join(reversed(parts))


class Objects:
    """Makes and reads objects of one loaded runtime."""

    def __init__(self, library: Path) -> None:
        self._lean = load(library)
        self._make_application = self._lean.lean_expr_mk_app

    def fill_gaps(self) -> None:
        """Take what is free between used memory, and leave it alone.

        Lean's writer of modules fills 8 MiB. In a fork they cost a page each where memory was used before, and next to
        nothing behind it.
        """
        if allocate := getattr(self._lean, "mi_malloc", None):
            for _ in range(_GAPS):
                allocate(ctypes.c_size_t(_WRITER_BYTES))

    def call(self, symbol: str, *arguments: int) -> int:
        """Call a runtime function whose arguments and result are objects; the arguments are ours already."""
        return _keep(getattr(self._lean, symbol)(*arguments))

    def application(self, function: int, argument: int) -> int:
        """Return an application: most of what there is to build."""
        address: int = self._make_application(function, argument)
        _counts[address >> 2] = 0
        return address

    def box(self, number: int) -> int:
        """Return a small number, or a constructor without fields."""
        return (number << 1) | 1

    def number(self, value: int) -> int:
        """Return a natural number of any size."""
        if value < _SMALL_NUMBER_LIMIT:
            return self.box(value)
        return _keep(self._lean.lean_cstr_to_nat(str(value).encode()))

    def constructor(self, tag: int, fields: list[int], scalars: bytes = b"") -> int:
        """Allocate a constructor object."""
        if not fields and not scalars:
            return self.box(tag)
        tail = [int.from_bytes(scalars[at : at + 8], "little") for at in range(0, len(scalars), 8)]
        size = 8 * (1 + len(fields) + len(tail))
        address: int = self._lean.lean_alloc_object(size)
        _words[address >> 3] = size << 32 | len(fields) << 48 | tag << 56
        _fill(address + 8, fields + tail)
        return address

    def sequence(self, items: list[int]) -> int:
        """Return a Lean list."""
        found = self.box(0)
        for item in reversed(items):
            found = self.constructor(1, [item, found])
        return found

    def array(self, items: list[int]) -> int:
        """Return a Lean array of objects."""
        address: int = self._lean.lean_alloc_object(24 + 8 * len(items))
        _words[address >> 3] = _ARRAY << 56
        _fill(address + 8, [len(items), len(items), *items])
        return address

    def string(self, text: str) -> int:
        """Return a Lean string."""
        data = text.encode("utf-8")
        return _keep(self._lean.lean_mk_string_from_bytes(data, len(data)))

    def name_string(self, prefix: int, part: str) -> int:
        """Return the name `prefix.part`."""
        return self.call("lean_name_mk_string", prefix, self.string(part))

    def name_number(self, prefix: int, part: int) -> int:
        """Return the name `prefix.part` with a numeric part."""
        return self.call("lean_name_mk_numeral", prefix, self.number(part))

    def binder(self, name: int, type_: int, body: int, *, is_pi: bool, style: int) -> int:
        """Return a λ or ∀."""
        symbol = self._lean.lean_expr_mk_forall if is_pi else self._lean.lean_expr_mk_lambda
        return _keep(symbol(name, type_, body, style))

    def literal(self, value: int | str) -> int:
        """Return a literal expression."""
        inner = [self.number(value)] if isinstance(value, int) else [self.string(value)]
        return self.call("lean_expr_mk_lit", self.constructor(0 if isinstance(value, int) else 1, inner))

    def empty_environment(self) -> int:
        """Return a kernel environment without any constant."""
        return self.kernel_environment(_keep(self._result(self._lean.l_Lean_mkEmptyEnvironment(0))))

    def import_modules(self, path: str, modules: list[int]) -> int:
        """Return an environment with all constants of `modules`, found on the search path, as Lean maps them.

        Raises:
            OSError: Lean cannot import them.
        """
        os.environ["LEAN_PATH"] = path
        self._result(self._lean.lean_init_search_path())
        imports = self.array([self._import(name) for name in modules])
        options = _POINTER.in_dll(self._lean, "l_Lean_Options_empty").value
        # Kept for good, without the states of extensions, and with what is private in modules.
        found = self._lean.l_Lean_importModules(imports, options, 0, self.array([]), 1, 0, _PRIVATE, self.box(1))
        return _keep(self._result(found))

    def kernel_environment(self, environment: int) -> int:
        """Return what the kernel needs of an environment."""
        return _keep(self._lean.lean_elab_environment_to_kernel_env(environment))

    def no_axioms_seen(self) -> int:
        """Return what `axioms` begins with."""
        return self.constructor(0, [self.box(1), self.box(1)])

    def axioms(self, environment: int, name: int, seen: int) -> tuple[list[str], int]:
        """Return the axioms that a constant rests on, and `seen` with what was found on the way."""
        # Lean also keeps them in modules, but asked for that it finds nothing, and so looks for itself.
        found = _keep(getattr(self._lean, _AXIOMS)(self._always(self._always(self.box(0))), name, environment, seen))
        names = _keep(_field(found, 0))
        return [_name_text(_field(names, 2 + at)) for at in range(_field(names, 0))], _keep(_field(found, 1))

    def _always(self, value: int) -> int:
        """Return a function of one argument whose value is always the same."""
        address: int = self._lean.lean_alloc_object(32)
        _words[address >> 3] = _CLOSURE << 56
        code = ctypes.cast(self._lean.l_Function_const___redArg___boxed, _POINTER).value
        assert code is not None
        _fill(address + 8, [code, 2 | 1 << 16, value])
        return address

    def _import(self, name: int) -> int:
        return self.constructor(0, [name], b"\0\1\0")

    def _result(self, result: int) -> int:
        """Return the value of what a function of Lean's `IO` gives back."""
        value = _field(_keep(result), 0)
        if _tag(result) != 0:
            text: int = self._lean.lean_io_error_to_string(value)
            raise OSError(ctypes.string_at(text + _TEXT_AT).decode(errors="replace"))
        return value

    def add_declaration(self, environment: int, declaration: int) -> tuple[int | None, int]:
        """Ask the kernel; return `(None, new environment)` or `(tag of the exception, old environment)`."""
        # Zero twice: no limit of the kernel's own on steps or depth; the judge's clock and stack bound them.
        result = _keep(self._lean.lean_add_decl(environment, 0, 0, declaration, self.box(0)))
        if _tag(result) == 1:
            return None, _keep(_field(result, 0))
        return _tag(_field(result, 0)), environment

    def find(self, environment: int, name: int) -> int | None:
        """Return the `ConstantInfo` of `name`."""
        found: int = self._lean.lean_environment_find(environment, name)
        return None if found & 1 else _keep(_field(_keep(found), 0))

    def kind_and_type(self, constant: int) -> tuple[int, int]:
        """Return the kind tag and the type of a `ConstantInfo`."""
        return _tag(constant), _field(_field(_field(constant, 0), 0), 2)

    def same_expr(self, left: int, right: int) -> bool:
        """Return whether the kernel holds two expressions for equal, binder names aside."""
        return bool(self._lean.lean_expr_eqv(left, right))

    def save_module(self, path: Path, imports: list[int], names: list[int], constants: list[int]) -> None:
        """Write a module with these imports and constants and nothing else.

        Raises:
            OSError: Lean could not write the file.
        """
        entries = [self._import(name) for name in imports]
        fields = [self.array(entries), self.array(names), self.array(constants), self.array([]), self.array([])]
        module = self.constructor(0, fields, b"\0")
        result = self._lean.l_Lean_saveModuleData(
            self.string(str(path)), self.call("lean_name_mk_string", 1, self.string("L")), module
        )
        if _tag(_keep(result)) != 0:
            raise OSError(f"Lean could not write {path.name}")
