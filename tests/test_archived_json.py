"""The JSON of agree and score holds all that their reports say, so that a paper can archive it."""

import csv
import io
from pathlib import Path

import pytest
from command import EFLOMAL, FAST, GOLD, PARAPHRASES, made, write

from alignkit.version import __version__

DRAWS = ("--resamples", "20")
TWO = ("--annotators", "anna", "ben", "--initial", "eflomal")
AGREE = ("agree", PARAPHRASES, *TWO, "--samples", "20", *DRAWS)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def number(text):
    return float(text) if text else None


def test_of_agree_each_figure_caution_and_setting(capsys):
    """The CSV has a row for each figure of the report: all are in the JSON, with their bounds."""
    archived = made(capsys, *AGREE, "--json").json
    rows = rows_of(made(capsys, *AGREE, "--csv").out)
    figures = {}
    for between in archived["figures"]:
        for section, levels in between["sections"].items():
            for level, statistics in levels.items():
                for statistic, figure in statistics.items():
                    who = (between["kind"], between["first"], between["second"])
                    figures[(*who, section, level, statistic)] = figure
    compared = 0
    for row in rows:
        if row["kind"] in ("caution", "signature"):
            continue
        names = ("kind", "first", "second", "section", "level", "statistic")
        figure = figures[tuple(row[name] for name in names)]
        for name in ("value", "low", "high"):
            assert figure.get(name) == number(row[name]), row
        compared += 1
    assert compared == len(figures) > 50
    report = made(capsys, *AGREE, "--all").out
    assert archived["cautions"]
    for caution in archived["cautions"]:
        assert caution["code"] in {row["statistic"] for row in rows if row["kind"] == "caution"}
    assert "".join(archived["signature"].split()) in "".join(report.split())
    assert archived["signature"].endswith(f"version:{__version__}")


@pytest.fixture
def scoring(tmp_path):
    """The words of a command that compares two systems on so few pairs that it warns."""
    few = []
    for path in (EFLOMAL, GOLD, FAST):
        lines = Path(path).read_text("utf-8").splitlines()[:20]
        few.append(write(tmp_path, Path(path).name, "\n".join(lines)))
    system, gold, other = few
    return ("score", f"eflomal={system}", gold, "--compare", f"fast_align={other}", "--ci", *DRAWS)


def test_of_score_each_measure_caution_and_setting(capsys, scoring):
    archived = made(capsys, *scoring, "--json").json
    rows = rows_of(made(capsys, *scoring, "--csv").out)
    differences = {(each["measure"], each["system"]): each for each in archived["comparisons"]}
    measures = 0
    for row in rows:
        if row["kind"] == "score":
            system = archived["systems"][row["system"]]
            held = system["links"] | system["links"]["counts"] | system
            assert held[row["measure"]] == number(row["value"]), row
            if row["low"]:
                bounds = system["intervals"]["links"][row["measure"]]
                assert [bounds["low"], bounds["high"]] == [number(row["low"]), number(row["high"])]
            measures += 1
        elif row["kind"] == "difference":
            difference = differences[row["measure"], row["system"]]
            assert difference["difference"] == number(row["value"])
            assert difference["bootstrap_holm"] == number(row["bootstrap_holm"])
    assert measures > 20
    cautions = [row["text"] for row in rows if row["kind"] == "caution"]
    assert archived["cautions"] == cautions
    assert len(cautions) > 0
    assert archived["signature"] in made(capsys, *scoring).out
    assert archived["signature"].endswith(f"version:{__version__}")
