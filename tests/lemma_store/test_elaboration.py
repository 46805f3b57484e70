"""What comes back for a Lean file."""

from pathlib import Path

import anyio
import pytest

from bus.errors import BadArguments
from lemma_store.lean.core_library import CoreLibrary
from lemma_store.lean.elaboration import Elaboration, ForkServer
from tests.lemma_store.lean_files import ENDLESS, GOOD, HEADER, endless, file

pytestmark = pytest.mark.anyio


async def test_a_good_file_becomes_an_artifact_without_messages(lean: ForkServer, core: CoreLibrary):
    done = await lean.run(file(GOOD, core, wants_artifact=True))

    assert (done.outcome, done.exit_code, done.messages) == ("finished", 0, ())
    assert done.artifact is not None
    assert done.artifact.startswith(b"olean")
    assert done.cpu_ms > 0
    assert done.peak_bytes > 1 << 20


async def test_no_artifact_is_made_unless_it_is_wanted(lean: ForkServer, core: CoreLibrary):
    assert (await lean.run(file(GOOD, core))).artifact is None


async def test_an_error_points_into_the_file(lean: ForkServer, core: CoreLibrary):
    done = await lean.run(file(GOOD + "theorem bad : True := nowhere_defined\n", core, wants_artifact=True))

    assert (done.outcome, done.exit_code, done.artifact) == ("finished", 1, None)
    assert [(message.severity, message.line, message.column) for message in done.messages] == [("error", 4, 22)]


async def test_sorry_is_a_warning_with_its_kind(lean: ForkServer, core: CoreLibrary):
    done = await lean.run(file("theorem open_ : 1 = 2 := by sorry\n", core))

    assert (done.outcome, done.exit_code) == ("finished", 0)
    assert [(message.severity, message.kind) for message in done.messages] == [("warning", "hasSorry")]


async def test_the_module_has_the_name_it_was_given(lean: ForkServer, core: CoreLibrary, tmp_path: Path):
    first = await lean.run(
        file("private theorem hidden : True := trivial\n" + GOOD, core, module="L.first", wants_artifact=True)
    )
    assert first.artifact
    folder = anyio.Path(tmp_path / "modules")
    await (folder / "L").mkdir(parents=True)
    await (folder / "L" / "first.olean").write_bytes(first.artifact)
    user = Elaboration(
        source=f"{HEADER}import L.first\nprivate theorem hidden : True := trivial\n#check @both\n".encode(),
        lean_path=(str(core.folder), str(folder)),
        module="L.second",
        wants_artifact=True,
    )

    second = await lean.run(user)

    assert b"L.first" in first.artifact or b"first" in first.artifact
    assert second.outcome == "finished"
    assert [message.severity for message in second.messages] == ["info"]
    assert second.messages[0].text.startswith("@both")


async def test_the_same_text_gives_the_same_bytes(lean: ForkServer, core: CoreLibrary):
    one = await lean.run(file(GOOD, core, wants_artifact=True))
    two = await lean.run(file(GOOD, core, wants_artifact=True))

    assert one.artifact == two.artifact


async def test_a_module_that_is_missing_is_an_error_of_the_file(lean: ForkServer, core: CoreLibrary):
    done = await lean.run(Elaboration(source=b"prelude\nimport Nowhere\n", lean_path=(str(core.folder),)))

    assert (done.outcome, done.exit_code) == ("finished", 1)
    assert "Nowhere" in done.messages[0].text


async def test_heartbeats_end_a_loop_as_an_error_of_the_file(lean: ForkServer, core: CoreLibrary):
    done = await lean.run(file(ENDLESS, core, heartbeats=200))

    assert (done.outcome, done.exit_code) == ("finished", 1)
    assert any("heartbeats" in message.text or "recursion" in message.text for message in done.messages)


async def test_the_wall_clock_ends_a_loop_that_lifted_its_heartbeats(lean: ForkServer, core: CoreLibrary):
    done = await lean.run(endless(core, wall_ms=500))

    assert (done.outcome, done.artifact) == ("timeout", None)


async def test_a_file_that_prints_too_much_is_a_flood(lean: ForkServer, core: CoreLibrary):
    done = await lean.run(file("example : x" + "y" * 5_000_000 + " := 0\n", core))

    assert (done.outcome, done.is_truncated) == ("flooded", True)


async def test_options_are_set_and_nothing_else_gets_through_as_one(lean: ForkServer, core: CoreLibrary):
    text = "theorem same (p : prop) : p → p := fun h => h\n"

    lax = await lean.run(file(text, core, options=("autoImplicit=true", "relaxedAutoImplicit=true")))
    strict = await lean.run(file(text, core, options=("autoImplicit=false",)))

    assert lax.messages != strict.messages
    assert "prop" in strict.messages[0].text
    for option in ("a", "a=b c", "-o=x", "a=b\n", "=x"):
        with pytest.raises(BadArguments):
            await lean.run(file(text, core, options=(option,)))


async def test_an_odd_module_name_is_refused(lean: ForkServer, core: CoreLibrary):
    for name in ("", "../up", "A..B", "A.b c", "/etc/x", "A\n"):
        with pytest.raises(BadArguments):
            await lean.run(file(GOOD, core, module=name))
