"""Parsed sentences are rewritten by rules: the n best, exactly, with capitals where they belong."""

from math import isclose
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_paraphrase import best, nested, nodes_of, read_off
from refusals import refuses
from strategies import made_tree as as_tree

from alignkit import Tree, attach_trees, read_corpus
from alignkit.errors import OptionError
from alignkit.rules import learn_grammar
from alignkit.rules.grammar import Node, Rule, RuleType, Variable
from alignkit.rules.rewrites import paraphrase
from alignkit.rules.rule_index import RuleIndex, is_minor, wording

SAMPLES = Path(__file__).parent.parent / "samples"


def rule(source, target, p=0.5, count=2):
    return RuleType(Rule(nested(source), nested(target)), count=count, p_target=p)


def rewrites(tree, *rules, nbest=10, **options):
    return paraphrase(as_tree(nested(tree)), RuleIndex.build(rules, **options), nbest=nbest)


def texts(found):
    return [" ".join(one.words) for one in found]


SENTENCE = (
    "(S (NP (DT The) (NN plan)) (VP (VBD was) (ADVP (RB also)) (VP (VBN rejected) "
    "(PP (IN by) (NP (NNP Rome))))) (. .))"
)
ALSO = rule(
    "(S x0:NP (VP x1:VBD (ADVP (RB also)) x2:VP) x3:.)",
    "(S (ADVP (RB Moreover)) (, ,) x0:NP (VP x1:VBD x2:VP) x3:.)",
    0.25,
)
ACTIVE = rule(
    "(S x0:NP (VP (VBD was) x1:ADVP (VP (VBN rejected) (PP (IN by) x2:NP))) x3:.)",
    "(S x2:NP (VP x1:ADVP (VBD rejected) x0:NP) x3:.)",
    0.2,
)
THE = rule("(NP (DT the) x0:NN)", "(NP (DT a) x0:NN)", 0.9)
PLAN = rule("(NN plan)", "(NN proposal)", 0.5)


def test_the_forms_of_the_field_are_rewritten_and_changes_marked():
    found = rewrites(SENTENCE, ALSO, ACTIVE, PLAN)
    assert texts(found) == [
        "The proposal was also rejected by Rome .",
        "Moreover , the plan was rejected by Rome .",
        "Rome also rejected the plan .",
        "Moreover , the proposal was rejected by Rome .",
        "Rome also rejected the proposal .",
    ]
    assert [one.probability for one in found] == [0.5, 0.25, 0.2, 0.125, 0.1]
    assert [(x.rule, x.node, x.start, x.end) for x in found[-1].replacements] == [
        (ACTIVE, 0, 0, 8),
        (PLAN, 3, 1, 2),
    ]
    assert found[-1].origins == (6, 3, 4, 0, -1, 7)
    words = as_tree(nested(SENTENCE)).words
    assert [one.marked(words) for one in rewrites(SENTENCE, ALSO, PLAN)] == [
        "The [plan → proposal] was also rejected by Rome .",
        "[→ Moreover ,] the plan was [also →] rejected by Rome .",
        "[→ Moreover ,] the [plan → proposal] was [also →] rejected by Rome .",
    ]


def test_changes_of_determiners_and_punctuation_come_last():
    comma = rule("(NP x0:DT x1:NN)", "(NP x0:DT x1:NN (, ,))", 0.8)
    found = rewrites(SENTENCE, THE, PLAN, comma)
    assert [(one.words[:3], one.minor) for one in found] == [
        (("The", "proposal", "was"), False),
        (("A", "proposal", "was"), False),
        (("The", "proposal", ","), False),
        (("A", "plan", "was"), True),
        (("The", "plan", ","), True),
    ]
    assert texts(rewrites(SENTENCE, THE, PLAN, comma, nbest=4)) == texts(found)[:4]


@pytest.mark.parametrize(
    ("source", "target", "minor"),
    [
        ("(NP (DT the) x0:NN)", "(NP x0:NN)", True),
        ("(NP (DT the) x0:NN)", "(NP (PRP$ his) x0:NN)", False),
        ("(S x0:`` x1:S)", "(S x1:S x0:'')", True),
        ("(S x0:NP x1:, x2:VP)", "(S x0:NP x2:VP)", True),
        ("(S x0:NP x1:VP)", "(S x1:VP x0:NP)", False),
        ("(NP (CD 5) (NN %))", "(NP (CD 5))", False),
    ],
)
def test_what_is_a_small_change(source, target, minor):
    source, target = nested(source), nested(target)
    places = {("x", k): k for k in range(9)}
    assert is_minor(wording(source, places), wording(target, places)) == minor


