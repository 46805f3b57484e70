"""The HTTP door of `/mcp/<episode>/<agent>`: who calls, and which of the two transports answers."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import MCP_NAME_HEADER
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from adapter_server.tools.caller import Caller
from bus.errors import AdapterError, ServiceError, Unauthorized

from .server import CALLER, McpServer
from .sessions import IDLE_S, KnownSessions

SESSION_HEADER = "mcp-session-id"
MAY_WAIT = frozenset({"wait", "check", "job", "plan", "refute", "find", "submit"})
"""Tools that may take longer than a moment."""
_WILDCARD_HOSTS = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to


class Authenticator(Protocol):
    """Tells who calls."""

    async def authenticate(self, *, episode: str, agent: str, token: str) -> Caller:
        """The caller behind address and token, which both must name the same agent.

        Raises:
            Unauthorized: if they do not.
        """
        ...


class McpDoor:
    """An ASGI application for one path pattern.

    Clients of the older protocol keep a session with the server. A session that this process does not know, since the
    server was restarted or the session has expired, is answered without one instead of being refused: the official
    clients do not open a new session by themselves.

    Answers are plain JSON, which costs half of what an event stream does. Clients of the newer protocol name the tool
    in a header and cancel a call by hanging up: where a call may wait, somebody watches the connection meanwhile.
    """

    def __init__(self, server: McpServer, authenticator: Authenticator, *, host: str) -> None:
        self._authenticator = authenticator
        security = security_settings(host)
        self._sessions = KnownSessions()
        common: Any = {"app": server.sdk, "security_settings": security}
        self._stateful = StreamableHTTPSessionManager(**common, json_response=True, session_idle_timeout=IDLE_S)
        self._stateless = StreamableHTTPSessionManager(**common, json_response=True, stateless=True)
        self._watched = StreamableHTTPSessionManager(**common, stateless=True)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Serve inside the block; its end closes all sessions and streams."""
        async with self._stateful.run(), self._stateless.run(), self._watched.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            caller = await self._caller(scope, headers)
        except AdapterError as error:
            await _refusal(error)(scope, receive, send)
            return
        token = AccessToken(token="", client_id=f"{caller.episode}/{caller.agent}", scopes=[])
        scope = {**scope, CALLER: caller, "user": AuthenticatedUser(token)}
        session = headers.get(SESSION_HEADER)
        if headers.get(MCP_NAME_HEADER) in MAY_WAIT:
            await self._watched.asgi_app(scope, receive, send)
            return
        if session is not None and scope["method"] == "POST" and not self._sessions.use(session):
            await self._stateless.asgi_app(scope, receive, send)
            return
        await self._stateful.asgi_app(scope, receive, self._remembering(send))
        if session is not None and scope["method"] == "DELETE":
            self._sessions.forget(session)

    async def _caller(self, scope: Scope, headers: Headers) -> Caller:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            raise Unauthorized("a bearer token is needed")
        path = scope["path_params"]
        return await self._authenticator.authenticate(episode=path["episode"], agent=path["agent"], token=token.strip())

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


def _refusal(error: AdapterError) -> JSONResponse:
    if isinstance(error, ServiceError):
        return JSONResponse(error.to_fields(), status_code=503, headers={"Retry-After": "1"})
    challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
    return JSONResponse(error.to_fields(), status_code=401, headers=challenge)
