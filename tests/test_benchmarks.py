"""The benchmarks' plain implementations give what alignkit gives: times alone are compared."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from alignkit import Alignment, extract_phrases, symmetrize
from alignkit.cli import main
from alignkit.scoring import link_ratios

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def benchmarks() -> SimpleNamespace:
    """Return the modules of `benchmarks/`, which is no part of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        patch.delenv("ALIGNKIT_DATA", raising=False)
        from benchmarks import clock, material, plain, plain_phrases, plain_pivot, plain_score

        yield SimpleNamespace(
            **{
                module.__name__.split(".")[1]: module
                for module in (clock, material, plain, plain_phrases, plain_pivot, plain_score)
            }
        )


@pytest.fixture(scope="module")
def material(benchmarks, tmp_path_factory):
    """Return the files of 200 synthetic sentence pairs."""
    return benchmarks.material.make_material(200, tmp_path_factory.mktemp("cache"))


def links(material, name: str) -> list[Alignment]:
    return [Alignment.parse(line) for line in Path(material.file(name)).read_text().splitlines()]


def test_material_is_synthetic_where_there_is_no_data_and_is_made_once(benchmarks, material):
    assert "synthetic" in material.name
    again = benchmarks.material.make_material(200, material.folder.parent)
    assert again == material
    assert len(links(material, "hypothesis")) == 200
    assert any("?" in str(alignment) for alignment in links(material, "reference"))


def test_repeated_and_spread_files_hold_the_lines_they_promise(benchmarks, material):
    whole = Path(material.file("source")).read_text()
    assert Path(material.repeated("source")).read_text() == whole * benchmarks.material.TIMES
    assert Path(material.spread("source", 20)).read_text().splitlines() == whole.splitlines()[::10]


def test_plain_reading_agrees(benchmarks, material):
    found = benchmarks.plain.read_links(material.file("reference"))
    assert found == [(one.sure, one.possible) for one in links(material, "reference")]


def test_plain_symmetrization_agrees(benchmarks, material):
    for forward, reverse in zip(
        links(material, "forward"), links(material, "reverse"), strict=True
    ):
        found = benchmarks.plain.grow_diag_final_and(set(forward), set(reverse))
        assert found == symmetrize(forward, reverse, "grow-diag-final-and").sure


@pytest.mark.parametrize("name", ["forward", "hypothesis", "reference"])
def test_plain_extraction_agrees(benchmarks, material, name):
    for alignment in links(material, name):
        expected = {(*pair[:4],): pair.atomic for pair in extract_phrases(alignment)}
        found = benchmarks.plain.phrases(alignment)
        assert list(found.items()) == list(expected.items())


@pytest.mark.parametrize("level", ["links", "both"])
def test_plain_score_agrees(benchmarks, material, level, capsys):
    files = material.file("hypothesis"), material.file("reference")
    assert main(["score", *files, "--level", level, "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    found = benchmarks.plain_score.plain(benchmarks.plain_score.score(*files, level))
    same(found["links"], expected["links"])
    for kind, part in found.get("phrases", {}).items():
        same(part, expected["phrases"][kind])
    assert ("phrases" in found) == (level == "both")


def test_plain_score_agrees_where_nothing_is_shared(benchmarks):
    for counts in ([0, 0, 0, 0], [2, 0, 0, 0], [0, 2, 0, 0], [2, 2, 0, 0], [0, 2, 0, 1]):
        theirs = link_ratios(np.array([[counts[0], 0, counts[1], 0, *counts[2:], 0, 0]]))
        found = benchmarks.plain_score.link_measures(counts)
        assert found == pytest.approx({name: theirs[name][0] for name in found}, nan_ok=True)


def same(found: dict[str, float], expected: dict[str, float]) -> None:
    assert found == pytest.approx({name: expected[name] for name in found})


def test_plain_phrases_writes_the_same_file(benchmarks, material, tmp_path):
    hyp, source, target = (material.file(name) for name in ("hypothesis", "source", "target"))
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    assert main(["phrases", hyp, "--source", source, "--target", target, "-o", ours]) == 0
    benchmarks.plain_phrases.write_phrases(hyp, source, target, theirs)
    assert Path(theirs).read_text() == Path(ours).read_text()


def test_plain_pivot_finds_the_same_paraphrases(benchmarks, material, tmp_path):
    hyp, source, target = (material.file(name) for name in ("hypothesis", "source", "target"))
    table, ours, plain, theirs = (str(tmp_path / name) for name in ("t", "o", "p", "q"))
    texts = ["--source", source, "--target", target, "-o", table]
    assert main(["phrases", hyp, *texts, "--table", "--max-length", "7"]) == 0
    assert main(["pivot", table, "-o", ours]) == 0
    benchmarks.plain_pivot.main(hyp, source, target, plain, theirs)

    def rows(path):
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        parts = [line.split("\t") for line in lines]
        return {tuple(row[:2]): list(map(float, row[2:])) for row in parts}

    assert rows(table) == rows(plain) != {}
    near = {pair: pytest.approx(row, rel=1e-5) for pair, row in rows(theirs).items()}
    assert rows(ours) == near != {}


def test_a_process_is_watched(benchmarks):
    measured = benchmarks.clock.watched(["alignkit", "--version"])
    assert measured.seconds > 0
    assert measured.peak is None or measured.peak > 1e6


def test_a_process_that_fails_ends_the_benchmark(benchmarks):
    with pytest.raises(SystemExit, match="failed: python -m alignkit score nowhere nowhere"):
        benchmarks.clock.watched(["alignkit", "score", "nowhere", "nowhere"])


def test_the_command_says_what_it_takes():
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--quick" in ran.stdout
