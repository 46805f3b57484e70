"""One judgement in a process of its own, forked from the judge's process and made before it is needed.

The fork has judged nothing and read nothing when it gets its question; it answers once and ends.
"""

import gc
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path
from typing import NoReturn

import msgspec

from .judgement import judge_artifact, judge_composition, judge_statement
from .lean.footprint import take_copies, written_pages
from .lean.jobs import frame, read_frame
from .lean.kernel import KernelLimit
from .lean.libc import die_with_parent
from .refusals import Refused
from .session import Session
from .shelf import Held
from .tasks import Answer, Artifact, Ask, Composition, Question

_FORK_BYTES = 3 << 30
"""What one judgement may allocate on top of what its parent holds."""


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What a fork is given."""

    ask: Ask
    held: list[Held]
    """What its parent has held since it was made."""

    is_studied: bool
    """Whether to say after the answer which pages of memory were written."""


_given = msgspec.msgpack.Decoder(Given)
_answers = msgspec.msgpack.Encoder()


class Fork(msgspec.Struct, kw_only=True):
    """The parent's view of a fork."""

    pid: int
    question: int
    """Descriptor that takes the question."""

    reply: int
    """Descriptor that the answer comes from."""

    ask: Ask | None = None
    unheard: list[Held] = []
    """What its parent has held since it was made."""

    is_studied: bool
    deadline: float = inf
    received: bytearray
    is_answered: bool = False


def fork_judge(session: Session, *, foreign: Iterable[int], runs: Iterable[tuple[int, int]], is_studied: bool) -> Fork:
    """Make a fork that waits for its question. It closes `foreign`, the parent's other descriptors.

    Before that it takes copies of its own of `runs` of memory, which it will write.

    Raises:
        OSError: there can be no more processes now.
    """
    question_end, question = os.pipe()
    reply, reply_end = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        for end in (question_end, question, reply, reply_end):
            os.close(end)
        raise
    if pid == 0:
        _serve_once(session, question_end, reply_end, foreign=(question, reply, *foreign), runs=runs)
    os.close(question_end)
    os.close(reply_end)
    return Fork(pid=pid, question=question, reply=reply, received=bytearray(), is_studied=is_studied)


def give(fork: Fork, ask: Ask) -> None:
    """Give a fork its question.

    Raises:
        OSError: it is gone.
    """
    fork.ask, fork.deadline = ask, time.monotonic() + ask.limit_ms / 1000
    # Other questions write less.
    fork.is_studied = fork.is_studied and isinstance(ask.task, Artifact)
    given = Given(ask=ask, held=fork.unheard, is_studied=fork.is_studied)
    _write_all(fork.question, frame(_answers.encode(given)))
    close_question(fork)


def close_question(fork: Fork) -> None:
    """Ask a fork nothing more; one that was asked nothing ends."""
    os.close(fork.question)
    fork.question = -1


def guarded(ask: Ask, work: Callable[[], Answer]) -> Answer:
    """Return the answer of `work`, or the refusal or limit that ended it as an answer."""
    try:
        return work()
    except Refused as refusal:
        return Answer(id=ask.id, status="refused", reason=refusal.reason)
    except (KernelLimit, OSError, MemoryError, RecursionError) as error:
        return Answer(id=ask.id, status="undecided", reason=str(error) or type(error).__name__)


def _serve_once(
    session: Session, question: int, reply: int, *, foreign: Iterable[int], runs: Iterable[tuple[int, int]]
) -> NoReturn:
    status = 1
    try:
        die_with_parent(signal.SIGKILL)
        for descriptor in foreign:
            os.close(descriptor)
        gc.disable()
        session.terms.branch()
        _limit_memory()
        take_copies(runs)
        found = read_frame(question)
        if found is not None:
            given = _given.decode(found)
            answer = guarded(given.ask, lambda: _judge(session, given.ask, given.held))
            _write_all(reply, frame(_answers.encode(answer)))
            if given.is_studied:
                _write_all(reply, frame(written_pages()))
        status = 0
    except BaseException:  # noqa: BLE001 - a fork must not go on with its parent's work, whatever happens
        traceback.print_exc()
    finally:
        os._exit(status)


def _judge(session: Session, ask: Ask, held: Iterable[Held]) -> Answer:
    for unit in held:
        session.hold(unit)
    task = ask.task
    if isinstance(task, Artifact):
        judged = judge_artifact(session, task)
    elif isinstance(task, Question):
        judged = [judge_statement(session, task)]
    else:
        assert isinstance(task, Composition)
        judged = [judge_composition(session, task)]
    return Answer(id=ask.id, status="done", judged=judged, declarations=session.kernel.accepted)


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (min(pages * resource.getpagesize() + _FORK_BYTES, hard), hard))


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
