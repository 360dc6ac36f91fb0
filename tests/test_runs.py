"""Sequences are counted, sorted, merged and divided as a dictionary does it, in whatever room."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit.cluster import shared_words
from alignkit.cluster.phrase_buckets import by_first_phrase, renumbered
from alignkit.errors import FileError, OptionError
from alignkit.io.atomic_files import WriteError
from alignkit.model.arrays import offsets_of
from alignkit.rules.tables import runs as runs_module
from alignkit.rules.tables import runs_kernel as kernel
from alignkit.rules.tables.runs import Runs
from alignkit.rules.tables.runs_kernel import Records
from alignkit.rules.tables.sections import Sections, read_section
from alignkit.rules.tables.word_pool import WordPool, word_hashes

LEAST = 1 << 16

records = st.lists(
    st.tuples(st.lists(st.integers(0, 3), max_size=6).map(tuple), st.integers(0, 9)), max_size=60
)


def packed(found):
    return (
        np.array([number for sequence, _ in found for number in sequence], np.int32),
        np.array([0, *np.cumsum([len(sequence) for sequence, _ in found])], np.int64),
        np.array([[value, value] for _, value in found], np.float64).reshape(-1, 2),
    )


def rows(merged):
    return [
        (tuple(block.symbols[start:end].tolist()), *values)
        for block in merged
        for start, end, values in zip(
            block.offsets, block.offsets[1:], block.values.tolist(), strict=False
        )
    ]


def counted(found):
    table = {}
    for sequence, value in found:
        total, most = table.get(sequence, (0, 0))
        table[sequence] = total + value, max(most, value)
    return [(sequence, *table[sequence]) for sequence in sorted(table)]


@given(st.lists(records, max_size=4))
def test_what_is_merged_is_what_a_dictionary_counts(parts):
    with Runs(".", sums=1, maxima=1, room=LEAST) as runs:
        for part in parts:
            runs.add(*packed(part))
        for _ in "12":
            assert rows(runs.merge()) == counted([one for part in parts for one in part])


@pytest.mark.parametrize("fan", [2, 3, 32])
def test_the_result_is_the_same_from_disk_and_by_several_merges(tmp_path, monkeypatch, fan):
    monkeypatch.setattr(runs_module, "_FAN", fan)
    rng = np.random.default_rng(1)
    found = [
        (tuple(rng.integers(0, 2**31 - 1 if k % 3 else 4, rng.integers(0, 9)).tolist()), k % 7)
        for k in range(6000)
    ]
    found[2500] = (tuple(range(LEAST)), 3)  # longer than all the room
    found[5000] = found[2500]
    with Runs(str(tmp_path), sums=1, maxima=1, room=LEAST) as runs:
        for start in range(0, len(found), 700):
            runs.add(*packed(found[start : start + 700]))
        for _ in "12":
            assert rows(runs.merge()) == counted(found)
        assert runs.added == 6000
        assert runs.written > LEAST
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_counted_is_refused(tmp_path):
    one = packed([((1, 2), 1)])
    with Runs(str(tmp_path), sums=2) as runs:
        assert rows(runs.merge()) == []
        refuses(OptionError, "merged already", runs.add, *one)
    refuses(OptionError, "closed", lambda: next(runs.merge()))
    refuses(OptionError, "must be 65536 or more", Runs, ".", room=5)
    with pytest.raises(WriteError, match="gone: cannot be written"):
        fill(Runs(str(tmp_path / "gone"), sums=1, maxima=1, room=LEAST))


def fill(runs):
    for k in range(2000):
        runs.add(*packed([((k, k), 1)]))


@pytest.mark.skipif("not __import__('os').path.exists('/dev/full')")
def test_a_full_disk_is_told(monkeypatch):
    with open("/dev/full", "wb", buffering=0) as disk:
        monkeypatch.setattr(runs_module, "TemporaryFile", lambda **_: disk)
        with pytest.raises(WriteError, match="nothing was changed"):
            fill(Runs(".", sums=1, maxima=1, room=LEAST))


words = st.text(st.sampled_from("ab\u00e9\ud83d\U0001f600\ud800 "), max_size=3)
word_lists = st.sets(words, max_size=8).map(sorted)
phrase = st.lists(st.integers(1, 5), min_size=1, max_size=3)
phrase_pairs = st.lists(st.tuples(phrase, phrase), max_size=20)


def block_of(pairs):
    return Records(*packed([((*one, 0, *other), k) for k, (one, other) in enumerate(pairs)]))


@given(st.lists(word_lists, min_size=1, max_size=5))
def test_lists_of_words_merge_and_know_their_places(tmp_path_factory, lists):
    pool, places, *files = (str(tmp_path_factory.mktemp("words") / "f") for _ in ["", "", *lists])
    for file, one in zip(files, lists, strict=True):
        WordPool.of(one).write(file)
    shared_words.merge_words(files, pool)
    everything = sorted(set().union(*lists))
    assert list(WordPool.read(pool).words()) == everything
    for file, one in zip(files, lists, strict=True):
        shared_words.place_words(file, pool, places)
        assert [everything[place] for place in np.fromfile(places, np.int32)] == one


def test_a_list_of_words_is_read_as_it_was_written(tmp_path):
    for number, one in enumerate([[], ["", "a", "\u00e9\n"]]):
        path = str(tmp_path / f"{number}")
        WordPool.of(one).write(path)
        assert list(WordPool.read(path).words()) == one
    refuses(FileError, "cannot be read", WordPool.read, str(tmp_path / "none"))


@given(phrase_pairs, st.integers(1, 4), st.data())
def test_each_bucket_has_its_records_in_their_order(tmp_path_factory, pairs, count, data):
    path = tmp_path_factory.mktemp("sections") / "f"
    places = st.lists(st.integers(0, count - 1), min_size=len(pairs), max_size=len(pairs))
    numbers = data.draw(places)
    block, buckets = block_of(pairs), np.array(numbers, np.int32)
    with open(path, "wb") as stream:
        sections = Sections(stream, count)
        for _ in range(2):
            sections.add(block, buckets)
        sections.close()
    expected = rows([block])
    for bucket in range(count):
        mine = [row for row, number in zip(expected, numbers, strict=True) if number == bucket]
        assert rows(read_section(str(path), bucket)) == 2 * mine


@given(phrase_pairs, st.integers(0, 1), st.permutations(range(5)))
def test_words_get_other_numbers_and_marks_stay(pairs, skip, order):
    block = block_of(pairs)
    found = renumbered(block, np.array(order, np.int32), skip)
    expected = [
        [order[k - 1] + 1 for k in one]
        + [0]
        + other[:skip]
        + [order[k - 1] + 1 for k in other[skip:]]
        for one, other in pairs
    ]
    assert [list(row) for row, *_ in rows([found])] == expected


@given(phrase_pairs, phrase_pairs)
def test_phrases_are_cut_in_their_order(pairs, cuts):
    keys = sorted(one for one, _ in cuts)
    block = block_of(pairs)
    flat = np.array([symbol for key in keys for symbol in key], np.int32)
    found = kernel.between(
        block.symbols, block.offsets, flat, offsets_of([len(key) for key in keys])
    )
    assert found.tolist() == [sum(key <= one for key in keys) for one, _ in pairs]


@given(phrase_pairs)
def test_the_first_phrase_alone_says_which_bucket(pairs):
    block = block_of(pairs)
    texts = ["a", "b", "c", "d", "e"]
    found = by_first_phrase(block, word_hashes(texts), 3).tolist()
    assert all(0 <= bucket < 3 for bucket in found)
    turned = [5 - k for k in range(5)]  # another part numbers the same words otherwise
    other = block_of([([turned[k - 1] for k in one], two) for one, two in pairs])
    assert by_first_phrase(other, word_hashes(texts[::-1]), 3).tolist() == found
    by_phrase = {}
    for (one, _), bucket in zip(pairs, found, strict=True):
        assert by_phrase.setdefault(tuple(one), bucket) == bucket


def test_buckets_are_about_equal():
    block = block_of([([one, other], [1]) for one in range(1, 60) for other in range(1, 60)])
    marks = word_hashes(map(str, range(60)))
    sizes = np.bincount(by_first_phrase(block, marks, 8))
    assert sizes.min() > 0.85 * len(block.values) / 8
