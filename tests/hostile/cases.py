"""The hostile corpus as data, and the rules by which a check of it is judged."""

import re
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import msgspec

CORPUS = Path(__file__).parent / "corpus"
PLACEHOLDER = "@FIRST@"
_SUFFIX = re.compile(r"_[0-9a-f]{6,64}\b")


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One hostile text and its honest twin."""

    number: int = msgspec.field(name="class")
    """Class of the loophole catalogue."""

    name: str
    naive: str
    """Why a naive checker says yes."""

    expect: str
    """What must become of the theorem under attack:

    `unsafe_source` the text is refused as a whole · `rejected`, `undecided` · `not_accepted` either of these ·
    `nothing` no theorem at all · `shown` stored, and printed as what it is: `statement` · `other` whatever is stored
    is no lemma for `asked`
    """

    hostile: str
    twin: str
    theorem: str = "target"
    statement: str = ""
    """With `#` for content suffixes."""

    asked: str = ""
    before: str = ""
    """A text that is checked first; `@FIRST@` stands for the stored name of its last theorem."""

    deep: int = 0
    """How many brackets `@OPEN@` and `@CLOSE@` stand for."""

    @property
    def id(self) -> str:
        return f"{self.number}-{self.name.replace(' ', '-')}"


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict on one theorem, as the door that was used tells it."""

    name: str
    outcome: str
    lemma: str = ""
    statement: str = ""
    reasons: tuple[str, ...] = ()


class Refusal(Exception):
    """The text was refused as a whole."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Door(Protocol):
    """A way to check texts in one episode with the corpus' problem."""

    async def check(self, source: str) -> list[Found]:
        """Raises Refusal."""
        ...

    async def same(self, statement: str) -> set[str]:
        """Names of the lemmas with this statement."""
        ...


def cases() -> list[Case]:
    tables = [tomllib.loads(path.read_text())["case"] for path in sorted(CORPUS.glob("*.toml"))]
    return [msgspec.convert(case, Case) for table in tables for case in table]


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a case: complaints, empty when all is well."""

    hostile: tuple[str, ...]
    twin: tuple[str, ...]


async def run_case(case: Case, door: Door) -> Trial:
    first = ""
    if case.before:
        first = (await door.check(case.before))[-1].lemma
    hostile = await _attack(case, door, case.hostile, first)
    return Trial(hostile=hostile, twin=await _honest(case, door, case.twin, first))


def _filled(text: str, case: Case, first: str) -> str:
    text = text.replace(PLACEHOLDER, first)
    return text.replace("@OPEN@", "(" * case.deep).replace("@CLOSE@", ")" * case.deep)


async def _attack(case: Case, door: Door, text: str, first: str) -> tuple[str, ...]:
    try:
        found = await door.check(_filled(text, case, first))
    except Refusal as refusal:
        return () if case.expect == refusal.code else (f"refused with {refusal.code}",)
    if case.expect == "nothing":
        return tuple(f"{item.name} is {item.outcome}" for item in found)
    name = case.theorem.replace(PLACEHOLDER, first)
    verdicts = [item for item in found if item.name == name]
    if not verdicts and case.expect == "not_accepted":
        return ()
    if len(verdicts) != 1:
        return (f"{len(verdicts)} verdicts on {name}: {found}",)
    return await _RULES.get(case.expect, _outcome)(case, door, verdicts[0])


async def _outcome(case: Case, door: Door, found: Found) -> tuple[str, ...]:
    wanted = ("rejected", "undecided") if case.expect == "not_accepted" else (case.expect,)
    return () if found.outcome in wanted else (f"{found.outcome}: {found.statement} {found.reasons}",)


async def _shown(case: Case, door: Door, found: Found) -> tuple[str, ...]:
    if found.outcome != "accepted":
        return (f"{found.outcome}: {found.reasons}",)
    return () if _SUFFIX.sub("_#", found.statement) == case.statement else (f"shown as {found.statement}",)


async def _other(case: Case, door: Door, found: Found) -> tuple[str, ...]:
    if found.outcome != "accepted":
        return (f"{found.outcome}: {found.reasons}",)
    return (f"passes for {case.asked}",) if found.lemma in await door.same(case.asked) else ()


_RULES: dict[str, Callable[[Case, Door, Found], Awaitable[tuple[str, ...]]]] = {"shown": _shown, "other": _other}


async def _honest(case: Case, door: Door, text: str, first: str) -> tuple[str, ...]:
    try:
        found = await door.check(_filled(text, case, first))
    except Refusal as refusal:
        return (f"refused with {refusal.code}",)
    wrong = [f"{item.name} is {item.outcome}: {item.reasons}" for item in found if item.outcome != "accepted"]
    if not found:
        wrong.append("no verdict")
    if case.asked and case.expect == "other" and not wrong and found[-1].lemma not in await door.same(case.asked):
        wrong.append(f"does not pass for {case.asked}: {found[-1].statement}")
    return tuple(wrong)
