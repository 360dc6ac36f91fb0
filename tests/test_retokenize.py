"""Links, nulls, labels and columns on other words of the same texts, and back."""

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise
from unicodedata import normalize

import numpy as np
import pytest
from command import made, run, write
from hypothesis import given
from hypothesis import strategies as st
from test_remapping import MARKED, cut

import alignkit as ak
from alignkit import NULL, Alignment, Annotation, Corpus, SentencePair, Tree
from alignkit.errors import (
    AlignkitError,
    JoinError,
    MissingTextError,
    OptionError,
    UnknownNameError,
)

WORDS = st.lists(st.text("abcé-\"'한", min_size=1, max_size=6), min_size=1, max_size=6)


def moved(alignment, old, new):
    """The alignment of one pair on other words."""
    corpus = Corpus([SentencePair("1", *old, {"gold": alignment})])
    return ak.retokenize(corpus, [new[0]], [new[1]]).corpus[0].alignment("gold")


def plainly(alignment, old, new):
    """The definition, character by character; words of equal texts without marks."""
    shares = []
    for words, others in zip(old, new, strict=True):
        first, second = ([k for k, word in enumerate(x) for _ in word] for x in (words, others))
        shares.append(Counter(zip(first, second, strict=True)))

    def main(k, n, side):
        of_old = max(count for (a, _), count in shares[side].items() if a == k)
        of_new = max(count for (_, b), count in shares[side].items() if b == n)
        return shares[side][k, n] in (of_old, of_new)

    sure, possible = set(), set()
    for (i, j), flag in alignment.items():
        for (a, m), (b, n) in ((x, y) for x in shares[0] for y in shares[1]):
            if (a, b) == (i, j):
                possible.add((m, n))
                if flag and main(i, m, 0) and main(j, n, 1):
                    sure.add((m, n))
    return Alignment(sure, possible)


def divided(text, cuts):
    """A text, divided at some places."""
    ends = sorted({0, len(text), *(k % len(text) for k in cuts)})
    return [text[a:b] for a, b in pairwise(ends)]


CUTS = st.lists(st.integers(0, 99), max_size=5)
CELL = st.tuples(st.integers(0, 99), st.integers(0, 99))
CELLS = st.dictionaries(CELL, st.booleans(), max_size=8)


@given(
    st.text("abc", min_size=1, max_size=12),
    st.text("de", min_size=1, max_size=12),
    st.tuples(CUTS, CUTS, CUTS, CUTS),
    CELLS,
)
def test_links_of_any_two_divisions_are_those_of_the_definition(source, target, cuts, cells):
    old = divided(source, cuts[0]), divided(target, cuts[1])
    new = divided(source, cuts[2]), divided(target, cuts[3])
    links = {(i % len(old[0]), j % len(old[1])): sure for (i, j), sure in cells.items()}
    alignment = Alignment([link for link, sure in links.items() if sure], links)
    assert moved(alignment, old, new) == plainly(alignment, old, new)
    assert moved(alignment, old, old) == alignment


def annotated(source, target, rng):
    """A pair with everything that can be carried to pieces and back."""
    links = {tuple(rng.integers([len(source), len(target)]).tolist()) for _ in range(5)}
    sure = [link for link in links if rng.random() < 0.5]
    nulls = [(int(rng.integers(len(source))), NULL), (NULL, int(rng.integers(len(target))))]
    labels = {link: f"label {link}" for link in [*links, *nulls, (0, 0)] if rng.random() < 0.5}
    alignment = Alignment(
        sure,
        links,
        nulls=nulls[:1],
        possible_nulls=nulls,
        weights={link: float(rng.random()) for link in sure},
        labels=labels,
    )
    columns = {
        "source.ner": "\t".join(rng.choice(["O", "B-X", "B-Y"], len(source))),
        "target.upos": "\t".join(f"T{k}" for k in range(len(target))),
    }
    made = Annotation(alignment, "why", {"unsure"}, "paraphrase", "by hand", role="adjudicated")
    judged = Annotation(None, judgment="none")
    return SentencePair(
        "7", source, target, {"anna": made, "ben": judged}, {"genre": "news", **columns}
    )


@given(source=WORDS, target=WORDS, marker=st.sampled_from(list(MARKED)), seed=st.integers(0, 99))
def test_everything_comes_back_from_pieces(source, target, marker, seed):
    rng = np.random.default_rng(seed)
    corpus = Corpus([annotated(source, target, rng)])
    pieces = [[cut(words, marker, rng)[0]] for words in (source, target)]
    there = ak.retokenize(corpus, *pieces)
    assert there.corpus[0].words == (tuple(pieces[0][0]), tuple(pieces[1][0]))
    back = ak.retokenize(there.corpus, [source], [target])
    assert back.corpus == corpus
    assert (there.lost, back.lost) == ({}, {})


