"""Candidates for paraphrases: documents, sentences in them, texts of groups, and retrieval."""

import csv
import json
import re
from collections import Counter
from datetime import date
from itertools import combinations

import numpy as np
import pytest
from command import feed, made, run
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from repetitions import FULL
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from alignkit import Annotation, Corpus, SentencePair, read_corpus, write_corpus
from alignkit.annotate.documents import read_documents
from alignkit.errors import ArgumentError, FormatError, OptionError
from alignkit.identification import (
    GroupOptions,
    TextPair,
    TextRecord,
    candidate_documents,
    candidate_groups,
    candidate_sentences,
    groups,
    read_texts,
    retrieve,
    sentences,
    similarity,
)
from alignkit.identification.candidates import bin_of
from alignkit.model.labels import get_view

FIRE = "A fire broke out in a warehouse in Lund on Monday.\nNobody was hurt."
BURNS = "On Monday a warehouse in Lund caught fire.\nNo one was injured, the police say."
OUT = "The fire in the warehouse in Lund is out.\nFirefighters worked all night."
RAIN = "It rained in Malmö on Sunday."
NEWS = [
    {"id": "a", "text": FIRE, "title": "Fire in Lund", "day": "2026-03-02", "topic": "fire"},
    {"id": "b", "text": BURNS, "title": "Warehouse burns", "day": "2026-03-09", "topic": "fire"},
    {"id": "c", "text": OUT, "title": "Blaze in Lund over", "day": "2026-03-10", "topic": "fire"},
    {"id": "d", "text": RAIN, "title": "Rain", "day": "2026-03-01T12:00", "topic": "weather"},
    {"id": "e", "text": " \n", "title": "Empty", "day": "2026-03-01", "topic": "weather"},
]


def records(rows):
    return [TextRecord(row["id"], {k: v for k, v in row.items() if k != "id"}) for row in rows]


def texts(*several, **more):
    return [TextRecord(str(k), {"text": text, **more}) for k, text in enumerate(several)]


def ids(result):
    return [pair.id for pair in result.pairs]


@pytest.fixture
def news(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in NEWS), encoding="utf-8")
    return path


# documents

WORD = st.sampled_from(["fire", "rain", "Lund", "night", "police", "warehouse", "was"])
TEXT = st.lists(WORD, max_size=5).map(" ".join)
DOCUMENT = st.tuples(TEXT, st.sampled_from("xy"), st.integers(1, 20))


@given(st.lists(DOCUMENT, min_size=2, max_size=9), st.sampled_from([None, 1, 2]), st.booleans())
@settings(max_examples=150 if FULL else 50)
def test_pairs_are_those_of_a_plain_reference(drawn, most, dated):
    low, high = 0.1, 0.8
    documents = [
        TextRecord(str(k), {"text": text, "key": key, "day": str(date(2026, 3, day))})
        for k, (text, key, day) in enumerate(drawn)
    ]
    words = [k for k, (text, *_) in enumerate(drawn) if text]
    assume(words)
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)).fit_transform(
        [text for text, *_ in drawn]
    )
    cosines = (vectors @ vectors.T).toarray()
    near = {
        (i, j)
        for i, j in combinations(words, 2)
        if drawn[i][1] == drawn[j][1] and (not dated or abs(drawn[i][2] - drawn[j][2]) <= 7)
    }
    assume(near)
    values = np.array([cosines[pair] for pair in near])
    assume(abs(np.subtract.outer(values, [low, high])).min() > 1e-4)
    inside = {
        pair: cosines[pair]
        for pair in near
        if low <= cosines[pair] <= high
        and not any(drawn[x][0] in drawn[y][0] for x, y in (pair, pair[::-1]))
    }
    gaps = np.diff(sorted({*inside.values()}))
    assume(most is None or not ((gaps < 1e-5) & (gaps > 0)).any())
    best = {
        pair
        for k in words
        for pair in sorted((p for p in inside if k in p), key=lambda p: (-inside[p], p))[:most]
    }
    result = candidate_documents(
        documents,
        key=["key"],
        date="day" if dated else None,
        min_similarity=low,
        max_similarity=high,
        per_document=most,
    )
    assert ids(result) == [f"{i}~{j}" for i, j in sorted(best)]
    assert result.histogram.sum() == len(near)
    assert (abs(result.histogram - np.bincount(bin_of(values), minlength=20)).sum()) <= 2


