"""Files of trees: three forms, fitted to the words of pairs; damage is told with its place."""

import gzip
import random
import re
from collections import Counter

import pytest
from command import run
from format_files import damaged
from refusals import refuses
from repetitions import repetitions

from alignkit import Alignment, Corpus, SentencePair, read_corpus, write_corpus
from alignkit.corpora.join import concat, merge
from alignkit.errors import AlignkitError, FormatError, JoinError, MissingTextError, OptionError
from alignkit.io import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.io.tree_files import attach_trees, read_trees, written_trees
from alignkit.model.trees import Tree

SOURCE = ["the rain ( still ) falls", "", 'it is the 1/2 of " us "', "so be it"]
TARGET = ["rain falls", "they left .", "half of us", "so it is"]
PENN = """\
(ROOT (S (NP (DT the) (NN rain) (PRN (-LRB- -LRB-) (RB still) (-RRB- -RRB-))) (VP (VBZ falls))))

(S (NP (PRP it)) (VP (VBZ is) (NP (NP (DT the) (CD 1\\/2)) (PP (IN of) (`` ``) (NP us) ('' '')))))
(S (RB so) (VP (VB be) (NP (PRP it))))
"""
MRG = """\
( (S
    (NP (NN rain))
    (VP (VBZ falls))))

( (S (NP-SBJ (PRP they))
     (VP (VBD left))
     (. .) ))
(NP (QP half)
  (PP of us))
(S (ADVP so)
  (NP it) (VP is))
"""
XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<corpus>
<s id="1">
  <words pos="true"><word ind="1" pos="NN">rain</word></words>
  <tree style="penn">
(ROOT
  (S (NN rain)
     (VP (VBZ falls))))
  </tree>
  <dependencies style="typed"><dep type="x"><governor idx="1">rain</governor></dep></dependencies>
</s>
<s id="2"><tree style="penn">(S (NP they) (VP (VBD left)) (. .))</tree></s>
<s id="3"></s>
<s id="4"><tree style="penn">(S so it is)</tree></s>
</corpus>
"""
CORENLP = """\
<?xml version="1.0" encoding="UTF-8"?>
<root><document><sentences>
 <sentence id="1"><tokens><token id="1"><word>rain</word></token></tokens>
  <parse>(ROOT (S (NN rain) (VP (VBZ falls)))) </parse></sentence>
 <sentence id="2"><parse>(S (NP they) (VP (VBD left)) (. .))</parse></sentence>
 <sentence id="3"/><sentence id="4"><parse>(S so it is)</parse></sentence>