def test_rules_that_cannot_be_applied_are_counted():
    rules = [
        PLAN,
        rule("(NN plan)", "(NN Plan)"),  # case alone
        rule("(NP x0:DT x1:NN)", "(NX x0:DT x1:NN)"),  # no word changes
        rule("(TO to)", "(IN of)"),
        rule("(NP x0:DT x1:NN)", "(NP x1:NNS (DT a))"),
        rule("(NP x0:NN)", "(NP x0:NN i0:PP)"),
        rule("(NN plan)", "(NN idea)", count=1),
        rule("(NN plan)", "(NN idea)", count=None),
        rule("(NN plan)", "(NN idea)", p=0.05),
        rule("(NN plan)", "(NN idea)", p=None),
        RuleType(Rule(("a", Variable(0)), nested("(NP b x0:NN)")), count=5, p_target=1),
    ]
    found = RuleIndex.build(rules)
    assert found.kept == 1
    assert found.left_out == {
        "change no word": 1,
        "have other labels on the target side": 3,
        "insert a constituent": 1,
        "have a count below 2": 1,
        "tell no count": 1,
        "have p(target | source) below 0.1": 1,
        "tell no p(target | source)": 1,
        "have a string as their source side": 1,
    }
    assert RuleIndex.build(rules, any_labels=True, min_count=0, min_p=0).kept == 6


def test_a_deleted_constituent_is_left_out_and_a_string_is_said():
    gone = rule("(S x0:NP d0:PP)", "(S x0:NP)")
    came = Rule(nested("(S x0:NP x1:PP)"), (Variable(1), "came", Variable(0)))
    said = RuleType(came, 3.0, p_target=0.5)
    tree = "(S (NP they) (PP (IN on) Monday))"
    assert texts(rewrites(tree, gone, said)) == ["they", "on Monday came they"]


@pytest.mark.parametrize(
    ("tree", "source", "target", "expected"),
    [
        # the first word moves: a pronoun gives its capital up, a name and I do not
        ("(S (PRP He) (VB left))", "(S x0:PRP x1:VB)", "(S x1:VB x0:PRP)", "Left he"),
        ("(S (NNP Rome) (VB left))", "(S x0:NNP x1:VB)", "(S x1:VB x0:NNP)", "Left Rome"),
        ("(S (PRP I) (VB left))", "(S x0:PRP x1:VB)", "(S x1:VB x0:PRP)", "Left I"),
        ("(S (NP (DT A) (NNP UN)) x)", "(S x0:NP x)", "(S x x0:NP)", "X a UN"),
        # where sentences begin small, nothing gets a capital
        ("(S (PRP he) (VB left))", "(S x0:PRP x1:VB)", "(S x1:VB x0:PRP)", "left he"),
        # rules seen at a beginning, and in the midst
        ("(S (X x) (CC but))", "(CC But)", "(CC Yet)", "x yet"),
        ("(S (CC But) (X x))", "(CC but)", "(CC yet)", "Yet x"),
        ("(S (X x) (NN car))", "(NN Car)", "(NN Vehicle)", "x vehicle"),
        ("(S (X x) (NN Auto))", "(NN Auto)", "(NN Wagen)", "x Wagen"),
        ("(S (X x) (NNP rome))", "(NNP Rome)", "(NNP Romulus)", "x Romulus"),
        # words that a rule has on both sides are written as in the sentence
        ("(S (DT THE) (NN EU))", "(S (DT the) (NN eu))", "(S (NN Eu) (DT the) x)", "EU THE x"),
        ("(S `` (RB Also) (X x))", "(S `` x0:RB x1:X)", "(S `` x1:X x0:RB)", "`` X also"),
    ],
)
def test_capitals(tree, source, target, expected):
    assert texts(rewrites(tree, rule(source, target))) == [expected]


LABELS = st.sampled_from(["A", "B", "DT"])
WORDS = st.sampled_from(["a", "b", "C", "c"])
TREES = nodes_of(LABELS, WORDS)


