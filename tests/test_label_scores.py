"""Scores of labels: against worked cases, plain references and oracle libraries."""

import json
import tempfile
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from command import made, run, write
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Annotation, Corpus, SentencePair, count_groups, read_corpus, write_corpus
from alignkit.agreement import crowd_quality
from alignkit.corpora import diversity
from alignkit.errors import OptionError, UnknownNameError
from alignkit.model.labels import SCHEMES, get_scheme, get_view
from alignkit.scoring import profile_labels, score_labels, with_predictions
from alignkit.stats import mcnemar

LABELS = st.lists(st.tuples(st.sampled_from("0123"), st.sampled_from("0123")), min_size=1)


def judged(rows, names=("gold", "a")):
    return Corpus(
        SentencePair(
            str(k),
            None,
            None,
            {name: Annotation(None, judgment=x) for name, x in zip(names, row, strict=True) if x},
        )
        for k, row in enumerate(rows)
    )


@given(LABELS)
def test_scores_are_those_of_a_plain_recount(rows):
    found = score_labels(judged(rows), ["a"], "gold", scheme="parade").systems[0]
    assert found.accuracy == sum(x == y for x, y in rows) / len(rows)
    f1s, weighted = [], 0.0
    for one in found.classes:
        right = sum(x == y == one.name for x, y in rows)
        mine, gold = (sum(row[k] == one.name for row in rows) for k in (1, 0))
        assert (one.right, one.hypothesis, one.support) == (right, mine, gold)
        assert (isnan(one.precision), isnan(one.recall)) == (not mine, not gold)
        if mine + gold:
            f1s.append(2 * right / (mine + gold))
            weighted += f1s[-1] * gold / len(rows)
            assert one.f1 == pytest.approx(f1s[-1])
        else:
            assert isnan(one.f1)
    assert found.macro_f1 == pytest.approx(sum(f1s) / len(f1s))
    assert found.weighted_f1 == pytest.approx(weighted)


@given(LABELS)
def test_scores_are_those_of_scikit_learn(rows):
    metrics = pytest.importorskip("sklearn.metrics")
    gold, mine = zip(*rows, strict=True)
    found = score_labels(judged(rows), ["a"], "gold", scheme="parade").systems[0]
    assert found.accuracy == pytest.approx(metrics.accuracy_score(gold, mine))
    for average, value in (("macro", found.macro_f1), ("weighted", found.weighted_f1)):
        assert value == pytest.approx(metrics.f1_score(gold, mine, average=average))
    theirs = metrics.confusion_matrix(gold, mine, labels=list("0123"))
    assert np.array_equal(found.confusion, theirs)


def test_flags_have_rows_and_what_is_not_scored_is_told():
    rows = [
        ("4i", "4i", "4"),
        ("4s", "4is", "4"),
        ("4", "4i", "1"),
        ("x", "4", "1"),
        ("1", "", "1"),
    ]
    found = score_labels(
        judged(rows, ("gold", "a", "b")), ["a", "b"], "gold", scheme="turku", view="base"
    )
    first, second = found.systems
    assert (first.pairs, first.accuracy, second.pairs, second.accuracy) == (3, 1, 4, 0.75)
    flags = {one.name: (one.right, one.hypothesis, one.support) for one in first.flags}
    assert flags == {"<": (0, 0, 0), ">": (0, 0, 0), "i": (1, 3, 1), "s": (1, 1, 1)}
    (one,) = found.comparisons
    assert (one.pairs, one.only_system, one.only_baseline, one.p_value) == (3, 1, 0, 1)
    assert "a: 2 pairs of 5 left out" in str(found)
    assert "flag i" in str(found)
    assert found.to_json()["systems"][0]["accuracy"] == 1


