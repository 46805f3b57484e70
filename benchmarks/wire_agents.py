"""Agents as cheap as they can be: MCP over raw HTTP/1.1 connections that stay open, one process for many agents.

A process of its own: reads an order as one line of JSON from standard input, prints "ready" when every agent has its
connection (and session, in the older protocol), reads the moment to begin, works, prints what it saw as one line.
With a rate, calls begin by the clock and latencies count from the moment that a call was due; without one, every agent
calls again as soon as it is answered.
"""

import asyncio  # noqa: TID251 - the cheapest there is; the server's processor time is to be measured
import json
import random
import re
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

LEGACY = "2025-11-25"
MODERN = "2026-07-28"
_NODE = re.compile(rb'\\"node\\":\\"(n\d+)\\"')
_CODE = re.compile(rb'"text":"error (\w+):')
_META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}

# what an agent does between two checks, by weight
MIX: Sequence[tuple[str, dict[str, Any], int]] = (
    ("digest", {}, 6),
    ("claim", {}, 6),
    ("say", {"type": "note", "text": "the base case is easy"}, 1),
    ("find", {"q": "length append"}, 3),
    ("get", {"id": "problem"}, 2),
    ("submit", {"action": "status"}, 1),
    ("wait", {"for": ["mail"], "timeout_s": 0}, 1),
)


class WireAgent:
    """One agent: its connection, its calls one after another, its latencies in milliseconds."""

    def __init__(self, url: str, token: str, *, tools: Sequence[str], is_modern: bool, seed: int) -> None:
        self._url = urlsplit(url)
        self._token = token
        self._is_modern = is_modern
        self._session = ""
        self._random = random.Random(seed)
        self._mix = [one for one in MIX if not tools or one[0] in tools]
        self._number = 0
        self._held: str | None = None
        self.took: dict[str, list[float]] = defaultdict(list)
        self.errors: dict[str, int] = defaultdict(int)

    async def connect(self) -> None:
        """Open the connection, and the session where the protocol has one."""
        await self._dial()
        if not self._is_modern:
            params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}}
            head, _ = await self._post(self._request("initialize", params))
            self._session = head["mcp-session-id"]
            await self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await self.call("digest", {})

    async def run(self, *, begins: float, until: float, every_s: float | None) -> None:
        """Call tools until the time is over."""
        due = begins + (self._random.random() * every_s if every_s else 0.0)
        while True:
            now = time.time()
            if every_s and due > now:
                await asyncio.sleep(due - now)
            since = due if every_s else now
            if since >= until:
                return
            name, arguments = self._choice()
            await self.call(name, arguments)
            self.took[name].append((time.time() - since) * 1000)
            due += every_s or 0.0

    async def give_back(self) -> None:
        """Release what is held, so that the next load finds free parts."""
        if self._held is not None:
            await self.call("claim", {"action": "release", "node": self._held})

    async def call(self, tool: str, arguments: dict[str, Any]) -> None:
        """One tool call; a node that it leases is kept in mind, to be released by the next claim."""
        params = {"name": tool, "arguments": arguments}
        _, body = await self._post(self._request("tools/call", params), name=tool)
        if b'"isError":true' in body or b'"result"' not in body:
            code = _CODE.search(body)
            self.errors[f"{tool} {code[1].decode() if code else 'protocol'}"] += 1
        if tool == "claim":
            found = _NODE.search(body) if arguments["action"] == "next" else None
            self._held = found[1].decode() if found else None

    async def _dial(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(self._url.hostname, self._url.port)

    def _choice(self) -> tuple[str, dict[str, Any]]:
        name, arguments, _ = self._random.choices(self._mix, weights=[weight for *_, weight in self._mix])[0]
        if name == "say":
            return name, arguments | {"text": f"note {self._random.random()}"}
        if name != "claim":
            return name, arguments
        if self._held is None:
            return name, {"action": "next", "approach": "induction"}
        return name, {"action": "release", "node": self._held, "outcome": "stuck", "note": "needs a lemma"}

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        if self._is_modern:
            params = params | {"_meta": _META}
        return {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}

    async def _post(self, message: dict[str, Any], *, name: str = "") -> tuple[dict[str, str], bytes]:
        body = json.dumps(message).encode()
        head = (
            f"POST {self._url.path} HTTP/1.1\r\nHost: {self._url.netloc}\r\nAuthorization: Bearer {self._token}\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nMCP-Protocol-Version: {MODERN if self._is_modern else LEGACY}\r\n"
        )
        if self._is_modern:
            head += f"Mcp-Method: {message['method']}\r\nMcp-Name: {name}\r\n"
        if self._session:
            head += f"Mcp-Session-Id: {self._session}\r\n"
        if self._reader.at_eof():  # the server hangs up on who is silent for some seconds
            self._writer.close()
            await self._dial()
        self._writer.write(head.encode() + b"\r\n" + body)
        return await self._answer()

    async def _answer(self) -> tuple[dict[str, str], bytes]:
        status, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        head = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
        body = await (self._chunks() if head.get("transfer-encoding") == "chunked" else self._whole(head))
        assert status.split()[1] in ("200", "202"), (status, body)
        return head, body

    async def _whole(self, head: dict[str, str]) -> bytes:
        return await self._reader.readexactly(int(head.get("content-length", 0)))

    async def _chunks(self) -> bytes:
        parts: list[bytes] = []
        while size := int(await self._reader.readline(), 16):
            parts.append((await self._reader.readexactly(size + 2))[:-2])
        await self._reader.readline()
        return b"".join(parts)


async def work(order: dict[str, Any]) -> dict[str, Any]:
    """Be the agents of the order; see the module."""
    agents = [
        WireAgent(
            one["url"], one["token"], tools=order["tools"], is_modern=order["is_modern"], seed=order["seed"] + number
        )
        for number, one in enumerate(order["agents"])
    ]
    await asyncio.gather(*(agent.connect() for agent in agents))
    print("ready", flush=True)
    begins = float(await asyncio.to_thread(sys.stdin.readline))
    await asyncio.sleep(max(0.0, begins - time.time()))
    until, every_s = begins + order["seconds"], order["every_s"]
    before = time.process_time()
    await asyncio.gather(*(agent.run(begins=begins, until=until, every_s=every_s) for agent in agents))
    used = time.process_time() - before
    await asyncio.gather(*(agent.give_back() for agent in agents))
    took: dict[str, list[float]] = defaultdict(list)
    errors: dict[str, int] = defaultdict(int)
    for agent in agents:
        for name, values in agent.took.items():
            took[name] += values
        for name, count in agent.errors.items():
            errors[name] += count
    return {"took": took, "errors": errors, "processor_s": used}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(work(json.loads(sys.stdin.readline())))))
