"""The lines that people type first run as in a notebook, and what each shows fits one screen."""

import ast
import re
import shutil

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


def test_the_lines_run_in_one_notebook_and_what_they_show_fits_one_screen(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    for name in ("eflomal.align", "gold.align"):
        shutil.copy(ROOT / "samples" / "french-english" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {"ak": ak}
    for line in LINES:
        text, html = shown(line, names)
        rows = text.split("\n")
        assert len(rows) <= 40, line
        assert max(map(char_width, rows)) <= 120, line
        assert html.count("<tr") <= 40 or "max-height" in html, line
        assert ("=" in line.split("(")[0] and ";" not in line) or text, line


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
