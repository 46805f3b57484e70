"""What must hold whatever was killed: judged from the log, the lemma index and the agents' journals."""

from collections import Counter
from pathlib import Path

from blackboard.board import Board
from lemma_store.in_redis import LemmaIndex, connect
from tests.chaos.journal import Journal

PAGE = 1_000


class Promises:
    """Compares what was acknowledged in one episode with what is there; reads only what is new since the last time."""

    def __init__(self, episode: str, journals: dict[str, Path]) -> None:
        self._episode = episode
        self._journals = journals
        self._seq = 0
        self._fences: dict[str, int] = {}
        self.seen: Counter[tuple[str, str]] = Counter()
        """(kind, word) → how often it is in the log or the index."""

        self.acknowledged = 0

    async def judge(self, url: str) -> list[str]:
        """Return every promise that is broken."""
        entries = {agent: Journal(path).read() for agent, path in self._journals.items()}
        async with Board.open(url) as board, connect(url) as redis:
            faults = await self._read_log(board)
            lemmas = Counter(lemma.author_name for lemma in await LemmaIndex(redis).all(self._episode))
            if (broken := await board.verify_chain(self._episode)) is not None:
                faults.append(f"the log's chain is broken at {broken}")
        faults += [f"lemma {name} is there {count} times" for name, count in lemmas.items() if count > 1]
        faults += [f"{kind} {word} happened {count} times" for (kind, word), count in self.seen.items() if count > 1]
        self.acknowledged = 0
        for agent, written in entries.items():
            for entry in written:
                if entry.outcome != "done":
                    continue
                self.acknowledged += 1
                operation = entry.operation
                word = f"{agent} {entry.node} {entry.fence}" if operation.kind == "claim" else operation.word
                word = f"{agent} {operation.word} {operation.fence}" if operation.kind == "release" else word
                if operation.kind == "claim" and not entry.fence:
                    continue  # nothing was free
                if not self.seen[operation.kind, word]:
                    faults.append(f"{operation.kind} {word} was acknowledged and is lost")
                if operation.kind == "check" and not lemmas[operation.word]:
                    faults.append(f"lemma {operation.word} was acknowledged and is lost")
        return faults

    async def _read_log(self, board: Board) -> list[str]:
        faults: list[str] = []
        while events := await board.events(self._episode, self._seq, PAGE):
            for event in events:
                body = event.body
                if event.seq != self._seq + 1:
                    faults.append(f"event {self._seq + 1} is missing")
                self._seq = event.seq
                match event.kind:
                    case "message_sent":
                        self.seen["say", body["text"]] += 1
                    case "node_added":
                        self.seen["plan", body["name"]] += 1
                    case "lemma_accepted":
                        self.seen["check", body["name"].rpartition("_")[0]] += 1
                    case "lease_granted":
                        self.seen["claim", f"{body['agent']} {body['node']} {body['fence']}"] += 1
                        last = self._fences.get(body["node"], 0)
                        if body["fence"] <= last:
                            faults.append(f"{body['node']}: fence {body['fence']} was granted after {last}")
                        self._fences[body["node"]] = max(last, body["fence"])
                    case "lease_released":
                        self.seen["release", f"{body['agent']} {body['node']} {body['fence']}"] += 1
                    case _:
                        pass
        return faults
