"""The HTTP door of `/mcp/<episode>/<agent>`: who calls."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Protocol

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from adapter_server.tools.caller import Caller
from bus.errors import AdapterError, ServiceError, Unauthorized

from .server import CALLER, McpServer
from .transport import McpTransport

MAY_WAIT = frozenset({"wait", "check", "job", "plan", "refute", "find", "submit"})
"""Tools that may take longer than a moment."""


class Authenticator(Protocol):
    """Tells who calls."""

    async def authenticate(self, *, episode: str, agent: str, token: str) -> Caller:
        """The caller behind address and token, which both must name the same agent.

        Raises:
            Unauthorized: if they do not.
        """
        ...


class McpDoor:
    """An ASGI application for one path pattern."""

    def __init__(self, server: McpServer, authenticator: Authenticator, *, host: str) -> None:
        self._server = server
        self._authenticator = authenticator
        self._transport = McpTransport(server.sdk, host=host, may_wait=MAY_WAIT)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Serve inside the block; its end closes all sessions and streams."""
        async with self._transport.open():
            yield

    def close(self) -> None:
        """Answer what is running, and end the notification streams in order."""
        self._server.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            caller = await self._caller(scope, Headers(scope=scope))
        except AdapterError as error:
            await _refusal(error)(scope, receive, send)
            return
        token = AccessToken(token="", client_id=f"{caller.episode}/{caller.agent}", scopes=[])
        await self._transport({**scope, CALLER: caller, "user": AuthenticatedUser(token)}, receive, send)

    async def _caller(self, scope: Scope, headers: Headers) -> Caller:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            raise Unauthorized("a bearer token is needed")
        path = scope["path_params"]
        return await self._authenticator.authenticate(episode=path["episode"], agent=path["agent"], token=token.strip())


def _refusal(error: AdapterError) -> JSONResponse:
    if isinstance(error, ServiceError):
        return JSONResponse(error.to_fields(), status_code=503, headers={"Retry-After": "1"})
    challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
    return JSONResponse(error.to_fields(), status_code=401, headers=challenge)
