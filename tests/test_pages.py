"""The pages show what the commands print; the guidelines draw what their data hold."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from console import ROOT, examples, run

from alignkit import read_corpus
from alignkit.cli.inputs import detect_format
from alignkit.report import draw_text

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = [(page.name, *example) for page in PAGES for example in examples(page)]
DRAWINGS = re.compile(r"<!-- matrix: (\S+) -->\n```text\n(.*?)```", re.DOTALL)
HEADED = re.compile(r"\*\*Example:\*\* ((?:.+\n)+)\n<!-- matrix: (\S+) -->")
GUIDELINES = ROOT / "guidelines"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the samples, in which commands may write."""
    place = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "samples", place / "samples")
    return place


@pytest.mark.parametrize(("page", "command", "output"), EXAMPLES)
def test_the_page_shows_what_the_command_prints(
    page: str, command: str, output: str, folder: Path
) -> None:
    assert run(command, folder) == output


def test_the_readme_has_examples() -> None:
    assert sum(page == "README.md" for page, *_ in EXAMPLES) >= 5


def drawings() -> list[tuple[str, str]]:
    text = (GUIDELINES / "README.md").read_text(encoding="utf-8")
    return [(match[1], match[2]) for match in DRAWINGS.finditer(text)]


@pytest.mark.parametrize(("case", "drawing"), drawings())
def test_a_guideline_draws_what_its_data_hold(case: str, drawing: str) -> None:
    corpus = read_corpus(GUIDELINES / "examples" / f"{case}.jsonl", format="alignkit-jsonl")
    assert [pair.id for pair in corpus] == [case]
    assert drawing == matrix(draw_text(corpus[0], ["gold"]))


def test_every_example_of_the_guidelines_is_drawn() -> None:
    files = {path.stem for path in (GUIDELINES / "examples").glob("*.jsonl")}
    assert files == {case for case, _ in drawings()}


def test_every_example_says_what_it_shows() -> None:
    """Above its drawing and in its file, which also tells its format, in the same words."""
    text = (GUIDELINES / "README.md").read_text(encoding="utf-8")
    said = {match[2]: match[1].replace("*", "").split() for match in HEADED.finditer(text)}
    assert set(said) == {case for case, _ in drawings()}
    for case, words in said.items():
        path = GUIDELINES / "examples" / f"{case}.jsonl"
        corpus = read_corpus(path, format=detect_format(str(path), None))
        assert corpus[0].attributes["shows"].split() == words
        assert words[-1].endswith(".")


def test_the_guidelines_settle_what_trials_asked() -> None:
    asked = {
        "nominalization", "coordination", "relative-pronouns", "converses", "ellipsis",
        "other-syntax",
    }  # fmt: skip
    for case in asked:
        path = GUIDELINES / "examples" / f"{case}.jsonl"
        (pair,) = read_corpus(path, format="alignkit-jsonl")
        alignment = pair.alignment("gold")
        assert bool(alignment.possible - alignment.sure) == (case != "coordination")


def test_the_guidelines_settle_every_case_of_the_article() -> None:
    cases = {
        "named-entities", "definite-descriptions", "tenses", "mismatching-determiners",
        "verb-complexes", "phrasal-verbs", "genitives", "pronouns", "repetitions",
        "typographic-errors", "approximate-correspondences",
    }  # fmt: skip
    assert cases <= {case for case, _ in drawings()}


def matrix(text: str) -> str:
    """Return a drawing without its header line and its legend."""
    _, _, body = text.partition("\n\n")
    body, _, _ = body.rpartition("\n\n")
    return body + "\n"
