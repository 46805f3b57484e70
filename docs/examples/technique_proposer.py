"""A proposer without a model, as any program can be one: it reads the context folder and prints one JSON object.

    adapter-server evolve run --proposer "command:python technique_proposer.py {context}"

It offers agents the first two techniques that the champion's portfolio lacks and no earlier proposal had.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any


def proposal(context: Path) -> dict[str, Any]:
    """What to try next."""
    policy = json.loads((context / "champion" / "policy.json").read_text(encoding="utf-8"))
    fates = [json.loads(line) for line in (context / "fates.jsonl").read_text(encoding="utf-8").splitlines()]
    tried = {word for fate in fates for word in re.findall(r"\w+", fate["content"])}
    missing = [word for word in techniques(context) if word not in policy["portfolio"] and word not in tried]
    if not missing:
        return {"no_change": "every technique is offered or was tried"}
    return {
        "component": "policy.json#/portfolio",
        "value": [*policy["portfolio"], *missing[:2]],
        "hypothesis": f"{' and '.join(missing[:2])} prove what the others leave open",
        "predictions": [{"metric": "solved", "relation": "at_least", "amount": 0.1}],
    }


def techniques(context: Path) -> list[str]:
    """All that the shipped version offers, as the handbook has it."""
    handbook = (context / "handbook.md").read_text(encoding="utf-8")
    row = next(line for line in handbook.splitlines() if line.startswith("| `policy.json#/portfolio`"))
    return json.loads(re.findall(r"`(\[.*?\])`", row)[1])


if __name__ == "__main__":
    print(json.dumps(proposal(Path(sys.argv[1]))))