def test_dates_are_near_to_the_second():
    def pairs(**options):
        return ids(candidate_documents(records(NEWS), date="day", **options))

    assert pairs() == ["a~b", "a~d", "b~c"]  # 2 to 9 March is within 7 days, 1 March 12:00 is not
    assert pairs(days=0.99) == ["a~d"]
    assert pairs(days=8.4) == ["a~b", "a~c", "a~d", "b~c", "b~d"]  # 8.5 days from c to d


def test_documents_without_a_date(tmp_path):
    rows = [row | ({"day": "soon"} if row["id"] == "b" else {}) for row in NEWS]
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(FormatError, match=r"news.jsonl:2: .*its day is 'soon'"):
        candidate_documents(read_texts(str(path)), date="day")
    dropped = candidate_documents(records(rows), date="day", undated="drop")
    assert ids(dropped) == ["a~d"]
    assert dropped.counts["documents without a date, dropped"] == 1
    kept = candidate_documents(records(rows), date="day", undated="all")
    assert ids(kept) == ["a~b", "a~d", "b~c", "b~d"]


def test_equal_texts_and_parts_of_texts_are_counted():
    documents = texts(FIRE, FIRE.replace("\n", "  "), FIRE[:50], BURNS)
    result = candidate_documents(documents)
    assert ids(result) == ["0~3", "1~3", "2~3"]
    assert dict(result.counts) == {
        "pairs of equal texts": 1,
        "pairs in which a text contains the other": 2,
    }
    assert "0~1" in ids(candidate_documents(documents, max_similarity=1.0))
    assert "0~1" not in ids(candidate_documents(documents, max_similarity=0.999))


def test_documents_without_words_are_counted_and_never_pairs():
    result = candidate_documents(records(NEWS), key=["topic"])
    assert ids(result) == ["a~b", "a~c", "b~c"]
    assert result.counts == {"documents without words": 1, "documents compared with no other": 1}


def test_the_farthest_pair_of_each_key_is_in_the_band():
    every = candidate_documents(records(NEWS), key=["topic"])
    values = {pair.id: float(pair.attributes["similarity"]) for pair in every.pairs}
    least = min(values, key=values.get)
    assert ids(candidate_documents(records(NEWS), key=["topic"], farthest=True)) == [least]
    above = candidate_documents(
        records(NEWS), key=["topic"], farthest=True, min_similarity=values[least] + 0.001
    )
    assert ids(above) == [sorted(values, key=values.get)[1]]
    with pytest.raises(OptionError, match="`key`"):
        candidate_documents(records(NEWS), farthest=True)


def test_headings_of_near_texts_come_by_their_distance():
    result = candidate_documents(records(NEWS), near="text", far="title", min_similarity=0.3)
    far = [float(pair.attributes["far_similarity"]) for pair in result.pairs]
    assert far == sorted(far)
    assert ids(result)[-1] == "a~c"
    assert result.corpus["a~c"].words == (("Fire", "in", "Lund"), ("Blaze", "in", "Lund", "over"))


def test_two_inputs_are_paired_across():
    result = candidate_documents(records(NEWS[:2]), records(NEWS[1:4]), per_document=1)
    assert ids(result) == ["a~b", "b~c"]  # b~b is equal
    assert result.counts["pairs of equal texts"] == 1


