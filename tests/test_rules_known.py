"""Rules of the parsed, hand-aligned corpus of Edinburgh: the numbers that are known of it."""

from collections import defaultdict

import numpy as np
import pytest

from alignkit import Corpus, LinkArrays, attach_trees, extract_phrases, read_corpus
from alignkit.rules import extract_rules, learn_grammar, rule_text

pytestmark = pytest.mark.real_data

# computed twice, independently, from the definition alone
SURE = {
    "consistent": 28_052,
    "classes": 16_760,
    "one to one": 12_915,
    "minimal": 19_566,
    "size 2": 18_852,
    "types": 7_460,
    "not identity": (4_840, 4_333),
}
POSSIBLE = {
    "consistent": 26_516,
    "classes": 17_375,
    "one to one": 13_785,
    "minimal": 19_783,
    "size 2": 19_069,
    "types": 7_481,
    "not identity": (5_088, 4_382),
}
KINDS = {
    "identity": 14_726,
    "same-words": 383,
    "relabelling": 445,
    "lexical": 1_409,
    "phrasal": 195,
    "monotone+words": 1_992,
    "reordering": 68,
    "reordering+words": 348,
}
PRINTED = (
    'VP(VBD("rose")) ||| VP(VBD("stood") PRT(RP("up")))',
    "S(x0:'' x1:S x2:, VP(x3:VBD x4:NP) x5:.) ||| S(x0:'' x1:S x2:, x4:NP VP(x3:VBD) x5:.)",
    'NP(NP(x0:DT x1:NN) PP(IN("of") NP(x2:NNP))) ||| NP(x0:DT x2:NNP x1:NN)',
)


def parsed(data, name):
    pairs = read_corpus(data / "edinburgh" / name)
    return Corpus(attach_trees(pairs, both_trees=data / "edinburgh" / "train.parsed.xml.gz"))


@pytest.fixture(scope="module")
def sure(data):
    return parsed(data, "gold.train.sure.json")


@pytest.fixture(scope="module")
def grammar(sure):
    return learn_grammar(sure)


@pytest.mark.parametrize(("links", "known"), [("sure", SURE), ("possible", POSSIBLE)])
def test_the_table_comes_out(data, links, known, sure, grammar):
    pairs = sure if links == "sure" else parsed(data, "gold.train.sure+poss.json")
    derivations = extract_rules(pairs, links=links)
    arrays = derivations[0]._derived.arrays
    begins = arrays.classes.source_begins, arrays.classes.target_begins
    sizes = np.stack([*map(np.diff, begins)], axis=1)
    assert (len(arrays.source.labels), len(arrays.target.labels)) == (28_963, 29_640)
    assert int(sizes.prod(axis=1).sum()) == known["consistent"]
    assert len(sizes) == known["classes"]
    assert int((sizes.max(axis=1) == 1).sum()) == known["one to one"]
    assert sum(map(len, derivations)) == known["minimal"]
    assert len(arrays.composed(2).roots) == known["size 2"]
    grammar = grammar if links == "sure" else learn_grammar(pairs, links=links)
    changing = grammar.select(identity=False)
    assert (grammar.tokens, len(grammar)) == (known["minimal"], known["types"])
    assert (changing.tokens, len(changing)) == known["not identity"]
    for derivation, pair in zip(derivations, pairs, strict=True):
        assert derivation.recompose() == (pair.tree("source"), pair.tree("target"))


def test_kinds_and_counts_and_printed_rules_come_out(grammar):
    assert {kind: tokens for kind, (tokens, _) in grammar.kinds().items()} == KINDS
    assert sum(one.count == 1 for one in grammar.select(identity=False)) == 4_070
    assert {rule_text(one.rule) for one in grammar}.issuperset(PRINTED)


def test_bounds_come_out(sure):
    grammar = learn_grammar(sure, size=2, max_variables=5, max_nodes=15)
    assert grammar.sizes == {1: 19_037, 2: 13_948}
    assert sum(grammar.dropped.values()) == 19_566 + 18_852 - 19_037 - 13_948


def test_rules_of_all_consistent_nodes_come_out(sure):
    grammar = learn_grammar(sure, all=True)
    assert len(extract_rules(sure)[0]._derived.arrays.everywhere().roots) == 28_052
    assert (len(grammar), grammar.tokens) == (13_493, 19_566)


def test_string_to_tree_rules_come_out(sure):
    targets = [rule for found in extract_rules(sure, grammar="s2t") for rule in found.minimal]
    assert len(targets) == 22_403  # as many as Moses' extractor finds
    bare = [x for x in targets if len(x.source) == 1 and not isinstance(x.source[0], str)]
    assert len(bare) == 3_955
    assert sum(map(len, extract_rules(sure, grammar="s2t", string="target"))) == 22_489


def test_the_links_of_matched_nodes_span_tight_phrase_pairs(sure):
    arrays = LinkArrays.pack(pair.alignment("alignment") for pair in sure)
    phrases = extract_phrases(arrays, links="sure")
    atomic = classes = atomic_classes = 0
    for k, derivation in enumerate(extract_rules(sure)):
        kinds = {tuple(phrase)[:4]: phrase.kind for phrase in phrases.pair(k)}
        by_source = defaultdict(list)
        for i, j in sure[k].alignment("alignment").sure:
            by_source[i].append(j)

        def hull(start, end, by_source=by_source):
            words = [i for i in range(start, end) if i in by_source]
            others = [j for i in words for j in by_source[i]]
            return words[0], words[-1] + 1, min(others), max(others) + 1

        hulls = [hull(start, end) for start, end, *_ in derivation.spans.tolist()]
        atomic += sum(kinds[span] == "atomic" for span in hulls)  # each is a phrase pair
        atomic_classes += sum(kinds[span] == "atomic" for span in set(hulls))
        classes += sum(kind == "atomic" for kind in kinds.values())
    assert (atomic, atomic_classes, classes) == (12_877, 11_265, 11_723)
