"""Diversity of wording: against published values, plain references and scikit-learn."""

import csv
from collections import Counter
from dataclasses import replace
from math import isnan, log, sqrt

import numpy as np
import pytest
from command import PARAPHRASES, run, write
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit import Annotation, Corpus, SentencePair, read_corpus
from alignkit.corpora import diversity, wording_diversity
from alignkit.corpora.wording_diversity import cosine, idf_of, jaccard, length_ratio, ngrams
from alignkit.errors import MissingTextError, OptionError, UnknownNameError

WORDS = st.text("abCé-. \t", max_size=12)
TEXTS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6)


def pair(k, source, target, judgment="", **attributes):
    made = {"anna": Annotation(None, judgment=judgment)} if judgment else {}
    return SentencePair(str(k), source.split(), target.split(), made, attributes)


def unquoted(text):
    return text[1:-1].replace('""', '"') if len(text) > 1 and text[0] == text[-1] == '"' else text


@pytest.mark.real_data
def test_the_cosine_is_that_of_the_turku_corpus(data):
    path = data / "turku" / "opus-sample-first-3000.tsv"
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    equal = 0
    for row in rows:
        found = cosine(*(ngrams(unquoted(row[name])) for name in ("txt1", "txt2")))
        equal += abs(found - float(row["lex-similarity"])) < 1e-9
    assert (len(rows), equal) == (2999, 2985)
    values = diversity(read_corpus(path, format="turku", unquote=True)).values[:, 1]
    theirs = [float(row["lex-similarity"]) for row in rows]
    assert int((np.abs(values - theirs) < 1e-9).sum()) == 2985


