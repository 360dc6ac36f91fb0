"""Links to look at again: planted errors are listed first, ordinary links are not."""

from __future__ import annotations

import json
import random
import re

import pytest
from command import run
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

import alignkit as ak
from alignkit import Alignment, Corpus, SentencePair
from alignkit.corpora.consistency import MISSING, UNUSUAL, consistency
from alignkit.corpora.word_usage import log_likelihood_ratio


def planted(corpus, name, seed, *, anywhere):
    """Move 2 % of the links: one end, or both; return the cells that changed."""
    draw = random.Random(seed)
    links = [(k, link) for k, pair in enumerate(corpus) for link in pair.alignment(name)]
    changed: set[object] = set()
    moved: dict[int, dict[tuple[int, int], bool]] = {}
    for k, (i, j) in draw.sample(links, len(links) // 50):
        pair = corpus[k]
        n, m = pair.lengths
        cells = moved.setdefault(k, dict(pair.alignment(name).items()))
        to = draw.randrange(n), draw.randrange(m)
        if not anywhere:
            to = (i, to[1]) if draw.random() < 0.5 else (to[0], j)
        if to not in cells and (i, j) in cells:
            cells[to] = cells.pop((i, j))
            changed |= {(pair.id, i, j), (pair.id, *to)}
    pairs = []
    for k, pair in enumerate(corpus):
        cells = moved.get(k, dict(pair.alignment(name).items()))
        sure = [cell for cell, status in cells.items() if status]
        pairs.append(SentencePair(pair.id, *pair.words, {name: Alignment(sure, cells)}))
    return Corpus(pairs), changed


def share_planted(corpus, name, seed, *, anywhere, most=100) -> float:
    changed_corpus, changed = planted(corpus, name, seed, anywhere=anywhere)
    first = consistency(changed_corpus).suggestions[:most]
    return sum((x.id, x.i, x.j) in changed for x in first) / most


def made_up(pairs, seed):
    """Pairs over a vocabulary with Zipf's frequencies; each word has a main and a rare partner."""
    draw = random.Random(seed)
    words, weights = range(400), [1 / (rank + 1) for rank in range(400)]
    made = []
    for number in range(pairs):
        source = draw.choices(words, weights, k=draw.randint(8, 25))
        order = sorted(range(len(source)), key=lambda i: i + draw.uniform(0, 3))
        links = {(i, j) for j, i in enumerate(order) if draw.random() < 0.9}
        target = [f"t{source[i] + 1000 * (draw.random() < 0.1)}" for i in order]
        texts = [f"s{word}" for word in source], target
        made.append(SentencePair(str(number), *texts, {"ann": Alignment(links)}))
    return Corpus(made)


counts = st.integers(0, 500)


@given(counts, counts, counts, counts)
def test_log_likelihood_ratio_is_that_of_scipy(a, b, c, d):
    ours = log_likelihood_ratio(a, b, c, d)
    if 0 in (a + b, c + d, a + c, b + d):
        assert ours == pytest.approx(0, abs=1e-6)
        return
    theirs = chi2_contingency([[a, b], [c, d]], correction=False, lambda_="log-likelihood")
    assert ours == pytest.approx(theirs.statistic, abs=1e-6)


def test_a_missing_link_has_its_pair_its_cell_and_the_counts():
    texts = [["b a"] * 30, ["x y"] * 30]
    result = consistency(Corpus.from_texts(*texts, ann=["0-1 1-0"] * 29 + ["0-1"]))
    (x,) = result.suggestions
    assert (x.annotator, x.id, x.i, x.j, x.source, x.target) == ("ann", "30", 1, 0, "a", "x")
    assert (x.kind, x.why) == (MISSING, "linked in 29 of the 29 other pairs with both")
    assert x.strength == pytest.approx(log_likelihood_ratio(0, 1, 29, 0))


def test_a_moved_link_is_named_at_both_ends():
    texts = [["a b c d"] * 30, ["w x y z"] * 30]
    diagonal = "0-0 1-1 2-2 3-3"
    result = consistency(Corpus.from_texts(*texts, ann=[diagonal] * 29 + ["0-3 1-1 2-2 3-3"]))
    assert {(x.id, x.i, x.j, x.kind) for x in result.suggestions} == {
        ("30", 0, 0, MISSING),
        ("30", 0, 3, UNUSUAL),
    }


@pytest.mark.parametrize(
    "links",
    [
        pytest.param("0-0 1-0 0-1 1-1", id="phrase"),
        pytest.param("0-0 1-1", id="usual"),
    ],
)
def test_consistent_links_and_phrases_are_not_listed(links):
    corpus = Corpus.from_texts(["a b"] * 20, ["x y"] * 20, ann=["0-0 1-1"] * 19 + [links])
    assert not consistency(corpus).suggestions


def test_a_word_twice_in_a_sentence_is_linked_if_either_is():
    texts = [["the a"] * 20 + ["the a the"], ["le x"] * 21]
    corpus = Corpus.from_texts(*texts, ann=["0-0 1-1"] * 20 + ["2-0 1-1"])
    assert not consistency(corpus).suggestions


def test_pairs_of_each_annotator_and_pairs_without_words_are_counted():
    corpus = Corpus.from_texts(["a"] * 9, ["x"] * 9, ann=["0-0"] * 8 + [""], ben=[None] * 8 + [""])
    corpus += Corpus([SentencePair("10", None, None, {"ben": Alignment()})])
    result = consistency(corpus)
    assert (result.pairs, result.without_text) == ({"ann": 9, "ben": 1}, 1)
    assert [x.annotator for x in result.suggestions] == ["ann"]
    assert "1 pair without words" in result.show()
    assert result.to_json().items() >= {"pairs": result.pairs, "without_text": 1}.items()
    assert not consistency(corpus, annotator="ben").suggestions


def occurs(corpus, word, side):
    """Return the number of pairs in which a word has links on a side, by brute force."""
    return sum(
        any(pair.words[side][link[side]] == word for link in pair.alignment("ann"))
        for pair in corpus
    )


def reasons(corpus):
    for x in consistency(corpus).suggestions:
        for why in x.why.split("; "):
            yield x, why


def test_what_a_word_seldom_or_usually_does_was_seen_in_several_other_pairs():
    corpus, _ = planted(made_up(300, 5), "ann", 6, anywhere=True)
    seen = set()
    for x, why in reasons(corpus):
        word = re.match("'(.+?)' (seldom|is usually)", why)
        if word is None:
            continue
        side = int(word[1] != x.source)
        assert occurs(corpus, word[1], side) > 3
        seen.add(word[2])
    assert seen == {"seldom", "is usually"}


def test_a_word_of_one_pair_has_the_evidence_of_the_other_words():
    words = " ".join(f"a{k}" for k in range(12))
    texts = [[words] * 30 + [f"new {words}"], [words] * 30 + [f"neu {words}"]]
    diagonal = " ".join(f"{k}-{k}" for k in range(12))
    links = [diagonal] * 30 + [" ".join(f"{k}-{k}" for k in range(13)) + " 0-12"]
    corpus = Corpus.from_texts(*texts, ann=links)
    found = {why for _, why in reasons(corpus) if why.startswith("'new'")}
    assert found == {"'new' has links in several places, unlike 100.0% of the words elsewhere"}


def test_occurrences_in_one_pair_are_no_further_evidence():
    def strengths(times):
        source, target = (" ".join([word] * times) for word in "ax")
        twice = " ".join(f"{k}-{k}" for k in range(times))
        texts = [["a b c d e f"] * 5, ["x y z u v w"] * 5]
        texts[0].append(source)
        texts[1].append(target)
        links = ["0-0 1-1 2-2 3-3 4-4 5-5"] * 4 + ["0-0 0-5 1-1 2-2 3-3 4-4", twice]
        found = consistency(Corpus.from_texts(*texts, ann=links)).suggestions
        return {(x.id, x.i, x.j): x.strength for x in found}

    once = strengths(1)
    assert once
    assert strengths(30) == pytest.approx(once)


def test_the_equal_words_of_one_pair_do_not_show_what_is_usual():
    words = " ".join(f"a{k}" for k in range(20))
    links = " ".join(f"{k}-{k}" for k in range(19))
    assert not consistency(Corpus.from_texts([words], [words], ann=[links])).suggestions
    texts = [words] + [f"b{k} c{k}" for k in range(3)]
    found = consistency(Corpus.from_texts(texts, texts, ann=[links, *["0-0 1-1"] * 3])).suggestions
    assert [(x.i, x.j, x.why) for x in found] == [
        (19, 19, "linked in 0 of the 0 other pairs with both; equal words in 100%")
    ]


@pytest.mark.parametrize("anywhere", [False, True], ids=["one-end", "both-ends"])
def test_half_of_the_first_suggestions_are_planted_in_made_up_text(anywhere):
    assert share_planted(made_up(1000, 1), "ann", 2, anywhere=anywhere) >= 0.5


@pytest.mark.real_data
@pytest.mark.parametrize("anywhere", [False, True], ids=["one-end", "both-ends"])
@pytest.mark.parametrize(
    "path",
    ["edinburgh/gold.train.sure+poss.json", "multimwa/wiki-dev.tsv", "rte2/RTE2_dev_A.align.txt"],
)
def test_half_of_the_first_suggestions_are_planted_in_real_text(data, path, anywhere):
    corpus = ak.read_corpus(data / path)
    assert share_planted(corpus, "alignment", 3, anywhere=anywhere) >= 0.5


def test_check_prints_suggestions_as_text_and_as_json(capsys, tmp_path):
    path = tmp_path / "c.jsonl"
    links = ["0-0 1-1"] * 29 + ["0-0"]
    ak.write_corpus(Corpus.from_texts(["a b"] * 30, ["x y"] * 30, ann=links), path)
    ran = run(capsys, "check", "--consistency", path)
    assert ran.code == 1
    assert "missing link" in ran.out
    assert "ann: 1 suggestion in 30 pairs" in ran.out
    ran = run(capsys, "check", "--consistency", path, "--json")
    (record,) = json.loads(ran.out)
    assert (record["path"], record["suggestions"][0]["pair"]) == (str(path), "30")
    ran = run(capsys, "check", "--consistency", "--leaks", path, path)
    assert "--consistency works alone" in ran.err
