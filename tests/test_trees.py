"""Trees: brackets of any depth in and out, leaves that fit known words, errors that say where."""

import copy
import pickle

import nltk
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from strategies import ANY, PLAIN, tree_of

from alignkit import Alignment, SentencePair
from alignkit.errors import FormatError, OptionError, TreeError, UnknownNameError
from alignkit.model.trees import Child, Tree

RAIN = "(S (NP (NN rain)) (VP (VBZ falls)))"
WORDS = st.lists(st.text(ANY, max_size=4), max_size=6)
TREES = WORDS.flatmap(tree_of)
LINES = st.lists(st.text(PLAIN, min_size=1, max_size=4), max_size=6)


@given(TREES)
def test_a_line_of_brackets_is_read_back_as_the_same_tree(tree):
    line = str(tree)
    assert Tree.parse(line) == Tree.parse(line, tree.words) == tree
    assert (len(line.splitlines()), hash(Tree.parse(line))) == (1, hash(tree))
    assert pickle.loads(pickle.dumps(tree)) == copy.deepcopy(tree) == tree


@given(TREES)
def test_nltk_has_the_same_tree(tree):
    other = tree.to_nltk()
    assert (other, tuple(other.leaves())) == (_nltk(tree, 0), tree.words)
    assert Tree.from_nltk(other) == tree
    nodes = (place for place in other.treepositions() if isinstance(other[place], nltk.Tree))
    assert tree.depth == 1 + max(map(len, nodes))


def _nltk(tree, node):
    below = (
        tree.words[word] if child is None else _nltk(tree, child)
        for child, word in tree.children(node)
    )
    return nltk.Tree(tree.labels[node], list(below))


@given(LINES.filter(bool).flatmap(lambda words: tree_of(words, st.sampled_from(["S", "NP", ","]))))
def test_brackets_are_read_as_nltk_reads_them(tree):
    text = tree.to_nltk().pformat(margin=20)
    if not any(set(word) & set("()\\") for word in tree.words):
        assert Tree.parse(text).to_nltk() == nltk.Tree.fromstring(text)
        assert Tree.parse(text) == tree


@given(TREES)
def test_columns_are_what_they_say(tree):
    for node, (start, end) in enumerate(zip(tree.starts, tree.ends, strict=True)):
        inside = range(node + 1, tree.afters[node])
        assert all(tree.starts[k] >= start and tree.ends[k] <= end for k in inside)
        children = [child.node for child in tree.children(node) if child.node is not None]
        assert children == [k for k in inside if tree.parents[k] == node]
    columns = [getattr(tree, name) for name in ("parents", "starts", "ends", "afters")]
    assert all(column.dtype == np.int32 and not column.flags.writeable for column in columns)
    assert Tree(tree.words, tree.labels, *columns) == tree


@given(TREES, st.integers(0, 3), st.integers(0, 30), st.integers(-2, 30))
def test_columns_that_are_no_tree_are_refused(tree, column, node, value):
    columns = [getattr(tree, name).copy() for name in ("parents", "starts", "ends", "afters")]
    columns[column][node % len(tree)] = value
    try:
        changed = Tree(tree.words, tree.labels, *columns)
    except TreeError:
        return
    assert Tree.parse(str(changed)) == changed  # another tree, or the same


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([-1, 0], [0, 0], [2, 1], [2]), "must be 2 whole numbers"),
        (([-1, 1], [0, 0], [2, 1], [2, 2]), "node 1 has the parent 1"),
        (([-1, 0], [0, 0], [1, 1], [2, 2]), "spans 0-1, not all 2"),
        (([-1, 0], [0, 1], [2, 3], [2, 2]), "node 1 spans 1-3"),
        (([-1, 0], [0, 0], [2, 1], [2, 1]), r"afters\[1\] is 1, expected 2"),
    ],
)
def test_what_is_wrong_with_columns_is_said(columns, message):
    refuses(TreeError, message, Tree, ("a", "b"), ("S", "X"), *columns)
    refuses(TreeError, "at least one node", Tree, (), (), [], [], [], [])


