"""Concordances and glossaries: every occurrence counts once, with its whole counterpart."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter

import pytest
from command import run
from hypothesis import given
from strategies import corpora

import alignkit as ak
from alignkit import Alignment, Corpus, SentencePair, concordance, glossary
from alignkit.errors import AlignkitError
from alignkit.model.texts import compared

CORPUS = Corpus.from_texts(
    ["the bank", "a Bank here", "the bank", "bank bank", "the bank"],
    ["la rive", "une grande banque là", "la banque", "rive", "la rive"],
    gold=["0-0 1-1", "1-0 1-2", "0-0 1?1", "0-0", "0-0 1-"],
    ben=[None, "1-2", None, None, None],
)


def rows(result):
    return [(x.annotator, x.id, x.status, x.counterpart) for x in result.occurrences]


def test_occurrences_have_status_and_counterpart_and_the_unannotated_are_apart():
    result = concordance(CORPUS, "bank")
    assert rows(result) == [
        ("gold", "1", "sure", "rive"),
        ("gold", "3", "possible", "banque"),
        ("gold", "4", "sure", "rive"),
        ("gold", "4", "no link", ""),
        ("gold", "5", "aligned to nothing", ""),
    ]
    assert result.left_out == {"more in pairs that ben did not annotate": 5}
    assert result.to_json()["left_out"] == result.left_out
    assert "5 more in pairs" in result.show()
    table = {row["counterpart"]: row for row in result.to_records() if row["table"] != "lines"}
    assert (table["rive"]["sure"], table["rive"]["share"]) == (2, 0.4)
    assert table["(no link)"]["share"] == table["(aligned to nothing)"]["share"] == 0.2


def test_a_phrase_is_one_counterpart_and_gaps_are_shown():
    result = concordance(CORPUS, "Bank", annotator="gold")
    assert rows(result) == [("gold", "2", "sure", "une … banque")]
    assert not result.left_out
    corpus = Corpus.from_texts(["a"], ["p q r s t"], x=["0-1 0-2 0-4"])
    assert concordance(corpus, "a").occurrences[0].counterpart == "q r … t"


def test_the_target_side_mirrors_the_source_side():
    result = concordance(CORPUS, "rive", side="target")
    assert rows(result) == [
        ("gold", "1", "sure", "bank"),
        ("gold", "4", "sure", "bank"),
        ("gold", "5", "no link", ""),
    ]
    mirrored = concordance(CORPUS.transpose(), "rive")
    assert mirrored.occurrences == result.occurrences


@pytest.mark.parametrize(
    ("word", "options", "count"),
    [
        pytest.param("BANK", {"ignore_case": True}, 7, id="case"),
        pytest.param("b.*k", {"regex": True}, 5, id="regex"),
        pytest.param("b.*k", {"regex": True, "ignore_case": True}, 7, id="regex-case"),
        pytest.param("b.*k", {}, 0, id="literal"),
        pytest.param("ban", {"regex": True}, 0, id="whole-word"),
    ],
)
def test_case_and_regular_expressions(word, options, count):
    assert len(concordance(CORPUS, word, **options).occurrences) == count


def test_lemmas_are_looked_for_and_counted():
    columns = {"source.lemma": "he\tleave", "target.lemma": "il\tpartir"}
    pairs = [
        SentencePair("1", ["he", "left"], ["il", "partit"], {"g": Alignment([(1, 1)])}, columns),
        SentencePair("2", ["leave"], ["pars"], {"g": Alignment([(0, 0)])}),
    ]
    result = concordance(pairs, "leave", lemma="lemma")
    assert [(x.word, x.counterpart) for x in result.occurrences] == [("left", "partir")]
    assert result.left_out == {"pairs without the column lemma": 1}


def test_context_is_cut_at_the_edges():
    corpus = Corpus.from_texts(["a b c d e"], ["x"], g=["2-0"])
    (x,) = concordance(corpus, "c", context=1).occurrences
    assert (x.left, x.word, x.right, x.at) == ("b", "c", "d", 2)
    with pytest.raises(AlignkitError, match="context"):
        concordance(corpus, "c", context=-1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"word": "(", "regex": True}, "not a regular expression"),
        ({"word": "a", "annotator": "nobody"}, "nobody"),
        ({"word": "a", "side": "left"}, "side"),
        ({"word": "a", "lemma": "pos", "side": "target"}, "the column target.pos"),
    ],
    ids=["regex", "annotator", "side", "lemma"],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(AlignkitError, match=message):
        concordance(CORPUS, **options)


def test_entropy_is_that_by_hand():
    corpus = Corpus.from_texts(["w"] * 5, ["a", "a", "a", "b", "c"], g=["0-0"] * 4 + [""])
    result = glossary(corpus)
    assert result.entropy("g", "w") == pytest.approx(0.811278, abs=1e-6)  # 3 of 4 and 1 of 4
    (row,) = result.shown_tables()[0].to_records()
    assert (row["occurrences"], row["linked"], row["different"]) == (5, 0.8, 2)
    assert row["counterparts"] == "a 75%, b 25%"


@given(corpora({"text", "annotators", "names", "absent", "empty", "ids"}))
def test_a_glossary_holds_each_annotated_word_once_and_agrees_with_concordances(corpus):
    worded = [pair for pair in corpus if pair.has_text]
    result = glossary(corpus)
    counted = Counter({key: len(part) for key, part in result.entries.items()})
    words = Counter(
        (name, compared(word))
        for pair in worded
        for name in pair.alignments
        for word in pair.words[0]
    )
    assert counted == words
    for (name, word), part in list(result.entries.items())[:3]:
        same = [x for x in concordance(corpus, word).occurrences if x.annotator == name]
        assert [(x.id, x.at, x.counterpart) for x in same] == [
            (x.id, x.at, x.counterpart) for x in part
        ]


@pytest.mark.real_data
def test_counts_on_real_links_are_those_by_hand(data):
    corpus = ak.read_corpus(data / "multimwa/wiki-dev.tsv")
    linked = sum(
        any(link.i == at for link in pair.alignment("alignment"))
        for pair in corpus
        for at, word in enumerate(pair.words[0])
        if word == "the"
    )
    result = concordance(corpus, "the")
    assert sum(bool(x.counterpart) for x in result.occurrences) == linked > 100


def test_the_command_prints_text_csv_json_and_a_page(capsys, tmp_path):
    path, page = tmp_path / "c.jsonl", tmp_path / "c.html"
    ak.write_corpus(CORPUS, path)
    ran = run(capsys, "concordance", path, "bank", "--show", "1", "--html", page)
    assert ran.code == 0
    assert "further line" in ran.out
    assert "bank (source): 5" in ran.out
    assert "<table" in page.read_text("utf-8")
    ran = run(capsys, "concordance", path, "bank", "--csv")
    assert len(list(csv.DictReader(io.StringIO(ran.out)))) == 4 + 5
    assert "5 more in pairs" in ran.err
    ran = run(capsys, "concordance", path, "--all", "--json", "--annotator", "gold")
    words = {row["word"]: row for row in json.loads(ran.out)["words"]}
    assert words["bank"]["occurrences"] == 5
    ran = run(capsys, "concordance", path)
    assert "--all" in ran.err


@pytest.mark.browser
def test_the_annotation_page_shows_ones_own_links_of_a_word(tmp_path, problems):
    web = pytest.importorskip("annotate_browser")
    from annotation_server import served
    from playwright.sync_api import expect

    from alignkit.annotate.creation import create_project

    path = str(tmp_path / "work.alignkit")
    pairs = [SentencePair(name, ["the", "bank"], ["la", "rive"]) for name in ("one", "two")]
    create_project(path, Corpus(pairs))
    with served(path) as server, web.browser() as context:
        page = web.enter(context, server.url, problems)
        web.press(page, "s")
        web.saved(page)
        web.press(page, "v")
        page.wait_for_selector("#own-links:not([hidden])")
        expect(page.locator("#own-counterparts li")).to_have_text(["la 1 sure"])
        expect(page.locator("#own-count")).to_contain_text("1 more in pairs you have not annotated")
        web.press(page, "V")
        page.wait_for_selector("#own-word:has-text('la (target)')")
        expect(page.locator("#own-counterparts li")).to_have_text(["the 1 sure"])
        assert web.serious(page) == []
        page.locator("#own-lines button").click()
        web.until(lambda: page.inner_text("#pair-id") == "one")
