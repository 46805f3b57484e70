"""What Lean says about a file."""

import msgspec


class LeanMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One diagnostic of Lean, with positions in the file that was elaborated."""

    severity: str
    """`error`, `warning` or `info`."""
    line: int
    """1-based."""
    column: int
    """0-based, in code points."""
    text: str
    kind: str = ""
    """Lean's own tag, for example `hasSorry`; empty when it has none."""
    end_line: int | None = None
    end_column: int | None = None


class _Position(msgspec.Struct, frozen=True):
    line: int
    column: int


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    severity: str
    data: str
    pos: _Position
    end: _Position | None = msgspec.field(name="endPos", default=None)
    kind: str = ""


_decode = msgspec.json.Decoder(_Line).decode


def parse_messages(output: bytes) -> tuple[tuple[LeanMessage, ...], str]:
    """Split what `lean --json` printed into its messages and the text that is none of them (a panic, say)."""
    messages: list[LeanMessage] = []
    rest: list[str] = []
    for line in output.splitlines():
        try:
            messages.append(_message(_decode(line)))
        except msgspec.DecodeError:
            rest.append(line.decode(errors="replace"))
    return tuple(messages), "\n".join(rest)


def _message(line: _Line) -> LeanMessage:
    return LeanMessage(
        severity="info" if line.severity == "information" else line.severity,
        line=line.pos.line,
        column=line.pos.column,
        text=line.data,
        kind="" if line.kind == "[anonymous]" else line.kind,
        end_line=line.end.line if line.end else None,
        end_column=line.end.column if line.end else None,
    )