</sentences>
<coreference><coreference><mention><sentence>1</sentence></mention></coreference></coreference>
</document></root>
"""


def pairs():
    return Corpus.from_texts(SOURCE, TARGET, gold=["0-0"] * 1 + [None] + ["0-0"] * 2)


@pytest.fixture
def files(tmp_path):
    for name, text in {"s.txt": PENN, "t.mrg": MRG, "t.xml": XML, "u.xml": CORENLP}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with gzip.open(tmp_path / "s.gz", "wb") as stream:
        stream.write(PENN.encode())
    return tmp_path


def test_each_form_is_told_by_its_first_lines(files):
    penn = list(read_trees(files / "s.txt"))
    assert penn == list(read_trees(files / "s.gz"))
    assert [tree is None for tree in penn] == [False, True, False, False]
    assert penn[0].words[2] == "-LRB-"
    mrg = [str(tree) for tree in read_trees(files / "t.mrg")]
    assert (mrg[0], len(mrg)) == ("(S (NP (NN rain)) (VP (VBZ falls)))", 4)
    both = [list(map(str, read_trees(files / name))) for name in ("t.xml", "u.xml")]
    assert (both[0], both[0][0]) == (both[1], "(ROOT (S (NN rain) (VP (VBZ falls))))")
    assert both[0][2] == "None"
    with pytest.raises(AlignkitError, match="of trees 'x'"):
        list(read_trees(files / "s.txt", tree_format="x"))
    with pytest.raises(FormatError, match=r"t\.xml:1: XML"):
        list(read_trees(files / "t.xml", tree_format="penn"))


@pytest.mark.parametrize("target", ["t.mrg", "t.xml"])
def test_trees_are_attached_to_pairs_of_known_words(files, target):
    counts = Counter()
    named = {"source_trees": files / "s.txt", "target_trees": files / target, "tree_name": "x"}
    found = list(attach_trees(pairs(), **named, counts=counts))
    assert [pair.without_trees() for pair in found] == list(pairs())
    assert (found[0].tree("source").words, found[1].source_trees) == (tuple(SOURCE[0].split()), {})
    assert found[2].tree("source", "x").words == tuple(SOURCE[2].split())
    without = 1 + (target == "t.xml")
    assert counts == {"trees": 8 - without, "sentences without a parse": without}


def test_one_file_holds_both_sides_in_turn(files):
    sources, targets = PENN.splitlines(), list(read_trees(files / "t.mrg"))
    lines = [line for both in zip(sources, map(str, targets), strict=True) for line in both]
    (files / "both").write_text("\n".join(lines) + "\n")
    apart = list(attach_trees(pairs(), source_trees=files / "s.txt", target_trees=files / "t.mrg"))
    assert list(attach_trees(pairs(), both_trees=files / "both")) == apart
    with pytest.raises(OptionError, match="already has both sides"):
        attach_trees(pairs(), both_trees=files / "both", source_trees=files / "s.txt")
    refuses(OptionError, "give a file of trees", attach_trees, pairs())
    with pytest.raises(JoinError, match="both:7: contains 8 trees"):
        list(attach_trees(pairs()[:3], both_trees=files / "both"))


def test_wrong_counts_and_words_are_told(files):
    told = r"s\.txt:4: contains 4 trees.* for 3 sentence pairs; the fir"
    refuses(JoinError, told, list, attach_trees(pairs()[:3], source_trees=files / "s.txt"))
    (files / "three").write_text("".join(PENN.splitlines(keepends=True)[:3]))
    told = r"three:3: contains 3 trees.* for 4 sentence pairs; the last"
    refuses(JoinError, told, list, attach_trees(pairs(), source_trees=files / "three"))
    mrg = "(S (NN rain) (VBZ falls)) (S they (VBD fled) .)\n(X a)\n(X b)\n"
    for side, name, text, told in (
        ("source", "w", PENN.replace("(RB so)", "(RB too)"), "4:8: pair '4', source: leaf 0 is 't"),
        ("target", "t.mrg", MRG.replace("VBD l", "VBD f"), "6:15: pair '2', target: leaf 1 is 'f"),
        ("target", "t.xml", XML.replace("falls", "fell"), "8:15: pair '1', target: leaf 1 is 'fe"),
        ("target", "t.xml", XML.replace("VBD l", "VBD f"), "12: .*: character 23 of the tree"),
        ("target", "m.mrg", mrg, "1:40: pair '2', target: leaf 1 is 'fled'"),
    ):
        (files / name).write_text(text)
        options = {"tree_format": "mrg"} if name == "m.mrg" else {}
        with pytest.raises(FormatError, match=f"{re.escape(name)}:{told}"):
            list(attach_trees(pairs(), **{f"{side}_trees": files / name}, **options))
    with pytest.raises(MissingTextError, match="'x' has no words"):
        list(attach_trees([SentencePair("x", None, None)], source_trees=files / "s.txt"))


def test_traces_tags_joined_and_resolved_trees_are_counted(tmp_path):
    corpus = Corpus.from_texts(["go ( now )", "go on"], ["a", "b"])
    path = tmp_path / "trees"
    path.write_text(
        "(S (NP-SBJ (-NONE- *)) (VP (VB go) (X () (RB now) (X ))))\n(S (VB go)) (S (RP on))\n"
    )
    counts = Counter()
    options = {"drop_traces": True, "drop_function_tags": True, "counts": counts}
    found = list(attach_trees(corpus, source_trees=path, **options))
    assert str(found[1].tree("source")) == "(TOP (S (VB go)) (S (RP on)))"
    assert counts == {
        "trees": 2,
        "labels without their function tags": 1,
        "traces left out": 1,
        "sides with several trees, joined below TOP": 1,
        "trees with brackets as words, told by the text": 1,
    }
    with pytest.raises(FormatError, match=r"trees:1:39: .*word 1, '\(', is not escaped"):
        list(attach_trees(corpus, source_trees=path, drop_traces=True, strict_trees=True))
    refuses(FormatError, r"trees:1:", lambda: list(attach_trees(corpus, source_trees=path)))


def _attached(path, side, **options):
    try:
        return None, list(attach_trees(pairs(), **{f"{side}_trees": path}, **options))
    except (FormatError, JoinError) as problem:
        return problem, []


@pytest.mark.parametrize("name", ["s.txt", "t.mrg", "t.xml", "u.xml"])
def test_damaged_files_of_trees_are_refused_with_their_place(files, name):
    side = "source" if name == "s.txt" else "target"
    text = (files / name).read_bytes()
    whole = list(attach_trees(pairs(), **{f"{side}_trees": files / name}))
    told = Counter()
    count = repetitions(100)
    marks = [k for k, byte in enumerate(text) if byte in b"()"]
    without = (text[:k] + text[k + 1 :] for k in random.Random(1).choices(marks, k=count))
    path = files / ("damaged" + name[1:])
    for damage in (*damaged(text, count), *without):
        path.write_bytes(damage)
        problem, found = _attached(path, side)
        if isinstance(problem, FormatError):
            assert problem.path == str(path)
            assert problem.line is not None or "<s>" in str(problem) or "not XML" in str(problem)
            told["place"] += 1
        elif isinstance(problem, JoinError):
            assert re.match(re.escape(str(path)) + r":\d+: contains ", str(problem))
            told["count"] += 1
        else:  # white space, labels, a bracket that still makes a tree
            assert [pair.words for pair in found] == [pair.words for pair in whole]
        counts = Counter()
        problem, found = _attached(path, side, lenient_trees=True, counts=counts)
        if problem is not None:
            continue
        assert len(found) == len(whole)
        trees = [len(pair.source_trees) + len(pair.target_trees) for pair in found]
        assert sum(trees) == counts["trees"]
        assert sum(counts[kind] for kind in counts if not kind.startswith("sides")) >= 4
    assert told["place"] > told["count"]


def test_xml_is_read_without_entities_and_with_its_lines(tmp_path, files):
    (tmp_path / "long.xml").write_text(
        "<c><s>" + "\n" * 65530 + "</s>" + "<s>\n<tree>\n(S\n a</tree></s>\n" * 9 + "</c>"
    )
    file = TextFile(str(tmp_path / "long.xml"), ReadOptions())
    assert [tree.line for tree in written_trees(file)][1:] == [65532 + 4 * k for k in range(9)]
    (files / "e.xml").write_text(
        '<!DOCTYPE s [<!ENTITY e SYSTEM "/etc/hostname">]><corpus><s><tree>&e;</tree></s></corpus>'
    )
    refuses(FormatError, "document type", lambda: list(read_trees(files / "e.xml")))
    (files / "f.xml").write_text("<corpus><t>x</t></corpus>")
    refuses(FormatError, "no <s> and no <sentence>", lambda: list(read_trees(files / "f.xml")))


def test_trees_survive_merge_concat_and_files(files, tmp_path):
    named = {"source_trees": files / "s.txt", "target_trees": files / "t.mrg"}
    corpus = Corpus(attach_trees(pairs(), **named))
    for format in ("alignkit-jsonl", "alignkit-xml"):
        assert not write_corpus(corpus, tmp_path / "out", format=format)
        assert read_corpus(tmp_path / "out", format=format) == corpus
    assert write_corpus(corpus, tmp_path / "out", format="jacana")["trees"] == 4
    assert Corpus(concat([corpus], prefix=True))[0].source_trees == corpus[0].source_trees
    other = corpus.map(lambda pair: pair.without_trees().with_trees("z", source=_flat(pair)))
    bare = corpus.map(lambda pair: pair.without_annotations("gold"))
    assert list(merge(bare, {"new": other})[0].source_trees) == ["parse", "z"]
    more = other.map(lambda pair: pair.with_trees("parse", source=_flat(pair)))
    again = merge(bare, {"new": more})
    assert list(again[0].source_trees) == ["parse", "z", "new/parse"]
    assert again[1].source_trees["parse"] == _flat(corpus[1])


def _flat(pair):
    return Tree(pair.source, ["S"], [-1], [0], [len(pair.source)], [1])


def test_commands_attach_count_and_check_trees(files, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(files)
    write_corpus(pairs(), "in.jsonl", format="alignkit-jsonl")
    named = ["--source-trees", "s.txt", "--target-trees", "t.xml"]
    ran = run(capsys, "convert", "in.jsonl", "out.jsonl", "--to", "alignkit-jsonl", *named)
    assert "6 trees; 2 sentences without" in ran.err
    counts = run(capsys, "stats", "out.jsonl", "--json").json["trees"]["parse"]
    assert (counts["source"], counts["target"], counts["deepest"]) == (3, 3, 5)
    ran = run(capsys, "check", "out.jsonl")
    assert (ran.code, "trees: 3 source parse, 3 target parse" in ran.out) == (1, True)
    (files / "bad").write_text(PENN.replace("rain", "snow", 1))
    ran = run(capsys, "check", "in.jsonl", "--source-trees", "bad", "--json")
    (found,) = ran.json
    assert (ran.code, found["trees"]) == (1, [{"side": "source", "name": "parse", "pairs": 2}])
    assert found["counts"]["tree that does not fit"] == 1
    assert "leaf 1 is 'snow'" in str(found["findings"])
    given = ["convert", "in.jsonl", "x", "--to", "alignkit-xml"]
    run(capsys, *given, "--source-trees", "bad").failed("bad:1:")
    assert not (files / "x").exists()
    run(capsys, *given, "--drop-traces").failed("a file of trees")
    told = "--both-trees already has both sides"
    run(capsys, *given, *named, "--both-trees", "t.xml").failed(told)


def test_check_tells_of_flat_trees_and_of_trees_in_a_file_that_do_not_fit(tmp_path, capsys):
    words = tuple("abcdefghi")
    flat = Tree(words, ["S"], [-1], [0], [9], [1])
    pair = SentencePair("1", words, words, {"a": Alignment.parse("0-0")})
    path = str(tmp_path / "c.jsonl")
    write_corpus([pair.with_trees("p", target=flat)], path, format="alignkit-jsonl")
    ran = run(capsys, "check", path)
    assert ran.code == 1
    assert "flat tree: pair '1': target tree 'p' over 9 words is 1 node deep" in ran.out
    text = (tmp_path / "c.jsonl").read_text().replace("(S a b", "(S a x")
    (tmp_path / "c.jsonl").write_text(text)
    ran = run(capsys, "check", path)
    assert (ran.code, "does not fit" in ran.out) == (1, True)
    assert "leaf 1 is 'x'" in ran.out
    refuses(FormatError, r"c\.jsonl:2: pair '1': target tree 'p', character 6", read_corpus, path)


@pytest.mark.real_data
def test_the_trees_of_the_parsed_corpus_are_those_of_its_words(data):
    corpus = read_corpus(data / "edinburgh" / "gold.train.sure.json", format="jacana")
    path = data / "edinburgh" / "train.parsed.xml.gz"
    counts = Counter()
    found = list(attach_trees(corpus, both_trees=path, counts=counts))
    assert counts == {"trees": 1428}
    nodes = [sum(len(pair.tree(side)) for pair in found) for side in ("source", "target")]
    assert nodes == [28963, 29640]  # published numbers of the corpus
    trees = [pair.tree("source") for pair in found]
    assert [Tree.from_nltk(tree.to_nltk()) for tree in trees] == trees
