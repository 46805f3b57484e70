"""Problems as Lean files: definitions, then one theorem whose proof is `sorry`.

The theorem to prove is the last declaration, and its `sorry` the only one: a second would be an axiom in disguise.
What the definitions mean is Lean's business; here only the shape is read.
"""

import re

from bus.errors import BadProblem

from .problem import LeanProblem
from .sexpr import Position, refuse

_THEOREM = re.compile(
    r"^(?P<words>(?:(?:private|protected|@\[[^\]\n]*\])\s+)*)theorem\s+(?P<name>[^\s:({\[⦃]+)", re.MULTILINE
)
_SORRY = re.compile(r"(?<![\w.'!?«])sorry(?![\w'!?»])")
_CLOSED_SCOPES = re.compile(r"(?:\s*^end\b[^\n]*)*\s*\Z", re.MULTILINE)
_OPEN_PROOF = re.compile(r":=\s*(?:by\s+)?sorry" + _CLOSED_SCOPES.pattern, re.MULTILINE)
_IMPORT = re.compile(r"^import\s+(?P<module>\S+)", re.MULTILINE)
_CORE_MODULE = re.compile(r"MiniCore(\..*)?")


def read_lean(text: str, *, name: str) -> LeanProblem:
    """The problem that a Lean file states.

    Raises:
        BadProblem: no theorem, no `sorry`, more than one `sorry`, text after the theorem, or an import.
    """
    source = text.removeprefix("\ufeff").replace("\r\n", "\n")
    code = without_comments(source)
    for found in _IMPORT.finditer(code):
        if not _CORE_MODULE.fullmatch(found["module"]):
            hint = "put what it needs into the file, or name its Lake project with --project"
            raise refuse(f"unsupported: import {found['module']}", _position(code, found.start()), hint=hint)
    theorems = list(_THEOREM.finditer(code))
    hint = "end the file with `theorem NAME : STATEMENT := by sorry`"
    if not theorems:
        raise BadProblem("the file states no theorem", hint=hint)
    target = theorems[-1]
    at = _position(code, target.start())
    if target["words"]:
        raise refuse("the theorem to prove must be a plain `theorem`", at, hint=hint)
    if not _OPEN_PROOF.search(code, target.end()):
        raise refuse(_why_not_open(code, target), at, hint=hint)
    *others, _ = _SORRY.finditer(code)
    if others:
        at = _position(code, others[0].start())
        raise refuse("a second `sorry`: only the last theorem may be open", at, hint="prove it or leave it out")
    return LeanProblem(name=name, source=source.rstrip() + "\n", theorem=target["name"])


def _why_not_open(code: str, target: re.Match[str]) -> str:
    found = _SORRY.search(code, target.end())
    if found is not None and code[found.end() :].strip():
        line = _position(code, found.end() + len(code[found.end() :]) - len(code[found.end() :].lstrip())).line
        return f"text follows the open theorem {target['name']} in line {line}; it has to be the last declaration"
    if _SORRY.search(code) is not None:
        return f"the last theorem, {target['name']}, is not the one with `sorry`"
    return f"the theorem {target['name']} is not open: its proof has no `sorry`"


def _position(code: str, offset: int) -> Position:
    line_start = code.rfind("\n", 0, offset) + 1
    return Position(code.count("\n", 0, offset) + 1, offset - line_start + 1)


def without_comments(source: str) -> str:
    """The text with every comment and string blanked, so that offsets stay.

    Raises:
        BadProblem: a comment never ends.
    """
    pieces: list[str] = []
    offset = 0
    while offset < len(source):
        if source.startswith("--", offset):
            end = source.find("\n", offset) if "\n" in source[offset:] else len(source)
        elif source.startswith("/-", offset):
            end = _comment_end(source, offset)
        elif source[offset] == '"':
            match = re.compile(r'"(?:\\.|[^"\\])*"?', re.DOTALL).match(source, offset)
            end = match.end() if match else offset + 1
        else:
            end = offset + 1
            pieces.append(source[offset])
            offset = end
            continue
        pieces.append(re.sub(r"[^\n]", " ", source[offset:end]))
        offset = end
    return "".join(pieces)


def _comment_end(source: str, start: int) -> int:
    depth = 0
    for match in re.compile(r"/-|-/").finditer(source, start):
        depth += 1 if match[0] == "/-" else -1
        if depth == 0:
            return match.end()
    raise refuse("this comment never ends", _position(source, start))
