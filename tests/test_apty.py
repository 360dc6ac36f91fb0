"""The readers of APTY and its ranks, and what reads them: agree, profile, rows of preferences."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from command import made, run
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare

from alignkit import Corpus, agree_on_judgments, read_corpus, write_corpus
from alignkit.agreement.judgments.ranks import kendall_w
from alignkit.errors import FormatError
from alignkit.io import find_format

COLUMNS = (
    "annotator",
    "apt",
    "index",
    "kind",
    "paraphrase-text",
    "original",
    "paraphrase_fixed",
    "paraphrase",
    "applied_correctly",
    "start",
    "end",
    "marked_text",
    "failure_identical",
    "hard",
)
ROW = {
    "annotator": "3",
    "apt": "Spelling Changes",
    "index": "12",
    "kind": "zero-shot",
    "paraphrase-text": "the colour ; is red",
    "original": "The color is red",
    "paraphrase_fixed": "the colour is red",
    "paraphrase": "True",
    "applied_correctly": "True",
    "start": "4.0",
    "end": "10",
    "marked_text": "colour",
    "failure_identical": "",
    "hard": "False",
}


def written(path, *changes):
    text = io.StringIO()
    out = csv.DictWriter(text, COLUMNS, delimiter=";", lineterminator="\n")
    out.writeheader()
    out.writerows(ROW | change for change in changes)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


@pytest.fixture
def apty(tmp_path):
    return written(
        tmp_path / "apty.csv",
        {},
        {"annotator": "4", "paraphrase": "False", "hard": "True"},
        {
            "index": "13",
            "apt": "Ellipsis",
            "applied_correctly": "False",
            "start": "",
            "end": "",
            "marked_text": "",
            "paraphrase_fixed": "The color is red",
            "paraphrase-text": "x",
        },
    )


def test_pairs_judgments_and_attributes(apty):
    first, second = read_corpus(str(apty))
    assert (first.id, first.source, first.target) == (
        "12",
        ("The", "color", "is", "red"),
        ("the", "colour", "is", "red"),
    )
    assert {name: x.judgment for name, x in first.annotations.items()} == {
        "apty-3": "1",
        "apty-4": "0",
    }
    assert first.attributes == {
        "apt": "Spelling changes",
        "kind": "zero-shot",
        "applied_correctly": "True",
        "start": "4",
        "end": "10",
        "marked_text": "colour",
        "hard": "False",
        "phenomena": "Spelling changes",
        "original": "The color is red",
    }
    assert "phenomena" not in second.attributes
    raw, _ = read_corpus(str(apty), raw=True)
    assert raw.target == ("the", "colour", ";", "is", "red")
    named, _ = read_corpus(str(written(apty, {})), name="x"), None
    assert list(named[0].annotations) == ["x"]


def test_check_counts_what_contradicts_itself(apty, capsys):
    ran = run(capsys, "check", apty)
    assert ran.code == 1
    said = ran.out + ran.err
    findings = (
        "fixed text differs from the raw one",
        "names of types made equal",
        "equal texts, not called identical",
        "applied correctly, but no paraphrase",
        "columns that differ from those of the first row, left out",
    )
    for finding in findings:
        assert finding in said
    assert "read as apty" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"index": "a"}, "index is 'a'"),
        ({"index": "14", "start": "\u00b2"}, "start is '\u00b2'; expected a number of characters"),
        ({"paraphrase": "yes"}, "paraphrase is 'yes'"),
        ({"start": "4.5"}, "start is '4.5'"),
        ({}, "by apty-3 before"),
        ({"annotator": "5", "original": "x"}, "other texts in line 2"),
    ],
    ids=["index", "superscript", "boolean", "place", "twice", "texts"],
)
def test_bad_rows_are_errors_with_their_line(tmp_path, change, said):
    path = written(tmp_path / "a.csv", {}, change)
    with pytest.raises(FormatError, match=said) as caught:
        read_corpus(str(path), format="apty")
    assert f"{path}:3" in str(caught.value)


def test_a_missing_column_is_named(tmp_path, apty):
    text = apty.read_text(encoding="utf-8").replace("paraphrase_fixed", "fixed")
    apty.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="no column paraphrase_fixed"):
        read_corpus(str(apty), format="apty")
    text = text.replace("fixed", "paraphrase_fixed").replace("hard", "Paraphrase-Text")
    apty.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="two columns paraphrase-text"):
        read_corpus(str(apty), format="apty")


@pytest.mark.parametrize("divider", [";", ",", "\t"])
def test_columns_in_any_order_and_case_and_unknown_ones_are_read(tmp_path, divider):
    heading = ["", "Index", "ORIGINAL", "Paraphrase", "new column", "paraphrase_text"]
    heading += ["Paraphrase-Fixed", "applied-correctly", "APT", "annotator"]
    row = ["0", "7", "a; b", "TRUE", "seen", "a, c", "a c", "true", "Ellipsis", "3"]
    path = tmp_path / "x.csv"
    with open(path, "w", encoding="utf-8-sig", newline="") as stream:
        stream.write("\r\n")
        csv.writer(stream, delimiter=divider).writerows([heading, row])
    assert find_format(path) == "apty"
    (pair,) = read_corpus(path)
    assert (pair.id, pair.words) == ("7", (("a;", "b"), ("a", "c")))
    assert pair.annotations["apty-3"].judgment == "1"
    assert pair.attributes == {
        "apt": "Ellipsis",
        "applied_correctly": "True",
        "phenomena": "Ellipsis",
        "new column": "seen",
        "original": "a; b",
    }
    damaged = path.read_text(encoding="utf-8").replace("TRUE", "maybe")
    path.write_text(damaged, encoding="utf-8")
    with pytest.raises(FormatError, match=r"x\.csv:3: paraphrase is 'maybe'"):
        read_corpus(path)


def record(group, original, chosen, rejected, names=("a", "b")):
    sides = [{"id": id, "text": text, "ranks": ranks} for id, text, ranks in (chosen, rejected)]
    meta = {"id": group, "annotators": list(names), "APT": "Ellipsis"}
    return {"meta": meta, "original": original, "chosen": sides[0], "rejected": sides[1]}


RANKED = [
    record(7, "a b", ("7-1", "a c", [1, 1]), ("7-2", "a d", [2, 3])),
    record(7, "a b", ("7-1", "a c", [1, 1]), ("7-3", "a e", [3, 2])),
    record(8, "x y", ("8-1", "x z", [1, 2]), ("8-2", "x w", [2, 1])),
]


@pytest.fixture
def ranked(tmp_path):
    path = tmp_path / "ranked.json"
    path.write_text(json.dumps(RANKED), encoding="utf-8")
    return path


def test_ranked_texts_become_pairs(ranked):
    corpus = read_corpus(str(ranked))
    assert [pair.id for pair in corpus] == ["7-1", "7-2", "7-3", "8-1", "8-2"]
    assert corpus[1].attributes == {"rank_group": "7", "apt": "Ellipsis"}
    assert corpus[0].attributes["preferred_to"] == "7-2\t7-3"
    assert {x: a.judgment for x, a in corpus[1].annotations.items()} == {
        "apty-a": "2",
        "apty-b": "3",
    }


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (record(7, "a b", ("7-1", "a c", [2, 1]), ("7-9", "a d", [2, 3])), "other words or ranks"),
        (record(9, "a b", ("9-1", "a c", [1]), ("9-2", "a d", [2, 3])), "1 ranks by 2 annotators"),
        (record(9, "a b", ("9-1", "a c", [1, 6]), ("9-2", "a d", [2, 3])), "numbers from 1 to 5"),
        ({"data": {}, "annotations": []}, "Label Studio"),
        ({"prompt": "a", "chosen": "b", "rejected": "c"}, "preferences without ranks"),
    ],
    ids=["differ", "number", "range", "label-studio", "dpo"],
)
def test_bad_records_are_errors_with_their_number(ranked, bad, said):
    ranked.write_text(json.dumps([RANKED[0], bad]), encoding="utf-8")
    with pytest.raises(FormatError, match=f"record 2: .*{said}"):
        read_corpus(str(ranked), format="apty-ranked")


def test_agreement_on_ranks(ranked, capsys):
    ran = made(capsys, "agree-judgments", ranked, "--weights", "linear", "--json")
    # 7: sums 2, 5, 5; 8: sums 3, 3
    assert ran.json["concordances"] == [pytest.approx(12 * 6 / (4 * 24)), 0]
    text = made(capsys, "agree-judgments", ranked, "--scheme", "rank").out
    assert "Ranks of texts" in text


def test_preferences(ranked, apty, capsys):
    made(capsys, "convert", ranked, ranked.with_suffix(".tsv"), "--rows", "preferences")
    lines = ranked.with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "id\tchosen\trejected\toriginal"
    assert lines[1:] == [
        "7-1>7-2\ta c\ta d\ta b",
        "7-1>7-3\ta c\ta e\ta b",
        "8-1>8-2\tx z\tx w\tx y",
    ]
    shared = Corpus(
        replace(x, attributes={"rank_group": x.attributes["rank_group"]})
        for x in read_corpus(str(ranked))
    )
    write_corpus(shared, ranked.with_suffix(".jsonl"))  # without preferences: what all say
    made(
        capsys,
        "convert",
        ranked.with_suffix(".jsonl"),
        ranked.with_suffix(".tsv"),
        "--rows",
        "preferences",
        "--scheme",
        "rank",
    )
    assert ranked.with_suffix(".tsv").read_text(encoding="utf-8").splitlines()[1:] == lines[1:3]
    run(capsys, "convert", apty, "-", "--rows", "preferences").failed("need ranks")
    base = "convert", ranked, "-", "--rows", "preferences", "--annotator"
    run(capsys, *base, "nobody").failed("nobody")
    assert "8-2>8-1" in made(capsys, *base, "apty-b").out


def test_groups_may_have_annotators_of_their_own(ranked, capsys):
    other = record(9, "p q", ("9-1", "p r", [1, 1]), ("9-2", "p s", [2, 2]), names=("c", "d"))
    ranked.write_text(json.dumps([*RANKED, other]), encoding="utf-8")
    found = read_corpus(str(ranked))
    concordances = agree_on_judgments(found, scheme="rank").concordances
    assert concordances == pytest.approx((0.75, 0, 1))


@given(st.lists(st.permutations(range(4)), min_size=3, max_size=6))
def test_w_without_ties_is_friedmans_statistic(rows):
    values = np.array(rows)
    statistic = friedmanchisquare(*values.T).statistic
    assert kendall_w(values) == pytest.approx(statistic / (len(values) * 3))


def test_w_with_ties_is_friedmans_statistic():
    values = np.array([[1, 1, 2, 3], [2, 1, 1, 1], [1, 2, 2, 4]])
    assert kendall_w(values) == pytest.approx(friedmanchisquare(*values.T).statistic / 9)
    assert np.isnan(kendall_w(np.ones((3, 4), int)))
    assert np.isnan(kendall_w(np.array([[1, -1], [2, 1]])))
