"""The sheets of an audit: blind, the same for a seed, and safe in a spreadsheet; the key."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from audit_sheets import ODD, odd_audit, read, sample_audit
from command import write
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit import Alignment, Corpus, SentencePair
from alignkit.audit import Scale, draw_phrases, sheet_page, sheet_text, write_audit
from alignkit.audit.key import key_text, read_key
from alignkit.audit.sheets import DIVIDERS
from alignkit.errors import FormatError, OptionError, UnknownNameError
from alignkit.tables.media import unguarded

ORIGINS = ("hypothesis", "reference", "both")
HEADINGS = [
    "item",
    "judge",
    "source",
    "target",
    "judgment",
    "remark",
    "source_sentence",
    "target_sentence",
]
TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\t\n\"'=+-@,;[]"),
    min_size=1,
    max_size=6,
)


def test_a_sheet_has_a_row_for_each_item_and_room_for_a_judgment(tmp_path):
    audit = sample_audit()
    *sheets, key = write_audit(audit, tmp_path / "new", judges=["anna", "ben"])
    assert [Path(path).name for path in (*sheets, key)] == [
        "sheet-anna.tsv",
        "sheet-ben.tsv",
        "key.json",
    ]
    items = {item.id: item for item in audit.items}
    for path, judge in zip(sheets, ("anna", "ben"), strict=True):
        rows = read(path)
        assert (list(rows[0]), sorted(row["item"] for row in rows)) == (HEADINGS, sorted(items))
        for row in rows:
            assert (row["judge"], row["judgment"], row["remark"]) == (judge, "", "")
            cells = tuple(row[name] for name in audit.columns)
            assert tuple(map(unguarded, cells)) == items[row["item"]].cells
            for side in ("source", "target"):
                assert f"[[{unguarded(row[side])}]]" in row[f"{side}_sentence"]


@pytest.mark.parametrize("format", ["tsv", "csv", "html"])
def test_a_sheet_does_not_tell_where_an_item_comes_from(format):
    audit = sample_audit(n=60, both=0.2)
    text = sheet_page(audit, "A", 0).replace("initial-scale", "")
    if format != "html":
        text = sheet_text(audit, "A", 0, format=format)
    words = " ".join(cell for item in audit.items for cell in item.cells)
    for told in ("hypothesis", "reference", "origin", "initial", "gold", "facts", "span"):
        assert told not in text or told in words, told
    for item in audit.items:
        assert not re.search(rf"\b{item.facts['pair']}\b", text)


def test_the_form_of_a_row_is_the_same_for_every_origin():
    audit = sample_audit(n=100, both=0.2)
    origin = {item.id: item.origin for item in audit.items}
    forms = {name: set() for name in ORIGINS}
    for line in sheet_text(audit, "A", 0).splitlines()[1:]:
        cells = line.split("\t")
        form = tuple(bool(cell) for cell in cells), re.sub(r"\d", "0", cells[0]), cells[1]
        forms[origin[cells[0]]].add(form)
    assert forms["hypothesis"] == forms["reference"] == forms["both"]
    assert len(forms["both"]) == 1


def test_the_order_says_nothing_and_is_another_for_each_judge():
    sums, names, count = 0.0, 0.0, 60
    for seed in range(count):
        audit = sample_audit(n=20, seed=seed)
        orders = [
            [line.split("\t")[0] for line in sheet_text(audit, "A", place).splitlines()[1:]]
            for place in (0, 1)
        ]
        assert sorted(orders[0]) == sorted(orders[1]) != orders[0] != orders[1]
        mine = {item.id for item in audit.of("hypothesis")}
        sums += sum(place for place, id in enumerate(orders[0]) if id in mine) / len(mine)
        names += sum(int(id[4:]) - 1 for id in mine) / len(mine)
    # the mean of 10 of the places 0 to 19 has the variance 35 / 10 * 10 / 19
    error = (35 / 10 * 10 / 19 / count) ** 0.5
    assert abs(sums / count - 9.5) < 4 * error
    assert abs(names / count - 9.5) < 4 * error


def test_a_seed_gives_the_same_files(tmp_path):
    written = [
        [
            Path(path).read_bytes()
            for path in write_audit(sample_audit(), tmp_path / name, sheets=["tsv", "csv", "html"])
        ]
        for name in "ab"
    ]
    assert written[0] == written[1]


@pytest.mark.parametrize(("format", "divider"), [("tsv", "\t"), ("csv", ",")])
@pytest.mark.parametrize("bom", [False, True])
def test_a_spreadsheet_runs_nothing_and_eats_nothing(tmp_path, format, divider, bom):
    audit = odd_audit()
    path, _ = write_audit(audit, tmp_path, judges=["A"], sheets=[format], bom=bom)
    assert Path(path).read_bytes().startswith(b"\xef\xbb\xbf") == bom
    shown, seen = {item.id: item.cells for item in audit.items}, set()
    for row in read(path, divider):
        for name, text in zip(audit.columns, shown[row["item"]], strict=True):
            assert not re.match(r"[=+\-@\t\r\n＝]", row[name])
            assert unguarded(row[name]) == text
            seen.add(text)
    assert set(ODD) <= seen


@given(st.lists(TEXTS, min_size=2, max_size=3), st.sampled_from(["tsv", "csv"]))
def test_any_words_come_back_from_a_sheet(words, format):
    links = {"A": Alignment.parse("0-1"), "B": Alignment.parse("1-0")}
    pair = SentencePair("1", words, words[::-1], links)
    audit = draw_phrases(Corpus([pair]), "A", "B", n=2, ignore_identical=False)
    text = sheet_text(audit, "A", 0, format=format)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=DIVIDERS[format], strict=True))
    shown = {item.id: item.cells for item in audit.items}
    for row in rows[1:]:
        cells = tuple(map(unguarded, row))
        assert (*cells[2:4], *cells[6:]) == shown[cells[0]]


def test_names_of_items_are_no_dates_and_no_numbers():
    for seed in range(20):
        for item in sample_audit(n=5, seed=seed).items:
            assert re.fullmatch(r"[bcdfghklmnprstvwxz]{4}\d{3}", item.id)


def test_a_key_is_read_as_it_was_written(tmp_path):
    for audit in (sample_audit(by="genre", both=0.1), odd_audit()):
        assert vars(read_key(write(tmp_path, "key.json", key_text(audit)))) == vars(audit)
        assert json.loads(key_text(audit))["alignkit"] == "audit"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        '{"alignkit": "corpus"}',
        '{"alignkit": "audit", "version": 2}',
        '{"alignkit": "audit", "version": 1}',
    ],
)
def test_what_is_no_key_is_refused_with_its_path(tmp_path, text):
    refuses(FormatError, str(tmp_path / "key.json"), read_key, write(tmp_path, "key.json", text))


@pytest.mark.parametrize(
    "change",
    [
        lambda key: key["items"].append(key["items"][0]),
        lambda key: key["items"][0].update(origin="nobody"),
        lambda key: key["items"][0].update(cells=["a"]),
        lambda key: key["items"].insert(0, 3),
        lambda key: key["rates"]["precision"].update(hits=10**6),
        lambda key: key["rates"]["precision"].update(strict=["fine"]),
        lambda key: key.update(judgments=["a"]),
        lambda key: key.update(seed="1"),
        lambda key: key.update(origins=[]),
    ],
)
def test_a_damaged_key_is_refused(tmp_path, change):
    key = json.loads(key_text(sample_audit()))
    change(key)
    refuses(FormatError, "damaged key", read_key, write(tmp_path, "key.json", json.dumps(key)))


def test_nothing_is_overwritten(tmp_path):
    audit = sample_audit()
    *sheets, key = write_audit(audit, tmp_path)
    Path(sheets[0]).write_text("filled", encoding="utf-8")
    refuses(OptionError, "already exists", write_audit, audit, tmp_path)
    refuses(OptionError, "already exists", write_audit, audit, tmp_path / "other", key=key)
    assert Path(sheets[0]).read_text(encoding="utf-8") == "filled"
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("judges", [[], [""], [" a"], ["a/b"], ["a", "A"], ["=a"], ["a\n"], ["."]])
def test_a_judge_has_a_name_that_a_file_can_have(tmp_path, judges):
    refuses(OptionError, "judge", write_audit, sample_audit(), tmp_path, judges=judges)
    assert not list(tmp_path.iterdir())


def test_formats_are_those_there_are(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'html'"):
        write_audit(sample_audit(), tmp_path, sheets=["htm"])
    for made in (sheet_text, sheet_page):
        refuses(UnknownNameError, "known: tsv, csv", made, sample_audit(), "A", 0, format="xls")


def test_a_scale_takes_names_and_letters_in_any_case():
    scale = Scale(("same", "similar", "other"))
    assert scale.letters == ("same", "similar", "o")
    assert [scale.parse(text) for text in ("SAME", "O", " similar ", "")] == [
        "same",
        "other",
        "similar",
        "",
    ]
    told = r"unknown judgment 's'; expected same, similar, other \(o"
    refuses(ValueError, told, scale.parse, "s")
    for names in (("a",), ("a", "A"), ("a", " ")):
        refuses(OptionError, "two or more different", Scale, names)


def test_a_page_holds_nothing_that_acts_but_its_own_script():
    page = sheet_page(odd_audit(), "A", 0)
    assert page.count("<script") == 2
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page
    assert not re.search(r"\son\w+=|style=|unsafe", page)
