"""Test tables in every medium, against plain renderers and readers of each."""

import csv
import io
import re
from html import unescape
from math import isnan
from unicodedata import normalize

import pytest
from hypothesis import given
from lxml import html
from reference_tables import ASCII, NAN, ruled_text, shown, tables, width
from refusals import refuses

from alignkit.errors import ArgumentError, OptionError, UnknownNameError
from alignkit.tables import Column, Table, Value
from alignkit.tables.media import latex_escape

ROWS = [
    {"system": "giza", "links": 12, "aer": 0.25, "interval": "81.2 [79.0, 83.1]"},
    {"system": "漢字", "links": 3, "aer": NAN, "interval": "-", "more": True},
]


def test_numbers_and_text_as_they_are_shown():
    assert str(Table.from_records(ROWS)).splitlines() == [
        "system  links    aer           interval  more",
        "------  -----  -----  -----------------  ----",
        "giza       12  0.250  81.2 [79.0, 83.1]",
        "漢字        3      -                  -  yes",
    ]
    table = Table.from_records(ROWS, columns=["aer", "system"], percent={"aer"}, digits={"aer": 2})
    assert table.show().splitlines()[2:] == ["25.00%  giza", "     -  漢字"]
    drawn = Table.from_records([{"x": 1.25, "y": 2.5}], digits={"x": 1}).show()
    assert drawn.splitlines()[2] == "1.2  2.500"
    assert Table.from_records([{"x": 1}], percent={"x"}).show().splitlines()[2] == "100.0%"
    assert Column("x", "decimal").show(-0.0001).text == "0.000"
    assert Column("x", "decimal").show(-float("inf")).text == "-inf"
    signed = Column("x", "percent", signed=True)
    assert signed.show(-0.0001).text == "-0.0"
    assert signed.show(Value(0.1, -0.1, 0.2)).text == "+10.0 [-10.0, 20.0]"
    assert Column("a", "number").show(0.46113).text == "0.4611"
    assert Column("a", "decimal", digits=0, unit=" kB").show(3.0).text == "3 kB"


@given(tables(spans=False, reasons=False))
def test_ruled_text_is_that_of_the_plain_renderer(table):
    assert table.show().replace("\u200e", "") == ruled_text(table)


@given(tables())
def test_every_line_of_text_has_its_columns_at_the_same_places(table):
    """The last column is at the right, so all full lines are equally wide."""
    columns = [*table.columns, Column("END", "count", key="end")]
    rows = [[*row, k % 10] for k, row in enumerate(table.rows)]
    for ruled in (True, False):
        made = Table("", columns, rows, apart=table.apart, ruled=ruled).show()
        lines = made.splitlines()[any(column.span for column in columns) :]
        full = [line for line in lines if re.search(r"(END|-|\d)$", line)]
        assert len(full) >= 1 + ruled + len(rows)
        assert len({width(line) for line in full[: 1 + ruled + len(rows)]}) == 1


def test_what_is_set_apart_and_text_from_right_to_left():
    table = Table("", [Column("a")], [["x"], ["y"]], apart=[1])
    assert table.show().splitlines() == ["a", "-", "x", "", "y"]
    # direction marks, which take no room, stand around it: the numbers beside it stay there
    line = Table("", [Column("who"), Column("n", "count")], [["שלום", 12]]).show().splitlines()[2]
    assert line == "\u200eשלום\u200e  12"


def test_an_upper_bound_is_shown_as_one_and_rounded_up():
    column = Column("p", "p")
    shown = {0.0020: "<0.0020", 0.00201: "<0.0021", 0.00001: "<0.0001", 0.072: "<0.0720", NAN: "-"}
    for value, text in shown.items():
        assert column.show(Value(value, bound=True)).text == text
    table = Table("", [Column("x"), column], [["a", Value(0.002, bound=True)], ["b", 0.5]])
    assert table.to_records() == [
        {"x": "a", "p": 0.002, "p_bound": True},
        {"x": "b", "p": 0.5, "p_bound": False},
    ]
    assert table.csv().splitlines()[0] == "x,p,p_bound"
    plain = Table("", [Column("x"), column], [["a", Value(0.002)], ["b", 0.5]])
    assert plain.csv().splitlines()[0] == "x,p"


