"""Ranks of phenomena and systems: Friedman's test, Nemenyi's difference, the printed table."""

import struct
from collections import Counter
from itertools import combinations
from math import isnan, sqrt

import numpy as np
import pytest
from command import run, write
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2, studentized_range

from alignkit.errors import FormatError, OptionError, UnknownNameError
from alignkit.scoring import Measured, rank, read_measured
from alignkit.stats import critical_difference, friedman

OVERALL = ["OVERALL ACC."]
TABLE = "p\tA\tB\tC\nidiom\t.5\t70%\t-\nnumber\t.6\t.8\t.9\ntense\t.4\t.5\t.3\n"


def plain_ranks(row):
    """Return the ranks of the highest first, ties sharing their mean."""
    return [sum(b > a for b in row) + (sum(b == a for b in row) + 1) / 2 for a in row]


def tables():
    shapes = st.tuples(st.integers(2, 6), st.integers(2, 6))
    few = st.integers(0, 4).map(lambda k: k / 4)
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=few))


@given(tables())
def test_friedman_is_that_of_its_definition(values):
    blocks, k = values.shape
    names = [str(number) for number in range(k)]
    found = friedman(values, names)
    ranks = [plain_ranks(row) for row in values.tolist()]
    means = [sum(column) / blocks for column in zip(*ranks, strict=True)]
    assert found.mean_ranks == pytest.approx(means)
    apart = sum((mean - (k + 1) / 2) ** 2 for mean in means)
    assert found.uncorrected == pytest.approx(12 * blocks / (k * (k + 1)) * apart, abs=1e-9)
    spread = sum((one - (k + 1) / 2) ** 2 for row in ranks for one in row)
    if spread:
        corrected = blocks**2 * (k - 1) * apart / spread
        assert found.statistic == pytest.approx(corrected, abs=1e-9)
        assert found.p_value == pytest.approx(chi2.sf(corrected, k - 1))
    else:
        assert (isnan(found.statistic), found.reason) == (True, "all tie in every block")
    beyond = {
        frozenset((a, b))
        for a, b in combinations(range(k), 2)
        if abs(means[a] - means[b]) > found.critical_difference
    }
    assert {frozenset((int(a), int(b))) for a, b, _ in found.beyond()} == beyond
    assert {
        frozenset((int(a), int(b))) for group in found.groups() for a, b in combinations(group, 2)
    } == set(map(frozenset, combinations(range(k), 2))) - beyond
    assert friedman(-values, names, lower_is_better=True).mean_ranks == found.mean_ranks


@pytest.mark.parametrize(
    ("k", "q"),
    [
        (2, 1.960),
        (3, 2.343),
        (4, 2.569),
        (5, 2.728),
        (6, 2.850),
        (7, 2.949),
        (8, 3.031),
        (9, 3.102),
        (10, 3.164),
    ],
)
def test_critical_values_are_those_of_demsar_2006_table_5(k, q):
    assert critical_difference(k, 12) == pytest.approx(q * sqrt(k * (k + 1) / 72), abs=2e-3)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)  # their worked example
    theirs = studentized_range.ppf(0.9, k, np.inf) / sqrt(2)
    assert critical_difference(k, 6, 0.1) == pytest.approx(theirs * sqrt(k * (k + 1) / 36))


