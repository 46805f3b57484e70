"""The store's scripts as one library of functions, loaded once; the store compiles nothing when they are called.

The names carry a hash of all their text, so that servers of different versions can share a store.
"""

from functools import cache
from hashlib import sha1
from pathlib import Path

FUNCTION_MISSING = "Function not found"
"""What the server says when it does not have the library."""

_FOLDER = Path(__file__).parent / "scripts"
_PRELUDE = ("text", "log", "leases", "plan")


@cache
def library() -> bytes:
    """Return the library as FUNCTION LOAD takes it."""
    prelude, scripts = _parts()
    functions = [
        f"redis.register_function('{_named(name)}', function(keys, argv)\nenter(keys, argv)\n{text}\nend)"
        for name, text in scripts.items()
    ]
    return "\n".join([f"#!lua name={_named('adapter')}", prelude, *functions]).encode()


@cache
def function_name(script: str) -> str:
    """Return the name under which the library has a script."""
    return _named(script)


def _named(name: str) -> str:
    return f"{name}_{_version()}"


@cache
def _version() -> str:
    prelude, scripts = _parts()
    return sha1("\n".join([prelude, *scripts.values()]).encode(), usedforsecurity=False).hexdigest()[:12]


@cache
def _parts() -> tuple[str, dict[str, str]]:
    prelude = "\n".join(_read(_FOLDER / "prelude" / f"{part}.lua") for part in _PRELUDE)
    return prelude, {path.stem: _read(path) for path in sorted(_FOLDER.glob("*.lua"))}


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
