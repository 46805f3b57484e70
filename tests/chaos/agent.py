"""An agent of the chaos runs: `python -m tests.chaos.agent URL TOKEN NAME JOURNAL SEED`. It may be killed any time.

It writes down what it begins, calls until it is answered, and writes down the answer. Started again, it repeats what
was not answered, under the same key.
"""

import random
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx2
import msgspec
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from tests.chaos.journal import Entry, Journal, Operation

KINDS = ("say", "say", "claim", "release", "check", "plan")
PAUSE_S = 0.05
AGAIN = {"storage_unavailable", "lean_unavailable", "deadline", "rate_limited", "queue_full", "internal", "undecided"}


class Agent:
    """One life of an agent."""

    def __init__(self, name: str, journal: Journal, seed: int) -> None:
        self._name = name
        self._journal = journal
        self._random = random.Random(seed)
        entries = journal.read()
        self._number = max((entry.operation.number for entry in entries), default=0)
        self._pending = entries[-1].operation if entries and not entries[-1].outcome else None
        self._held: dict[str, int] = {}
        for entry in entries:
            self._note(entry)

    async def live(self, url: str, token: str) -> None:
        """Work until killed, over as many connections as it takes."""
        while True:
            headers = {"Authorization": f"Bearer {token}"}
            try:
                async with (
                    httpx2.AsyncClient(headers=headers, timeout=60) as http,
                    Client(streamable_http_client(url, http_client=http)) as client,
                ):
                    while True:
                        await self._step(client)
            except* (MCPError, httpx2.HTTPError, OSError, TimeoutError, anyio.ClosedResourceError):
                await anyio.sleep(PAUSE_S)

    async def _step(self, client: Client) -> None:
        if self._pending is None:
            self._pending = self._next()
            self._journal.write(Entry(operation=self._pending))
        operation = self._pending
        with anyio.fail_after(50):
            result = await client.call_tool(*call_of(operation, self._name))
        (content,) = result.content
        assert isinstance(content, TextContent)
        facts = msgspec.json.decode(content.text.split("\n")[1])
        outcome = facts["code"] if result.is_error else _outcome(operation, facts)
        if outcome in AGAIN:
            await anyio.sleep(PAUSE_S)
            return
        entry = Entry(
            operation=operation, outcome=outcome, fence=facts.get("fence", 0), node=str(facts.get("node") or "")
        )
        self._journal.write(entry)
        self._note(entry)
        self._pending = None

    def _next(self) -> Operation:
        self._number += 1
        kind = self._random.choice(KINDS)
        word = f"{self._name}_{self._number}"
        if kind == "release" and self._held:
            node = self._random.choice(sorted(self._held))
            return Operation(number=self._number, kind=kind, word=node, fence=self._held[node])
        return Operation(number=self._number, kind="say" if kind == "release" else kind, word=word)

    def _note(self, entry: Entry) -> None:
        if entry.operation.kind == "claim" and entry.outcome == "done" and entry.fence:
            self._held[entry.node] = entry.fence
        if entry.operation.kind == "release" and entry.outcome:
            self._held.pop(entry.operation.word, None)


def call_of(operation: Operation, agent: str) -> tuple[str, dict[str, Any]]:
    """Return tool and arguments of an operation."""
    word = operation.word
    key = {"idempotency_key": f"{agent}-{operation.number}"}
    number = sum(ord(char) * 131**at for at, char in enumerate(word)) % 1_000_000_007
    match operation.kind:
        case "say":
            return "say", {"type": "note", "text": word, **key}
        case "plan":
            return "plan", {
                "action": "add",
                "name": word,
                "statement": f"∀ (n : Nat), n + {number} = {number} + n",
                **key,
            }
        case "check":
            return "check", {"source": f"theorem {word} (n : Nat) : n + {number} = n + {number} := rfl\n", **key}
        case "claim":
            return "claim", {"action": "next", "approach": "by force", **key}
        case _:
            return "claim", {"action": "release", "node": word, "note": str(operation.fence), **key}


def _outcome(operation: Operation, facts: dict[str, Any]) -> str:
    if operation.kind == "check":
        verdicts = facts.get("verdicts") or [{"outcome": "undecided"}]
        return "done" if verdicts[0]["outcome"] == "accepted" else str(verdicts[0]["outcome"])
    return "done"


if __name__ == "__main__":
    address, secret, who, path, number = sys.argv[1:]
    anyio.run(Agent(who, Journal(Path(path)), int(number)).live, address, secret)