@pytest.mark.real_data
def test_the_ranks_of_a_published_table(data, capsys, tmp_path):
    path = data / "kovatchev" / "table3.tsv"
    found = rank(read_measured(path, leave_out=OVERALL))
    one = found.phenomena
    assert (len(one.names), one.blocks) == (27, 11)
    assert one.statistic == pytest.approx(198.23496, abs=5e-6)
    assert one.uncorrected == pytest.approx(197.3218, abs=5e-5)
    assert one.p_value == pytest.approx(1.917e-28, rel=5e-4)
    assert one.critical_difference == pytest.approx(12.51035, abs=5e-6)
    assert (len(one.beyond()), one.pairs) == (74, 351)
    apart = Counter(name for a, b, _ in one.beyond() for name in (a, b))
    assert [count for _, count in apart.most_common(3)] == [12, 12, 10]
    two = found.systems
    assert two.statistic == pytest.approx(41.5744, abs=5e-5)
    assert two.p_value == pytest.approx(8.925e-6, rel=5e-4)
    assert two.critical_difference == pytest.approx(2.9054, abs=5e-5)
    best = [(name, round(mean, 2)) for name, mean in two.ranking[:3]]
    assert (best, len(two.beyond())) == ([("S11", 2.59), ("S2", 5.24), ("S4", 5.78)], 9)
    few = [*OVERALL, "Opp. pol. sub. (hab.)", "Negation switching"]
    less = rank(read_measured(path, leave_out=few)).phenomena
    assert less.statistic == pytest.approx(184.75, abs=0.005)
    assert less.critical_difference == pytest.approx(11.479, abs=5e-4)
    assert (len(less.beyond()), less.pairs) == (63, 300)
    ran = run(capsys, "profile", "--table", path, "--leave-out", *OVERALL, "--json")
    assert ran.json["tests"][1]["chi2"] == one.statistic
    assert "is unknown" in run(capsys, "profile", "--table", path).out
    assert "'OVERALL ACC.' may not" in run(capsys, "profile", "--table", path).out


def test_what_cannot_be_ranked_is_left_out_and_told(tmp_path):
    measured = read_measured(write(tmp_path, "t.tsv", TABLE))
    assert measured.values[0, :2].tolist() == [0.5, 0.7]
    found = rank(measured)
    assert (found.missing, found.systems.blocks) == (("idiom",), 2)
    assert "(a value missing): idiom" in str(found)
    few = rank(
        Measured(("a", "b", "c"), ("x", "y"), measured.values[1:].repeat(2, 0)[:3, :2], (9, 10, 11))
    )
    assert (few.few, few.phenomena.names) == (("a",), ("b", "c"))
    assert "is unknown" not in str(few)
    one = rank(Measured(("a",), ("x", "y"), np.array([[0.1, 0.2]])))
    assert one.systems.reason == "2 to rank in 1 blocks; at least two of both are needed"
    assert one.systems.reason in str(one)
    assert rank(Measured((), ("x",), np.empty((0, 1)))).systems.beyond() == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", None),
        ("p\tA\tA\nx\t1\t2\n", 1),
        ("p\nx\n", 1),
        ("p\tA\nx\t1\t2\n", 2),
        ("p\tA\nx\tone\n", 2),
        ("p\tA\tB\nx\t50%\t60\n", 2),
        ("p\tA\nx\t1\nx\t2\n", 3),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(tmp_path, text, line):
    with pytest.raises(FormatError) as caught:
        read_measured(write(tmp_path, "t.tsv", text))
    assert caught.value.line == line


def test_what_makes_no_sense_is_refused(tmp_path, capsys):
    path = write(tmp_path, "t.tsv", TABLE)
    for call in (
        lambda: read_measured(path, leave_out=["idion"]),
        lambda: read_measured(path, leave_out=["idiom", "number", "tense"]),
        lambda: rank(read_measured(path), alpha=0),
        lambda: friedman(np.array([[1, np.nan]]), ["a", "b"]),
        lambda: friedman(np.ones((2, 2)), ["a", "b", "c"]),
    ):
        with pytest.raises((OptionError, UnknownNameError)):
            call()
    run(capsys, "profile", "--table", path, "--plot", tmp_path / "x.gif").failed(".gif", ".svg")
    run(capsys, "profile", "--table", tmp_path / "none").failed("none")
    run(capsys, "profile", "--table", path, "--plot", path).failed("also read")


