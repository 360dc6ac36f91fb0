"""Filled sheets read back: shares, intervals and kappa against a plain script; damaged sheets."""

import csv
import json
import re
from dataclasses import fields, replace
from itertools import combinations
from math import isnan
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from audit_sheets import NAMES, filled, judged, odd_audit, read, sample_audit, save
from console import page_text
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_audit import kappa, share_bounds
from repetitions import FULL

from alignkit import Alignment, Corpus, SentencePair
from alignkit._support.values import FrozenMap
from alignkit.agreement import Contingency
from alignkit.audit import Audit, Item, Origin, Scale, draw_phrases, read_audit, sheet_page
from alignkit.audit.figures import ALL, AuditFigure

FORMS = {
    "correct": ["correct", "c", "C", " Correct "],
    "uncertain": ["uncertain", "u", "U", "UNCERTAIN"],
    "incorrect": ["incorrect", "i", "I"],
}


def in_any_form(said, seed=2):
    chance = Random(seed)
    return {
        judge: {id: name and chance.choice(FORMS[name]) for id, name in one.items()}
        for judge, one in said.items()
    }


@settings(max_examples=100 if FULL else 12)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.0, 0.2, 0.9]))
def test_all_figures_are_those_of_a_plain_script(seed, judges, missing):
    audit = sample_audit(n=24, both=0.2, seed=seed)
    said = judged(audit, "WXYZ"[:judges], seed, missing)
    if not any(name for one in said.values() for name in one.values()):
        return
    with TemporaryDirectory() as folder:
        found = read_audit(*filled(folder, audit, in_any_form(said)), resamples=20)
    for origin in audit.origins:
        check_shares(found, audit, origin, said)
    for origin in ("", *audit.origins):
        ids = [item.id for item in audit.items if origin in ("", item.origin)]
        lists = {judge: [one[id] for id in ids] for judge, one in said.items()}
        check_agreement(found, origin, lists)


def check_shares(found, audit, origin, said):
    items = audit.of(origin)
    for who in (*said, *([ALL] if len(said) > 1 else [])):
        judges = said if who == ALL else [who]
        given_names = [
            (item.facts["pair"], said[judge][item.id])
            for item in items
            for judge in judges
            if said[judge][item.id]
        ]
        for name in NAMES:
            figure = found.figure("share", name, first=who, origin=origin)
            rights = [(pair, given_name == name) for pair, given_name in given_names]
            count, total = sum(right for _, right in rights), len(rights)
            assert (figure.count, figure.total) == (count, total)
            assert figure.units == len({pair for pair, _ in rights})
            if not total:
                assert isnan(figure.value)
                assert isnan(figure.low)
                continue
            assert figure.value == count / total
            if (bounds := share_bounds(rights)) is None:
                assert "only one sentence pair" in figure.reason
            else:
                assert (figure.low, figure.high) == pytest.approx(bounds, abs=1e-9)


def check_agreement(found, origin, said):
    values = []
    for first, second in combinations(said, 2):
        both = [(a, b) for a, b in zip(said[first], said[second], strict=True) if a and b]
        of = {"first": first, "second": second, "origin": origin}
        observed = found.figure("agreement", "observed", **of)
        figure = found.figure("agreement", "kappa", **of)
        assert figure.items == len(both)
        expected = kappa(said[first], said[second])
        if expected is None:
            assert isnan(figure.value)
            assert figure.reason
        else:
            assert figure.value == pytest.approx(expected)
            assert observed.value == pytest.approx(sum(a == b for a, b in both) / len(both))
            values.append((expected, len(both)))
        if not origin:
            counts = tuple(tuple(both.count((a, b)) for b in NAMES) for a in NAMES)
            assert found.confusions[first, second].table == counts
    if len(said) > 2 and values:
        mean = found.figure("mean agreement", "kappa", first=ALL, origin=origin)
        weights = sum(n for _, n in values)
        assert mean.value == pytest.approx(sum(k * n for k, n in values) / weights)


def apart(audit):
    """Return the audit with each item from another sentence pair."""
    items = (replace(x, facts=FrozenMap({**x.facts, "pair": x.id})) for x in audit.items)
    return replace(audit, items=tuple(items))


