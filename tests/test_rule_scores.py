"""Rules of a system's alignments are scored against those of a gold standard."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_paraphrase import nested, nodes_of
from reference_rules import score_row as row
from strategies import made_tree as as_tree

from alignkit import Alignment, Corpus, LinkArrays, SentencePair
from alignkit.io.options import ReadOptions
from alignkit.rules.rule_score import COLUMNS, RuleScore, count_rules, rule_ratios
from alignkit.scoring.files import FileOptions, LinkCorpus, TwoFiles
from alignkit.scoring.settings import Signature

LABELS, WORDS = st.sampled_from("AB"), st.sampled_from("aAbc")
TREES = nodes_of(LABELS, WORDS).map(as_tree)


@st.composite
def aligned_trees(draw):
    source, target = draw(TREES), draw(TREES)
    cells = st.tuples(st.integers(0, len(source.words) - 1), st.integers(0, len(target.words) - 1))
    first, second = (draw(st.frozensets(cells, max_size=6)) for _ in range(2))
    return source, target, first, second


def counted(pairs):
    sources, targets, first, second = zip(*pairs, strict=True)
    sides = (LinkArrays.pack(map(Alignment, side)) for side in (first, second))
    return count_rules(sources, targets, *sides)


@given(st.lists(aligned_trees(), min_size=1, max_size=3))
def test_counts_are_those_of_sets_of_rules(pairs):
    assert counted(pairs).tolist() == [row(*pair) for pair in pairs]


@given(st.lists(aligned_trees(), min_size=1, max_size=3))
def test_a_gold_standard_agrees_with_itself(pairs):
    found = counted([(source, target, links, links) for source, target, links, _ in pairs])
    for total, right in (
        ("rules", "rules_found"),
        ("rules", "nodes_found"),
        ("changing", "changing_found"),
    ):
        columns = [COLUMNS.index(f"{side}_{x}") for side in ("hyp", "ref") for x in (total, right)]
        assert len(set(map(tuple, found[:, columns].T.tolist()))) == 1


def test_rules_and_nodes_by_hand():
    for words, found in ((2, [1, 1, 1]), (3, [1, 0, 1])):
        tree = as_tree(nested(f"(A {' '.join(f'(B w{k})' for k in range(words))})"))
        block = {(i, j) for i in range(words) for j in range(words)}
        row = counted([(tree, tree, block, {(k, k) for k in range(words)})])[0]
        assert (row[:3].tolist(), row[6:9].tolist()) == (found, [words + 1, 0, 1])
    tree = as_tree(nested("(A (B (C (D (X a) (Y b)))) (Z c))"))
    straight, crossed = {(0, 0), (1, 1), (2, 2)}, {(0, 1), (1, 0), (2, 2)}
    found = counted([(tree, tree, straight | crossed, straight)])[0]
    # A, B, C, D, Z; and X and Y too, by which D is another rule
    assert dict(zip(COLUMNS, found.tolist(), strict=True)) == {
        "hyp_rules": 5,
        "hyp_rules_found": 5,
        "hyp_nodes_found": 5,
        "hyp_changing": 0,
        "hyp_changing_found": 0,
        "hyp_changing_nodes_found": 0,
        "ref_rules": 7,
        "ref_rules_found": 4,
        "ref_nodes_found": 5,
        "ref_changing": 0,
        "ref_changing_found": 0,
        "ref_changing_nodes_found": 0,
    }
    # D, X and Y are no identities: D has its variables in another order
    assert counted([(tree, tree, crossed, straight)])[0][:6].tolist() == [7, 4, 5, 3, 0, 1]


def test_ratios_and_intervals_and_media():
    rows = np.array([[4, 3, 4, 2, 1, 1, 5, 4, 5, 2, 1, 2], [2, 2, 2, 0, 0, 0, 1, 1, 1, 0, 0, 0]])
    score = RuleScore.from_rows(rows, {"without trees": 1}, Signature(version="1"))
    assert score.measures["rules.precision"] == score.measures["rules.recall"] == 5 / 6
    assert score.measures["nodes-changing.precision"] == 1 / 2
    assert score.measures["nodes-changing.recall"] == 1
    assert score.measures["nodes-changing.f1"] == pytest.approx(2 / 3)
    assert "\nnot scored: 1 pair without trees\n" in str(score)
    drawn = score.with_intervals(resamples=50)
    assert "[75.0, 100.0]" in str(drawn)
    assert drawn.to_json()["intervals"]["rules.precision"]["low"] == 0.75
    assert "30" in drawn.cautions[0]
    assert score.to_json()["rules"]["precision"] == 5 / 6
    assert score.csv().splitlines()[0] == "level,precision,recall,f1,hypothesis,reference"
    assert np.isnan(rule_ratios(np.zeros((1, 12)))["rules.f1"]).all()
    assert rule_ratios(np.array([[3, *[0] * 11]]))["rules.f1"].tolist() == [0]  # none is right


def test_the_trees_of_a_reference_come_before_those_of_the_hypothesis():
    tree = as_tree(nested("(A (B a))"))
    other = as_tree(nested("(A (C a))"))

    def pair_of(annotator, **trees):
        return SentencePair("1", ("a",), ("a",), {annotator: Alignment.parse("0-0")}, **trees)

    def trees_of(reference, hypothesis):
        sides = [LinkCorpus(Corpus([pair])) for pair in (hypothesis, reference)]
        (pair,) = TwoFiles(lambda: tuple(sides), FileOptions(ReadOptions())).annotated()
        return dict(pair.source_trees), dict(pair.target_trees)

    parsed = pair_of("system", source_trees={"x": other}, target_trees={"x": other})
    with_target = pair_of("gold", target_trees={"x": tree})
    assert trees_of(with_target, parsed) == ({}, {"x": tree})
    with_source = pair_of("gold", source_trees={"x": tree})
    assert trees_of(with_source, parsed) == ({"x": tree}, {})
    assert trees_of(pair_of("gold"), parsed) == ({"x": other}, {"x": other})