def test_control_characters_are_shown_in_every_medium():
    evil = "\x1b[31m\u202e\x00"
    table = Table(evil, [Column(evil, span=evil)], [[evil], [Value(NAN, reason=evil)]], evil)
    for medium in (table.show(), table.show("markdown"), table.show("latex"), table.show("html")):
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", medium)


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        ([], []),
        ([Column("a")], ["a", "-"]),
        ([Column("a", "count", "span")], ["span", "   a", "----"]),
    ],
)
def test_empty_tables_and_one_column(columns, lines):
    table = Table("", columns, [])
    assert (table.show().splitlines(), table.to_records()) == (lines, [])
    assert table.csv() == "".join(column.key for column in columns)
    assert table.show("latex").count("tabular") == 2 * len(columns)
    assert html.fragment_fromstring(table.show("html")).findall(".//tbody//td") == []
    assert len(table.show("markdown").splitlines()) == 2 * len(columns)
    assert repr(table) == f"Table('', {len(columns)} columns, 0 rows)"
    assert len(Table("x", [Column("a")], [[1]]).show().splitlines()) == 5


def test_a_reason_stands_below_once_with_its_letter():
    rows = [
        ["x", Value(NAN, reason="no pair")],
        ["y", Value(0.5, reason="one pair")],
        ["z", Value(NAN, reason="no pair")],
    ]
    table = Table("t", [Column("who"), Column("C", "decimal")], rows, "note", ruled=False)
    assert table.show().splitlines() == [
        "t",
        "who          C",
        "x        - (a)",
        "y    0.500 (b)",
        "z        - (a)",
        "(a) no pair",
        "(b) one pair",
        "note",
    ]
    assert "| x | - (a) |" in table.show("markdown")
    assert r"x & --\textsuperscript{a} \\" in table.show("latex")
    assert r"\multicolumn{2}{l}{\textsuperscript{b} one pair} \\" in table.show("latex")
    assert "-<sup>a</sup>" in table.show("html")
    assert table.show("html").count("no pair") == 1
    assert [row["C_reason"] for row in table.to_records()] == ["no pair", "one pair", "no pair"]
    table = Table("", [Column("C", "decimal")], [[Value(NAN, reason=f"r{k}")] for k in range(28)])
    assert [line[:4] for line in table.show().splitlines()[-3:]] == ["(z) ", "(aa)", "(ab)"]


@given(tables())
def test_records_hold_plain_values(table):
    found = table.to_records()
    assert len({tuple(record) for record in found}) <= 1
    for record, row in zip(found, table.rows, strict=True):
        for k, cell in enumerate(row):
            assert record[f"key{k}"] is (cell.value if isinstance(cell, Value) else cell)
            if f"key{k}_low" in record and isinstance(cell, Value):
                assert record[f"key{k}_low"] is cell.low
                assert record[f"key{k}_high"] is cell.high


@given(tables())
def test_csv_is_read_back(table):
    read = list(csv.DictReader(io.StringIO(table.csv(), newline="")))
    for line, record in zip(read, table.to_records(), strict=True):
        for key, value in record.items():
            if isinstance(value, str):
                assert re.sub(r"^'(?='*[=+\-@])", "", line[key]) == value
            elif value is None or isnan(value):
                assert line[key] == ""
            else:
                assert float(line[key]) == value


def test_csv_of_an_empty_cell_and_of_spans():
    table = Table("", [Column("F1", "percent")], [[None], [0.5]])
    assert list(csv.DictReader(io.StringIO(table.csv()))) == [{"F1": ""}, {"F1": "0.5"}]
    columns = [Column(""), Column("P", "percent", "sure"), Column("P", "percent", "possible")]
    assert Table("", columns, [["x", Value(0.5, 0.25, 1.0), 1]]).csv().splitlines() == [
        "row,sure P,sure P_low,sure P_high,possible P",
        "x,0.5,0.25,1.0,1",
    ]


