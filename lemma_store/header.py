"""The header of a Lean file: which modules it imports."""

import re

from bus.errors import BadProblem

_COMMENT = re.compile(r"/-.*?-/|--[^\n]*", re.DOTALL)
_LINE = re.compile(r"\s*(?:(?P<prelude>prelude)|import[ \t]+(?P<module>\S+)|(?P<parts>module|public|meta))(?=\s|\Z)")
_CORE = "Init"
"""What a file without `prelude` imports unasked."""


def without_comments(text: str) -> str:
    """Return the text with comments blanked, so that offsets and lines stay."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def cut_header(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text with its header blanked, so that lines keep their numbers, and what the header imports.

    Raises:
        BadProblem: the file is one of Lean's module system.
    """
    code = without_comments(text)
    end, modules, is_prelude = 0, list[str](), False
    while found := _LINE.match(code, end):
        if found["parts"]:
            hint = "leave `module` and `public` out of its header"
            raise BadProblem("the file is one of Lean's module system, which is not supported", hint=hint)
        end, is_prelude = found.end(), is_prelude or bool(found["prelude"])
        modules += [found["module"]] if found["module"] else []
    blank = re.sub(r"\S", " ", code[:end])
    return blank + text[end:], tuple(dict.fromkeys(modules if is_prelude else [_CORE, *modules]))