def test_kappa_is_that_of_a_textbook(tmp_path):
    """Fleiss, Levin & Paik, Statistical Methods for Rates and Proportions, table 18.1: .68."""
    table, audit = [[75, 1, 4], [5, 4, 1], [0, 0, 10]], apart(sample_audit(n=100))
    cells = [(a, b) for a, row in enumerate(table) for b, n in enumerate(row) for _ in range(n)]
    said = {
        judge: {item.id: NAMES[cell[k]] for item, cell in zip(audit.items, cells, strict=True)}
        for k, judge in enumerate("AB")
    }
    found = read_audit(*filled(tmp_path, audit, said))
    figure = found.figure("agreement", "kappa", first="A", second="B")
    assert round(figure.value, 2) == 0.68
    assert found.confusions["A", "B"] == Contingency.of(NAMES, table)
    # kappa -+ 1.96 of the standard error that the book gives, .087
    assert (figure.low, figure.high) == pytest.approx((0.506, 0.846), abs=0.03)


def test_the_corrected_precision_is_that_of_the_definition(tmp_path):
    audit = sample_audit(n=60)
    said = judged(audit, "AB", missing=0)
    found, rate = read_audit(*filled(tmp_path, audit, said)), audit.rates["precision"]
    of = {item.id for item in audit.of("hypothesis")}
    plain = found.figure("rate", "precision", origin="hypothesis")
    assert plain.value == rate.hits / rate.total
    for judge in ("A", ALL):
        names = [
            n for who in said for id, n in said[who].items() if id in of and judge in (who, ALL)
        ]
        for kind, right in (("strict rate", NAMES[:1]), ("lenient rate", NAMES[:2])):
            figure = found.figure(kind, "precision", first=judge, origin="hypothesis")
            share = sum(name in right for name in names) / len(names)
            wrong = rate.total - rate.hits
            assert figure.value == pytest.approx((rate.hits + share * wrong) / rate.total)
            assert plain.value <= figure.low < figure.value < figure.high <= 1


def test_pooled_intervals_are_of_items_and_not_of_judgments(tmp_path):
    audit = apart(sample_audit(n=80))
    one = judged(audit, "A", missing=0)["A"]
    found = read_audit(*filled(tmp_path, audit, dict.fromkeys("ABCDE", one)))
    pooled, single = (
        found.figure("share", "correct", first=who, origin="reference") for who in (ALL, "A")
    )
    assert (pooled.low, pooled.high) == pytest.approx((single.low, single.high), abs=0.01)


def test_intervals_are_of_sentence_pairs_and_not_of_their_items(tmp_path):
    """All items of a sentence pair are judged alike: they say no more than one of them."""
    audit = sample_audit(n=200, kind="all")
    draw = Random(4)
    of_pair = {item.unit: draw.choice(NAMES) for item in audit.items}
    said = {
        judge: {item.id: of_pair[item.unit] for item in audit.items if draw.random() < 0.9}
        for judge in "AB"
    }
    found = read_audit(*filled(tmp_path / "pairs", audit, said))
    other = read_audit(*filled(tmp_path / "items", apart(audit), said))
    for figure, single in zip(found.figures, other.figures, strict=True):
        assert figure.value == single.value or isnan(single.value)
        if figure.kind in ("share", "strict rate") and figure.first in "AB" and figure.items:
            assert figure.units < figure.items == single.units
            assert figure.high - figure.low > 1.3 * (single.high - single.low)
    assert "unit: the sentence pair" in found.show()


