"""The shape of the code: small files, small functions, nouns for names, and a map that names every module."""

import ast
import importlib.metadata
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("bus", "blackboard", "lemma_store", "adapter_server", "clients", "scenarios")
MAX_FILE_LINES = 300
MAX_TEST_FILE_LINES = 450
MAX_FUNCTION_LINES = 60
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "base", "misc", "core", "lib"}

MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted(path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_file_is_long() -> None:
    limits = [(path, MAX_FILE_LINES) for path in MODULES] + [(path, MAX_TEST_FILE_LINES) for path in TESTS]
    lengths = [(relative(path), len(path.read_text(encoding="utf-8").splitlines()), limit) for path, limit in limits]
    assert [(name, lines) for name, lines, limit in lengths if lines > limit] == []


def test_no_function_is_long() -> None:
    found = [(relative(path), *function) for path in (*MODULES, *TESTS) for function in functions(path)]
    assert [one for one in found if one[2] > MAX_FUNCTION_LINES] == []


def test_modules_are_named_after_what_they_hold() -> None:
    names = [(relative(path), part) for path in MODULES for part in (*path.relative_to(ROOT).parts[:-1], path.stem)]
    assert [name for name, part in names if part in BANNED_NAMES] == []


def test_the_map_names_every_module_and_no_other() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(rf"`((?:{'|'.join(PACKAGES)})/[\w/]+\.py)`", text))
    modules = {relative(path) for path in MODULES if path.name != "__init__.py"}
    assert named == modules, f"missing: {sorted(modules - named)}; gone: {sorted(named - modules)}"


def test_every_package_of_the_wheel_is_typed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == list(PACKAGES)
    assert [package for package in PACKAGES if not (ROOT / package / "py.typed").is_file()] == []


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {path.parent for path in MODULES}
    assert [relative(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_no_other_distribution_provides_our_packages() -> None:
    ours = importlib.metadata.metadata("adapter-server")["Name"]
    for name, providers in importlib.metadata.packages_distributions().items():
        if name in PACKAGES:
            assert set(providers) <= {ours}, f"{name} also comes with {providers}"
    foreign: list[str] = []
    for distribution in importlib.metadata.distributions():
        if distribution.metadata["Name"] != ours:
            tops = {file.parts[0] for file in distribution.files or () if len(file.parts) > 1}
            foreign += [f"{distribution.metadata['Name']}: {name}" for name in PACKAGES if name in tops]
    assert foreign == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_says_what_it_is_for(package: str) -> None:
    silent = [
        relative(path)
        for path in MODULES
        if path.is_relative_to(ROOT / package)
        and path.name != "__init__.py"
        and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
