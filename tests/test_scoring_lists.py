"""Plain lists of phrase pairs: reading them, and scoring them against a gold corpus."""

import gzip
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_scoring import list_row, tight_phrases
from refusals import refuses

from alignkit import Alignment, Corpus, FormatError, SentencePair, score_phrase_list
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.scoring import read_phrase_table

words = st.lists(st.sampled_from("abc"), min_size=1, max_size=4)
links = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5)
entries = st.lists(st.tuples(words, words), max_size=6)


@given(st.lists(st.tuples(words, words, links), min_size=1, max_size=3), entries)
def test_rows_are_those_of_trying_every_span(pairs, listed):
    corpus, expected = [], []
    joined = {(" ".join(source), " ".join(target)) for source, target in listed}
    for source, target, cells in pairs:
        inside = {(i, j) for i, j in cells if i < len(source) and j < len(target)}
        corpus.append(SentencePair("x", source, target, {"gold": Alignment(inside)}))
        expected.append(list_row(joined, source, target, tight_phrases(inside)))
    listed_twice = [(" ".join(source), " ".join(target)) for source, target in listed] * 2
    found = score_phrase_list(listed_twice, Corpus(corpus))
    assert (found.rows.tolist(), found.entries) == (expected, 2 * len(listed))
    fates = found.kept, found.unmatched, found.repeated, found.identical, found.out_of_bounds
    assert sum(fates) == found.entries


SOURCE, TARGET = "they reached an agreement .", "both parties arrived at a consensus ."
LINKS = {"gold": Alignment.parse("0?0 0?1 1-2 1-3 2-4 3-5 4-6")}
GOLD = Corpus(
    [
        SentencePair("1", SOURCE.split(), TARGET.split(), LINKS),
        SentencePair("2", ["they"], ["they"], {"other": Alignment()}),
    ]
)
LIST = [
    ("reached", "arrived  at"),  # atomic
    ("Reached an", "arrived at a"),  # composite
    ("an agreement", "consensus"),  # not a phrase pair of the gold
    ("reached", "achieved"),  # not in the test sentences
    ("reached", "arrived at"),  # again
    (".", "."),  # identical, atomic
    ("they", "both parties"),  # only from possible links
]


def test_entries_are_kept_and_counted_as_promised():
    found = score_phrase_list(LIST, GOLD)
    assert (found.entries, found.kept, found.unmatched, found.repeated) == (7, 5, 1, 1)
    assert (found.correct, found.entry_precision) == (3, 0.6)
    assert (found.precision, found.recall) == (3 / 5, 2 / 4)
    assert (found.pairs, found.skipped) == (1, 1)
    assert str(found.signature).startswith("links:sure|identical:kept|case:folded|level:list")
    found = score_phrase_list(LIST, GOLD, ignore_identical=True)
    assert (found.kept, found.identical) == (4, 1)
    assert (found.precision, found.recall) == (2 / 4, 1 / 3)
    assert score_phrase_list(LIST, GOLD, links="possible").precision == 4 / 5
    assert score_phrase_list(LIST, GOLD, exact_case=True).unmatched == 2
    long = score_phrase_list(LIST, GOLD, min_length=2)
    assert (long.kept, long.out_of_bounds) == (1, 6)
    short = score_phrase_list(LIST, GOLD, max_length=1)
    assert (short.kept, short.counts["ref_atomic"]) == (1, 3)
    assert str(short.signature).count("max-length:1") == 1
    assert score_phrase_list([("they reached", "arrived at")], GOLD, loose=True).precision == 1
    assert score_phrase_list([("they reached", "arrived at")], GOLD).precision == 0


def test_repeated_words_and_a_list_that_matches_nothing():
    links = {"gold": Alignment.parse("0-0 2-2")}
    corpus = Corpus([SentencePair("1", ["a", "b", "a"], ["x", "y", "x"], links)])
    found = score_phrase_list([("a", "x")], corpus)
    assert (found.counts["hyp_atomic"], found.precision, found.recall) == (4, 0.5, 1)
    found = score_phrase_list([("no", "nothing")], GOLD)
    assert math.isnan(found.precision)
    assert math.isnan(found.entry_precision)
    assert (found.recall, found.f1) == (0, 0)
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert (plain["precision"], plain["kept"], plain["unmatched"]) == (None, 0, 1)
    drawn = score_phrase_list(LIST, GOLD).with_intervals(resamples=10, seed=1).to_json()
    assert set(drawn["intervals"]) == {"precision", "recall", "f1"}


def test_bad_requests_and_unreadable_files_are_refused(tmp_path):
    for options in ({"min_length": 3, "max_length": 2}, {"reference": "nobody"}, {"links": "no"}):
        refuses((OptionError, UnknownNameError), None, score_phrase_list, [], GOLD, **options)
    bare = Corpus([SentencePair("1", None, None, {"gold": Alignment()})])
    refuses(MissingTextError, None, score_phrase_list, [], bare)
    refuses(FormatError, "cannot be read", lambda: list(read_phrase_table(tmp_path / "missing")))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"a\tb\n" * 100)[:-9])
    refuses(FormatError, "cut off after byte 20", list, read_phrase_table(tmp_path / "cut.gz"))
    refuses(UnknownNameError, "moses", list, read_phrase_table(tmp_path / "missing", format="csv"))
    (tmp_path / "list").write_bytes(b"a\tb\n")
    with pytest.raises(OptionError, match="unknown encoding"):
        list(read_phrase_table(tmp_path / "list", encoding="no-such"))


def test_both_formats_are_read_packed_or_not(tmp_path):
    expected = [("a b", "x"), ("c", "y z")]
    for name, text in {
        "list.tsv": "\ufeffa b\tx\r\nc\ty z",
        "table": "a b ||| x ||| 0.5 0.1 ||| 0-0\nc ||| y z\n",
    }.items():
        (tmp_path / name).write_bytes(text.encode())
        assert list(read_phrase_table(tmp_path / name)) == expected
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        assert list(read_phrase_table(str(tmp_path / f"{name}.gz"))) == expected
    (tmp_path / "empty").touch()
    assert list(read_phrase_table(tmp_path / "empty")) == []
    (tmp_path / "latin").write_bytes("é\tü".encode("latin-1"))
    assert list(read_phrase_table(tmp_path / "latin", encoding="latin-1")) == [("é", "ü")]


@pytest.mark.parametrize(
    ("text", "format_", "line"),
    [
        (b"a\tb\na b\n", None, 2),
        (b"a\tb\tc\n", None, 1),
        (b"a\tb\n\n", None, 2),
        (b"a\t \n", None, 1),
        (b"a ||| b\nc\n", None, 2),
        (b"a ||| ||| 0.5\n", None, 1),
        (b"a\tb\n", "moses", 1),
        (b"a\tb\n\xff\tc\n", None, 2),
    ],
)
def test_broken_lines_are_named(tmp_path, text, format_, line):
    path = tmp_path / "list"
    path.write_bytes(text)
    refuses(FormatError, f"list:{line}", lambda: list(read_phrase_table(path, format=format_)))
