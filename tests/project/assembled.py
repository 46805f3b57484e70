"""A toolchain folder and a Lake project, assembled from the wheel: what a user of elan has, as far as can be had here.

`bin/lean` runs the wheel's library. `lake` knows `env` only and says what Lake would say. The project has two modules
on top of MiniCore, compiled by that toolchain.
"""

import os
import shutil
import subprocess
import sys
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
    prefix, folder = place / "toolchain", place / "project"
    library = prefix / "lib" / "lean"
    library.mkdir(parents=True)
    for name in ("libleanshared.so", "libleanshared_1.so", "libleanshared_2.so", "libInit_shared.so"):
        (library / name).symlink_to(toolchain.library.parent / name)
    shutil.copytree(core.folder, library, dirs_exist_ok=True)
    build = folder / ".lake" / "build" / "lib" / "lean"
    build.joinpath("Proj").mkdir(parents=True)
    _program(prefix / "bin" / "lean", _LEAN.format(python=sys.executable, prefix=prefix))
    _program(prefix / "bin" / "lake", _LAKE.format(path=build, prefix=prefix))
    (folder / "lakefile.toml").write_text('name = "proj"\n')
    (folder / "lean-toolchain").write_text("leanprover/lean4:v4.35.0\n")
    sources = {"Proj/Basic": BASIC, "Proj": MAIN}
    for name, text in sources.items():
        (folder / f"{name}.lean").parent.mkdir(exist_ok=True)
        (folder / f"{name}.lean").write_text(text)
        subprocess.run(
            [prefix / "bin" / "lake", "env", "lean", "-o", str(build / f"{name}.olean"), f"{name}.lean"],
            cwd=folder, check=True, capture_output=True, env={**os.environ, "LEAN_PATH": ""},
        )  # fmt: skip
    return Assembled(folder=folder, prefix=prefix, path=f"{prefix / 'bin'}:{os.environ['PATH']}")


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
