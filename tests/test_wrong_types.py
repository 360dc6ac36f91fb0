"""Arguments of a wrong type are refused at the boundary, by an error that names them."""

from __future__ import annotations

import inspect
import os
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import alignkit
from alignkit import (
    Aligner,
    Alignment,
    Annotation,
    Bitext,
    Corpus,
    Link,
    LinkArrays,
    PhrasePair,
    SentencePair,
    TokenArrays,
    Vocabulary,
    agreement,
    aligner,
    audit,
    formats,
    report,
    rules,
    scoring,
    tables,
    vectors,
)
from alignkit.arguments import check_arguments
from alignkit.errors import AlignkitError, ArgumentError, OptionError
from alignkit.rules import Grammar

ROOT = Path(__file__).parent.parent
GOLD = ROOT / "samples" / "french-english" / "gold.align"
TEXTS = (["the", "house"], ["das", "haus"])
LINKS = Alignment.parse("0-0 1-1")
PAIR = SentencePair("1", *TEXTS, {"A": LINKS, "B": LINKS, "initial": Alignment.parse("0-0")})
CORPUS = Corpus([PAIR, SentencePair("2", *TEXTS, {"A": LINKS, "B": Alignment.parse("0?0")})])
JUDGED = Corpus(
    SentencePair(k, *TEXTS, {name: Annotation(None, judgment=k) for name in "AB"}) for k in "01"
)
ARRAYS = LinkArrays.pack([LINKS])
WORDS = TokenArrays.pack([TEXTS[0]], Vocabulary())
ROWS = scoring.count_links(ARRAYS, ARRAYS)
BITEXT = Bitext.pack([TEXTS, TEXTS])
KNOWN = vectors.WordVectors(["the"], [[1.0]])

TRAINED = Aligner.train([TEXTS], model="ibm1")
BEGUN = aligner.Refiner.begin(TRAINED)
FIVE = [SentencePair(k, ["the", k], ["das", k], {"A": LINKS}) for k in "12345"]

AUDIT = audit.draw_phrases(CORPUS, "A", "B", n=2, ignore_identical=False)


def written(**given):
    with TemporaryDirectory() as folder:
        return audit.write_audit(AUDIT, folder, **given)


def read_back(**given):
    with TemporaryDirectory() as folder:
        *sheets, key = audit.write_audit(AUDIT, folder, judges=["A"])
        sheet = Path(sheets[0])
        sheet.write_text(sheet.read_text("utf-8").replace("\t\t", "\tc\t"), "utf-8")
        return audit.read_audit(sheets, key, **given)


def read_known(path="", **given):
    with TemporaryDirectory() as folder:
        file = Path(folder, "vectors")
        file.write_text("the 1.0\n", "utf-8")
        return vectors.read_vectors(file if path == "" else path, **given)


# What is wrong for an argument of a kind
TEXT = [None, 3, b"x", ["A"], {"A"}]
MAYBE_TEXT = TEXT[1:]
FLAG = [None, "no", 2, [], 1.0]
COUNT = [None, "3", 1.5, float("nan"), float("inf"), [1], True]
MAYBE_COUNT = COUNT[1:]
INDEX = [None, "1", 0.5, float("nan"), [1]]
NUMBER = [None, "0.5", [0.5], {}, float("nan"), True]
MAYBE_NUMBER = NUMBER[1:]
LIST = [None, "a b", b"a b", 3, [1, 2], ["a", 3], ["a", None]]
MAYBE_LIST = LIST[1:]
KIND = [None, "0-0", 3, 0.5, {(0, 0)}, [(0, 0)], {"a": 1}]
MAYBE_KIND = KIND[1:]
MAPPING = [None, "a", 3, {1}, [1]]
MAYBE_MAPPING = MAPPING[1:]
PAIRS = [None, "ab", b"ab", 3, 0.5, ["a b"], [None], [LINKS], {1: 2}]
PATH = [None, 3, 0.5, ["a"], b"a"]
SELECTING = {"corpus": KIND, "share": NUMBER, "seed": COUNT[:-1], "stratify": TEXT[1:],
             "keep_together": [None, 3, 0.5, [3]], "keep_texts": FLAG,
             "separator": TEXT[1:]}  # fmt: skip
FUNCTION = [None, "f", 3]
COLUMN = [None, "a", 3, ["a"], [0.5], [None], [0, 1], {0}]
TREES = {"strict": FLAG, "drop_function_tags": FLAG, "drop_traces": FLAG}
ARRAY = [None, "a", 3, [1, 2], np.array(["a"]), np.array([None])]
NULLS = [None, 3, "0-0", [3], {0.5}, [(0.5, 1)], [("a", 1)], {(0, 0.0)}, [(0, None)]]

SCORING = {
    "level": TEXT, "ignore_identical": FLAG, "exact_case": FLAG, "loose": FLAG,
    "max_length": MAYBE_COUNT, "links": TEXT,
}  # fmt: skip
MORE = {"aggregate": TEXT, "split_identical": FLAG}
OF_TREES = {"annotator": MAYBE_TEXT, "links": TEXT, "source_tree": MAYBE_TEXT,
            "target_tree": MAYBE_TEXT}  # fmt: skip
DRAWING = {"resamples": COUNT, "confidence": NUMBER, "seed": COUNT}

REFINING = {
    "aligner": KIND, "annotator": TEXT, "objective": TEXT, "prior": PATH,
    "vectors": FUNCTION[1:], "target_vectors": FUNCTION[1:], "ignore_identical": FLAG,
}  # fmt: skip
SENTENCES = [None, 3, "ab", PAIR, [TEXTS], [None], ["a"]]

