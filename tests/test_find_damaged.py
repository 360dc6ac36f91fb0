"""A file with a damaged record is of the format that its keys and headings show."""

from __future__ import annotations

import json
import re

import pytest
from test_formats_judged import PARADE, RELATIONS, TSV, TURKU

from alignkit.errors import FormatError, UnknownFormatError
from alignkit.io import find_format, read_corpus

LISTS = {
    "turku": [{"label": "3", "txt1": f"a {k}", "txt2": f"b {k}"} for k in range(3)],
    "jacana": [{"id": f"{k}", "source": "a b", "target": "c", "sureAlign": "0-0"} for k in "123"],
}
PARAPHRASE = {"S": {"string": "a b"}, "T": {"string": "c"}, "annotations": {}}
LINES = {
    "jsonl": [{"src_words": ["a"], "tgt_words": ["b"], "alignment": [[0, 0]]}] * 3,
    "alignkit-jsonl": [
        {"id": str(k), "source": ["a"], "target": ["b"], "annotations": {"x": {"judgment": "3"}}}
        for k in range(3)
    ],
}
DAMAGES = [
    lambda text: text[: len(text) // 2],  # cut short, and the rest goes on
    lambda text: text.replace(":", "", 1),
    lambda text: text.replace('"', "", 1),
    lambda text: text.replace("}", "", 1),
    lambda text: "7",
    lambda text: "{}",
    lambda text: text + "}",
    lambda text: "€" + text,
]


def whole(format: str) -> tuple[str, list[str], str, str]:
    """Return what stands before the records, these, what stands between them, and behind."""
    if format in LISTS:
        return "[\n", [json.dumps(one) for one in LISTS[format]], ",\n", "\n]\n"
    if format == "edinburgh":
        return '{"paraphrases": [\n', [json.dumps(PARAPHRASE)] * 3, ",\n", "\n]}\n"
    return "", [json.dumps(one) for one in LINES[format]], "\n", "\n"


@pytest.mark.parametrize("damage", range(len(DAMAGES)))
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("format", [*LISTS, "edinburgh", *LINES])
def test_a_damaged_object_is_told_by_its_own_reader(tmp_path, format, place, damage):
    before, records, between, behind = whole(format)
    records = [*records]
    records[place] = DAMAGES[damage](records[place])
    path = tmp_path / "file.json"
    path.write_text(before + between.join(records) + behind, "utf-8")
    assert find_format(path) == format
    with pytest.raises(FormatError) as caught:
        read_corpus(path)
    assert not isinstance(caught.value, UnknownFormatError)
    assert caught.value.path == str(path)
    first = 1 if format in LINES else 2
    assert caught.value.line in (place + first, place + first + 1)  # a gap shows in the next line


ROWS = [
    lambda text: text.replace("\t", " ", 1),
    lambda text: text + "\tx",
    lambda text: "",
    lambda text: "9" + text[1:],
]


@pytest.mark.parametrize("damage", range(len(ROWS)))
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(("format", "text"), [("turku", TSV), ("parade", PARADE)])
def test_a_damaged_row_is_told_by_its_own_reader(tmp_path, format, text, place, damage):
    lines = text.splitlines()
    lines[place] = ROWS[damage](lines[place])
    path = tmp_path / "file.tsv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    if lines[0]:  # else there is nothing to tell it by but the labels
        assert find_format(path) == format
    with pytest.raises(FormatError) as caught:
        read_corpus(path)
    if lines[0]:  # one heading too many shows in the first row
        assert caught.value.line in (place + 1, 2)
    else:
        assert re.search(f"looks like {format}, but line [12]: expected", str(caught.value))


@pytest.mark.parametrize("label", ["5", 5, None, "４"])
def test_a_bad_label_in_the_first_record_is_told_by_turku(tmp_path, label):
    path = tmp_path / "file.json"
    path.write_text(json.dumps([{**TURKU[0], "label": label}, TURKU[1]]), "utf-8")
    with pytest.raises(FormatError, match="judgment") as caught:
        read_corpus(path)
    assert (caught.value.path, caught.value.line) == (str(path), 1)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("<s1_scope>", "<s1_scop>", "not XML"),
        ("<s1_scope>0, 1</s1_scope>", "", "expected <s1_scope>"),
        ("<s1_scope>0, 1</s1_scope>", "<s1_scope>0, x</s1_scope>", "'x' in s1_scope"),
        ("<pair_id>10</pair_id>", "<pair_id>10</pair_id><pair_id>1</pair_id>", "occurs twice"),
        ("<relation>", "<relation", "not XML"),
    ],
)
def test_a_damaged_relation_is_told_by_etpc(tmp_path, old, new, told):
    path = tmp_path / "relations.xml"
    path.write_text(RELATIONS.replace(old, new, 1), "utf-8")
    assert find_format(tmp_path) == "etpc"
    with pytest.raises(FormatError, match=told) as caught:
        read_corpus(tmp_path)
    assert (caught.value.path, caught.value.line) == (str(path), 2)


def test_keys_of_no_format_show_none(tmp_path):
    path = tmp_path / "file.json"
    path.write_text('[{"source": "a", "target": "b", "text": 1}, {"x": ]')
    with pytest.raises(UnknownFormatError):
        read_corpus(path)
