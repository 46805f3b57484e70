"""What is known of a running episode, folded from its events; pure."""

from collections.abc import Iterable

import msgspec

from bus.messages import Event


class SeenNode(msgspec.Struct):
    """A part of the plan."""

    id: str
    name: str
    statement: str
    parent: str | None = None
    is_closed: bool = False
    is_refuted: bool = False
    lemma: str | None = None
    holders: dict[str, str] = {}
    """Agent → approach."""


class SeenLemma(msgspec.Struct, frozen=True):
    """An accepted lemma."""

    id: str
    name: str
    author: str
    statement: str
    uses: tuple[str, ...]


class SeenAgent(msgspec.Struct):
    """A member of the team."""

    name: str
    role: str = ""
    checks: int = 0
    lemmas: int = 0
    reused: int = 0
    """How often others' lemmas used this agent's."""
    doing: str = ""


class RunState:
    """The fold. `take` returns what to tell people, one line each."""

    def __init__(self) -> None:
        self.nodes: dict[str, SeenNode] = {}
        self.lemmas: dict[str, SeenLemma] = {}
        self.agents: dict[str, SeenAgent] = {}
        self.started_ms: int | None = None
        self.seconds = 0.0
        self.status = "open"
        self.reason = ""
        self.witness = ""
        self.checks = 0

    def take(self, event: Event) -> list[str]:
        """Fold one event. A kind or field that is not known changes nothing."""
        if self.started_ms is None:
            self.started_ms = event.at_ms
        self.seconds = max(0.0, (event.at_ms - self.started_ms) / 1000)
        fold = getattr(self, f"_on_{event.kind}", None)
        return list(fold(event, event.body)) if fold is not None else []

    @property
    def is_target_proved(self) -> bool:
        """Whether the first part of the plan, the theorem, is closed."""
        target = next(iter(self.nodes.values()), None)
        return target is not None and target.is_closed

    def children(self, parent: str | None) -> list[SeenNode]:
        """Parts directly below one, oldest first."""
        return [node for node in self.nodes.values() if node.parent == parent]

    def _agent(self, name: str) -> SeenAgent:
        return self.agents.setdefault(name, SeenAgent(name=name))

    def _node_name(self, node: object) -> str:
        seen = self.nodes.get(str(node))
        return seen.name if seen else str(node)

    def _lemma_names(self, ids: Iterable[object]) -> list[str]:
        return [self.lemmas[str(i)].name if str(i) in self.lemmas else str(i) for i in ids]

    def _on_agent_joined(self, event: Event, body: dict[str, object]) -> list[str]:
        agent = self._agent(str(body.get("agent", event.actor)))
        agent.role = str(body.get("role", ""))
        return [f"{agent.name} joins{f' as {agent.role}' if agent.role else ''}"]

    def _on_node_added(self, event: Event, body: dict[str, object]) -> list[str]:
        parent = body.get("parent")
        node = SeenNode(
            id=str(body.get("node", "")),
            name=str(body.get("name", "")),
            statement=str(body.get("statement", "")),
            parent=str(parent) if parent else None,
        )
        self.nodes[node.id] = node
        return [] if len(self.nodes) == 1 else [f"{event.actor} adds {node.name}: {node.statement}"]

    def _on_alternative_added(self, event: Event, body: dict[str, object]) -> list[str]:
        parent, children = str(body.get("parent", "")), body.get("children")
        names: list[str] = []
        for child in _strings(children):
            if child in self.nodes:
                names.append(self.nodes[child].name)
                if self.nodes[child].parent is None and child != parent:
                    self.nodes[child].parent = parent
        return [f"{event.actor} splits {self._node_name(parent)} into {', '.join(names)}"]

    def _on_lease_granted(self, event: Event, body: dict[str, object]) -> list[str]:
        agent, node = str(body.get("agent", event.actor)), str(body.get("node", ""))
        approach = str(body.get("approach") or "")
        if node in self.nodes:
            self.nodes[node].holders = {**self.nodes[node].holders, agent: approach}
        self._agent(agent).doing = self._node_name(node)
        return [f"{agent} claims {self._node_name(node)}{f' ({approach})' if approach else ''}"]

    def _on_lease_released(self, event: Event, body: dict[str, object]) -> list[str]:
        return self._unhold(str(body.get("agent", event.actor)), str(body.get("node", "")), "")

    def _on_lease_expired(self, event: Event, body: dict[str, object]) -> list[str]:
        return self._unhold(str(body.get("agent", event.actor)), str(body.get("node", "")), "loses (time is over)")

    def _on_lease_handed_off(self, event: Event, body: dict[str, object]) -> list[str]:
        node, giver, taker = str(body.get("node", "")), str(body.get("from", event.actor)), str(body.get("to", "?"))
        self._unhold(giver, node, "")
        self._on_lease_granted(event, {**body, "agent": taker})
        return [f"{giver} hands {self._node_name(node)} to {taker}"]

    def _unhold(self, agent: str, node: str, verb: str) -> list[str]:
        if node in self.nodes:
            self.nodes[node].holders = {k: v for k, v in self.nodes[node].holders.items() if k != agent}
        seen = self._agent(agent)
        seen.doing = next((n.name for n in self.nodes.values() if agent in n.holders), "")
        return [f"{agent} {verb} {self._node_name(node)}"] if verb else []

    def _on_check_finished(self, event: Event, body: dict[str, object]) -> list[str]:
        self.checks += 1
        self._agent(str(body.get("agent", event.actor))).checks += 1
        return []

    def _on_lemma_accepted(self, event: Event, body: dict[str, object]) -> list[str]:
        lemma = SeenLemma(
            id=str(body.get("lemma", "")),
            name=str(body.get("name", "")),
            author=str(body.get("author") or event.actor),
            statement=str(body.get("statement", "")),
            uses=_strings(body.get("uses")),
        )
        if lemma.id in self.lemmas:
            return []
        self.lemmas[lemma.id] = lemma
        self._agent(lemma.author).lemmas += 1
        lines = [f"{lemma.author} proves {lemma.name}: {lemma.statement}"]
        for used in lemma.uses:
            source = self.lemmas.get(used)
            if source is not None and source.author != lemma.author:
                self._agent(source.author).reused += 1
                lines.append(f"{lemma.author} reuses {source.name} by {source.author}")
        return lines

    def _on_node_closed(self, _event: Event, body: dict[str, object]) -> list[str]:
        node = self.nodes.get(str(body.get("node", "")))
        if node is None:
            return []
        holders, node.holders = node.holders, {}
        node.is_closed, node.lemma = True, str(body.get("lemma", ""))
        for agent in holders:
            self._unhold(agent, node.id, "")
        return [f"{node.name} is closed by {', '.join(self._lemma_names([node.lemma]))}"]

    def _on_node_refuted(self, event: Event, body: dict[str, object]) -> list[str]:
        node, witness = str(body.get("node", "")), str(body.get("witness") or "")
        if node in self.nodes:
            self.nodes[node].is_refuted = True
        if node == next(iter(self.nodes), None):
            self.witness = witness
        return [f"{event.actor} refutes {self._node_name(node)}{f' at {witness}' if witness else ''}"]

    def _on_message_sent(self, event: Event, body: dict[str, object]) -> list[str]:
        to = ", ".join(_strings(body.get("to"))) or "everyone"
        return [f"{body.get('from', event.actor)} to {to}: {body.get('text', '')}"]

    def _on_episode_closed(self, _event: Event, body: dict[str, object]) -> list[str]:
        self.status, self.reason = str(body.get("status", "closed")), str(body.get("reason") or "")
        return [f"the episode ends: {self.status}{f' ({self.reason})' if self.reason else ''}"]


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        return ()
    items: list[object] = list(value)  # pyright: ignore[reportUnknownArgumentType]
    return tuple(str(item) for item in items)
