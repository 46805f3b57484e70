"""The anchor of a ledger: how many lines it has and the hash of the last one, in a file beside it.

A line is on disk before the anchor counts it. So a crash leaves an anchor that lags, never one that is ahead: lines
that an anchor counts and the ledger does not have were cut off by somebody.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bus.errors import BadLedger

BACKUP = "take the ledger and its anchor from a backup"


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """What is known to have been written."""

    lines: int
    head: str


def anchor_of(ledger: Path) -> Path:
    """Where the anchor of a ledger is."""
    return ledger.with_suffix(".anchor")


def read_anchor(ledger: Path) -> Anchor | None:
    """The anchor; None without one. Read it before the ledger, which may grow meanwhile.

    Raises:
        BadLedger: it cannot be read.
    """
    path = anchor_of(ledger)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Anchor)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadLedger(f"{path} cannot be read: {error}", hint=BACKUP) from error


def write_anchor(ledger: Path, anchor: Anchor) -> None:
    """Replace the anchor in one step."""
    path = anchor_of(ledger)
    incoming = path.with_suffix(".anchor-new")
    with incoming.open("wb") as file:
        file.write(msgspec.json.encode(anchor) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    incoming.replace(path)


def check_anchor(ledger: Path, anchor: Anchor | None, hashes: Sequence[str]) -> None:
    """Compare the hashes of all whole lines with the anchor.

    Raises:
        BadLedger: lines were cut off or written anew, or the anchor was removed; `line` is the first such line.
    """
    if anchor is None:
        if len(hashes) > 1:  # a crash can come between the first line and its anchor, and between no others
            raise BadLedger(f"{anchor_of(ledger)} is missing: lines cut off the end would not be seen", hint=BACKUP)
        return
    if len(hashes) < anchor.lines:
        first, last = len(hashes) + 1, anchor.lines
        which = f"line {first} was" if first == last else f"lines {first} to {last} were"
        raise BadLedger(
            f"{which} cut off {ledger} after being written; no crash does that", hint=BACKUP, line=first, last=last
        )
    if anchor.lines and hashes[anchor.lines - 1] != anchor.head:
        raise BadLedger(
            f"line {anchor.lines} of {ledger} is not the one that was written there", hint=BACKUP, line=anchor.lines
        )
