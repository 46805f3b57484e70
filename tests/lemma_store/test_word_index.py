from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from lemma_store.word_index import WordIndex

words = st.sampled_from(["app", "rev", "nil", "cons", "length", "map", "plus"])
texts = st.lists(st.sets(words), max_size=40)


def slowly(texts: Sequence[set[str]], wanted: set[str], *, limit: int, is_total: bool) -> list[tuple[int, int]]:
    scored = [(len(text & wanted), place) for place, text in enumerate(texts)]
    return [(place, score) for score, place in sorted(scored, reverse=True) if score or is_total][:limit]


@given(texts=texts, wanted=st.sets(words), limit=st.integers(1, 20), is_total=st.booleans())
def test_the_texts_with_most_words_come_first_then_the_latest(
    texts: list[set[str]], wanted: set[str], limit: int, *, is_total: bool
) -> None:
    index = WordIndex()
    for text in texts:
        index.add(text)
    assert index.best(wanted, limit=limit, is_total=is_total) == slowly(texts, wanted, limit=limit, is_total=is_total)