@st.composite
def cut_rules(draw, tree):
    nodes = [tree]
    for node in nodes:
        nodes += [child for child in node.children if isinstance(child, Node)]
    variables = []

    def cut(node):
        items = []
        for child in node.children:
            if isinstance(child, Node) and draw(st.booleans()):
                variables.append(Variable(len(variables), child.label))
                items.append(variables[-1])
            else:
                items.append(cut(child) if isinstance(child, Node) else child)
        return Node(node.label, tuple(items))

    root = draw(st.sampled_from(nodes))
    source = cut(root)
    kept = draw(st.permutations(variables))[: draw(st.integers(0, len(variables)))]
    items = [*kept, *draw(st.lists(WORDS, max_size=1))]
    target = Node(root.label, tuple(draw(st.permutations(items))))
    p = draw(st.sampled_from([1.0, 0.9, 0.5, 0.3, 0.125]))
    return RuleType(Rule(source, target), 2.0, p_target=p)


@given(st.data())
def test_the_n_best_are_those_of_all_combinations(data):
    node = data.draw(TREES)
    rules = data.draw(st.lists(cut_rules(node), max_size=4))
    nbest = data.draw(st.integers(1, 6))
    found = paraphrase(as_tree(node), RuleIndex.build(rules), nbest=nbest)
    plain = []
    for one in rules:
        places = {
            ("x", x.number): x.number for x in read_off(one.rule.source) if isinstance(x, Variable)
        }
        source, target = (wording(side, places) for side in one.rule)
        said, again = ([str(x).casefold() for x in side.items] for side in (source, target))
        if said != again:  # a rule that changes no word is left out
            plain.append((*one.rule, one.p_target, is_minor(source, target)))
    heavy, light = best(node, plain, nbest)
    expected = [p for _, p in [*heavy[:nbest], *light][:nbest]]
    assert [one.probability for one in found] == pytest.approx(expected)
    every = {(words, minor): p for minor, part in enumerate((heavy, light)) for words, p in part}
    for one in found:
        words = tuple(word.casefold() for word in one.words)
        assert isclose(every[words, one.minor], one.probability)
    assert len({tuple(map(str.casefold, one.words)) for one in found}) == len(found)


def test_many_choices_are_not_all_tried():
    rules = [
        rule(f"(N w{k})", f"(N {new}{k})", p)
        for k in range(40)
        for new, p in (("x", 0.9 - k / 100), ("y", 0.3), ("z", 0.2))
    ]
    found = rewrites(f"(S {' '.join(f'(N w{k})' for k in range(40))})", *rules, nbest=5)
    assert [one.probability for one in found] == pytest.approx([0.9, 0.89, 0.88, 0.87, 0.86])
    assert [one.words[3] for one in found] == ["w3", "w3", "w3", "x3", "w3"]


def test_a_tree_of_depth_5000_is_rewritten():
    count = 5000
    steps = np.arange(count, dtype=np.int32)
    tree = Tree(
        tuple(f"w{k}" for k in range(count)),
        ("A",) * count,
        steps - 1,
        steps,
        np.full(count, count, np.int32),
        np.full(count, count, np.int32),
    )
    rules = [rule(f"(A w{count - 1})", "(A end)", 0.5), rule("(A w0 x0:A)", "(A x0:A begin)", 0.4)]
    found = paraphrase(tree, RuleIndex.build(rules), nbest=9)
    assert [one.probability for one in found] == [0.5, 0.4, 0.2]
    assert found[2].words[:1] + found[2].words[-2:] == ("w1", "end", "begin")


def test_what_makes_no_sense_is_refused():
    for p in (1.5, -0.1, float("nan")):
        refuses(OptionError, r"rules\[0\]: p_target", RuleIndex.build, [rule("(N a)", "(N b)", p)])
    with pytest.raises(OptionError, match="only on the target"):
        RuleIndex.build([rule("(N x0:A)", "(N x0:A x1:A)")])
    for wrong in ({"min_p": 2}, {"min_count": -1}):
        refuses(OptionError, next(iter(wrong)), RuleIndex.build, [], **wrong)
    refuses(OptionError, "`nbest` is 0", rewrites, "(N a)", nbest=0)


def test_rules_of_the_samples_rewrite_the_samples():
    trees = {f"{side}_trees": SAMPLES / f"structures.{side}.trees" for side in ("source", "target")}
    pairs = list(attach_trees(read_corpus(SAMPLES / "structures.jsonl"), **trees))
    rules = RuleIndex.build(learn_grammar(pairs))
    found = {text for pair in pairs for text in texts(paraphrase(pair.tree("source"), rules))}
    assert "Moreover , he said that the bridge was safe ." in found
    assert "The clerk sent a letter to the mayor ." in found
