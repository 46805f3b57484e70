"""Every tool as an agent meets it: through an MCP client, against real Valkey and real Lean."""

from typing import Any

import anyio
import pytest

from bus.link import Link
from bus.messages import EpisodeRef, EpisodeStatus
from tests.adapter_server.conftest import APP_NIL, APP_NIL_PROOF, APPEND, Join, agent_client, open_episode, register

pytestmark = pytest.mark.anyio

APP_ASSOC_PROOF = """theorem app_assoc : ∀ (x y z : L), app (app x y) z = app x (app y z) := by
  intro x y z
  induction x with
  | nil => rfl
  | cons h t ih => simp [app, ih]
"""
REV_APP = "∀ (x y : L), rev (app x y) = app (rev y) (rev x)"
GLUE = """intro x
induction x with
| nil => rfl
| cons h t ih => rw [rev, rev_app, ih]; rfl
"""


def rev_app_proof(app_nil: str, app_assoc: str) -> str:
    return f"""theorem rev_app : {REV_APP} := by
  intro x y
  induction x with
  | nil => simp [app, rev, {app_nil}]
  | cons h t ih => simp [app, rev, ih, {app_assoc}]
"""


async def test_the_first_digest_tells_an_agent_what_to_do(join: Join, episode: str) -> None:
    async with join("ada") as ada:
        reply = await ada.call("digest")
        assert reply.headline == "planning: 0 of 1 parts closed, 0 lemmas; next: claim next n0"
        facts = reply.facts
        assert facts["episode"] == episode
        assert facts["target"] == {"node": "n0", "statement": "∀ (x : L), rev (rev x) = x", "status": "open"}
        assert facts["me"] == {"agent": "ada", "role": "planner"}
        assert [one["node"] for one in facts["frontier"]] == ["n0"]
        assert facts["next"][0]["do"] == "claim next"


async def test_two_agents_split_prove_and_reuse_and_the_server_puts_the_proof_together(join: Join) -> None:
    async with join("ada") as ada, join("bob", mode="legacy") as bob:
        split = await ada.ok(
            "plan", action="split", parent="n0", children=[{"name": "rev_app", "statement": REV_APP}], glue=GLUE
        )
        assert split["glue_verdict"] == "accepted"
        part = split["children"][0]["node"]
        lemmas = await ada.ok("check", source=APP_NIL_PROOF + APP_ASSOC_PROOF)
        names = [verdict["lemma"] for verdict in lemmas["verdicts"]]

        claimed = await bob.ok("claim", action="take", node=part, approach="induction on x")
        found = await bob.ok("find", q="app nil")
        assert names[0] in [hit["name"] for hit in found["hits"]]
        checked = await bob.ok("check", source=rev_app_proof(*names), node=part, fence=claimed["fence"])
        assert checked["verdicts"][0].get("closes") == [part], checked

        done = await ada.ok("wait", **{"for": ["assembled"]}, timeout_s=40)
        assert done["events"][-1]["status"] == "solved"
        solved = await bob.ok("submit")
        assert solved["status"] == "solved"
        assert {row["author"] for row in solved["credit"]} == {"ada", "bob"}
        proof = await bob.ok("get", id="proof")
        assert "theorem rev_rev" in proof["text"]
        assert (await ada.ok("digest"))["next"] == [{"do": "stop", "why": "the episode is solved"}]
        refused = await ada.fails("say", type="note", text="too late")
        assert refused["code"] == "episode_closed"


async def test_a_proof_of_the_target_itself_solves_the_episode(link: Link) -> None:
    episode = (await open_episode(link, APP_NIL)).episode
    async with agent_client(await register(link, episode, "ada")) as ada:
        checked = await ada.call("check", source=APP_NIL_PROOF)
        assert checked.facts["verdicts"][0]["closes"] == ["n0"]
        assert "closes n0" in checked.headline
        assert (await ada.ok("submit", action="assemble"))["status"] == "solved"
        assert (await ada.ok("wait", timeout_s=30))["timed_out"] is False


async def test_a_failed_check_shows_errors_with_positions_and_goals(team: Join) -> None:
    async with team("ada") as ada:
        source = "theorem wrong : ∀ (x : L), app x .nil = .nil := by\n  intro x\n  cases x\n  · rfl\n  · simp [app]\n"
        reply = await ada.call("check", source=source)
        assert not reply.is_error
        assert reply.facts["verdicts"][0]["outcome"] == "rejected"
        assert reply.facts["errors"][0]["line"] >= 1
        assert "not accepted" in reply.headline


