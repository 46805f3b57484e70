"""A proposer without a model, as any program can be one: it reads the context folder and prints one JSON object.

    adapter-server evolve run --proposer "command:python technique_proposer.py {context}"

It offers agents all techniques at once that the champion's portfolio lacks, then halves of them, then quarters: the
largest change is the easiest one to see.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COMPONENT = "policy.json#/portfolio"


def proposal(context: Path) -> dict[str, Any]:
    """What to try next."""
    policy = json.loads((context / "champion" / "policy.json").read_text(encoding="utf-8"))
    fates = [json.loads(line) for line in (context / "fates.jsonl").read_text(encoding="utf-8").splitlines()]
    tried = [sorted(json.loads(fate["content"])) for fate in fates if fate["component"] == COMPONENT]
    missing = [word for word in techniques(context) if word not in policy["portfolio"]]
    for group in groups(missing):
        value = [*policy["portfolio"], *group]
        if sorted(value) not in tried:
            return {
                "component": COMPONENT,
                "value": value,
                "hypothesis": f"{' and '.join(group)} prove what the others leave open",
                "predictions": [{"metric": "solved", "relation": "at_least", "amount": 0.1}],
            }
    return {"no_change": "every technique is offered or was tried"}


def groups(words: list[str]) -> Iterator[list[str]]:
    """All of them, then the halves, then the quarters, down to single ones."""
    level = [words] if words else []
    while level:
        yield from level
        cut = [(group, len(group) // 2) for group in level if len(group) > 1]
        level = [half for group, at in cut for half in (group[:at], group[at:])]


def techniques(context: Path) -> list[str]:
    """All that the shipped version offers, as the handbook has it."""
    handbook = (context / "handbook.md").read_text(encoding="utf-8")
    row = next(line for line in handbook.splitlines() if line.startswith("| `policy.json#/portfolio`"))
    return json.loads(re.findall(r"`(\[.*?\])`", row)[1])


if __name__ == "__main__":
    print(json.dumps(proposal(Path(sys.argv[1]))))
