"""A proposer that is any program: it gets a context folder and writes a proposal as JSON."""

import os
import re
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

import anyio
import anyio.abc
import msgspec

from adapter_server.evolver.patch import MAX_PATCH_BYTES, NoChange, Patch, read_proposal
from adapter_server.evolver.proposing import ProposalContext
from bus.errors import BadPatch

MAX_OUTPUT_BYTES = 4 * MAX_PATCH_BYTES
"""Of everything that it prints; hosts print a lot beside the proposal."""

_TAIL = 600
_FENCED = re.compile(rb"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)
_SECRET = ("ADAPTER_TOKEN", "ADAPTER_REDIS_URL")


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """How to start the program.

    Attributes:
        arguments: the program and its arguments; `{context}` and `{out}` stand for the folder and for the file that the
            proposal may be written to. The same are in its environment as ADAPTER_CONTEXT and ADAPTER_PROPOSAL.
        timeout_s: seconds until it and all that it started are killed.
        name: what records call it.
        environment: what it sees beside the given environment.
        instruction: what it reads on standard input, with the same marks.
    """

    arguments: Sequence[str]
    timeout_s: float = 600.0
    name: str = "command"
    environment: Mapping[str, str] = {}
    instruction: str = ""


class CommandProposer:
    """Runs a program for each proposal, in a process group of its own and in an empty folder.

    What it wrote to the file counts, or else what it printed. It may put the JSON between ``` marks.
    """

    def __init__(self, command: Command, *, environment: Mapping[str, str] | None = None) -> None:
        self.name = command.name
        self._command = command
        self._environment = dict(os.environ if environment is None else environment)

    async def propose(self, context: ProposalContext) -> Patch | NoChange:
        """What the program proposes.

        Raises:
            BadPatch: it could not be started, ended with an error, took too long, wrote too much or no proposal.
        """
        with tempfile.TemporaryDirectory(prefix="proposer-") as place:
            out = Path(place) / "proposal.json"
            printed = await self._run(context, Path(place), out)
            written = _read(out) or printed
        if not written.strip():
            raise BadPatch(f"{self.name} wrote no proposal", cause="malformed")
        try:
            return read_proposal(unfenced(written))
        except BadPatch as error:
            raise BadPatch(f"{self.name}: {error.message}", hint=error.hint, cause="malformed") from None

    async def _run(self, context: ProposalContext, place: Path, out: Path) -> bytes:
        values = {"{context}": str(context.folder), "{out}": str(out)}
        told = {"ADAPTER_CONTEXT": str(context.folder), "ADAPTER_PROPOSAL": str(out)}
        command = msgspec.structs.replace(
            self._command,
            arguments=[_filled(argument, values) for argument in self._command.arguments],
            instruction=_filled(self._command.instruction, values),
        )
        return await output_of(command, environment=self._environment | told, place=place)


async def output_of(command: Command, *, environment: Mapping[str, str], place: Path) -> bytes:
    """What a program prints, run in the folder `place`; afterwards nothing of its process group is left.

    Raises:
        BadPatch: as `CommandProposer.propose`.
    """
    passed = {name: value for name, value in environment.items() if name not in _SECRET}
    try:
        process = await anyio.open_process(
            list(command.arguments),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env={**passed, **command.environment},
            cwd=place,
            start_new_session=True,
        )
    except OSError as error:
        said = error.strerror or str(error)
        raise BadPatch(f"{command.name} cannot be started: {said}", hint=command.arguments[0], cause="crash") from None
    try:
        return await _watched(process, command)
    finally:
        with anyio.CancelScope(shield=True):
            _kill(process.pid)
            await process.wait()
            await process.aclose()


async def _watched(process: anyio.abc.Process, command: Command) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    printed, complaints = bytearray(), bytearray()
    with anyio.move_on_after(command.timeout_s) as limit:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_give, process.stdin, command.instruction.encode())
            tasks.start_soon(_collect, process.stderr, complaints, tasks.cancel_scope)
            tasks.start_soon(_collect, process.stdout, printed, tasks.cancel_scope)
            await process.wait()
            _kill(process.pid)  # children may hold the pipes open
    if len(printed) + len(complaints) > MAX_OUTPUT_BYTES:
        raise BadPatch(f"{command.name} printed more than {MAX_OUTPUT_BYTES} bytes", cause="flood")
    if limit.cancelled_caught:
        raise BadPatch(f"{command.name} took longer than {command.timeout_s:g} s", cause="timeout")
    if process.returncode:
        said = bytes(complaints or printed)[-_TAIL:].decode(errors="replace").strip()
        raise BadPatch(f"{command.name} ended with code {process.returncode}: {said}", cause="crash")
    return bytes(printed)


def unfenced(text: bytes) -> bytes:
    """What stands between the last ``` marks, if there are any and the text is no JSON object itself."""
    found = None if text.lstrip()[:1] in (b"{", b"[") else _FENCED.findall(text)
    return found[-1] if found else text


def _filled(argument: str, values: Mapping[str, str]) -> str:
    for mark, value in values.items():
        argument = argument.replace(mark, value)
    return argument


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_PATCH_BYTES + 1)
    except OSError:
        return b""


async def _give(stream: anyio.abc.ByteSendStream, text: bytes) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        if text:
            await stream.send(text)
        await stream.aclose()


async def _collect(stream: anyio.abc.ByteReceiveStream, into: bytearray, scope: anyio.CancelScope) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for chunk in stream:
            into += chunk
            if len(into) > MAX_OUTPUT_BYTES:
                scope.cancel()


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
