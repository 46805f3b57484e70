"""Proposers by the words of a command line."""

import os
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio.from_thread
import msgspec

from adapter_server.bundle import default_bundle_folder
from adapter_server.evolver.campaign import Workshop
from adapter_server.evolver.journal import Journal
from adapter_server.evolver.measuring import Measure
from adapter_server.evolver.proposers.command import Command, CommandProposer, output_of
from adapter_server.evolver.proposers.scripted import ScriptedProposer
from adapter_server.evolver.proposing import Proposer
from adapter_server.evolver.spending import MeteredMeasure
from adapter_server.staging import read_files
from bus.errors import BadArguments

GEPA_TASKS = 12
"""Search tasks on which GEPA tries its texts; each text that looks good costs an episode on each."""

KINDS = (
    "scripted:FILE, knobs, knobs:SPACE_FILE, knobs:COMPONENT,COMPONENT, command:PROGRAM ARGUMENTS, codex, claude, "
    "gepa:PROGRAM ARGUMENTS"
)


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """What proposers may work with."""

    journal: Journal
    measure: Measure
    workshop: Workshop

    @property
    def files(self) -> Mapping[str, bytes]:
        """The champion's."""
        return self.workshop.files(self.journal.state.champion.bundle)


def proposers_of(words: Sequence[str], bench: Bench) -> list[Proposer]:
    """The proposers in turn; `gepa` runs its program with a prompt on standard input and takes what it prints.

    Raises:
        BadArguments: another word, a file that cannot be read, or something that is not installed.
    """
    return [_proposer(word, bench) for word in words]


def _proposer(word: str, bench: Bench) -> Proposer:
    kind, _, rest = word.partition(":")
    if kind == "scripted" and rest:
        return ScriptedProposer.from_file(Path(rest))
    if kind == "command" and rest:
        return CommandProposer(Command(arguments=shlex.split(rest)))
    if kind in ("codex", "claude"):
        from .host_proposers import host_proposer

        return host_proposer(kind, model=rest, environ=os.environ)
    if kind == "knobs":
        return _knobs(rest)
    if kind == "gepa" and rest:
        return _gepa(shlex.split(rest), bench)
    raise BadArguments(f"there is no proposer {word!r}", hint=KINDS)


def _knobs(rest: str) -> Proposer:
    from adapter_server.evolver.proposers.knobs import KnobProposer, default_space, read_space

    if rest and "#/" not in rest:
        space = read_space(Path(rest))
        return KnobProposer(lambda _: space)
    shipped, wanted = read_files(default_bundle_folder()), rest.split(",") if rest else None
    known = default_space(shipped, shipped)
    if wanted and (wrong := [name for name in wanted if name not in known]):
        raise BadArguments(f"the knob search knows no {wrong[0]}", hint=", ".join(known))
    return KnobProposer(
        lambda files: {
            name: values for name, values in default_space(files, shipped).items() if wanted is None or name in wanted
        }
    )


def _gepa(arguments: Sequence[str], bench: Bench) -> Proposer:
    from adapter_server.evolver.proposers.gepa import GepaProposer, GepaSettings, Shop

    prompts = [name for name in sorted(bench.files) if name.startswith("prompts/roles/")]
    tasks = bench.journal.state.started.tasks.search[:GEPA_TASKS]
    shop = Shop(
        measure=MeteredMeasure(bench.journal, bench.measure),
        gates=bench.workshop.static_gates,
        stage=bench.workshop.stage,
        reflect=_asking(arguments),
    )
    return GepaProposer(GepaSettings(components=prompts, tasks=tasks), shop)


def _asking(arguments: Sequence[str]) -> Callable[[str], str]:
    """Ask a program from a worker thread of the event loop."""

    def ask(prompt: str) -> str:
        command = Command(arguments=arguments, name="model", instruction=prompt)
        with tempfile.TemporaryDirectory() as place:
            said = partial(output_of, command, environment=os.environ, place=Path(place))
            return anyio.from_thread.run(said).decode(errors="replace")

    return ask
