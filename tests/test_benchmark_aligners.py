"""The comparison of aligners tells who is absent, outlives who fails, scores what is written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

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
        from benchmarks import aligners, peer_mgiza, peers

        yield SimpleNamespace(aligners=aligners, peer_mgiza=peer_mgiza, peers=peers)


@pytest.fixture
def bitext(tmp_path) -> list[str]:
    """Return the options that name two pairs of two words, and their gold links."""
    texts = {"source": "a b\nc d\n", "target": "A B\nC D\n", "gold": "0-0 1-1\n0-0 1?1\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [part for name in texts for part in (f"--{name}", str(tmp_path / name))]


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
    assert "failing failed: " in ran.err
    assert "ZeroDivisionError" in ran.err


def test_who_is_absent_is_told_how_to_get(benchmarks, bitext, capsys):
    absent = benchmarks.peers.Aligner(lambda: False, "pip install absent", lambda job: [])
    printed = run(benchmarks, capsys, bitext, absent=absent).out
    assert "not here: absent; to compare it: pip install absent" in printed


def test_half_a_bitext_is_refused(benchmarks, bitext, capsys):
    with pytest.raises(SystemExit):
        benchmarks.aligners.main(bitext[:2])
    assert "--source and --target go together" in capsys.readouterr().err


def test_parts_of_mgiza_are_read(benchmarks, tmp_path):
    (tmp_path / "st.out.A3.final.part000").write_text(A3)
    (tmp_path / "st.out.A3.final.part001").write_text(
        A3.replace("(2)", "(1)").replace("(4)", "(3)")
    )
    links = benchmarks.peer_mgiza.read_links(tmp_path, "st")
    first, second = [(0, 0), (2, 1), (2, 2)], [(0, 0)]
    assert links == {1: first, 2: first, 3: second, 4: second}


def test_every_known_aligner_says_how_to_get_it_and_what_it_runs(benchmarks, tmp_path):
    job = benchmarks.peers.Job(tmp_path, "source", "target", "joined")
    for name, aligner in benchmarks.peers.ALIGNERS.items():
        assert aligner.install or name == "alignkit"
        written = [part for step in aligner.steps(job) for part in (*step.command, step.output)]
        files = {job.links} if aligner.merges else set(job.directions)
        assert files <= set(written)


def test_the_command_says_what_it_takes():
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.aligners", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "eflomal" in ran.stdout
