"""Grammars: types merged over a corpus, their weights, kinds and bounds."""

from collections import Counter, defaultdict
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from strategies_rules import leaves_of
from test_rules import parsed_pairs

from alignkit import Alignment, SentencePair, Tree
from alignkit.errors import ArgumentError, NotAlignedError, OptionError, UnknownNameError
from alignkit.rules import (
    KINDS,
    Node,
    Variable,
    extract_rules,
    kind_of,
    learn_grammar,
    learning,
    rule_counts,
    rule_text,
)
from alignkit.rules.files.notation import parse_rule

CORPORA = st.lists(parsed_pairs(), min_size=1, max_size=4)


def mirrored(rule):
    target = rule_text(rule).partition(" ||| ")[2]
    return parse_rule(f"{target} ||| {target}").target


@given(CORPORA, st.integers(1, 2))
def test_types_are_the_rules_of_all_pairs_counted(pairs, size):
    counts, seen = Counter(), defaultdict(set)
    for k, found in enumerate(extract_rules(pairs)):
        for part in range(1, size + 1):
            counts.update(map(rule_text, found.composed(part)))
            for rule in found.composed(part):
                seen[rule_text(rule)].add(k)
    grammar = learn_grammar(pairs, size=size)
    assert {rule_text(one.rule): (one.count, one.pairs) for one in grammar} == {
        text: (count, len(seen[text])) for text, count in counts.items()
    }
    order = [(-one.count, rule_text(one.rule)) for one in grammar]
    assert order == sorted(order)


@given(CORPORA, st.sampled_from(["stsg", "s2t"]))
def test_probabilities_sum_to_one(pairs, kind):
    grammar = learn_grammar(pairs, grammar=kind)
    sums = defaultdict(float)
    for one in grammar:
        sums["target", one.rule.source] += one.p_target
        sums["source", mirrored(one.rule)] += one.p_source
        roots = (side.label if isinstance(side, Node) else "" for side in one.rule)
        sums[("rule", *roots)] += one.p_rule
        assert one.p_target == one.count / sum(
            other.count for other in grammar if other.rule.source == one.rule.source
        )
    assert all(value == pytest.approx(1) for value in sums.values())


@given(CORPORA)
def test_exchanging_sides_exchanges_the_weights_of_rules_without_a_choice(pairs):
    grammar = learn_grammar(pairs)
    turned = learn_grammar([pair.transpose() for pair in pairs])
    assert grammar.tokens == turned.tokens
    found = {mirrored_rule(one.rule): one for one in turned}
    if set(found) == {rule_text(one.rule) for one in grammar}:
        for one in grammar:
            other = found[rule_text(one.rule)]
            assert one.p_target == pytest.approx(other.p_source)
            assert one.p_rule == pytest.approx(other.p_rule)
            assert one.lexical_target == pytest.approx(other.lexical_source)


def mirrored_rule(rule):
    source, _, target = rule_text(rule).partition(" ||| ")
    return rule_text(parse_rule(f"{target} ||| {source}"))


@given(CORPORA)
def test_lexical_weights_are_those_of_koehn_and_others(pairs):
    counts, lone = Counter(), (Counter(), Counter())
    for pair in pairs:
        links = pair.alignment("gold").sure
        counts.update((pair.source[i], pair.target[j]) for i, j in links)
        for side in (0, 1):
            used = {link[side] for link in links}
            lone[side].update(w for k, w in enumerate(pair.words[side]) if k not in used)
    best = defaultdict(float)
    for found in extract_rules(pairs):
        for token in found.tokens():
            left, right = (list(leaves_of(side)) for side in token.rule)
            shares = []
            for j, word in enumerate(right):
                if isinstance(word, str):
                    mine = [left[i] for i, k in token.alignment if k == j]
                    sums = {w: sum(n for (s, _), n in counts.items() if s == w) for w in mine}
                    total = sum(counts[w, word] / sums[w] for w in mine)
                    alone = lone[1][word] / max(1, lone[1].total())
                    shares.append(total / len(mine) if mine else alone)
            text = rule_text(token.rule)
            best[text] = max(best[text], prod(shares))
    for one in learn_grammar(pairs):
        assert one.lexical_target == pytest.approx(best[rule_text(one.rule)])


