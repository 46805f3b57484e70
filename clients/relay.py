"""MCP over standard input and output for hosts without HTTP: every line goes to the adapter's endpoint and back."""

import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, cast

import anyio
import anyio.abc
import anyio.to_thread
import httpx2

CALL_TIMEOUT_S = 120.0
CLOSE_TIMEOUT_S = 2.0
_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_META_VERSION = "io.modelcontextprotocol/protocolVersion"
_UNREACHABLE = -32000

Message = dict[str, Any]


class Relay:
    """One client on this side, one endpoint on the other. Requests run side by side, as the client sent them."""

    def __init__(self, url: str, *, token: str, output: anyio.abc.ByteSendStream) -> None:
        self._url = url
        self._output = output
        self._lock = anyio.Lock()
        self._session: str | None = None
        self._version: str | None = None
        timeout = httpx2.Timeout(CALL_TIMEOUT_S)
        headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
        # the adapter is addressed directly: a proxy must not see the token
        self._http = httpx2.AsyncClient(timeout=timeout, headers=headers, trust_env=False)

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Relay until the client closes its side."""
        async with self._http, anyio.create_task_group() as listening:
            async with anyio.create_task_group() as passing:
                async for line in lines:
                    message = _message(line)
                    if message is None:
                        continue
                    if message.get("method") == "initialize":
                        await self._pass_on(message)
                        listening.start_soon(self._listen)
                    else:
                        passing.start_soon(self._pass_on, message)
                # answers to what was asked last may still be on their way
                passing.cancel_scope.deadline = anyio.current_time() + CLOSE_TIMEOUT_S
            listening.cancel_scope.cancel()
            await self._leave()

    async def _pass_on(self, message: Message) -> None:
        """Send one message, write what comes back. An endpoint that cannot be reached becomes a JSON-RPC error."""
        try:
            async with self._http.stream("POST", self._url, json=message, headers=self._headers(message)) as response:
                self._session = response.headers.get(_SESSION, self._session)
                if response.status_code >= 400 and not _is_json(response):
                    await self._fail(message, f"the adapter answered with status {response.status_code}")
                    return
                async for answer in _messages(response):
                    self._learn(message, answer)
                    await self._write(answer)
        except httpx2.HTTPError as error:
            await self._fail(message, f"the adapter cannot be reached: {type(error).__name__}")

    async def _listen(self) -> None:
        """Notifications of a session; an endpoint without them ends this."""
        try:
            timeout = httpx2.Timeout(CALL_TIMEOUT_S, read=None)
            async with self._http.stream("GET", self._url, headers=self._headers({}), timeout=timeout) as response:
                if response.is_success:
                    async for answer in _messages(response):
                        await self._write(answer)
        except httpx2.HTTPError:
            return

    async def _leave(self) -> None:
        if self._session is None:
            return
        with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True):
            try:
                await self._http.delete(self._url, headers=self._headers({}))
            except httpx2.HTTPError:
                return

    def _headers(self, message: Message) -> dict[str, str]:
        params = _object(message.get("params"))
        version = _object(params.get("_meta")).get(_META_VERSION)
        headers: dict[str, str] = {}
        if version is not None:
            headers = {_VERSION: str(version), "mcp-method": str(message.get("method", ""))}
            if isinstance(name := params.get("name"), str):
                headers["mcp-name"] = name
        elif self._version is not None:
            headers[_VERSION] = self._version
        if self._session is not None:
            headers[_SESSION] = self._session
        return headers

    def _learn(self, asked: Message, answer: Message) -> None:
        if asked.get("method") == "initialize" and answer.get("id") == asked.get("id"):
            version = _object(answer.get("result")).get("protocolVersion")
            self._version = str(version) if version is not None else None

    async def _fail(self, message: Message, reason: str) -> None:
        if "id" in message and "method" in message:
            error = {"code": _UNREACHABLE, "message": reason}
            await self._write({"jsonrpc": "2.0", "id": message["id"], "error": error})

    async def _write(self, message: Message) -> None:
        async with self._lock:
            await self._output.send(json.dumps(message, ensure_ascii=False).encode() + b"\n")


async def relay(url: str, *, token: str) -> None:
    """Relay between this process' standard streams and an endpoint."""
    await Relay(url, token=token, output=_StandardOutput()).run(_standard_input())


class _StandardOutput(anyio.abc.ByteSendStream):
    async def send(self, item: bytes) -> None:
        sys.stdout.buffer.write(item)
        sys.stdout.buffer.flush()

    async def aclose(self) -> None:
        """Leave it open."""


async def _standard_input() -> AsyncGenerator[bytes]:
    while line := await anyio.to_thread.run_sync(sys.stdin.buffer.readline, abandon_on_cancel=True):
        yield line


async def _messages(response: httpx2.Response) -> AsyncGenerator[Message]:
    """JSON-RPC messages of a response, which is one object or a stream of events."""
    if _is_json(response):
        if (message := _message(await response.aread())) is not None:
            yield message
        return
    data: list[str] = []
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            if (message := _message("\n".join(data).encode())) is not None:
                yield message
            data.clear()


def _is_json(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").startswith("application/json")


def _message(line: bytes) -> Message | None:
    try:
        message: object = json.loads(line)
    except ValueError:
        return None
    return cast(Message, message) if isinstance(message, dict) else None


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
