"""A finished proof: assembled, verified from its folder alone, and not verified once anything in it changes."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import anyio
import msgspec
import pytest

from lemma_store import ground
from lemma_store.lean.core_library import CoreLibrary
from lemma_store.lean.elaboration import Elaboration, ForkServer
from lemma_store.types import Assembly, Certificate
from lemma_store.verification import verify
from tests.lemma_store.forge import Forge
from tests.lemma_store.stores import PROBLEM, accepted, running_store

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]

LEMMAS = """theorem app_nil {a : Type} (xs : lst a) : app xs .nil = xs := by induction xs <;> simp_all [app]
theorem app_assoc {a : Type} (xs ys zs : lst a) : app (app xs ys) zs = app xs (app ys zs) := by
  induction xs <;> simp_all [app]
theorem unused (n : Nat) : n = n := rfl
"""
REV_APP = """namespace Deep
section
variable {{a : Type}} (xs : lst a)
def both (ys : lst a) : lst a := app xs ys
@[simp] theorem both_nil : both xs .nil = xs := {app_nil} xs
end
mutual
def even : Nat → Bool
  | 0 => true
  | n + 1 => odd n
def odd : Nat → Bool
  | 0 => false
  | n + 1 => even n
end
open Deep in
theorem rev_app {{a : Type}} (xs ys : lst a) : rev (app xs ys) = both (rev ys) (rev xs) ∧ even 0 ≠ odd 0 := by
  refine ⟨?_, fun no => nomatch no⟩
  induction xs with
  | nil => simp [app, rev]
  | cons x xs ih => simp [app, rev, ih, both, {app_assoc}]
end Deep
theorem rev_rev {{a : Type}} (xs : lst a) : rev (rev xs) = xs := by
  induction xs with
  | nil => rfl
  | cons x xs ih => simp [rev, app, (Deep.rev_app _ _).1, ih, Deep.both]
"""


@pytest.fixture(scope="module")
async def solved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Assembly]:
    """The folder of a solved episode, whose store is closed."""
    folder = tmp_path_factory.mktemp("solved")
    async with running_store(folder) as store:
        await store.open_problem("e", source=PROBLEM)
        report = await store.check("e", author="ada", source=LEMMAS)
        names = {name: accepted(report, name).name for name in ("app_nil", "app_assoc")}
        report = await store.check("e", author="bo", source=REV_APP.format(**names))
        assembly = await store.assemble("e", accepted(report, "rev_rev").id)
    return folder / "episodes" / "e", assembly


@pytest.fixture
async def folder(
    solved: tuple[Path, Assembly], tmp_path: Path, core: CoreLibrary, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A copy of the solved episode; verifying it takes the core library from the tests' cache to save time."""

    async def cached(*_: object, **__: object) -> CoreLibrary:
        await anyio.lowlevel.checkpoint()
        return core

    monkeypatch.setattr(ground, "build_core_library", cached)
    return shutil.copytree(solved[0], tmp_path / "copy")


def certificate_of(folder: Path) -> Certificate:
    return msgspec.json.decode((folder / "certificate.json").read_bytes(), type=Certificate)


def write_certificate(folder: Path, **changes: object) -> None:
    changed = msgspec.structs.replace(certificate_of(folder), **changes)
    (folder / "certificate.json").write_bytes(msgspec.json.encode(changed))


def resign(folder: Path) -> None:
    """Let the certificate name the files as they are now."""
    files = certificate_of(folder).files
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files}
    write_certificate(folder, files=digests)


async def test_the_certificate_says_what_was_proved_and_from_what(solved: tuple[Path, Assembly]):
    folder, assembly = solved
    certificate = assembly.certificate

    assert certificate.statement == "∀ {a : Type} (xs : lst a), rev (rev xs) = xs"
    assert set(certificate.axioms) <= {"propext", "Quot.sound", "Classical.choice"}
    assert certificate == certificate_of(folder)
    assert {"problem.lean", "proof.lean"} < certificate.files.keys()
    assert not any("unused" in row.name for row in assembly.credit)
    assert {row.author for row in assembly.credit} == {"ada", "bo"}


