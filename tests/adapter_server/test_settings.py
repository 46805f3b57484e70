"""The command line wins over the environment, and wrong values are named with their place."""

import io
import json
import logging
from pathlib import Path

import pytest
import structlog

from adapter_server.logs import configure_logs
from adapter_server.settings import VARIABLES, LogFormat, Settings, load_settings
from bus.errors import BadArguments


def test_the_command_line_wins_over_the_environment() -> None:
    environ = {"ADAPTER_PORT": "99", "ADAPTER_HOST": "0.0.0.0", "ADAPTER_WORKERS": ""}  # noqa: S104 - only a value
    settings = load_settings({"port": 98, "host": None, "data": Path("/x")}, environ=environ)
    assert (settings.port, settings.host, settings.data) == (98, "0.0.0.0", "/x")  # noqa: S104
    assert settings.workers == Settings().workers


def test_every_setting_has_a_variable() -> None:
    assert set(VARIABLES) == set(Settings.__struct_fields__)


@pytest.mark.parametrize(
    ("options", "environ", "where"),
    [
        ({"port": 70000}, {}, "command line: port"),
        ({}, {"ADAPTER_WORKERS": "many"}, "ADAPTER_WORKERS"),
        ({}, {"ADAPTER_LOG_FORMAT": "xml"}, "ADAPTER_LOG_FORMAT"),
        ({"colour": 1}, {}, ""),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(
    options: dict[str, object], environ: dict[str, str], where: str
) -> None:
    with pytest.raises(BadArguments) as caught:
        load_settings(options, environ=environ)
    assert where in caught.value.hint


def test_the_default_data_folder_follows_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    assert load_settings({}, environ={}).data_path == Path("/somewhere/adapter-server")


def written(form: LogFormat) -> str:
    """Write lines of ours and of a library, with secrets in several places."""
    stream = io.StringIO()
    root = logging.getLogger()
    before = root.handlers[:], root.level
    try:
        configure_logs(level="info", form=form, stream=stream)
        log = structlog.get_logger("adapter").bind(episode="e1")
        log.info("store_reached", store="redis://me:hunter2@host/0", operator_token="hunter2", path=Path("/x"))
        log.debug("too_fine")
        logging.getLogger("library").warning("sent Authorization: Bearer %s", "hunter2")
        _fail(log, "hun" + "ter2")
    finally:
        root.handlers[:], level = before
        root.setLevel(level)
        structlog.reset_defaults()
    return stream.getvalue()


def _fail(log: structlog.typing.FilteringBoundLogger, _password: str) -> None:
    try:
        {}["gone"]
    except KeyError:
        log.exception("call_failed")


def test_log_lines_are_json_objects_with_the_event() -> None:
    ours, theirs, failure = (json.loads(line) for line in written("auto").splitlines())
    assert (ours["event"], ours["episode"], ours["level"], ours["path"]) == ("store_reached", "e1", "info", "/x")
    assert theirs["event"].startswith("sent Authorization")
    assert "KeyError: 'gone'" in failure["exception"]


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_secret_is_logged(form: LogFormat) -> None:
    text = written(form)
    assert "store_reached" in text
    assert "KeyError: 'gone'" in text
    assert "hunter2" not in text