# Each public function and class: a call that is right, and what is wrong for each argument
CALLS = {
    "Alignment": (Alignment, {"sure": [(0, 0)], "possible": [], "nulls": [], "possible_nulls": [],
                  "weights": {(0, 0): 0.5}, "labels": {(0, 0): "x"}},
                  {"sure": NULLS, "possible": NULLS, "nulls": NULLS, "possible_nulls": NULLS,
                   "weights": [3, "a", [1], {(0, 0): "x"}, {(0, 0): None},
                               {(0.5, 0): 1.0}],
                   "labels": [3, "a", [1], {(0, 0): 3}, {(0, 0): None}]}),
    "Alignment.parse": (Alignment.parse, {"text": "0-0"}, {"text": TEXT}),
    "Alignment.from_matrix": (Alignment.from_matrix, {"matrix": np.eye(2, dtype=int)},
                              {"matrix": [None, [[1]], "a", 3, np.array([["a"]]), np.eye(2)]}),
    "Alignment.targets_of": (LINKS.targets_of, {"i": 0}, {"i": INDEX}),
    "Alignment.sources_of": (LINKS.sources_of, {"j": 0}, {"j": INDEX}),
    "Alignment.matrix": (LINKS.matrix, {"n": 2, "m": 2}, {"n": INDEX, "m": INDEX}),
    "Alignment.union": (LINKS.union, {"other": LINKS}, {"other": KIND}),
    "Alignment.intersection": (LINKS.intersection, {"other": LINKS}, {"other": KIND}),
    "Alignment.difference": (LINKS.difference, {"other": LINKS}, {"other": KIND}),
    "Link": (Link, {"i": 0, "j": 1}, {"i": INDEX, "j": INDEX}),
    "Annotation": (Annotation, {"alignment": LINKS, "comment": "", "flags": ["x"], "judgment": "",
                                "provenance": "", "when": None},
                   {"alignment": MAYBE_KIND, "comment": TEXT, "flags": LIST, "judgment": TEXT,
                    "provenance": TEXT, "when": MAYBE_TEXT}),
    "SentencePair": (SentencePair, {"id": "1", "source": ["a"], "target": ("b",),
                                    "annotations": {"A": Alignment()}, "attributes": {"x": "y"},
                                    "source_trees": {}, "target_trees": {}},
                     {"id": TEXT,
                      "source_trees": [*MAPPING, {"x": 3}, {3: "x"}],
                      "target_trees": [*MAPPING, {"x": 3}, {3: "x"}],
                      "annotations": [*MAPPING, {"A": {(0, 0)}}, {"A": None}, {1: LINKS}],
                      "attributes": [*MAPPING, {"x": 3}, {3: "x"}],
                      "source": MAYBE_LIST[1:], "target": MAYBE_LIST[1:]}),
    "SentencePair.annotation": (PAIR.annotation, {"name": "A"}, {"name": TEXT[:3]}),
    "SentencePair.with_annotation": (PAIR.with_annotation, {"name": "C", "value": LINKS},
                                     {"name": TEXT[:3], "value": KIND}),
    "Corpus": (Corpus, {"pairs": [PAIR]}, {"pairs": PAIRS}),
    "Corpus.groups": (Corpus([SentencePair("1", *TEXTS, {}, {"x": "a"})]).groups,
                      {"attribute": "x"},
                      {"attribute": TEXT, "split": MAYBE_TEXT, "annotators": MAYBE_LIST}),
    "Corpus.filter": (CORPUS.filter, {"keep": bool}, {"keep": FUNCTION}),
    "Corpus.map": (CORPUS.map, {"change": SentencePair.transpose}, {"change": FUNCTION}),
    "LinkArrays": (LinkArrays, {"links": ARRAYS.links, "sure": ARRAYS.sure,
                                "offsets": ARRAYS.offsets, "lengths": ARRAYS.lengths},
                   dict.fromkeys(("links", "sure", "offsets", "lengths"), ARRAY)),
    "LinkArrays.pack": (LinkArrays.pack, {"alignments": [LINKS], "lengths": [(2, 2)]},
                        {"alignments": PAIRS[:-2], "lengths": ["a", 3, [(2.5, 2)], [(2, None)]]}),
    "LinkArrays.alignment": (ARRAYS.alignment, {"k": 0}, {"k": INDEX}),
    "LinkArrays.part": (ARRAYS.part, {"start": 0, "end": 1}, {"start": INDEX, "end": INDEX}),
    "LinkArrays.concatenate": (LinkArrays.concatenate, {"blocks": [ARRAYS]}, {"blocks": PAIRS}),
    "LinkArrays.without_identical": (ARRAYS.without_identical, {"source": WORDS, "target": WORDS},
                                     {"source": KIND, "target": KIND}),
    "TokenArrays": (TokenArrays, {"ids": WORDS.ids, "offsets": WORDS.offsets},
                    {"ids": ARRAY, "offsets": ARRAY}),
    "TokenArrays.pack": (TokenArrays.pack, {"sentences": [["a"]], "vocabulary": Vocabulary()},
                         {"sentences": [None, "ab", 3, b"a"], "vocabulary": KIND}),
    "Vocabulary": (Vocabulary, {"casefold": True}, {"casefold": FLAG}),
    "Vocabulary.encode": (Vocabulary().encode, {"tokens": ["a"]}, {"tokens": LIST}),
    "PhraseArrays": (alignkit.PhraseArrays, {"spans": np.zeros((0, 4), np.int32),
                                             "atomic": np.zeros(0, np.uint8),
                                             "offsets": np.zeros(1, np.int64)},
                     {"spans": ARRAY, "atomic": ARRAY, "offsets": ARRAY}),
    "PhraseArrays.pair": (alignkit.extract_phrases(ARRAYS).pair, {"k": 0}, {"k": INDEX}),
    "PhraseArrays.only": (alignkit.extract_phrases(ARRAYS).only, {"kind": "all"}, {"kind": TEXT}),
    "PhrasePair.words": (PhrasePair(0, 1, 0, 1, True).words, {"source": ["a"], "target": ["b"]},
                         {"source": LIST, "target": LIST}),
    "extract_phrases": (alignkit.extract_phrases,
                        {"alignments": LINKS, "source": TEXTS[0], "target": TEXTS[1]},
                        {"alignments": [None, "ab", 3, [1], ["ab"]], "annotator": MAYBE_TEXT,
                         "links": TEXT, "kind": TEXT,
                         "loose": FLAG, "max_length": MAYBE_COUNT, "ignore_identical": FLAG,
                         "source": MAYBE_LIST, "target": MAYBE_LIST,
                         "lengths": ["ab", 3, (1, 2, 3), (2, 2.5), [None, 1]]}),
    "phrase_table": (lambda **given: list(tables.phrase_table(**given)),
                     {"pairs": CORPUS, "annotator": "A"},
                     {"pairs": PAIRS, "annotator": MAYBE_TEXT, "links": TEXT, "kind": TEXT,
                      "loose": FLAG, "max_length": MAYBE_COUNT, "ignore_identical": FLAG,
                      "min_count": COUNT}),
    "read_table": (lambda **given: list(tables.read_table(**given)), {"path": "/dev/null"},
                   {"path": PATH, "format": MAYBE_TEXT, "encoding": TEXT, "max_size": COUNT}),
    "pivot": (lambda **given: list(tables.pivot(**given)), {"table": []},
              {"table": PAIRS, "second": PAIRS[1:], "on": TEXT, "min_count": NUMBER,
               "min_p": NUMBER, "top": MAYBE_COUNT, "identity": FLAG}),
    "symmetrize": (alignkit.symmetrize, {"forward": LINKS, "reverse": LINKS, "method": "union"},
                   {"forward": KIND, "reverse": KIND, "method": TEXT}),
    "concat": (alignkit.concat, {"corpora": {"x": CORPUS}, "prefix": False},
               {"corpora": [None, 3, {"x": 3}, [3]], "prefix": FLAG}),
    "sample": (alignkit.sample, {"corpus": CORPUS, "share": 0.5, "seed": 1}, SELECTING),
    "select_ids": (alignkit.select_ids, {"corpus": CORPUS, "ids": []},
                   {"corpus": KIND, "ids": LIST}),
    "split_corpus": (alignkit.split_corpus, {"corpus": CORPUS, "shares": {"x": 0.5}, "seed": 1},
                     {**{k: v for k, v in SELECTING.items() if k != "share"},
                      "shares": [None, 3, "x", [0.5], {"x": "y"}]}),
    "join_pairs": (lambda **given: list(alignkit.join_pairs(**given)),
                   {"first": CORPUS, "second": CORPUS},
                   {"first": PAIRS, "second": PAIRS, "partial": FLAG, "differences": MAYBE_KIND}),
    "merge": (alignkit.merge, {"base": CORPUS, "others": {"C": [PAIR]}, "partial": True},
              {"base": PAIRS, "others": MAPPING, "partial": FLAG, "tell": FUNCTION[1:]}),
    "count_groups": (alignkit.count_groups, {"pairs": [SentencePair("1", *TEXTS, {}, {"x": "y"})],
                                             "attribute": "x"},
                     {"pairs": PAIRS, "attribute": TEXT, "split": TEXT[1:]}),
    "count_corpus": (alignkit.count_corpus, {"pairs": CORPUS}, {"pairs": PAIRS}),
    "pair_translations": (lambda **given: list(alignkit.pair_translations(**given)),
                          {"groups": [TEXTS]},
                          {"groups": [None, "ab", 3, b"a", ["ab"], [3], [["a b"]], [[["a", 3]]]],
                           "which": TEXT, "both_orders": FLAG, "min_length": COUNT,
                           "max_length": MAYBE_COUNT, "max_ratio": MAYBE_NUMBER,
                           "drop_identical": FLAG, "drop_repeated": FLAG}),
    "to_nltk": (alignkit.to_nltk, {"pair": PAIR, "annotator": "A", "links": "sure"},
                {"pair": KIND, "annotator": TEXT, "links": TEXT}),
    "from_nltk": (alignkit.from_nltk, {"sentence": alignkit.to_nltk(PAIR, "A"), "id": "1",
                                       "annotator": "A"},
                  {"sentence": KIND, "id": TEXT, "annotator": TEXT}),
    "iterate_pairs": (alignkit.iterate_pairs, {"path": GOLD, "format": "pharaoh"},
                      {"path": PATH, "format": MAYBE_TEXT}),
    "read_corpus": (alignkit.read_corpus, {"path": GOLD, "format": "pharaoh"},
                    {"path": PATH, "format": MAYBE_TEXT, "base": MAYBE_COUNT, "source": PATH[1:],
                     "encoding": TEXT, "lenient": FLAG, "name": MAYBE_TEXT}),
    "write_corpus": (alignkit.write_corpus,
                     {"pairs": CORPUS, "path": "/dev/null", "format": "alignkit-jsonl"},
                     {"pairs": PAIRS, "path": PATH, "format": TEXT, "base": MAYBE_COUNT,
                      "transpose": FLAG, "annotator": MAYBE_TEXT}),
    "Tree": (alignkit.Tree, {"words": ["a"], "labels": ["S"], "parents": [-1], "starts": [0],
                             "ends": [1], "afters": [1]},
             {"words": LIST, "labels": LIST, "parents": COLUMN, "starts": COLUMN, "ends": COLUMN,
              "afters": COLUMN}),
    "Tree.parse": (alignkit.Tree.parse, {"text": "(S a)", "tokens": ["a"]},
                   {"text": TEXT, "tokens": MAYBE_LIST, **TREES}),
    "Tree.with_words": (alignkit.Tree.parse("(S a)").with_words, {"words": ["b"]}, {"words": LIST}),
    "read_trees": (alignkit.read_trees, {"path": GOLD},
                   {"path": PATH, "tree_format": MAYBE_TEXT, "drop_function_tags": FLAG,
                    "drop_traces": FLAG, "encoding": TEXT, "counts": MAYBE_KIND}),
    "attach_trees": (alignkit.attach_trees, {"pairs": CORPUS, "source": GOLD},
                     {"pairs": [None, "ab", 3, 0.5], "source": PATH[1:], "target": PATH[1:],
                      "both": PATH[1:], "name": TEXT, "tree_format": MAYBE_TEXT, "lenient": FLAG,
                      "encoding": TEXT, "counts": MAYBE_KIND, "observe": FUNCTION[1:], **TREES}),
    "find_format": (formats.find_format, {"path": GOLD},
                    {"path": PATH, "encoding": TEXT, "base": MAYBE_COUNT}),
    "get_format": (formats.get_format, {"name": "pharaoh"}, {"name": TEXT}),
    "open_reading": (formats.open_reading, {"path": GOLD, "format": "pharaoh"},
                     {"path": PATH, "format": MAYBE_TEXT, "options": MAYBE_KIND,
                      "observe": FUNCTION[1:]}),
    "ReadOptions": (formats.ReadOptions, {"source": Path("a")},
                    {"base": MAYBE_COUNT, "transpose": FLAG, "source": PATH[1:],
                     "target": PATH[1:], "encoding": TEXT, "drop_out_of_range": FLAG,
                     "partial": FLAG, "unescape": FLAG, "name": MAYBE_TEXT, "lenient": FLAG,
                     "lenient_labels": FLAG, "unquote": FLAG, "no_text": FLAG,
                     "max_size": COUNT, "max_words": COUNT}),
    "WriteOptions": (formats.WriteOptions, {"source": Path("a")},
                     {"base": MAYBE_COUNT, "transpose": FLAG, "source": PATH[1:],
                      "target": PATH[1:], "ids": FLAG, "weights": FLAG, "annotator": MAYBE_TEXT}),
    "score": (alignkit.score, {"corpus": CORPUS, "hypothesis": "A", "reference": "B"},
              {"corpus": PAIRS, "hypothesis": TEXT, "reference": TEXT, **SCORING, **MORE,
               "keep_rows": FLAG, "signature": MAYBE_KIND}),
    "aer": (alignkit.aer, {"corpus": CORPUS, "hypothesis": "A", "reference": "B"},
            {"corpus": PAIRS, "hypothesis": TEXT, "reference": TEXT, "ignore_identical": FLAG,
             "exact_case": FLAG, "links": TEXT}),
    "holm": (scoring.holm, {"p_values": [0.5, 0.1]}, {"p_values": [None, 3, "ab", [None], ["a"]]}),
    "macro_terms": (scoring.macro_terms, {"rows": ROWS, "level": "links"},
                    {"rows": ARRAY, "level": TEXT}),
    "score_blocks": (scoring.score_blocks, {"blocks": [(ARRAYS, ARRAYS, None, None)]},
                     {"blocks": [None, "a", 3], **SCORING, **MORE, "keep_rows": FLAG,
                      "skipped": COUNT}),
    "Score.with_intervals": (alignkit.score(CORPUS, "A", "B", keep_rows=True).with_intervals,
                             {"resamples": 3}, DRAWING),
    "score_phrase_list": (alignkit.score_phrase_list,
                          {"entries": [("the", "das")], "corpus": CORPUS, "reference": "A"},
                          {"entries": [None, 3, "ab", ["ab"], [1], [("a", 3)], [("a", "b", "c")]],
                           "corpus": PAIRS, "reference": TEXT, "min_length": COUNT,
                           **{key: SCORING[key] for key in SCORING if key != "level"}}),
    "compare": (alignkit.compare, {"systems": {"a": ROWS, "b": ROWS}, "resamples": 3, "trials": 3,
                                   "measure": scoring.link_ratios},
                {"systems": MAPPING, "measure": FUNCTION, "baseline": MAYBE_TEXT, **DRAWING,
                 "trials": COUNT}),
    "confidence_interval": (scoring.confidence_interval,
                            {"rows": ROWS, "measure": scoring.link_ratios, "resamples": 3},
                            {"rows": ARRAY, "measure": FUNCTION, **DRAWING}),
    "wilson_interval": (scoring.wilson_interval, {"count": 1, "total": 2},
                        {"count": COUNT, "total": COUNT, "confidence": NUMBER}),
    "newcombe_interval": (scoring.newcombe_interval,
                          {"count": 1, "total": 2, "other_count": 1, "other_total": 3},
                          {"count": COUNT, "total": COUNT, "other_count": COUNT,
                           "other_total": COUNT, "confidence": NUMBER}),
    "count_links": (scoring.count_links, {"hypothesis": ARRAYS, "reference": ARRAYS},
                    {"hypothesis": KIND, "reference": KIND}),
    "count_phrases": (scoring.count_phrases,
                      {"hypothesis": ARRAYS, "reference": ARRAYS, "links": "sure"},
                      {"hypothesis": KIND, "reference": KIND, "links": TEXT, "loose": FLAG,
                       "max_length": MAYBE_COUNT, "ignore_identical": FLAG, "source": MAYBE_KIND,
                       "target": MAYBE_KIND}),
    "pair_records": (scoring.pair_records, {"rows": {"links": ROWS}, "ids": ["1"]},
                     {"rows": MAPPING, "ids": LIST, "aggregate": TEXT}),
    "group_records": (scoring.group_records, {"rows": {"links": ROWS}, "groups": ["1"]},
                      {"rows": MAPPING, "groups": LIST, "name": TEXT, "aggregate": TEXT,
                       "resamples": MAYBE_COUNT,
                       "confidence": NUMBER, "seed": COUNT}),
    "score_records": (scoring.score_records,
                      {"corpus": CORPUS, "hypothesis": "A", "reference": "B"},
                      {"corpus": PAIRS, "hypothesis": TEXT, "reference": TEXT, "by": MAYBE_TEXT,
                       "split": MAYBE_TEXT, "aggregate": TEXT, **SCORING}),
    "read_phrase_table": (lambda **given: next(scoring.read_phrase_table(**given), None),
                          {"path": "/dev/null"},
                          {"path": PATH, "format": MAYBE_TEXT, "encoding": TEXT}),
    "Aligner": (Aligner, {"parameters": TRAINED.parameters},
                {"parameters": KIND, "vectors": FUNCTION[1:], "target_vectors": FUNCTION[1:]}),
    "Aligner.train": (Aligner.train, {"bitext": [TEXTS], "model": "ibm1", "threads": 1,
                                      "dictionary": {("the", "das"): 1},
                                      "vectors": KNOWN, "target_vectors": KNOWN},
                      {"bitext": PAIRS, "settings": MAYBE_KIND, "threads": MAYBE_COUNT,
                       "progress": FUNCTION[1:], "folder": PATH[1:], "model": TEXT,
                       "vectors": FUNCTION[1:], "target_vectors": FUNCTION[1:],
                       "ibm1": COUNT, "null": NUMBER, "agree": FLAG,
                       "dictionary": [3, "ab", [1], {"ab": 1}, {("a", 3): 1}, {("a", "b"): "x"},
                                      {("a", "b"): float("nan")}]}),
    "Refiner": (aligner.Refiner, {"aligner": TRAINED, "course": BEGUN._course},
                {"aligner": KIND, "course": KIND}),
    "Refiner.begin": (aligner.Refiner.begin, {"aligner": TRAINED}, REFINING),
    "Refiner.train": (aligner.Refiner.train, {"aligner": TRAINED, "corpus": FIVE,
                                              "annotator": "A"},
                      {**REFINING, "corpus": SENTENCES, "threads": MAYBE_COUNT}),
    "Refiner.of": (aligner.Refiner.of, {"aligner": BEGUN.aligner},
                   {"aligner": KIND, "annotator": TEXT}),
    "Refiner.update": (BEGUN.update, {"pairs": [PAIR], "annotator": "A"},
                       {"pairs": SENTENCES, "annotator": MAYBE_TEXT, "threads": MAYBE_COUNT}),
    "Refiner.forget": (BEGUN.forget, {"ids": ["3"]}, {"ids": LIST, "threads": MAYBE_COUNT}),
    "Refiner.validate": (aligner.Refiner.begin(TRAINED, "A").update(FIVE).validate, {},
                         {"threads": MAYBE_COUNT}),
    "Refiner.probabilities": (BEGUN.probabilities, {"pair": TEXTS},
                              {"pair": [None, 3, "ab", LINKS]}),
    "WordVectors": (vectors.WordVectors, {"words": ["a"], "array": [[1.0]]},
                    {"words": LIST, "array": [None, "a", 3, [1], [["a"]], [[None]]]}),
    "WordVectors.of": (KNOWN.of, {"words": ["a"]}, {"words": LIST}),
    "read_vectors": (read_known, {"words": ["the"], "max_size": 1},
                     {"path": PATH, "words": MAYBE_LIST, "max_size": COUNT[:-1],
                      "progress": FUNCTION[1:]}),
    "vectors_of": (vectors.vectors_of, {"vectors": KNOWN, "words": ["a"], "dimensions": 1},
                   {"vectors": FUNCTION, "words": LIST, "dimensions": MAYBE_COUNT}),
    "Settings": (aligner.Settings, {"model": "ibm1", "ibm1": 1, "null": 0.5},
                 {one.name: {str: TEXT, bool: FLAG, int: COUNT, float: NUMBER}[type(one.default)]
                  for one in fields(aligner.Settings)}),
    "Bitext": (Bitext, {"source": BITEXT.source, "target": BITEXT.target, "casefold": True},
               {"source": KIND, "target": KIND, "casefold": FLAG}),
    "Bitext.pack": (Bitext.pack, {"pairs": [TEXTS]},
                    {"pairs": [*PAIRS, [(["a"], [3])], [(["a"], None)], [(1, 2)]],
                     "casefold": FLAG}),
    "Bitext.part": (BITEXT.part, {"begin": 0, "end": 1}, {"begin": COUNT, "end": COUNT}),
    "Side": (aligner.Side, {"words": ["a"], "ids": np.zeros(1, np.int32),
                            "starts": np.array([0, 1])},
             {"words": [None, "a", 3, [1]], "ids": [*ARRAY, np.ones(1, np.int32)],
              "starts": ARRAY}),
    "Side.pack": (aligner.Side.pack, {"sentences": [["a"]]},
                  {"sentences": [None, 3, b"a", "ab", ["ab"], [[1]]], "casefold": FLAG}),
    "Side.sentence": (BITEXT.source.sentence, {"k": 0}, {"k": INDEX}),
    "AlignedLinks": (aligner.AlignedLinks, {"arrays": ARRAYS,
                                            "probabilities": np.ones(2, np.float32)},
                     {"arrays": KIND, "probabilities": ARRAY}),
    "AlignedLinks.alignment": (aligner.AlignedLinks(ARRAYS, np.ones(2, np.float32)).alignment,
                               {"k": 0, "digits": 2}, {"k": INDEX, "digits": MAYBE_COUNT}),
    "agree": (alignkit.agree, {"corpus": CORPUS, "annotators": ["A", "B"], "resamples": 3},
              {"corpus": PAIRS, "annotators": MAYBE_LIST, "initial": MAYBE_TEXT,
               "adjudicated": MAYBE_TEXT, "systems": MAYBE_LIST, "by": MAYBE_TEXT, "seed": COUNT,
               "workers": MAYBE_COUNT, "progress": FUNCTION[1:]}),
    "JudgmentOptions": (agreement.JudgmentOptions, {"scheme": "binary"},
                        {"scheme": TEXT, "view": LIST[2:], "weights": TEXT, "consensus": TEXT,
                         "ties": TEXT, "null": TEXT, "groups": MAYBE_MAPPING, "lenient": FLAG,
                         "permutations": COUNT, "resamples": COUNT, "confidence": NUMBER}),
    "AgreementOptions": (agreement.AgreementOptions, {},
                         {"missing_initial": TEXT, "chance": TEXT, "reading": TEXT,
                          "normalizer": TEXT, "aggregate": TEXT, "universe": TEXT,
                          "ignore_identical": FLAG, "exact_case": FLAG, "samples": COUNT,
                          "tolerance": MAYBE_NUMBER, "bootstrap": TEXT, "resamples": COUNT,
                          "confidence": NUMBER}),
    "overlap": (agreement.overlap, {"corpus": CORPUS, "hypothesis": "A", "reference": "B"},
                {"corpus": PAIRS, "hypothesis": TEXT, "reference": TEXT,
                 "ignore_identical": FLAG, "exact_case": FLAG}),
    "cell_agreement": (agreement.cell_agreement, {"corpus": CORPUS, "first": "A", "second": "B"},
                       {"corpus": PAIRS, "first": TEXT, "second": TEXT,
                        "ignore_identical": FLAG, "exact_case": FLAG, "universe": TEXT}),
    "krippendorff_alpha": (agreement.krippendorff_alpha,
                           {"corpus": CORPUS, "annotators": ["A", "B"]},
                           {"corpus": PAIRS, "annotators": MAYBE_LIST, "distance": TEXT,
                            "links": TEXT, "ignore_identical": FLAG, "exact_case": FLAG}),
    "alpha_from_units": (agreement.alpha_from_units, {"units": [({1}, {2})]},
                         {"units": [None, 3, "ab", [3], ["ab"], [(1, 2)]], "distance": TEXT}),
    "fleiss_kappa": (agreement.fleiss_kappa, {"corpus": CORPUS, "annotators": ["A", "B"]},
                     {"corpus": PAIRS, "annotators": MAYBE_LIST}),
    "fleiss_from_counts": (agreement.fleiss_from_counts, {"counts": [[2, 0], [0, 2]]},
                           {"counts": [None, "a", 3, [1, 2], [["a"]], [[0.5, 1.5]], [[1], [1, 2]],
                                       [[None, 1]]]}),
    "cohen_kappa": (agreement.cohen_kappa, {"table": [[1, 2], [3, 4]]},
                    {"table": [None, "ab", 3, [1, 2], [["a", "b"]] * 2, [[0.5, 1], [1, 1]],
                               [[None, 1], [1, 1]]]}),
    "gwet_ac1": (agreement.gwet_ac1, {"table": [[1, 2], [3, 4]]},
                 {"table": [None, "ab", 3, [1, 2], [["a", "b"]] * 2, [[0.5, 1], [1, 1]]]}),
    "correct_sets": (agreement.correct_sets, {"first": [{1}], "second": [{1}], "choices": 4},
                     {"first": [None, 3, "ab", [1]], "second": [None, 3, "ab", [1]],
                      "choices": [None, "a", [None], 2.5, float("nan")], "normalizer": TEXT,
                      "aggregate": TEXT}),
    "EditData": (agreement.EditData, {"words": [10], "trials": [25], "edits": [2]},
                 {one: [None, "a", ["a"], [0.5], [None]] for one in ("words", "trials", "edits")}),
    "fit_edit_model": (agreement.fit_edit_model,
                       {"data": agreement.EditData([10], [25], [2]), "weights": [1.0]},
                       {"data": KIND, "reading": TEXT,
                        "weights": ["a", ["a"], [None], [float("nan")], 3]}),
    "Scale": (audit.Scale, {"names": ("right", "wrong")},
              {"names": LIST, "meanings": LIST}),
    "draw_phrases": (audit.draw_phrases,
                     {"corpus": CORPUS, "hypothesis": "A", "reference": "B", "n": 1},
                     {"corpus": KIND, "hypothesis": TEXT[:3], "reference": TEXT[:3], "n": COUNT,
                      "seed": COUNT, "kind": TEXT, "links": TEXT, "ignore_identical": FLAG,
                      "exact_case": FLAG, "loose": FLAG, "max_length": MAYBE_COUNT,
                      "both": NUMBER, "by": MAYBE_TEXT}),
    "draw_pairs": (audit.draw_pairs,
                   {"corpus": JUDGED, "n": 1, "mix": 0.0, "scheme": "binary",
                    "judges": ["C", "D"]},
                   {"corpus": KIND, "n": COUNT, "mix": NUMBER, "seed": COUNT, "judges": LIST,
                    "each": COUNT, "scheme": MAYBE_TEXT, "view": MAYBE_TEXT, "upheld": MAYBE_LIST,
                    "plain": TEXT, "annotators": MAYBE_LIST, "by": MAYBE_TEXT}),
    "sheet_text": (audit.sheet_text, {"audit": AUDIT, "judge": "A", "place": 0},
                   {"audit": KIND, "judge": TEXT, "place": COUNT, "format": TEXT, "bom": FLAG}),
    "sheet_page": (audit.sheet_page, {"audit": AUDIT, "judge": "A", "place": 0},
                   {"audit": KIND, "judge": TEXT, "place": COUNT, "format": TEXT}),
    "write_audit": (written, {"judges": ["A"]},
                    {"judges": MAYBE_LIST, "formats": LIST, "bom": FLAG}),
    "read_audit": (read_back, {"resamples": 3},
                   {"confidence": NUMBER, "resamples": COUNT, "seed": COUNT}),
    "draw_text": (report.draw_text, {"pair": PAIR, "annotators": ["A"]},
                  {"pair": KIND, "annotators": MAYBE_LIST, "colour": FLAG, "width": MAYBE_COUNT,
                   "unicode": FLAG}),
    "draw_svg": (report.draw_svg, {"pair": PAIR, "annotators": ["A"]},
                 {"pair": KIND, "annotators": MAYBE_LIST}),
    "draw_html": (lambda **given: "".join(report.draw_html(**given)), {"pairs": CORPUS},
                  {"pairs": PAIRS, "annotators": MAYBE_LIST, "title": TEXT}),
    "draw_html_fragment": (report.draw_html_fragment, {"pair": PAIR, "annotators": ["A"]},
                           {"pair": KIND, "annotators": MAYBE_LIST}),
    "draw_tree_text": (report.draw_tree_text, {"pair": PAIR, "annotator": "A"},
                       {"pair": KIND, "colour": FLAG, "width": MAYBE_COUNT, "unicode": FLAG,
                        **OF_TREES}),
    "draw_tree_svg": (report.draw_tree_svg, {"pair": PAIR, "annotator": "A"},
                      {"pair": KIND, **OF_TREES}),
    "draw_tree_html": (lambda **given: "".join(report.draw_tree_html(**given)),
                       {"pairs": CORPUS, "annotator": "A"},
                       {"pairs": PAIRS, "title": TEXT, **OF_TREES}),
    "draw_rules_page": (lambda **given: "".join(report.draw_rules_page(**given)),
                        {"grammar": Grammar(())},
                        {"grammar": KIND, "title": TEXT, "most": COUNT}),
    "write_rules_page": (lambda **given: report.write_rules_page(path=os.devnull, **given),
                         {"grammar": Grammar(())},
                         {"grammar": KIND, "title": TEXT, "most": COUNT}),
    "write_rules": (rules.write_rules, {"rules": Grammar(()), "path": os.devnull, "format": "xrs"},
                    {"rules": [None, "ab", 3, ["ab"]], "path": PATH, "format": TEXT,
                     "joined_labels": FLAG}),
    "read_rules": (lambda **given: list(rules.read_rules(**given)), {"path": os.devnull},
                   {"path": PATH, "format": MAYBE_TEXT}),
    "parse_rule": (rules.parse_rule, {"text": 'NN("a") ||| NN("b")'}, {"text": TEXT}),
    "Column": (report.Column, {"name": "F1", "digits": 1},
               {"name": TEXT, "kind": TEXT, "span": TEXT, "key": TEXT, "unit": TEXT,
                "digits": ["3", 1.5, [None]], "signed": FLAG, "right": [1, "no"]}),
    "Value": (report.Value, {"value": 0.5},
              {one: [None, "a", [1]] for one in ("value", "low", "high")} | {"reason": TEXT}),
    "Table": (report.Table, {"title": "", "columns": [report.Column("a")], "rows": [["b"]]},
              {"title": TEXT, "columns": [None, 3, "ab", [3], ["ab"]], "note": TEXT,
               "rows": [None, 3, "ab", [3], ["a"], [[["a"]]], [[{1}]]], "anchor": TEXT,
               "apart": [None, 3, "ab", ["a"]], "stub": [None, "a", 0.5], "ruled": FLAG}),
    "Table.from_records": (report.Table.from_records, {"records": [{"a": 1}], "columns": ["a"]},
                           {"records": [None, 3, "ab", [3], ["ab"]], "columns": MAYBE_LIST,
                            "digits": [None, "3", 1.5], "percent": LIST, "title": TEXT}),
}  # fmt: skip

