"""Paraphrases are what the sum over their pivots says, however they are made."""

import gzip
import json

import numpy as np
import pytest
import reference_pivot
from command import GOLD, TEXTS, run
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit import read_corpus
from alignkit.errors import AlignkitError, ArgumentError, FormatError, OptionError
from alignkit.io.options import ReadOptions
from alignkit.rules.tables import pivots
from alignkit.rules.tables.phrase_tables import PhraseEntry, phrase_table
from alignkit.rules.tables.pivots import Pivot, PivotSettings, pivot
from alignkit.rules.tables.runs import Runs
from alignkit.rules.tables.table_file import TableFile, read_table

ALL = {"min_p": 0.0, "top": None, "identity": True}

phrases = st.lists(st.sampled_from("abé"), min_size=1, max_size=2).map(tuple)
tables = st.lists(st.tuples(phrases, phrases), max_size=30).map(
    lambda pairs: [
        PhraseEntry(*pair, *row) for pair, row in reference_pivot.phrase_table(pairs).items()
    ]
)


def plain(table, second=None, on="source"):
    def sided(entries):
        for one in entries:
            if on == "source":
                yield one.target, one.source, one.p_source, one.p_target
            else:
                yield one.source, one.target, one.p_target, one.p_source

    return reference_pivot.pivoted(list(sided(table)), list(sided(second or table)))


def held(found):
    return {(one.source, one.target): (one.p_target, one.p_source, one.pivots) for one in found}


@given(tables, st.none() | tables, st.sampled_from(["source", "target"]))
def test_paraphrases_are_the_sum_over_pivots(table, second, on):
    found = list(pivot(table, second, on=on, **ALL))
    expected = plain(table, second, on) if second != [] else {}
    assert held(found) == {pair: pytest.approx(row) for pair, row in expected.items()}
    order = [(one.source, -one.p_target, one.target) for one in found]
    near = [(source, np.float32(p), target) for source, p, target in order]
    assert near == sorted(near)
    if second is None:
        sums = {}
        for one in found:
            sums[one.source] = sums.get(one.source, 0) + one.p_target
        assert sums == pytest.approx(dict.fromkeys(sums, 1.0))


@given(tables, st.floats(0, 0.99), st.integers(1, 3), st.booleans())
def test_what_is_left_out_is_left_out_after_the_sum(table, min_p, top, identity):
    best = {}
    for (e1, e2), row in plain(table).items():
        if row[0] > min_p * (1 + 1e-9) and (identity or e1 != e2):
            best.setdefault(e1, []).append(row[0])
    kept = {}
    for one in pivot(table, min_p=min_p * (1 + 1e-9), top=top, identity=identity):
        assert identity or one.source != one.target
        kept.setdefault(one.source, []).append(one.p_target)
    assert kept == {
        e1: pytest.approx(sorted(ps, reverse=True)[:top], rel=1e-6) for e1, ps in best.items()
    }


@given(tables, st.none() | tables, st.sampled_from([None, 1, 2]), st.sampled_from([0.0, 0.2]))
def test_by_probability_the_same_paraphrases_come_in_that_order(table, second, top, min_p):
    by_phrase = list(pivot(table, second, top=top, min_p=min_p))
    by_probability = list(pivot(table, second, top=top, min_p=min_p, sort="probability"))
    assert by_probability == sorted(
        by_phrase, key=lambda one: (-np.float32(one.p_target), one.source, one.target)
    )


def test_the_order_by_probability_fits_in_little_memory(tmp_path):
    settings = PivotSettings(top=None, sort="probability")
    with Pivot(folder=str(tmp_path), room=1 << 16) as small, Pivot() as large:
        for made in (small, large):
            p = np.stack([np.linspace(0.001, 1, 150), np.linspace(0.001, 0.01, 150)], axis=1)
            made.add(1, [["f"]] * 150, [[f"e{k}", *"xy"[: k % 3]] for k in range(150)], p)
        lines = ["".join(made.lines(settings)) for made in (small, large)]
    assert lines[0] == lines[1]
    values = [float(line.split("\t")[2]) for line in lines[0].splitlines()]
    assert values == sorted(values, reverse=True)
    assert len(values) > 10_000
    assert not list(tmp_path.iterdir())


