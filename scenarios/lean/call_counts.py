"""What the transcripts of agents say beyond the events: refused calls, tools that are not there, turns without work."""

from collections.abc import Iterable
from pathlib import Path

from clients.transcript import ToolCalled, read_transcript

_NO_SUCH_TOOL = ("unknown_method", "no tool '")
_UNSAFE = "unsafe_source"
_NOTHING_CAME = '"timed_out":true'


def call_counts(transcripts: Iterable[Path]) -> dict[str, float]:
    """Counts by the names that records use; empty when there is no transcript."""
    calls = _calls(transcripts)
    if not calls:
        return {}
    errors = [call.text.lower() for call in calls if call.is_error]
    return {
        "tool_errors": len(errors),
        "stale_calls": sum(any(words in text for words in _NO_SUCH_TOOL) for text in errors),
        "idle_turns": sum(call.tool == "wait" and _NOTHING_CAME in call.text.replace(" ", "") for call in calls),
    }


def safety_counts(transcripts: Iterable[Path]) -> dict[str, int]:
    """Attempts to get around the checks, as the server refused them; empty when there is no transcript."""
    calls = _calls(transcripts)
    refused = sum(call.is_error and f'"code":"{_UNSAFE}"' in call.text.replace(" ", "") for call in calls)
    return {"unsafe_sources": refused} if calls else {}


def _calls(transcripts: Iterable[Path]) -> list[ToolCalled]:
    return [line.entry for file in transcripts for line in read_transcript(file) if isinstance(line.entry, ToolCalled)]
