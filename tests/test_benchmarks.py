"""The benchmarks' plain implementations give what alignkit gives; aligners are compared fairly."""

from __future__ import annotations

import ast
import json
import re
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command import write

from alignkit import Alignment, extract_phrases, symmetrize
from alignkit.cli import main
from alignkit.scoring import link_ratios

ROOT = Path(__file__).parent.parent
A3 = """\
# Sentence pair (2) source length 3 target length 3 alignment score : 0.1
the old house
NULL ({ 2 }) la ({ 1 }) vieille ({ }) maison ({ 2 3 })
# Sentence pair (4) source length 1 target length 1 alignment score : 0.1
({
NULL ({ }) ({ ({ 1 })
"""


@pytest.fixture(scope="module")
def benchmarks() -> SimpleNamespace:
    """Return the modules of `benchmarks/`, which is no part of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        patch.delenv("ALIGNKIT_DATA", raising=False)
        names = ("aligners", "clock", "material", "peer_mgiza", "peers", "plain", "plain_phrases")
        names += ("plain_pivot", "plain_score")
        yield SimpleNamespace(**{name: import_module(f"benchmarks.{name}") for name in names})


@pytest.mark.parametrize("path", sorted(ROOT.glob("benchmarks/*.py")), ids=lambda path: path.stem)
def test_every_benchmark_finds_what_it_imports(path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    for module in imported_from(path):
        names = import_module(module[0])
        for name in module[1]:
            if not hasattr(names, name):
                import_module(f"{module[0]}.{name}")


def imported_from(path: Path) -> list[tuple[str, list[str]]]:
    """Return what a file imports from the package and the benchmarks: modules and their names."""
    imported = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        module = getattr(node, "module", None) or ""
        if module.partition(".")[0] in ("alignkit", "benchmarks"):
            imported.append((module, [alias.name for alias in node.names]))
    return imported


@pytest.fixture(scope="module")
def material(benchmarks, tmp_path_factory):
    """Return the files of 200 synthetic sentence pairs."""
    return benchmarks.material.make_material(200, tmp_path_factory.mktemp("cache"))


def links(material, name: str) -> list[Alignment]:
    return [
        Alignment.parse(line)
        for line in Path(material.file(name)).read_text(encoding="utf-8").splitlines()
    ]


def test_material_is_synthetic_without_data_made_once_and_as_long_as_promised(benchmarks, material):
    assert "synthetic" in material.name
    assert benchmarks.material.make_material(200, material.folder.parent) == material
    assert len(links(material, "hypothesis")) == 200
    assert any("?" in str(alignment) for alignment in links(material, "reference"))
    whole = Path(material.file("source")).read_text(encoding="utf-8")
    assert (
        Path(material.repeated("source")).read_text(encoding="utf-8")
        == whole * benchmarks.material.TIMES
    )
    assert (
        Path(material.spread("source", 20)).read_text(encoding="utf-8").splitlines()
        == whole.splitlines()[::10]
    )


def test_plain_reading_and_symmetrization_agree(benchmarks, material):
    found = benchmarks.plain.read_links(material.file("reference"))
    assert found == [(one.sure, one.possible) for one in links(material, "reference")]
    sides = links(material, "forward"), links(material, "reverse")
    for forward, reverse in zip(*sides, strict=True):
        found = benchmarks.plain.grow_diag_final_and(set(forward), set(reverse))
        assert found == symmetrize(forward, reverse, "grow-diag-final-and").sure


@pytest.mark.parametrize("name", ["forward", "hypothesis", "reference"])
def test_plain_extraction_agrees(benchmarks, material, name):
    for alignment in links(material, name):
        expected = {(*pair[:4],): pair.atomic for pair in extract_phrases(alignment)}
        assert list(benchmarks.plain.phrases(alignment).items()) == list(expected.items())


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
    assert Path(theirs).read_text(encoding="utf-8") == Path(ours).read_text(encoding="utf-8")


def test_plain_pivot_finds_the_same_paraphrases(benchmarks, material, tmp_path):
    hyp, source, target = (material.file(name) for name in ("hypothesis", "source", "target"))
    table, ours, plain, theirs = (str(tmp_path / name) for name in ("t", "o", "p", "q"))
    texts = ["--source", source, "--target", target, "-o", table]
    assert main(["phrases", hyp, *texts, "--table", "--max-length", "7"]) == 0
    assert main(["pivot", table, "-o", ours]) == 0
    benchmarks.plain_pivot.main(hyp, source, target, plain, theirs)

    def rows(path):
        parts = [line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines()]
        return {tuple(row[:2]): list(map(float, row[2:])) for row in parts}

    assert rows(table) == rows(plain) != {}
    near = {pair: pytest.approx(row, rel=1e-5) for pair, row in rows(theirs).items()}
    assert rows(ours) == near != {}


def test_a_process_is_watched_and_ends_the_benchmark_where_it_fails(benchmarks):
    measured = benchmarks.clock.watched(["alignkit", "--version"])
    assert measured.seconds > 0
    assert measured.peak is None or measured.peak > 1e6
    with pytest.raises(SystemExit, match="score nowhere nowhere"):
        benchmarks.clock.watched(["alignkit", "score", "nowhere", "nowhere"])


def test_commands_say_what_they_take(benchmarks, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--help"])
    for module, word in (("benchmarks.__main__", "--quick"), ("benchmarks.aligners", "eflomal")):
        with pytest.raises(SystemExit) as ended:
            import_module(module).main()
        assert ended.value.code == 0
        assert word in capsys.readouterr().out


@pytest.fixture
def bitext(tmp_path) -> list[str]:
    """Return the options that name two pairs of two words, and their gold links."""
    texts = {"source": "a b\nc d\n", "target": "A B\nC D\n", "gold": "0-0 1-1\n0-0 1?1\n"}
    return [one for name in texts for one in (f"--{name}", write(tmp_path, name, texts[name]))]


def made_up(benchmarks, forward: str, reverse: str):
    """Return an aligner that writes the same links for any bitext."""
    write = "import sys; print(sys.argv[1])"
    return benchmarks.peers.Aligner(
        lambda: True,
        "",
        lambda job: [
            benchmarks.peers.Step([sys.executable, "-c", write, links], file)
            for links, file in zip((forward, reverse), job.directions, strict=True)
        ],
    )


def run(benchmarks, capsys, arguments: list[str], **aligners) -> SimpleNamespace:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benchmarks.aligners, "ALIGNERS", aligners)
        benchmarks.aligners.main([*arguments, "--runs", "1"])
    return capsys.readouterr()


def row(printed: str, name: str) -> list[str]:
    """Return the cells of an aligner's row but for its times and memory."""
    rows = [line for line in printed.splitlines() if line.startswith("source ")]
    (line,) = [line for line in rows if f" {name} " in line]
    return [part for part in line.split() if part != name and not re.fullmatch(r"[0-9.]+", part)]