def test_the_command_sorts_by_probability(capsys, table, tmp_path):
    plain = run(capsys, "pivot", table).out.splitlines()
    ran = run(capsys, "pivot", table, "--sort", "probability")
    by_probability = ran.out.splitlines()
    assert by_probability != plain
    assert sorted(by_probability) == sorted(plain)
    values = [float(line.split("\t")[2]) for line in by_probability]
    assert values == sorted(values, reverse=True)
    rows = run(capsys, "pivot", table, "--sort", "probability", "--jsonl").out.splitlines()
    texts = [
        "\t".join(map(" ".join, (row["source"], row["target"]))) for row in map(json.loads, rows)
    ]
    assert texts == ["\t".join(line.split("\t")[:2]) for line in by_probability]
    run(capsys, "pivot", table, "--sort", "count").failed("--sort", "probability")
    run(
        capsys,
        "pivot",
        table,
        "--sort",
        "probability",
        "--cluster",
        "local:1",
        "-o",
        tmp_path / "a.tsv",
    ).failed("--sort does not work")


def test_the_example_of_the_formula_by_hand():
    seen = [("f1", "uc", 6), ("f1", "ic", 2), ("f1", "ch", 2), ("f2", "uc", 2), ("f2", "ic", 1)]
    pairs = [((f,), (e,)) for f, e, count in seen for _ in range(count)]
    table = [PhraseEntry(*pair, *row) for pair, row in reference_pivot.phrase_table(pairs).items()]
    found = held(pivot(table))
    assert found[("uc",), ("ic",)] == (pytest.approx(7 / 30), pytest.approx(28 / 45), 2)
    assert found[("uc",), ("ch",)] == (pytest.approx(3 / 20), pytest.approx(6 / 10), 1)
    assert ((("uc",), ("uc",))) not in found
    assert list(pivot(table, min_count=3)) == []


@pytest.mark.parametrize("min_count", [0, 0.5, 1])
def test_a_minimum_of_1_or_less_keeps_all_entries(tmp_path, min_count):
    path = tmp_path / "table.tsv"
    path.write_text("f\ta\t0.25\t0.5\t1\nf\tb\t0.25\t0.5\t1\n")
    expected = [(("a",), ("b",)), (("b",), ("a",))]
    assert [*held(pivot(read_table(path), min_count=min_count))] == expected
    with Pivot() as joined:
        joined.add_file(1, TableFile(str(path), None, ReadOptions()), on="source", min_count=1)
        assert [*held(joined.paraphrases())] == expected


def test_a_higher_minimum_needs_counts(tmp_path):
    path = tmp_path / "table.moses"
    path.write_text("a ||| b ||| 1 1 1 1\n")
    with pytest.raises(OptionError, match="entry 1 has no count"):
        list(pivot(read_table(path), min_count=2))
    assert list(pivot(read_table(path))) == []


def test_memory_changes_nothing(tmp_path, monkeypatch):
    sorted_by = []

    class Seen(Runs):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            sorted_by.append(self)

    monkeypatch.setattr(pivots, "Runs", Seen)
    with Pivot(folder=str(tmp_path), room=1 << 16) as small, Pivot() as large:
        for made in (small, large):
            made.add(
                1,
                [["f"]] * 150 + [["g"]] * 10,
                [[f"e{k}", "x"] for k in range(150)] + [[f"e{k}"] for k in range(10)],
                np.stack([np.full(160, 0.5), np.linspace(0.001, 0.01, 160)], axis=1),
            )
        found = ["".join(made.lines()) for made in (small, large)]
        assert found[0] == found[1]
        assert len(found[0].splitlines()) == 150 * 20 + 10 * 9
        assert (small.tally.paths, small.tally.joined) == (150 * 149 + 90, 150 * 149 + 90)
        assert max(runs.written for runs in sorted_by) > 1 << 20
    assert not list(tmp_path.iterdir())


@pytest.fixture
def table(capsys, tmp_path):
    path = tmp_path / "table.tsv"
    assert run(capsys, "phrases", GOLD, *TEXTS, "--table", "-o", path).code == 0
    return path