def test_rewrites_are_left_out_wherever_labels_count(tmp_path, capsys):
    rows = [("1", "1", "0", "1"), ("0", "1", "1", "0")] * 4
    corpus = Corpus(
        replace(
            one,
            source=("a", one.id),
            target=("b",),
            attributes={"phenomena": "x", **({"rewrite_of": str(k - 5)} if k >= 5 else {})},
        )
        for k, one in enumerate(judged(rows, ("gold", "a", "b", "c")))
    )
    kept = Corpus(corpus[:5])
    assert count_groups(corpus, "judgment").groups[""].pairs == 3
    said = {"annotator": "a", "by": "judgment"}
    assert [len(x) for x in diversity(corpus, **said).groups.values()] == [5]
    assert [len(x) for x in diversity(corpus, rewrites=True, **said).groups.values()] == [8]
    assert len(diversity(corpus, by="phenomena").ids) == 8
    for one in (
        diversity(corpus, **said),
        profile_labels(corpus, ["a"], "gold", scheme="binary"),
        crowd_quality(corpus, gold="gold", scheme="binary"),
    ):
        assert one.rewrites_left_out == one.to_json()["rewrites_left_out"] == 3
        assert "3 of 8 pairs are rewrites" in str(one)
    found, wanted = (
        (
            profile_labels(x, ["a", "b"], "gold", scheme="binary").to_json(),
            crowd_quality(x, gold="gold", scheme="binary").to_json(),
        )
        for x in (corpus, kept)
    )
    for one, other in zip(found, wanted, strict=True):
        assert one["rewrites_left_out"] == 3
        for name in ("cautions", "rewrites_left_out"):
            del one[name], other[name]
        assert one == other
    path = tmp_path / "x.jsonl"
    write_corpus(corpus, path, format="alignkit-jsonl")
    sides = ["--hyp-annotator", "a", "--ref-annotator", "gold", "--scheme", "binary"]
    for words in (
        ["score-labels", path, *sides],
        ["profile", path, *sides],
        ["quality", path, "--gold", "gold", "--scheme", "binary"],
        ["stats", path, "--diversity", "--by", "judgment", "--annotator", "a"],
    ):
        assert run(capsys, *words, "--json").json["rewrites_left_out"] == 3
        assert run(capsys, *words, "--rewrites", "--json").json["rewrites_left_out"] == 0
    run(capsys, "stats", path, "--rewrites").failed("--rewrites needs --diversity")
    run(capsys, "profile", path, "--rewrites").failed("are for judgments")


@pytest.mark.real_data
def test_rewrites_of_the_swedish_set_are_left_out(data):
    """A plain count of the file: 312 pairs labelled 4, and 136 rewrites."""
    rows = json.loads((data / "turku" / "sv-test.json").read_text(encoding="utf-8"))
    plain = sum(row["label"] == "4" for row in rows)
    anew = sum(len(row.get("rewrites") or ()) for row in rows)
    assert (plain, anew) == (312, 136)
    corpus = read_corpus(data / "turku" / "sv-test.json")
    (name,) = corpus.annotators
    said = Annotation(None, judgment="4")
    copied = corpus.rename({name: "gold"}).map(lambda pair: pair.with_annotation("a", said))
    right = score_labels(copied, ["a"], "gold", scheme="turku").systems[0]
    assert (right.right, right.pairs) == (plain, sum(row["label"] != "x" for row in rows))
    assert len(diversity(corpus, by="judgment").groups["4"]) == plain
    assert len(diversity(corpus, by="judgment", rewrites=True).groups["4"]) == plain + anew


def test_systems_are_compared_on_pairs_that_all_judged(capsys, tmp_path):
    rows = [("1", "1", ""), ("1", "1", "1"), ("0", "0", "1"), ("0", "1", ""), ("1", "", "1")]
    rows += [("0", "0", "0"), ("", "1", "1"), ("1", "1", "1"), ("0", "0", "0")]
    found = score_labels(judged(rows, ("gold", "a", "b")), ["a", "b"], "gold", scheme="binary")
    plain = [row for row in rows if all(row)]
    for k, one in enumerate(found.systems, 1):
        right = sum(row[k] == row[0] for row in plain)
        assert (one.common_pairs, one.common_right) == (len(plain), right)
        assert one.common_accuracy == right / len(plain)
    assert [row["common_accuracy"] for row in found.to_json()["systems"]] == [1.0, 0.8]
    assert "on the 5 that all" in str(found)
    assert "judged by all" in str(found)


def test_what_makes_no_sense_is_refused():
    for who, told in ((["a", "a"], "each once"), ([], "name one or more systems"), (["b"], "'b'")):
        with pytest.raises((OptionError, UnknownNameError), match=told):
            score_labels(judged([("1", "0")]), who, "gold", scheme="binary")
    with pytest.raises(OptionError, match="0 or more"):
        mcnemar(-1, 2)


def counts(ran):
    return {row["system"]: (row["pairs"], row["right"]) for row in ran.json["systems"]}


def test_predictions_come_in_by_id_or_in_order(capsys, tmp_path):
    path = tmp_path / "gold.jsonl"
    write_corpus(judged([("1", "0"), ("0", "0"), ("1", "1")]), path, format="alignkit-jsonl")
    given = ["score-labels", path, "--ref-annotator", "gold", "--scheme", "binary"]
    by_id = write(tmp_path, "first.tsv", "2\t1\n0\t1\n")
    ordered = write(tmp_path, "second.txt", "1\n1\n1\n")
    ran = made(capsys, *given, "--hyp-annotator", "a", "--predictions", by_id, ordered, "--json")
    assert counts(ran) == {"a": (3, 2), "first": (2, 2), "second": (3, 2)}
    assert len(ran.json["comparisons"]) == 3
    for text, told in (
        ("1\n", "1 labels for 3 pairs"),
        ("9\t1\n", "p:1: no pair has the id '9'"),
        ("0\t1\n0\t1\n", "p:2: line 1 also has the id '0'"),
        ("0\t1\n1\tyes\n", "p:2: 'yes' is not a judgment of binary"),
        ("0\t1\n1\n2\t1\n", "p:2: no tab, but most lines have one"),
        ("1\n0\n2\t1\n", "p:3: this line has a tab, but most lines do not"),
        (b"1\n\xff\n1\n", "p:2"),
    ):
        run(capsys, *given, "--predictions", write(tmp_path, "p", text)).failed(told)
    run(capsys, *given).failed("nothing to score")


