"""One call, from raw arguments to the text that the agent reads. Every failure becomes such a text."""

import math
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import anyio
import anyio.abc
import msgspec
import structlog

from adapter_server.reply_files import Replies
from blackboard.board import Board
from blackboard.chain import Link
from blackboard.types import CallToken, DeltaPage
from bus.errors import AdapterError, Deadline, EpisodeClosed, Internal, UnknownMethod
from lemma_store.store import LemmaStore

from .arguments import Repeatable
from .caller import Caller
from .jobs import Jobs
from .news import news_line
from .rates import Rates
from .registry import TOOLS
from .repeats import Repeats, operation_of, repeat_key
from .reply import ToolReply, cut, render_error, render_reply
from .schema import decode_arguments

CALL_DEADLINE_S = 45.0
MIN_LINE_BYTES = 80
LONG_CALL_S = 1.0
"""A caller may have given up on a call that takes longer; asking costs more than a short call is worth."""

log = structlog.get_logger()


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What goes back to the agent."""

    text: str
    is_error: bool = False


class _Head:
    """The end of the log when a call began, as soon as the call knows it."""

    link = Link(seq=0, hash="")


class Dispatcher:
    """Runs tools for callers. `on_change` hears the episode after every call from which something may follow.

    Checks that outlive their calls run in `tasks`; without it every check ends with its call. What is answered is kept
    in `replies`.
    """

    def __init__(
        self,
        *,
        board: Board,
        lemma_store: LemmaStore,
        on_change: Callable[[str], None],
        tasks: anyio.abc.TaskGroup | None = None,
        replies: Replies | None = None,
    ) -> None:
        self._jobs = None if tasks is None else Jobs(tasks, board=board, on_change=on_change)
        self._board = board
        self._lemma_store = lemma_store
        self._on_change = on_change
        self._replies = replies
        self._repeats = Repeats()
        self._rates = Rates()
        self._running: set[anyio.CancelScope] = set()

    def stop(self) -> None:
        """Cut off the calls that run now, long polls above all; each is answered with a retryable error."""
        for scope in self._running:
            scope.cancel()

    async def call(
        self, caller: Caller, tool: str, raw: Mapping[str, Any], *, is_gone: Callable[[], Awaitable[bool]] | None = None
    ) -> Answer:
        """Run one tool. Never raises, except when the call itself is cancelled.

        `is_gone` tells whether the caller has hung up meanwhile: what a long call had to tell it is told again then.
        """
        began, answer, head = anyio.current_time(), None, _Head()
        try:
            answer = await self._answer(caller, tool, raw, is_gone, head)
            if self._replies is not None:
                await self._replies.keep(
                    caller.episode, head.link, agent=caller.agent, tool=tool, ms=_ms_since(began),
                    is_error=answer.is_error, text=answer.text,
                )  # fmt: skip
            return answer
        finally:
            ms, is_error = _ms_since(began), answer is None or answer.is_error
            log.info("tool_called", episode=caller.episode, agent=caller.agent, tool=tool, ms=ms, is_error=is_error)

    async def _answer(
        self,
        caller: Caller,
        tool: str,
        raw: Mapping[str, Any],
        is_gone: Callable[[], Awaitable[bool]] | None,
        head: _Head,
    ) -> Answer:
        cap = caller.policy.reply_bytes
        try:
            with anyio.fail_after(CALL_DEADLINE_S) as scope, self._listed(scope):
                return Answer(text=await self._run(caller, tool, raw, is_gone, head))
            error = Deadline("the server is stopping", hint="Try again in a few seconds.")
            return Answer(text=render_error(error, cap=cap), is_error=True)
        except AdapterError as error:
            return Answer(text=render_error(error, cap=cap), is_error=True)
        except TimeoutError:
            error = Deadline(f"{tool} took longer than {CALL_DEADLINE_S:g} s", hint="Ask for less, or try again.")
            return Answer(text=render_error(error, cap=cap), is_error=True)
        except Exception:
            trace = uuid4().hex[:12]
            log.exception("tool_failed", tool=tool, episode=caller.episode, agent=caller.agent, trace=trace)
            error = Internal("the server has a defect", hint="Go on with something else.", trace=trace)
            return Answer(text=render_error(error, cap=cap), is_error=True)

    @contextmanager
    def _listed(self, scope: anyio.CancelScope) -> Generator[None]:
        self._running.add(scope)
        try:
            yield
        finally:
            self._running.discard(scope)

    async def _run(
        self,
        caller: Caller,
        name: str,
        raw: Mapping[str, Any],
        is_gone: Callable[[], Awaitable[bool]] | None,
        head: _Head,
    ) -> str:
        owner = (caller.episode, caller.agent)
        self._rates.spend(owner, calls_per_s=caller.policy.rates.calls_per_s)
        lease_s = caller.policy.lease_s
        began = anyio.current_time()
        token = await self._board.begin_call(caller.episode, caller.agent, renew_ttl_s=lease_s)
        head.link = Link(seq=token.seq, hash=token.head)
        is_delivered = False
        try:
            caller = msgspec.structs.replace(caller, seen_seq=token.shown)
            reply = await self._reply(caller, name, raw, token)
            page = await self._board.delta_page(token, caller.policy.delta_bytes)
            is_long = anyio.current_time() - began > LONG_CALL_S
            is_delivered = not (is_long and is_gone is not None and await is_gone())
            lines = news(page, reply, size=caller.policy.delta_bytes)
            return render_reply(reply, news=lines, cap=caller.policy.reply_bytes)
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(2):
                await self._board.end_call(token, is_delivered=is_delivered)

    async def _reply(self, caller: Caller, name: str, raw: Mapping[str, Any], token: CallToken) -> ToolReply:
        words = caller.version.tools.get(name)
        tool = TOOLS.get(name)
        if words is None or tool is None:
            raise UnknownMethod(
                f"no tool {name!r}", hint="Use one of the tools listed.", tools=list(caller.version.tools)
            )
        arguments = decode_arguments(name, raw, words)
        is_change = tool.changes(arguments)
        if is_change and token.status != "open" and name != "submit":
            raise EpisodeClosed(
                f"the episode is {token.status}", hint="Stop: nothing more is to do.", status=token.status
            )

        key = arguments.idempotency_key if isinstance(arguments, Repeatable) else None
        op = operation_of(caller.agent, name, key) if is_change and key else None

        async def make() -> ToolReply:
            parts: dict[str, Any] = {"board": self._board, "lemma_store": self._lemma_store}
            if tool.uses_jobs:
                parts["jobs"] = self._jobs
            return await tool.run(arguments, caller=msgspec.structs.replace(caller, op=op), **parts)

        try:
            if not is_change or not (tool.is_repeat_safe or key):
                return await make()
            return await self._repeats.run(
                (caller.episode, caller.agent),
                repeat_key(name, raw, key),
                make,
                window_s=caller.policy.repeat_window_s if key is None else math.inf,
            )
        finally:
            if is_change and tool.is_followed_up:
                self._on_change(caller.episode)


def _ms_since(began: float) -> int:
    return round((anyio.current_time() - began) * 1000)


def news(page: DeltaPage, reply: ToolReply, *, size: int) -> list[str]:
    """The lines of the news block in about `size` bytes, without what the reply's facts contain already."""
    lines = [
        f"{news_line(event)} (again)" if event.seq in page.repeated else news_line(event)
        for event in page.events
        if event.seq not in reply.shown
    ]
    if sum(len(line.encode()) + 1 for line in lines) > size:
        lines = [cut(line, max(size // len(lines) - 1, MIN_LINE_BYTES)) for line in lines]
    return [*lines, f"{page.left_out} more with the next reply"] if page.left_out else lines
