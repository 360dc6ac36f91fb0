"""A bad line on standard input is answered by itself, and the stream goes on."""

from __future__ import annotations

import subprocess
import sys

import pytest
from command import Ran, feed, run

from alignkit.align import Aligner

PAIRS = [(("le", "chat"), ("the", "cat")), (("le", "chien"), ("the", "dog"))] * 3
GOOD = b"le chat ||| the cat\n"
MB = 1 << 20
BAD = {
    "no divider": (b"le chat the cat\n", "0 dividers ' ||| ', expected one"),
    "two dividers": (b"a ||| b ||| c\n", "2 dividers ' ||| ', expected one"),
    "not utf-8": (b"le ch\xffat ||| the cat\n", "column 6: not utf-8 (byte 0xff)"),
    "nul": (b"le ch\0at ||| the cat\n", "column 6: control character '\\x00'"),
    "escape": (b"\x1b[31m ||| the cat\n", "column 1: control character '\\x1b'"),
    "too long": (b"le ||| " + b"the " * MB + b"\n", "a line of more than 1 MB"),
    "too many words": (
        b"le " * 10_001 + b"||| the\n",
        "the source sentence has 10,001 words, more than 10,000",
    ),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    Aligner.train(PAIRS).save(path)
    return str(path)


def answered(capsys, monkeypatch, raw, *given) -> Ran:
    feed(monkeypatch, raw)
    return run(capsys, "align", "-", "--max-size", 1, *given)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_answered_by_an_empty_one(capsys, monkeypatch, model, name):
    line, told = BAD[name]
    good = answered(capsys, monkeypatch, GOOD, "--load", model)
    assert (good.code, good.out) == (0, "0-0 1-1\n")
    ran = answered(capsys, monkeypatch, GOOD + line + b"\n" + GOOD + line, "--load", model)
    assert (ran.code, ran.out) == (1, "0-0 1-1\n\n\n0-0 1-1\n\n")
    first, second, *rest = ran.err.splitlines()
    assert first.startswith(f"# line 2: {told}")
    assert second.startswith(f"# line 5: {told}")
    assert rest == [
        "alignkit: -: 2 x bad line, answered by an empty line",
        "alignkit: -: 1 x pair with an empty side, aligned to nothing",
    ]
    assert "\x1b" not in ran.err


def test_a_first_line_without_a_divider_decides_nothing(capsys, monkeypatch, model):
    raw = b"\nle chat\n" + GOOD.replace(b" ||| ", b"\t") * 2
    ran = answered(capsys, monkeypatch, raw, "--load", model)
    assert (ran.code, ran.out) == (1, "\n\n0-0 1-1\n0-0 1-1\n")
    assert "# line 2: neither ' ||| ' nor a tab" in ran.err


@pytest.mark.parametrize("more", [["--to", "alignkit-jsonl"], ["--scores", "s"], ["--probs"]])
def test_every_output_has_an_answer_for_each_line(capsys, monkeypatch, tmp_path, model, more):
    monkeypatch.chdir(tmp_path)
    ran = answered(capsys, monkeypatch, GOOD + b"bad\n" + GOOD, "--load", model, *more)
    assert ran.code == 1
    assert len(ran.out.splitlines()) == 3 + ("--to" in more)
    if "--scores" in more:
        assert len((tmp_path / "s").read_text().splitlines()) == 3


def test_in_a_file_or_in_training_a_bad_line_is_an_error(capsys, monkeypatch, tmp_path, model):
    path = tmp_path / "x"
    path.write_bytes(GOOD + b"bad\n")
    run(capsys, "align", path, "--load", model).failed("x:2: 0 dividers")
    feed(monkeypatch, GOOD + b"bad\n")
    run(capsys, "align", "-").failed("-:2: 0 dividers")


@pytest.mark.slow
def test_the_answer_comes_before_the_next_line(model):
    with subprocess.Popen(
        [sys.executable, "-m", "alignkit", "align", "-", "--load", model],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        for line, answer in ((GOOD, b"0-0 1-1\n"), (b"bad\n", b"\n"), (GOOD, b"0-0 1-1\n")):
            running.stdin.write(line)
            running.stdin.flush()
            assert running.stdout.readline() == answer
        _, err = running.communicate()
    assert running.returncode == 1
    assert b"# line 2: 0 dividers" in err
