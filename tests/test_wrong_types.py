"""Plain arguments of a wrong type are refused at the boundary, by an error that names them."""

import inspect
import re

import numpy as np
import pytest
from refusals import refuses

import alignkit as ak
from alignkit import agreement, align, audit, io, scoring, show, tables
from alignkit.align import vectors
from alignkit.errors import AlignkitError, ArgumentError, OptionError
from alignkit.rules import Grammar, parse_rule, write_rules

TEXTS = (["the", "house"], ["das", "haus"])
LINKS = ak.Alignment.parse("0-0 1-1")
PAIR = ak.SentencePair("1", *TEXTS, {"A": LINKS, "B": LINKS, "initial": ak.Alignment.parse("0-0")})
OTHER = ak.SentencePair("2", *TEXTS, {"A": LINKS, "B": ak.Alignment.parse("0?0")})
CORPUS = ak.Corpus([PAIR, OTHER])
JUDGED = ak.Corpus(
    ak.SentencePair(k, *TEXTS, {who: ak.Annotation(None, judgment=k) for who in "AB"}) for k in "01"
)
ARRAYS = ak.LinkArrays.pack([LINKS])
ROWS = scoring.count_links(ARRAYS, ARRAYS)
BITEXT = ak.Bitext.pack([TEXTS, TEXTS])
FOUND = ak.extract_phrases(ARRAYS)
KNOWN = vectors.WordVectors(["the"], [[1.0]])
AUDIT = audit.draw_phrases(CORPUS, "A", "B", n=2, ignore_identical=False)
BOTH = {"corpus": CORPUS, "hypothesis": "A", "reference": "B"}

CALLS = [
    (ak.Alignment.parse, {"text": "0-0"}),
    (LINKS.targets_of, {"i": 0}),
    (LINKS.matrix, {"n": 2, "m": 2}),
    (ak.Link, {"i": 0, "j": 1}),
    (ak.Annotation, {"alignment": LINKS, "comment": "", "judgment": "", "provenance": ""}),
    (ak.SentencePair, {"id": "1", "source": ["a"], "target": ("b",)}),
    (PAIR.annotation, {"name": "A"}),
    (CORPUS.groups, {"attribute": "x"}),
    (ARRAYS.alignment, {"k": 0}),
    (ARRAYS.part, {"start": 0, "end": 1}),
    (ak.Vocabulary, {"casefold": True}),
    (ak.Vocabulary().encode, {"tokens": ["a"]}),
    (FOUND.pair, {"k": 0}),
    (FOUND.only, {"kind": "all"}),
    (ak.extract_phrases, {"alignments": ARRAYS, "links": "sure", "max_length": 3}),
    (ak.symmetrize, {"forward": LINKS, "reverse": LINKS, "method": "union"}),
    (ak.concat, {"corpora": {"x": CORPUS}, "prefix": False}),
    (ak.sample, {"corpus": CORPUS, "share": 0.5, "seed": 1, "keep_texts": False}),
    (ak.select_ids, {"corpus": CORPUS, "ids": []}),
    (ak.split_corpus, {"corpus": CORPUS, "shares": {"x": 0.5}, "seed": 1}),
    (ak.merge, {"base": CORPUS, "others": {"C": [PAIR]}, "partial": True}),
    (ak.to_nltk, {"pair": PAIR, "annotator": "A", "links": "sure"}),
    (ak.Tree.parse, {"text": "(S a)", "tokens": ["a"]}),
    (ak.Tree.parse("(S a)").with_words, {"words": ["b"]}),
    (io.get_format, {"name": "pharaoh"}),
    (ak.score, {**BOTH, "level": "links", "exact_case": False, "max_length": 3}),
    (scoring.macro_terms, {"rows": ROWS, "level": "links"}),
    (
        ak.compare,
        {
            "systems": {"a": ROWS, "b": ROWS},
            "resamples": 3,
            "trials": 3,
            "measure": scoring.link_ratios,
        },
    ),
    (scoring.wilson_interval, {"count": 1, "total": 2, "confidence": 0.9}),
    (ak.Aligner.train, {"bitext": [TEXTS], "model": "ibm1", "threads": 1}),
    (KNOWN.of, {"words": ["a"]}),
    (align.Settings, {"model": "ibm1", "ibm1": 1, "spelling": 0.5}),
    (BITEXT.part, {"begin": 0, "end": 1}),
    (BITEXT.source.sentence, {"k": 0}),
    (ak.agree, {"corpus": CORPUS, "annotators": ["A", "B"], "resamples": 3}),
    (agreement.JudgmentOptions, {"scheme": "binary", "lenient_labels": True, "permutations": 3}),
    (agreement.AgreementOptions, {"samples": 9, "confidence": 0.9}),
    (agreement.overlap, BOTH),
    (agreement.cell_agreement, {"corpus": CORPUS, "first": "A", "second": "B"}),
    (agreement.krippendorff_alpha, {"corpus": CORPUS, "annotators": ["A", "B"]}),
    (agreement.fleiss_kappa, {"corpus": CORPUS, "annotators": ["A", "B"]}),
    (audit.Scale, {"names": ("right", "wrong")}),
    (audit.draw_phrases, {**BOTH, "n": 1, "seed": 1, "both": 0.5, "loose": True}),
    (
        audit.draw_pairs,
        {"corpus": JUDGED, "n": 1, "mix": 0.0, "scheme": "binary", "judges": ["C", "D"]},
    ),
    (audit.sheet_text, {"audit": AUDIT, "judge": "A", "place": 0}),
    (show.draw_text, {"pair": PAIR, "annotators": ["A"], "colour": False, "width": 80}),
    (write_rules, {"rules": Grammar(()), "path": "/dev/null", "format": "xrs"}),
    (parse_rule, {"text": 'NN("a") ||| NN("b")'}),
    (tables.Column, {"name": "F1", "kind": "number", "signed": True}),
    (tables.Table, {"title": "", "columns": [tables.Column("a")], "rows": [["b"]]}),
]
TEXT, COUNT, LIST = [3, b"x", ["A"]], ["3", 1.5, float("nan"), [1]], ["a b", b"a b", 3, ["a", 3]]
NUMBER = ["0.5", [0.5], {}]
WRONG = {  # by what is declared
    "str": [None, *TEXT],
    "str | None": TEXT,
    "int": [None, *COUNT],
    "int | None": COUNT,
    "float": [None, *NUMBER],
    "float | None": NUMBER,
    "bool": [None, "no", 2, 1.0],
    "Sequence[str]": [None, *LIST],
    "Sequence[str] | None": LIST,
    "Iterable[str]": [None, *LIST],
    "tuple[str, ...]": [None, *LIST],
    "Sequence[int]": ["12", 3],
}


