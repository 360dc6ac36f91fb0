"""Tables of judgments, a row each or a column an annotator: text, XLSX and data frames."""

import pandas as pd
import pytest
from command import made, run
from format_files import left_out, put, refusing
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Corpus, agree_on_judgments, read_corpus
from alignkit.errors import FormatError, OptionError, UnknownFormatError
from alignkit.io import find_format, open_reading, read_pairs

WIDE = "id,anna,ben,eve\np1,3,2,3\np2,0,0,1\np3,1,,1\np4,2,2,2\n"
LONG = """\
id,annotator,label
p1,anna,3
p1,ben,2
p1,eve,3
p2,anna,0
p2,ben,0
p2,eve,1
p3,anna,1
p3,eve,1
p4,anna,2
p4,ben,2
p4,eve,2
"""


def judgments(corpus):
    return {
        pair.id: {name: said.judgment for name, said in pair.annotations.items()} for pair in corpus
    }


def test_empty_lines_before_the_names_do_not_hide_the_separator(tmp_path):
    table = put(tmp_path, "wide.csv", "\n\n" + WIDE)
    assert judgments(read_corpus(table, format="judgments"))["p2"]["eve"] == "1"
    broken = put(tmp_path, "broken.csv", '\nid,anna,ben\np1,"3"x,2\n')
    with pytest.raises(FormatError, match=r"broken.csv:3: is not CSV"):
        read_corpus(broken, format="judgments")