@given(CORPORA)
def test_the_size_of_blocks_does_not_matter(pairs):
    whole = learn_grammar(pairs, size=2, examples=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "_BLOCK", 1)
        patch.setattr(rule_counts, "_PENDING", 0)
        assert learn_grammar(pairs, size=2, examples=2) == whole


def test_weights_of_a_small_corpus_by_hand():
    made = []
    for k, target in enumerate(["the", "the", "a", "a dog"]):
        trees = [
            Tree.parse(f"(NP {' '.join(f'(X {word})' for word in side.split())})")
            for side in ("the", target)
        ]
        pair = SentencePair(str(k), *(tree.words for tree in trees), {"g": Alignment.parse("0-0")})
        made.append(pair.with_trees("g", source=trees[0], target=trees[1]))
    found = {rule_text(one.rule): one for one in learn_grammar(made, examples=1)}
    one = found['X("the") ||| X("a")']
    assert (one.count, one.pairs, one.p_target, one.p_source, one.p_rule) == (2, 2, 0.5, 1, 0.5)
    assert (one.lexical_target, one.lexical_source, one.alignment) == (0.5, 1.0, ((0, 0),))
    assert [(e.id, e.source_span, e.target_span) for e in one.examples] == [("2", (0, 1), (0, 1))]
    longer = found['NP(x0:X) ||| NP(x0:X X("dog"))']
    assert (longer.p_target, longer.p_rule, longer.lexical_target) == (0.25, 0.25, 1.0)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('NP(x0:DT NN("Dog")) ||| NP(x0:DT NN("dog"))', "identity"),
        ('NN("dog") ||| NNP("dog")', "same-words"),
        ('NP(x0:DT NN("dog")) ||| NP(x0:PRP$ NN("dog"))', "same-words"),
        ("NP(x0:NN) ||| NP(x0:NNS)", "relabelling"),
        ("NP(NP(x0:NN x1:NN)) ||| NP(x0:NN x1:NN)", "relabelling"),
        ('NN("dog") ||| NP(NN("hound"))', "lexical"),
        ('NN("dog") ||| NP(JJ("old") NN("dog"))', "phrasal"),
        ('NP(x0:NN) ||| NP(DT("a") x0:NN)', "monotone+words"),
        ("S(x0:NP x1:VP) ||| S(x1:VP x0:NP)", "reordering"),
        ('NP(x0:NN POS("s") x1:NN) ||| NP(x1:NN IN("of") x0:NN)', "reordering+words"),
        ("NP(x0:NP d0:PP) ||| NP(x0:NP)", "monotone+words"),
        ('NN("dog") ||| "dog"', "same-words"),
        ("NP(x0:NN) ||| x0", "relabelling"),
    ],
)
def test_a_rule_is_of_the_first_kind_that_fits(text, kind):
    assert kind_of(parse_rule(text)) == kind


def measured(side):
    if isinstance(side, Node):
        below = [measured(item) for item in side.children if not isinstance(item, str)]
        variables, nodes, depths = zip(*below, strict=True) if below else ((), (), (0,))
        return sum(variables), 1 + sum(nodes), 1 + max(depths)
    assert isinstance(side, Variable)
    return 1, 1, 1


