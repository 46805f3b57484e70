"""The artifact reader: whatever the bytes are, closed terms or a clean refusal, in bounded time and memory."""

import struct
import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lemma_store.declarations import Module
from lemma_store.lean.olean import read_module, read_parts
from lemma_store.refusals import Refused
from lemma_store.terms import APP, BVAR, CONST, LAM, LIT, PI, Terms
from tests.fuzz_reader import compile_texts, fuzz
from tests.lemma_store.forge import BASE, NIL, VERSION, Forge

SLICE = 2_000


def read(data: bytes) -> Module:
    return read_module(data, Terms(), version=VERSION)


def forged(make: Callable[[Forge], int]) -> bytes:
    """A module with one theorem, whose type is what `make` makes."""
    forge = Forge()
    type_ = make(forge)
    return forge.module([forge.theorem(["t"], type_, forge.constant("True"))])


@pytest.fixture(scope="module")
def artifacts() -> list[bytes]:
    return anyio.run(compile_texts)


@pytest.mark.timeout(300)
def test_damaged_artifacts_are_refused_or_read_as_well_formed_terms(artifacts: list[bytes]):
    counts = fuzz(artifacts, range(SLICE))

    assert counts.refused > SLICE // 3
    assert counts.same
    assert counts.other


def test_every_truncation_is_refused(artifacts: list[bytes]):
    data = artifacts[0]
    for size in [*range(200), *range(200, len(data), 97)]:
        with pytest.raises(Refused):
            read(data[:size])


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.binary(max_size=600), st.integers(0, 700), st.booleans())
def test_noise_is_refused(noise: bytes, root: int, has_header: bool):
    header = Forge().finish(BASE + root) if has_header else b""
    with pytest.raises(Refused):
        read(header + noise)


closed_terms = st.recursive(
    st.one_of(
        st.tuples(st.just("constant"), st.text(min_size=1, max_size=5)),
        st.tuples(st.just("number"), st.integers(0, 1 << 200)),
        st.tuples(st.just("string"), st.text(max_size=8)),
        st.just(("sort",)),
    ),
    lambda inner: st.one_of(
        st.tuples(st.just("apply"), inner, inner),
        st.tuples(st.just("pi"), inner, inner),
        st.tuples(st.just("fun"), inner, inner),
    ),
    max_leaves=12,
)


def write(forge: Forge, term: tuple[Any, ...]) -> int:
    kind, *parts = term
    match kind:
        case "constant":
            return forge.constant(parts[0])
        case "number" | "string":
            return forge.literal(parts[0])
        case "sort":
            return forge.sort()
        case "apply":
            return forge.application(write(forge, parts[0]), write(forge, parts[1]))
        case _:
            body = forge.application(write(forge, parts[1]), forge.bound(0))
            return forge.binder(write(forge, parts[0]), body, is_pi=kind == "pi")


def build(terms: Terms, term: tuple[Any, ...]) -> int:
    kind, *parts = term
    match kind:
        case "constant":
            return terms.add((CONST, (parts[0],), ()))
        case "number" | "string":
            return terms.add((LIT, parts[0]))
        case "sort":
            return terms.add((3, terms.add((20,))))
        case "apply":
            return terms.add((APP, build(terms, parts[0]), build(terms, parts[1])))
        case _:
            body = terms.add((APP, build(terms, parts[1]), terms.add((BVAR, 0))))
            return terms.add((PI if kind == "pi" else LAM, build(terms, parts[0]), body, ("x",), 0))


@settings(max_examples=150, deadline=None)
@given(closed_terms)
def test_what_is_written_is_what_is_read(term: tuple[Any, ...]):
    terms = Terms()
    found = read_module(forged(lambda forge: write(forge, term)), terms, version=VERSION)

    assert found.declarations["t",].type == build(terms, term)


def test_binder_names_and_styles_do_not_change_a_digest():
    one = forged(lambda forge: forge.binder(forge.sort(), forge.bound(0), name="x"))
    two = forged(lambda forge: forge.binder(forge.sort(), forge.bound(0), name="another"))
    terms = Terms()
    types = [read_module(data, terms, version=VERSION).declarations["t",].type for data in (one, two)]

    assert types[0] != types[1]
    assert terms.digest(types[0], ()) == terms.digest(types[1], ())


REFUSED: dict[str, Callable[[Forge], int]] = {
    "a loose variable": lambda forge: forge.bound(0),
    "a variable bound once too few": lambda forge: forge.binder(forge.sort(), forge.bound(1)),
    "a variable beyond counting": lambda forge: forge.bound(1 << 40),
    "a free variable": lambda forge: forge.object(1, [forge.name("x")], b"\0" * 8),
    "a metavariable": lambda forge: forge.object(2, [forge.name("m")], b"\0" * 8),
    "a metavariable of universes": lambda forge: forge.sort(forge.object(5, [forge.name("m")], b"\0" * 8)),
    "an unknown constructor": lambda forge: forge.object(12, [forge.sort()], b"\0" * 8),
    "an array as a term": lambda forge: forge.array([]),
    "a string as a term": lambda forge: forge.string("t"),
    "a small number as a term": lambda forge: 7,
    "an odd pointer": lambda forge: BASE + 100,
    "a pointer below the file": lambda forge: BASE - 8,
    "a pointer after the file": lambda forge: BASE + (1 << 40),
    "a pointer to oneself": lambda forge: forge.application(forge.sort(), forge.next + 24),
    "a name made of a term": lambda forge: forge.object(4, [forge.sort(), NIL], b"\0" * 8),
    "a list of names as universes": lambda forge: forge.object(4, [NIL, forge.list([forge.name("u")])], b"\0" * 8),
    "an unknown binder style": lambda forge: forge.object(7, [NIL, forge.sort(), forge.sort()], b"\0" * 8 + b"\7"),
    "a literal of no kind": lambda forge: forge.object(9, [forge.object(2, [NIL])], b"\0" * 8),
}  # fmt: skip


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED.keys())
def test_a_term_that_is_none_is_refused(make: Callable[[Forge], int]):
    with pytest.raises(Refused):
        read(forged(make))


