"""Ctrl-C at any moment ends a command at once: exit code 130, and all files as before."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest
from command import FRENCH, PARAPHRASES, start
from repetitions import repetitions
from test_cli import posix
from test_cli_outputs import files

FILES = "-o", "out", "--save", "model", "--scores", "scores", "--lexicon", "lexicon"
AGREE = "--annotators", "anna", "ben", "--initial", "eflomal", "--samples", "300", "--html", "out"
PHARAOH = "--to", "pharaoh", "--annotator", "gold", "--to-source", "scores", "--to-target", "model"
COMMANDS = {
    "align": ("align", FRENCH / "fr.txt", FRENCH / "en.txt", *FILES),
    "align from disk": ("align", PARAPHRASES, *FILES, "--folder", "."),
    "agree": ("agree", PARAPHRASES, *AGREE),
    "convert": ("convert", PARAPHRASES, "out", *PHARAOH),
    "convert to a folder": ("convert", PARAPHRASES, "folder", "--to", "goldalign"),
}
OLD = dict.fromkeys(("out", "model", "scores", "lexicon"), b"old\n")


def interrupted(command, folder: Path, delay: float, cache: Path | None = None) -> tuple[int, str]:
    """Run a command, stop it after some seconds; return its exit code and what it said."""
    for name, text in OLD.items():
        (folder / name).write_bytes(text)
    environment = dict(os.environ)
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
    running = start(*command, cwd=folder, env=environment)
    time.sleep(delay)
    os.kill(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    return running.returncode, err


def check(code: int, err: str, folder: Path, written: set[str]) -> None:
    """Hold that all files are as before, or that all are written."""
    now = files(folder)
    untouched = now == OLD
    complete = all(name in now and now[name] != OLD.get(name) for name in written)
    assert untouched or complete, sorted(now)
    assert not list(folder.rglob(".*.part"))
    if code == -signal.SIGINT or ("alignkit/__main__.py" not in err and "KeyboardInterrupt" in err):
        assert untouched  # Python itself was not up yet
        return
    assert "Traceback" not in err
    if code == 130 and "all files were already written" not in err:
        assert "interrupted" in err
        assert untouched
    else:
        assert code in (0, 130)
        assert complete


def seconds(command, folder: Path) -> float:
    begin = time.monotonic()
    running = start(*command, cwd=folder)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    return time.monotonic() - begin


@posix
@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_interrupted_leaves_all_as_it_was(tmp_path, name):
    chance = random.Random(name)
    (tmp_path / "whole").mkdir()
    seconds(COMMANDS[name], tmp_path / "whole")  # compiles, perhaps
    written = set(files(tmp_path / "whole"))
    whole = seconds(COMMANDS[name], tmp_path / "whole")
    for number in range(repetitions(100) // len(COMMANDS) or 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        delay = chance.uniform(0.05, 1.0) * whole
        check(*interrupted(COMMANDS[name], folder, delay), folder, written)


@posix
@pytest.mark.slow
def test_an_interruption_while_kernels_are_compiled_is_no_crash(tmp_path):
    chance = random.Random(1)
    written = {"out", "model", "scores", "lexicon"}
    for number in range(repetitions(20)):
        folder = tmp_path / str(number)
        folder.mkdir()
        delay = chance.uniform(0.5, 6)
        code, err = interrupted(COMMANDS["align"], folder, delay, tmp_path / f"cache{number}")
        check(code, err, folder, written)
