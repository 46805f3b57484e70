"""The record of an episode that was run to learn something: what a suite writes and an evolver reads."""

from typing import Literal

import msgspec

Purpose = Literal["search", "screen", "gate", "confirm", "guard", "sealed", "user", "aa"]
Outcome = Literal["solved", "refuted", "unsolved", "invalid", "censored"]
"""invalid: the machinery failed, nothing is known. censored: stopped before its limits were used up."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A problem that episodes can be run on.

    Attributes:
        id: unique within a suite, such as `prod/prop_10`.
        family: what it belongs to, such as `prod`.
        path: the problem's file.
        theorem: which open theorem of the file; empty when the file is one problem.
        statement_hash: what the problem says, whatever it is called; empty when it was not computed.
        expected: what is known to be true of it.
    """

    id: str
    family: str
    path: str
    theorem: str = ""
    statement_hash: str = ""
    expected: Literal["true", "false", "unknown"] = "unknown"


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one episode, equal for both arms of a pair; None is no limit."""

    seconds: float | None = None
    checks: int | None = None
    tokens: int | None = None


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What an episode cost; None is unknown, which is not nothing."""

    seconds: float = 0.0
    lean_cpu_s: float | None = None
    checks: int = 0
    calls: int = 0
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    usd: float | None = None


class EpisodeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One closed episode. Never changed after it is written.

    Attributes:
        episode: its id on the server that ran it.
        task: id of the task.
        bundle: id of the adapter version.
        purpose: why it was run.
        outcome: how it ended, which is no judgement of the version when it is invalid or censored.
        reason: why it ended so, in one line.
        pair: id of the pair that it belongs to.
        arm: which side of the pair.
        order: 0 when it ran before the other arm, 1 when after.
        seed: what the agents' choices depended on.
        team: as given to the launcher, such as `tactician:5`.
        agents: agent → program, version and model.
        mode: what the team was given: everything, or less for comparisons.
        caps: its limits.
        spent: what it cost.
        lean: toolchain and core library.
        snapshot: id of the lemmas that it started with; empty for none.
        started_at: seconds since 1970 by the clock of the machine that ran it.
        lemmas: accepted.
        distinct_lemmas: accepted, each statement once.
        used_lemmas: of them in the final proof.
        subgoals: share of subgoals fixed beforehand that were reached, 0 to 1; None when none were fixed.
        proof_hash: SHA-256 of the final proof; empty without one.
        axioms: of the final proof.
        counters: tool errors, stale tool calls, idle turns, lost leases, duplicate work and the like, by name.
        safety: events that may not rise: forbidden axioms, writes without lease, by name.
        feedback: what agents said hindered them.
        traces: path → SHA-256 of what else is kept.
    """

    episode: str
    task: str
    bundle: str
    purpose: Purpose
    outcome: Outcome
    reason: str = ""
    pair: str = ""
    arm: Literal["champion", "challenger", ""] = ""
    order: int = 0
    seed: int = 0
    team: str = ""
    agents: dict[str, str] = {}
    mode: str = "full"
    caps: Caps = Caps()
    spent: Spent = Spent()
    lean: str = ""
    snapshot: str = ""
    started_at: float = 0.0
    lemmas: int = 0
    distinct_lemmas: int = 0
    used_lemmas: int = 0
    subgoals: float | None = None
    proof_hash: str = ""
    axioms: list[str] = []
    counters: dict[str, float] = {}
    safety: dict[str, int] = {}
    feedback: list[str] = []
    traces: dict[str, str] = {}
