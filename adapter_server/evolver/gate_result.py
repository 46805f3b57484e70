"""What a gate says: passed or not, why, and the facts that it went by."""

from typing import Any

import msgspec


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """The word of one gate.

    Attributes:
        gate: its name, such as `G1`.
        is_passed: whether the next gate may be asked.
        reasons: why not, one line each; empty when passed.
        facts: numbers behind it, for records and reports.
    """

    gate: str
    is_passed: bool
    reasons: list[str] = []
    facts: dict[str, Any] = {}


def verdict(gate: str, reasons: list[str], **facts: object) -> GateResult:
    """A gate that passes when there is no reason against it."""
    return GateResult(gate=gate, is_passed=not reasons, reasons=reasons, facts=facts)