# What an error may name instead, where something within the argument is wrong
INNER = {
    "bitext": {"pair"}, "pairs": {"sentence"}, "groups": {"group"}, "value": {"annotations"},
    "max_ratio": {"ratio"},
}  # fmt: skip

# What only results are made of, or what only the registry of formats makes
RESULTS = {
    "AlignkitError", "FormatError", "PhrasePair", "Round", "Finding", "Format", "Reading",
    "read_pairs", "Agreement", "Comparison", "BeyondChance", "BeyondChanceSection", "Caution",
    "CellAgreement", "Contingency", "Correction", "EditModel", "Figure", "FleissKappa",
    "KrippendorffAlpha", "Overlap", "OverlapRow", "Pairing", "PairingSection",
    "SentenceAgreement", "Together", "Interval", "LinkScore", "PhraseListScore", "PhraseScore",
    "Score", "Signature", "Comparisons", "MacroScore", "macro_ratios", "link_ratios",
    "phrase_ratios", "Audit", "AuditResult", "JudgmentAgreement", "Item", "Origin", "Rate",
    "PhraseEntry", "Paraphrase",
}  # fmt: skip


def test_all_that_is_public_is_in_the_table():
    """Who adds a function says here what is wrong for each of its arguments."""
    public = {
        name
        for module in (
            *(alignkit, aligner, agreement, audit, scoring),
            *(formats, report, tables, vectors),
        )
        for name in module.__all__
        if inspect.isclass(found := getattr(module, name)) or inspect.isfunction(found)
    }
    assert public - RESULTS - {name.split(".")[0] for name in CALLS} == set()
    assert public > RESULTS
    for name, (function, _, wrong) in CALLS.items():
        parameters = inspect.signature(function).parameters.values()
        options = [one for one in parameters if one.kind is one.VAR_KEYWORD]
        assert options or {one.name for one in parameters} - {"signature"} <= {*wrong}, name


