"""The command line. Commands import what they need when they run, so that `--help` is fast."""

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from .adapter_commands import app as versions
from .bench_command import bench
from .evolve_commands import app as evolution
from .exit_codes import BAD_INPUT, BROKEN_PIPE, INTERRUPTED, OK, SERVICE_FAILURE
from .lemma_commands import app as lemmas
from .options import AsJson, Data, Out, Seconds, Seed, StoreUrl, Team, Unsafe
from .run_command import run
from .verify_command import verify
from .withdraw_commands import recheck, revoke

app = typer.Typer(
    name="adapter-server",
    help="A daemon that lets agents prove Lean theorems together.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # brackets in help texts are meant as they stand, and rich takes time to load
)

episodes = typer.Typer(help="Keep an episode as a file, or move it to another machine.", no_args_is_help=True)
app.add_typer(episodes, name="episode")
app.add_typer(versions, name="adapter")
app.add_typer(evolution, name="evolve")
app.add_typer(lemmas, name="lemma")
for command in (run, verify, revoke, recheck, bench):
    app.command()(command)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.  [ADAPTER_HOST, 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 lets the system choose.  [ADAPTER_PORT, 8765]")] = None,
    data: Data = None,
    store_url: Annotated[
        str | None, typer.Option(help="External Redis or Valkey instead of the embedded one.  [ADAPTER_REDIS_URL]")
    ] = None,
    store_binary: Annotated[
        str | None, typer.Option(help="Server program for the embedded store.  [ADAPTER_REDIS_BIN]")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Lean checks at the same time.  [ADAPTER_WORKERS, cores]")] = None,
    adapter: Annotated[str | None, typer.Option(help="Adapter version: id or folder.  [ADAPTER_BUNDLE]")] = None,
    project: Annotated[
        Path | None, typer.Option(help="Lake project whose toolchain and modules problems may use.  [ADAPTER_PROJECT]")
    ] = None,
    unsafe_no_sandbox: Annotated[
        bool | None, typer.Option("--unsafe-no-sandbox", help="Run Lean text without a sandbox.")
    ] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.  [ADAPTER_LOG_LEVEL]")] = None,
    log_format: Annotated[str | None, typer.Option(help="auto, json or console.  [ADAPTER_LOG_FORMAT]")] = None,
    conformance: Annotated[
        bool | None,
        typer.Option(
            "--conformance", help="Serve /conformance too, for the protocol's public suites.  [ADAPTER_CONFORMANCE]"
        ),
    ] = None,
) -> int:
    """Run the daemon until it is stopped."""
    from adapter_server.settings import load_settings

    given = {
        "conformance": conformance,
        "host": host, "port": port, "data": data, "store_url": store_url, "store_binary": store_binary,
        "workers": workers, "adapter": adapter, "project": project,
        "unsafe_no_sandbox": unsafe_no_sandbox, "log_level": log_level, "log_format": log_format,
    }  # fmt: skip
    settings = load_settings(given)
    from .serve import run_serve

    return run_serve(settings)


@app.command()
def demo(
    *,
    seconds: Seconds = 120.0,
    team: Team = "tactician:5",
    out: Out = None,
    seed: Seed = 0,
    unsafe_no_sandbox: Unsafe = False,
    as_json: AsJson = False,
) -> int:
    """Watch five agents prove a theorem that needs lemmas."""
    from .demo import run_demo

    return run_demo(team=team, seconds=seconds, out=out, seed=seed, is_unsafe=unsafe_no_sandbox, is_json=as_json)


@app.command()
def doctor(
    *,
    as_json: AsJson = False,
    host: Annotated[str | None, typer.Option(help="Address that `serve` would use.")] = None,
    port: Annotated[int | None, typer.Option(help="Port that `serve` would use.")] = None,
    data: Annotated[Path | None, typer.Option(help="Data folder that `serve` would use.")] = None,
    store_url: Annotated[str | None, typer.Option(help="Store that `serve` would use.")] = None,
) -> int:
    """Say what is used, what is missing and how to get it. Exit code 0 when `serve` would work, else 3."""
    from adapter_server.settings import load_settings

    from .doctor import run_doctor

    settings = load_settings({"host": host, "port": port, "data": data, "store_url": store_url})
    return run_doctor(settings, is_json=as_json)


@app.command()
def connect(
    kind: Annotated[str, typer.Argument(help="codex, claude, or stdio: MCP over standard input and output.")],
    *,
    agent: Annotated[str, typer.Option(envvar="ADAPTER_AGENT", help="Name of the agent in its team.")],
    episode: Annotated[
        str | None, typer.Option(envvar="ADAPTER_EPISODE", help="Episode to join; default: the only one.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Data folder of the server.  [ADAPTER_DATA]")] = None,
    server: Annotated[str | None, typer.Option(envvar="ADAPTER_SERVER", help="Address of a server elsewhere.")] = None,
    token_file: Annotated[Path | None, typer.Option(help="Operator token for --server.  [ADAPTER_TOKEN]")] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Change the host's configuration instead of printing.")
    ] = False,
) -> int:
    """Let an agent that you start yourself join an episode."""
    from adapter_server.settings import load_settings

    from .connect import run_connect

    path = load_settings({"data": data}).data_path
    return run_connect(
        kind, agent=agent, episode=episode, data=path, server=server, token_file=token_file, is_written=write
    )