def test_a_grid_shows_pairs_of_each_bin():
    documents = records(NEWS[:4]) + texts(*(f"{FIRE} {k}" for k in range(6)))
    shown = candidate_documents(documents, grid=5, show=2)
    rows = shown.to_json()["examples"]
    assert max(Counter(row["from"] for row in rows).values()) == 2
    assert all(row["from"] <= row["similarity"] <= row["from"] + 0.2 for row in rows)
    assert rows == candidate_documents(documents, grid=5, show=2).to_json()["examples"]
    assert rows != candidate_documents(documents, grid=5, show=2, seed=1).to_json()["examples"]


def test_words_choose_what_letters_compare_among_many_texts(monkeypatch):
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "mnrst"]
    drawn = np.random.default_rng(0).choice(words, (60, 4))
    documents = texts(*(f"{' '.join(row)} {k}" for k, row in enumerate(drawn)))
    exact = candidate_documents(documents, per_document=3)
    monkeypatch.setattr(similarity, "LARGE", 59)
    monkeypatch.setattr(similarity, "_CHOSEN", 25)
    fast = candidate_documents(documents, per_document=3)
    assert any("most words" in note for note in fast.notes)
    assert not any("most words" in note for note in exact.notes)
    cosine = {pair.id: pair.attributes["similarity"] for pair in exact.pairs}
    assert len(cosine.keys() & {*ids(fast)}) > 0.8 * len(cosine)
    assert fast.histogram.sum() < exact.histogram.sum()


# what is compared


def by_length(several):
    return np.array([[len(text), 1.0] for text in several])


def test_any_function_compares_texts():
    documents = texts("a", "abcdefgh ij", "b")
    result = candidate_documents(documents, similarity=by_length, per_document=1)
    assert ids(result)[0] == "0~2"
    assert "similarity:by_length" in result.signature
    thin = candidate_documents(
        documents, similarity=lambda x: sparse.csr_matrix(by_length(x)), per_document=1
    )
    assert ids(thin) == ids(result)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (np.zeros((1, 2)), "returned 1 x 2 values for 3 texts"),
        (np.zeros((3, 0)), "returned 3 x 0 values"),
        (np.zeros(3), "returned 3 values"),
        (np.full((3, 2), np.nan), "not finite"),
    ],
    ids=["rows", "width", "vector", "nan"],
)
def test_a_wrong_function_is_named(returned, message):
    def encode_badly(_):
        return returned

    with pytest.raises(OptionError, match=rf"encode_badly: .*{message}"):
        candidate_documents(texts("a b", "c d", "e f"), similarity=encode_badly)


# sentences

SOURCE = (
    "Good morning.\nA fire broke out late on Sunday.\nIt destroyed all of a warehouse.\nThe end."
)
TARGET = (
    "Hello all.\nA fire that broke out on Sunday destroyed a warehouse.\nWe wait.\nThe end nears."
)
PLACED = TextPair("d", SOURCE, TARGET, {"topic": "fire"})


def gold_pair(source, target, id="d"):
    spans = {"source": (SOURCE, source), "target": (TARGET, target)}
    said = {"extracted_from": id}
    for side, (text, part) in spans.items():
        begin = text.index(part)
        said |= {f"{side}_start": str(begin), f"{side}_end": str(begin + len(part))}
    return SentencePair(f"{id}/x1", source.split(), target.split(), {}, said)


GOLD = gold_pair(
    "A fire broke out late on Sunday.\nIt destroyed all of a warehouse.",
    "A fire that broke out on Sunday destroyed a warehouse.",
)


def shares(result):
    return [row["share"] for row in result.to_json()["recall"]]


def test_windows_find_two_lines_that_are_one():
    alone = candidate_sentences([PLACED], [GOLD], lines=(1, 1))
    assert shares(alone) == [0, 0, 0, 0]
    assert shares(candidate_sentences([PLACED], [GOLD])) == [1, 1, 1, 1]


