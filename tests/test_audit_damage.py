"""Sheets that came back damaged or incomplete: what is told, with file and line."""

from pathlib import Path

import pytest
from audit_sheets import filled, judged, read, sample_audit, save
from refusals import refuses

from alignkit.audit import read_audit, write_audit
from alignkit.errors import FormatError, MissingFileError, OptionError


def test_what_is_missing_or_double_is_told_with_file_and_line(tmp_path):
    audit = sample_audit(n=10)
    sheets, key = filled(tmp_path, audit, judged(audit, "A", missing=0))
    rows = read(sheets[0])
    rows[0]["judgment"] = ""
    rows[1]["judgment"] = rows[2]["judgment"] = "c"
    lost = rows.pop()
    again = [{**rows[1], "judgment": "C"}, {**rows[2], "judgment": "i"}, {**rows[0]}]
    save(sheets[0], [*rows, *again])
    found = read_audit(sheets, key)
    assert {(one.kind, one.item, one.line) for one in found.filled.findings} == {
        ("unjudged", rows[0]["item"], 2),
        ("unjudged", rows[0]["item"], 13),
        ("repeated", rows[1]["item"], 11),
        ("contradictory", rows[2]["item"], 12),
        ("missing", lost["item"], None),
    }
    assert all(str(one).startswith(sheets[0]) for one in found.filled.findings)
    judgments = found.filled.judgments["A"]
    assert judgments[rows[1]["item"]] == "correct"
    assert not {rows[0]["item"], rows[2]["item"], lost["item"]} & set(judgments)
    assert any("A judged 7 of 10 items" in caution for caution in found.cautions)
    again[2]["judgment"] = "u"  # who judges in a second row has judged
    save(sheets[0], [*rows, *again])
    kinds = [one.kind for one in read_audit(sheets, key).filled.findings]
    assert sorted(kinds) == ["contradictory", "missing", "repeated"]


@pytest.mark.parametrize(
    ("place", "cells", "told"),
    [
        (1, {"judgment": "maybe"}, "unknown judgment 'maybe'"),
        (2, {"item": "xxxx001"}, "unknown item 'xxxx001'"),
        (0, {"item": ""}, "unknown item ''"),
        (0, None, "whole rows"),
    ],
)
def test_a_row_that_cannot_be_understood_is_an_error(tmp_path, place, cells, told):
    audit = sample_audit(n=10)
    sheets, key = filled(tmp_path, audit, judged(audit, "A"))
    rows = read(sheets[0])
    rows[place] |= cells or {side: rows[1][side] for side in ("source", "target")}
    save(sheets[0], rows)
    with pytest.raises(FormatError, match=told) as caught:
        read_audit(sheets, key)
    assert (caught.value.path, caught.value.line) == (sheets[0], place + 2)


def cut(text):
    lines = text.splitlines()
    return "\n".join([*lines[:4], lines[4][:20], *lines[5:]])


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda text: "", 1),
        (lambda text: text.replace("judgment", "verdict"), 1),
        (lambda text: text.replace("remark", "judgment", 1), 1),
        (cut, 5),
        (lambda text: text.replace("\n", "\n\n", 1) + "a\tb", 13),
        (lambda text: text + '"x', 12),
        (lambda text: text.replace("\t", " "), 1),
    ],
)
def test_a_damaged_sheet_is_an_error(tmp_path, damage, line):
    audit = sample_audit(n=10)
    sheets, key = filled(tmp_path, audit, judged(audit, "A"))
    path = Path(sheets[0])
    path.write_text(damage(path.read_text("utf-8")), "utf-8")
    with pytest.raises(FormatError) as caught:
        read_audit(sheets, key)
    assert (caught.value.path, caught.value.line) == (sheets[0], line)


def test_another_encoding_is_told_with_the_line(tmp_path):
    audit = sample_audit(n=10)
    sheets, key = filled(tmp_path, audit, judged(audit, "A", missing=0))
    rows = read(sheets[0])
    rows[3]["remark"] = "naïve"
    save(sheets[0], rows, encoding="latin-1")
    with pytest.raises(FormatError, match="save the sheet") as caught:
        read_audit(sheets, key)
    assert caught.value.line == 5


def test_a_key_of_another_audit_no_sheet_and_no_judgment_are_refused(tmp_path):
    one, other = sample_audit(n=10, seed=1), sample_audit(n=10, seed=2)
    sheets, _ = filled(tmp_path / "one", one, judged(one, "A"))
    *_, key = write_audit(other, tmp_path / "other")
    refuses(FormatError, "key of another audit", read_audit, sheets, key)
    *sheets, key = write_audit(sample_audit(), tmp_path)
    refuses(OptionError, "no row has a judgment", read_audit, sheets, key)
    refuses(OptionError, "no sheet", read_audit, [], key)
    refuses(MissingFileError, None, read_audit, [tmp_path / "none.tsv"], key)
