"""What the control methods that take lemmas back take and answer."""

import msgspec

from .messages import EpisodeState, Name


class LemmaRevoke(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of lemma.revoke.

    Attributes:
        episode: whose lemma.
        lemma: its id, a prefix of 8 digits or more, or its stored name.
        reason: why; shown to whoever proves it again.
    """

    episode: Name
    lemma: Name
    reason: Name


class LemmasRecheck(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of lemmas.recheck: judge everything that the episode's store holds again, in a new kernel."""

    episode: Name


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """A lemma or definition that was taken back.

    Attributes:
        id: its content id.
        name: its stored name.
        reason: why.
    """

    id: str
    name: str
    reason: str


class Withdrawal(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of lemma.revoke and lemmas.recheck.

    Attributes:
        episode: its id.
        status: its state; one that has ended stays as it ended, and its plan too.
        revoked: what was taken back, dependencies first: what the call was about and all that rests on it.
        reopened: parts of the plan that are open again.
        is_certificate_withdrawn: the final proof rested on it; its files lie in `revoked` in the episode's folder now.
        kept: how many lemmas and definitions were accepted again, by lemmas.recheck.
        undecided: id → the limit or fault that kept it from being decided; nothing follows from that.
    """

    episode: str
    status: EpisodeState
    revoked: list[Withdrawn] = []
    reopened: list[str] = []
    is_certificate_withdrawn: bool = False
    kept: int = 0
    undecided: dict[str, str] = {}