def test_each_window_has_its_best_and_not_only_the_best_of_all():
    fires = "A fire broke out at night.\nA fire broke out by day.\nA fire broke out.\nWe end."
    pair = TextPair("d", "A fire broke out here.\nThe end is near.", fires, {})
    every = candidate_sentences([pair], lines=(1, 1))
    one = candidate_sentences([pair], lines=(1, 1), per_window=1)
    assert {each.source for each in one.pairs} == {*pair.source.split("\n")}
    of_all = sorted(every.pairs, key=lambda each: -float(each.attributes["similarity"]))
    assert {each.source for each in of_all[:2]} == {"A fire broke out here."}


def test_places_are_characters_of_the_texts_as_in_an_export():
    for pair in candidate_sentences([PLACED]).pairs:
        said = pair.attributes
        for side, text, part in (("source", SOURCE, pair.source), ("target", TARGET, pair.target)):
            begin, end = int(said[f"{side}_start"]), int(said[f"{side}_end"])
            assert text[begin:end] == part
            assert said[f"{side}_line"] == str(1 + text[:begin].count("\n"))
        assert (said["extracted_from"], said["topic"]) == ("d", "fire")


SPANS = st.lists(
    st.tuples(*[st.tuples(st.integers(0, 12), st.integers(1, 6))] * 2, st.integers(0, 4)),
    max_size=12,
)


@given(SPANS)
def test_no_candidate_overlaps_a_better_one_that_is_kept(drawn):
    spans = [(a, a + n, b, b + m) for (a, n), (b, m), _ in drawn]
    values = np.array([value for *_, value in drawn], float)

    def share(first, second):
        one, two = set(range(*first)), set(range(*second))
        return len(one & two) / len(one | two)

    kept = []
    for k in sorted(range(len(spans)), key=lambda k: -values[k]):
        if not any(
            share(spans[k][:2], spans[j][:2]) > 0.3 and share(spans[k][2:], spans[j][2:]) > 0.3
            for j in kept
        ):
            kept.append(k)
    apart = sentences._apart(np.array(spans, int).reshape(-1, 4), values)
    assert np.flatnonzero(apart).tolist() == sorted(kept)


def test_the_diagonal_and_the_band_limit_windows():
    near = candidate_sentences([PLACED], near_diagonal=0.0, lines=(1, 1))
    assert all(pair.attributes["source_line"] == "1" for pair in near.pairs)
    band = candidate_sentences([PLACED], min_similarity=0.3, max_similarity=0.5)
    assert band.pairs
    assert all(0.3 <= float(pair.attributes["similarity"]) <= 0.5 for pair in band.pairs)


def test_a_sample_draws_from_all_bins_alike_and_tells_dry_ones():
    lines = [f"{FIRE.split(chr(10), 1)[0]} {k * 'more words about rain '}" for k in range(40)]
    pair = TextPair("d", "\n".join(lines), BURNS + "\n" + RAIN, {})
    whole = candidate_sentences([pair], lines=(1, 1))
    bins = Counter(bin_of([float(each.attributes["similarity"])])[0] for each in whole.pairs)
    part = candidate_sentences([pair], lines=(1, 1), sample=2 * len(bins))
    drawn = Counter(bin_of([float(each.attributes["similarity"])])[0] for each in part.pairs)
    assert drawn.keys() == bins.keys()
    assert all(drawn[k] >= min(bins[k], 2) for k in bins)
    (note,) = candidate_sentences([pair], lines=(1, 1), sample=10**6).notes
    assert f"{len(whole.pairs)} of 1000000 drawn" in note
    assert ids(part) == ids(candidate_sentences([pair], lines=(1, 1), sample=2 * len(bins)))


def test_sentences_may_be_units(monkeypatch):
    def spans(text):
        return [match.span() for match in re.finditer(r"\S[^.]*\.", text)]

    whole = PLACED._replace(source=SOURCE.replace("\n", " "), target=TARGET.replace("\n", " "))
    with monkeypatch.context() as patched:
        patched.setattr(sentences, "sentence_spans", spans)
        by_sentences = candidate_sentences([whole], sentences=True)
    places = [pair.attributes["source_start"] for pair in by_sentences.pairs]
    by_lines = candidate_sentences([PLACED])
    assert places == [pair.attributes["source_start"] for pair in by_lines.pairs]
    monkeypatch.setattr("nltk.data.path", [])
    with pytest.raises(OptionError, match="punkt_tab are not installed"):
        candidate_sentences([whole], sentences=True)