def test_a_name_declared_twice_is_refused():
    forge = Forge()
    theorem = forge.theorem(["t"], forge.constant("True"), forge.constant("True", "intro"))
    with pytest.raises(Refused, match="twice"):
        read(forge.module([theorem, theorem]))


def test_counts_beyond_the_file_are_refused():
    for count in (1, 1 << 20, (1 << 61) - 1, (1 << 64) - 1):
        forge = Forge()
        parts = [forge.array([]) for _ in range(4)]
        with pytest.raises(Refused):
            read(forge.finish(forge.object(0, [*parts, forge.array([], count=count)], b"\0")))


def test_a_term_two_hundred_thousand_applications_deep_is_read_without_recursion():
    def deep(forge: Forge) -> int:
        found = forge.sort()
        for _ in range(200_000):
            found = forge.application(found, found)
        return found

    data = forged(deep)
    began = time.monotonic()
    terms = Terms()
    found = read_module(data, terms, version=VERSION).declarations["t",]

    # As a tree it would have 2 ** 200,000 leaves.
    assert len(terms.digest(found.type, ())) == 32
    assert time.monotonic() - began < 60


def test_a_number_of_megabytes_is_refused():
    with pytest.raises(Refused):
        read(forged(lambda forge: forge.literal(1 << (8 << 20))))


STEP = 0x1_0000


def in_parts(type_: int, *, tail: bytes = b"") -> list[bytes]:
    """A module in three parts: the last has a theorem of this type, the first ends with the term `True` and `tail`."""
    first, second, third = (Forge(BASE + STEP * part) for part in range(3))
    data = first.module([], is_part=True)
    first.constant("True")
    data = first.finish(int.from_bytes(data[88:96], "little")) + tail
    value = third.constant("True")
    theorem = third.theorem(["t"], type_, value)
    return [data, second.module([], is_part=True), third.module([theorem], is_part=True)]


def true_of(first: bytes) -> int:
    """Where the first part has its constant."""
    return BASE + len(first) - 32


def test_a_part_may_point_into_the_parts_below_it():
    first, *_ = in_parts(0)
    terms = Terms()

    found = read_parts(in_parts(true_of(first)), terms, version=VERSION).declarations["t",]

    assert terms.node(found.type) == (CONST, ("True",), ())


@pytest.mark.parametrize(
    "place",
    [
        -8, 0, 88, STEP - 8, STEP, STEP + 88, 2 * STEP - 8, 2 * STEP, 2 * STEP + 40_000, 3 * STEP, 1 << 40,
        "end", "behind the end",
    ],
)  # fmt: skip
def test_a_pointer_that_leads_into_no_part_is_refused(place: int | str):
    """Before the first, into headers and roots, into the gaps, behind the last."""
    first, *_ = in_parts(0)
    offset = place if isinstance(place, int) else len(first) + (0 if place == "end" else 64)

    with pytest.raises(Refused):
        read_parts(in_parts(BASE + offset), Terms(), version=VERSION)


def test_an_object_that_ends_in_the_gap_behind_its_part_is_refused():
    first, *_ = in_parts(0)
    one = true_of(first)
    cut = struct.pack("<iHBBQ", 0, 24, 2, 5, one)

    with pytest.raises(Refused, match="malformed"):
        read_parts(in_parts(BASE + len(first), tail=cut), Terms(), version=VERSION)


@pytest.mark.parametrize("which", [(0,), (0, 1), (0, 2), (1, 2), (0, 2, 1), (0, 1, 1), (0, 1, 2, 2)])
def test_missing_and_misplaced_parts_are_refused(which: tuple[int, ...]):
    parts = in_parts(true_of(in_parts(0)[0]))

    with pytest.raises(Refused, match="module"):
        read_parts([parts[part] for part in which], Terms(), version=VERSION)


def test_a_part_of_another_build_is_refused():
    one, two, three = in_parts(true_of(in_parts(0)[0]))
    other = three[:40] + b"1" * 40 + three[80:]
    forge = Forge(BASE + STEP)
    imports_more = forge.module([], imports=["MiniCore"], is_part=True)

    for parts in ([one, two, other], [one, imports_more, three]):
        with pytest.raises(Refused, match="of another build"):
            read_parts(parts, Terms(), version=VERSION)


def test_a_single_file_that_says_it_is_a_part_is_refused():
    """An artifact of agents is one file: what else belongs to it, nobody would have read."""
    forge = Forge()
    data = forge.module([forge.theorem(["t"], forge.constant("True"), forge.constant("True"))], is_part=True)

    with pytest.raises(Refused, match="a module is one file"):
        read(data)