async def test_a_text_that_was_refused_before_is_no_check_for_whoever_sends_it_again(
    link: Link, join: Join, episode: str
) -> None:
    async with join("ada") as ada, join("bob") as bob:
        source = "theorem wrong : ∀ (x : L), app x x = x := by\n  intro x\n  cases x <;> simp [app]\n"
        first = await ada.ok("check", source=source)
        again = await bob.ok("check", source=source)
        status = await link.call("episode.status", EpisodeRef(episode=episode), EpisodeStatus)
        assert "checked_before" not in first
        assert again == first | {"ms": 0, "checked_before": True}
        assert status.checks == 1


async def test_honest_neighbours_of_a_failed_theorem_are_kept(team: Join) -> None:
    async with team("ada") as ada:
        facts = await ada.ok("check", source=APP_NIL_PROOF + "theorem no : (0 : Nat) = 1 := by rfl\n")
        assert {verdict["name"]: verdict["outcome"] for verdict in facts["verdicts"]} == {
            "app_nil": "accepted",
            "no": "rejected",
        }


@pytest.mark.parametrize(
    ("source", "code"),
    [("axiom cheat : False", "unsafe_source"), ("import Init", "unsafe_source"), ("x" * 200_001, "too_large")],
)
async def test_unsafe_or_huge_sources_are_refused(team: Join, source: str, code: str) -> None:
    async with team("ada") as ada:
        assert (await ada.fails("check", source=source))["code"] == code


async def test_checking_a_statement_says_how_lean_reads_it_and_whether_the_team_has_it(team: Join) -> None:
    async with team("ada") as ada:
        facts = await ada.ok("check", mode="statement", source="∀ (a : L), rev (rev a) = a")
        assert facts["same_as"] == ["n0"]
        assert "same_as" not in await ada.ok(
            "check", mode="statement", source="app .nil .nil = app .nil (app .nil .nil)"
        )
        assert (await ada.fails("check", mode="statement", source="∀ (a : M), a = a"))["code"] == "not_lean"