def test_bins_of_a_sample_may_be_wider():
    note = candidate_sentences([PLACED], sample=10**6, bins=2).notes[0]
    assert "of 2 bins" in note or "of 1 bins" in note


def test_recall_counts_what_it_cannot_look_for():
    other, lost = gold_pair("Good morning.", "Hello all.", "x"), SentencePair("p", ["a"], ["b"])
    result = candidate_sentences([PLACED], [GOLD, other, lost])
    assert result.more[0].note == "1 gold pairs; left out: 1 of other documents, 1 without place"
    with pytest.raises(OptionError, match="has its places"):
        candidate_sentences([PLACED], [lost])
    missed = candidate_sentences([PLACED], [gold_pair("Good morning.", "We wait.")])
    assert shares(missed) == [0, 0, 0, 1]


@pytest.mark.parametrize("lines", [(1, 3), (4, 4)], ids=["no words", "too few lines"])
def test_known_pairs_of_documents_without_windows_are_missed(lines):
    empty = PLACED._replace(id="e", target="\n" if lines == (1, 3) else "Hello all.")
    lost = gold_pair("Good morning.", "We wait.", "e")
    result = candidate_sentences([PLACED, empty], [GOLD, lost], lines=lines)
    assert result.counts["pairs of documents with too few lines on a side"] == 1
    assert result.more[0].note == "2 gold pairs; left out: 0 of other documents, 0 without place"
    assert shares(result)[-1] == 0.5


def test_documents_and_known_pairs_have_their_types():
    with pytest.raises(ArgumentError, match="must hold TextPair"):
        candidate_sentences(SOURCE)
    with pytest.raises(ArgumentError, match="gold"):
        candidate_sentences([PLACED], [PLACED])


def test_gold_may_be_the_context_of_turku():
    said = {
        "doc1": "d",
        "doc2": "e",
        **{
            k: GOLD.attributes[v]
            for k, v in (
                ("beg1", "source_start"),
                ("end1", "source_end"),
                ("beg2", "target_start"),
                ("end2", "target_end"),
            )
        },
    }
    result = candidate_sentences(
        [PLACED._replace(id="d~e")], [SentencePair("1", ["a"], ["b"], {}, said)]
    )
    assert shares(result) == [1, 1, 1, 1]


# groups

TERMS = [
    ("list", "a sequence of items"),
    ("list", "A  sequence of ITEMS"),
    ("list", "items in order"),
    ("list", "a sequence of items, in order"),
    ("list", "a container of things"),
    ("list", "a container of many things!"),
    ("list", "ordered container"),
    ("tree", "a plant"),
    ("tree", " "),
]


def grouped(terms=TERMS):
    return [TextRecord(str(k), {"group": g, "text": t}) for k, (g, t) in enumerate(terms)]


def test_texts_of_a_group_are_merged_paired_and_dropped():
    result = candidate_groups(grouped(), all_pairs=True, max_alike=0.8)
    assert result.counts == {
        "texts equal to another of their group": 1,
        "texts without words": 1,
        "groups of fewer than 5 different texts": 1,
        "pairs in which a text contains the other": 2,
        "pairs that are too alike letter by letter": 1,
    }
    assert len(result.pairs) == 15 - 3
    assert result.head == ("1 group of 6 different texts, 15 pairs in all",)


