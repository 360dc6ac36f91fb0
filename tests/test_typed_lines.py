"""Lines as users type them: those that must work and fit a screen, and the hints of wrong ones."""

import ast
import io
import re
import shutil

import krippendorff
import numpy as np
import pandas as pd
import pytest
from console import ROOT
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa
from strategies import corpora

import alignkit as ak
from alignkit.errors import AlignkitError
from alignkit.io.format import EVERYTHING
from alignkit.tables.text_width import char_width

RIGHT = {
    'ak.Corpus.from_records([{"source": "a b", "target": "c", "gold": "0-0"}], '
    'alignments=["gold"])["1"].alignment("gold")': ak.Alignment([(0, 0)]),
    'ak.Corpus.from_dataframe(frame, alignments=["gold"], judgments=["same"]).annotators': (
        "gold",
        "same",
    ),
    "ak.Corpus.from_dataframe(frame).attributes": ("gold", "same", "n"),
    'ak.Corpus.from_dataframe(frame, alignments=["gold"])[1].alignments': {},
    'ak.Corpus.from_records(c.to_records(each="annotation")) == c': True,
    'ak.Corpus.from_dataframe(pd.DataFrame(c.to_records(each="annotation"))) == c': True,
    "[x.alignments for x in ak.Corpus.from_dataframe(pd.DataFrame(c.to_records()))] == "
    "[x.alignments for x in c]": True,
    'ak.Corpus.from_texts(["a"], ["b"], attributes={"n": [3]})[0].attributes["n"]': "3",
    'ak.Corpus.from_texts(["a"], ["b"], judgments={"x": ["yes"]}, x=["0-0"])'
    '[0].annotation("x")': ak.Annotation(ak.Alignment([(0, 0)]), judgment="yes"),
    'ak.Corpus.from_texts(["a"], ["b"], judgments={"x": [None]}).annotators': (),
    'pd.DataFrame(ak.extract_phrases(pair, annotator="gold")).source[0]': "Who",
    'pd.DataFrame(p for _, p in ak.extract_phrases(c, annotator="gold")).source[0]': "A fire",
    "list(pd.DataFrame(c.to_records()))[-2:]": ["weight", "label"],
    'len(pd.DataFrame(ak.agree(c, bootstrap="none").to_records())) > 50': True,
    'len(pd.DataFrame(ak.score(c, "anna", "gold").to_records())) > 0': True,
    'round(ak.kappa(c, "anna", "ben"), 2)': 0.95,
    'round(ak.kappa(c, "anna", "ben", links="sure"), 2)': 0.90,
    'round(ak.kappa(c, "anna", "ben", ignore_identical=False), 3)': 0.965,
    'ak.kappa(["a", "b"], ["a", "b"])': 1.0,
    "round(ak.kappa(pd.crosstab(frame.n, frame.n)), 1)": 1.0,
    'ak.kappa("0-0 1-1", {(0, 0), (1, 1)}, lengths=(2, 2))': 1.0,
    "ak.alpha(c) == ak.alpha(c, 'anna', 'ben')": True,
    'ak.alpha([{"a", "b"}, {"c"}], [{"a", "b"}, {"c"}], distance="masi")': 1.0,
    "ak.fleiss(c) == ak.agree(c, bootstrap='none').together[0].fleiss.kappa": True,
    "ak.C(c) == ak.agree(c, bootstrap='none').pairings[0].main('words.possible').C": True,
    "ak.C(c, 'anna', 'ben', level='phrases.sure', chance='kupper-hafner') > .9": True,
    'ak.C(["a", "b"], ["a", "a"], choices=3)': 0.25,
    'list(model.align("a b", "c d", probs=True)) == list(model.align("a b", "c d"))': True,
    'model.align("a b", "c d", probs=True) == model.align("a b", "c d").weights': True,
    'sorted(x.role for x in ak.Corpus.from_records(c.to_records(each="annotation"))[0]'
    ".annotations.values())": ["", "", "adjudicated", "system"],
    'ak.write_corpus(c, folder / "x.jsonl")': {},
    'ak.score(c, "eflomal", "gold", ci=True).links.f1 < ak.score(c, "anna", "gold").links.f1': True,
}

