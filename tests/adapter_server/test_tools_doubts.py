"""Refutations, disputes, links, revisions and feedback as agents meet them, with real Lean."""

import pytest

from bus.link import Link
from tests.adapter_server.conftest import APPEND, Join, agent_client, open_episode, register

pytestmark = pytest.mark.anyio

FALSE_COMM = "∀ (x y : L), app x y = app y x"
FALSE_NIL = "∀ (x : L), app x .nil = .nil"
FALSE_NAT = "∀ (n : Nat), n + 1 = 2"
NOT_NIL = f"""theorem not_nil : ¬ ({FALSE_NIL}) := by
  intro h
  have e := h (.cons 0 .nil)
  cases e
"""
REV_APP = "∀ (x y : L), rev (app x y) = app (rev y) (rev x)"
GLUE = "intro x\ninduction x with\n| nil => rfl\n| cons h t ih => rw [rev, rev_app, ih]; rfl\n"


async def test_a_proof_of_the_negation_refutes_a_part_and_every_split_that_needs_it(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        children = [{"name": "rev_app", "statement": REV_APP}, {"name": "false_nil", "statement": FALSE_NIL}]
        split = await ada.ok("plan", action="split", parent="n0", children=children, glue=GLUE)
        node = split["children"][1]["node"]
        refused = await bob.fails("refute", kind="proof", node=node, lean="theorem t : ¬ ((0 : Nat) = 1) := by decide")
        assert refused["code"] == "statement_mismatch"
        done = await bob.call("refute", kind="proof", node=node, lean=NOT_NIL)
        assert done.headline == f"{node} is refuted; hits {split['alternative']}"
        assert (done.facts["status"], done.facts["parents"]) == ("refuted", ["n0"])
        news = await ada.call("find", q="nothing")
        assert any("node_refuted" in line and split["alternative"] in line for line in news.news)
        assert (await ada.fails("plan", action="add", name="again", statement=FALSE_NIL))["code"] == "refuted"
        assert (await ada.fails("claim", action="take", node=node))["code"] == "refuted"


@pytest.mark.parametrize(
    ("statement", "evidence"),
    [(FALSE_NAT, "5"), (FALSE_COMM, "(.cons 0 .nil) (.cons 1 .nil)"), (FALSE_NIL, "(L.cons 0 .nil)")],
)
async def test_a_witness_refutes_by_computation(team: Join, statement: str, evidence: str) -> None:
    async with team("ada") as ada:
        node = (await ada.ok("plan", action="add", name="wrong", statement=statement))["node"]
        done = await ada.ok("refute", kind="witness", node=node, evidence=evidence)
        assert done["status"] == "refuted"


async def test_a_witness_that_shows_nothing_changes_nothing(team: Join) -> None:
    async with team("ada") as ada:
        node = (await ada.ok("plan", action="add", name="rev_app", statement=REV_APP))["node"]
        refused = await ada.fails("refute", kind="witness", node=node, evidence=".nil .nil")
        assert refused["code"] == "not_lean"
        shown = await ada.ok("plan", action="show", parent=node)
        assert shown["nodes"][0]["status"] == "open"


async def test_an_argument_only_disputes(join: Join) -> None:
    async with join("ada") as ada:
        assert (await ada.fails("refute", kind="argument", node="n0"))["code"] == "bad_arguments"
        done = await ada.ok("refute", kind="argument", node="n0", evidence="too good", repair="for nil")
        assert (done["node"], done["status"]) == ("n0", "disputed")
        assert (await ada.ok("claim", action="take", node="n0"))["node"] == "n0"


async def test_an_episode_with_a_false_target_ends(link: Link) -> None:
    source = APPEND + f"\ntheorem wrong : {FALSE_NIL} := by sorry\n"
    episode = (await open_episode(link, source)).episode
    async with agent_client(await register(link, episode, "ada")) as ada:
        proof = "by intro h; have e := h (.cons 0 .nil); cases e"
        assert (await ada.ok("refute", kind="proof", statement=FALSE_NIL, lean=proof))["node"] == "n0"
        ended = await ada.ok("wait", **{"for": ["assembled"]}, timeout_s=20)
        assert ended["events"][-1]["status"] == "refuted"


async def test_existing_parts_are_linked_with_simple_glue(join: Join) -> None:
    async with join("ada") as ada:
        stronger = "∀ (x : L), rev (rev x) = x ∧ x = x"
        part = (await ada.ok("plan", action="add", name="stronger", statement=stronger))["node"]
        linked = await ada.ok("plan", action="link", parent="n0", children=[part])
        assert [child["node"] for child in linked["children"]] == [part]
        again = await ada.fails(
            "plan", action="link", parent="n0", children=[part], glue="intro x; exact (stronger x).1"
        )
        assert again["code"] == "duplicate"
        assert (await ada.fails("plan", action="link", parent=part, children=["n0"]))["code"] in ("not_lean", "cyclic")
        assert (await ada.fails("plan", action="link", parent="n0"))["code"] == "bad_arguments"


async def test_authors_revise_names_and_texts(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        await ada.ok("plan", action="add", name="one", statement=REV_APP)
        revised = await ada.ok("plan", action="revise", node="one", name="rev_app", text="the key lemma")
        assert (revised["node"], revised["name"], revised["text"]) == ("n1", "rev_app", "the key lemma")
        refused = await bob.fails("plan", action="revise", node="n1", name="mine")
        assert (refused["code"], refused["author"]) == ("bad_arguments", "ada")


async def test_feedback_reaches_operators_and_no_agent(join: Join, link: Link, episode: str) -> None:
    async with join("ada") as ada, join("bob") as bob:
        await bob.ok("digest")
        assert await ada.ok("feedback", text="find is slow", about="find") == {"recorded": True}
        reply = await bob.call("digest")
        assert "find is slow" not in reply.text
        assert (await bob.ok("wait", timeout_s=0))["timed_out"] is True
        async for event in link.subscribe(episode):
            if event.kind == "feedback_given":
                assert event.body == {"text": "find is slow", "about": "find"}
                break


async def test_a_check_that_goes_on_is_followed_as_a_job(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        source = "\n".join(f"theorem slow_{n} : ∀ (x : L), app .nil x = x := by intro x; rfl" for n in range(60))
        first = await ada.ok("check", source=source, wait_s=1)
        if first.get("state") == "running":
            assert (await bob.ok("job", id=first["job"], wait_s=0))["job"] == first["job"]
            done = await ada.ok("job", id=first["job"], wait_s=44)
            assert done["state"] == "done"
            first = done
        assert first["verdicts"]
        assert (await ada.fails("job", id="j00000000"))["code"] == "gone"
