"""One judgement in a process of its own, forked from the judge's process and made before it is needed.

The fork has judged nothing and read nothing when it gets its question; it answers once and ends.
"""

import gc
import os
import resource
import signal
import traceback
from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path
from typing import NoReturn

import msgspec

from .judgement import judge_artifact, judge_composition, judge_statement
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

    deadline: float = inf
    received: bytearray
    is_answered: bool = False


def fork_judge(session: Session, *, foreign: Iterable[int]) -> Fork:
    """Make a fork that waits for its question. It closes `foreign`, the parent's other descriptors.

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
        _serve_once(session, question_end, reply_end, foreign=(question, reply, *foreign))
    os.close(question_end)
    os.close(reply_end)
    return Fork(pid=pid, question=question, reply=reply, received=bytearray())


def guarded(ask: Ask, work: Callable[[], Answer]) -> Answer:
    """Return the answer of `work`, or the refusal or limit that ended it as an answer."""
    try:
        return work()
    except Refused as refusal:
        return Answer(id=ask.id, status="refused", reason=refusal.reason)
    except (KernelLimit, OSError, MemoryError, RecursionError) as error:
        return Answer(id=ask.id, status="undecided", reason=str(error) or type(error).__name__)


def _serve_once(session: Session, question: int, reply: int, *, foreign: Iterable[int]) -> NoReturn:
    status = 1
    try:
        die_with_parent(signal.SIGKILL)
        for descriptor in foreign:
            os.close(descriptor)
        gc.disable()
        session.terms.branch()
        _limit_memory()
        found = read_frame(question)
        if found is not None:
            ask, held = msgspec.structs.astuple(_given.decode(found))
            write_all(reply, frame(_answers.encode(guarded(ask, lambda: _judge(session, ask, held)))))
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


def write_all(descriptor: int, data: bytes) -> None:
    """Write `data` to its end."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