@pytest.mark.parametrize("name", CALLS)
def test_what_is_right_is_taken(name):
    function, right, wrong = CALLS[name]
    function(**right)
    for argument, values in wrong.items():
        if values in (COUNT, MAYBE_COUNT, INDEX) and isinstance(right.get(argument), int):
            function(**{**right, argument: np.int64(right[argument])})


@pytest.mark.parametrize(
    ("name", "argument"), [(name, one) for name, call in CALLS.items() for one in call[2]]
)
def test_what_is_wrong_is_refused_by_name(name, argument):
    function, right, wrong = CALLS[name]
    for value in wrong[argument]:
        with pytest.raises((TypeError, ValueError)) as caught:
            function(**{**right, argument: value})
        assert isinstance(caught.value, AlignkitError), (value, caught.value)
        names = {argument, argument.removesuffix("s"), argument.replace("_", " ")}
        names |= INNER.get(argument, set())
        assert any(one in str(caught.value) for one in names), (value, str(caught.value))
        assert "object has no attribute" not in str(caught.value)
        assert len(str(caught.value)) < 300


def test_words_in_one_text_are_told_to_be_split():
    for call in (
        lambda: Vocabulary().encode("a b"),
        lambda: SentencePair("1", "a b", ["c"]),
        lambda: alignkit.extract_phrases(LINKS, source="a b", target=["c", "d"]),
    ):
        with pytest.raises((TypeError, ValueError), match="split the text"):
            call()


