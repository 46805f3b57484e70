"""The caller's end of the bus: a WebSocket to a running server."""

import contextlib
import itertools
from collections.abc import AsyncGenerator
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

import anyio
import anyio.abc
import msgspec
import structlog
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from .errors import AdapterError, BadArguments, BadMessage, ConnectionLost, Deadline, TooLarge, Unauthorized
from .inbox import Inbox
from .jsonrpc import (
    ANSWER_CAP_BYTES,
    MESSAGE_CAP_BYTES,
    Notification,
    Refusal,
    Reply,
    decode,
    decode_params,
    decode_result,
    encode_request,
)
from .messages import Event, EventNotice, EventsEnd, EventsGap, EventsSubscribe, EventsUnsubscribe, Subscribed
from .requests import Requests
from .tasks import background_tasks

log = structlog.get_logger(__name__)

T = TypeVar("T", bound=msgspec.Struct)

OPEN_TIMEOUT_S = 10.0
CALL_TIMEOUT_S = 30.0
CLOSE_TIMEOUT_S = 2.0
GAP_PAUSE_S = 0.2


@contextlib.asynccontextmanager
async def connect(url: str, /, *, token: str, timeout_s: float = OPEN_TIMEOUT_S) -> AsyncGenerator["Link"]:
    """Open a link that lives as long as the block. It does not reconnect: who needs that opens a new one.

    Args:
        url: ws://HOST:PORT/bus; http://HOST:PORT means the same.
        token: the operator's token.
        timeout_s: for the connection to stand.

    Raises:
        ConnectionLost: nobody answers there, or not as a bus.
        Unauthorized: the token is not the server's.
        BadArguments: the address is none.
    """
    socket = await _open(url, token, timeout_s)
    async with background_tasks() as tasks:
        link = Link(socket, tasks)
        tasks.start_soon(link.receive_all)
        try:
            yield link
        finally:
            link.lose("the link was closed here")
            with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True):
                await socket.close()


def bus_url(url: str, /) -> str:
    """Turn a server's address into that of its bus."""
    parts = urlsplit(url)
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    path = "/bus" if parts.path in ("", "/") else parts.path
    return urlunsplit((scheme, parts.netloc, path, parts.query, ""))


async def _open(url: str, token: str, timeout_s: float) -> ClientConnection:
    address = bus_url(url)
    try:
        return await open_socket(
            address,
            additional_headers={"Authorization": f"Bearer {token}"},
            compression=None,
            proxy=None,  # proxies of the environment are for the web, not for a server on this machine or network
            max_size=ANSWER_CAP_BYTES,
            open_timeout=timeout_s,
            close_timeout=CLOSE_TIMEOUT_S,
        )
    except InvalidURI as error:
        raise BadArguments(f"{url} is not the address of a server: {error}") from None
    except InvalidStatus as error:
        status = error.response.status_code
        if status in {401, 403}:
            raise Unauthorized(f"the server at {address} does not accept the token") from None
        raise ConnectionLost(f"there is no bus at {address}: the answer was HTTP {status}") from None
    except (OSError, TimeoutError, InvalidHandshake, ConnectionClosed) as error:
        raise ConnectionLost(
            f"no server answers at {address}: {error or 'it took too long'}", hint="start one: adapter-server serve"
        ) from error