def test_labels_of_a_view_are_predictions_too(capsys, tmp_path):
    """Who trained on rows of a view predicts its labels; 1 of binary is no 1 of turku."""
    path = tmp_path / "gold.jsonl"
    gold = [("4<", "1"), ("2", "1"), ("3", "1"), ("4", "1")]
    write_corpus(judged(gold), path, format="alignkit-jsonl")
    given = ["score-labels", path, "--ref-annotator", "gold", "--scheme", "turku", "--json"]

    def right(view, text, *more):
        file = write(tmp_path, "p.tsv", text)
        ran = made(capsys, *given, "--view", view, "--predictions", file, *more)
        labels = [x["label"] for x in ran.json["labels"]]
        return ran.json["systems"][0]["right"], any(x.startswith("flag") for x in labels)

    assert right("binary", "1\n0\n1\n1\n") == (4, False)
    assert right("binary", "4\n2\n3\n1\n") == (3, True)
    assert right("binary", "1\n1\n1\n1\n", "--predicted", "view") == (3, False)
    assert right("binary", "1\n1\n1\n1\n", "--predicted", "scheme") == (1, True)
    assert right("binary", "1\n?\n1\n0\n", "--lenient-labels") == (2, False)
    assert right("retrieval", "4<>\n2\n4\n1\n") == (2, False)
    assert right("base", "4\n2\n3\n3\n") == (3, True)
    for text, *told in (
        ("1\n1\n1\n1\n", "'1'", "turku", "binary", "--predicted scheme or --predicted view"),
        ("1\n0\n1\n2\n", "p.tsv:2: '0' is no"),
        ("1\n0\n1\nyes\n", "p.tsv:4: 'yes' is not in the view binary", "expected one of 0, 1"),
    ):
        file = write(tmp_path, "p.tsv", text)
        run(capsys, *given, "--view", "binary", "--predictions", file).failed(*told)
    run(capsys, *given, "--hyp-annotator", "a", "--predicted", "view").failed("--predictions")


@given(st.data())
def test_every_label_of_every_view_comes_back(draw):
    view = get_view(
        scheme := draw.draw(st.sampled_from(sorted(SCHEMES))),
        draw.draw(st.sampled_from(get_scheme(scheme).views)),
    )
    labels = draw.draw(st.lists(st.sampled_from(view.labels), min_size=1, max_size=9))
    corpus = Corpus(SentencePair(str(k), None, None) for k, _ in enumerate(labels))
    with tempfile.TemporaryDirectory() as folder:
        file = write(Path(folder), "p", "".join(f"{label}\n" for label in labels))
        found = with_predictions(corpus, file, "p", view, predicted="view")
    assert [view.of(one.annotations["p"].judgment) for one in found] == labels


def test_predictions_may_have_a_heading(tmp_path):
    file = write(tmp_path, "p", "ID\tlabel\n1\t1\n")
    found = with_predictions(judged([("1", "0"), ("0", "0")]), file, "p", get_view("binary"))
    assert [one.annotations.get("p") is None for one in found] == [True, False]
    file = write(tmp_path, "q", "id\tlabel\n")
    named = Corpus([SentencePair("id", None, None)])
    assert with_predictions(named, file, "p")["id"].annotations["p"].judgment == "label"


@given(st.integers(0, 40), st.integers(0, 40), st.booleans())
def test_mcnemar_is_that_of_statsmodels(first, second, exact):
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    if first + second:
        theirs = tables.mcnemar([[3, first], [second, 5]], exact=exact, correction=False)
        assert mcnemar(first, second, exact=exact) == pytest.approx(theirs.pvalue, rel=1e-9)