@given(tables())
def test_markdown_says_the_same(table):
    lines = [line for line in table.show("markdown").splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(table.rows)
    for line, row in zip(lines[2:], table.rows, strict=True):
        cells = re.split(r"(?<!\\)(?:\\\\)*\|", line.replace("\\\\", "\0"))[1:-1]
        for text, cell, column in zip(cells, row, table.columns, strict=True):
            plain = re.sub(r"\\(.)", r"\1", text).replace("\0", "\\").strip()
            assert re.sub(r" \([a-z]+\)$", "", plain) == shown(cell, column.kind)


def test_markdown_as_others_read_it():
    markdown = pytest.importorskip("markdown_it").MarkdownIt("gfm-like", {"linkify": False})
    names = ["a|b\\|c", "_x_ *y* `z`", "<b>&lt;</b>", "[a](b)", "~~no~~", "a ~ b", "# 1", "\\"]
    table = Table("_t_ | # x", [Column("|n|")], [[name] for name in names], "- no list\n# none")
    found = html.fragment_fromstring(markdown.render(table.show("markdown")), create_parent=True)
    assert [cell.text_content() for cell in found.iter("td")] == names
    assert [cell.text_content() for cell in found.iter("th")] == ["|n|"]
    assert found.findtext(".//strong") == "_t_ | # x"
    assert not list(found.iter("li", "h1", "em", "b", "a", "code", "s"))


@given(tables(letters=ASCII))
def test_latex_has_as_many_cells_as_columns_and_says_the_same(table):
    lines = table.show("latex").splitlines()
    start, end = lines.index(r"\midrule"), lines.index(r"\bottomrule")
    for line in lines[lines.index(r"\toprule") + 1 : end]:
        if line.endswith(r"\\") and "rule" not in line:
            spans = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line))
            cells = len(re.findall(r"(?<!\\)&", line)) + 1 + spans
            assert cells == len(table.columns)
    body = [line for line in lines[start + 1 : end] if line != r"\addlinespace"]
    for line, row in zip(body, table.rows, strict=True):
        cells = re.split(r"(?<!\\)&", line.removesuffix(r" \\"))
        for text, cell, column in zip(cells, row, table.columns, strict=True):
            said = re.sub(r"\\textsuperscript\{[a-z]+\}$", "", text.strip())
            said = re.sub(r"^\{\}", "", said) if re.match(r"\{\}[\[*]", said) else said
            wanted = shown(cell, column.kind)
            if isinstance(cell, str):
                assert said == ("--" if cell == "-" else latex_escape(cell))
            else:
                assert said.replace("$-$", "-") == ("--" if wanted == "-" else wanted)


def test_latex_escapes_what_it_must():
    assert latex_escape("a_b & 50% #1 {x} ~ \\ ^ $ -- `") == (
        r"a\_b \& 50\% \#1 \{x\} $\sim$ \textbackslash{} \textasciicircum{} \$ -{}- "
        r"\textasciigrave{}"
    )
    columns = [Column("x"), Column("y", "decimal")]
    text = Table("50%\nnext", columns, [["[a]", NAN], ["*", -1.5]], "n\n\\end").show("latex")
    assert text.splitlines()[:2] == ["% 50%", "% next"]
    assert text.splitlines()[-2:] == ["% n", "% \\end"]
    assert "{}[a] & -- \\\\" in text
    assert "{}* & $-$1.500 \\\\" in text


@given(tables())
def test_html_has_all_cells_and_scopes(table):
    (drawn,) = html.fragment_fromstring(table.show("html")).iter("table")
    assert unescape(drawn.find("caption").text_content()) == normalized(table.title)
    for row in drawn.iter("tr"):
        assert sum(int(cell.get("colspan", 1)) for cell in row) == len(table.columns)
    heads = [cell.text_content() for cell in drawn.findall("thead/tr")[-1]]
    assert heads == [normalized(column.name) for column in table.columns]
    body = [row for part in drawn.findall("tbody") for row in part.findall("tr")]
    for line, row in zip(body, table.rows, strict=True):
        for cell, value, column in zip(line, row, table.columns, strict=True):
            for mark in cell.findall("sup"):
                cell.remove(mark)
            assert cell.text_content() == normalized(shown(value, column.kind))
            assert (cell.get("class") == "number") == (column.kind != "text")
            assert (cell.find("bdi") is not None) == isinstance(value, str)
    assert all(cell.get("scope") for cell in drawn.iter("th"))


def normalized(text):
    return "◌" + text if text[:1] == normalize("NFC", "\u0301") else text


def test_html_is_escaped_and_what_makes_no_table_is_refused():
    table = Table("<i>\n&", [Column("<b>", span='"')], [["<script>"]], "<p>", anchor='a"b')
    found = html.fragment_fromstring(table.show("html"))
    assert not list(found.iter("script", "i", "b"))
    assert found.get("id") == 'a"b'
    frame = found.find("div")
    assert (frame.get("tabindex"), frame.get("role"), frame.get("aria-label")) == (
        "0",
        "region",
        "<i> &",
    )
    assert "@media print" in Table.style()
    assert table._repr_html_().startswith("<style>")
    table = Table("", [Column("a")], [["x"], ["y"], ["z"]], apart=[0, 2])
    (drawn,) = html.fragment_fromstring(table.show("html")).iter("table")
    assert [len(part) for part in drawn.findall("tbody")] == [2, 1]
    for columns, rows in (
        ([Column("a")], [[1, 2]]),
        ([Column("a"), Column("a")], []),
        ([Column("C", "decimal"), Column("C_low")], [[Value(1.0, 0.5, 2.0), "x"]]),
    ):
        refuses(ArgumentError, None, Table, "", columns, rows)
    refuses(UnknownNameError, "kind of column", Column, "a", "percentage")
    refuses(OptionError, "`digits` is -1", Column, "a", "decimal", digits=-1)