def test_links_are_merged_by_the_best_method_and_scored(benchmarks, bitext, capsys):
    peer = made_up(benchmarks, "0-0 1-1\n0-0 0-1", "0-0 1-1\n0-0 1-0")
    printed = run(benchmarks, capsys, bitext, peer=peer).out
    assert row(printed, "peer") == ["source", "intersection", "0.0%", "100.0%", "100.0%", "-"]


def test_an_aligner_that_merges_is_scored_as_it_comes_and_is_the_base(benchmarks, bitext, capsys):
    write = [sys.executable, "-c", "print('0-0 1-1'); print('0-0 1-0')"]
    step = benchmarks.peers.Step
    ours = benchmarks.peers.Aligner(lambda: True, "", lambda job: [step(write, job.links)], True)
    printed = run(benchmarks, capsys, bitext, alignkit=ours).out
    assert row(printed, "alignkit") == ["source", "default", "14.3%", "75.0%", "100.0%"]
    assert " 1.00 " in printed


def test_an_aligner_that_fails_is_told_and_the_others_go_on(benchmarks, bitext, capsys):
    Aligner, Step = benchmarks.peers.Aligner, benchmarks.peers.Step
    failing = Aligner(lambda: True, "", lambda job: [Step([sys.executable, "-c", "1 / 0"])])
    peer = made_up(benchmarks, "0-0\n0-0", "0-0\n0-0")
    ran = run(benchmarks, capsys, bitext, failing=failing, peer=peer)
    assert row(ran.out, "failing") == ["source", "-", "-"]
    assert row(ran.out, "peer") == ["source", "intersection", "20.0%", "100.0%", "66.7%", "-"]
    assert all(text in ran.err for text in ("failing failed: ", "ZeroDivisionError"))


def test_who_is_absent_is_told_how_to_get_and_half_a_bitext_is_refused(benchmarks, bitext, capsys):
    absent = benchmarks.peers.Aligner(lambda: False, "pip install absent", lambda job: [])
    printed = run(benchmarks, capsys, bitext, absent=absent).out
    assert "pip install absent" in printed
    with pytest.raises(SystemExit):
        benchmarks.aligners.main(bitext[:2])
    assert "--target go together" in capsys.readouterr().err


def test_parts_of_mgiza_are_read(benchmarks, tmp_path):
    for k, text in enumerate((A3, A3.replace("(2)", "(1)").replace("(4)", "(3)"))):
        (tmp_path / f"st.out.A3.final.part00{k}").write_text(text)
    first, second = [(0, 0), (2, 1), (2, 2)], [(0, 0)]
    links = {1: first, 2: first, 3: second, 4: second}
    assert benchmarks.peer_mgiza.read_links(tmp_path, "st") == links


def test_every_known_aligner_says_how_to_get_it_and_what_it_runs(benchmarks, tmp_path):
    job = benchmarks.peers.Job(tmp_path, "source", "target", "joined")
    for name, aligner in benchmarks.peers.ALIGNERS.items():
        assert aligner.install or name == "alignkit"
        written = [part for step in aligner.steps(job) for part in (*step.command, step.output)]
        assert ({job.links} if aligner.merges else set(job.directions)) <= set(written)
