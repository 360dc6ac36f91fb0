"""Figures for papers and pages: true to the data, the same each time, loaded only to draw."""

import re
import subprocess
import sys

import pytest
from agreement_corpora import make_corpus
from lxml import etree

from alignkit.agreement import agree
from alignkit.agreement.plots import LEVEL_TITLES, draw_plots
from alignkit.errors import OptionError
from alignkit.show.canvas import Axis, canvas, ending
from alignkit.show.charts import points

SVG = "{http://www.w3.org/2000/svg}"
STARTS = {"pdf": b"%PDF-", "png": b"\x89PNG", "svg": b"<?xml"}
FOUND = agree(make_corpus(12), initial="initial", samples=20, resamples=30)


@pytest.mark.parametrize("kind", STARTS)
def test_a_figure_is_drawn_by_its_ending_and_the_same_each_time(kind, tmp_path):
    paths = [tmp_path / f"{name}.{kind}" for name in "ab"]
    for path in paths:
        draw_plots(FOUND, str(path))
    first, second = (path.read_bytes() for path in paths)
    assert first.startswith(STARTS[kind])
    assert first == second
    assert b"matplotlib v" not in first.lower()
    assert not re.search(rb"CreationDate|<dc:date|Software", first)


def test_the_text_of_a_figure_is_text_and_its_numbers_are_the_agreements(tmp_path):
    path = tmp_path / "fig.svg"
    draw_plots(FOUND, str(path))
    said = ["".join(one.itertext()) for one in etree.parse(path).iter(f"{SVG}text")]
    pairing = FOUND.of("annotators")[0]
    for level, title in LEVEL_TITLES.items():
        one = pairing.main(level)
        interval = f"[{one.interval.low:.3f}, {one.interval.high:.3f}]"
        assert f"{one.C:.3f} {interval}" in said
        f1 = pairing.sections[0].figures[f"{level}.f1"]
        bounds = pairing.sections[0].intervals[f"{level}.f1"]
        assert f"{f1:.3f} [{bounds.low:.3f}, {bounds.high:.3f}]" in said
        assert title in said


def test_all_pairings_and_their_kinds_are_in_it(tmp_path):
    corpus = make_corpus(6, names=("anna", "ben", "cleo", "gold"))
    found = agree(
        corpus, ["anna", "ben", "cleo"], adjudicated="gold", bootstrap="none", initial="initial",
        samples=10,
    )  # fmt: skip
    draw_plots(found, str(tmp_path / "fig.svg"))
    said = (tmp_path / "fig.svg").read_text(encoding="utf-8")
    for one in found.pairings:
        name = f"{one.first} ~ others" if one.kind == "consensus" else one.name
        assert (name in said) == (one.kind != "automatic")
    assert "the adjudicated version" in said


@pytest.mark.parametrize("path", ["fig.jpg", "fig", "fig.svg.gz", "-"])
def test_other_endings_are_refused_with_those_that_are_known(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=r"\.pdf, \.png, \.svg"):
        draw_plots(FOUND, path)
    assert not list(tmp_path.iterdir())


def test_endings_are_known_in_capitals_too():
    assert [ending(path) for path in ("a.PDF", "b.Png", "c.d/e.svg")] == ["pdf", "png", "svg"]


def test_many_points_are_put_together_and_none_is_lost():
    data = {(x, y): 1 for x in range(100) for y in range(100)}
    axes = Axis(0, 100, "x"), Axis(0, 100, "y")
    image = points("n", "t", data, [], second=True, across=axes[0], up=axes[1])
    notes = re.findall(r"<title>about [^<]*: (\d+) pairs?</title>", image)
    assert sum(map(int, notes)) == 10_000
    assert len(notes) < 2500


def test_names_that_no_font_knows_and_formulas_are_text():
    with canvas(100, 100) as figure:
        figure.text(5, 50, "$x_1$ \u6f22\u5b57 \U0001f600 \u0627\u0644 <b>")
        image = figure.image("n", "t", "s", {})
    said = "".join(etree.fromstring(image).itertext())
    assert "$x_1$ \u6f22\u5b57 \U0001f600 \u0627\u0644 <b>" in said


def test_nothing_loads_matplotlib_or_jinja_before_it_draws():
    code = (
        "import sys, alignkit, alignkit.agreement, alignkit.cli.main, alignkit.agreement.plots, "
        "alignkit.agreement.page, alignkit.agreement.result; "
        "print(sorted({'matplotlib', 'jinja2'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
