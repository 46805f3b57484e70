"""A toolchain whose core, and a project whose modules, are compiled in parts, as Lean's module system does it.

The core is MiniCore's text with the headers of the module system. What it has of parsers and macros must be `meta`.
"""

import re
from pathlib import Path

from lemma_store.lean.core_library import order_modules, read_core_sources
from lemma_store.lean.toolchain import Toolchain
from tests.project.assembled import Assembled, compile_module, put_project, put_toolchain

BASIC = """module
prelude
public import MiniCore
public section
namespace Proj
inductive Tree where
  | leaf : Tree
  | node : Tree → Tree → Tree
@[expose] def Tree.mirror : Tree → Tree
  | .leaf => .leaf
  | .node l r => .node r.mirror l.mirror
def Tree.size : Tree → Nat
  | .leaf => 1
  | .node l r => l.size + r.size
private theorem hidden : Tree.size .leaf = 1 := rfl
theorem size_leaf : Tree.size .leaf = 1 := hidden
end Proj
"""
LEFT = """module
prelude
public import Proj.Basic
public section
theorem Proj.left (l r : Proj.Tree) : (Proj.Tree.node l r).mirror = .node r.mirror l.mirror := by rw [Proj.Tree.mirror]
"""
MAIN = """prelude
import Proj.Left
import Proj.Right
namespace Proj
theorem mirror_mirror (t : Tree) : t.mirror.mirror = t := by sorry
end Proj
"""
_RELAXED = ("-Dcompiler.relaxedMetaCheck=true",)


def assemble_in_parts(place: Path, *, toolchain: Toolchain) -> Assembled:
    """Put together a toolchain and a project below `place`, and compile both in parts."""
    prefix = place / "toolchain"
    put_toolchain(prefix, toolchain)
    library, sources = prefix / "lib" / "lean", read_core_sources()
    for name in order_modules(sources):
        file, text = name.replace(".", "/"), _as_module(name, sources[name])
        compile_module(file, text, folder=place / "core", into=library, prefix=prefix, options=_RELAXED)
    right = LEFT.replace("left", "right")
    return put_project(
        place / "project", prefix, {"Proj/Basic": BASIC, "Proj/Left": LEFT, "Proj/Right": right, "Proj": MAIN}
    )


def _as_module(name: str, text: str) -> str:
    section = "public meta section" if name.endswith(".Meta") else "@[expose] public section"
    text = re.sub(r"^prelude", "module\nprelude", text, count=1, flags=re.MULTILINE)
    text = re.sub(r"^import (\S+)", r"public import \1\npublic meta import \1", text, flags=re.MULTILINE)
    text = re.sub(r'^(@\[extern "c"[^\n]*?\]) opaque', r"\1 meta opaque", text, flags=re.MULTILINE)
    lines = text.splitlines()
    end = max(at for at, line in enumerate(lines) if line.startswith(("prelude", "public import", "public meta")))
    return "\n".join([*lines[: end + 1], section, *lines[end + 1 :]]) + "\n"
