"""What an agent reads before its first call, and about how many tokens that is."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from adapter_server.bundle import Bundle

BYTES_PER_TOKEN = 4
"""Of English and JSON, roughly; no tokenizer is asked, since versions are judged without any model."""

ToolListing = Callable[[Bundle], Sequence[dict[str, Any]]]
"""The tools of a version as hosts list them."""


def tokens_of(text: str | bytes) -> int:
    """About how many tokens a text has, rounded up."""
    size = len(text.encode() if isinstance(text, str) else text)
    return -(-size // BYTES_PER_TOKEN)


def preamble_tokens(bundle: Bundle, listing: Sequence[dict[str, Any]]) -> int:
    """Tokens of the tool list, the instructions, the team's prompt, the longest role and all skills."""
    roles = [text for name, text in bundle.prompts.items() if name.startswith("roles/")]
    texts = [bundle.instructions, bundle.prompts["team"], max(roles, key=len, default=""), *bundle.skills.values()]
    return tokens_of(msgspec.json.encode(list(listing))) + sum(map(tokens_of, texts))