def parade(data):
    with open(data / "parade" / "PARADE_validation.txt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return Corpus(pair(k, row[3], row[4], row[1]) for k, row in enumerate(rows))


@pytest.mark.real_data
def test_jaccard_separates_the_labels_of_parade(data):
    text = pytest.importorskip("sklearn.feature_extraction.text")
    given = {"by": "judgment", "stop_words": text.ENGLISH_STOP_WORDS, "stem": True}
    found = diversity(parade(data), token=r"\w\w+", **given)
    assert [round(found.mean("jaccard", label), 3) for label in ("1", "0")] == [0.344, 0.134]
    tokens = pytest.importorskip("nltk.tokenize").TreebankWordTokenizer().tokenize
    words = Corpus(
        replace(one, source=tokens(" ".join(one.source)), target=tokens(" ".join(one.target)))
        for one in parade(data)
    )
    found = diversity(words, token=r"\S+", **given)
    assert [round(found.mean("jaccard", label), 3) for label in ("1", "0")] == [0.305, 0.13]


def plain_ngrams(text):
    found = Counter()
    for part in text.lower().split():
        word = f" {part} "
        for start in range(len(word)):
            for end in range(start + 2, min(start + 4, len(word)) + 1):
                found[word[start:end]] += 1
    return found


@given(TEXTS)
def test_cosines_are_those_of_their_definition(texts):
    weights = idf_of(text for both in texts for text in both)
    every = [plain_ngrams(text) for both in texts for text in both]
    for gram, weight in weights.items():
        df = sum(gram in one for one in every)
        assert weight == pytest.approx(log((1 + len(every)) / (1 + df)) + 1)
    for source, target in texts:
        one, other = plain_ngrams(source), plain_ngrams(target)
        assert (ngrams(source), ngrams(target)) == (one, other)
        for used in (None, weights):
            first, second = (
                np.array([c[g] * (used[g] if used else 1) for g in sorted(one | other)])
                for c in (one, other)
            )
            if not one or not other:
                assert isnan(cosine(one, other, used))
                continue
            expected = float(first @ second) / sqrt(float(first @ first) * float(second @ second))
            assert cosine(one, other, used) == pytest.approx(expected)
            assert cosine(other, one, used) == pytest.approx(expected)


@given(WORDS, WORDS)
def test_measures_are_the_same_both_ways(source, target):
    types = [wording_diversity.token_types(text) for text in (source, target)]
    assert jaccard(*types) == pytest.approx(jaccard(*types[::-1]), nan_ok=True)
    assert isnan(jaccard(*types)) == (not any(types))
    assert length_ratio(source, target) == pytest.approx(length_ratio(target, source), nan_ok=True)
    if types[0]:
        assert jaccard(types[0], types[0]) == length_ratio(source, source) == 1


def test_a_small_corpus_by_hand():
    corpus = Corpus(
        [
            pair(1, "The dogs bark", "the DOGS bark", "4"),
            pair(2, "a dog barks", "one barking dog .", "4"),
            pair(3, "!", "?", "1"),
            SentencePair("4", None, None),
        ]
    )
    found = diversity(corpus, by="judgment")
    assert (found.ids, found.skipped, list(found.groups)) == (("1", "2", "3"), 1, ["1", "4"])
    assert found.values[0].tolist() == [1, 1, 1, 1]
    assert found.identical.tolist() == [True, False, False]
    assert found.values[1, [0, 3]].tolist() == [0.2, 1]
    assert isnan(found.mean("jaccard", "1"))
    assert found.mean("jaccard") == found.mean("jaccard", "4") == pytest.approx(0.6)
    assert found.histogram("jaccard") == [0] * 4 + [1] + [0] * 14 + [1]
    assert diversity(corpus, stem=True, stop_words=["A", "one"]).values[1, 0] == 1
    assert "1 left out (no text)" in str(found)
    corpus = Corpus([pair(1, "a", "a", genre="news,web"), pair(2, "a", "b", genre="web")])
    found = diversity(corpus, by="genre", split=",")
    assert {name: places.tolist() for name, places in found.groups.items()} == {
        "news": [0],
        "web": [0, 1],
    }
    assert "groups overlap: 1 of 2" in str(found)


def test_what_makes_no_sense_is_refused(capsys, tmp_path):
    first, bare = pair(1, "a", "b", "4"), SentencePair("1", None, None)
    second = SentencePair(
        "2",
        ["a"],
        ["b"],
        {name: Annotation(None, judgment=text) for name, text in (("anna", "1"), ("ben", "2"))},
    )
    for error, pairs, options in (
        (OptionError, [first, second], {"by": "judgment"}),
        (UnknownNameError, [first], {"by": "judgment", "annotator": "cleo"}),
        (UnknownNameError, [first], {"by": "genre"}),
        (OptionError, [first], {"token": "("}),
        (MissingTextError, [bare], {}),
    ):
        refuses(error, None, diversity, Corpus(pairs), **options)
    found = diversity(Corpus([first, second]), by="judgment", annotator="ben")
    assert list(found.groups) == ["", "2"]
    refuses(UnknownNameError, "did you mean 'cosine'", found.mean, "cosin")
    assert isnan(diversity(Corpus()).mean("cosine"))
    empty = write(tmp_path, "stop", "")
    run(capsys, "stats", PARAPHRASES, "--stem").failed("--stem needs --diversity")
    run(capsys, "stats", PARAPHRASES, "--diversity", "--stop-words", empty).failed("no stop words")


def test_the_command_says_what_the_function_finds_in_every_medium(capsys, tmp_path):
    found = diversity(read_corpus(PARAPHRASES, format="alignkit-jsonl"), by="genre")
    ran = run(capsys, "stats", PARAPHRASES, "--diversity", "--by", "genre", "--json")
    rows = {row["group"]: row for row in ran.json["means"]}
    assert rows["all pairs"]["pairs"] == 64
    assert rows["news"]["cosine"] == found.mean("cosine", "news")
    assert sum(row["group news"] for row in ran.json["jaccard"]) == rows["news"]["pairs"]
    assert "all pairs" in run(capsys, "stats", PARAPHRASES, "--diversity").out
    page = tmp_path / "d.html"
    given = ["stats", PARAPHRASES, "--diversity"]
    out = run(capsys, *given, "--html", page).out
    assert "0.25  0.30         10  ########################" in out
    assert "0.95  1.00          0\n" in out
    assert "Diversity of wording" in page.read_text("utf-8")
    assert "bar" not in run(capsys, *given, "--json").json["jaccard"][0]
    assert len(run(capsys, *given, "--json").json["jaccard"]) == 20
    assert "#" not in run(capsys, *given, "--csv").out
    assert "####" in run(capsys, *given, "--markdown").out
    assert "histogram" in run(capsys, *given, "--latex").out.lower()
    run(capsys, "stats", PARAPHRASES, "--csv").failed("--csv needs --diversity")
    run(capsys, "stats", PARAPHRASES, "--latex").failed("--latex needs --diversity")
