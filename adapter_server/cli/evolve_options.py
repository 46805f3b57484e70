"""Words of the command line of `adapter-server evolve`, read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec

from adapter_server.evolver.plan import Amounts, Unit
from bus.errors import BadArguments
from scenarios.lean.task_splits import Shares


def parse_amounts(words: Sequence[str]) -> Amounts:
    """Amounts from UNIT=AMOUNT.

    Raises:
        BadArguments: another form, or an unknown unit.
    """
    amounts: Amounts = {}
    for word in words:
        unit, _, amount = word.partition("=")
        try:
            amounts[msgspec.convert(unit, Unit)] = float(amount)
        except (msgspec.ValidationError, ValueError):
            units = ", ".join(get_args(Unit))
            raise BadArguments(f"{word!r} is no amount", hint=f"write UNIT=AMOUNT; units are {units}") from None
    return amounts


def parse_shares(word: str) -> Shares:
    """Four numbers with commas.

    Raises:
        BadArguments: another form.
    """
    try:
        search, confirm, guard, sealed = (float(part) for part in word.split(","))
    except ValueError:
        raise BadArguments(f"{word!r} are no shares", hint="four numbers with commas, such as 40,35,10,15") from None
    return Shares(search=search, confirm=confirm, guard=guard, sealed=sealed)


def read_plan(path: Path | None) -> dict[str, Any]:
    """Sizes and levels from a JSON file; `Plan` says which there are.

    Raises:
        BadArguments: it cannot be read.
    """
    if path is None:
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError) as error:
        raise BadArguments(f"cannot read the plan {path}: {error}") from None
