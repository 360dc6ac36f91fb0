"""Derivations of aligned trees, compared with the plain reference."""

import pickle
from collections import Counter

import numpy as np
import pytest
import reference_rules as plain
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from strategies import tree_of
from strategies_rules import leaves_of as flat

from alignkit import Alignment, SentencePair, Tree
from alignkit.errors import MissingTextError, OptionError, TreeError, UnknownNameError
from alignkit.rules import Variable, extract_rules, rule_text
from alignkit.rules.derivation import rule_reader
from alignkit.rules.derivation.nodes_kernel import best_places

WORDS = st.lists(st.sampled_from("abc"), max_size=5)


@st.composite
def parsed_pairs(draw):
    source, target = draw(WORDS), draw(WORDS)
    cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
    links = draw(st.lists(st.sampled_from(cells), max_size=6)) if cells else []
    trees = [draw(tree_of(words, st.sampled_from("AB"), most=9)) for words in (source, target)]
    pair = SentencePair("1", source, target, {"gold": Alignment(links)})
    return pair.with_trees("gold", source=trees[0], target=trees[1])


def parts(pair):
    links = sorted({(i, j) for i, j in pair.alignment("gold").sure})
    return pair.tree("source"), pair.tree("target"), links


def cuts(tokens):
    return sorted((token.root, list(token.variables)) for token in tokens)


@given(parsed_pairs())
def test_minimal_rules_are_those_of_the_definition(pair):
    source, target, links = parts(pair)
    expected = plain.minimal(source, target, links)
    found = extract_rules(pair)
    assert cuts(found.tokens()) == sorted((root, sorted(below)) for root, below in expected)
    assert list(found.minimal) == [plain.rule_at(source, target, *cut) for cut in expected]
    assert found.matched.tolist() == [list(root) for root, _ in expected]


@given(parsed_pairs())
def test_rules_of_all_consistent_nodes_share_the_count_of_their_class(pair):
    source, target, links = parts(pair)
    expected = [
        (rule_text(plain.rule_at(source, target, root, below)), count)
        for root, below, count in plain.everywhere(source, target, links)
    ]
    found = extract_rules(pair)
    assert sorted((rule_text(token.rule), token.count) for token in found.all) == sorted(expected)
    assert sum(token.count for token in found.all) == pytest.approx(len(found))
    nodes = sorted(map(tuple, found.consistent.tolist()))
    assert nodes == sorted(plain.consistent(source, target, links))


@given(parsed_pairs(), st.integers(1, 4))
def test_composed_rules_are_connected_sets_of_minimal_ones(pair, size):
    source, target, links = parts(pair)
    pairs = plain.matched_nodes(source, target, links)
    expected = [(root, sorted(below)) for root, below in plain.composed(source, pairs, size)]
    found = extract_rules(pair)
    assert cuts(found.tokens(size)) == sorted(expected)
    assert len(found.composed(2)) == max(0, len(found) - 1)
    rules = Counter(rule_text(plain.rule_at(source, target, *cut)) for cut in expected)
    assert Counter(map(rule_text, found.composed(size))) == rules


@given(parsed_pairs(), st.booleans())
def test_minimal_rules_alone_give_both_trees_back(pair, deletions):
    found = extract_rules(pair, deletions=deletions)
    if len(found):
        assert found.recompose() == (pair.tree("source"), pair.tree("target"))
    else:
        assert not pair.alignment("gold").sure
        refuses(OptionError, "has no links", found.recompose)


