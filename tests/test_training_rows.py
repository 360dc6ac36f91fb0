"""Judgments are counted, and become rows for training, as their scheme says."""

import csv
import json

import pytest
from command import run
from format_files import put
from hypothesis import given
from hypothesis import strategies as st
from test_label_views import corpus_of

from alignkit import Annotation, Corpus, FormatError, SentencePair, read_corpus, write_corpus
from alignkit.corpora.label_counts import count_labels
from alignkit.corpora.training_rows import training_rows
from alignkit.errors import OptionError, UnknownNameError
from alignkit.model.labels import get_scheme, get_view

TURKU = get_scheme("turku")
VIEW = get_view("turku")


def judged(judgment, **attributes):
    annotation = Annotation(None, judgment=judgment)
    return SentencePair("1", ["a", "b"], ["c"], {"ann": annotation}, attributes)


def plain_rows(judgment, kind):
    if judgment == "x":
        return []
    base, arrow = judgment[0], judgment[1:2] if judgment[1:2] in ("<", ">") else ""
    other = {"<": ">", ">": "<", "": ""}[arrow]
    there = (judgment, "a b", "c")
    back = (judgment.replace(arrow, other) if arrow else judgment, "c", "a b")
    if kind == "plain":
        return [there]
    if kind == "classification":
        return [there, back]
    if base != "4" or "i" in judgment or "s" in judgment:
        return []
    return {">": [there], "<": [back], "": [there, back]}[arrow]


@given(st.sampled_from(TURKU.judgments), st.sampled_from(["plain", "classification", "generation"]))
def test_rows_of_turku(judgment, kind):
    rows = training_rows([judged(judgment)], VIEW, kind)
    assert [(row.label, row.source, row.target) for row in rows] == plain_rows(judgment, kind)


def test_rows_of_other_schemes_and_without_rewrites():
    forward = list(training_rows([judged("forward")], get_view("entailment"), "generation"))
    assert [(row.source, row.target) for row in forward] == [("a b", "c")]
    back = list(training_rows([judged("reverse")], get_view("entailment"), "generation"))
    assert [(row.source, row.target) for row in back] == [("c", "a b")]
    two = training_rows([judged("2")], get_view("parade-votes", "binary"), "generation")
    assert [row.label for row in two] == ["1", "1"]
    pairs = [judged("3"), judged("4", **{"rewrite_of": "1"})]
    assert len(list(training_rows(pairs, VIEW, "plain", rewrites=False))) == 1
    assert len(list(training_rows(pairs, VIEW, "generation"))) == 2


def test_whose_judgments_is_asked_where_several_judged():
    corpus = corpus_of([["4", "3"], ["2", ""], ["", "x"]])
    with pytest.raises(OptionError, match="a0, a1 judged pairs: choose one"):
        list(training_rows(corpus, VIEW, "plain"))
    rows = training_rows(corpus, VIEW, "plain", annotator="a1")
    assert [(row.id, row.label) for row in rows] == [("0", "3")]
    with pytest.raises(UnknownNameError):
        list(training_rows(corpus, VIEW, "plain", annotator="zoe"))
    with pytest.raises(FormatError, match="pair '0', annotator 'a0': '4si'"):
        list(training_rows(corpus_of([["4si"]]), VIEW, "plain"))
    assert not list(training_rows(corpus_of([["4si"]]), VIEW, "plain", lenient_labels=True))


def test_preferences_are_no_rows_with_labels():
    with pytest.raises(OptionError, match="`preferences` makes them"):
        next(training_rows([judged("4")], VIEW, "preferences"))


def test_counts_by_group_and_their_histogram():
    corpus = corpus_of([["4", "3"], ["2", ""], ["1", "x"]])
    parts = [
        SentencePair(p.id, p.source, p.target, p.annotations, {"g": g})
        for p, g in zip(corpus, ("u, v", "u", ""), strict=True)
    ]
    found = count_labels(Corpus(parts), get_view("turku", "binary"), by="g", split=",")
    assert found.counts == ((2, 1), (0, 1))
    assert found.groups == {"u": ((1, 1), (0, 1)), "v": ((0, 1), (0, 1)), "": ((1, 0), (0, 0))}
    assert (found.several, found.left_out["not judged"], found.left_out["not scored"]) == (1, 1, 1)
    assert sum(r["pairs"] for r in found.to_records() if r["group"] == "all") == 4
    # a bar of 40 signs is everything
    found = count_labels(corpus_of([["4"], ["4"], ["4i"], ["1"], ["x"]]), get_view("turku", "base"))
    lines = str(found).splitlines()
    bars = {line.split()[1]: line.count("#") for line in lines if line.startswith("a0")}
    assert bars == {"1": 10, "4": 30}  # labels that nobody gave are below
    assert not any(
        "#" in line
        for line in str(count_labels(corpus_of([["x"]]), get_view("turku", "base"))).splitlines()
    )


