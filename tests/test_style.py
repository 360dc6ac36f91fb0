"""The code passes ruff and mypy --strict, where they are installed (extra: dev).

Tests find the real corpora through the fixture `data` alone.
"""

import ast
import re
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


# files are UTF-8, whatever the system's own encoding is
ENCODINGS = ["ruff", "check", "--preview", "--select", "PLW1514", "."]
TYPES = pytest.param(["mypy"], marks=pytest.mark.slow)  # over a minute without a cache


@pytest.mark.parametrize(
    "command",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."], ENCODINGS, TYPES],
    ids=" ".join,
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


CALLS = """
from dataclasses import dataclass

import alignkit as ak
from alignkit._support.options import DeclaredOptions, option, takes

corpus = ak.Corpus([])
ak.agree(corpus, ["anna", "ben"], initial="giza", chance="edit", by="genre", seed=1)
ak.agree(corpus, chance="edti")  # wrong
ak.agree(corpus, scheme="turku")  # wrong
ak.agree(corpus, samples="9")  # wrong
ak.agree_on_judgments(corpus, scheme="turku", view=["binary"])
ak.agree_on_judgments(corpus)  # wrong
ak.agree_on_sets("sets", chance="chance")
ak.agree_on_sets("sets")  # wrong
ak.plan_pairs(corpus, half_width=0.02)
ak.plan_pairs(corpus, width=0.02)  # wrong
ak.replaceable(corpus, "gpt", ["anna", "ben"], measure="sure", epsilon=0.1, by="genre")
ak.replaceable(corpus, "gpt", measure="words")  # wrong
ak.replaceable(corpus)  # wrong


@dataclass(frozen=True)
class Wide(DeclaredOptions):
    width: float = option(0.5, "a width")


@takes(Wide)
def joined(first: str, second: int, options: Wide) -> str:
    return first * second


joined("a", 2, width=0.2)
joined("a", "b", width=0.2)  # wrong
joined("a", 2, with_=0.2)  # wrong
"""


@pytest.mark.slow  # as the types above
def test_type_checkers_know_each_option(tmp_path):
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    (tmp_path / "calls.py").write_text(CALLS, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", tmp_path / "calls.py"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    refused = [int(number) for number in re.findall(r"calls\.py:(\d+): error", ran.stdout)]
    lines = enumerate(CALLS.splitlines(), 1)
    assert refused == [number for number, line in lines if line.endswith("# wrong")], ran.stdout


def reads(tree, variable):
    """Return the lines that use the name of an environment variable, but to delete it."""
    deleted = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "delenv"
        for argument in node.args
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value == variable and id(node) not in deleted
    ]


def test_tests_read_the_folder_of_real_corpora_through_the_fixture_alone():
    """Else they fail without the corpora, instead of being skipped."""
    variable = "ALIGNKIT" + "_DATA"
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / "tests").glob("*.py")}
    named = {name: ast.parse(text) for name, text in texts.items() if variable in text}
    found = {name: lines for name, tree in named.items() if (lines := reads(tree, variable))}
    assert list(found) == ["conftest.py"]
    assert len(found["conftest.py"]) == 1


PRAGMAS = re.compile("# fmt" + ":|biome-" + "ignore|prettier-" + "ignore|# yapf" + ":")
SOURCES = sorted(
    path
    for folder in ("alignkit", "benchmarks", "docs", "tests")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".pyi", ".js", ".css")
)


def test_formatters_decide_the_layout():
    kept = [str(path) for path in SOURCES if PRAGMAS.search(path.read_text("utf-8"))]
    assert kept == []


def test_lines_of_scripts_are_short():
    """The formatter breaks code, but neither texts nor comments."""
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        if path.suffix == ".js" and path.name != "iframe-worker.js"  # of somebody else
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > 110
    ]
    assert long == []
