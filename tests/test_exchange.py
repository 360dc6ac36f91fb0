"""Records come out of buckets as they went in; words keep their order in larger lists."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit.errors import FileError
from alignkit.rules.tables import runs_kernel as kernel
from alignkit.rules.tables.exchange import Sections, WordPool, marks_of, merged_pools, read_section
from alignkit.rules.tables.runs import Block

words = st.text(st.sampled_from("ab\u00e9\ud83d\U0001f600\ud800 "), max_size=3)
word_lists = st.sets(words, max_size=8).map(sorted)
phrase = st.lists(st.integers(1, 5), min_size=1, max_size=3)
records = st.lists(st.tuples(phrase, phrase), max_size=20)


def block_of(pairs, width=2):
    symbols = [np.array([*one, 0, *other], np.int32) for one, other in pairs]
    offsets = np.zeros(len(pairs) + 1, np.int64)
    np.cumsum([len(part) for part in symbols], out=offsets[1:])
    values = np.arange(len(pairs) * width, dtype=np.float64).reshape(-1, width)
    return Block(np.concatenate([np.zeros(0, np.int32), *symbols]), offsets, values)


def rows_of(blocks):
    return [
        (block.symbols[begin:end].tolist(), block.values[k].tolist())
        for block in blocks
        for k, (begin, end) in enumerate(pairwise(block.offsets.tolist()))
    ]


@given(st.lists(word_lists, min_size=1, max_size=5))
def test_lists_of_words_merge_and_know_their_places(lists):
    merged = merged_pools([WordPool.of(one) for one in lists])
    everything = sorted(set().union(*lists))
    assert merged.words() == everything
    for one in lists:
        places = WordPool.of(one).places_in(merged)
        assert [everything[place] for place in places] == one


def test_a_list_of_words_is_read_as_it_was_written(tmp_path):
    for number, one in enumerate([[], ["", "a", "\u00e9\n"]]):
        path = str(tmp_path / f"{number}")
        WordPool.of(one).write(path)
        assert WordPool.read(path).words() == one
    with pytest.raises(FileError, match="cannot be read"):
        WordPool.read(str(tmp_path / "none"))


@given(records, st.integers(1, 4), st.data())
def test_each_bucket_has_its_records_in_their_order(tmp_path_factory, pairs, count, data):
    path = tmp_path_factory.mktemp("sections") / "f"
    numbers = data.draw(
        st.lists(st.integers(0, count - 1), min_size=len(pairs), max_size=len(pairs))
    )
    block, buckets = block_of(pairs), np.array(numbers, np.int32)
    with open(path, "wb") as stream:
        sections = Sections(stream, count)
        for _ in range(2):
            sections.add(block, buckets)
        sections.close()
    rows = rows_of([block])
    for bucket in range(count):
        mine = [row for row, number in zip(rows, numbers, strict=True) if number == bucket]
        assert rows_of(read_section(str(path), bucket)) == 2 * mine


@given(records, st.integers(0, 1), st.permutations(range(5)))
def test_words_get_other_numbers_and_marks_stay(pairs, skip, order):
    numbers = np.array(order, np.int32)
    block = block_of(pairs)
    found = kernel.renumber(block.symbols, block.offsets, numbers, skip)
    expected = [
        [order[k - 1] + 1 for k in one] + [0]
        + other[:skip] + [order[k - 1] + 1 for k in other[skip:]]
        for one, other in pairs
    ]  # fmt: skip
    assert [row for row, _ in rows_of([Block(found, block.offsets, block.values)])] == expected


@given(records, records)
def test_phrases_are_cut_in_their_order(pairs, cuts):
    keys = sorted(one for one, _ in cuts)
    offsets = np.zeros(len(keys) + 1, np.int64)
    np.cumsum([len(key) for key in keys], out=offsets[1:])
    block = block_of(pairs)
    flat = np.array([symbol for key in keys for symbol in key], np.int32)
    found = kernel.between(block.symbols, block.offsets, flat, offsets)
    assert found.tolist() == [sum(key <= one for key in keys) for one, _ in pairs]


@given(records)
def test_the_first_phrase_alone_says_which_bucket(pairs):
    block = block_of(pairs)
    texts = ["a", "b", "c", "d", "e"]
    found = kernel.by_mark(block.symbols, block.offsets, marks_of(texts), 3).tolist()
    assert all(0 <= bucket < 3 for bucket in found)
    turned = [5 - k for k in range(5)]  # another part numbers the same words otherwise
    other = block_of([([turned[k - 1] for k in one], two) for one, two in pairs])
    marks = marks_of(texts[::-1])
    assert kernel.by_mark(other.symbols, other.offsets, marks, 3).tolist() == found
    by_phrase = {}
    for (one, _), bucket in zip(pairs, found, strict=True):
        assert by_phrase.setdefault(tuple(one), bucket) == bucket


def test_buckets_are_about_equal():
    block = block_of([([one, other], [1]) for one in range(1, 60) for other in range(1, 60)])
    marks = marks_of(map(str, range(60)))
    sizes = np.bincount(kernel.by_mark(block.symbols, block.offsets, marks, 8))
    assert sizes.min() > 0.85 * len(block) / 8
