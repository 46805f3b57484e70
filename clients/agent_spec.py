"""Who an agent is, which program plays it and how much it may spend."""

import os
import sys

import msgspec

TACTICIAN = (sys.executable, "-m", "clients.tactician")
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "ADAPTER_DEBUG")


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent may spend; None means no limit. An agent that is over it is stopped."""

    tokens: int | None = None
    """Input and output tokens, as the host counts them."""
    turns: int | None = None
    """Turns of the host: from a prompt until the model stops."""
    seconds: float | None = None
    """From its start."""


class AgentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Who an agent is and where it works; secrets are passed in the environment, never on a command line."""

    name: str
    url: str
    """The agent's own MCP endpoint."""

    token: str
    role: str = ""
    seed: int = 0
    kind: str = "tactician"
    """`codex` or `claude` for a host that is driven; any other kind is `command`, which follows by itself."""

    command: tuple[str, ...] = TACTICIAN
    prompts: dict[str, str] = {}
    """What the adapter version tells the agent: `team`, `role`."""

    skills: dict[str, str] = {}
    """Name → text of each skill of the adapter version."""

    portfolio: tuple[str, ...] = ()
    """Techniques that the adapter version offers to agents that read it; none is its own choice."""

    is_sharing: bool = True
    """Whether it may use others' lemmas; False is for comparisons."""

    is_alone: bool = False
    """Whether its team has no other member."""

    model: str | None = None
    """Without it the host's own choice."""

    reasoning: str | None = None
    """The host's word for how long to think: low, medium, high …"""

    budget: Budget = Budget()


def passed_on() -> dict[str, str]:
    """What an agent gets to see of its launcher's environment."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
