"""The trees of the samples: Penn's tags and labels, deep enough, and each form among them."""

from pathlib import Path

import pytest

from alignkit import read_corpus
from alignkit.model.trees import Tree

SAMPLES = Path(__file__).parent.parent / "samples"
# the tag set of the Penn Treebank (Marcus et al. 1993): 36 tags of words, 12 of punctuation
TAGS = (
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH "
    "VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB # $ . , : ( ) `` '' -LRB- -RRB-"
)
# its bracket labels (Bies et al. 1995), without function tags
PHRASES = (
    "S SBAR SBARQ SINV SQ ADJP ADVP CONJP FRAG INTJ LST NAC NP NX PP PRN PRT QP RRC UCP VP "
    "WHADJP WHADVP WHNP WHPP X"
)


def parsed(name):
    corpus = read_corpus(SAMPLES / f"{name}.jsonl")
    sides = [
        (SAMPLES / f"{name}.{side}.trees").read_text(encoding="utf-8").splitlines()
        for side in ("source", "target")
    ]
    return [
        (pair, Tree.parse(source, pair.source, strict=True), Tree.parse(target, pair.target))
        for pair, source, target in zip(corpus, *sides, strict=True)
    ]


PARAPHRASES = parsed("paraphrases")
STRUCTURES = parsed("structures")
TREES = [(pair.id, tree) for pair, *trees in PARAPHRASES + STRUCTURES for tree in trees]


def nodes_below(tree, node):
    return [child.node for child in tree.children(node) if child.node is not None]


def labels_below(tree, node):
    return [tree.labels[child] for child in nodes_below(tree, node)]


def told_faults(tree):
    """Say what in a tree is not Penn's: labels, tags, words beside nodes, flatness."""
    if tree.labels[0] != "ROOT":
        yield f"root {tree.labels[0]}"
    for node in range(1, len(tree)):
        below = tree.children(node)
        if not below:
            yield f"empty {tree.labels[node]}"
        elif all(child.node is not None for child in below):
            if tree.labels[node] not in PHRASES.split():
                yield f"label {tree.labels[node]}"
        elif len(below) > 1:
            yield f"words below {tree.labels[node]}"
        elif tree.labels[node] not in TAGS.split():
            yield f"tag {tree.labels[node]}"
    if len(tree.words) > 8 and tree.depth - 1 < 4:  # the root is no constituent
        yield f"depth {tree.depth - 1}"


@pytest.mark.parametrize(("pair", "tree"), TREES)
def test_trees_are_as_penns(pair, tree):
    assert list(told_faults(tree)) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("(ROOT (S (NP-SBJ (NN rain)) (VP (VBZ falls))))", "label NP-SBJ"),
        ("(ROOT (S (NP (NOUN rain)) (VP (VBZ falls))))", "tag NOUN"),
        ("(ROOT (S (NP rain (NN drop)) (VP (VBZ falls))))", "words below NP"),
        ("(S (NP (NN rain)) (VP (VBZ falls)))", "root S"),
        (f"(ROOT (S {'(NP (NN rain)) ' * 9}))", "depth 3"),
    ],
)
def test_other_trees_are_refused(text, fault):
    assert list(told_faults(Tree.parse(text))) == [fault]


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("name", ["paraphrases", "structures"])
def test_a_line_is_the_tree_as_it_is_written_again(name, side):
    text = (SAMPLES / f"{name}.{side}.trees").read_text(encoding="utf-8")
    assert [str(Tree.parse(line)) for line in text.splitlines()] == text.splitlines()


def passive(tree):
    """Return the words below *by* in VP(be VP(VBN ... PP(by NP)))."""
    return [
        word
        for node in range(len(tree))
        if labels_below(tree, node)[:1] == ["IN"]
        and tree.words[tree.starts[node]].lower() == "by"
        and "VBN" in labels_below(tree, up := int(tree.parents[node]))
        and labels_below(tree, int(tree.parents[up]))[0][:2] in ("VB", "MD")
        for word in range(tree.starts[node] + 1, tree.ends[node])
    ]


