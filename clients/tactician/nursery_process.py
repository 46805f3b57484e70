"""The nursery's process: loads what a tactician needs, then forks one for each order. One thread, no event loop."""

from __future__ import annotations

import ctypes
import gc
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import anyio
import msgspec

from clients.nursery import News, Order

from .__main__ import main as work
from .session import trusted

_ORDER_BYTES = 1 << 20
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class NurseryProcess:
    """Forks until the other end of the socket is closed; the forks then end with this process."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._forks: dict[int, socket.socket] = {}
        """Process id → where its end is told."""
        self._ended, self._wake = os.pipe()
        for end in (self._ended, self._wake):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, _awake)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)

    def serve(self) -> None:
        """Take orders, tell of ends."""
        while True:
            ready, _, _ = select.select([self._orders, self._ended], [], [])
            if self._ended in ready:
                os.read(self._ended, 4096)
                self._collect()
            if self._orders in ready:
                order, given, _, _ = socket.recv_fds(self._orders, _ORDER_BYTES, 3)
                if not order:
                    return
                self._fork(msgspec.json.decode(order, type=Order), *given)

    def _collect(self) -> None:
        while self._forks:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._forks.pop(pid) as news:
                _tell(news, News(pid=pid, exit_code=os.waitstatus_to_exitcode(status)))

    def _fork(self, order: Order, lifeline: int, output: int, news_end: int) -> None:
        news = socket.socket(fileno=news_end)
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            with news:
                _tell(news, News(error=f"no agent could be forked: {error}"))
            pid = -1
        if pid == 0:
            _run_fork(lambda: self._become(order, lifeline, output, news, parent))
        if pid > 0:
            self._forks[pid] = news
        os.close(lifeline)
        os.close(output)

    def _become(self, order: Order, lifeline: int, output: int, news: socket.socket, parent: int) -> int:
        """What a fork does: become the agent that was ordered."""
        os.setsid()
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, int(signal.SIGKILL))
        if os.getppid() != parent:
            return 0
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for given, standard in ((lifeline, 0), (output, 1), (output, 2)):
            os.dup2(given, standard)
        self._orders.close()
        for number in (lifeline, output, self._ended, self._wake):
            os.close(number)
        for sibling in self._forks.values():
            sibling.close()
        os.environ.clear()
        os.environ.update(order.environment)
        with news:
            news.send(msgspec.json.encode(News(pid=os.getpid())))
        return work()


def _run_fork(become: Callable[[], int]) -> NoReturn:
    """Nothing of the nursery's own ending happens in a fork, whatever happens in it."""
    code = 1
    try:
        code = become()
    except BaseException:  # noqa: BLE001 - as an interpreter does at its end
        traceback.print_exc()
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _awake(*_: object) -> None:
    """Nothing; a signal that has a handler also writes to the pipe."""


def _tell(news: socket.socket, told: News) -> None:
    with suppress(OSError):  # nobody waits for it any more
        news.send(msgspec.json.encode(told))


def main() -> None:
    """Serve on the socket that is standard input."""
    orders = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    anyio.run(anyio.sleep, 0)  # loads what a first event loop loads; none is left
    trusted()
    gc.collect()
    gc.freeze()  # a collection in a fork would copy every page that it looks at
    NurseryProcess(orders).serve()


if __name__ == "__main__":
    main()