def test_what_is_sure_needs_the_larger_share():
    old, new = (["abcd", "e"], ["x"]), (["a", "bcde"], ["x"])
    assert str(moved(Alignment.parse("0-0"), old, new)) == "0-0 1-0"
    old, new = (["aabbb", "cc"], ["x"]), (["aa", "bbbcc"], ["x"])
    assert str(moved(Alignment.parse("0-0"), old, new)) == "0-0 1-0"
    old, new = (["aab", "ccc"], ["x"]), (["aa", "bccc"], ["x"])
    assert str(moved(Alignment.parse("0-0"), old, new)) == "0-0 1?0"  # the smaller share of both
    assert str(moved(Alignment.parse("1-0"), old, new)) == "1-0"
    result = ak.retokenize(Corpus.from_texts(["aab ccc"], ["x"], gold=["0-0"]), ["aa bccc"])
    assert result.lost == {"links that are only possible at some words": 1}
    old, new = (["ab", "cd"], ["x"]), (["a", "bc", "d"], ["x"])  # equal shares count as the larger
    assert str(moved(Alignment.parse("0-0"), old, new)) == "0-0 1-0"


def test_links_that_become_one_keep_the_best_of_each():
    gold = Alignment(
        [(0, 0)],
        [(1, 0)],
        weights={(0, 0): 0.2, (1, 0): 0.7},
        labels={(0, 0): "a", (1, 0): "b"},
        nulls=[(2, NULL)],
    )
    corpus = Corpus([SentencePair("1", ["un", "happy", "man"], ["x"], {"gold": gold})])
    result = ak.retokenize(corpus, ["unhappyman"])
    one = result.corpus[0].alignment("gold")
    assert (str(one), dict(one.weights), dict(one.labels)) == ("0-0", {(0, 0): 0.7}, {(0, 0): "a"})
    assert result.lost == {
        "labels of links that are now one": 1,
        "nulls of words that are now part of a linked word": 1,
    }
    assert not one.nulls
    assert "that are now one" in str(result)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cafe\u0301 a", "caf\u00e9 a"),
        ("\ud55c\uad6d", "\u1112\u1161\u11ab \uad6d"),
        ("ᄒ ᅡᆫ x", "\ud55c x"),
        ("a &quot;b&quot; c", 'a "b" c'),
        ("rock @-@ solid &amp; so", "rock-solid & so"),
        ("un@@ happ@@ y", "unhappy"),
        ("un ##happ ##y ## x", "unhappy ## x"),
        ("\u2581un happy \u2581 man", "unhappy man"),
        ("un happy</w> man</w>", "unhappy man"),
        ("&ap@@ os; &apos; x", "&apos; &apos; x"),
        ("&amp; un@@ happy", "&amp; unhappy"),
        ("a b@@ ##c", "ab@@ ##c"),
    ],
)
def test_forms_markers_and_escapes_are_no_other_text(one, other):
    corpus = Corpus.from_texts([one], ["x"])
    there = ak.retokenize(corpus, [other])
    assert " ".join(there.corpus[0].source) == other
    assert " ".join(ak.retokenize(there.corpus, [one]).corpus[0].source) == one


def test_a_mark_and_its_letter_are_one_character():
    old, new = (["xe", "\u0301y"], ["z"]), (["x", normalize("NFC", "e\u0301"), "y"], ["z"])
    assert str(moved(Alignment.parse("0-0"), old, new)) == "0-0 1-0"
    assert str(moved(Alignment.parse("1-0"), old, new)) == "1-0 2-0"


def test_other_texts_are_named_with_their_first_difference():
    corpus = Corpus.from_texts(["my colour", "a", "b c"], ["x", "x", "x"], ids=["p1", "p2", "p3"])
    words = ["my color", "a", "b"]
    says = r"pair 'p1': the texts differ \(so do 1 other pair\): source, character 7: 'colour' in"
    with pytest.raises(JoinError, match=says):
        ak.retokenize(corpus, words)
    result = ak.retokenize(corpus, words, differing="leave-out")
    assert result.corpus.ids == ("p2",)
    assert [id for id, _ in result.differing] == ["p1", "p3"]
    assert result.differing[1][1].endswith("'c' in the corpus, the end in the new words")
    assert result.to_json()["differing"][0]["id"] == "p1"
    assert result.to_records() == [
        {"part": "pairs", "number": 1},
        {"part": "pairs left out: the texts differ", "number": 2},
    ]


def test_wrong_arguments_are_refused():
    corpus = Corpus.from_texts(["a"], ["b"])
    with pytest.raises(JoinError, match="has 2 sentences for 1"):
        ak.retokenize(corpus, ["a", "b"])
    with pytest.raises(OptionError, match="no new words"):
        ak.retokenize(corpus)
    with pytest.raises(UnknownNameError, match="leave-out"):
        ak.retokenize(corpus, ["a"], differing="leave")
    with pytest.raises(MissingTextError):
        ak.retokenize(Corpus([SentencePair("1", None, None)]), ["a"])


