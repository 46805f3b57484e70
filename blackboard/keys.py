"""Names of an episode's keys. All share one hash tag, so that an episode lives in one cluster slot."""

import re
from functools import lru_cache

_EPISODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

SHARED = (
    "events",  # stream, the log
    "meta",  # hash: status, head of the chain, counters
    "nodes",  # hash: node -> what never changes about it
    "status",  # hash: node -> status
    "closed_by",  # hash: node -> lemma
    "names",  # hash: name -> node
    "statements",  # hash: statement hash, "any order " and order-free hash -> node
    "open",  # sorted set: open nodes, nearest to the theorem first, then oldest
    "depths",  # hash: node -> steps from the theorem
    "alternatives",  # hash: alternative -> all about it
    "down",  # hash: node -> its alternatives
    "up",  # hash: node -> "alternative:parent" for those that need it
    "missing",  # hash: alternative -> how many children are not closed
    "ready",  # set: alternatives with all children while the parent is open
    "leases",  # hash: "node|agent" -> lease
    "expiry",  # sorted set: "node|agent" by the time the lease ends
    "holders",  # hash: node -> agents
    "holdings",  # hash: agent -> nodes
    "fences",  # hash: node -> last fence; never reset
    "attempts",  # hash: "node#number" -> attempt
    "tries",  # hash: node, "node|agent" -> number of attempts
    "agents",  # hash: agent -> role and when it joined
    "counts",  # hash: "agent|calls", "agent|checks", "agent|lemmas"
    "cursors",  # hash: "agent|committed", "agent|delivered", "agent|shown" -> event number
    "lemmas",  # hash: lemma -> note
    "lemma_order",  # list: lemmas, oldest first
    "proofs",  # hash: statement hash -> first lemma with it
    "closings",  # hash: lemma -> nodes that it closed
    "messages",  # hash: message -> all about it
    "mail",  # list: messages to everyone
    "refutations",  # hash: node -> lemma, witness and event number
    "broken",  # set: alternatives whose glue was revoked
)
"""In the order in which every script gets them."""


def is_episode_id(episode: str) -> bool:
    """Tell whether the text can be an episode's id."""
    return _EPISODE.fullmatch(episode) is not None


def key(episode: str, name: str) -> str:
    """Return the full name of one key."""
    return f"{{ep:{episode}}}:{name}"


@lru_cache(maxsize=1_024)
def shared_keys(episode: str) -> tuple[bytes, ...]:
    """Return the keys that every script gets, in its order, ready to be sent."""
    return tuple(key(episode, name).encode() for name in SHARED)


def operation_key(episode: str, op: str) -> str:
    """Return where the result of an operation is kept for its repetition."""
    return key(episode, f"op:{op}")


def mailbox_key(episode: str, agent: str) -> str:
    """Return the list of messages to or from an agent that are not to everyone."""
    return key(episode, f"mail:{agent}")


def calls_key(episode: str, agent: str) -> str:
    """Return the sorted set of an agent's calls in flight."""
    return key(episode, f"calls:{agent}")


def job_keys(episode: str) -> tuple[str, str]:
    """Return the hash of jobs and the list of their ids."""
    return key(episode, "jobs"), key(episode, "job_order")
