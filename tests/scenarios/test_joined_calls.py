"""A call is recognised on both sides; what only one side saw stays alone."""

import pytest

from scenarios.lean.joined_calls import Seen, joined


def seen(tools: str) -> list[Seen]:
    return [Seen(tool=tool, at_ms=number) for number, tool in enumerate(tools.split())]


@pytest.mark.parametrize(
    ("host", "server", "expected"),
    [
        ("digest claim check", "digest claim check", "digest:both claim:both check:both"),
        ("digest check", "digest claim check", "digest:both claim:server check:both"),
        ("digest claim check", "digest check", "digest:both claim:host check:both"),
        ("digest get find check", "digest find get check", "digest:both get:both find:both check:both"),
        ("", "digest", "digest:server"),
        ("digest", "", "digest:host"),
    ],
)
def test_calls_are_paired_by_order_and_tool(host: str, server: str, expected: str) -> None:
    found = joined("ada", seen(host), seen(server))
    sides = [
        f"{call.tool}:{'both' if call.host and call.server else 'host' if call.host else 'server'}" for call in found
    ]
    assert sorted(sides) == sorted(expected.split())
    assert [call.number for call in found] == list(range(1, len(found) + 1))