@given(parsed_pairs())
def test_linked_words_lie_in_one_minimal_rule(pair):
    found = extract_rules(pair)
    for i, j in pair.alignment("gold").sure:
        assert found.source_rules[i] == found.target_rules[j] >= 0
    for side, held in enumerate((found.source_rules, found.target_rules)):
        leaves = ((k, leaf) for k, rule in enumerate(found.minimal) for leaf in flat(rule[side]))
        words = Counter((k, leaf) for k, leaf in leaves if isinstance(leaf, str))
        assert words == Counter(zip(held.tolist(), pair.words[side], strict=True)) or not len(found)
    joined = Counter()
    for token in found.tokens():
        source, target = list(flat(token.rule.source)), list(flat(token.rule.target))
        joined.update((source[i], target[j]) for i, j in token.alignment)
    links = pair.alignment("gold").sure
    assert joined == Counter((pair.source[i], pair.target[j]) for i, j in links)


@given(parsed_pairs(), st.sampled_from(["source", "target"]))
def test_string_to_tree_rules_are_those_of_the_definition(pair, string):
    source, target, links = parts(pair)
    tree, words, turned = (source, pair.target, links)
    if string == "source":
        tree, words, turned = target, pair.source, [(j, i) for i, j in links]
    expected = []
    for root, below, items in plain.string_rules(tree, words, turned):
        order = [item for item in items if not isinstance(item, str)]
        numbers = {node: k for k, node in enumerate(order if string == "source" else below)}
        side = tuple(x if isinstance(x, str) else Variable(numbers[x]) for x in items)
        fragment = plain.fragment(tree, root, {node: node for node in below}, numbers)
        expected.append((side, fragment) if string == "source" else (fragment, side))
    found = extract_rules(pair, grammar="s2t", string=string)
    assert sorted(map(rule_text, found.minimal)) == sorted(
        rule_text(type(found.minimal[0])(*sides)) for sides in expected
    )
    if len(found):
        assert found.recompose() == ((words, tree) if string == "source" else (tree, words))


@given(parsed_pairs(), st.sampled_from([0, 1]), st.integers(2, 4))
def test_composed_string_to_tree_rules_keep_every_word(pair, side, size):
    found = extract_rules(pair, grammar="s2t", string=("source", "target")[side])
    matched, spans = map(tuple, found.matched.tolist()), found.spans[:, 2 * side :][:, :2].tolist()
    words = dict(zip(matched, [pair.words[side][slice(*span)] for span in spans], strict=True))
    for token in found.tokens(size):
        back = [
            (item,) if isinstance(item, str) else words[token.variables[item.number]]
            for item in token.rule[side]
        ]
        assert sum(back, ()) == words[token.root]


@given(parsed_pairs())
def test_deletions_are_the_highest_constituents_without_links(pair):
    source, target, links = parts(pair)
    found = extract_rules(pair, deletions=True)
    for side, kind, tree in ((0, "d", source), (1, "i", target)):
        lone = plain.deleted(tree, links, side)
        leaves = (leaf for rule in found.minimal for leaf in flat(rule[side]))
        made = Counter(x.label for x in leaves if isinstance(x, Variable) and x.kind == kind)
        assert made == (Counter(tree.labels[u] for u in lone) if len(found) else Counter())


@given(st.lists(parsed_pairs(), max_size=4))
def test_pairs_are_derived_together_as_alone(pairs):
    for pair, found in zip(pairs, extract_rules(pairs), strict=True):
        alone = extract_rules(pair)
        assert (found.minimal, found.all) == (alone.minimal, alone.all)
        assert found.tokens(2) == alone.tokens(2)
        assert found.spans.tolist() == alone.spans.tolist()


def test_pairs_derived_one_by_one_share_a_reader_that_stays_small(monkeypatch):
    tree = Tree.parse("(S (NP (NNS dogs)) (VP (VBP bark)))")
    pair = SentencePair("1", tree.words, tree.words, {"gold": Alignment.parse("0-0 1-1")})

    def derived():
        return extract_rules(pair, source_tree=tree, target_tree=tree)

    first, second = derived(), derived()
    assert first.minimal[1].source is second.minimal[1].target
    assert pickle.loads(pickle.dumps(second)).minimal == second.minimal
    monkeypatch.setattr(rule_reader, "_MOST_SIDES", 8)
    monkeypatch.setattr(rule_reader, "_MOST_TEXTS", 4)
    third = derived()
    assert third.minimal == first.minimal
    assert third._derived.reader is not first._derived.reader
    assert third._derived.reader.side.cache_info().currsize <= 8


