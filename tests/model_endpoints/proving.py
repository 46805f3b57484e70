"""A script that proves `rev_rev` with a team. It knows proofs, but no ids: those it learns from tool results."""

import re
from collections.abc import Iterator
from typing import Any

from .conversation import Answer, Call, Conversation, Facts, Result, objects

LEMMAS = {
    "append_nil": "∀ {a : Type} (xs : lst a), append xs (@lst.nil a) = xs",
    "append_assoc": "∀ {a : Type} (xs ys zs : lst a), append (append xs ys) zs = append xs (append ys zs)",
    "rev_append": "∀ {a : Type} (xs ys : lst a), rev (append xs ys) = append (rev ys) (rev xs)",
    "rev_rev": "∀ {a : Type} (xs : lst a), rev (rev xs) = xs",
}
NEEDS = {
    "append_nil": (),
    "append_assoc": (),
    "rev_append": ("append_nil", "append_assoc"),
    "rev_rev": ("rev_append",),
}
PROOFS = {
    "append_nil": "intro a xs; induction xs with | nil => rfl | cons x xs ih => simp [append, ih]",
    "append_assoc": "intro a xs ys zs; induction xs with | nil => rfl | cons x xs ih => simp [append, ih]",
    "rev_append": "intro a xs ys; induction xs with | nil => simp [append, rev, {append_nil}]"
    " | cons x xs ih => simp [append, rev, ih, {append_assoc}]",
    "rev_rev": "intro a xs; induction xs with | nil => rfl | cons x xs ih => simp [append, rev, {rev_append}, ih]",
}
PAUSE_S = 5
LEASES = 2


def prove(seen: Conversation) -> Answer:
    """What a member of the team does next."""
    last = seen.last
    if last is None or (last.is_lost and last.tool != "digest"):
        return [Call(tool="digest")]
    if is_over(seen):
        return "The target is proved."
    known = dict(stored(seen))
    parts = held(seen)
    for name, node, fence in parts:
        if all(need in known for need in NEEDS[name]):
            source = f"theorem {name} : {LEMMAS[name]} := by {PROOFS[name].format(**known)}"
            return [Call(tool="check", arguments={"source": source, "node": node, "fence": fence})]
    planned = set(parts_in_plan(seen))
    missing = [lemma for lemma in LEMMAS if lemma not in (*planned, *known, "rev_rev")]
    if missing and any(name == "rev_rev" for name, _, _ in parts):
        arguments = {"action": "add", "name": missing[0], "statement": LEMMAS[missing[0]]}
        return [Call(tool="plan", arguments=arguments)]
    if len(parts) < LEASES and last.tool != "claim":
        return [Call(tool="claim", arguments={"action": "next", "approach": "induction"})]
    return [Call(tool="wait", arguments={"for": ["any"], "timeout_s": PAUSE_S})]


def is_over(seen: Conversation) -> bool:
    """Whether a reply or a word of the launcher says that the target is proved."""
    return any(
        result.facts.get("phase") == "solved"
        or any(event.get("kind") == "episode_closed" for event in objects(result.facts.get("events")))
        or "episode_closed" in result.text.partition("news:")[2]
        for result in seen.results
    )


def stored(seen: Conversation) -> Iterator[tuple[str, str]]:
    """Author's name → stored name of every lemma that was mentioned."""
    for result in seen.results:
        for name in re.findall(r"\b[a-z_]+_[0-9a-f]{6,}\b", result.text):
            author_name = name.rpartition("_")[0]
            if author_name in LEMMAS:
                yield author_name, name


def parts_in_plan(seen: Conversation) -> Iterator[str]:
    """Names of the parts that were added, also by a call whose reply was lost."""
    for result in seen.of("plan"):
        if not result.is_error:
            yield str(result.arguments.get("name"))
    for result in seen.of("digest"):
        for part in objects(result.facts.get("frontier")):
            yield str(part["name"])


def held(seen: Conversation) -> list[tuple[str, str, int]]:
    """Name, node and fence of the parts that this agent works on."""
    parts: dict[str, tuple[str, str, int]] = {}
    for result in seen.results:
        facts = result.facts
        if result.tool == "digest" and not result.is_lost:
            leases = objects(facts.get("leases"))
            parts = {one["node"]: (str(one["name"]), str(one["node"]), int(one["fence"])) for one in leases}
        if result.tool == "claim" and facts.get("node"):
            node = str(facts["node"])
            parts[node] = (str(facts["name"]), node, int(facts["fence"]))
        for node in closed(result, facts):
            parts.pop(str(node), None)
    return list(parts.values())


def closed(result: Result, facts: Facts) -> list[Any]:
    """Nodes that a reply says are closed."""
    found = [node for verdict in objects(facts.get("verdicts")) for node in verdict.get("closes") or ()]
    found += [event.get("node") for event in objects(facts.get("events")) if event.get("kind") == "node_closed"]
    return found + re.findall(r"\b(n\d+)\b[^\n]* (?:is )?closed", result.text)