async def test_a_check_with_a_stale_fence_keeps_the_lemma_and_says_so(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        claimed = await ada.ok("claim", action="next")
        await ada.ok("claim", action="release", node="n0", outcome="stuck", note="no idea")
        await bob.ok("claim", action="next")
        facts = await ada.ok("check", source=APP_NIL_PROOF, node="n0", fence=claimed["fence"])
        assert facts["stale"]["code"] == "stale_fence"
        assert facts["stale"]["owner"] == "bob"
        assert facts["verdicts"][0]["outcome"] == "accepted"


async def test_a_node_that_does_not_exist_is_an_error_before_lean_runs(team: Join) -> None:
    async with team("ada") as ada:
        assert (await ada.fails("check", source=APP_NIL_PROOF, node="n9", fence=1))["code"] == "unknown_id"


async def test_a_claim_shows_what_others_tried_and_what_may_help(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        await ada.ok("check", source=APP_NIL_PROOF)
        await ada.ok("claim", action="next", approach="induction")
        full = await bob.fails("claim", action="take", node="n0")
        assert full["code"] == "lease_full"
        assert await bob.ok("claim", action="next") == {"node": None, "leases": []}
        own = await ada.ok("claim", action="next")
        assert [(one["node"], one["fence"]) for one in own["leases"]] == [("n0", 1)]
        await ada.ok("claim", action="release", node="rev_rev", outcome="stuck", note="needs rev_app")
        claimed = await bob.ok("claim", action="next", ttl_s=30)
        assert claimed["fence"] == 2
        assert 25 <= claimed["expires_s"] <= 120
        assert claimed["attempts"] == [
            {"agent": "ada", "approach": "induction", "outcome": "stuck", "note": "needs rev_app"}
        ]
        assert claimed["lemmas"][0]["name"].startswith("app_nil_")


async def test_leases_are_renewed_and_handed_over(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        await ada.ok("claim", action="next")
        renewed = await ada.ok("claim", action="renew", ttl_s=600)
        assert renewed["leases"][0]["expires_s"] > 500
        handed = await ada.ok("claim", action="handoff", node="n0", to="bob", note="yours")
        assert (handed["agent"], handed["fence"]) == ("bob", 2)
        assert (await ada.fails("claim", action="handoff", node="n0", to="bob"))["code"] == "stale_fence"
        assert [one["node"] for one in (await bob.ok("digest"))["leases"]] == ["n0"]
        assert (await bob.fails("claim", action="handoff", node="n0"))["code"] == "bad_arguments"
        assert (await bob.fails("claim", action="release"))["code"] == "bad_arguments"


async def test_the_same_statement_is_met_before_it_is_worked_on(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        added = await ada.ok("plan", action="add", name="helper", statement=REV_APP)
        again = await bob.ok("plan", action="add", name="mine", statement=REV_APP.replace("x", "u"))
        assert (again["node"], again["duplicate_of"]) == (added["node"], added["node"])
        await ada.ok("check", source=APP_NIL_PROOF)
        known = await bob.ok("plan", action="add", name="nil", statement="∀ (l : L), app l .nil = l")
        assert known["status"] == "closed"
        assert known["known_lemma"].startswith("app_nil_")


async def test_glue_that_lean_refuses_adds_nothing(join: Join) -> None:
    async with join("ada") as ada:
        children = [{"name": "rev_app", "statement": REV_APP}]
        refused = await ada.fails("plan", action="split", parent="n0", children=children, glue="intro x; rfl")
        assert refused["code"] == "not_lean"
        assert len((await ada.ok("plan", action="show"))["nodes"]) == 1
        children = [{"name": "h", "statement": "∀ (x : L), rev (rev x) = x"}]
        assert (await ada.fails("plan", action="split", parent="n0", children=children, glue="exact h"))[
            "code"
        ] == "cyclic"


async def test_an_alternative_may_use_existing_parts_and_closes_at_once_when_they_are_closed(link: Link) -> None:
    source = APPEND + "\ntheorem target : ∀ (x : L), app (app x .nil) .nil = x := by sorry\n"
    episode = (await open_episode(link, source)).episode
    async with agent_client(await register(link, episode, "ada")) as ada:
        added = await ada.ok("plan", action="add", name="app_nil", statement="∀ (l : L), app l .nil = l")
        await ada.ok("check", source=APP_NIL_PROOF)
        split = await ada.ok(
            "plan", action="alt", parent="target", children=[added["node"]], glue="intro x; rw [app_nil, app_nil]"
        )
        assert split["children"][0]["status"] == "closed"
        with anyio.fail_after(40):
            while (await ada.ok("submit"))["status"] != "solved":
                await ada.ok("wait", timeout_s=5)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"action": "add"}, "bad_arguments"),
        ({"action": "add", "statement": "∀ x, x"}, "not_lean"),
        ({"action": "add", "statement": "True", "name": "two words"}, "bad_arguments"),
        ({"action": "split", "parent": "n0"}, "bad_arguments"),
        ({"action": "split", "parent": "n7", "children": ["n0"], "glue": "rfl"}, "unknown_id"),
        ({"action": "split", "parent": "n0", "children": ["n7"], "glue": "rfl"}, "unknown_id"),
        (
            {
                "action": "split",
                "parent": "n0",
                "children": [{"name": "h", "statement": "True"}, {"name": "h", "statement": "1 = 1"}],
                "glue": "rfl",
            },
            "bad_arguments",
        ),
        ({"action": "link", "parent": "n0"}, "bad_arguments"),
    ],
)
async def test_a_plan_change_that_makes_no_sense_is_refused(
    team: Join, arguments: dict[str, object], code: str
) -> None:
    async with team("ada") as ada:
        assert (await ada.fails("plan", **arguments))["code"] == code


async def test_only_so_many_parts_may_be_open(link: Link) -> None:
    episode = (await open_episode(link, limits={"open_parts_max": 2})).episode
    async with agent_client(await register(link, episode, "ada")) as ada:
        await ada.ok("plan", action="add", name="one", statement=REV_APP)
        full = await ada.fails("plan", action="add", name="two", statement="∀ (l : L), app l .nil = l")
        assert (full["code"], full["cap"]) == ("too_large", 2)
        children = [{"name": "three", "statement": "∀ (l : L), app l .nil = l"}]
        full = await ada.fails("plan", action="split", parent="n0", children=children, glue="sorry")
        assert full["code"] == "too_large"


async def test_the_plan_is_shown_whole_or_below_one_part(join: Join) -> None:
    async with join("ada") as ada:
        await ada.ok("plan", action="add", name="apart", statement="∀ (l : L), app l .nil = l")
        await ada.ok(
            "plan", action="split", parent="n0", children=[{"name": "rev_app", "statement": REV_APP}], glue=GLUE
        )
        shown = await ada.ok("plan", action="show")
        assert [node["name"] for node in shown["nodes"]] == ["rev_rev", "apart", "rev_app"]
        assert shown["alternatives"] == [{"alternative": "a1", "parent": "n0", "children": ["n2"]}]
        below = await ada.ok("plan", action="show", parent="rev_rev")
        assert [node["node"] for node in below["nodes"]] == ["n0", "n2"]
        focused = await ada.ok("digest", focus="rev_app")
        assert focused["frontier"][0]["name"] == "rev_app"


