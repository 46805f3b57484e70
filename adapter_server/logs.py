"""The one place that decides how log lines look and where they go."""

import logging
import re
import sys
from collections.abc import Callable
from typing import Any, TextIO

import msgspec
import structlog
from structlog.typing import EventDict, WrappedLogger

from .settings import LogFormat, LogLevel

_SECRET_KEY = re.compile(r"token|secret|password|authorization|api_?key|cookie", re.IGNORECASE)
_SECRET_TEXT = re.compile(r"(?i)(bearer\s+)\S+|(\w+://[^\s/@:]*:)[^\s/@]+(?=@)")


def configure_logs(*, level: LogLevel = "info", form: LogFormat = "auto", stream: TextIO | None = None) -> None:
    """Send every log line of this process, those of libraries too, to one stream (stderr by default)."""
    target = stream or sys.stderr
    is_for_people = form == "console" or (form == "auto" and target.isatty())
    before, last = _processors(), _renderers(is_for_people, target.isatty())
    structlog.configure(  # our own lines go straight to the stream: through `logging` they cost twice as much
        processors=[*before, *last],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=target),
        cache_logger_on_first_use=False,
    )
    last = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
    handler = logging.StreamHandler(target)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=before, processors=last))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for library in ("uvicorn.access", "mcp", "websockets", "httpx2"):
        logging.getLogger(library).setLevel(max(logging.WARNING, root.level))


def _processors() -> list[Callable[[WrappedLogger, str, EventDict], Any]]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        without_secrets,
    ]


def _renderers(is_for_people: bool, has_colors: bool, /) -> list[Callable[[WrappedLogger, str, EventDict], Any]]:
    if is_for_people:
        # The richer traceback prints local variables, tokens among them.
        plain = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(colors=has_colors, exception_formatter=plain)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_to_json)]


def _to_json(entry: object, **_ignored: object) -> str:
    return msgspec.json.encode(entry, enc_hook=str).decode()


def without_secrets(_logger: WrappedLogger, _name: str, entry: EventDict) -> EventDict:
    """Blank what is named like a secret, bearer tokens and passwords in URLs; the last guard, not the first."""
    for key, value in entry.items():
        if _SECRET_KEY.search(key):
            entry[key] = "***"
        elif isinstance(value, str):
            entry[key] = hide_secrets(value)
    return entry


def hide_secrets(text: str) -> str:
    """Blank bearer tokens and passwords in URLs."""
    return _SECRET_TEXT.sub(r"\1\2***", text)
