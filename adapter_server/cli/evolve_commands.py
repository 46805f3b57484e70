"""The options of `adapter-server evolve`; the work is imported when it is done."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Data, StoreUrl

if TYPE_CHECKING:
    from .evolve import EvolveCommands

By = Annotated[str, typer.Option(help="Who decides this; it is written down.")]

app = typer.Typer(help="Change the adapter version, and keep a change only on evidence.", no_args_is_help=True)
seal = typer.Typer(help="The sealed tasks.", no_args_is_help=True)
app.add_typer(seal, name="seal")


@app.command()
def init(
    paths: Annotated[list[Path], typer.Argument(help="Folders, .smt2 and .lean files, .txt lists of them.")],
    *,
    budget: Annotated[list[str], typer.Option(help="UNIT=AMOUNT: episodes, checks, seconds, tokens, usd.")],
    team: Annotated[str, typer.Option(help="Who works: KIND:COUNT[,KIND:COUNT…].")] = "tactician:3",
    seconds: Annotated[float, typer.Option("--time", min=0.1, help="Seconds for each episode.")] = 30.0,
    checks: Annotated[int | None, typer.Option(min=1, help="Lean checks for each episode.")] = None,
    tokens: Annotated[int | None, typer.Option(min=1, help="Tokens for each agent of a model.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="As in `run`.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="What the division of the tasks depends on.")] = 0,
    guard: Annotated[list[str] | None, typer.Option(help="Family that is only for the guard set.")] = None,
    shares: Annotated[str, typer.Option(help="Sizes of search, confirm, guard, sealed.")] = "40,35,10,15",
    plan: Annotated[Path | None, typer.Option(help="JSON file with sizes and levels, see docs/evolver.md.")] = None,
    auto: Annotated[bool, typer.Option("--auto", help="Promote what is `better` without a person.")] = False,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Divide the tasks and write down what the campaign may do. Nothing is run."""
    from bus.records import Caps

    from .evolve_options import parse_amounts, parse_shares, read_plan
    from .run import hosting_of

    hosting = hosting_of(models=model or (), reasoning=(), tokens=tokens, turns=None, seconds=None)
    given: dict[str, Any] = {**read_plan(plan), "seed": seed, "is_auto": auto}
    return _commands(data, store_url, is_json=as_json).init(
        paths, team=team, caps=Caps(seconds=seconds, checks=checks, tokens=tokens), hosting=hosting,
        budget=parse_amounts(budget), plan=given, guard=guard or (), shares=parse_shares(shares),
    )  # fmt: skip


@app.command()
def check(*, data: Data = None, store_url: StoreUrl = None, as_json: AsJson = False) -> int:
    """Say how many challengers the budget buys and the smallest gain that can be seen. Nothing is run."""
    return _commands(data, store_url, is_json=as_json).check()


@app.command()
def aa(*, data: Data = None, store_url: StoreUrl = None, as_json: AsJson = False) -> int:
    """Compare the champion with itself: how much results differ by chance."""
    return _commands(data, store_url, is_json=as_json).calibrate()


@app.command()
def run(
    *,
    proposer: Annotated[
        list[str],
        typer.Option(
            help="scripted:FILE, knobs[:SPACE_FILE], command:PROGRAM…, codex, claude, gepa:PROGRAM…; they take turns."
        ),
    ],
    rounds: Annotated[int | None, typer.Option(min=0, help="So many proposals, then stop.")] = None,
    add: Annotated[list[str] | None, typer.Option(help="UNIT=AMOUNT more for the budget.")] = None,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Propose, measure, confirm, promote, until the budget or the proposers end. Killed or paused, it goes on."""
    from .evolve_options import parse_amounts

    commands = _commands(data, store_url, is_json=as_json)
    return commands.run(proposer, rounds=rounds, more=parse_amounts(add or ()))


@app.command()
def status(*, data: Data = None, store_url: StoreUrl = None, as_json: AsJson = False) -> int:
    """Print the campaign at a glance; works while it runs."""
    return _commands(data, store_url, is_json=as_json).status()


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A proposal, such as p3, or a comparison, such as p3.gate.")],
    *,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Print all that is known of a proposal or a comparison."""
    return _commands(data, store_url, is_json=as_json).show(name)


@app.command()
def gate(
    comparison: Annotated[str, typer.Argument(help="Such as p3.gate.")],
    *,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Ask a gate about its comparison as it is now; nothing is written."""
    return _commands(data, store_url, is_json=as_json).gate(comparison)


@app.command()
def promote(
    proposal: Annotated[str, typer.Argument(help="Such as p3.")],
    *,
    by: By,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Approve a change whose verdict is `better`, or `cheaper-quality-unresolved`."""
    return _commands(data, store_url, is_json=as_json).promote(proposal, by=by)


@app.command()
def rollback(
    *,
    by: By,
    to: Annotated[str | None, typer.Option(help="Id of a version that was in use; default: the one before.")] = None,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Put an earlier version in use again; ends a freeze."""
    return _commands(data, store_url, is_json=as_json).roll_back(to, by=by)


@app.command()
def freeze(
    reason: Annotated[str, typer.Argument(help="Why.")],
    *,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Promote nothing until a rollback."""
    return _commands(data, store_url, is_json=as_json).freeze(reason)


@app.command()
def report(
    *,
    out: Annotated[Path | None, typer.Option(help="File to write; default: evolver/report.html.")] = None,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Write an HTML page with noise, proposals and their fates, gains with intervals, costs and the sealed result."""
    return _commands(data, store_url, is_json=as_json).report(out)


@app.command()
def verify(*, data: Data = None, store_url: StoreUrl = None, as_json: AsJson = False) -> int:
    """Derive every verdict again from the ledger. Exit code 0 only when all fits."""
    return _commands(data, store_url, is_json=as_json).verify()


@app.command()
def bench(
    *,
    scale: Annotated[float, typer.Option(min=0.01, max=10, help="1: 1,000 neutral changes and every crash.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="What the simulated teams depend on.")] = 11,
    as_json: AsJson = False,
) -> int:
    """Ask the evolver questions whose answers are known, with simulated teams. Exit code 0 when all are right."""
    from .evolve import bench as run_bench

    return run_bench(scale=scale, seed=seed, is_json=as_json)


@seal.command("open")
def open_sealed(
    *,
    by: By,
    add: Annotated[list[str] | None, typer.Option(help="UNIT=AMOUNT more for the budget.")] = None,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Run the champion and the start on the sealed tasks, once and never again."""
    from .evolve_options import parse_amounts

    return _commands(data, store_url, is_json=as_json).open_sealed(by=by, more=parse_amounts(add or ()))


def _commands(data: Path | None, store_url: str | None, *, is_json: bool) -> "EvolveCommands":
    from adapter_server.settings import load_settings

    from .evolve import EvolveCommands

    return EvolveCommands(load_settings({"data": data, "store_url": store_url}), is_json=is_json)
