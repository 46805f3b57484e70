"""Exit codes of every command, and how an error looks on the terminal."""

import sys

from bus.errors import AdapterError, CallerError

OK = 0
NOT_PROVED = 1
BAD_INPUT = 2
SERVICE_FAILURE = 3
REFUTED = 4
"""The problem is settled, but what it states is false."""
INTERRUPTED = 130
BROKEN_PIPE = 141
"""What shells show for a program that writes to nobody."""


def exit_code_of(error: AdapterError) -> int:
    """2 for what the caller can correct, 3 for what a service failed at."""
    return BAD_INPUT if isinstance(error, CallerError) else SERVICE_FAILURE


def complain(error: AdapterError) -> int:
    """Print one message to stderr and return the exit code."""
    print(f"adapter-server: {' '.join(error.message.split())}", file=sys.stderr)
    if error.hint:
        print(f"  {error.hint}", file=sys.stderr)
    return exit_code_of(error)
