"""Arguments of every tool: the only place where what agents send is validated.

The words that agents read about them (descriptions, defaults, limits) belong to the adapter version, not to the types.
"""

from typing import Literal

import msgspec


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all tool arguments: a name that no tool knows is an error, never ignored."""


class Repeatable(Arguments, frozen=True, kw_only=True):
    """Arguments of a tool that changes something: a repeated call may be recognised by its key."""

    idempotency_key: str | None = None


class DigestArguments(Arguments, frozen=True, kw_only=True):
    """`digest`: what matters now for the caller."""

    budget_tokens: int | None = None
    focus: str | None = None


class WaitArguments(Arguments, frozen=True, kw_only=True):
    """`wait`: until something of these kinds happens."""

    for_: list[Literal["mail", "lemma", "node", "lease", "job", "assembled", "any"]] = msgspec.field(
        name="for", default_factory=lambda: ["any"]
    )
    ref: str | None = None
    timeout_s: float | None = None


class Child(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part to create: its hypothesis name in the glue and its statement."""

    name: str
    statement: str


class PlanArguments(Repeatable, frozen=True, kw_only=True):
    """`plan`: change or show the graph of parts."""

    action: Literal["add", "split", "alt", "link", "revise", "show"]
    name: str | None = None
    statement: str | None = None
    node: str | None = None
    parent: str | None = None
    children: list[Child | str] = []
    glue: str | None = None
    text: str | None = None


class ClaimArguments(Repeatable, frozen=True, kw_only=True):
    """`claim`: take, renew or give back the lease of a node."""

    action: Literal["next", "take", "renew", "release", "handoff"]
    node: str | None = None
    approach: str | None = None
    ttl_s: int | None = None
    outcome: str | None = None
    note: str | None = None
    to: str | None = None


class CheckArguments(Repeatable, frozen=True, kw_only=True):
    """`check`: have Lean text judged."""

    source: str
    node: str | None = None
    fence: int | None = None
    mode: Literal["full", "statement"] = "full"
    wait_s: float | None = None


class JobArguments(Arguments, frozen=True, kw_only=True):
    """`job`: follow a check that outlived its call."""

    id: str
    wait_s: float | None = None
    cancel: bool = False


class FindArguments(Arguments, frozen=True, kw_only=True):
    """`find`: search what the team has."""

    q: str | None = None
    statement: str | None = None
    goal: str | None = None
    in_: list[Literal["lemmas", "nodes", "messages", "attempts", "refutations"]] = msgspec.field(
        name="in", default_factory=lambda: ["lemmas"]
    )
    mode: Literal["text", "same", "closes", "uses"] | None = None
    limit: int | None = None


class GetArguments(Arguments, frozen=True, kw_only=True):
    """`get`: read one stored thing in slices."""

    id: str
    part: str | None = None
    offset: int = 0
    max_bytes: int | None = None


class RefuteArguments(Repeatable, frozen=True, kw_only=True):
    """`refute`: a statement is false, or doubtful."""

    kind: Literal["proof", "witness", "argument"]
    node: str | None = None
    statement: str | None = None
    lean: str | None = None
    evidence: str | None = None
    repair: str | None = None


class SayArguments(Repeatable, frozen=True, kw_only=True):
    """`say`: a message to the team or to some of it."""

    type: Literal["idea", "plan", "request", "answer", "note", "feedback"]
    text: str
    to: list[str] = []
    ref: str | None = None
    needs_ack: bool = False


class SubmitArguments(Repeatable, frozen=True, kw_only=True):
    """`submit`: the state of the final proof."""

    action: Literal["status", "assemble", "grade"] = "status"


class FeedbackArguments(Repeatable, frozen=True, kw_only=True):
    """`feedback`: what hindered the caller."""

    text: str
    about: str | None = None


CONTRACTS: dict[str, type[Arguments]] = {
    "digest": DigestArguments,
    "wait": WaitArguments,
    "plan": PlanArguments,
    "claim": ClaimArguments,
    "check": CheckArguments,
    "job": JobArguments,
    "find": FindArguments,
    "get": GetArguments,
    "refute": RefuteArguments,
    "say": SayArguments,
    "submit": SubmitArguments,
    "feedback": FeedbackArguments,
}
"""Tool names, append-only; within contract version 1 a parameter may be added as optional, never removed or retyped."""

CONTRACT_VERSION = 1