@app.command()
def disconnect(
    kind: Annotated[str, typer.Argument(help="codex or claude.")],
    *,
    agent: Annotated[str, typer.Option(help="Name that was given to `connect`.")],
) -> int:
    """Take back exactly what `connect --write` has added."""
    from .connect import run_disconnect

    return run_disconnect(kind, agent=agent)


@app.command()
def replay(
    episode: Annotated[str, typer.Argument(help="Id of the episode.")],
    *,
    data: Data = None,
    store_url: StoreUrl = None,
    to: Annotated[int | None, typer.Option(min=0, help="Number of the last event to take.")] = None,
    replies: Annotated[bool, typer.Option("--replies", help="List what agents were told instead.")] = False,
    reply: Annotated[int | None, typer.Option(min=1, help="Print this reply, byte for byte, and nothing else.")] = None,
    as_json: AsJson = False,
) -> int:
    """Verify an episode's log and replies and print the state. Exit code 1 when something is missing or was changed."""
    from adapter_server.settings import load_settings

    from .replay import run_replay, run_replay_replies, run_replay_reply

    settings = load_settings({"data": data, "store_url": store_url})
    if reply is not None:
        return run_replay_reply(episode, settings, number=reply, is_json=as_json)
    return (run_replay_replies if replies else run_replay)(episode, settings, to=to, is_json=as_json)


@episodes.command("export")
def export_episode(
    episode: Annotated[str, typer.Argument(help="Id of the episode.")],
    file: Annotated[Path, typer.Argument(help="File to make: a tar archive; compressed when it ends in .gz or .tgz.")],
    *,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Write everything that belongs to an episode to one file."""
    from adapter_server.settings import load_settings

    from .episode import run_export

    return run_export(episode, file, load_settings({"data": data, "store_url": store_url}), is_json=as_json)


@episodes.command("import")
def import_episode(
    file: Annotated[Path, typer.Argument(help="What `episode export` has written.")],
    *,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Put an episode into a data folder under its id. No daemon may run on the folder."""
    from adapter_server.settings import load_settings

    from .episode import run_import

    return run_import(file, load_settings({"data": data, "store_url": store_url}), is_json=as_json)


@app.command()
def version() -> int:
    """Print the version."""
    from importlib.metadata import version as version_of

    print(version_of("adapter-server"))
    return OK


def main() -> None:
    """Run the command that the command line names and exit with its code."""
    sys.exit(run_command(sys.argv[1:]))


def run_command(args: list[str]) -> int:
    """Run one command and return its exit code; errors have been told on stderr."""
    from bus.errors import AdapterError

    from .exit_codes import complain

    try:
        code = app(args, prog_name="adapter-server", standalone_mode=False)
        sys.stdout.flush()
    except AdapterError as error:
        return complain(error)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # typer makes the second of the first
        # whoever read stdout has left; Python must not complain about it again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - a defect must not look like the exit code of an unsolved problem
        if (show := getattr(error, "show", None)) is None:
            traceback.print_exc()
            return SERVICE_FAILURE
        show()  # a usage error of the command line
        return BAD_INPUT
    return code if isinstance(code, int) else OK


if __name__ == "__main__":
    main()
