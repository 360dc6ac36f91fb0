"""The lines that people type first run as in a notebook, and what each shows fits one screen."""

import ast
import re
import shutil

import pytest
from console import ROOT

import alignkit as ak
from alignkit.tables.text_width import char_width

LINES = [
    'corpus = ak.read_corpus("samples/paraphrases.jsonl")',
    'pair = corpus["p05"]; pair',
    "corpus",
    "ak.agree(corpus)",
    's = ak.score(corpus, "eflomal", "gold"); s',
    'ak.score("eflomal.align", "gold.align")',
    "ak.score([{(0, 0), (1, 1)}], [{(0, 0)}])",
    'ak.score(["0-0 1?1"], ["0-0 1-1"])',
    "ak.aer([{(0, 0), (1, 1)}], [{(0, 0)}])",
    's2 = ak.score(corpus, "anna", "gold"); ak.compare({"eflomal": s, "anna": s2})',
    'model = ak.Aligner.train([("la maison", "the house"), ("la fleur", "the flower")]); '
    'model.align("la maison", "the house")',
    'model.align(["la", "maison"], ["the", "house"])',
    'ak.extract_phrases(pair, annotator="gold")',
    'ak.Corpus.from_texts(["a b"], ["c d"], gold=["0-0 1-1"])',
    'pair.to_networkx("gold")',
    'pair.alignment("gold").to_networkx()',
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("notebook")
    shutil.copytree(ROOT / "samples", place / "samples")
    for name in ("eflomal.align", "gold.align"):
        shutil.copy(ROOT / "samples" / "french-english" / name, place)
    return place


@pytest.fixture(scope="module")
def names():
    """What earlier cells have made, each in the way that runs if the line itself does not."""
    corpus = ak.read_corpus(ROOT / "samples" / "paraphrases.jsonl", format="alignkit-jsonl")
    return {
        "ak": ak, "corpus": corpus, "pair": corpus["p05"], "s": ak.score(corpus, "eflomal", "gold"),
        "model": ak.Aligner.train([("la maison", "the house"), ("la fleur", "the flower")]),
    }  # fmt: skip


def shown(line, names):
    """Run a cell, and return what its last expression shows: text, and HTML where it has it."""
    *before, last = ast.parse(line).body
    exec(compile(ast.Module(before, []), "<cell>", "exec"), names)
    if not isinstance(last, ast.Expr):
        exec(compile(ast.Module([last], []), "<cell>", "exec"), names)
        return "", ""
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    html = getattr(value, "_repr_html_", None)
    return repr(value), html() if html else ""


@pytest.mark.parametrize("line", LINES)
def test_a_line_runs_and_what_it_shows_fits_one_screen(line, folder, names, monkeypatch):
    monkeypatch.chdir(folder)
    text, html = shown(line, names)
    rows = text.split("\n")
    assert len(rows) <= 40
    assert max(map(char_width, rows)) <= 120
    assert html.count("<tr") <= 40 or "max-height" in html
    assert ("=" in line.split("(")[0] and ";" not in line) or text


def test_the_lines_run_in_one_notebook(folder, monkeypatch):
    monkeypatch.chdir(folder)
    names = {"ak": ak}
    for line in LINES:
        shown(line, names)


def test_the_first_screen_of_the_readme_has_them():
    """Those blocks run: as a doctest, and in test_pages."""
    first = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").split("\n")[:70])
    python, console = (re.search(f"```{kind}\n(.*?)```", first, re.DOTALL)[1]
                       for kind in ("python", "console"))  # fmt: skip
    words = ("read_corpus", 'corpus["p05"]', "agree", "score", "compare", "Aligner.train")
    assert all(word in python for word in (*words, "from_texts"))
    for command in ("show", "agree", "score", "align", "phrases", "select"):
        assert f"$ alignkit {command} " in console
    assert re.search(r"score \S+ --hyp-annotator \w+ \w+ --ref-annotator", console)  # compares
