"""`alignkit score`: CSV, LaTeX, Markdown, plots, groups that overlap, several systems."""

import csv
import io
from dataclasses import replace

import pytest
from command import EFLOMAL, FAST, GOLD, PARAPHRASES, made, run, write
from lxml import etree

from alignkit import compare, read_corpus, score
from alignkit.scoring import score_records
from alignkit.tables.columns import Value

ANNA = ["score", PARAPHRASES, PARAPHRASES, "--hyp-annotator", "anna", "--ref-annotator", "gold"]
FEW = ["--resamples", "50"]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_row_for_each_figure(capsys):
    given = ["score", EFLOMAL, GOLD, "--compare", FAST, "--ci", *FEW]
    rows, found = rows_of(run(capsys, *given, "--csv").out), run(capsys, *given, "--json").json
    scores = {
        (row["system"], row["level"], row["measure"]): row for row in rows if row["kind"] == "score"
    }
    f1, low = (float(scores["eflomal", "links", "f1"][name]) for name in ("value", "low"))
    assert (f1, low) == (found["links"]["f1"], found["intervals"]["links"]["f1"]["low"])
    count = next(
        row
        for row in rows
        if (row["system"], row["level"], row["measure"]) == ("fast_align", "links", "hyp_sure")
    )
    assert int(count["value"]) == found["systems"]["fast_align"]["links"]["counts"]["hyp_sure"]
    differences = [row for row in rows if row["kind"] == "difference"]
    assert len(differences) == len(found["comparisons"])
    for row, one in zip(differences, found["comparisons"], strict=True):
        assert (row["system"], row["against"]) == ("fast_align", "eflomal")
        assert float(row["value"]) == one["difference"]
        assert float(row["randomization_holm"]) == one["randomization_holm"]
    assert rows[-1]["kind"] == "signature"
    assert "resamples:50" in rows[-1]["text"]


def test_csv_of_groups_and_pairs(capsys):
    rows = rows_of(run(capsys, *ANNA, "--by", "genre", "--per-pair", "--csv").out)
    assert {row["group"] for row in rows if row["kind"] == "group"} == {"news", "novel", "question"}
    assert {row["by"] for row in rows if row["kind"] == "pair"} == {"id"}
    assert len({row["group"] for row in rows if row["kind"] == "pair"}) == 64


@pytest.mark.parametrize(("medium", "sign"), [("latex", r"\toprule"), ("markdown", "| links")])
def test_tables_in_other_media(capsys, medium, sign):
    ran = run(capsys, *ANNA, "--by", "genre", f"--{medium}")
    assert ran.out.count(sign) >= 2 if medium == "latex" else sign in ran.out
    assert all(text in ran.out for text in ("64 sentence pairs", "links:given"))
    run(capsys, *ANNA, "--json", "--latex").failed("not allowed with argument")


def test_several_values_in_one_attribute(capsys):
    alone = run(capsys, *ANNA, "--by", "phenomena", "--json").json["groups"] * 3  # levels
    ran = run(capsys, *ANNA, "--by", "phenomena", "--split", ",", "--json")
    groups = [row for row in ran.json["groups"] if row["level"] == "links"]
    assert len(groups) < len(alone) / 3
    corpus = read_corpus(PARAPHRASES, format="alignkit-jsonl")
    sizes = {name: len(part) for name, part in corpus.groups("phenomena", split=",").items()}
    assert {row["phenomena"]: row["pairs"] for row in groups} == sizes
    assert sum(row["pairs"] for row in groups) > 64
    records = score_records(corpus, "anna", "gold", by="phenomena", split=",")
    assert [row["f1"] for row in records] == [row["f1"] for row in groups]
    several = sum("," in pair.attributes.get("phenomena", "") for pair in corpus)
    told = f"groups overlap: {several} of 64 sentence pairs have several values of phenomena"
    assert told in " ".join(run(capsys, *ANNA, "--by", "phenomena", "--split", ",").out.split())
    assert told in ran.json["overlap"]
    assert "overlap" not in run(capsys, *ANNA, "--by", "genre").out
    run(capsys, *ANNA, "--by", "genre", "--split", "").failed("--split is empty")