def test_both_texts_and_words_are_aligned():
    """Where a text is taken on purpose, it is."""
    known = Aligner.train([TEXTS, TEXTS], model="ibm1", threads=1)
    assert known.align("the house", "das haus") == known.align(*TEXTS)
    for wrong in (None, b"the", 3, ["a", 3]):
        with pytest.raises(ArgumentError, match="target"):
            known.align("the house", wrong)
        with pytest.raises(ArgumentError, match="source"):
            known.posteriors(wrong, "das haus")
    for wrong in (None, "1", 0.5, True):
        with pytest.raises(ArgumentError, match="threads") if wrong else nothing():
            known.align_bitext([TEXTS], threads=wrong)
    with pytest.raises(OptionError, match="threshold is nan"):
        known.align_bitext([TEXTS], threshold=float("nan"))
    with pytest.raises(ArgumentError, match="least"):
        known.lexicon("0.1")
    with pytest.raises(OptionError, match="least is nan"):
        known.lexicon(float("nan"))


def nothing():
    from contextlib import nullcontext

    return nullcontext()


def test_corpora_are_added_to_corpora():
    with pytest.raises(TypeError, match="unsupported operand"):
        CORPUS + [PAIR]  # noqa: RUF005


def test_places_are_counted_from_the_end_as_in_a_list():
    found = alignkit.extract_phrases(LinkArrays.pack([LINKS, Alignment()]))
    assert found.pair(-2) == found.pair(0)
    with pytest.raises(IndexError, match="k is 2, but there are 2 sentence pairs"):
        found.pair(2)


def test_an_alias_with_a_name_of_its_own_is_looked_into():
    class Numbers:  # as `type Numbers = np.ndarray` makes it on Python 3.12, NumPy 2.5 for NDArray
        __value__ = np.ndarray

    def count(numbers):
        check_arguments(count, {"numbers": numbers})

    count.__annotations__ = {"numbers": Numbers}
    count(np.zeros(2))
    with pytest.raises(ArgumentError, match="numbers is the one text 'a'; it must be an array"):
        count("a")
