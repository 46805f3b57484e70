"""A Hermit `Evolver` as a proposer. Runs in a venv with hermit-harness==0.1.0, never in the server's own.

    adapter-server evolve run --proposer "command:HERMIT_VENV/bin/python hermit_proposer.py EVOLVER"

EVOLVER is a built-in's name or a folder with an evolver.yaml. It gets a workspace whose adapter is the version to
change and whose learning material is the evidence; one step is run. What it changed is printed as a proposal. Hermit
would take any valid change; here the gates decide.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import ClassVar

from hermit.evolver.base import Progress, StepContext, Workspace
from hermit.evolver.loader import find, instantiate


class CheckSpec:
    """The tool that every Hermit evolver has: is the working copy a version?"""

    name = "check_spec"
    description = "Check that the JSON files of the adapter can be read and that texts are UTF-8."
    input_schema: ClassVar = {"type": "object", "properties": {}}
    output_schema: ClassVar = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "problems": {"type": "array"}},
    }
    source = "template"

    def __init__(self, adapter: Path) -> None:
        self.adapter = adapter

    def __call__(self, **_arguments: object) -> dict[str, object]:
        problems: list[str] = []
        for path in (path for path in self.adapter.rglob("*") if path.is_file()):
            try:
                text = path.read_text(encoding="utf-8")
                if path.suffix == ".json":
                    json.loads(text)
            except ValueError as error:
                problems.append(f"{path.relative_to(self.adapter)}: {error}")
        return {"ok": not problems, "problems": problems}


def workspace_of(context: Path, place: Path) -> Workspace:
    """Hermit's folders, filled from the context."""
    names = ("adapter", "learning_material", "task_info", "history", "state", "scratch", "output")
    folders = {name: place / name for name in names}
    shutil.copytree(context / "champion", folders["adapter"], copy_function=shutil.copyfile)
    for folder in (*folders.values(), *(path for path in folders["adapter"].rglob("*") if path.is_dir())):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
    step = folders["learning_material"] / "step_0001"
    step.mkdir()
    (folders["learning_material"] / "current").write_text("step_0001")
    for name in ("evidence.md", "fates.jsonl", "budget.json"):
        shutil.copyfile(context / name, step / name)
    for name in ("README.md", "handbook.md"):
        shutil.copyfile(context / name, folders["task_info"] / name)
    return Workspace(**folders)


def proposal(workspace: Workspace, champion: Path, summary: str) -> dict[str, str]:
    """The one file that differs, as a proposal."""
    files = {path.relative_to(workspace.adapter).as_posix(): path.read_bytes() for path in files_in(workspace.adapter)}
    before = {path.relative_to(champion).as_posix(): path.read_bytes() for path in files_in(champion)}
    changed = [name for name in sorted(files | before) if files.get(name) != before.get(name)]
    if not changed:
        return {"no_change": summary}
    if len(changed) > 1 or changed[0] not in files:
        sys.exit(f"one component can be changed at a time, the evolver changed {', '.join(changed)}")
    return {"component": changed[0], "content": files[changed[0]].decode(), "hypothesis": summary[:4000]}


def files_in(folder: Path) -> list[Path]:
    """Files of a folder, hidden ones left out."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


def main() -> None:
    """Run one step of the evolver that the first argument names."""
    context, place = Path(os.environ["ADAPTER_CONTEXT"]), Path.cwd() / "workspace"
    budget = json.loads((context / "budget.json").read_text())
    place.mkdir()
    workspace = workspace_of(context, place)
    spec = find(sys.argv[1])
    evolver, params = instantiate(spec, {})
    given = StepContext(
        workspace=workspace,
        access=None,
        tools={"check_spec": CheckSpec(workspace.adapter)},
        params=params,
        message=(context / "README.md").read_text(),
        progress=Progress(epoch=0, step=int(budget["round"]) + 1, is_epoch_end=False),
    )
    evolver.setup(given)
    result = evolver.step(given)
    if result.status in ("failed", "out_of_budget"):
        sys.exit(f"the evolver ended as {result.status}: {result.summary}")
    words = "; ".join(text for text in (result.summary, result.rationale) if text)
    Path(os.environ["ADAPTER_PROPOSAL"]).write_text(json.dumps(proposal(workspace, context / "champion", words)))


if __name__ == "__main__":
    main()
