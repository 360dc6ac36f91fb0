"""Words are numbered from bytes as from tokens."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from alignkit.aligner import Side
from alignkit.formats.words import split_words
from alignkit.formats.words_kernel import number_words

_LINES = st.lists(st.text(st.sampled_from("abAéß日 \t\r\v\f\xa0\u3000\0"), max_size=12), max_size=8)


def numbered(lines):
    data = "".join(f"{line}\n" for line in lines).encode()
    ids, starts, begins, ends = number_words(np.frombuffer(data, np.uint8), len(lines))
    return Side.by_frequency(
        [data[b:e].decode() for b, e in zip(begins, ends, strict=True)], ids, starts
    )


def assert_same(lines):
    side, plain = numbered(lines), Side.pack(map(split_words, lines), casefold=False)
    assert side.words == plain.words
    assert side.ids.tolist() == plain.ids.tolist()
    assert side.starts.tolist() == plain.starts.tolist()


@given(_LINES.filter(bool))
@settings(max_examples=150)
def test_words_are_those_of_split_words(lines):
    assert_same(lines)


def test_tables_grow_with_the_words():
    rng = np.random.default_rng(1)
    assert_same([" ".join(map(str, rng.integers(0, 30_000, 500))) for _ in range(100)])
