"""Checks that outlived their calls: that they were begun, and what came of them."""

from typing import Literal

import msgspec

from .in_redis import EpisodeStore
from .keys import job_keys

KEPT = 1_000
"""Per episode; the oldest are forgotten."""


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A job as the store remembers it.

    Attributes:
        id: the name that its author was told.
        agent: its author.
        state: running also when the server that ran it is gone.
        answer: what came of it, in the form of whoever ran it.
    """

    id: str
    agent: str
    state: Literal["running", "done", "failed", "cancelled"] = "running"
    answer: str = ""


class JobRecords:
    """What is remembered of jobs for as long as the episode."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store

    async def record_job(self, episode: str, record: JobRecord) -> None:
        """Remember how a job stands; one that has ended stays as it ended."""
        args = {"id": record.id, "record": msgspec.json.encode(record).decode(), "kept": KEPT}
        args |= {"is_over": record.state != "running"}
        await self._store.ask("record_job", episode=episode, args=args, extra_keys=job_keys(episode))

    async def job(self, episode: str, id: str) -> JobRecord | None:  # noqa: A002
        """Return a job; None when it was never recorded or is forgotten."""
        (found,) = await self._store.read(episode, ("HGET", "jobs", id))
        return None if found is None else msgspec.json.decode(found, type=JobRecord)
