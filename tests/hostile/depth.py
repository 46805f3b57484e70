"""Attacks below intake: texts that intake would refuse, compiled all the same, and artifacts that no Lean wrote."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from lemma_store.judge import Judge
from lemma_store.lean.elaboration import Elaboration, ForkServer
from lemma_store.tasks import Answer, Artifact
from lemma_store.world import World
from tests.lemma_store.forge import NIL, Forge

HEADER = "prelude\nimport MiniCore\nimport Problem\n"
IMPORTS = ("MiniCore", "Problem")


class DepthCase(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact and what the judge must say to it."""

    name: str
    expect: str
    """`refused` the artifact as a whole · `rejected` every theorem · `accepted` · `bounded` anything but a hang"""

    guard: str
    """The step of the pipeline that sees it first."""

    text: str = ""
    forge: Callable[[], bytes] | None = None
    theorems: tuple[str, ...] = ("t",)
    definitions: tuple[str, ...] = ("d",)

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


async def judge_case(case: DepthCase, *, world: World, judge: Judge, lean: ForkServer) -> str:
    """Return what was said: a status, or `accepted`, `rejected`, `mixed` when the artifact was judged."""
    data = case.forge() if case.forge else await _compile(case.text, world=world, lean=lean)
    return summary(await judge_bytes(data, case=case, world=world, judge=judge))


async def judge_bytes(data: bytes, *, case: DepthCase, world: World, judge: Judge) -> Answer:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "Check.olean"
        path.write_bytes(data)
        task = Artifact(
            path=str(path), imports=IMPORTS, theorems=case.theorems, definitions=case.definitions, world=world.stamp,
            folder=folder,
        )  # fmt: skip
        return await judge.ask(task, limit_ms=20_000)


def summary(answer: Answer) -> str:
    if answer.status != "done":
        return answer.status
    outcomes = {item.outcome for item in answer.judged if item.is_theorem}
    return outcomes.pop() if len(outcomes) == 1 else "mixed" if outcomes else "nothing"


def complaint(case: DepthCase, said: str) -> str:
    """Return what is wrong with an answer; empty when it is right."""
    is_right = (
        said in ("rejected", "refused", "undecided", "accepted") if case.expect == "bounded" else said == case.expect
    )
    return "" if is_right else f"{case.name}: {said} instead of {case.expect}"


async def _compile(text: str, *, world: World, lean: ForkServer) -> bytes:
    source = text if text.startswith("prelude") else HEADER + text
    done = await lean.run(
        Elaboration(source=source.encode(), lean_path=world.lean_path, module="Check", wants_artifact=True)
    )
    assert done.artifact is not None, done.messages
    return done.artifact


def _theorem(
    statement: Callable[[Forge], int], proof: Callable[[Forge], int], *, names: tuple[str, ...] = ("t",)
) -> bytes:
    forge = Forge()
    return forge.module([forge.theorem(name.split("."), statement(forge), proof(forge)) for name in names])


def _true(forge: Forge) -> int:
    return forge.constant("True")


def _intro(forge: Forge) -> int:
    return forge.constant("True", "intro")


def _false(forge: Forge) -> int:
    return forge.constant("False")


def _one(forge: Forge) -> int:
    return forge.object(1, [NIL], b"\0" * 8)


def _equal(forge: Forge, type_: int, one: int, two: int) -> int:
    return forge.application(forge.constant("Eq", levels=[_one(forge)]), type_, one, two)


def _zero_byte() -> bytes:
    """`"a\\0b" = "a\\0c"`, which is true of texts that end at the first zero byte."""
    forge = Forge()
    one, two, text = forge.literal("a\0b"), forge.literal("a\0c"), forge.constant("String")
    proof = forge.application(forge.constant("Eq", "refl", levels=[_one(forge)]), text, one)
    return forge.module([forge.theorem(["t"], _equal(forge, text, one, two), proof)])


def _with(*make: Callable[[Forge], int]) -> bytes:
    forge = Forge()
    return forge.module([part(forge) for part in make])


def _t_by(*constant: str) -> Callable[[Forge], int]:
    return lambda forge: forge.theorem(["t"], _false(forge), forge.constant(*constant))


def _unsafe_definition(safety: int) -> bytes:
    return _with(lambda forge: forge.definition(["d"], _false(forge), forge.constant("d"), safety=safety), _t_by("d"))