def test_from_a_bitext_to_paraphrases(capsys, table):
    entries = list(phrase_table(read_corpus(GOLD, source=TEXTS[1], target=TEXTS[3])))
    assert list(read_table(table)) == entries
    ran = run(capsys, "pivot", table, "--min-p", 0, "--top", 0)
    rows = [line.split("\t") for line in ran.out.splitlines()]
    expected = {pair: row for pair, row in plain(entries).items() if pair[0] != pair[1]}
    assert {
        (tuple(e1.split()), tuple(e2.split())): list(map(float, row)) for e1, e2, *row in rows
    } == {pair: pytest.approx(row, rel=1e-5) for pair, row in expected.items()}
    assert "paths over pivots" in ran.err
    assert "left out" not in ran.err
    ran = run(capsys, "pivot", table, table, "--top", 1, "--jsonl", "--min-count", 2)
    assert "2,328 of 2,368 phrase pairs seen less than 2 times" in ran.err
    ran = run(capsys, "pivot", table, "--top", 1, "--jsonl")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert rows[0].keys() == {"source", "target", "p_target", "p_source", "pivots"}
    assert "beyond the best 1" in ran.err


def test_a_table_of_moses_says_the_same(capsys, table, tmp_path):
    moses = tmp_path / "phrase-table.gz"
    with gzip.open(moses, "wt", encoding="utf-8") as file:
        for one in read_table(table):
            file.write(
                f"{' '.join(one.source)} ||| {' '.join(one.target)} ||| {one.p_source} 0.1 "
                f"{one.p_target} 0.1 ||| 0-0 ||| 9 9 {one.count}\n"
            )
    for words in (("--on", "target", "--min-count", 2), ("--identity", "--min-p", 0.1)):
        ours, theirs = (run(capsys, "pivot", path, *words).out for path in (table, moses))
        assert ours == theirs != ""


def test_odd_words_do_not_change_the_format(capsys, tmp_path):
    path = tmp_path / "table"
    for word in ("{", "|||", "a -> b", "[X]"):
        path.write_text(f"{word}\t{word} a\t1\t1\t1\n{word}\tb\t1\t1\t1\n")
        assert f"b\t{word} a\t1\t1\t1\n" in run(capsys, "pivot", path, "--top", 1).out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a\tb\t1\t1", "tab-separated columns, not 4"),
        ("\tb\t1\t1\t1", "source phrase is empty"),
        ("a\t\t1\t1\t1", "target phrase is empty"),
        ("a\tb\tx\t1\t1", "the count is 'x'"),
        ("a\tb\tnan\t1\t1", "the count is 'nan'"),
        ("a\tb\t1\t0\t1", "expected a number above 0"),
        ("a\tb\t1\t1\t1.5", "p(source | target) is '1.5'"),
        ("a\x00\tb\t1\t1\t1", "control character"),
        ("a ||| b ||| 1", "expected 5 tab-separated columns"),
    ],
)
def test_damaged_tables_are_told_with_their_line(capsys, tmp_path, line, told):
    path = tmp_path / "table.tsv"
    path.write_text(f"a\tb\t1\t1\t1\n{line}\n", "utf-8")
    run(capsys, "pivot", path).failed(f"{path}:2", told)
    refuses(FormatError, None, lambda: list(read_table(path)))


def test_what_cannot_be_joined_is_told(capsys, tmp_path, table):
    moses = tmp_path / "moses"
    for line, words, told in (
        ("a ||| b ||| 1 1", (), f"{moses}:1: expected source ||| target ||| scores"),
        ("a |||  ||| 1 1 1", (), "the target phrase is empty"),
        ("a ||| b ||| 1 1 1", ("--min-count", 2), f"{moses}:1: the line has no count"),
        ("a ||| b ||| 1 1 1", ("--table-format", "tsv"), "expected 5 tab-separated columns"),
        ("", (), "expected 5 tab-separated columns, not 1"),
    ):
        moses.write_text(line + "\n")
        run(capsys, "pivot", moses, *words).failed(told)
    moses.write_text("")
    run(capsys, "pivot", moses).failed("no phrase pairs")
    run(capsys, "pivot", table, "--min-p", 2).failed("min", "from 0 to 1")
    run(capsys, "pivot", table, "--min-p", "nan").failed("from 0 to 1")
    run(capsys, "pivot", "-", "-").failed("read once only")
    moses.write_text("a\tb\t1\t1\t1\na\tb\t1\t1\t1\nc\td\t1\t1\t1\n")
    assert "1 phrase pairs are repeated" in run(capsys, "pivot", moses).err
    for wrong in ({"on": "left"}, {"min_p": -1}, {"top": 0}, {"top": "x"}):
        refuses(AlignkitError, None, pivot, [], **wrong)
    refuses(ArgumentError, "table", lambda: list(pivot([("a", "b")])))