def test_one_side_stays_and_trees_of_the_other_go():
    kept = {"target.head": "0", "source.text": "rain", "source.url": "a\tb", "genre": "x"}
    pair = SentencePair("1", ["rain"], ["snow"], {}, {"source.head": "0", **kept})
    pair = pair.with_trees("t", source=Tree.parse("(S rain)"), target=Tree.parse("(S snow)"))
    result = ak.retokenize(Corpus([pair]), ["ra in"], [["snow"]])
    changed = result.corpus[0]
    assert (list(changed.source_trees), list(changed.target_trees)) == ([], ["t"])
    assert changed.attributes == kept
    assert result.lost == {"trees": 1, "columns source.head": 1}
    assert ak.retokenize(Corpus([pair]), ["rain"]).corpus == Corpus([pair])


def test_spans_begin_once():
    pair = SentencePair("1", ["Bern", "Zug"], ["x"], {}, {"source.ner": "B-LOC\tB-LOC"})
    there = ak.retokenize(Corpus([pair]), ["Be rn Z ug"]).corpus
    assert there[0].attributes["source.ner"] == "B-LOC\tI-LOC\tB-LOC\tI-LOC"
    assert ak.retokenize(there, ["Bern Zug"]).corpus == Corpus([pair])


def test_the_command_reports_what_it_did(tmp_path, capsys):
    corpus = write(tmp_path, "c.bitext", "un happy ||| x\nsad ||| y\n")
    links = write(tmp_path, "c.align", "0-0 1-0\n0-0\n")
    words = write(tmp_path, "w", "unhappy\nsa d\n")
    reading = [links, "--source", corpus, "--source-words", words]
    out = tmp_path / "o.jsonl"
    report = made(capsys, "retokenize", *reading, "-o", out)
    assert [line.split() for line in report.out.splitlines()[2:]] == [
        ["pairs", "2"],
        ["pairs", "left", "out:", "the", "texts", "differ", "0"],
    ]
    assert [str(p.alignment("alignment")) for p in ak.read_corpus(out)] == ["0-0", "0-0 1-0"]
    write(tmp_path, "w", "unhappi\nsa d\n")
    run(capsys, "retokenize", *reading, "-o", tmp_path / "p.jsonl").failed(
        "pair '1': the texts differ", "in the corpus, 'unhappi'", "--differing"
    )
    assert not (tmp_path / "p.jsonl").exists()
    more = ["--differing", "leave-out", "--json", "--quiet", "-o", out]
    left = made(capsys, "retokenize", *reading, *more)
    assert left.json["pairs"] == 1
    assert left.json["differing"][0]["id"] == "1"
    assert "pair '1' left out" in left.err
    run(capsys, "retokenize", links, "--source", corpus, "-o", out).failed("--source-words")


@pytest.mark.slow  # it reads all files
@pytest.mark.real_data
def test_real_corpora_come_back_from_random_pieces(data):
    rng, links = np.random.default_rng(1), Counter()
    for name, read in real_corpora(data):
        pairs = [replace(pair, attributes={}) for pair in read]  # ids of words do not come back
        markers = [list(MARKED)[int(rng.integers(len(MARKED)))] for _ in pairs]
        pieces = [
            [cut(words, marker, rng)[0] for words, marker in zip(side, markers, strict=True)]
            for side in zip(*(pair.words for pair in pairs), strict=True)
        ]
        there = ak.retokenize(Corpus(pairs), *pieces)
        back = ak.retokenize(there.corpus, *zip(*(pair.words for pair in pairs), strict=True))
        assert back.corpus == Corpus(pairs), name
        assert not there.lost
        assert not back.lost
        links[name] += sum(len(x) for pair in pairs for x in pair.alignments.values())
    assert len(links) >= 20
    assert min(links.values()) > 0


def real_corpora(data):
    """Each real file that reads without further facts, with its pairs that have words."""
    gold = (data / "hansards/dev.fr-en.align").read_text("utf-8").splitlines()
    texts = [
        (data / f"hansards/train.{side}").read_text("utf-8").split("\n")[: len(gold)]
        for side in ("fr", "en")
    ]
    yield "hansards", list(Corpus.from_texts(*texts, gold=[x.replace("i", "") for x in gold]))
    for path in sorted(data.rglob("*")):
        if path.is_file() and path.stat().st_size < 3_000_000:
            with suppress(AlignkitError, OSError):
                some = list(islice(ak.iterate_pairs(path), 50))
                pairs = [pair for pair in some if pair.has_text and pair.alignments]
                if pairs:
                    yield path.relative_to(data).as_posix(), pairs
