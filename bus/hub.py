"""The server's end of the bus: answers calls and feeds subscribers on connections that somebody else accepts.

The caller was authenticated before its connection comes here.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol

import anyio
import anyio.abc
import msgspec
import structlog

from .errors import AdapterError, BadArguments, BadMessage, Internal, QueueFull, TooLarge, UnknownId, UnknownMethod
from .jsonrpc import Notification, Request, decode, decode_params, encode_refusal, encode_reply, readable_id
from .messages import EventsSubscribe, EventsUnsubscribe, Subscribed
from .subscriptions import Feed, Subscription
from .tasks import background_tasks

log = structlog.get_logger(__name__)

CALLS_CAP = 64
SUBSCRIPTIONS_CAP = 64
SEND_TIMEOUT_S = 10.0


class ConnectionClosed(Exception):
    """The other side has gone; what was sent last may not have arrived."""


class Connection(Protocol):
    """One accepted connection that carries whole messages."""

    async def receive(self) -> bytes | str:
        """Wait for the next message.

        Raises:
            ConnectionClosed: there will be none.
        """
        ...

    async def send(self, data: bytes, /) -> None:
        """Send one message; never called twice at the same time.

        Raises:
            ConnectionClosed: nobody is there to read it.
        """
        ...


class Method(NamedTuple):
    """What a method takes, and what does it."""

    params: type[msgspec.Struct]
    handler: Callable[[Any], Awaitable[msgspec.Struct]]


class Hub:
    """Serves the same methods and the same feed on any number of connections."""

    def __init__(self, methods: Mapping[str, Method], feed: Feed, *, send_timeout_s: float = SEND_TIMEOUT_S) -> None:
        self._methods = methods
        self._feed = feed
        self._send_timeout_s = send_timeout_s

    async def serve(self, connection: Connection, /) -> None:
        """Answer until the other side goes away or stops reading. The caller closes the connection then.

        Calls run at the same time and are answered as they finish. Those that still run at the end are cancelled.
        """
        async with background_tasks() as tasks:
            writer = _Writer(connection, tasks.cancel_scope, timeout_s=self._send_timeout_s)
            session = _Session(connection, writer, methods=self._methods, feed=self._feed, tasks=tasks)
            await session.run()


class _Writer:
    """Writes one message after the other, and ends the session when the other side is gone or does not read."""

    def __init__(self, connection: Connection, session: anyio.CancelScope, *, timeout_s: float) -> None:
        self._connection = connection
        self._session = session
        self._timeout_s = timeout_s
        self._turn = anyio.Lock()

    async def send(self, data: bytes) -> None:
        try:
            async with self._turn:
                with anyio.fail_after(self._timeout_s):
                    await self._connection.send(data)
        except ConnectionClosed:
            self._session.cancel()
        except TimeoutError:
            log.warning("connection_stalled", timeout_s=self._timeout_s)
            self._session.cancel()


class _Session:
    """One connection's calls and subscriptions."""

    def __init__(
        self,
        connection: Connection,
        writer: _Writer,
        *,
        methods: Mapping[str, Method],
        feed: Feed,
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        self._connection = connection
        self._send = writer.send
        self._methods = methods
        self._feed = feed
        self._tasks = tasks
        self._calls = 0
        self._subscriptions: dict[str, Subscription] = {}

    async def run(self) -> None:
        while True:
            try:
                data = await self._connection.receive()
            except ConnectionClosed:
                return
            await self._accept(data)

    async def _accept(self, data: bytes | str) -> None:
        """Start what a message asks for; answers to calls that we never make are ignored, and so are notifications."""
        try:
            message = decode(data)
        except (BadMessage, TooLarge) as error:
            await self._send(encode_refusal(readable_id(data), error=error))
            return
        if isinstance(message, Notification):
            log.debug("notification_ignored", method=message.method)
        elif isinstance(message, Request):
            if self._calls >= CALLS_CAP:
                error = QueueFull(f"{CALLS_CAP} calls of this connection are running", hint="wait for one of them")
                await self._send(encode_refusal(message.id, error=error))
                return
            self._calls += 1
            self._tasks.start_soon(self._answer, message)

    async def _answer(self, request: Request) -> None:
        subscription: Subscription | None = None
        try:
            if request.method == "events.subscribe":
                subscription = await self._subscribe(decode_params(request.params, EventsSubscribe))
                result = Subscribed(subscription=subscription.name)
            else:
                result = await self._call(request)
            answer = encode_reply(request.id, result=result)
        except AdapterError as error:
            answer = encode_refusal(request.id, error=error)
        except Exception:  # the top of the dispatcher: a defect ends one call, not the connection
            trace = secrets.token_hex(8)
            log.exception("call_failed", method=request.method, trace=trace)
            answer = encode_refusal(request.id, error=_defect(trace))
        finally:
            self._calls -= 1
        await self._send(answer)
        if subscription is not None:
            await self._feed_subscriber(subscription)

    async def _call(self, request: Request) -> msgspec.Struct:
        if request.method == "events.unsubscribe":
            return self._unsubscribe(decode_params(request.params, EventsUnsubscribe))
        if (method := self._methods.get(request.method)) is None:
            known = sorted([*self._methods, "events.subscribe", "events.unsubscribe"])
            raise UnknownMethod(f"there is no method {request.method!r}", hint=f"use one of {', '.join(known)}")
        params_type, handler = method
        return await handler(decode_params(request.params, params_type))

    async def _subscribe(self, params: EventsSubscribe) -> Subscription:
        name = params.subscription or secrets.token_hex(8)
        if name in self._subscriptions:
            raise BadArguments(f"this connection has a subscription {name!r} already")
        if len(self._subscriptions) >= SUBSCRIPTIONS_CAP:
            raise QueueFull(f"a connection has at most {SUBSCRIPTIONS_CAP} subscriptions", hint="end one of them")
        subscription = Subscription(name=name, episode=params.episode, from_seq=params.from_seq)
        self._subscriptions[name] = subscription
        try:
            await subscription.open(self._feed)
        except BaseException:
            del self._subscriptions[name]
            raise
        return subscription

    def _unsubscribe(self, params: EventsUnsubscribe) -> Subscribed:
        if (subscription := self._subscriptions.get(params.subscription)) is None:
            raise UnknownId("no such subscription on this connection", nearest=sorted(self._subscriptions)[:3])
        subscription.cancel()
        return Subscribed(subscription=params.subscription)

    async def _feed_subscriber(self, subscription: Subscription) -> None:
        try:
            await subscription.run(self._send)
        except Exception:
            log.exception("subscription_failed", subscription=subscription.name)
            self._tasks.cancel_scope.cancel()
        finally:
            del self._subscriptions[subscription.name]


def _defect(trace: str) -> Internal:
    """Make the error that a caller gets for a defect: it shows nothing of the inside."""
    return Internal(
        "the server failed because of a defect of its own", hint="the server's log has the trace", trace=trace
    )
