"""The trees of the samples: Penn's tags and labels, deep enough, and each form among them."""

import re
from pathlib import Path

import pytest

from alignkit import Tree, read_corpus

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
    sides = [
        (SAMPLES / f"{name}.{side}.trees").read_text(encoding="utf-8").splitlines()
        for side in ("source", "target")
    ]
    return [
        (pair, Tree.parse(source, pair.source, strict=True), Tree.parse(target, pair.target))
        for pair, source, target in zip(read_corpus(SAMPLES / f"{name}.jsonl"), *sides, strict=True)
    ]


PARAPHRASES = parsed("paraphrases")
STRUCTURES = parsed("structures")
TREES = [(pair.id, tree) for pair, *trees in PARAPHRASES + STRUCTURES for tree in trees]


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


def test_trees_are_as_penns(problems):
    for pair, tree in TREES:
        problems += [f"{pair}: {fault}" for fault in told_faults(tree)]


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


def test_a_line_is_the_tree_as_it_is_written_again():
    for name in ("paraphrases", "structures"):
        for side in ("source", "target"):
            text = (SAMPLES / f"{name}.{side}.trees").read_text(encoding="utf-8")
            assert [str(Tree.parse(line)) for line in text.splitlines()] == text.splitlines()


NP = r"\(NP(?: \([^()]+\))+\)"
VERB = r"\(VP \(VB\w? \w+\)"
FORMS = {
    "also, moreover": (r"\(RB also\)", r"^\(ROOT \(S \(ADVP \(RB Moreover\)", "s01 s02 s03"),
    "active, passive": (
        rf"\(S {NP} {VERB} \(NP",
        r"\(VBD (?:was|were)\) \(VP \(VBN \w+\).* \(PP \(IN by\)",
        "p55 p58 p62 s04 s05 s06 s09",
    ),
    "A of B, B's A": (rf"{NP} \(PP \(IN of\)", r" \(POS ", "p15 p27 s07 s08 s09"),
    "dative": (rf"{VERB} {NP} {NP}", rf"{VERB} {NP} \(PP \(TO", "s10 s11"),
    "particle": (rf"{VERB} {NP} \(PRT", rf"{VERB} \(PRT \(RP \w+\)\) {NP}", "p39 s12 s13"),
    "particle verb, other verb": (rf"{VERB} \(PRT", rf"{VERB} (?!\(PRT)", "p11 p25"),
    "clause order": (r"^\(ROOT \(S \(SBAR", rf"{VERB} \(SBAR", "s14 s15"),
    "relative clause, participle": (
        rf"\(NP {NP} (?:\(, ,\) )?\(SBAR",
        rf"\(NP {NP} \(VP \(VB[GN]",
        "p31 s16",
    ),
    "relative clause, adjective": (rf"\(NP {NP} \(SBAR \(WH", r"\(JJ ", "p10"),
}


def test_each_form_is_among_them(problems):
    """The one way to say it is on one side of these pairs, the other way on the other side."""
    known = {pair.id: list(map(str, trees)) for pair, *trees in PARAPHRASES + STRUCTURES}
    for form, (one_way, other_way, ids) in FORMS.items():
        for id in ids.split():
            source, target = known[id]
            forwards = re.search(one_way, source) and re.search(other_way, target)
            backwards = re.search(one_way, target) and re.search(other_way, source)
            if not (forwards or backwards):
                problems.append(f"{id}: {form}")