def test_the_command_counts_in_every_medium(tmp_path, capsys):
    path = tmp_path / "x.jsonl"
    write_corpus(corpus_of([["4<", "3"], ["x", "mine"]]), path, format="alignkit-jsonl")
    words = ("labels", path, "--scheme", "turku", "--view", "base")
    run(capsys, *words).failed("'mine' is not a judgment")
    ran = run(capsys, *words, "--lenient-labels", "--json")
    assert ran.json["counts"]["a0"] == {"1": 0, "2": 0, "3": 0, "4": 1}
    assert ran.json["left_out"] == {"not judged": 0, "not scored": 1, "not of the scheme": 1}
    assert run(capsys, *words, "--annotator", "a0", "--csv").out.count("a0,") == 4
    for medium in ("--markdown", "--latex"):
        told = run(capsys, *words, "--lenient-labels", medium).out
        assert "a1" in told
        assert "histogram" not in told
    run(capsys, "labels", path, "--scheme", "turku", "--view", "bianry").failed("did you mean")


def test_swapping_flips_or_tells(tmp_path, capsys):
    path, out = tmp_path / "x.jsonl", tmp_path / "y.jsonl"
    write_corpus(corpus_of([["4<", "3"], ["mine", ""]]), path, format="alignkit-jsonl")
    words = ("convert", path, out, "--to", "alignkit-jsonl", "--swap")
    assert "judgments of 1 pairs" in run(capsys, *words).err
    assert read_corpus(out)[0].annotation("a0").judgment == "4<"
    run(capsys, *words, "--scheme", "turku").failed("'mine' is not a judgment")
    ran = run(capsys, *words, "--scheme", "turku", "--lenient-labels")
    assert "1 judgments are not in" in ran.err
    assert read_corpus(out)[0].annotation("a0").judgment == "4>"


def test_rows_are_written(tmp_path, capsys):
    texts = [{"label": "4>", "txt1": "a  b", "txt2": "c", "rewrites": [["d", "e"]]}]
    path = put(tmp_path, "x.json", json.dumps(texts))
    words = ("convert", path, tmp_path / "r.tsv", "--scheme", "turku", "--rows", "classification")
    assert "pairs are rewrites" in run(capsys, *words).err
    assert (tmp_path / "r.tsv").read_text().splitlines() == [
        "id\tlabel\tsource\ttarget",
        "1\t4>\ta b\tc",
        "1\t4<\tc\ta b",
        "1/r1\t4\td\te",
        "1/r1\t4\te\td",
    ]
    ran = run(capsys, *words[:2], tmp_path / "r.jsonl", *words[3:], "--view", "binary")
    first = json.loads((tmp_path / "r.jsonl").read_text().splitlines()[0])
    assert first == {"id": "1", "label": "1", "source": "a b", "target": "c"}
    run(capsys, *words[:2], tmp_path / "r.csv", *words[3:])
    assert (tmp_path / "r.csv").read_text().startswith("id,label,source,target\n1,4>,a b,c\n")
    unnamed = run(capsys, *words[:2], "-", "--rows", "plain")  # the format implies its scheme
    assert "the scheme turku" in unnamed.err
    assert "1\t4>\ta b\tc" in unnamed.out
    ran = run(capsys, "labels", path, "--json")
    assert "which nobody judged" in ran.err
    assert (ran.json["pairs"], ran.json["rewrites_left_out"]) == (1, 1)
    ran = run(capsys, "labels", path, "--scheme", "turku", "--json", "--rewrites")
    assert ("rewrites," in ran.err, ran.json["pairs"]) == (False, 2)
    run(capsys, "convert", path, tmp_path / "y").failed("file extension is not")
    texts = [{"label": "3", "txt1": 'a, "b"', "txt2": "c"}]
    path, out = put(tmp_path, "x.json", json.dumps(texts)), tmp_path / "r.csv"
    run(capsys, "convert", path, out, "--scheme", "turku", "--rows", "plain")
    rows = list(csv.reader(out.read_text(encoding="utf-8").splitlines()))
    assert rows[1] == ["1", "3", 'a, "b"', "c"]


@pytest.mark.real_data
def test_rows_and_counts_of_the_swedish_set(data):
    """1,217, 2,434 and 1,216 rows, and the counts of two views, were found apart."""
    corpus = read_corpus(data / "turku" / "sv-test.json")
    for kind, rows in (("plain", 1217), ("classification", 2434), ("generation", 1216)):
        assert sum(1 for _ in training_rows(corpus, VIEW, kind)) == rows
    assert sum(1 for _ in training_rows(corpus, VIEW, "plain", rewrites=False)) == 1081
    found = count_labels(corpus, get_view("turku", "base"))
    assert (found.counts, found.rewrites) == (((0, 3, 295, 783),), 136)
    assert count_labels(corpus, get_view("turku", "strict")).counts == ((0, 87, 682, 312),)
    every = count_labels(corpus, get_view("turku", "base"), rewrites=True)
    assert (every.counts, every.rewrites) == (((0, 3, 295, 783 + 136),), 0)