def test_two_files_and_more_are_joined_by_id_or_in_order(capsys, tmp_path):
    def saved(name, rows, annotator="judge", ids="0123"):
        path = tmp_path / name
        pairs = [
            SentencePair(id, ["a"], ["b"], {annotator: Annotation(None, judgment=label)})
            for id, label in zip(ids, rows, strict=False)
        ]
        write_corpus(Corpus(pairs), path, format="alignkit-jsonl")
        return path

    gold = saved("gold.jsonl", ["4", "4i", "1", "x"])
    first = saved("first.jsonl", ["4s", "4", "2", "4"])
    second = saved("second.jsonl", ["1", "4i", "4"], ids="210")
    given = ["--scheme", "turku", "--json"]
    ran = made(capsys, "score-labels", first, gold, *given, "--view", "base")
    (row,) = ran.json["systems"]
    assert (row["system"], row["pairs"], row["right"]) == ("first", 3, 2)
    run(capsys, "score-labels", second, gold, *given).failed("lacks 1")
    both = ["score-labels", first, gold, "--compare", second, *given, "--partial"]
    assert counts(run(capsys, *both)) == {"first": (3, 0), "second": (3, 3)}
    other = saved("other.jsonl", ["4", "4i", "2", "1"], ids="abcd")
    run(capsys, "score-labels", other, gold, *given).failed("--in-order")
    ran = run(
        capsys,
        "score-labels",
        other,
        gold,
        *given,
        "--in-order",
        "--predictions",
        write(tmp_path, "bert.tsv", "0\t4\n2\t1\n"),
    )
    assert counts(ran) == {"other": (3, 2), "bert": (2, 2)}
    (one,) = ran.json["comparisons"]
    assert (one["pairs"], one["only_system"], one["only_baseline"]) == (2, 0, 1)
    run(capsys, "score-labels", first, gold, *given, "--compare", first).failed("twice")
    two = saved("two.jsonl", ["1"], "ben")
    both = read_corpus(gold).map(lambda x: x.with_annotation("ben", Annotation(None, judgment="1")))
    write_corpus(both, two, format="alignkit-jsonl")
    run(capsys, "score-labels", two, gold, *given).failed("judge, ben", "--hyp-annotator")
    anna = ("--hyp-annotator", "anna")
    run(capsys, "score-labels", two, gold, *given, *anna).failed("'anna'", "ben")
    rows = run(capsys, "score-labels", two, gold, *given, "--hyp-annotator", "ben", "judge").json
    assert [row["right"] for row in rows["systems"]] == [1, 3]
    run(capsys, "score-labels", two, *given).failed("nothing to score")
    wrong = str(tmp_path / "wrong.tsv")
    alone = run(capsys, "score-labels", two, *given, "--hyp-annotator", "ben", "--wrong", wrong)
    assert f"{wrong}: 2 wrong predictions" in alone.err
    assert Path(wrong).read_text(encoding="utf-8").splitlines() == [
        "id\tsystem\treference\tpredicted\tsource\ttarget\ttag",
        "0\tben\t4\t1\ta\tb\t",
        "1\tben\t4i\t1\ta\tb\t",
    ]
    run(capsys, "score-labels", two, *given, "--hyp-annotator", "ben", "--wrong", "-").failed("-")
    lost = str(tmp_path / "no" / "wrong.csv")
    run(capsys, "score-labels", two, *given, "--hyp-annotator", "ben", "--wrong", lost).failed(lost)
    assert alone.json["systems"][0]["right"] == 1
    run(capsys, "score-labels", two, *given, *anna).failed("'anna'")


def test_many_labels_are_shown_by_their_most_frequent_confusions(tmp_path):
    labels = ["1", "2", "3", "4", "4<", "4>", "4i", "4s"]
    rows = [(labels[k % 8], labels[(k * k) % 7], labels[k % 8]) for k in range(200)]
    found = score_labels(judged(rows, ("gold", "a", "b")), ["a", "b"], "gold", scheme="turku")
    shown = {table.anchor: table for table in found.shown_tables()}
    assert not [name for name in shown if name.startswith("confusion-")]
    wrong = found.systems[0].confusion.copy()
    np.fill_diagonal(wrong, 0)
    mine = [row for row in shown["confusions"].rows if row[0] == "a"]
    assert [row[3] for row in mine] == sorted(wrong.ravel().tolist(), reverse=True)[: len(mine)]
    names = found.systems[0].labels
    for _, reference, hypothesis, pairs, every, share in mine:
        row = names.index(reference)
        assert pairs == wrong[row, names.index(hypothesis)]
        assert (every, share) == (found.systems[0].confusion[row].sum(), pairs / every)
    left = int(np.count_nonzero(wrong)) - len(mine)
    assert f"{left} rarer confusion{'s' if left != 1 else ''} not shown" in shown["confusions"].note
    assert max(map(len, str(found).splitlines()[:-1])) <= 100
    whole = found.to_json()
    assert len(whole["confusion-0"]) == len(names)
    assert "confusions" not in whole
    page = found.page("Labels")
    assert "Most frequent confusions" in page
    assert "Confusion of b" in page
    few = score_labels(judged(rows, ("gold", "a", "b")), ["a"], "gold", scheme="turku", view="base")
    assert "Confusion of a" in str(few)
    assert "Most frequent" not in str(few)