WRONG = {
    'ak.agree(c, initials="x")': "argument of agree: 'initials'; did you mean 'initial'",
    'ak.agree(c, anotators=["anna"])': "did you mean 'annotators'",
    'ak.agree_on_judgments(c, scheme="turku", wieghts="x")': "did you mean 'weights'",
    'ak.score(c, "anna", "gold", levels="links")': "of score: 'levels'; did you mean 'level'",
    'ak.score("a", "b", formats="x")': "did you mean 'format'",
    'ak.aer(c, "anna", "gold", link="given")': "of aer: 'link'; did you mean 'links'",
    'ak.extract_phrases(pair, typ="atomic")': r"'typ' \(known: alignments, annotator, links, kind",
    'ak.extract_phrases(pair, anotator="gold")': "did you mean 'annotator'",
    'ak.read_corpus("x.xml", fromat="rte")': "of read_corpus: 'fromat'; did you mean 'format'",
    'ak.iterate_pairs("x.xml", lenient_label=True)': "did you mean 'lenient_labels'",
    'ak.write_corpus(c, "x.jsonl", formt="rte")': "of write_corpus: 'formt'; did you mean 'format'",
    'ak.write_corpus(c, "x.txt")': "the file extension is not known.*alignkit-jsonl for .jsonl",
    'ak.Aligner.train([("a", "b")], thread=2)': "of Aligner.train: 'thread'; did you mean",
    'model.align("a", "b", prob=True)': "of Aligner.align: 'prob'; did you mean 'probs'",
    'model.align_bitext([("a", "b")], treshold=.1)': "did you mean 'threshold'",
    'ak.compare({}, baselin="a")': "of compare: 'baselin'; did you mean 'baseline'",
    'ak.split_corpus(c, shares={"a": .5}, sed=3)': "did you mean 'seed'",
    'ak.kappa(c, ["anna", "ben"])': "give each name as an argument: corpus, 'anna', 'ben'",
    'ak.kappa(c, "anna", "bem")': "did you mean 'ben'",
    'ak.kappa(c, "anna", "ben", link="sure")': "of cell_agreement: 'link'.*universe",
    'ak.kappa(["a", None], ["a", "b"])': r"a label \[1\] is missing.*use alpha",
    'ak.kappa(["a"], ["a", "b"])': "the lists have 1 and 2 labels",
    "ak.kappa([(0, 0)], [(0, 0)])": "not a label; give links of one pair as an Alignment",
    'ak.kappa("0-0", "0-0")': r"give lengths=\(N, M\)",
    "ak.kappa([1, 2, 3])": "give a list of rows, or a list of labels for each annotator",
    "ak.fleiss(['a'])": "a row of the table is the string 'a'",
    'ak.C(["a"], ["b"])': "give the number of labels to choose from",
    'ak.C(c, "anna", "ben", levels="words.sure")': "of C: 'levels'; did you mean 'level'",
    'ak.alpha(c, "anna", "ben", distnace="dice")': "did you mean 'distance'",
    'ak.Corpus.from_records([{"source": "a", "target": "b", "links": "0-0"}])': (
        "has links but no annotator; add annotator, or name the key in alignments"
    ),
    'ak.Corpus.from_dataframe(frame, alignments=["gild"])': "did you mean 'gold'",
    "ak.Corpus.from_records(frame)": "use from_dataframe",
    'ak.Corpus.from_dataframe({"source": ["a"]})': "use a DataFrame, or from_records for dicts",
    'c.to_records(each="links")': "did you mean 'link'",
    'ak.Corpus.from_texts(["a"], ["b"], attributes={"n": [1, 2]})': "n has 2 entries",
    'ak.Corpus.from_records([{"id": 1, "annotator": "x", "links": "0-0", "source": "a"}] * 2)': (
        r"records\[1\]: 'x' already annotated pair '1'"
    ),
}


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    corpus = ak.read_corpus(ROOT / "samples" / "paraphrases.jsonl")
    model = ak.Aligner.train([("a b", "c d"), ("a", "c")])
    text = "source,target,gold,same,n\na b,c d,0-0 1?1,yes,1\ne,f,,,2\n"
    frame, folder = pd.read_csv(io.StringIO(text)), tmp_path_factory.mktemp("x")
    return {
        "ak": ak,
        "c": corpus,
        "pair": corpus["p05"],
        "model": model,
        "pd": pd,
        "frame": frame,
        "folder": folder,
    }


@pytest.mark.parametrize("line", RIGHT)
def test_a_line_works(line, names):
    assert eval(line, names) == RIGHT[line]


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_gives_the_hint(line, names):
    with pytest.raises(AlignkitError, match=WRONG[line]) as caught:
        eval(line, names)
    assert "--" not in str(caught.value)
    assert isinstance(caught.value, TypeError) or "unknown argument" not in str(caught.value)


@given(corpora(EVERYTHING))
def test_records_of_annotations_make_the_same_corpus(corpus):
    reserved = {"id", "source", "target", "annotator", "links", *ak.Annotation.__slots__}
    plain = [pair.without_trees() for pair in corpus if not reserved & pair.attributes.keys()]
    once = ak.Corpus({pair.id: pair for pair in plain}.values())
    assert ak.Corpus.from_records(once.to_records(each="annotation")) == once


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=3, max_size=12))
def test_other_packages_give_the_same(rows):
    lists = np.array(rows).T
    alike = len(np.unique(rows)) < 2
    expected = np.nan if alike else krippendorff.alpha(lists, level_of_measurement="nominal")
    assert ak.alpha(*lists) == pytest.approx(expected, nan_ok=True)
    assert ak.alpha(rows) == pytest.approx(expected, nan_ok=True)
    expected = np.nan if alike else fleiss_kappa(aggregate_raters(rows)[0])
    assert ak.fleiss(*lists) == pytest.approx(expected, nan_ok=True)
    if len(np.unique(lists[:2])) > 1:
        assert ak.kappa(*lists[:2]) == pytest.approx(cohen_kappa_score(*lists[:2]))


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


def test_the_readme_is_one_page_and_has_them():
    """Those blocks run: as a doctest, and in test_pages."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert page.count("\n") <= 150
    python, console = (
        "".join(re.findall(f"```{kind}\n(.*?)```", page, re.DOTALL))
        for kind in ("python", "console")
    )
    words = ("read_corpus", 'corpus["p05"]', "agree", "score", "compare", "Aligner.train")
    assert all(word in python for word in (*words, "from_texts"))
    for command in ("show", "agree", "score", "align", "phrases"):
        assert f"$ alignkit {command} " in console
    assert re.search(r"score \S+ --hyp-annotator \w+ \w+ --ref-annotator", console)  # compares