def test_a_chain_is_matched_by_labels_and_the_string_has_no_trees():
    def places(names, others):
        numbers = [np.array([*map(ord, text)], np.int32) for text in (names, others)]
        return best_places(*numbers).tolist()

    assert (places("A", "BAA"), places("A", "BBB")) == ([1], [0])
    assert places("AB", "CACBA") == [1, 3]
    assert places("AB", "BAA") == [1, 2]  # one equal label either way: the lower A
    assert places("", "AB") == []
    pair = SentencePair("1", ["a"], ["b"], {"gold": Alignment.parse("0-0")})
    (rule,) = extract_rules(pair, grammar="s2t", source_tree=Tree.parse("(A a)")).minimal
    assert rule_text(rule) == 'A("a") ||| "b"'
    (rule,) = extract_rules(pair, grammar="s2t", target_tree=Tree.parse("(A b)")).minimal
    assert rule_text(rule) == '"a" ||| A("b")'


def test_a_deep_tree_is_no_harder():
    def deep(words):
        return "".join(f"(A (B {word}) " for word in words) + ")" * len(words)

    words = [f"w{k}" for k in range(5_000)]
    tree = Tree.parse(deep(words))
    pair = SentencePair("1", words, words, {"gold": Alignment((k, k) for k in range(5_000))})
    found = extract_rules(pair, source_tree=tree, target_tree=tree)
    assert (len(found), found.recompose()) == (10_000, (tree, tree))
    lone = SentencePair("1", words, words, {"gold": Alignment([(4_999, 4_999)])})
    found = extract_rules(lone, source_tree=tree, target_tree=tree)
    assert len(found) == 5_001  # one class: two chains that fit one to one
    assert found.recompose() == (tree, tree)
    short = SentencePair("1", words, ["a"], {"gold": Alignment([(4_999, 0)])})
    (whole,) = extract_rules(short, source_tree=tree, target_tree=Tree.parse("(A a)")).minimal
    assert len(rule_text(whole)) > 50_000


def test_what_cannot_be_derived_is_told():
    pair = SentencePair("7", ["a"], ["b"], {"gold": Alignment.parse("0-0")})
    tree = Tree.parse("(A a)")
    both = pair.with_annotation("anna", Alignment())
    for wrong, options, kind, told in (
        (pair, {}, MissingTextError, "pair '7' has no source tree"),
        (pair, {"source_tree": tree}, MissingTextError, "pair '7' has no target tree"),
        (pair, {"source_tree": tree, "target_tree": tree}, TreeError, "does not fit"),
        (pair, {"links": "certain"}, UnknownNameError, "links"),
        (pair, {"grammar": "tree"}, UnknownNameError, "unknown grammar 'tree'"),
        (pair, {"string": "source"}, OptionError, "grammar='s2t'"),
        ([pair], {"source_tree": tree}, OptionError, "one tree for several pairs"),
        (both, {"source_tree": tree}, OptionError, "aligned by gold, anna; name one"),
        (pair.without_annotations("gold"), {"source_tree": tree}, OptionError, "by nobody"),
        (pair, {"annotator": "ben"}, UnknownNameError, "ben"),
    ):
        refuses(kind, told, extract_rules, wrong, **options)
    assert extract_rules([]) == []


def test_more_composed_rules_than_can_be_held_are_refused():
    words = [f"w{k}" for k in range(60)]
    tree = Tree.parse("(S " + " ".join(f"(A {word})" for word in words) + ")")
    pair = SentencePair("1", words, words, {"gold": Alignment((k, k) for k in range(60))})
    found = extract_rules(pair, source_tree=tree, target_tree=tree)
    refuses(OptionError, "20 minimal ones each", found.composed, 20)