# both layouts
@pytest.mark.parametrize("separator", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
def test_both_layouts_are_found_and_are_the_same(tmp_path, separator):
    wide = put(tmp_path, "wide.csv", WIDE.replace(",", separator))
    long = put(tmp_path, "long.csv", LONG.replace(",", separator))
    assert find_format(wide) == find_format(long) == "judgments"
    assert judgments(read_corpus(wide)) == judgments(read_corpus(long))
    assert judgments(read_corpus(wide))["p3"] == {"anna": "1", "eve": "1"}
    assert read_corpus(wide)["p1"].source is None


def test_texts_and_attributes_stand_in_columns_of_their_own(tmp_path):
    wide = "id\tsource\ttarget\tanna\tben\tattribute.genre\np1\ta b\tc, d\tyes\tno\tnews\n"
    pair = read_corpus(put(tmp_path, "wide.tsv", wide))["p1"]
    assert (pair.source, pair.target) == (("a", "b"), ("c,", "d"))
    assert (list(pair.annotations), pair.attributes) == (["anna", "ben"], {"genre": "news"})
    long = (
        'id,text1,text2,rater,rating,genre\np1,"a ""b""",c,anna,1,news\np1,"a ""b""",c,ben,2,news\n'
    )
    pair = read_corpus(put(tmp_path, "long.csv", long))["p1"]
    assert (pair.source, pair.attributes) == (("a", '"b"'), {"genre": "news"})


def test_a_column_of_something_else_is_explained(tmp_path, capsys):
    table = put(tmp_path, "wide.csv", "id,anna,ben,genre\np1,0,1,news\np2,0,0,news\n")
    ran = run(capsys, "agree-judgments", table, "--scheme", "0-3")
    assert ran.code == 2
    assert "column 'attribute.genre'" in ran.err


def test_check_asks_for_no_words_in_a_table_of_judgments(tmp_path, capsys):
    ran = made(capsys, "check", put(tmp_path, "wide.csv", WIDE))
    assert "words missing" not in ran.out
    assert "clean" in ran.out


@pytest.mark.parametrize("heading", ["anna,ben", ",anna,ben", "Unnamed: 0,anna,ben"])
def test_tables_without_names_of_ids(tmp_path, heading):
    extra = heading.count(",") - 1
    rows = ["1,2", "2,2", "1,1", "2,1", "1,1"]
    lines = [heading, *(f"{k + 7}," * extra + row for k, row in enumerate(rows))]
    path = put(tmp_path, "x.csv", "\n".join(lines))
    assert find_format(path) == "judgments"
    said = judgments(read_corpus(path))
    assert next(iter(said.values())) == {"anna": "1", "ben": "2"}
    assert next(iter(said)) == ("7" if extra else "1")


@pytest.mark.parametrize(
    "content",
    [
        "phenomenon\tS1\tS2\nall\t.74\t.75\nmodal\t.77\t.76\nnouns\t.84\t.89\nverbs\t.74\t.89\n",
        "Hello, world\nGood, morning\nOh, no\n",
        "the dog barks, loudly\nthe dog barks, loudly\nthe cat purrs, softly\n",
    ],
    ids=["figures", "texts", "repeated"],
)
def test_other_tables_and_texts_are_not_taken_for_judgments(tmp_path, content):
    with pytest.raises(UnknownFormatError):
        find_format(put(tmp_path, "x.csv", content))


# labels
def test_floats_of_a_column_with_gaps_are_the_labels(tmp_path):
    path = str(tmp_path / "x.csv")
    frame = pd.DataFrame({"id": ["a", "b", "c"], "anna": [1, 2, None], "ben": [1, 2, 3]})
    frame.to_csv(path, index=False)
    assert "2.0" in (tmp_path / "x.csv").read_text()
    expected = {"a": {"anna": "1", "ben": "1"}, "b": {"anna": "2", "ben": "2"}, "c": {"ben": "3"}}
    assert judgments(read_corpus(path)) == expected
    assert judgments(Corpus.from_dataframe(frame, judgments=["anna", "ben"])) == expected


def test_halves_stay_as_they_are_written(tmp_path):
    path = put(tmp_path, "x.csv", "id,anna,ben\na,1.0,1.5\nb,1.0,2.0\n")
    assert judgments(read_corpus(path))["a"] == {"anna": "1.0", "ben": "1.5"}


def test_na_is_missing_and_counted(tmp_path):
    path = put(tmp_path, "x.csv", "id,anna,ben\na,NA,1\nb,1,NaN\nc,1,\n")
    chosen, reading = open_reading(path)
    said = [dict(pair.annotations) for pair in read_pairs(chosen, reading)]
    assert [list(each) for each in said] == [["ben"], ["anna"], ["anna"]]
    assert reading.counts["judgments NA or NaN, read as missing"] == 2


def test_data_frames_with_a_row_a_judgment():
    rows = {"id": ["a", "a", "b"], "annotator": ["anna", "ben", "ben"], "label": [1.0, None, 2.0]}
    corpus = Corpus.from_dataframe(pd.DataFrame(rows))
    assert judgments(corpus)["b"] == {"ben": "2"}
    assert corpus["a"].annotation("anna").judgment == "1"
    empty = pd.DataFrame({"id": ["a"], "anna": ["yes"], "ben": [" "]})
    assert judgments(Corpus.from_dataframe(empty, judgments=["anna", "ben"])) == {
        "a": {"anna": "yes"}
    }


CELLS = st.sampled_from(["0", "1", "2", ""])


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=2, max_size=8))
def test_layouts_have_the_same_judgments(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("tables")
    names = ("anna", "ben", "eve")
    wide = ["id,anna,ben,eve"]
    long = ["id,annotator,label"]
    expected = {}
    for k, row in enumerate(rows):
        wide.append(f"u{k},{','.join(row)}")
        long += [f"u{k},{name},{cell}" for name, cell in zip(names, row, strict=True)]
        said = dict(zip(names, row, strict=True))
        expected[f"u{k}"] = {name: cell for name, cell in said.items() if cell}
    for lines in (wide, long):
        path = put(folder, "x.csv", "\n".join(lines) + "\n")
        assert judgments(read_corpus(path, format="judgments")) == expected


# what is broken
def test_rows_that_are_wrong_are_named(tmp_path):
    left_out(put(tmp_path, "a.csv", WIDE + "p5,1,2\n"), "judgments", "a.csv:6", kept=WIDE_IDS)
    left_out(put(tmp_path, "b.csv", WIDE + "p1,1,2,3\n"), "judgments", "b.csv:6", kept=WIDE_IDS)
    left_out(put(tmp_path, "c.csv", LONG + "p1,anna,3\n"), "judgments", "c.csv:13", kept=WIDE_IDS)
    left_out(put(tmp_path, "d.csv", LONG + ",anna,3\n"), "judgments", "d.csv:13", kept=WIDE_IDS)


WIDE_IDS = ["p1", "p2", "p3", "p4"]


def test_tables_without_judgments_are_refused(tmp_path):
    with refusing("names of columns"):
        read_corpus(put(tmp_path, "x.csv", "id\n1\n"), format="judgments")
    with refusing("empty"):
        read_corpus(put(tmp_path, "y.csv", ""), format="judgments")


# XLSX
def test_workbooks_are_read_where_openpyxl_is(tmp_path):
    pytest.importorskip("openpyxl")
    path = str(tmp_path / "x.xlsx")
    frame = pd.DataFrame({"id": ["a", "b"], "anna": [1, None], "ben": [1, 2]})
    frame.to_excel(path, index=False)
    assert find_format(path) == "judgments"
    assert judgments(read_corpus(path)) == {"a": {"anna": "1", "ben": "1"}, "b": {"ben": "2"}}


def test_without_openpyxl_a_workbook_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    path = tmp_path / "x.xlsx"
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    assert find_format(path) == "judgments"
    with pytest.raises(OptionError, match="pandas and openpyxl"):
        read_corpus(path)


# from a table to a paper
def test_from_a_table_to_latex(tmp_path, capsys):
    path = put(tmp_path, "table.csv", WIDE + "p5,3,3,2\np6,0,1,0\n")
    command = ["agree-judgments", path, "--scheme", "0-3", "--weights", "quadratic", "--latex"]
    latex = made(capsys, *command, "--resamples", 50, "--permutations", 50).out
    assert "anna" in latex
    assert "alpha, ordinal & AC1, quadratic & Fleiss' $\\kappa$" in latex
    assert "Cohen's $\\kappa$, quadratic & AC1, quadratic" in latex
    weighted = agree_on_judgments(
        read_corpus(path), scheme="0-3", weights="quadratic", resamples=50, permutations=50
    )
    kappa = weighted.figure("pairing", "kappa", "anna", "eve")
    assert f"{kappa.value:.3f}" in latex
    assert f"{kappa.low:.3f}" in latex
    run(capsys, "agree-judgments", path, "--weights", "linear").failed("name the scheme")


@pytest.mark.parametrize("row", ["p3,1", "p3,1,2,3,4"])
def test_a_broken_row_does_not_hide_the_format(row, tmp_path, capsys):
    rows = [f"p{k},{k % 4},{k % 3},{k % 2}" for k in range(1, 9)]
    rows[2] = row
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["id,anna,ben,eve", *rows]) + "\n", encoding="utf-8")
    ran = run(capsys, "agree-judgments", path, "--scheme", "0-3")
    ran.failed("table.csv:4", "columns; expected 4")
