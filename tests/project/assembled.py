"""A toolchain folder and a Lake project, assembled from the wheel: what a user of elan has, as far as can be had here.

`bin/lean` runs the wheel's library. `lake` knows `env` only and says what Lake would say. The project has two modules
on top of MiniCore, compiled by that toolchain.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from lemma_store.lean.core_library import CoreLibrary
from lemma_store.lean.toolchain import Toolchain

_LEAN = """#!{python}
import ctypes, os, sys
words = [b"lean", *(word.encode() for word in sys.argv[1:])]
if words[1:] == [b"--print-prefix"]:
    print("{prefix}")
    sys.exit()
os.environ["LEAN_PATH"] = os.environ.get("LEAN_PATH", "") + ":{prefix}/lib/lean"  # a real one finds it by itself
lean = ctypes.CDLL("{prefix}/lib/lean/libleanshared.so")
lean.lean_initialize()
code = lean.lean_main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None))
ctypes.CDLL(None).fflush(None)
os._exit(code)
"""
_LAKE = """#!/bin/sh
[ "$1" = env ] || {{ echo "error: unknown command '$1'" >&2; exit 1; }}
shift
LEAN_PATH={path} PATH={prefix}/bin:$PATH exec "$@"
"""
BASIC = """prelude
import MiniCore
namespace Proj
inductive Tree where
  | leaf : Tree
  | node : Tree → Tree → Tree
def Tree.mirror : Tree → Tree
  | .leaf => .leaf
  | .node l r => .node r.mirror l.mirror
end Proj
"""
MAIN = """prelude
import Proj.Basic
namespace Proj
theorem mirror_leaf : Tree.mirror .leaf = .leaf := rfl
theorem mirror_mirror (t : Tree) : t.mirror.mirror = t := by sorry
end Proj
"""


class Assembled(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything lies."""

    folder: Path
    """The project."""

    prefix: Path
    """The toolchain."""

    path: str
    """For PATH, so that `lake` is found."""


def assemble(place: Path, *, toolchain: Toolchain, core: CoreLibrary) -> Assembled:
    """Put together a toolchain and a project below `place`, and compile the project."""
    prefix = place / "toolchain"
    put_toolchain(prefix, toolchain)
    shutil.copytree(core.folder, prefix / "lib" / "lean", dirs_exist_ok=True)
    return put_project(place / "project", prefix, {"Proj/Basic": BASIC, "Proj": MAIN})


def put_toolchain(prefix: Path, toolchain: Toolchain) -> None:
    """Make a toolchain folder around the wheel's library, without compiled modules."""
    library = prefix / "lib" / "lean"
    library.mkdir(parents=True)
    for name in ("libleanshared.so", "libleanshared_1.so", "libleanshared_2.so", "libInit_shared.so"):
        (library / name).symlink_to(toolchain.library.parent / name)
    _program(prefix / "bin" / "lean", _LEAN.format(python=sys.executable, prefix=prefix))


def put_project(folder: Path, prefix: Path, sources: Mapping[str, str]) -> Assembled:
    """Make a project of these files, each after those it imports, and compile it."""
    build = folder / ".lake" / "build" / "lib" / "lean"
    build.mkdir(parents=True)
    _program(prefix / "bin" / "lake", _LAKE.format(path=build, prefix=prefix))
    (folder / "lakefile.toml").write_text('name = "proj"\n')
    (folder / "lean-toolchain").write_text("leanprover/lean4:v4.35.0\n")
    for name, text in sources.items():
        compile_module(name, text, folder=folder, into=build, prefix=prefix)
    return Assembled(folder=folder, prefix=prefix, path=f"{prefix / 'bin'}:{os.environ['PATH']}")


def copy_project(of: Assembled, place: Path) -> Assembled:
    """Copy a project and its compiled modules; the toolchain stays where it is."""
    folder, programs = place / "project", place / "bin"
    shutil.copytree(of.folder, folder)
    build = folder / ".lake" / "build" / "lib" / "lean"
    _program(programs / "lake", _LAKE.format(path=build, prefix=of.prefix))
    return Assembled(folder=folder, prefix=of.prefix, path=f"{programs}:{of.path}")


def compile_module(
    name: str, text: str, *, folder: Path, into: Path, prefix: Path, options: Sequence[str] = ()
) -> None:
    """Write `text` to the file `name` of `folder`, and compile it with what is compiled in `into` and the toolchain."""
    source, artifact = folder / f"{name}.lean", into / f"{name}.olean"
    for path in (source, artifact):
        path.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text)
    command = [prefix / "bin" / "lean", *options, "-o", str(artifact), f"{name}.lean"]
    environment = {**os.environ, "LEAN_PATH": str(into)}
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
