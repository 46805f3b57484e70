"""Gates before any episode. G0: the change is well-formed. G1: the version is compatible. G2: it says what it may."""

import re
from collections.abc import Mapping

import msgspec

from adapter_server.bundle import Bundle, ParameterWords, ToolWords, read_bundle
from bus.errors import AdapterError, BadDataFolder, BadPatch

from .gate_result import GateResult, verdict
from .leakage import LeakGuard
from .patch import Patch, edited
from .preamble import ToolListing, preamble_tokens

PREAMBLE_CAP = 6_000
PROTECTED = {
    "prompts/team.md": (
        "{{agent}}",
        "{{role}}",
        "Only what `check` accepts is true. Never write `sorry`, `axiom` or imports: they are refused.",
    ),
    "prompts/mcp/instructions.md": ("Proofs count only through check.",),
}
"""Sentences that stay in a version once they are in."""

_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")
_VALUES = {"agent", "role"}
_SENTENCE = re.compile(r"[^.!?;\n]+")
_CHEAT = re.compile(r"\b(sorry|axioms?|native_decide|unsafe|admit)\b", re.IGNORECASE)
_DENIAL = re.compile(r"\b(never|not|no|without|refused|forbidden|cannot|don't|avoid)\b", re.IGNORECASE)
_SKIPPING = re.compile(
    r"(?<!never )(?<!not )(?<!n't )\b(skip|bypass|disable|circumvent|get around)\b[^.!?;\n]{0,40}"
    r"\b(checks?|checking|judge|kernel|verification|rules?)\b"
    r"|\b(ignore|disregard)\b[^.!?;\n]{0,40}\b(verdicts?|rules?|instructions?|refusals?)\b"
    r"|\b(never|not|don't|no need to)\b[^.!?;\n]{0,10}\b(run|use|call)\b[^.!?;\n]{0,10}\bcheck\b"
    r"|\bwithout (the |a |any )?`?(checks?|checking|verification)\b",
    re.IGNORECASE,
)
_LIMITS = {"minimum": False, "maximum": True, "max_length": True, "max_items": True}
"""Limits of parameters: whether a higher one is wider."""


class StaticRules(msgspec.Struct, frozen=True, kw_only=True):
    """What versions are held to.

    Attributes:
        listing: gives the tools of a version as hosts list them; raises when it cannot.
        widest: the shipped version's tools; no limit of a parameter may be wider than there.
        leaks: what no version may give away.
        preamble_cap: tokens that an agent may have to read before its first call.
    """

    listing: ToolListing
    widest: Mapping[str, ToolWords]
    leaks: LeakGuard
    preamble_cap: int = PREAMBLE_CAP


def static_gates(files: Mapping[str, bytes], patch: Patch, rules: StaticRules) -> list[GateResult]:
    """The words of G0, G1 and G2 on a change of the champion's files; the first that fails is the last."""
    try:
        after = edited(files, patch)
    except BadPatch as error:
        return [verdict("G0", [error.message], component=patch.component)]
    well_formed = verdict("G0", [], component=patch.component, bytes=len(patch.content.encode()))
    try:
        bundle = read_bundle(after)
    except BadDataFolder as error:
        return [well_formed, verdict("G1", [error.message])]
    fits = verdict("G1", _misfits(files, after, bundle, rules), bundle=bundle.id)
    if not fits.is_passed:
        return [well_formed, fits]
    return [well_formed, fits, _content_gate(files, after, bundle, patch, rules)]


def _misfits(files: Mapping[str, bytes], after: Mapping[str, bytes], bundle: Bundle, rules: StaticRules) -> list[str]:
    reasons = _losses(_words(files), _words(after)) + _widenings(_words(after), rules.widest)
    for name, text in bundle.prompts.items():
        for value in set(_PLACEHOLDER.findall(text)) - _VALUES:
            reasons.append(f"prompts/{name}.md asks for {{{{{value}}}}}, which nobody fills in")
    try:
        listed = {tool["name"] for tool in rules.listing(bundle)}
        reasons += [f"tool {name} cannot be listed" for name in bundle.tools if name not in listed]
    except (AdapterError, ArithmeticError, KeyError, TypeError, ValueError) as error:
        reasons.append(f"the tools cannot be listed: {type(error).__name__}: {error}")
    return reasons


def _words(files: Mapping[str, bytes]) -> dict[str, ToolWords]:
    return msgspec.json.decode(files["tools.json"], type=dict[str, ToolWords])


def _losses(before: Mapping[str, ToolWords], after: Mapping[str, ToolWords]) -> list[str]:
    """Tool names and parameters are never taken away; a tool may be disabled."""
    reasons: list[str] = []
    for name, words in before.items():
        if name not in after:
            reasons.append(f"tool {name} is taken away; disable it instead")
            continue
        lost = [parameter for parameter in words.parameters if parameter not in after[name].parameters]
        reasons += [f"parameter {parameter} of {name} is taken away" for parameter in lost]
    return reasons


def _widenings(after: Mapping[str, ToolWords], widest: Mapping[str, ToolWords]) -> list[str]:
    pairs = [
        (f"{name}.{parameter}", words, widest[name].parameters[parameter])
        for name, tool in after.items()
        if name in widest
        for parameter, words in tool.parameters.items()
        if parameter in widest[name].parameters
    ]
    return [f"{place}: {reason}" for place, words, limit in pairs for reason in _wider(words, limit)]


def _wider(words: ParameterWords, limit: ParameterWords) -> list[str]:
    reasons: list[str] = []
    for name, is_upper in _LIMITS.items():
        mine, bound = getattr(words, name), getattr(limit, name)
        if bound is not None and (mine is None or (mine > bound if is_upper else mine < bound)):
            reasons.append(f"{name} may not be wider than {bound:g}")
    return reasons


def _content_gate(
    files: Mapping[str, bytes], after: Mapping[str, bytes], bundle: Bundle, patch: Patch, rules: StaticRules
) -> GateResult:
    old, new = files.get(patch.file, b"").decode(), after[patch.file].decode()
    tokens = preamble_tokens(bundle, rules.listing(bundle))
    known = "\n".join(content.decode() for content in files.values())
    reasons = [f"{patch.component} {leak}" for leak in rules.leaks.found_in(new, known=known)]
    if tokens > rules.preamble_cap:
        reasons.append(f"agents would read {tokens} tokens before their first call, allowed are {rules.preamble_cap}")
    lost = [sentence for sentence in PROTECTED.get(patch.file, ()) if sentence in old and sentence not in new]
    reasons += [f"{patch.file} lost the protected {sentence!r}" for sentence in lost]
    reasons += [f"{patch.component} may tell agents to get around the checks: {line!r}" for line in _dodges(new, old)]
    return verdict("G2", reasons, preamble_tokens=tokens, preamble_cap=rules.preamble_cap)


def _dodges(new: str, old: str) -> list[str]:
    """Sentences that were not there before and read like leave to cheat. A net with holes: the judge is the wall."""
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(new) if sentence not in old]
    return [
        sentence[:120]
        for sentence in sentences
        if _SKIPPING.search(sentence) or (_CHEAT.search(sentence) and not _DENIAL.search(sentence))
    ]
