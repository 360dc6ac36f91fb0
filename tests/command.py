"""Run the command line, in this process or in one of its own."""

import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from alignkit.cli import main

ROOT = Path(__file__).parent.parent
PARAPHRASES = str(ROOT / "samples" / "paraphrases.jsonl")
FRENCH = ROOT / "samples" / "french-english"
GOLD, EFLOMAL, FAST = (str(FRENCH / f"{n}.align") for n in ("gold", "eflomal", "fast_align"))
TEXTS = ("--source", str(FRENCH / "fr.txt"), "--target", str(FRENCH / "en.txt"))
COMPILING = (
    "alignkit: compiling kernels for this command (a few seconds to half a minute); "
    "later runs use them again ('alignkit compile' compiles all at once)\n"
)
"""What whoever comes first sees."""


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out, parse_constant=lambda name: 1 / 0)  # NaN is no JSON

    def failed(self, *told):
        """Check that it ended as every error should, and told these things."""
        assert self.code == 2, self.err
        assert "alignkit: error: " in self.err
        assert "Traceback" not in self.err
        assert "fault in alignkit" not in self.err
        assert all(text in self.err for text in told)
        return self


def run(capsys, *words):
    capsys.readouterr()
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return Ran(code, out, err.replace(COMPILING, ""))


def made(capsys, *words):
    """Run a command that is to succeed."""
    ran = run(capsys, *words)
    assert ran.code == 0, ran.err
    return ran


def feed(monkeypatch, text):
    raw = text.encode() if isinstance(text, str) else text
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw)), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stream)


def process(*words, **options):
    ran = subprocess.run(
        [sys.executable, "-m", "alignkit", *map(str, words)],
        capture_output="stdout" not in options,
        stderr=subprocess.PIPE if "stdout" in options else None,
        encoding="utf-8",
        check=False,
        **options,
    )
    return Ran(ran.returncode, ran.stdout or "", (ran.stderr or "").replace(COMPILING, ""))


def start(*words, **options):
    """Start a command in a process of its own, which signals reach though it be in a background."""
    command = [sys.executable, "-m", "alignkit", *map(str, words)]
    options |= {"stderr": subprocess.PIPE, "text": True}
    if os.name == "posix":
        options |= {"start_new_session": True, "preexec_fn": _heed}
    return subprocess.Popen(command, **options)


def _heed():
    """Heed the signals that a shell's background and nohup ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.name == "posix":
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def write(folder, name, text):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)