def test_clusters_are_of_groups_and_depend_on_the_seed_alone():
    once, again = (candidate_groups(grouped(), seed=3) for _ in range(2))
    assert once.pairs == again.pairs
    assert {pair.attributes["group"] for pair in once.pairs} == {"list"}
    one = candidate_groups(grouped(), clusters=1, max_alike=1.0)
    assert ids(one) == ids(candidate_groups(grouped(), all_pairs=True, max_alike=1.0))
    assert not candidate_groups(grouped(), clusters=6).pairs
    assert candidate_groups(grouped(), clusters=6).counts["texts alone in their cluster"] == 6


def test_groups_may_have_vectors_of_your_own(tmp_path, capsys):
    vectors, terms = tmp_path / "words.vec", tmp_path / "terms.tsv"
    words = {word for _, text in TERMS for word in text.lower().split()}
    vectors.write_text("".join(f"{w} {len(w)} 1\n" for w in sorted(words)))
    terms.write_text("term\ttext\n" + "".join(f"{g}\t{t}\n" for g, t in TERMS if t.strip()))
    more = "--group", "term", "--vectors", vectors, "--json", "--clusters", "half"
    ran = made(capsys, "candidates", "groups", terms, *more)
    assert ran.json["counts"][0]["number"] > 0
    assert "similarity:mean_vectors" in ran.json["signature"]


# retrieval


def judged(pairs):
    return Corpus(
        SentencePair(str(k), s.split(), t.split(), {"a": Annotation(None, judgment=label)})
        for k, (s, t, label) in enumerate(pairs)
    )


def test_ranks_by_hand():
    corpus = judged([("aa bb", "aa cc", "1"), ("dd", "ee", "0"), ("dd", "dd", "1")])

    def encode(several):  # dd is as near to all
        at = {"aa bb": (1, 0), "aa cc": (1, 0.1), "dd": (0, 1), "ee": (-1, 0)}
        return np.array([at[text] for text in several])

    result = retrieve(corpus, get_view("binary", "full"), similarity=encode, at=(1, 2))
    assert {label: ranks.tolist() for label, ranks in result.ranks.items()} == {
        "0": [3, 1],
        "1": [1, 1],
    }
    rows = {row["label"]: row for row in result.to_records()}
    assert (rows["1"]["top-1"], rows["0"]["top-1"], rows["0"]["MRR"]) == (1, 0.5, 2 / 3)
    assert "1 pairs are left out" in str(result)


def test_a_text_as_similar_as_the_answer_stands_before_it():
    corpus = judged([("a", "b", "1")])
    same = retrieve(
        corpus,
        get_view("binary", "full"),
        ["c", "d", "a"],
        similarity=lambda several: np.ones((len(several), 1)),
    )
    assert same.pool == 4
    assert same.ranks["1"].tolist() == [3, 3]


# the command line


@pytest.mark.parametrize(
    "words",
    [
        ("documents", "--min-similarity", "nan"),
        ("documents", "--min-similarity", ".5", "--max-similarity", ".4"),
        ("documents", "--per-document", "0"),
        ("documents", "--key", "film"),
        ("documents", "--near", "body"),
        ("documents", "--date", "topic"),
        ("documents", "--days", "nan"),
        ("documents", "--farthest"),
        ("documents", "--days", "3"),
        ("documents", "--undated", "all"),
        ("documents", "--show", "2"),
        ("sentences", "--bins", "5"),
        ("documents", "--ngrams", "4-2"),
        ("documents", "--undated", "maybe"),
        ("documents", "-o", "-", "--json"),
        ("sentences",),
        ("groups", "--clusters", "0"),
        ("groups", "--group", "film"),
        ("groups", "--max-alike", "2"),
        ("retrieve", "--at", "0"),
    ],
    ids=" ".join,
)
def test_a_usage_error_changes_no_file(words, news, tmp_path, capsys):
    (tmp_path / "out").write_text("kept")
    more = () if {"-o", "retrieve"} & {*words} else ("-o", tmp_path / "out")
    run(capsys, "candidates", words[0], news, *words[1:], *more).failed()
    assert (tmp_path / "out").read_text() == "kept"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"id": 1, "text": "a b"}\n{"id": "1", "text": "c"}\n', ":2: the id '1' is used"),
        ('{"text": "a b"}\n', "no two documents"),
        ("", "no two documents"),
        ('{"text": "a"}\n{"text": ["b", 1]}\n', ":2: text '2' has no 'text'"),
        ('{"text": "a"}\n[1]\n', ":2: expected a JSON object"),
        ("id\ttext\n1\ta b\n2\n", ":3: expected 2 columns"),
        ("A fire.\nIt burns.\n", "name their folder"),
        ('{"text": "..."}\n{"text": ". ."}\n', "pairs"),
    ],
    ids=["ids", "alone", "empty", "list", "array", "columns", "plain", "dots"],
)
def test_wrong_documents_are_named(lines, message, tmp_path, capsys):
    path = tmp_path / "in"
    path.write_text(lines)
    ran = run(capsys, "candidates", "documents", path, "--ngrams", "2-2")
    if message == "pairs":
        assert ran.code in (0, 2)
    else:
        ran.failed(message)


