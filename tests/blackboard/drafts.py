"""Parts and lemmas as tests need them."""

from blackboard.types import LemmaNote, NodeDraft


def draft(name: str, statement: str | None = None) -> NodeDraft:
    """Return a part whose statement follows from its name unless given."""
    statement = statement or f"statement of {name}"
    return NodeDraft(name=name, statement=statement, statement_hash=f"hash of {statement}")


def proof_of(name: str, *, lemma: str | None = None, author: str = "ada") -> LemmaNote:
    """Return a lemma that proves the part of this name."""
    target = draft(name)
    return LemmaNote(
        id=lemma or f"l-{name}",
        name=f"{name}_0a1b2c",
        statement=target.statement,
        statement_hash=target.statement_hash,
        author=author,
        uses=(),
    )
