"""When an agent is woken, steered or stopped, and why; pure."""

import msgspec

from bus.messages import Event

WAKE_EVERY_S = 60.0
IDLE_S = 30.0


class Wake(msgspec.Struct, frozen=True, kw_only=True):
    """A reason to say something to an agent."""

    reason: str
    """For the record."""
    text: str
    """For the agent."""
    is_urgent: bool = False
    """Whether a working agent is told too; news that can wait reach it with its next tool result."""


class WakePolicy:
    """Collects reasons from the episode's events; gives out at most one wake in `every_s` seconds."""

    def __init__(self, agent: str, *, every_s: float = WAKE_EVERY_S, idle_s: float = IDLE_S) -> None:
        self._agent = agent
        self._every_s = every_s
        self._idle_s = idle_s
        self._wakes: list[Wake] = []
        self._woken_at: float | None = None
        self._idle_since: float | None = None
        self._held: dict[str, str] = {}
        self._open: dict[str, str] = {}
        self.is_over = False
        """Whether the episode has ended."""

    def take(self, event: Event) -> None:
        """Learn what has happened."""
        body = event.body
        node = str(body.get("node", ""))
        match event.kind:
            case "episode_closed":
                self.is_over = True
            case "node_added":
                self._open[node] = str(body.get("name", node))
            case "lease_granted" if body.get("agent", event.actor) == self._agent:
                self._held[node] = self._open.get(node, node)
            case "lease_released" if body.get("agent", event.actor) == self._agent:
                self._held.pop(node, None)
            case "lease_expired" if node in self._held and body.get("agent", event.actor) == self._agent:
                name = self._held.pop(node)
                self._add(f"lease on {node} expired", f"Your lease on {name} has expired. Call digest.")
            case "lease_handed_off" if body.get("to") == self._agent:
                self._held[node] = self._open.get(node, node)
                self._add(
                    f"{node} was handed over", f"{event.actor} has handed {self._held[node]} to you. Call digest."
                )
            case "node_closed":
                self._open.pop(node, None)
                self._closed(event, node)
            case "node_refuted":
                self._open.pop(node, None)
                self._refuted(event, node)
            case "message_sent" if event.actor != self._agent:
                self._received(event)
            case _:
                pass

    def due(self, now: float, *, is_busy: bool) -> Wake | None:
        """What to say now, if anything. `now` is any clock that runs forward."""
        if is_busy:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        if self._woken_at is not None and now - self._woken_at < self._every_s:
            return None
        wake = self._choose(now, is_busy=is_busy)
        if wake is not None:
            self._woken_at = now
        return wake

    def _choose(self, now: float, *, is_busy: bool) -> Wake | None:
        if is_busy:
            urgent = [wake for wake in self._wakes if wake.is_urgent]
            self._wakes = []  # the rest reaches a working agent with its next tool result
            return _merged(urgent)
        if self._wakes:
            wakes, self._wakes = self._wakes, []
            return _merged(wakes)
        if self._open and self._idle_since is not None and now - self._idle_since >= self._idle_s:
            text = "The target is not proved yet and parts are open. Call digest and go on."
            return Wake(reason="idle while parts are open", text=text)
        return None

    def _closed(self, event: Event, node: str) -> None:
        name = self._held.pop(node, None)
        if name is not None and event.actor != self._agent:
            self._add(f"{node} was closed", f"{name}, which you worked on, is proved. Call digest.", is_urgent=True)

    def _refuted(self, event: Event, node: str) -> None:
        name = self._held.pop(node, None)
        if name is not None and event.actor != self._agent:
            text = f"{name}, which you worked on, was shown to be false. Call digest."
            self._add(f"{node} was refuted", text, is_urgent=True)

    def _received(self, event: Event) -> None:
        to = event.body.get("to") or ()
        is_mine = self._agent in to
        if is_mine or (event.body.get("type") == "request" and not to):
            message = event.body.get("message", "")
            self._add(f"message {message} waits", f"{event.actor} has written to you ({message}). Call digest.")

    def _add(self, reason: str, text: str, *, is_urgent: bool = False) -> None:
        self._wakes.append(Wake(reason=reason, text=text, is_urgent=is_urgent))


def _merged(wakes: list[Wake]) -> Wake | None:
    if not wakes:
        return None
    return Wake(
        reason="; ".join(wake.reason for wake in wakes),
        text="\n".join(wake.text for wake in wakes),
        is_urgent=any(wake.is_urgent for wake in wakes),
    )
