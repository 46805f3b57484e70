"""Two ways to the judge: the MCP tools of a daemon, and the lemma store itself."""

from typing import Any

from bus.errors import AdapterError
from lemma_store.store import LemmaStore
from tests.adapter_server.conftest import Agent, Reply
from tests.hostile.cases import Found, Refusal


class McpDoor:
    """The public path: the tool `check` as any client calls it."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def check(self, source: str) -> list[Found]:
        facts = _facts(await self._agent.call("check", source=source))
        return [
            Found(
                name=item["name"],
                outcome=item["outcome"],
                lemma=item.get("lemma", ""),
                statement=item.get("statement", ""),
                reasons=tuple(item.get("reasons", ())),
            )
            for item in facts["verdicts"]
        ]

    async def same(self, statement: str) -> set[str]:
        facts = _facts(await self._agent.call("find", statement=statement, mode="same"))
        return {hit["name"] for hit in facts["hits"] if hit["kind"] == "lemma"}


def _facts(reply: Reply) -> dict[str, Any]:
    if reply.is_error:
        raise Refusal(reply.facts["code"])
    return reply.facts


class StoreDoor:
    """The lemma store of this process, whose steps a test can switch off."""

    def __init__(self, store: LemmaStore, episode: str) -> None:
        self._store = store
        self._episode = episode

    async def check(self, source: str) -> list[Found]:
        try:
            report = await self._store.check(self._episode, author="eve", source=source)
        except AdapterError as error:
            raise Refusal(error.code) from error
        return [
            Found(
                name=item.name,
                outcome=item.outcome,
                lemma=item.lemma.name if item.lemma else "",
                statement=item.lemma.statement.pretty if item.lemma else "",
                reasons=item.reasons,
            )
            for item in report.verdicts
        ]

    async def same(self, statement: str) -> set[str]:
        wanted = await self._store.elaborate(self._episode, statement)
        lemmas = await self._store.lemmas(self._episode)
        return {lemma.name for lemma in lemmas if lemma.statement.hash == wanted.hash}