@pytest.mark.parametrize("kind", ["pdf", "png", "svg"])
def test_figures_are_drawn_and_the_same_each_time(kind, tmp_path, capsys):
    path = write(tmp_path, "t.tsv", TABLE)
    made = []
    for name in "ab":
        plots = [tmp_path / f"{name}-{which}.{kind}" for which in ("cd", "heat")]
        ran = run(capsys, "profile", "--table", path, "--plot", plots[0], "--heat-map", plots[1])
        assert ran.code == 0, ran.err
        made.append([plot.read_bytes() for plot in plots])
    assert made[0] == made[1]
    if kind == "png":
        assert all(struct.unpack(">I", plot[16:20])[0] >= 2000 for plot in made[0])
    if kind == "svg":
        assert b"critical difference" in made[0][0]
        assert b"70.0" in made[0][1]


@pytest.mark.parametrize(
    ("systems", "blocks", "told"),
    [(2, 2, "p 0.50"), (2, 5, "p 0.06"), (2, 6, ""), (3, 2, "p 0.17"), (3, 4, ""), (9, 2, "")],
)
def test_too_few_to_tell_anything(systems, blocks, told):
    found = friedman(np.tile(np.arange(systems), (blocks, 1)), [str(k) for k in range(systems)])
    assert (told in found.too_few) if told else (not found.too_few or "at most" in found.too_few)
    if not told:
        assert found.p_value <= 0.05
    assert ("at most" in found.too_few) == (not told and found.critical_difference >= systems - 1)


@pytest.mark.parametrize(
    ("text", "said", "doubt"),
    [
        ("x\t.5\t.6\ny\t40%\t.7\n", "shown as percentages", False),
        ("x\t50\t60\ny\t40\t.7\n", "unchanged, not as shares", False),
        ("x\t.5\t1.7\ny\t.4\t.7\n", "not 1.7 (x, B)", True),
        ("x\t50\t170\ny\t40\t70\n", "from 0 to 100, but not 170 (x, B)", True),
        ("x\t50%\t170%\ny\t40%\t70%\n", "1.7 (x, B)", True),
    ],
)
def test_how_a_printed_table_is_read_is_told(tmp_path, capsys, text, said, doubt):
    path = write(tmp_path, "t.tsv", f"p\tA\tB\n{text}")
    shown = " ".join(run(capsys, "profile", "--table", path).out.split())
    assert said in shown
    assert ("check the table" in shown) == doubt


@pytest.mark.parametrize(
    "given",
    [
        ("--by", "phenomena"),
        ("--split", ","),
        ("--compare", "b"),
        ("--seed", "7"),
        ("--base", "1"),
        ("--hyp-annotator", "a"),
        ("--in-order",),
        ("--trials", "9"),
        ("--view", "binary"),
    ],
)
def test_what_has_no_meaning_for_a_printed_table_is_refused_by_name(given, tmp_path, capsys):
    path = write(tmp_path, "t.tsv", TABLE)
    run(capsys, "profile", "--table", path, *given).failed(f"{given[0]} does not work")


def test_the_worst_stands_first_in_figures(tmp_path, capsys):
    path = write(tmp_path, "t.tsv", TABLE)
    page, heat = tmp_path / "p.html", tmp_path / "h.svg"
    run(capsys, "profile", "--table", path, "--html", page, "--heat-map", heat)
    text, drawn = page.read_text("utf-8"), heat.read_text("utf-8")
    assert drawn.index("tense") < drawn.index("idiom") < drawn.index("number")
    assert text.index("rank 1 is the") < text.index("Read with care") < text.index("<svg")
    many = "p\tA\tB\tC\n" + "".join(f"x{k}\t.{k + 10}\t.{k + 11}\t.{k + 12}\n" for k in range(12))
    path = write(tmp_path, "m.tsv", many)
    lower = rank(read_measured(path, lower_is_better=True)).measured.worst_first()
    assert lower.phenomena[0] == "x11"