def subject(tree):
    """Return the words of NPs before a VP, below a clause."""
    return [
        word
        for node in range(len(tree))
        if tree.labels[node] == "S"
        for left, right in zip(nodes_below(tree, node), nodes_below(tree, node)[1:], strict=False)
        if (tree.labels[left], tree.labels[right]) == ("NP", "VP")
        for word in range(*tree.span(left))
    ]


def tagged(tree, tag, *words):
    """Return the positions of words with a tag; without words, of all."""
    return [
        int(tree.starts[node])
        for node in range(len(tree))
        if tree.labels[node] == tag
        and (not words or tree.words[tree.starts[node]].lower() in words)
    ]


def first_in_clause(tree):
    """Return the words of adverbs and subordinate clauses that open a sentence."""
    return [
        word
        for node in nodes_below(tree, 0)
        for child in nodes_below(tree, node)[:1]
        if tree.labels[child] in ("ADVP", "SBAR")
        for word in range(*tree.span(child))
    ]


def below_verb(tree, *labels, at=-1):
    """Return the words of one of the children with these labels, which follow a verb."""
    size = len(labels)
    return [
        word
        for node in range(len(tree))
        if tree.labels[node] == "VP"
        and labels_below(tree, node)[0][:2] == "VB"
        and tuple(labels_below(tree, node)[1 : size + 1]) == labels
        for word in range(*tree.span(nodes_below(tree, node)[1 : size + 1][at]))
    ]


def modifier(tree, label):
    """Return the words of what stands behind a noun phrase, within a noun phrase."""
    return [
        word
        for node in range(len(tree))
        if labels_below(tree, node)[:1] == ["NP"]
        for child in nodes_below(tree, node)[1:]
        if tree.labels[child] == label
        for word in range(*tree.span(child))
    ]


FORMS = {
    "also, moreover": (
        lambda tree: sorted({*tagged(tree, "RB", "also")} - {*first_in_clause(tree)}),
        lambda tree: sorted({*tagged(tree, "RB", "moreover")} & {*first_in_clause(tree)}),
    ),
    "active, passive": (subject, passive),
    "A of B, B's A": (lambda t: tagged(t, "IN", "of"), lambda t: tagged(t, "POS")),
    "dative": (
        lambda tree: below_verb(tree, "NP", "NP", at=0), lambda tree: below_verb(tree, "NP", "PP"),
    ),
    "particle": (lambda t: below_verb(t, "NP", "PRT"), lambda t: below_verb(t, "PRT")),
    "particle verb, other verb": (lambda t: tagged(t, "RP"), lambda t: tagged(t, "VBD")),
    "clause order": (first_in_clause, lambda tree: below_verb(tree, "SBAR")),
    "relative clause, participle": (
        lambda tree: modifier(tree, "SBAR"), lambda tree: modifier(tree, "VP"),
    ),
    "relative clause, adjective": (
        lambda tree: modifier(tree, "SBAR"), lambda tree: tagged(tree, "JJ"),
    ),
}  # fmt: skip


def ids_with(form, pairs):
    """Return the pairs in which a word of one side of a form is linked with one of the other."""
    one, other = FORMS[form]
    return [
        pair.id
        for pair, source, target in pairs
        if any(
            (link.i in one(source) and link.j in other(target))
            or (link.i in other(source) and link.j in one(target))
            for link in pair.alignment("gold").sure
        )
    ]


@pytest.mark.parametrize(
    ("form", "at_least"),
    [("also, moreover", ["s01", "s02", "s03"]),
     ("active, passive", ["p55", "p58", "p62", "s04", "s05", "s06", "s09"]),
     ("A of B, B's A", ["p15", "p27", "s07", "s08", "s09"]), ("dative", ["s10", "s11"]),
     ("particle", ["p39", "s12", "s13"]), ("particle verb, other verb", ["p11", "p25"]),
     ("clause order", ["s14", "s15"]), ("relative clause, participle", ["p31", "s16"]),
     ("relative clause, adjective", ["p10"])],
)  # fmt: skip
def test_each_form_is_among_them(form, at_least):
    assert set(at_least) <= set(ids_with(form, PARAPHRASES + STRUCTURES))