def test_deep_trees_work_and_tags_and_traces_are_dropped():
    deep = "(X " * 5000 + "a" + ")" * 5000
    tree = Tree.parse(deep, ["a"])
    assert tree.depth == len(tree) == 5000
    assert str(tree) == deep
    assert pickle.loads(pickle.dumps(tree)) == copy.deepcopy(tree) == Tree.parse(deep)
    assert len(repr(tree)) < 100
    assert tree.children(4999) == [Child(None, 0)]
    refuses(TreeError, "5000 nodes deep", tree.to_nltk)
    refuses(FormatError, "4999 closing brackets are missing", Tree.parse, deep[:-4999])
    text = "(S (NP-SBJ=1 (-NONE- *T*-1)) (VP=2 (VB-X go) (NP (-NONE- 0)) (ADVP)) (-LRB- -LRB-))"
    tree = Tree.parse(text, ["go", "("], drop_function_tags=True, drop_traces=True)
    assert str(tree) == r"(S (VP (VB go) (ADVP)) (-LRB- \())"
    kept = Tree.parse(text)
    assert (kept.labels[:2], kept.words) == (("S", "NP-SBJ=1"), ("*T*-1", "go", "0", "-LRB-"))
    refuses(FormatError, "only traces", Tree.parse, "(S (NP (-NONE- *)))", drop_traces=True)
    tree = nltk.Tree.fromstring(RAIN)
    assert str(Tree.from_nltk(tree, ["rain", "falls"])) == RAIN
    with pytest.raises(TreeError, match="but word 1 is 'fell'"):
        Tree.from_nltk(tree, ["rain", "fell"])
    refuses(TypeError, "a leaf is 1", Tree.from_nltk, nltk.Tree("S", [1]))
    refuses(TreeError, "1 word for a tree with 2", lambda: Tree.parse(RAIN).with_words(["a"]))


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("( (S (NN rain)) )", "rain", "(S (NN rain))"),
        ("(ROOT\n  (S (NN rain)))", "rain", "(ROOT (S (NN rain)))"),
        ("(S (NN rain)) (S (NN snow))", "rain snow", "(TOP (S (NN rain)) (S (NN snow)))"),
        ("( (S (NN rain)) (. .) )", "rain .", "(TOP (S (NN rain)) (. .))"),
        ("(S (-LRB- -LRB-) (NN a) (-RRB- -RRB-))", "( a )", r"(S (-LRB- \() (NN a) (-RRB- \)))"),
        ("(S (-LRB- -LRB-))", "-LRB-", "(S (-LRB- -LRB-))"),
        ("(S (: -LSB-) (: -RCB-))", "[ }", "(S (: [) (: }))"),
        ("(S (`` ``) (NN a) ('' ''))", '" a "', "(S (`` \") (NN a) ('' \"))"),
        ("(S (`` ``) (NN a))", "“ a", "(S (`` “) (NN a))"),
        (r"(S (CD 1\/2) (SYM \*))", "1/2 *", "(S (CD 1/2) (SYM *))"),
        (r"(S (CD 1\/2))", r"1\/2", r"(S (CD 1\\/2))"),
        ("(S (JJ () (NN a))", "( a", r"(S (JJ \() (NN a))"),
        ("(S (JJ )) (NN a))", ") a", r"(S (JJ \)) (NN a))"),
        ("(S (( () (NN a) () )))", "( a )", r"(S (\u{28} \() (NN a) (\u{29} \)))"),
        ("(S (NFP :)) (NFP :-())", ":) :-(", r"(S (NFP :\)) (NFP :-\())"),
        ("(S (NN f(x)) (NN a))", "f(x) a", r"(S (NN f\(x\)) (NN a))"),
        (r"(S (SYM \) (NN a))", "\\ a", r"(S (SYM \\) (NN a))"),
        ("(S a (NP (NN b)) c)", "a b c", "(S a (NP (NN b)) c)"),
    ],
)
def test_known_words_resolve_what_parsers_write(text, words, line):
    tree = Tree.parse(text, words.split())
    assert str(tree) == line.replace(r"\u{28}", r"\(").replace(r"\u{29}", r"\)")
    assert tree.words == tuple(words.split())