@given(CORPORA, st.integers(0, 2), st.integers(1, 4), st.integers(1, 3))
def test_bounds_keep_what_is_within_them_and_count_the_rest(pairs, variables, nodes, depth):
    every = [rule for found in extract_rules(pairs) for rule in found.minimal]
    kept = Counter()
    for rule in every:
        figures = [max(both) for both in zip(*map(measured, rule), strict=True)]
        if figures[0] <= variables and figures[1] <= nodes and figures[2] <= depth:
            kept[rule_text(rule)] += 1
    grammar = learn_grammar(pairs, max_variables=variables, max_nodes=nodes, max_depth=depth)
    assert Counter({rule_text(one.rule): one.count for one in grammar}) == kept
    assert sum(grammar.dropped.values()) == len(every) - kept.total()


def test_a_grammar_is_chosen_from(tmp_path):
    tree, other = Tree.parse("(S (A a) (B b))"), Tree.parse("(S (A a) (B c))")
    pair = SentencePair("1", tree.words, other.words, {"g": Alignment.parse("0-0 1-1")})
    grammar = learn_grammar([pair.with_trees("g", source=tree, target=other)] * 2)
    assert repr(grammar) == "Grammar(3 types of 6 rules, stsg)"
    assert [one.kind for one in grammar.select(identity=False)] == ["lexical"]
    assert [one.kind for one in grammar.select(kinds=["identity"])] == ["identity"] * 2
    assert len(grammar.select(min_count=3)) == 0
    assert (grammar.kinds()["lexical"], list(grammar.kinds())) == ((2, 1), list(KINDS))
    refuses(UnknownNameError, "lexicall", grammar.select, kinds=["lexicall"])


def test_pairs_that_give_no_rules_are_counted():
    tree = Tree.parse("(A a)")
    gold = {"g": Alignment.parse("0-0")}
    pairs = [
        SentencePair("1", ["a"], ["a"], gold).with_trees("t", source=tree, target=tree),
        SentencePair("2", ["a"], ["a"], gold).with_trees("t", source=tree),
        SentencePair("3", ["a"], ["a"], {}),
        SentencePair("4", None, None, gold),
    ]
    grammar = learn_grammar(pairs)
    assert (len(grammar), grammar.pairs) == (1, 1)
    assert grammar.passed_over == {"not parsed": 1, "not aligned": 1, "without words": 1}
    with pytest.raises(UnknownNameError, match="the corpus: 'anna'"):
        learn_grammar(pairs, annotator="anna")
    refuses((UnknownNameError, NotAlignedError), None, learn_grammar, pairs[3:], annotator="anna")
    assert len(learn_grammar([])) == 0
    refuses(ArgumentError, r"pairs\[0\] is 7", learn_grammar, [7])
    bare = SentencePair("1", ["a"], ["a"], gold)
    grammar = learn_grammar([bare, bare.with_trees("t", source=Tree.parse("(A a)"))], grammar="s2t")
    assert [rule_text(one.rule) for one in grammar] == ['A("a") ||| "a"']
    assert grammar.passed_over == {"not parsed": 1}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"all": True, "size": 2}, "exclude each other"),
        ({"all": True, "grammar": "s2t"}, "trees on both sides"),
        ({"size": 0}, "`size` is 0"),
        ({"max_nodes": 0}, "max_nodes is 0"),
        ({"max_variables": -1}, "max_variables is -1"),
        ({"examples": -1}, "`examples` is -1"),
        ({"string": "source"}, "grammar='s2t'"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(given, told):
    refuses(OptionError, told, learn_grammar, [], **given)


def test_a_pair_counts_once_for_a_type_that_is_a_rule_of_two_sizes_there():
    tree = Tree.parse("(S (PP (IN of) (NP a)) (PP (IN of) (NP a)))")
    pair = SentencePair("1", tree.words, tree.words, {"g": Alignment.parse("1-1 2-2 3-3")})
    grammar = learn_grammar([pair.with_trees("g", source=tree, target=tree)], size=2, examples=2)
    found = {one.rule.source: one for one in grammar}
    one = found[Node("PP", (Node("IN", ("of",)), Variable(0, "NP")))]
    assert (one.count, one.pairs, len(one.examples)) == (2, 1, 1)