def _foreign_group() -> bytes:
    """A type that says it was declared together with `Nat`, so that nobody checks it again."""
    forge = Forge()
    group = [forge.name("Nat"), forge.name("d")]
    bad = forge.inductive(["d"], forge.sort(), group=group, constructors=[])
    return forge.module([bad, forge.theorem(["t"], forge.constant("d"), _intro(forge))])


def _borrowed_constructor() -> bytes:
    forge = Forge()
    bad = forge.inductive(["d"], forge.sort(), group=[forge.name("d")], constructors=[forge.name("True", "intro")])
    return forge.module([bad, forge.theorem(["t"], forge.constant("d"), _intro(forge))])


def _wrong_recursor() -> bytes:
    """An empty proposition whose recursor the artifact gives as a proof of `False`."""
    forge = Forge()
    empty = forge.inductive(["d"], forge.sort(), group=[forge.name("d")], constructors=[])
    recursor = forge.recursor(["d", "rec"], _false(forge), group=[forge.name("d")])
    return forge.module([empty, recursor, forge.theorem(["t"], _false(forge), forge.constant("d", "rec"))])


def _shared_tree() -> bytes:
    """`P ∧ P` two hundred times over: a small graph, a tree of 2 ** 200 leaves."""
    forge = Forge()
    statement, proof = _true(forge), _intro(forge)
    both, intro = forge.constant("And"), forge.constant("And", "intro")
    for _ in range(200):
        proof = forge.application(intro, statement, statement, proof, proof)
        statement = forge.application(both, statement, statement)
    return forge.module([forge.theorem(["t"], statement, proof)])


def _deep_proof() -> bytes:
    forge = Forge()
    proof, implies, apply = _intro(forge), _true(forge), forge.binder(_true(forge), forge.bound(0), is_pi=False)
    for _ in range(100_000):
        proof = forge.application(apply, proof)
    return forge.module([forge.theorem(["t"], implies, proof)])


