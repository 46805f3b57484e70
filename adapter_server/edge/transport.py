"""MCP over HTTP in both protocol eras, for one MCP server object. Who calls is decided before."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import MCP_NAME_HEADER
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from .sessions import IDLE_S, KnownSessions

SESSION_HEADER = "mcp-session-id"
_WILDCARD_HOSTS = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to


class McpTransport:
    """An ASGI application for one address.

    Clients of the older protocol keep a session with the server. A session that this process does not know, since the
    server was restarted or the session has expired, is answered without one instead of being refused: the official
    clients do not open a new session by themselves. One that its client has ended is refused.

    Answers are plain JSON, which costs half of what an event stream does but carries nothing before the answer. Clients
    of the newer protocol name the tool in a header and cancel a call by hanging up: where a call may wait, somebody
    watches the connection meanwhile. With `streams` every answer is an event stream.
    """

    def __init__(self, sdk: Server[Any], *, host: str, may_wait: Collection[str] = (), streams: bool = False) -> None:
        self._may_wait = may_wait
        self._sessions = KnownSessions()
        common: Any = {"app": sdk, "security_settings": security_settings(host)}
        plain = not streams
        self._stateful = StreamableHTTPSessionManager(**common, json_response=plain, session_idle_timeout=IDLE_S)
        self._stateless = StreamableHTTPSessionManager(**common, json_response=plain, stateless=True)
        self._watched = StreamableHTTPSessionManager(**common, stateless=True)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Serve inside the block; its end closes all sessions and streams."""
        async with self._stateful.run(), self._stateless.run(), self._watched.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # the HTTP parser leaves the white space after a value, and the SDK compares values
        scope = {**scope, "headers": [(name, value.strip()) for name, value in scope["headers"]]}
        headers = Headers(scope=scope)
        session = headers.get(SESSION_HEADER)
        if headers.get(MCP_NAME_HEADER) in self._may_wait:
            await self._watched.asgi_app(scope, receive, send)
            return
        if session is not None and scope["method"] == "POST" and self._is_lost(session):
            await self._stateless.asgi_app(scope, receive, send)
            return
        await self._stateful.asgi_app(scope, receive, self._remembering(send))
        if session is not None and scope["method"] == "DELETE":
            self._sessions.end(session)

    def _is_lost(self, session: str) -> bool:
        return not self._sessions.use(session) and not self._sessions.has_ended(session)

    def _remembering(self, send: Send) -> Callable[[Message], Awaitable[None]]:
        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                opened = Headers(raw=message["headers"]).get(SESSION_HEADER)
                if opened is not None:
                    self._sessions.remember(opened)
            await send(message)

        return watch


def security_settings(host: str) -> TransportSecuritySettings:
    """Which Host and Origin headers are accepted: the configured host and loopback; any on a wildcard address."""
    if host in _WILDCARD_HOSTS:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = dict.fromkeys(("127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host))
    return TransportSecuritySettings(
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[
            f"{scheme}://{name}{port}" for scheme in ("http", "https") for name in names for port in ("", ":*")
        ],
    )
