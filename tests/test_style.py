"""The code passes ruff and mypy --strict, where they are installed (extra: dev)."""

import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "command", [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]], ids=" ".join
)
def test_passes(command):
    if find_spec(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    if command == ["mypy"] and tuple(map(int, version("numpy").split(".")[:2])) < (2, 4):
        pytest.skip("numpy before 2.4 (Python 3.10) tells shapes of arrays too narrowly")
    ran = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
