"""A phrase table holds what a dictionary counts, with probabilities that sum to 1."""

import json
from collections import Counter
from dataclasses import astuple

import pytest
import reference_pivot
from command import GOLD, TEXTS, run
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from strategies import corpora

from alignkit import PhrasePair, extract_phrases, read_corpus
from alignkit.errors import AlignkitError, MissingTextError, OptionError
from alignkit.rules.tables import runs as runs_module
from alignkit.rules.tables.phrase_tables import PhraseCounts, phrase_table

HOLDS = frozenset({"ids", "text", "sure", "possible", "spaces", "empty"})


def plain(corpus, annotator=None, **options):
    return reference_pivot.phrase_table(
        PhrasePair(*phrase[:5]).words(*pair.words)
        for pair in corpus
        if pair.alignments
        for phrase in extract_phrases(pair, annotator=annotator, **options)
    )


def held(entries):
    return {(one.source, one.target): (one.count, one.p_target, one.p_source) for one in entries}


@given(
    corpora(HOLDS, tokens=st.sampled_from(["a", "b", "ab", "B", "é", "\t", ""]), max_pairs=3),
    st.fixed_dictionaries(
        {
            "links": st.sampled_from(["sure", "possible"]),
            "kind": st.sampled_from(["all", "atomic"]),
            "loose": st.booleans(),
            "max_length": st.sampled_from([None, 1, 2]),
            "ignore_identical": st.booleans(),
        }
    ),
)
def test_a_table_is_what_a_dictionary_counts(corpus, options):
    found = list(phrase_table(corpus, **options))
    assert held(found) == plain(corpus, **options)
    assert [(one.source, one.target) for one in found] == sorted(held(found))
    for side in ("source", "target"):
        sums = Counter()
        for one in found:
            sums[getattr(one, side)] += one.p_target if side == "source" else one.p_source
        assert sums == pytest.approx(dict.fromkeys(sums, 1.0))


def test_probabilities_are_of_all_that_was_seen_in_text_and_json(capsys):
    corpus = read_corpus(GOLD, source=TEXTS[1], target=TEXTS[3])
    expected = {pair: row for pair, row in plain(corpus).items() if row[0] >= 3}
    assert held(phrase_table(corpus, min_count=3)) == expected
    ran = run(capsys, "phrases", GOLD, *TEXTS, "--table", "--min-count", 3)
    lines = [line.split("\t") for line in ran.out.splitlines()]
    found = {(tuple(s.split()), tuple(t.split())): tuple(map(float, row)) for s, t, *row in lines}
    assert found == expected
    assert "2,509 phrase pairs, 2,368 different; 2,351 seen less than 3 times left out" in ran.err
    assert "la\tthe\t8\t0.8\t" in ran.out
    ran = run(capsys, "phrases", GOLD, *TEXTS, "--table", "--jsonl", "--max-length", 1)
    names = "count", "p_target", "p_source"
    assert {
        (tuple(row["source"]), tuple(row["target"])): tuple(row[name] for name in names)
        for row in map(json.loads, ran.out.splitlines())
    } == plain(corpus, max_length=1)


def test_memory_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(runs_module, "_LENGTH", 4)
    corpus = read_corpus(GOLD, source=TEXTS[1], target=TEXTS[3])
    with PhraseCounts(folder=str(tmp_path), room=1 << 16) as counts:
        counts.add((pair, next(iter(pair.alignments.values()))) for pair in corpus)
        found = list(counts.entries())
        assert counts._by_target.written > 0
    assert held(found) == plain(corpus)
    assert list(map(astuple, found)) == list(map(astuple, phrase_table(corpus)))
    assert not list(tmp_path.iterdir())


def test_what_makes_no_table_is_told(capsys, tmp_path):
    for words, told in (
        ((GOLD, *TEXTS, "--min-count", 2), "need --table"),
        ((GOLD, *TEXTS, "--memory", 2), "need --table"),
        ((GOLD, *TEXTS, "--table", "--min-count", 0), "expected a whole number, 1 or more"),
        ((GOLD, "--table"), "gold.align: pair '1' has no words"),
        ((GOLD, *TEXTS, "--table", "-o", tmp_path / "no" / "table"), "cannot be written"),
    ):
        run(capsys, "phrases", *words).failed(told)
    (tmp_path / "empty").write_text("")
    ran = run(capsys, "phrases", tmp_path / "empty", "--format", "pharaoh", "--table")
    assert (ran.code, ran.out) == (0, "")
    assert "0 phrase pairs" in ran.err
    corpus = read_corpus(GOLD)
    refuses(MissingTextError, "pair '1' has no words", lambda: list(phrase_table(corpus)))
    for wrong in ({"links": "x"}, {"kind": 3}, {"max_length": 0}):
        refuses(AlignkitError, None, phrase_table, corpus, **wrong)
    refuses(OptionError, "`min_count` is 0", phrase_table, corpus, min_count=0)


@pytest.mark.real_data
def test_a_real_table_is_what_a_dictionary_counts(data):
    corpus = read_corpus(data / "edinburgh" / "gold.train.sure.json")
    expected = plain(corpus, max_length=7)
    assert held(phrase_table(corpus, max_length=7)) == expected
    assert sum(row[0] for row in expected.values()) == 47_324