async def test_the_proof_text_is_lean_that_proves_the_target(
    solved: tuple[Path, Assembly], lean: ForkServer, core: CoreLibrary
):
    done = await lean.run(Elaboration(source=solved[1].proof.encode(), lean_path=(str(core.folder),)))

    assert (done.exit_code, done.messages) == (0, ())
    assert "theorem rev_rev :" in solved[1].proof


async def test_an_untouched_folder_is_proved_with_everything_built_anew(solved: tuple[Path, Assembly]):
    found = await verify(solved[0])

    assert found.is_proved, found.reasons
    assert found.statement == solved[1].certificate.statement
    assert found.declarations == solved[1].certificate.declarations


async def test_every_changed_byte_of_a_file_is_noticed(folder: Path):
    for name in certificate_of(folder).files:
        path = folder / name
        data = path.read_bytes()
        for at in (0, len(data) // 2, len(data) - 1):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            found = await verify(folder)
            assert not found.is_proved
            assert name in found.reasons[0]
        path.unlink()
        assert not (await verify(folder)).is_proved
        path.write_bytes(data)


@pytest.mark.parametrize(
    "changes",
    [
        {"toolchain": "lean-0"},
        {"policy": "0"},
        {"theorem": "another"},
        {"files": {}},
        {"files": {"../../outside": "0" * 64}},
        {"root": "app", "lemmas": ()},
    ],
    ids=str,
)
async def test_a_certificate_of_something_else_is_not_believed(folder: Path, changes: dict[str, object]):
    write_certificate(folder, **changes)

    assert not (await verify(folder)).is_proved


async def test_every_claim_of_the_certificate_is_compared_with_the_replay(folder: Path):
    claims: dict[str, object] = {
        "statement": "∀ {a : Type} (xs : lst a), rev xs = xs",
        "statement_hash": "0" * 64,
        "axioms": (),
        "kernels": ("lean 9 (another)",),
        "library": "core-0",
        "declarations": 1,
    }
    write_certificate(folder, **claims)

    found = await verify(folder)

    assert not found.is_proved
    for claim in ("says statement", "another hash", "says axioms", "says kernels", "says library", "says declarations"):
        assert any(claim in reason for reason in found.reasons)


async def test_a_folder_without_a_readable_certificate_is_not_proved(folder: Path):
    (folder / "certificate.json").write_text("{}")
    assert not (await verify(folder)).is_proved
    (folder / "certificate.json").unlink()
    assert not (await verify(folder)).is_proved
    assert not (await verify(folder / "nowhere")).is_proved


def _other_target(folder: Path) -> None:
    text = (folder / "problem.lean").read_text()
    (folder / "problem.lean").write_text(text.replace("rev (rev xs) = xs", "rev xs = xs"))


def _other_definition(folder: Path) -> None:
    text = (folder / "problem.lean").read_text()
    (folder / "problem.lean").write_text(text.replace("| .nil, ys => ys", "| .nil, ys => .nil"))


def _axiom_for_a_lemma(folder: Path) -> None:
    """Replace the last lemma by an axiom of the same name and statement."""
    forge = Forge()
    root = certificate_of(folder).root
    statement = forge.constant("False")
    data = forge.module([forge.axiom([root], statement)])
    (folder / "modules" / "L" / f"{certificate_of(folder).lemmas[-1]}.olean").write_bytes(data)


def _one_lemma_for_another(folder: Path) -> None:
    one, two = (folder / "modules" / "L" / f"{ident}.olean" for ident in certificate_of(folder).lemmas[:2])
    one.write_bytes(two.read_bytes())


@pytest.mark.parametrize("tamper", [_other_target, _other_definition, _axiom_for_a_lemma, _one_lemma_for_another])
async def test_consistent_forgeries_are_not_proved(folder: Path, tamper: Callable[[Path], None]):
    tamper(folder)
    resign(folder)

    assert not (await verify(folder)).is_proved
