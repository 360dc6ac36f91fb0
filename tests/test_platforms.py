"""What only POSIX systems have is guarded in the package, and skipped by tests on other systems."""

import ast
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
from console import ROOT
from platforms import needs_posix, unguarded

from alignkit import Corpus, SentencePair, read_corpus, write_corpus


def test_no_module_uses_what_only_posix_has_without_asking():
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for path in sorted((ROOT / "alignkit").rglob("*.py"))
        if (lines := unguarded(path.read_text("utf-8")))
    }
    assert not found


def test_tests_and_tools_use_it_only_where_it_is_skipped_or_guarded():
    """Functions of tests are skipped by conftest; helpers, fixtures and tools have to ask."""
    others = [ROOT / "setup.py", *(ROOT / "docs").rglob("*.py"), *(ROOT / ".ci").glob("*.py")]
    for path in [*(ROOT / "tests").glob("*.py"), *(ROOT / "benchmarks").glob("*.py"), *others]:
        text = path.read_text("utf-8")
        used = unguarded(text)
        skipped = set()
        for node in ast.parse(text).body if used else ():
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                skipped.update(range(node.lineno, node.end_lineno + 1))
        assert [line for line in used if line not in skipped] == [], path


PRODUCT = sorted((ROOT / "alignkit").rglob("*.py"))


def test_processes_are_started_not_forked():
    """So that the start method of a system (fork, forkserver, spawn) makes no difference."""
    for path in PRODUCT:
        assert not re.search(r"\bmultiprocessing\b|\bos\.fork|ProcessPool", path.read_text("utf-8"))


def test_a_use_without_a_guard_is_seen():
    assert unguarded("import os\nos.mkfifo('x')\n") == [2]
    assert unguarded("import os\nif os.name == 'posix':\n    os.mkfifo('x')\n") == []
    assert unguarded("def f():\n    import pwd\n") == [2]


def test_tests_that_need_posix_are_known():
    def of_pipes(tmp_path):
        os.mkfifo(tmp_path / "pipe")

    def of_signals():
        return signal.SIGKILL

    def of_all(path):
        return path

    assert needs_posix(of_pipes)
    assert needs_posix(of_signals)
    assert needs_posix(of_all, {"path": "/dev/full"})
    assert not needs_posix(of_all, {"path": "a"})


CODE = """
import locale, sys
from alignkit import read_corpus, write_corpus
assert locale.getpreferredencoding(False).lower() == "cp1252", locale.getpreferredencoding(False)
corpus = read_corpus(sys.argv[1])
assert "\\u00e9" in " ".join(word for pair in corpus for word in pair.source)
write_corpus(corpus, sys.argv[2], format="alignkit-xml")
"""


@pytest.mark.slow
def test_files_are_utf8_where_the_system_has_another_encoding(tmp_path):
    """As on Windows with PYTHONUTF8=0."""
    if not shutil.which("localedef"):
        pytest.skip("needs localedef")
    made = ["localedef", "-i", "en_US", "-f", "CP1252", str(tmp_path / "en_US.CP1252")]
    if subprocess.run(made, capture_output=True, check=False).returncode > 1:
        pytest.skip("the system has no sources of locales")
    corpus = tmp_path / "in.jsonl"
    pair = SentencePair("1", ["caf\u00e9", "\u4f60"], ["\u0111", "\u00df"])
    write_corpus(Corpus([pair]), corpus, format="alignkit-jsonl")
    environment = {"LOCPATH": str(tmp_path), "LC_ALL": "en_US.CP1252", "PYTHONUTF8": "0"}
    words = [sys.executable, "-c", CODE, str(corpus), str(tmp_path / "out.xml")]
    subprocess.run(words, env=os.environ | environment, check=True)
    (copy,) = read_corpus(tmp_path / "out.xml")
    assert (copy.source, copy.target) == (pair.source, pair.target)