@pytest.mark.parametrize(
    ("written", "word"),
    [
        (r"\u{10ffff}", "\U0010ffff"),  # the last character of Unicode
        (r"\u{110000}", r"\u{110000}"),
        (r"a\u{ffffff}b", r"a\u{ffffff}b"),
    ],
)
def test_an_escape_of_no_character_is_kept_as_it_is_written(written, word):
    tree = Tree.parse(f"(NN {written})")
    assert tree.words == (word,)
    assert Tree.parse(str(tree)) == tree


@pytest.mark.parametrize("text", ["(S (JJ () (NN a))", "(S (JJ )) (NN a))"])
def test_strict_refuses_brackets_as_words(text):
    words = ["(" if "JJ (" in text and "JJ ()" in text else ")", "a"]
    assert Tree.parse(text, words).words == tuple(words)
    refuses(FormatError, r"^1:8: word 0, .* is not escaped", Tree.parse, text, words, strict=True)
    assert Tree.parse("(S (JJ -LRB-) (NN a))", ["(", "a"], strict=True).words == ("(", "a")


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("", None, "expected Penn brackets"),
        ("(())", ["a"], "no tree"),
        ("rain", None, "1:1: 'rain' is outside"),
        ("(S (NN rain)", None, "1:13: a closing bracket .* of 'S'"),
        ("(S (NN rain)))", None, "1:14: a closing bracket"),
        ("(S ((NN rain)))", None, "1:4: a node without a label"),
        ("(S (JJ () (NN a))", None, "1:8: a node without a label"),
        ("(S\n (NN rain)\n (NN snow))", ["rain", "now"], "3:6: leaf 1 is 'snow'"),
        ("(S (NN a) (NN b))", ["a"], "1:15: 2 leaves for 1 word"),
        ("(S (NN a))", ["a", "b"], "1:10: 1 leaf for 2 words"),
        ("(S (-NONE- 0) (NN a))", ["a"], "leaf 0 is '0'.*traces.*`drop_traces`"),
        ("(S (NN a) (-LRB- ()", ["a", "b("], "1:18: a node without a label"),
    ],
)
def test_what_is_no_tree_of_the_words_is_told_with_its_place(text, words, message):
    refuses(FormatError, message, Tree.parse, text, words)


def test_pairs_hold_trees_by_name():
    tree, other = Tree.parse(RAIN), Tree.parse("(S (NN snow))")
    pair = SentencePair("1", ["rain", "falls"], ["snow"], {"a": Alignment.parse("0-0")})
    with_both = pair.with_trees("gold", source=tree, target=other).with_trees("x", source=tree)
    assert with_both.tree("source", "x") is tree
    assert with_both.tree("target") == with_both.transpose().tree("source") == other
    assert with_both.transpose().transpose() == with_both != pair
    assert with_both.with_annotation("b", Alignment()).tree("target") == other
    assert with_both.without_trees() == pair
    for kind, told, wrong, names in (
        (OptionError, "pair '1' has the source trees gold, x; choose", with_both, ["source"]),
        (UnknownNameError, "source tree .*'y'.*known: gold, x", with_both, ["source", "y"]),
        (UnknownNameError, "known: none", pair, ["target"]),
        (UnknownNameError, "unknown side 'left'", pair, ["left"]),
    ):
        refuses(kind, told, wrong.tree, *names)
    with pytest.raises(TreeError, match=r"target tree 'gold' .* 2 leaves"):
        pair.with_trees("gold", target=tree)
    for words, told in (
        ((["hail", "falls"], ["b"]), "leaf 0 is 'rain', but word 0 is 'hail'"),
        ((None, None), "needs the words of its side"),
    ):
        refuses(TreeError, told, SentencePair, "1", *words, source_trees={"gold": tree})