DEPTH_CASES = (
    DepthCase(
        name="the kernel was skipped", expect="rejected", guard="kernel",
        text="set_option debug.skipKernelTC true in theorem t : 1 = 2 := by decide +kernel\n",
    ),
    DepthCase(
        name="the kernel was skipped twice for the same term", expect="rejected", guard="kernel", theorems=("t", "t2"),
        text="set_option debug.skipKernelTC true\ntheorem t : 1 = 2 := by decide +kernel\n"
        "theorem t2 : 1 = 2 := by decide +kernel\n",
    ),
    DepthCase(
        name="an axiom of the text", expect="rejected", guard="axioms",
        text="axiom door : False\ntheorem t : 1 = 2 := door.elim\n",
    ),
    DepthCase(
        name="sorry without a warning", expect="rejected", guard="axioms",
        text="set_option warn.sorry false\ntheorem t : 1 = 2 := sorryAx _ false\n",
    ),
    DepthCase(
        name="an option that turns every proof into sorry", expect="rejected", guard="axioms",
        text="set_option debug.proofAsSorry true\ntheorem t : 1 = 1 := rfl\n",
    ),
    DepthCase(
        name="the rest of the file is cut off", expect="accepted", guard="none",
        text="theorem t : True := True.intro\n#exit\ntheorem t2 : False := nonsense\n", theorems=("t", "t2"),
    ),
    DepthCase(
        name="a native symbol", expect="refused", guard="extensions",
        text='@[extern "lean_nat_add"] def d (a b : Nat) : Nat := a + b\ntheorem t : d 1 1 = 2 := rfl\n',
    ),
    DepthCase(
        name="another implementation", expect="refused", guard="extensions",
        text="def e : Nat := 3\n@[implemented_by e] def d : Nat := 2\ntheorem t : d = 2 := rfl\n",
    ),
    DepthCase(
        name="notation", expect="refused", guard="extensions",
        text='notation "impossible" => True\ntheorem t : impossible := True.intro\n',
    ),
    DepthCase(
        name="a macro", expect="refused", guard="extensions",
        text='macro "qed" : tactic => `(tactic| trivial)\ntheorem t : True := by qed\n',
    ),
    DepthCase(
        name="other imports than the server's", expect="refused", guard="imports",
        text="prelude\nimport MiniCore\ntheorem t : True := True.intro\n",
    ),
    DepthCase(
        name="its own False in place of the library's", expect="refused", guard="imports",
        text="prelude\ninductive False : Prop\ninductive True : Prop where | intro\ntheorem t : True := True.intro\n",
    ),
    DepthCase(
        name="a false theorem with a true one's proof", expect="rejected", guard="kernel",
        forge=lambda: _theorem(_false, _intro),
    ),
    DepthCase(
        name="the same false theorem under two names", expect="rejected", guard="kernel", theorems=("t", "s"),
        forge=lambda: _theorem(_false, _intro, names=("t", "s")),
    ),
    DepthCase(
        name="a theorem that is data", expect="rejected", guard="kernel",
        forge=lambda: _theorem(lambda forge: forge.constant("Nat"), lambda forge: forge.literal(3)),
    ),
    DepthCase(
        name="texts that differ after a zero byte", expect="rejected", guard="kernel", forge=_zero_byte,
    ),
    DepthCase(
        name="an unknown constant", expect="rejected", guard="harvest", forge=lambda: _with(_t_by("nowhere")),
    ),
    DepthCase(
        name="a theorem that proves itself", expect="rejected", guard="order", forge=lambda: _with(_t_by("t")),
    ),
    DepthCase(
        name="an axiom with a permitted name", expect="refused", guard="names",
        forge=lambda: _with(lambda forge: forge.axiom(["propext"], _false(forge)), _t_by("propext")),
    ),
    DepthCase(
        name="a function that the kernel computes by name", expect="refused", guard="names",
        forge=lambda: _with(
            lambda forge: forge.definition(["Nat", "gcd"], forge.constant("Nat"), forge.literal(0)), _t_by("Nat", "gcd")
        ),
    ),
    DepthCase(name="an unsafe inhabitant", expect="rejected", guard="safety", forge=lambda: _unsafe_definition(0)),
    DepthCase(name="a partial inhabitant", expect="rejected", guard="safety", forge=lambda: _unsafe_definition(2)),
    DepthCase(
        name="a name that reads like a statement", expect="rejected", guard="odd names",
        forge=lambda: _with(lambda forge: forge.theorem(["False\n-- ", "t"], _true(forge), _intro(forge))),
    ),
    DepthCase(
        name="a name that no text can write",
        expect="rejected",
        guard="odd names",
        forge=lambda: _with(lambda forge: forge.theorem(["1@Nat", "t"], _true(forge), _intro(forge))),
    ),
    DepthCase(
        name="a loose variable", expect="refused", guard="closed",
        forge=lambda: _theorem(lambda forge: forge.bound(0), _intro),
    ),
    DepthCase(
        name="a metavariable", expect="refused", guard="reader",
        forge=lambda: _theorem(_true, lambda forge: forge.object(2, [forge.name("m")], b"\0" * 8)),
    ),
    DepthCase(name="a type that claims a trusted companion", expect="rejected", guard="kernel", forge=_foreign_group),
    DepthCase(
        name="a type that claims a trusted constructor", expect="rejected", guard="kernel", forge=_borrowed_constructor
    ),
    DepthCase(name="a recursor of its own making", expect="rejected", guard="derived", forge=_wrong_recursor),
    DepthCase(name="universe parameters that are one", expect="rejected", guard="kernel", forge=lambda: _with(
        lambda forge: forge.theorem(["t"], _true(forge), _intro(forge), params=["u", "u"])
    )),
    DepthCase(name="an undeclared universe", expect="rejected", guard="kernel", forge=lambda: _theorem(
        lambda forge: forge.binder(forge.sort(forge.object(4, [forge.name("v")], b"\0" * 8)), _true(forge)),
        lambda forge: forge.binder(
            forge.sort(forge.object(4, [forge.name("v")], b"\0" * 8)), _intro(forge), is_pi=False
        ),
    )),
    DepthCase(name="a tree without end that is a small graph", expect="bounded", guard="none", forge=_shared_tree),
    DepthCase(name="a proof a hundred thousand steps deep", expect="bounded", guard="none", forge=_deep_proof),
    DepthCase(name="an honest theorem", expect="accepted", guard="none", forge=lambda: _theorem(_true, _intro)),
    DepthCase(
        name="an honest definition", expect="accepted", guard="none",
        text="def d (n : Nat) : Nat := n + n\ntheorem t : d 2 = 4 := rfl\n",
    ),
)  # fmt: skip
