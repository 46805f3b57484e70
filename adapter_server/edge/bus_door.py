"""The WebSocket door of `/bus`: operators' programs only, by the token in the data folder."""

import hmac

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from bus.hub import ConnectionClosed, Hub

POLICY_VIOLATION = 1008
GOING_AWAY = 1001


class BusDoor:
    """An ASGI application for WebSocket connections."""

    def __init__(self, hub: Hub, *, operator_token: str) -> None:
        self._hub = hub
        self._expected = f"Bearer {operator_token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        given = socket.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), self._expected):
            await socket.close(POLICY_VIOLATION)
            return
        await socket.accept()
        await self._hub.serve(_Connection(socket))


class _Connection:
    """A starlette WebSocket as the hub wants it."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def receive(self) -> bytes | str:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise ConnectionClosed
        text: str | None = message.get("text")
        return text if text is not None else message["bytes"]

    async def send(self, data: bytes, /) -> None:
        try:
            await self._socket.send_text(data.decode())
        except (WebSocketDisconnect, RuntimeError, OSError) as error:
            raise ConnectionClosed from error