def test_documents_are_read_where_people_extract_pairs(news, tmp_path, capsys):
    out = tmp_path / "docs.jsonl"
    ran = made(capsys, "candidates", "documents", news, "--key", "topic", "-o", out)
    assert ran.out.rstrip().split("\n")[-1].startswith("ngrams:2,4|words:no")
    pairs = list(read_documents([str(out)]))
    assert [pair.id for pair in pairs] == ["a~b", "a~c", "b~c"]
    assert pairs[0].attributes["source_text"] == FIRE
    assert pairs[0].attributes["source_document"] == "a"
    assert pairs[0].attributes["topic"] == "fire"
    made(capsys, "candidates", "sentences", out, "-o", tmp_path / "c.jsonl")
    corpus = read_corpus(tmp_path / "c.jsonl")
    assert {pair.attributes["extracted_from"] for pair in corpus} <= {"a~b", "a~c", "b~c"}


def test_documents_may_be_files_of_two_folders(tmp_path, capsys):
    for name in "xy":
        (tmp_path / name).mkdir()
    (tmp_path / "x" / "a.txt").write_text(FIRE)
    (tmp_path / "y" / "b.txt").write_text(BURNS)
    ran = made(capsys, "candidates", "documents", tmp_path / "x", tmp_path / "y", "-o", "-")
    assert json.loads(ran.out)["id"] == "a~b"
    assert "1 document and 1 document" in ran.err
    assert "without a key" in ran.err
    two = tmp_path / "x" / "a.txt", tmp_path / "y" / "b.txt"
    write_corpus([gold_pair("Good morning.", "Hello all.", "a")], tmp_path / "gold.jsonl")
    ran = made(
        capsys, "candidates", "sentences", *two, "-o", "-", "--recall", tmp_path / "gold.jsonl"
    )
    assert "found at rank 1" in ran.err
    ran = made(capsys, "candidates", "sentences", *two, "-o", "-", "--negatives", "--quiet")
    assert "worded differently are missed" in ran.err
    pairs = [json.loads(line)["attributes"] for line in ran.out.splitlines()[1:]]
    assert all(float(said["similarity"]) < 0.1 for said in pairs)


def test_pairs_of_headings_are_a_corpus(news, tmp_path, capsys):
    out = tmp_path / "titles.jsonl"
    made(capsys, "candidates", "documents", news, "--far", "title", "-o", out)
    made(capsys, "convert", out, tmp_path / "titles.xml")
    assert len(read_corpus(tmp_path / "titles.xml")) == 6


