"""The pages show what the commands print; the guidelines draw what their data hold."""

import ast
import re
import shutil
from dataclasses import fields

import pytest
from console import DOCS, ROOT, examples, page_text, run

from alignkit import read_corpus
from alignkit.agreement import CHANCE_MODELS, Figure
from alignkit.agreement.cautions import CAUTIONS
from alignkit.io import find_format
from alignkit.rules import KINDS
from alignkit.rules.files import RULE_FORMATS
from alignkit.show import draw_text
from alignkit.version import __version__

PAGES = [ROOT / "README.md", *DOCS]
EXAMPLES = [(page.name, *example) for page in PAGES for example in examples(page)]
FILES = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)
DRAWINGS = re.compile(r"<!-- matrix: (\S+) -->\n```text\n(.*?)```", re.DOTALL)
HEADED = re.compile(r"\*\*Example:\*\* ((?:.+\n)+)\n<!-- matrix: (\S+) -->")
GUIDELINES = ROOT / "guidelines"

FOLDERS = ("alignkit", "benchmarks", "docs", "guidelines", "samples", "tests")
WRITTEN = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(p for folder in FOLDERS for p in (ROOT / folder).rglob("*"))]
    if path.suffix in {".md", ".py"}
)
PLANS = re.compile(r"\b(METHOD|HOUSE|STYLE|DATA|DESIGN)\b(\.md|,? (section|eq)\w*\b)")
DOCUMENT = re.compile(r"(?<![\w/.])[\w./-]+\.md\b(?!~)")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")
FILE = re.compile(r"(?<![\w/.*{<>-])[\w-]+(?:/[\w-]+)*\.(?:py|js|html|css|md)\b(?![.(]\w)")
SCRIPT_COMMENT = re.compile(r"/\*.*?\*/|(?m:^|(?<=\s))//[^\n]*", re.DOTALL)
EXAMPLE = re.compile(r"^\s*(?:>>>|\.\.\.)|\balignkit [a-z]|https?://|^\s+--html ")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the samples and the files that pages show, in which commands may write."""
    place = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "samples", place / "samples")
    for page in PAGES:
        for name, text in FILES.findall(page.read_text(encoding="utf-8")):
            (place / name).write_text(text, encoding="utf-8")
    return place


@pytest.mark.parametrize(("page", "command", "output"), EXAMPLES)
def test_the_page_shows_what_the_command_prints(page, command, output, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert run(command, folder, capsys) == output.replace("VERSION", __version__)


def test_the_readme_has_examples():
    assert sum(page == "README.md" for page, *_ in EXAMPLES) >= 5


def test_what_is_cited_is_there():
    """Nobody has the plans that the project was made from: what they define is in docs/."""
    for path in WRITTEN:
        text = path.read_text(encoding="utf-8")
        assert not PLANS.search(text), f"{path} cites a plan: state the definition, or cite docs/"
        if path.is_relative_to(ROOT / "tests") or path.is_relative_to(ROOT / "docs" / "site"):
            continue  # which name files that they make
        for name in set(DOCUMENT.findall(text)) - {"FILE.md"}:
            places = (ROOT, path.parent, ROOT / "guidelines")
            assert any((place / name).exists() for place in places), f"{path} cites {name}"


COMMENT = re.compile(r"^ *#.*|  #.*", re.MULTILINE)


def comments(path):
    """Yield the comments of a file; of Python its docstrings too, without examples and commands.

    A file that names no file anywhere is not looked at.
    """
    text = path.read_text(encoding="utf-8")
    if not FILE.search(text):
        return
    if path.suffix == ".js":
        yield from SCRIPT_COMMENT.findall(text)
        return
    yield from COMMENT.findall(text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED):
            lines = (ast.get_docstring(node) or "").splitlines()
            yield "\n".join(line for line in lines if not EXAMPLE.search(line))


def test_files_that_comments_name_exist():
    """A comment that names a file by its last parts, such as io/records.py, is found by them."""
    folders = (*FOLDERS, ".ci")
    parts = [
        path.relative_to(ROOT).parts for name in folders for path in (ROOT / name).rglob("*.*")
    ]
    parts += [(path.name,) for path in ROOT.iterdir()]
    there = {"/".join(names[k:]) for names in parts for k in range(len(names))}
    for path in sorted((ROOT / "alignkit").rglob("*")):
        if path.suffix not in (".py", ".js"):
            continue
        named = {name for comment in comments(path) for name in FILE.findall(comment)}
        assert named <= there, f"{path} names {sorted(named - there)}"


@pytest.mark.parametrize("page", [path for path in WRITTEN if path.suffix == ".md"])
def test_a_link_leads_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page} links to {target}"


def section(page, start, end):
    return page_text(page).partition(start)[2].partition(end)[0]


def first_column(table):
    """The names in backquotes in the first column of a table."""
    return re.findall(r"`([\w+-]+)`", "".join(re.findall(r"^\|(.*?) \|", table, re.MULTILINE)))


@pytest.mark.parametrize(
    ("page", "start", "end", "names"),
    [
        ("agreement.md", "## Cautions", "\n## ", list(CAUTIONS)),
        ("agreement_output.md", "| column | holds |", "\n\n", [row.name for row in fields(Figure)]),
        ("measures.md", "| `--chance` | chance is |", "\n\n", list(CHANCE_MODELS)),
        ("rules_definitions.md", "\n### Kinds\n", "\n### ", list(KINDS)),
        ("rules_definitions.md", "| `--to` | a line |", "\n\n", list(RULE_FORMATS)),
    ],
    ids=["cautions", "figures", "chance", "kinds", "formats"],
)
def test_everything_that_a_table_lists_is_explained(page, start, end, names):
    assert first_column(section(page, start, end)) == names


def guidelines():
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(GUIDELINES.glob("*.md")))


def drawings():
    return [(match[1], match[2]) for match in DRAWINGS.finditer(guidelines())]


@pytest.mark.parametrize(("case", "drawing"), drawings())
def test_a_guideline_draws_what_its_data_hold(case, drawing):
    corpus = read_corpus(GUIDELINES / "examples" / f"{case}.jsonl", format="alignkit-jsonl")
    assert [pair.id for pair in corpus] == [case]
    assert drawing == matrix(draw_text(corpus[0], ["gold"]))


def test_every_example_of_the_guidelines_is_drawn_and_says_what_it_shows():
    files = {path.stem for path in (GUIDELINES / "examples").glob("*.jsonl")}
    assert files == {case for case, _ in drawings()}
    # above its drawing and in its file, which also tells its format, in the same words
    said = {m[2]: m[1].replace("*", "").split() for m in HEADED.finditer(guidelines())}
    assert set(said) == {case for case, _ in drawings()}
    for case, words in said.items():
        path = GUIDELINES / "examples" / f"{case}.jsonl"
        assert read_corpus(path, format=find_format(path))[0].attributes["shows"].split() == words
        assert words[-1].endswith(".")
    cases = {
        "named-entities",
        "definite-descriptions",
        "tenses",
        "mismatching-determiners",
        "verb-complexes",
        "phrasal-verbs",
        "genitives",
        "pronouns",
        "repetitions",
        "typographic-errors",
        "approximate-correspondences",
    }
    assert cases <= {case for case, _ in drawings()}


@pytest.mark.parametrize(
    "case",
    [
        "nominalization",
        "coordination",
        "relative-pronouns",
        "converses",
        "ellipsis",
        "other-syntax",
    ],
)
def test_the_guidelines_settle_what_trials_asked(case):
    (pair,) = read_corpus(GUIDELINES / "examples" / f"{case}.jsonl", format="alignkit-jsonl")
    alignment = pair.alignment("gold")
    assert bool(alignment.possible - alignment.sure) == (case != "coordination")


def matrix(text):
    """Return a drawing without its header line and its legend."""
    _, _, body = text.partition("\n\n")
    body, _, _ = body.rpartition("\n\n")
    return body + "\n"
