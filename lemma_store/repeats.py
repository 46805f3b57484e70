"""The same text again: it is not checked twice at the same time, and not again once Lean has refused it."""

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable

import anyio
import msgspec

from .types import CheckReport

REMEMBERED = 500
REMEMBERED_BYTES = 32_768
"""What Lean says of a text may be long; a longer report is not kept, and its text checked anew."""


class _Flight:
    """A check under way."""

    def __init__(self) -> None:
        self.is_over = anyio.Event()
        self.report: CheckReport | None = None


class Repeats:
    """What is known of texts without Lean, for one episode. Nothing but a lasting refusal is remembered."""

    def __init__(self) -> None:
        self._refused: OrderedDict[bytes, CheckReport] = OrderedDict()
        self._flights: dict[bytes, _Flight] = {}

    async def once(
        self, source: str, imports: tuple[str, ...], run: Callable[[], Awaitable[CheckReport]]
    ) -> CheckReport:
        """The report on a text: a remembered one, that of a check under way, or that of `run`.

        Args:
            source: what an author wrote, to the letter.
            imports: the modules that it imports: library, problem and the lemmas that it mentions.
            run: checks it.

        Raises:
            Exception: what `run` raises. Who waited for a check that did not end runs it.
        """
        text = hashlib.sha256("\0".join((source, *imports)).encode()).digest()
        while (report := self._refused.get(text)) is None and (flight := self._flights.get(text)) is not None:
            await flight.is_over.wait()
            if (report := flight.report) is not None:
                break
        if report is not None:
            return _again(report)
        flight = self._flights[text] = _Flight()
        try:
            report = flight.report = await run()
        finally:
            del self._flights[text]
            flight.is_over.set()
        self._remember(text, report)
        return report

    def _remember(self, text: bytes, report: CheckReport) -> None:
        if report.is_lasting and len(msgspec.json.encode(report)) <= REMEMBERED_BYTES:
            self._refused[text] = report
            if len(self._refused) > REMEMBERED:
                self._refused.popitem(last=False)


def _again(report: CheckReport) -> CheckReport:
    """The report for those who cost nothing and bring nothing new."""
    verdicts = tuple(
        verdict if verdict.lemma is None else msgspec.structs.replace(verdict, is_new=False)
        for verdict in report.verdicts
    )
    return msgspec.structs.replace(report, verdicts=verdicts, is_repeat=True, elaborate_ms=0.0, judge_ms=0.0)
