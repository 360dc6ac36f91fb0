"""`alignkit compile` compiles all kernels, and no later command compiles any."""

import ast
import os
import re
import subprocess
import sys
import tempfile

import pytest
from command import process, run
from console import ROOT

from alignkit._support import kernel_cache
from alignkit._support import kernel_files as files_of_kernels

APART = {}
"""Kernels that `alignkit compile` does not compile, and the reason."""


def kernels():
    """Return the names of all functions that `jit` and `fast` compile."""
    names = set()
    for path in (ROOT / "alignkit").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_bytes())):
            decorators = {ast.unparse(each) for each in getattr(node, "decorator_list", [])}
            if decorators & {"jit", "fast"}:
                names.add(f"{module}.{node.name}")
    return names


def printed(*words, **environment):
    """Return the lines that `compiled_later.py` prints."""
    command = [sys.executable, str(ROOT / "tests" / "compiled_later.py"), *words]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    environment = os.environ | environment | {"PYTHONPATH": paths}
    ran = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, encoding="utf-8", check=True
    )
    return ran.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_commands_of_compile_call_all_kernels():
    called = set(printed("rehearsals"))
    assert len(called) > 100
    assert kernels() - called == set(APART)


@pytest.fixture
def empty(tmp_path):
    """The environment of a process without compiled kernels."""
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": ""}


def kernel_files(folder):
    """Return the names of all files in a folder, but for locks and the fonts of matplotlib."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.name for path in files if path.suffix not in (".lock", ".json")}


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_after_compile_no_command_of_the_goldens_and_pages_compiles(empty, tmp_path):
    ran = process("compile", env=os.environ | empty)
    assert ran.code == 0, ran.err
    assert "compiling all kernels takes" in ran.err
    new, before, after = map(
        int, re.match(r"(\d+) kernels .* \((\d+) were there\); (\d+) are kept", ran.out).groups()
    )
    assert (new, before) == (after, 0)
    assert after >= len(kernels()) - len(APART)
    assert empty["XDG_CACHE_HOME"] in ran.out
    files = kernel_files(tmp_path)
    assert printed(**empty) == []
    assert kernel_files(tmp_path) == files
    again = process("compile", "--quiet", env=os.environ | empty)
    assert again.out.startswith("0 kernels compiled")
    assert again.err == ""


def test_compile_says_why_kernels_cannot_be_kept(capsys, monkeypatch):
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    run(capsys, "compile").failed("cannot be kept", "NUMBA_DISABLE_JIT")
    monkeypatch.setattr("numba.config.DISABLE_JIT", 0)
    monkeypatch.setattr(kernel_cache, "KEEPS", False)
    run(capsys, "compile").failed("cannot be kept", "numba")
    monkeypatch.setattr(kernel_cache, "KEEPS", True)
    monkeypatch.setattr(files_of_kernels, "places", lambda: iter(()))
    run(capsys, "compile").failed("cannot be kept", "XDG_CACHE_HOME")


def rehearsals_of(monkeypatch, code):
    """Have the processes of `alignkit compile` run other code."""
    monkeypatch.setattr("alignkit.cli.kernels.compile._CODE", code)


def test_compile_says_what_failed_in_its_processes(capsys, monkeypatch):
    report = "print('alignkit: the disk is full', file=sys.stderr)"
    rehearsals_of(monkeypatch, f"import sys; {report}; sys.exit(1)")
    # of several processes at a time, any may be the first that fails
    run(capsys, "compile").failed("compiling the kernels of ", "the disk is full")
    rehearsals_of(monkeypatch, "import os; os._exit(9)")
    run(capsys, "compile").failed("is there enough memory?")


def test_compile_reports_what_is_kept_and_leaves_nothing_else(capsys, monkeypatch, tmp_path, empty):
    for name, value in empty.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rehearsals_of(monkeypatch, "pass")
    assert files_of_kernels.can_keep()
    folder = next(files_of_kernels.places())
    name = f"{files_of_kernels.file_prefix()}alignkit.one-0"
    (folder / name).write_bytes(b"machine code")
    (folder / f"{name}1.lock").touch()
    ran = run(capsys, "compile", "--quiet")
    assert ran.code == 0
    assert ran.out.startswith("0 kernels compiled in ")
    assert ran.out.endswith(f"(1 were there); 1 are kept, 0 MB, in {folder}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]
