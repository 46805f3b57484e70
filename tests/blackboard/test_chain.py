import msgspec

from blackboard.chain import Entry, Link, follow, seal


def chain(length: int) -> list[Entry]:
    entries: list[Entry] = []
    link = Link()
    for seq in range(1, length + 1):
        entry = Entry(seq=seq, kind="k", actor="ada", at_ms="1", body=b"{}", prev=link.hash, hash="")
        entries.append(msgspec.structs.replace(entry, hash=seal(entry)))
        link = Link(seq=seq, hash=entries[-1].hash)
    return entries


def test_a_whole_chain_can_be_followed_in_parts() -> None:
    entries = chain(5)
    link = follow(Link(), entries[:2])
    assert link == Link(seq=2, hash=entries[1].hash)
    assert isinstance(link, Link)
    assert follow(link, entries[2:]) == Link(seq=5, hash=entries[4].hash)
    assert follow(link, []) == link


def test_a_hole_is_found_where_it_is() -> None:
    entries = chain(5)
    assert follow(Link(), entries[:2] + entries[3:]) == 3


def test_actor_and_body_cannot_run_into_each_other() -> None:
    first = Entry(seq=1, kind="k", actor="a", at_ms="1", body=b"b\nc", prev="", hash="")
    second = msgspec.structs.replace(first, actor="a\nb", body=b"c")
    assert seal(first) != seal(second)
