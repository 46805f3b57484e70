"""Open theorems in the Lean files of a person: found by name, posed with all that stands above them."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bus.errors import BadProblem

from .lean_file import without_comments
from .problem import LeanProblem
from .problem_files import problem_name, read_text

_COMMAND = re.compile(
    r"^[ \t]*(?:(?:noncomputable\s+)?(?P<scope>namespace|section|mutual|end)\b[ \t]*(?P<name>[^\s]*)"
    r"|(?:(?:private|protected|nonrec|@\[[^\]\n]*\])\s+)*(?:theorem|lemma)\s+(?P<theorem>[^\s:({\[⦃]+))",
    re.MULTILINE,
)
_OPEN = re.compile(r":=\s*(?:by\s+)?sorry(?![\w.'!?»])")
_NEXT = re.compile(
    r"^[ \t]*(?:@\[|(?:private|protected|noncomputable|theorem|lemma|def|abbrev|instance|structure|class|inductive|"
    r"example|namespace|section|end|axiom|opaque|mutual)\b)",
    re.MULTILINE,
)
_PREFIX = re.compile(r"(?:set_option|open|omit|include)\b[^\n]*\bin\s*\Z")
"""What belongs to the command after it, at the end of what stands above that."""

_SHOWN = 10
_BUILT = {".lake", "lake-packages", "build"}


class OpenTheorem(msgspec.Struct, frozen=True, kw_only=True):
    """A theorem whose proof is `sorry`."""

    name: str
    """With its namespaces."""
    path: Path
    start: int
    """Offset in the file's text where what is above ends: comments and prefixes are the theorem's own."""
    end: int
    """Offset in the file's text behind the `sorry`."""


def find_theorem(place: Path, name: str | None) -> LeanProblem:
    """The problem that the open theorem `name`, or the only one, is in a Lean file or in the files of a folder.

    Raises:
        BadProblem: there is no such theorem, it is proved, or there are several.
    """
    files = [place] if place.is_file() else sorted(lean_files(place))
    every = [one for file in files for one in open_theorems(file)]
    found = [one for one in every if name in (None, one.name)]
    found = found or [one for one in every if one.name.endswith(f".{name}")]
    if not found:
        hint = "a theorem can be posed when its proof is `sorry` or `by sorry`"
        raise BadProblem(f"{place} has no open theorem {name or ''}".rstrip(), hint=hint)
    if len(found) > 1:
        places = ", ".join(f"{one.name} ({one.path.name})" for one in found[:_SHOWN])
        hint = "name one with --theorem, in full, or its file"
        raise BadProblem(f"{place} has {len(found)} such open theorems: {places}", hint=hint)
    return posed(found[0])


def posed(theorem: OpenTheorem) -> LeanProblem:
    """The problem that an open theorem is: what stands above it in its file, without what is open, too."""
    text = _text(theorem.path)
    source, at = "", 0
    for other in open_theorems(theorem.path):
        if other.end < theorem.end:
            source, at = source + text[at : other.start], other.end
    source += text[at : theorem.end]
    name = problem_name(theorem.name)
    return LeanProblem(name=name, source=f"{source}\n", theorem=theorem.name, origin=str(theorem.path))


def lean_files(folder: Path) -> Iterator[Path]:
    """The Lean files of a project, without what Lake has fetched or built.

    Raises:
        BadProblem: there is no such folder.
    """
    if not folder.is_dir():
        raise BadProblem(f"{folder} is no folder")
    for path in folder.rglob("*.lean"):
        parts = path.relative_to(folder).parts
        if not any(part in _BUILT or part.startswith(".") for part in parts):
            yield path


def open_theorems(path: Path) -> list[OpenTheorem]:
    """The theorems of a file whose proof is `sorry`, in their order."""
    code = without_comments(_text(path))
    scopes: list[tuple[str, str]] = []
    found: list[OpenTheorem] = []
    for command in _COMMAND.finditer(code):
        if command["scope"] == "end":
            del scopes[len(scopes) - max(1, len(command["name"].split("."))) :]
        elif command["scope"]:
            scopes += [(command["scope"], part) for part in command["name"].split(".")]
        elif (end := _end_of_open_proof(code, command.end())) is not None:
            name = ".".join([*(part for kind, part in scopes if kind == "namespace"), command["theorem"]])
            found.append(OpenTheorem(name=name, path=path, start=_end_above(code[: command.start()]), end=end))
    return found


def _end_above(code: str) -> int:
    """Where a theorem's own comments and prefixes begin, at the end of what stands above its keyword."""
    while (prefix := _PREFIX.search(code, code.rstrip().rfind("\n") + 1)) is not None:
        code = code[: prefix.start()]
    return len(code.rstrip())


def _end_of_open_proof(code: str, start: int) -> int | None:
    after = _NEXT.search(code, start)
    proof = _OPEN.search(code, start, after.start() if after else len(code))
    return proof.end() if proof else None


def _text(path: Path) -> str:
    return read_text(path).removeprefix("\ufeff").replace("\r\n", "\n")
