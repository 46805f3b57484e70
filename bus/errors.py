"""Every error that crosses a boundary of the system.

AdapterError
├── CallerError: the caller can fix it
│   ├── BadArguments, BadMessage, BadProblem, UnknownMethod, Unauthorized
│   ├── UnknownId, UnknownRecipient, Gone, Duplicate, Conflict, EpisodeClosed
│   ├── NotLean, UnsafeSource, ForbiddenAxiom, StatementMismatch, TooLarge
│   ├── StaleFence, LeaseFull, LeaseLost, Refuted, Cyclic
│   ├── BadPatch, BadLedger, BudgetExhausted
│   └── RateLimited, Deadline
└── ServiceError: the operator has to fix it, or time does
    ├── QueueFull, StorageUnavailable, ConnectionLost
    ├── LeanUnavailable, NoSandbox, PortInUse, BadDataFolder, InfraPause
    └── Internal

A code never changes its meaning. Facts are what the caller needs to go on without asking again.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar

_RESERVED = ("code", "message", "retry", "hint")


class AdapterError(Exception):
    """The root: a stable code, a message for the reader, a hint what to do instead, and facts."""

    code: ClassVar[str] = "error"
    is_retryable: ClassVar[bool] = False

    def __init__(self, message: str, /, *, hint: str = "", **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.facts = facts

    def to_fields(self) -> dict[str, object]:
        """Return the form that travels; facts cannot hide the four fixed fields."""
        fixed: dict[str, object] = {
            "code": self.code,
            "message": self.message,
            "retry": self.is_retryable,
            "hint": self.hint,
        }
        return fixed | {name: fact for name, fact in self.facts.items() if name not in _RESERVED}


class CallerError(AdapterError):
    """The caller can fix it by calling differently."""


class ServiceError(AdapterError):
    """The caller did nothing wrong; the operator or time has to help."""


class BadArguments(CallerError):
    """An argument is missing, unknown or has a wrong value."""

    code = "bad_arguments"


class BadMessage(CallerError):
    """What arrived on the wire is not a JSON-RPC 2.0 message."""

    code = "bad_message"


class BadProblem(CallerError):
    """A problem cannot be posed: its text is malformed or uses what is not supported."""

    code = "bad_problem"


class UnknownMethod(CallerError):
    """There is no method or tool of this name here."""

    code = "unknown_method"


class Unauthorized(CallerError):
    """The token is missing, wrong, or does not belong to this address."""

    code = "unauthorized"


class UnknownId(CallerError):
    """Nothing has this id or name (facts: nearest)."""

    code = "unknown_id"


class UnknownRecipient(CallerError):
    """A message names someone who is not in the team (facts: roster)."""

    code = "unknown_recipient"


class Gone(CallerError):
    """The thing was there and is not any more (facts: replacement)."""

    code = "gone"


class Duplicate(CallerError):
    """The same thing exists already (facts: id)."""

    code = "duplicate"


class Conflict(CallerError):
    """It was changed by somebody else first (facts: how it is now)."""

    code = "conflict"


class EpisodeClosed(CallerError):
    """The episode has ended; it can only be read."""

    code = "episode_closed"


class NotLean(CallerError):
    """Lean does not accept the text (facts: messages with line, column and text)."""

    code = "not_lean"


class UnsafeSource(CallerError):
    """The text uses something that is never run here (facts: line)."""

    code = "unsafe_source"


class ForbiddenAxiom(CallerError):
    """A proof rests on an axiom that does not count as proved."""

    code = "forbidden_axiom"


class StatementMismatch(CallerError):
    """The proof proves something else (facts: expected, got)."""

    code = "statement_mismatch"


class TooLarge(CallerError):
    """The input is over a fixed limit (facts: cap)."""

    code = "too_large"


class StaleFence(CallerError):
    """The lease was taken over since (facts: owner, fence)."""

    code = "stale_fence"


class LeaseFull(CallerError):
    """No more leases are free, here or for this agent (facts: holders)."""

    code = "lease_full"


class LeaseLost(CallerError):
    """The lease has expired or was released."""

    code = "lease_lost"


class Refuted(CallerError):
    """The statement is known to be false."""

    code = "refuted"


class Cyclic(CallerError):
    """The change would make the plan depend on itself (facts: path)."""

    code = "cyclic"


class RateLimited(CallerError):
    """The caller is too fast; the same call works later."""

    code = "rate_limited"
    is_retryable = True


class Deadline(CallerError):
    """The call did not finish in time; whether it had an effect is not known."""

    code = "deadline"
    is_retryable = True


class BadPatch(CallerError):
    """A proposed change of an adapter version is malformed, touches more than one component, or is not allowed."""

    code = "bad_patch"


class BadLedger(CallerError):
    """The evolver's ledger was changed, is broken in the middle, or is held by another evolver."""

    code = "bad_ledger"


class BudgetExhausted(CallerError):
    """What was reserved for this is spent."""

    code = "budget_exhausted"


class InfraPause(ServiceError):
    """Episodes cannot be run now: the store is away, a provider refuses, the machine is full. Nothing was scored."""

    code = "infra_pause"
    is_retryable = True


class QueueFull(ServiceError):
    """Too much work is waiting already."""

    code = "queue_full"
    is_retryable = True


class StorageUnavailable(ServiceError):
    """The store cannot be reached; nothing was read or written."""

    code = "storage_unavailable"
    is_retryable = True


class ConnectionLost(ServiceError):
    """The connection ended before the reply; whether the call had an effect is not known."""

    code = "connection_lost"
    is_retryable = True


class LeanUnavailable(ServiceError):
    """Lean cannot be started or does not answer."""

    code = "lean_unavailable"


class NoSandbox(ServiceError):
    """This machine offers no way to run foreign Lean text safely."""

    code = "no_sandbox"


class PortInUse(ServiceError):
    """Another process listens on the port."""

    code = "port_in_use"


class BadDataFolder(ServiceError):
    """The data folder is of another version, foreign, in use, or not writable."""

    code = "bad_data_folder"


class Internal(ServiceError):
    """A defect of the server; the log has the details (facts: trace)."""

    code = "internal"


def _concrete(root: type[AdapterError]) -> Iterator[type[AdapterError]]:
    for child in root.__subclasses__():
        if "code" in vars(child):
            yield child
        yield from _concrete(child)


ERRORS: Mapping[str, type[AdapterError]] = {error.code: error for error in _concrete(AdapterError)}


def error_from_fields(fields: Mapping[str, object]) -> AdapterError:
    """Rebuild the error that `to_fields` described; a code from a newer server becomes Internal."""
    code = str(fields.get("code", ""))
    message = str(fields.get("message", ""))
    hint = str(fields.get("hint", ""))
    facts = {str(name): fact for name, fact in fields.items() if name not in _RESERVED}
    if (known := ERRORS.get(code)) is None:
        return Internal(
            message or "the server answered with an error of an unknown kind",
            hint=hint,
            **facts | {"remote_code": code},
        )
    return known(message, hint=hint, **facts)
