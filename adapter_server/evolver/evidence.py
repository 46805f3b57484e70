"""Evidence packs: how the same task went when it was solved and when it was not, for a person or a model to read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from bus.records import EpisodeRecord

from .preamble import BYTES_PER_TOKEN, tokens_of
from .timelines import Lemma, lemmas_of, one_line, path_to_proof, shown_to, timeline
from .traces import Trace, read_trace

TOKEN_CAP = 8_000
CONTRASTS = 3
"""Tasks that are told side by side."""

LISTED = 6
_SUCCESS = ("solved", "refuted")
_COUNTED = ("tool_errors", "stale_calls", "idle_turns", "lost_leases", "duplicates", "reused", "messages", "parts")


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """One task, ended well and not; either side may be missing."""

    task: str
    well: EpisodeRecord | None
    badly: EpisodeRecord | None


def evidence_pack(records: Sequence[EpisodeRecord], traces: Mapping[str, Path], *, token_cap: int = TOKEN_CAP) -> str:
    """The pack as Markdown, never longer than the cap.

    Args:
        records: episodes on search tasks, oldest first; those that are invalid are only counted.
        traces: episode id → folder of its events and transcripts.
        token_cap: about so many tokens at most, see `preamble.tokens_of`.
    """
    contrasts = contrasts_of([record for record in records if record.episode in traces])
    head = _overview(records, contrasts)
    rest = token_cap - tokens_of("\n".join(head)) - 20
    parts = ["\n".join(head)]
    for number, contrast in enumerate(contrasts):
        share = rest // (len(contrasts) - number)
        part = _fitted(_contrast_lines(contrast, traces), share)
        rest -= tokens_of(part) + 1
        parts.append(part)
    return _cut("\n\n".join(parts) + "\n", token_cap)


def contrasts_of(records: Sequence[EpisodeRecord]) -> list[Contrast]:
    """Tasks with both outcomes first, then those never solved, then the others; the latest episodes of each."""
    by_task: dict[str, list[EpisodeRecord]] = {}
    for record in records:
        if record.outcome in (*_SUCCESS, "unsolved"):
            by_task.setdefault(record.task, []).append(record)
    found = [
        Contrast(
            task=task,
            well=next((one for one in reversed(ran) if one.outcome in _SUCCESS), None),
            badly=next((one for one in reversed(ran) if one.outcome == "unsolved"), None),
        )
        for task, ran in by_task.items()
    ]
    found.sort(key=lambda contrast: (contrast.well is None or contrast.badly is None, contrast.badly is None))
    return found[:CONTRASTS]


def _overview(records: Sequence[EpisodeRecord], contrasts: Sequence[Contrast]) -> list[str]:
    counts = Counter(record.outcome for record in records)
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()) or "none yet"
    lines = ["# Evidence", "", f"Episodes on search tasks: {told}.", ""]
    tasks: dict[str, Counter[str]] = {}
    for record in records:
        tasks.setdefault(record.task, Counter())[record.outcome] += 1
    never = [task for task, outcomes in tasks.items() if outcomes["unsolved"] and not outcomes["solved"]]
    if never:
        lines.append(f"Never solved: {len(never)} of {len(tasks)} tasks.")
    reasons = Counter(one_line(record.reason, 90) for record in records if record.outcome == "unsolved")
    lines += [f"Unsolved because: {reason} ({count})." for reason, count in reasons.most_common(3)]
    said = [one_line(text) for record in records for text in record.feedback]
    if said:
        lines += ["", "What agents said hindered them:"]
        lines += [f"- “{text}” ({count}×)" for text, count in Counter(said).most_common(LISTED)]
    if not contrasts:
        lines.append("No traces of episodes are there to tell about.")
    return lines


def _contrast_lines(contrast: Contrast, traces: Mapping[str, Path]) -> list[str]:
    well = read_trace(traces[contrast.well.episode]) if contrast.well else None
    badly = read_trace(traces[contrast.badly.episode]) if contrast.badly else None
    seen = well or badly
    assert seen is not None
    opened = next((event for event in seen.events if event.kind == "episode_opened"), None)
    lines = [f"## A task {_title(contrast)}", ""]
    if opened is not None:
        lines += [f"Theorem: {one_line(opened.body.get('statement', ''), 400)}", ""]
    lines += _numbers(contrast)
    if well and badly:
        lines += _divergence(well, badly)
    if badly and contrast.badly:
        lines += _shown(badly) + _errors(badly)
    for name, trace in (("unsolved", badly), ("solved", well)):
        if trace:
            marked = frozenset(lemma.id for lemma in path_to_proof(trace))
            legend = ", ★ marks what the proof rests on" if marked else ""
            lines += ["", f"### The {name} episode{legend}", ""]
            lines += [f"- {line}" for line in timeline(trace, marked=marked)]
    return lines


def _title(contrast: Contrast) -> str:
    if contrast.well and contrast.badly:
        same = "by the same version" if contrast.well.bundle == contrast.badly.bundle else "by two versions"
        return f"that was solved once and once not, {same}"
    return "that was not solved" if contrast.badly else "that was solved"


def _numbers(contrast: Contrast) -> list[str]:
    sides = [(name, record) for name, record in (("solved", contrast.well), ("unsolved", contrast.badly)) if record]
    lines = ["| | " + " | ".join(name for name, _ in sides) + " |", "|---" * (len(sides) + 1) + "|"]
    rows = [
        ("ended because", [one_line(record.reason, 80) for _, record in sides]),
        ("seconds", [f"{record.spent.seconds:.1f}" for _, record in sides]),
        ("checks", [str(record.spent.checks) for _, record in sides]),
        ("calls", [str(record.spent.calls) for _, record in sides]),
        ("lemmas (distinct, used in the proof)", [_lemma_counts(record) for _, record in sides]),
    ]
    rows += [
        (name.replace("_", " "), [f"{record.counters.get(name, 0):g}" for _, record in sides])
        for name in _COUNTED
        if any(name in record.counters for _, record in sides)
    ]
    return lines + [f"| {name} | " + " | ".join(values) + " |" for name, values in rows]


def _lemma_counts(record: EpisodeRecord) -> str:
    return f"{record.lemmas} ({record.distinct_lemmas}, {record.used_lemmas})"


def _divergence(well: Trace, badly: Trace) -> list[str]:
    """The first step to the proof that the unsolved episode never took."""
    reached = {lemma.key: lemma for lemma in lemmas_of(badly)}
    path = path_to_proof(well)
    both = [lemma for lemma in path if lemma.key in reached]
    missing = [lemma for lemma in path if lemma.key not in reached]
    lines = ["", "### First divergence", ""]
    lines.append(f"The proof rests on {len(path)} lemmas; {len(both)} of them were proved in both episodes.")
    lines += [
        f"- in both: {lemma.name} at {_when(well, lemma)} and {_when(badly, reached[lemma.key])}" for lemma in both[-3:]
    ]
    if not missing:
        return [*lines, "Every lemma of the proof was there: what was missing is the last step, or time for it."]
    first = missing[0]
    lines.append(
        f"- only in the solved one, first: {first.name} by {first.author} at {_when(well, first)}: "
        f"{one_line(first.statement)}"
    )
    planned = [e for e in badly.events if e.kind == "node_added" and e.body.get("statement_hash") == first.key]
    if planned:
        tried = sum(
            e.kind == "attempt_noted" and e.body.get("node") == planned[0].body.get("node") for e in badly.events
        )
        lines.append(f"- the unsolved one had it as a part that {planned[0].actor} added; {tried} attempts, no proof")
    else:
        lines.append("- in the unsolved one nobody stated it, neither as a lemma nor as a part")
    end = (badly.events[-1].at_ms - badly.began_ms) / 1000
    if (first.at_ms - well.began_ms) / 1000 > end:
        lines.append(f"- the unsolved one was over before that time, at {end:.1f} s")
    lines += [f"- also missing: {lemma.name}: {one_line(lemma.statement, 140)}" for lemma in missing[1:LISTED]]
    return lines


def _shown(trace: Trace) -> list[str]:
    lines = ["", "### What each agent of the unsolved episode had been shown", ""]
    agents = sorted({event.actor for event in trace.events if event.kind == "agent_joined"})
    if not trace.calls:
        return [*lines, "No transcripts were kept, so this is not known."]
    for agent in agents:
        calls = [call for call in trace.calls if call.agent == agent]
        digests = [call for call in calls if call.tool == "digest"]
        last = f", the last said: {one_line(digests[-1].text.partition(chr(10))[0], 140)}" if digests else ""
        lines.append(f"- {agent}: {len(calls)} calls, {len(digests)} digests{last}")
        seen = shown_to(trace, agent)
        unseen = [one.lemma.name for one in seen if one.call is None]
        unused = [f"{one.lemma.name} (by {one.call.tool})" for one in seen if one.call and not one.is_used]
        if unseen:
            lines.append(f"  - never shown to it: {_some(unseen)}")
        if unused:
            lines.append(f"  - shown, but in none of its later checks: {_some(unused)}")
    return lines


def _errors(trace: Trace) -> list[str]:
    errors = Counter((call.tool, one_line(call.text.partition("\n")[0], 140)) for call in trace.calls if call.is_error)
    if not errors:
        return []
    lines = ["", "### Tool errors in the unsolved episode", ""]
    return lines + [f"- {tool}: {text} ({count}×)" for (tool, text), count in errors.most_common(LISTED)]


def _when(trace: Trace, lemma: Lemma) -> str:
    return f"{(lemma.at_ms - trace.began_ms) / 1000:.1f} s"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _fitted(lines: Sequence[str], tokens: int) -> str:
    """The lines from the top that fit, and a word about the others."""
    text = "\n".join(lines)
    if tokens_of(text) <= tokens:
        return text
    kept, room = list[str](), tokens - 10
    for line in lines:
        room -= tokens_of(line + "\n")
        if room < 0:
            break
        kept.append(line)
    return "\n".join([*kept, f"… {len(lines) - len(kept)} lines left out."])


def _cut(text: str, tokens: int) -> str:
    content = text.encode()
    return text if tokens_of(content) <= tokens else content[: tokens * BYTES_PER_TOKEN].decode(errors="ignore")
