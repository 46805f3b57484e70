"""`python -m clients.tactician`: one agent; everything it needs to know comes from the environment."""

from __future__ import annotations

import logging
import os
import sys
import threading
from pathlib import Path

import anyio
import httpx2
import structlog
from mcp.shared.exceptions import MCPError

from clients.transcript import Transcript

from .agent import Agent
from .desk import Desk
from .portfolio import offered, on_its_own
from .session import connect
from .strategies import strategy_for

LOG = structlog.get_logger()
PATIENCE_S = 60.0
"""How long a server may be away before the agent gives up."""

_BROKEN = (OSError, httpx2.HTTPError, MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)


async def work(environment: dict[str, str]) -> int:
    """Serve until the episode is over; a lost connection is made again."""
    seed = int(environment.get("ADAPTER_SEED", "0"))
    strategy = strategy_for(environment.get("ADAPTER_ROLE", ""), seed=seed)
    is_sharing = environment.get("ADAPTER_SHARING") != "off"
    if environment.get("ADAPTER_ALONE") == "yes" or not is_sharing:
        strategy = on_its_own(strategy)
    strategy = offered(strategy, environment.get("ADAPTER_PORTFOLIO", "").split())
    name = environment.get("ADAPTER_AGENT", "tactician")
    token, path = environment["ADAPTER_TOKEN"], environment.get("ADAPTER_TRANSCRIPT")
    transcript = Transcript(Path(path), secrets=[token]) if path else None
    LOG.info("agent_started", agent=name, strategy=strategy.name, seed=seed)
    agent: Agent | None = None
    desk: Desk | None = None
    lost_at: float | None = None
    pause_s = 0.2
    while True:
        broken: BaseException | None = None
        try:
            async with connect(environment["ADAPTER_URL"], token=token, transcript=transcript) as toolbox:
                if desk is None or agent is None:
                    desk = Desk(toolbox, me=name, is_sharing=is_sharing)
                    agent = Agent(desk, strategy=strategy, seed=seed)
                desk.reconnect(toolbox)
                lost_at, pause_s = None, 0.2
                why = await agent.run()
                LOG.info("agent_finished", agent=name, why=why)
                return 0
        except* _BROKEN as group:
            broken = group.exceptions[0]
        lost_at = lost_at or anyio.current_time()
        LOG.warning("connection_lost", agent=name, error=repr(broken))
        if anyio.current_time() - lost_at > PATIENCE_S:
            return 3
        await anyio.sleep(pause_s)
        pause_s = min(pause_s * 2, 5.0)


def _end_with_launcher() -> None:
    """Wait for the end of standard input, which comes when the launching process is gone."""
    while os.read(0, 4096):
        pass
    os._exit(0)


def main() -> int:
    """Read the environment and work; 2 when it is incomplete."""
    if os.environ.get("ADAPTER_LIFELINE") == "stdin":
        threading.Thread(target=_end_with_launcher, daemon=True).start()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.DEBUG if os.environ.get("ADAPTER_DEBUG") else logging.INFO
        ),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    missing = [name for name in ("ADAPTER_URL", "ADAPTER_TOKEN") if not os.environ.get(name)]
    if missing:
        print(f"tactician: set {' and '.join(missing)}", file=sys.stderr)
        return 2
    return anyio.run(work, dict(os.environ))


if __name__ == "__main__":
    sys.exit(main())