@pytest.mark.parametrize(("function", "right"), CALLS, ids=[call[0].__qualname__ for call in CALLS])
def test_what_is_wrong_is_refused_by_name(function, right):
    if "groups" not in function.__qualname__ or "rows" in right:
        function(**right)
    checked = 0
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = re.sub(r"^Literal\[.*\]$", "str", str(parameter.annotation))
        for value in WRONG.get(annotation, []) if name in right else []:
            with pytest.raises((TypeError, ValueError)) as caught:
                function(**{**right, name: value})
            assert isinstance(caught.value, AlignkitError), (name, value, caught.value)
            told = str(caught.value)
            assert any(part in told for part in (name, name.rstrip("s"), name.replace("_", " ")))
            assert len(told) < 300
            checked += 1
    assert checked


def test_numbers_of_numpy_corpora_and_places_are_what_they_are_elsewhere():
    assert ak.sample(CORPUS, np.float64(0.5), seed=np.int64(1)).ids
    assert ARRAYS.alignment(np.int64(0)) == LINKS
    with pytest.raises(TypeError, match="unsupported operand"):
        CORPUS + [PAIR]  # noqa: RUF005
    found = ak.extract_phrases(ak.LinkArrays.pack([LINKS, ak.Alignment()]))
    assert found.pair(-2) == found.pair(0)
    refuses(IndexError, "there are 2 sentence pairs", found.pair, 2)


def test_both_texts_and_words_are_aligned():
    known = ak.Aligner.train([TEXTS, TEXTS], model="ibm1", threads=1)
    assert known.align("the house", "das haus") == known.align(*TEXTS)
    for wrong in (None, b"the", 3, ["a", 3]):
        refuses(ArgumentError, "target", known.align, "the house", wrong)
        refuses(ArgumentError, "source", known.posteriors, wrong, "das haus")
    for wrong in ("1", 0.5, True):
        refuses(ArgumentError, "threads", known.align_bitext, [TEXTS], threads=wrong)
    refuses(OptionError, "threshold is nan", known.align_bitext, [TEXTS], threshold=float("nan"))
    refuses(OptionError, "least is nan", known.lexicon, float("nan"))