def test_parts_of_a_split_share_no_group(tmp_path, capsys, monkeypatch):
    rows = [(f"g{k}", text) for k in range(8) for group, text in TERMS if group == "list"]
    feed(monkeypatch, "group\ttext\n" + "".join(f"{g}\t{t}\n" for g, t in rows))
    out = tmp_path / "c.jsonl"
    made(capsys, "candidates", "groups", "-", "--all-pairs", "-o", out)
    split = "--split", "train=.5,test=.5", "--keep-together", "group"
    made(capsys, "select", out, *split, "-o", tmp_path / "p.jsonl")
    parts = [
        {pair.attributes["group"] for pair in read_corpus(tmp_path / f"p-{name}.jsonl")}
        for name in ("train", "test")
    ]
    assert parts[0] | parts[1] == {f"g{k}" for k in range(8)}
    assert not parts[0] & parts[1]


def test_the_negatives_have_no_other_band(news, capsys):
    more = "--negatives", "--max-similarity", ".5"
    run(capsys, "candidates", "sentences", news, *more).failed("--negatives sets the band")


def test_retrieve_reads_more_texts(tmp_path, capsys):
    path, among = tmp_path / "c.jsonl", tmp_path / "more.txt"
    write_corpus(judged([(FIRE, BURNS, "1"), (OUT, RAIN, "0")]), path)
    among.write_text("one more\nand more\n\n")
    ran = made(
        capsys, "candidates", "retrieve", path, "--scheme", "binary", "--among", among, "--json"
    )
    assert [row["queries"] for row in ran.json["retrieval"]] == [2, 2]
    assert "among:3|" in ran.json["signature"]


# numbers of real corpora


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("options", "label", "expected"),
    [
        ({}, "paraphrases", (2156, 0.658, 0.839, 0.724, 3.15)),
        ({}, "3", (590, 0.536, 0.727, 0.608, 6.53)),
        ({}, "4<>", (764, 0.690, 0.874, 0.753, 1.91)),
        ({}, "4", (802, 0.717, 0.887, 0.782, 1.86)),
        ({"ngrams": (2, 3)}, "paraphrases", (2156, 0.666, 0.840, 0.728, 3.21)),
        ({"words": True}, "paraphrases", (2156, 0.587, 0.788, 0.658, 8.29)),
    ],
    ids=["all", "3", "4<>", "4", "n-grams 2-3", "words"],
)
def test_retrieval_on_turku(data, options, label, expected):
    """Computed apart with scikit-learn on the Swedish test part."""
    corpus = read_corpus(data / "turku" / "sv-test.json")
    result = retrieve(corpus, get_view("turku", "retrieval"), **options)
    assert result.pool == 2154
    (row,) = (row for row in result.to_records() if row["label"] == label)
    numbers = [row[name] for name in ("queries", "top-1", "top-10", "MRR", "rank%")]
    assert numbers == pytest.approx(expected, abs=0.005)


@pytest.mark.real_data
def test_clusters_on_parade(data):
    """He et al. chose pairs by such clusters: paraphrases share a cluster more often."""
    with open(data / "parade" / "PARADE_validation.txt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    sides = [(row["Entity"], row[f"Definition{k}"]) for row in rows for k in "12"]
    chosen = GroupOptions(min_group=2)
    members = groups._different(grouped(dict.fromkeys(sides)), chosen, Counter())
    sizes = [len(each) for each in members.values()]
    assert (len(sizes), sum(sizes)) == (110, 1329)
    assert sum(n * (n - 1) // 2 for n in sizes) == 17_600
    clusters = groups._clusters([[t["text"] for t in each] for each in members.values()], chosen)
    own = {
        (record["group"], " ".join(record["text"].casefold().split())): label
        for each, labels in zip(members.values(), clusters, strict=True)
        for record, label in zip(each, labels, strict=True)
    }
    pairs = sum(n * (n - 1) // 2 for labels in clusters for n in Counter(labels).values())
    assert 1050 < pairs < 1200
    shares = []
    for label in "10":
        same = [
            own[row["Entity"], " ".join(row["Definition1"].casefold().split())]
            == own[row["Entity"], " ".join(row["Definition2"].casefold().split())]
            for row in rows
            if row["Binary labels"] == label
        ]
        shares.append(np.mean(same))
    assert shares == pytest.approx([0.43, 0.235], abs=0.03)