class Link:
    """An open link. Any number of tasks may call and subscribe at the same time."""

    def __init__(self, socket: ClientConnection, tasks: anyio.abc.TaskGroup, /) -> None:
        self._socket = socket
        self._tasks = tasks
        self._requests = Requests()
        self._names = itertools.count(1)
        self._inboxes: dict[str, Inbox] = {}
        self._loss: str | None = None

    async def call(
        self, method: str, params: msgspec.Struct, reply: type[T], /, *, timeout_s: float = CALL_TIMEOUT_S
    ) -> T:
        """Call a method and wait for its answer.

        Raises:
            AdapterError: what the server answered with, as its own type.
            Deadline: no answer in time; whether the call had an effect is not known.
            ConnectionLost: no answer will come; whether the call had an effect is not known.
            TooLarge: the parameters do not fit into a message; nothing was sent.
            BadMessage: the answer is of another type.
        """
        if self._loss is not None:
            raise ConnectionLost(self._loss)
        pending = self._requests.begin()
        try:
            data = encode_request(pending.number, method=method, params=params)
            if len(data) > MESSAGE_CAP_BYTES:
                raise TooLarge(f"{method} takes at most {MESSAGE_CAP_BYTES} bytes", cap=MESSAGE_CAP_BYTES)
            with anyio.fail_after(timeout_s):
                await self._socket.send(data)
                await pending.settled.wait()
        except TimeoutError:
            raise Deadline(f"{method} was not answered within {timeout_s:g} s") from None
        except ConnectionClosed as error:
            raise ConnectionLost(f"the connection ended: {error}") from None
        finally:
            self._requests.forget(pending)
        return decode_result(pending.result(), reply)

    async def subscribe(self, episode: str, /, *, from_seq: int = 0) -> AsyncGenerator[Event]:
        """Yield the episode's events after `from_seq`, each once and in order, until no more can come.

        A reader that falls behind gets the events from the server's log again instead of losing them.

        Raises:
            UnknownId: no such episode.
            ConnectionLost: the connection ended; the last event's number is where to go on.
        """
        ending: object = "gap"
        while ending == "gap":
            name = f"s{next(self._names)}"
            params = EventsSubscribe(episode=episode, from_seq=from_seq, subscription=name)
            inbox = self._inboxes[name] = Inbox(last_seq=from_seq)
            try:
                await self.call("events.subscribe", params, Subscribed)
                while (event := await inbox.take()) is not None:
                    from_seq = event.seq
                    yield event
            finally:
                self._leave(name)
            ending = inbox.ending
            if ending == "gap" and from_seq == params.from_seq:  # the feed is broken; it may heal
                await anyio.sleep(GAP_PAUSE_S)
        if isinstance(ending, AdapterError):
            raise ending

    def lose(self, reason: str, /) -> None:
        """Fail everything that waits, and every later call. Only the first reason counts."""
        if self._loss is None:
            self._loss = reason
            self._requests.lose(reason)
            for inbox in self._inboxes.values():
                inbox.end(ConnectionLost(reason))

    async def receive_all(self) -> None:
        """Hand what arrives to whom it is for, until the connection ends; `connect` runs this."""
        reason = "the server closed the connection"
        try:
            async for data in self._socket:
                self._take(data)
        except ConnectionClosed as error:
            reason = f"the connection ended: {error}"
        self.lose(reason)

    def _take(self, data: bytes | str) -> None:
        try:
            message = decode(data, cap_bytes=ANSWER_CAP_BYTES)
            if isinstance(message, Reply | Refusal):
                if not self._requests.settle(message):
                    log.debug("answer_ignored", number=message.id)
            elif isinstance(message, Notification):
                self._notice(message)
        except (BadMessage, BadArguments) as error:
            log.warning("message_ignored", reason=error.message)

    def _notice(self, message: Notification) -> None:
        match message.method:
            case "event":
                notice = decode_params(message.params, EventNotice)
                if (inbox := self._inboxes.get(notice.subscription)) is not None and notice.seq > inbox.last_seq:
                    inbox.put(Event(**{field: getattr(notice, field) for field in Event.__struct_fields__}))
            case "events.gap":
                self._end(decode_params(message.params, EventsGap))
            case "events.end":
                self._end(decode_params(message.params, EventsEnd))
            case _:
                log.debug("notification_ignored", method=message.method)

    def _end(self, ended: EventsGap | EventsEnd) -> None:
        if (inbox := self._inboxes.get(ended.subscription)) is not None:
            inbox.end("gap" if isinstance(ended, EventsGap) else "end")

    def _leave(self, name: str) -> None:
        """Forget a subscription; the server is told in the background, since a reader may stop anywhere."""
        self._inboxes.pop(name)
        if self._loss is None:
            self._tasks.start_soon(self._unsubscribe, name)

    async def _unsubscribe(self, name: str) -> None:
        with contextlib.suppress(AdapterError):  # UnknownId: it has ended on the server already
            await self.call("events.unsubscribe", EventsUnsubscribe(subscription=name), Subscribed)