@pytest.mark.parametrize("divider", ["\t", ",", ";"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_what_a_spreadsheet_saves_is_read(tmp_path, divider, encoding, end):
    audit = odd_audit()
    said = judged(audit, "AB")
    plain = read_audit(*filled(tmp_path / "plain", audit, said))
    form = {"divider": divider, "encoding": encoding, "end": end}
    assert same(read_audit(*filled(tmp_path / "saved", audit, said, **form))) == same(plain)


def same(found):
    told = found.to_json()
    for one in told["findings"]:
        del one["path"], one["line"], one["says"]
    return told


def test_rows_in_any_order_columns_that_are_gone_and_changed_texts_change_nothing(tmp_path):
    audit = sample_audit()
    sheets, key = filled(tmp_path, audit, judged(audit, "AB", missing=0))
    before = read_audit(sheets, key).to_json()
    for path, judge in zip(sheets, "AB", strict=True):
        rows = sorted(read(path), key=lambda row: row["source"])
        date = {"target": "Jan 2"}
        save(path, [row | {"source": f" {row['source'].upper()} "} | date for row in rows])
        assert read_audit(sheets, key).to_json() == before
        short = Path(path).with_name(f"{judge}.tsv")  # the name is the judge's
        save(short, [*rows, dict.fromkeys(rows[0], "")], names=["judgment", "item"])
    assert read_audit([tmp_path / "A.tsv", tmp_path / "B.tsv"], key).to_json() == before
    rows = [row for path in sheets for row in read(path)]
    assert read_audit(save(tmp_path / "one.csv", rows, divider=","), key).to_json() == before


def test_remarks_are_kept_as_they_were_written(tmp_path):
    audit = sample_audit(n=6)
    sheets, key = filled(tmp_path, audit, judged(audit, "A", missing=0))
    rows = read(sheets[0])
    rows[0]["remark"], rows[1]["remark"] = "'=why", 'said "so";\nand\tso'
    save(sheets[0], rows)
    found = read_audit(sheets, key).to_json()
    expected = {rows[0]["item"]: {"A": "=why"}, rows[1]["item"]: {"A": 'said "so";\nand\tso'}}
    assert expected == {one["item"]: one["remarks"] for one in found["items"] if one["remarks"]}


def test_what_is_undefined_says_why(tmp_path):
    audit = sample_audit(n=4)
    said = {judge: {item.id: "correct" for item in audit.items} for judge in "AB"}
    found = read_audit(*filled(tmp_path, audit, said))
    figure = found.figure("agreement", "kappa", first="A", second="B")
    assert isnan(figure.value)
    assert "the same judgment everywhere" in figure.reason
    pooled = found.figure("share", "correct", first=ALL, origin="reference")
    assert (pooled.value, pooled.high, pooled.reason) == (1.0, 1.0, "")
    assert 0 < pooled.low < 0.1
    assert "-" in str(found)
    assert '"value": null' in json.dumps(found.to_json(), allow_nan=False)


def test_a_seed_gives_the_same_intervals(tmp_path):
    audit = sample_audit()
    sheets, key = filled(tmp_path, audit, judged(audit, "ABC"))
    first, again, other = (read_audit(sheets, key, seed=seed) for seed in (1, 1, 2))
    assert first.to_json() == again.to_json()
    assert first.to_records() != other.to_records()
    np.testing.assert_equal(*[[one.value for one in result.figures] for result in (first, other)])


def test_another_kind_of_audit_needs_nothing_but_its_items(tmp_path):
    ids = [f"bcdf{k:03d}" for k in range(12)]
    of = ["old" if k % 3 else "new" for k in range(12)]
    items = tuple(Item(id, of[k], (f"text {k}",), FrozenMap()) for k, id in enumerate(ids))
    origins = {name: Origin(f"the {name} ones", 20, n) for name, n in (("old", 8), ("new", 4))}
    audit = Audit(
        "texts",
        items,
        ("text",),
        (),
        Scale(("1", "2", "3", "4")),
        FrozenMap(origins),
        FrozenMap(),
        5,
        "audit:texts",
    )
    said = {
        judge: {id: str(k % n + 1) for k, id in enumerate(ids)}
        for judge, n in zip("AB", (4, 2), strict=True)
    }
    found = read_audit(*filled(tmp_path, audit, said))
    shares = [found.figure("share", n, first="B", origin="new").value for n in audit.scale.names]
    assert shares == [0.5, 0.5, 0.0, 0.0]
    assert "precision" not in str(found)
    assert "text 3" in sheet_page(audit, "A", 0)
    figure = found.figure("agreement", "kappa", first="A", second="B")
    assert figure.value == pytest.approx(kappa(*(list(one.values()) for one in said.values())))


def test_a_sentence_may_be_as_long_as_corpora_allow(tmp_path):
    words = tuple(f"{'long' * 10}{k}" for k in range(5000))
    pair = SentencePair(
        "1", words, words[::-1], {"A": Alignment.parse("0-0"), "B": Alignment.parse("1-1")}
    )
    audit = draw_phrases(Corpus([pair]), "A", "B", n=2)
    limit = csv.field_size_limit(10**7)  # for the reading of the test itself
    sheets, key = filled(tmp_path, audit, {"A": {item.id: "correct" for item in audit.items}})
    csv.field_size_limit(limit)
    found = read_audit(sheets, key)
    assert found.figure("share", "correct", first="A", origin="hypothesis").value == 1


def test_every_column_is_explained():
    text = page_text("audit.md").partition("## CSV, JSON, the key")[2]
    table = text.partition("| column | holds |")[2].partition("\n\n")[0]
    named = " ".join(match[1] for match in re.finditer(r"^\|(.*?) \|", table, re.MULTILINE))
    assert re.findall(r"`(\w+)`", named) == [one.name for one in fields(AuditFigure)]