def test_three_systems_have_short_names_and_all_pairs(capsys, tmp_path):
    third = write(tmp_path, "third.align", "0-0\n" * 52)
    given = ["score", EFLOMAL, GOLD, "--compare", FAST, third, *FEW]
    ran = run(capsys, *given)
    lines = ran.out.splitlines()
    assert lines[0].startswith("Links, 52 sentence pairs, percent")
    assert [line.split()[0] for line in lines[2:5]] == ["eflomal", "fast_align", "third"]
    assert max(map(len, lines[:6])) <= 100
    assert not ({GOLD, third} & set(ran.out.split()))
    after = run(capsys, *given, "--tables", "differences").out
    for pair in (("fast_align", "eflomal"), ("third", "eflomal"), ("third", "fast_align")):
        assert any(line.split()[:2] == list(pair) for line in after.splitlines())


def test_systems_are_named_by_name_and_file(capsys, tmp_path):
    odd = write(tmp_path, "a=b.align", "0-0\n" * 52)
    given = "score", f"one={EFLOMAL}", GOLD, "--compare", f"two={FAST}", odd, *FEW
    lines = run(capsys, *given).out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["one", "two", "a=b"]
    run(capsys, *given[:4], f"one={FAST}").failed("the same name", "NAME=FILE")
    run(capsys, *given[:4], EFLOMAL).failed("named twice")
    run(capsys, *given, "--tables", "system").failed("did you mean 'systems'")
    run(capsys, *given[:3], "--tables", "systems").failed("several systems")


@pytest.mark.parametrize("systems", [[EFLOMAL], [EFLOMAL, FAST]])
def test_plots_hold_the_numbers_of_the_table(capsys, tmp_path, systems):
    path = tmp_path / "figure.svg"
    more = ["--compare", *systems[1:]] if systems[1:] else []
    given = ["score", systems[0], GOLD, *more, *FEW, "--level", "both"]
    found = run(capsys, *given, "--plot", path, "--json").json
    texts = etree.parse(path).iter("{http://www.w3.org/2000/svg}text")
    said = {"".join(text.itertext()) for text in texts}
    assert {"P (%)", "R (%)", "F1 (%)", "AER (%)"} <= said
    assert said >= ({"eflomal", "fast_align"} if systems[1:] else {"links", "phrases, sure"})
    first = score(systems[0], GOLD, level="both").with_intervals(resamples=50)
    if systems[1:]:
        named = {"first": first, "second": score(systems[1], GOLD, level="both")}
        first = replace(first, intervals=compare(named, resamples=50).intervals["first"])
    scored = first.plot()
    assert [panel.label[:-4] for panel in scored.panels] == ["P", "R", "F1", "AER"]
    for panel, name in zip(scored.panels, ("precision", "recall", "f1"), strict=False):
        bounds = found["intervals"]["phrases"]["sure"][name]
        ends = found["phrases"]["sure"][name], bounds["low"], bounds["high"]
        assert [Value(*ends)] == panel.values[2]
    first = path.read_bytes()
    run(capsys, *given, "--plot", path)
    assert path.read_bytes() == first


def test_a_plot_is_drawn_by_the_ending_of_its_file(capsys, tmp_path):
    given = ["score", EFLOMAL, GOLD, *FEW, "--aggregate", "macro"]
    for name, start in (("a.pdf", b"%PDF-"), ("a.png", b"\x89PNG")):
        made(capsys, *given, "--plot", tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    width = int.from_bytes((tmp_path / "a.png").read_bytes()[16:20], "big")
    assert width >= 2000  # pixels, for a slide
    run(capsys, *given, "--plot", tmp_path / "figure.jpg").failed(".pdf, .png, .svg")