async def test_messages_reach_those_they_are_for(team: Join) -> None:
    async with team("ada") as ada, team("bob") as bob, team("eve") as eve:
        sent = await ada.ok("say", type="request", text="who has app_nil?", to=[bob.name], needs_ack=True)
        assert sent["recipients"] == [bob.name]
        assert any("who has app_nil?" in line for line in (await bob.call("digest")).news)
        digest = await bob.ok("digest")
        assert {"do": "say", "ref": sent["message"], "why": f"{ada.name} waits for an answer"} in digest["next"]
        assert "who has" not in (await eve.call("digest")).text
        assert (await eve.fails("get", id=sent["message"]))["code"] == "unknown_id"
        assert (await bob.ok("get", id=sent["message"]))["text"] == f"{ada.name} (request): who has app_nil?"
        await bob.ok("say", type="answer", text="me", to=[ada.name], ref=sent["message"])
        assert all(action["do"] != "say" for action in (await bob.ok("digest"))["next"])
        everyone = await eve.ok("say", type="idea", text="induct")
        assert {ada.name, bob.name} <= set(everyone["recipients"])
        unknown = await eve.fails("say", type="note", text="x", to=["nobody"])
        assert unknown["code"] == "unknown_recipient"
        assert ada.name in unknown["roster"]
        assert (await eve.fails("say", type="note", text="  "))["code"] == "bad_arguments"


async def test_feedback_goes_to_the_record_and_to_nobody(team: Join) -> None:
    async with team("ada") as ada, team("bob") as bob:
        assert (await ada.ok("say", type="feedback", text="the digest is too long"))["recipients"] == []
        assert "too long" not in (await bob.call("digest")).text


async def test_wait_returns_as_soon_as_something_wanted_happens(team: Join) -> None:
    async with team("ada") as ada, team("bob") as bob:
        got: list[dict[str, Any]] = []

        async def waits() -> None:
            got.append(await bob.ok("wait", **{"for": ["mail"]}, timeout_s=30))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(waits)
            await ada.ok("say", type="note", text="to myself", to=[ada.name])
            await ada.ok("say", type="note", text="hello", to=[bob.name])
        (facts,) = got
        assert [(event["kind"], event["text"]) for event in facts["events"]] == [("message_sent", "hello")]


async def test_wait_ends_when_its_time_is_over_and_ignores_what_is_not_wanted(team: Join) -> None:
    async with team("ada") as ada, team("bob") as bob:
        await bob.ok("digest")
        await ada.ok("say", type="note", text="about n7", ref="n7")
        assert (await bob.ok("wait", **{"for": ["lemma"]}, timeout_s=0.2))["timed_out"] is True
        await ada.ok("say", type="note", text="about n8", ref="n8")
        assert (await bob.ok("wait", **{"for": ["any"]}, ref="n9", timeout_s=0.2))["timed_out"] is True


async def test_find_looks_in_parts_messages_and_attempts(join: Join) -> None:
    async with join("ada") as ada:
        await ada.ok("plan", action="add", name="helper", statement=REV_APP)
        await ada.ok("say", type="idea", text="generalise the accumulator")
        await ada.ok("claim", action="take", node="helper", approach="brute force")
        await ada.ok("claim", action="release", node="helper", outcome="stuck", note="needs associativity")
        for where, query, kind in (
            ("nodes", "helper", "node"),
            ("messages", "accumulator", "message"),
            ("attempts", "associativity", "attempt"),
        ):
            (hit,) = (await ada.ok("find", q=query, **{"in": [where]}))["hits"]
            assert hit["kind"] == kind
        assert (await ada.ok("find", q="nothing has this"))["hits"] == []
        assert (await ada.fails("find"))["code"] == "bad_arguments"


async def test_find_knows_what_closes_a_goal_and_what_is_the_same(team: Join) -> None:
    async with team("ada") as ada:
        lemma = (await ada.ok("check", source=APP_NIL_PROOF))["verdicts"][0]["lemma"]
        for arguments in (
            {"goal": "app (.cons 0 .nil) .nil = .cons 0 .nil"},
            {"statement": "∀ (u : L), app u .nil = u", "mode": "same"},
        ):
            facts = await ada.ok("find", **arguments, **{"in": ["lemmas"]})
            assert [hit["name"] for hit in facts["hits"]] == [lemma]


async def test_get_reads_everything_in_slices(join: Join) -> None:
    async with join("ada") as ada:
        whole = (await ada.ok("get", id="problem"))["text"]
        text, offset = "", 0
        while offset is not None:
            part = await ada.ok("get", id="problem", offset=offset, max_bytes=100)
            text, offset = text + part["text"], part["next_offset"]
        assert text == whole
        assert "theorem rev_rev" in whole
        lemma = (await ada.ok("check", source=APP_NIL_PROOF))["verdicts"][0]["lemma"]
        assert "induction x" in (await ada.ok("get", id=lemma))["text"]
        assert (await ada.ok("get", id=lemma, part="statement"))["text"].startswith("∀ (x : L)")
        assert (await ada.ok("get", id="n0"))["text"] == "∀ (x : L), rev (rev x) = x"
        assert (await ada.ok("get", id="rev_rev"))["text"] == "∀ (x : L), rev (rev x) = x"
        await ada.ok("claim", action="next", approach="simp")
        await ada.ok("claim", action="release", node="n0", outcome="stuck", note="hm")
        assert (await ada.ok("get", id="n0", part="attempts"))["text"] == "ada [simp] stuck: hm"
        assert (await ada.ok("get", id="n0", part="alternatives"))["text"] == ""
        for arguments, code in (
            ({"id": "proof"}, "unknown_id"),
            ({"id": "nothing"}, "unknown_id"),
            ({"id": "n0", "part": "soul"}, "bad_arguments"),
            ({"id": lemma, "part": "soul"}, "bad_arguments"),
        ):
            assert (await ada.fails("get", **arguments))["code"] == code


async def test_slices_lose_nothing_when_a_text_grows_by_escaping(link: Link) -> None:
    source = "-- " + '"\\' * 4000 + "\n" + "\n" * 3000 + APP_NIL
    episode = (await open_episode(link, source)).episode
    ada_token, bob_token = await register(link, episode, "ada"), await register(link, episode, "bob")
    async with agent_client(ada_token) as ada, agent_client(bob_token) as bob:
        text, offset = "", 0
        while offset is not None:
            await bob.ok("say", type="idea", text="∀" * 1300)
            part = await ada.ok("get", id="problem", offset=offset, max_bytes=7000)
            text, offset = text + part["text"], part["next_offset"]
    definitions = source[: source.index("theorem")].strip()
    assert definitions in text


async def test_news_comes_once_and_says_what_others_did(team: Join) -> None:
    async with team("ada") as ada, team("bob") as bob:
        await bob.call("digest")
        lemma = (await ada.ok("check", source="theorem news : app .nil .nil = .nil := by rfl"))["verdicts"][0]["lemma"]
        first = await bob.call("digest")
        assert any(f"lemma_accepted {lemma}" in line for line in first.news)
        assert not (await bob.call("digest")).news
        assert not any(lemma in line for line in (await ada.call("digest")).news)


async def test_a_retry_has_the_first_result_and_no_second_effect(team: Join) -> None:
    async with team("ada") as ada:
        first = await ada.ok("say", type="idea", text="the same")
        assert await ada.ok("say", type="idea", text="the same") == first
        added = await ada.ok("plan", action="add", name="key", statement="app .nil .nil = .nil", idempotency_key="k1")
        assert await ada.ok("plan", action="add", name="other", statement="True", idempotency_key="k1") == added
        other = await ada.ok("say", type="idea", text="another", idempotency_key="k2")
        assert await ada.ok("say", type="idea", text="changed", idempotency_key="k2") == other
        assert other != first


async def test_a_reply_with_far_too_much_in_it_stays_under_the_cap(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        for number in range(12):
            await ada.ok("say", type="idea", text=f"{number} " + "∀" * 1300)
            conjuncts = " ∧ ".join(["app x x = app x x"] * 20)
            await ada.ok("plan", action="add", name="part", statement=f"∀ (x : L), {conjuncts} ∧ {number} = {number}")
        reply = await bob.call("digest")
        assert len(reply.text.encode()) <= 8192
        assert reply.facts["left_out"]["messages"] >= 7
        assert reply.facts["left_out"]["frontier"] >= 5
        small = await bob.call("digest", budget_tokens=300)
        assert len(small.text.encode()) <= 1200 + 1700
        assert (await bob.call("plan", action="show")).facts["nodes"]


async def test_an_unknown_tool_or_argument_is_answered_as_a_tool_error(team: Join) -> None:
    async with team("ada") as ada:
        unknown = await ada.fails("prove_everything")
        assert unknown["code"] == "unknown_method"
        assert "digest" in unknown["tools"]
        wrong = await ada.fails("check", source="x", file="y")
        assert wrong["code"] == "bad_arguments"
        assert "`file`" in wrong["message"]
