"""Test the extraction of hiero and syntax-augmented rules, and the grammars made of them."""

import random
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_hiero import grammar, hiero, lexical, span_label, word_weights
from refusals import refuses
from strategies import tree_of

from alignkit import Alignment, LinkArrays, SentencePair, Tree, read_corpus
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.rules.files import RULE_FORMATS, read_rules, rule_lines
from alignkit.rules.grammar import Variable
from alignkit.rules.hiero.extraction import HieroOptions, Labels, derivations, extract_hiero
from alignkit.rules.hiero.grammar import learn_hiero, write_hiero

X0, X1 = Variable(0, "X"), Variable(1, "X")


def trees(words):
    return tree_of(words, st.sampled_from("ABC"))


def options():
    bounds = {"max_length": (1, 7), "min_hole": (1, 2), "max_variables": (0, 2)}
    numbers = {name: st.integers(*both) for name, both in bounds.items()}
    symbols = st.sampled_from([1, 2, 3, 4, 5, 7])
    return st.builds(HieroOptions, loose=st.booleans(), max_symbols=symbols, **numbers)


@st.composite
def aligned(draw, most=7, words="ab"):
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    cell = st.tuples(st.integers(0, n - 1), st.integers(0, m - 1))
    links = draw(st.sets(cell, max_size=most + 1))
    if draw(st.booleans()):  # near the diagonal there are more phrase pairs
        links = {(i, min(max(0, i + j % 2), m - 1)) for i, j in links}
    sides = [tuple(draw(st.lists(st.sampled_from(words), min_size=k, max_size=k))) for k in (n, m)]
    return SentencePair("1", *sides, {"gold": Alignment(links)})


def parts(found):
    return [(each.rule, each.span, each.holes, each.alignment) for each in found]


@given(aligned(), options())
def test_the_rules_of_a_pair_are_those_of_the_definition(pair, options):
    plain = hiero(*pair.words, list(pair.alignment("gold")), options)
    assert sorted(parts(extract_hiero(pair, options=options)), key=str) == sorted(plain, key=str)


def labelled(tree, start, end):
    labels, longest = Labels(), end - start
    return labels.texts[labels.chart([tree], longest)[(start + 1) * longest - 1]]


@given(st.data())
def test_labels_of_spans_are_those_of_the_definition(data):
    words = data.draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=8))
    tree = data.draw(trees(words))
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            assert labelled(tree, start, end) == span_label(tree, start, end)


def test_labels_by_hand():
    tree = Tree.parse("(S (NP (DT the) (JJ big) (JJ old) (NN dog)) (VP (VBD ran) (RB off)) (. .))")
    spans = {
        (0, 7): "S", (0, 4): "NP", (1, 2): "JJ", (0, 2): "DT+JJ", (3, 6): "NN+VP", (0, 3): "NP/NN",
        (1, 4): "NP\\DT", (0, 6): "NP+VP", (4, 7): "VP+.", (2, 5): "JJ+NN+VBD", (1, 5): "X",
    }  # fmt: skip
    assert {span: labelled(tree, *span) for span in spans} == spans


@given(st.lists(aligned(5), max_size=4), options(), st.data())
def test_a_grammar_is_that_of_plain_counts(pairs, options, data):
    pairs = [SentencePair(str(k), *pair.words, pair.annotations) for k, pair in enumerate(pairs)]
    grammar_name = data.draw(st.sampled_from(["hiero", "samt"]))
    side = data.draw(st.sampled_from(["source", "target"]))
    at = 2 * (side == "target")
    texts, seen, places, parsed = [], [], {}, []
    for pair in pairs:
        tree = data.draw(trees(getattr(pair, side)))
        parsed.append(pair.with_trees("t", **{side: tree}))

        def label(box, tree=tree):
            return span_label(tree, *box[at : at + 2]) if grammar_name == "samt" else "X"

        links = [(link[0], link[1]) for link in pair.alignment("gold")]
        texts.append((*pair.words, links))
        for rule, box, _, linked in hiero(*pair.words, links, options, label):
            seen.append((pair.id, rule, box))
            places.setdefault(rule, Counter())[linked] += 1
    plain, tables = grammar((id, rule) for id, rule, _ in seen), word_weights(texts)
    room = data.draw(st.sampled_from([1 << 17, 1 << 22]))
    how = {"grammar": grammar_name, "side": side, "options": options}
    learned = learn_hiero(parsed, room=room, examples=2, **how)
    assert learned.kind == grammar_name
    assert {each.rule: (each.count, each.pairs, each.p_target, each.p_source, each.p_rule)
            for each in learned} == plain  # fmt: skip
    for each in learned:
        found = [lexical(each.rule, linked, tables) for linked in places[each.rule]]
        most = tuple(map(max, zip(*found, strict=True)))
        assert (each.lexical_target, each.lexical_source) == most
        assert places[each.rule][each.alignment] == max(places[each.rule].values())
        boxes = {}
        for id, rule, box in seen:
            if rule == each.rule:
                boxes.setdefault(id, set()).add(box)
        shown = [(one.id, (*one.source_span, *one.target_span)) for one in each.examples]
        assert [id for id, _ in shown] == list(boxes)[:2]
        assert all(box in boxes[id] for id, box in shown)
    few = learn_hiero(parsed, min_count=2, **how)
    assert few.types == tuple(replace(each, examples=()) for each in learned if each.count >= 2)


def test_rules_of_a_pair_by_hand():
    # Chiang's kind of example: two holes change places around a word
    pair = SentencePair("1", list("abcde"), list("vwxyz"),
                        {"gold": Alignment.parse("0-3 1-4 2-2 3-0 4-1")})  # fmt: skip
    rules = [each.rule for each in extract_hiero(pair) if each.span == (0, 5, 0, 5)]
    sides = [(rule.source.children, rule.target.children) for rule in rules]
    assert (tuple("abcde"), tuple("vwxyz")) in sides
    assert ((X0, "c", X1), (X1, "x", X0)) in sides
    assert (("a", "b", "c", X0), (X0, "x", "y", "z")) in sides
    assert len(sides) == 6


def test_bad_options_are_told():
    pair = SentencePair("1", ("a",), ("b",), {"gold": Alignment.parse("0-0")})
    bounds = {"max_length": 0, "max_symbols": 0, "min_hole": 0, "max_variables": 3}
    for name, value in bounds.items():
        refuses(OptionError, rf"{name} is {value}", HieroOptions, **{name: value})
    for wrong in ({"grammar": "x"}, {"links": "x"}, {"side": "x"}, {"annotator": "x"}):
        refuses(UnknownNameError, "'x'", learn_hiero, [pair], **wrong)
    refuses(UnknownNameError, "unknown kind of rule 'x'", write_hiero, [pair], "-", kinds=["x"])
    two = SentencePair("1", ("a",), ("b",), {"g": Alignment(), "h": Alignment()})
    for wrong, kind, told in (
        (pair, OptionError, "no pair has a tree of the target side"),
        (SentencePair("1", ("a",), ("b",)), OptionError, "no pair is aligned"),
        (SentencePair("1", None, None, pair.annotations), MissingTextError, "no aligned pair has"),
        (two, OptionError, "alignments of g, h"),
    ):
        refuses(kind, told, learn_hiero, [wrong], grammar="samt")
    bare = SentencePair("2", None, None, pair.annotations)
    refuses(MissingTextError, "pair '2' has no words", extract_hiero, bare)
    refuses(OptionError, "have different words", extract_hiero, pair, tree=Tree.parse("(A c)"))


def test_what_is_left_out_is_counted():
    gold = {"gold": Alignment.parse("0-0")}
    pairs = [
        SentencePair("1", ("a",), ("b",), gold).with_trees("t", target=Tree.parse("(NN b)")),
        SentencePair("2", ("a",), ("b",)),
        SentencePair("3", ("a",), ("b",), gold),
        SentencePair("4", None, None, gold),
    ]
    learned = learn_hiero(pairs, grammar="samt")
    assert learned.passed_over == {"not aligned": 1, "not parsed": 1, "without words": 1}
    assert [each.rule.source.label for each in learned] == ["NN"]
    assert not learn_hiero([]).types


@pytest.mark.real_data
def test_the_shared_pairs_have_the_known_totals(data):
    corpus = read_corpus(data / "edinburgh" / "gold.train.sure.json")
    alignments = [pair.alignment("alignment") for pair in corpus]
    arrays = LinkArrays.pack(alignments, [(len(p.source), len(p.target)) for p in corpus])
    for loose, known in ((False, 565_611), (True, 2_821_690)):
        _, rows = derivations(arrays.sure_only(), HieroOptions(loose=loose))
        assert sum(len(part[2]) for part in rows) == known


@pytest.mark.real_data
def test_some_of_them_have_the_rules_of_the_definition(data):
    corpus = read_corpus(data / "edinburgh" / "gold.train.sure.json")
    short = [pair for pair in corpus if 10 < max(pair.lengths) <= 15]
    assert len(short) > 50
    for pair in short[:20]:
        plain = hiero(*pair.words, pair.alignment("alignment").sure, HieroOptions())
        assert sorted(parts(extract_hiero(pair)), key=str) == sorted(plain, key=str)


@given(st.data())
def test_lines_are_those_of_the_formats(data):
    grammar = data.draw(st.sampled_from(["hiero", "samt"]))
    words = ["a", 'q"', "[b]", "|||", "&", "é𝄞", "\ufeff", "a\\", "A"]
    pairs = []
    for k, pair in enumerate(data.draw(st.lists(aligned(5, words), min_size=1, max_size=3))):
        tree = Tree.parse(f"(N~,[ {' '.join('(N:] w)' for _ in pair.target)})")
        tree = replace(tree, words=pair.target)
        pairs.append(replace(pair, id=str(k)).with_trees("t", target=tree))
    lexical, identity = data.draw(st.booleans()), data.draw(st.booleans())
    how = {"grammar": grammar, "options": data.draw(options()), "lexical": lexical}
    types = {each.rule: each for each in learn_hiero(pairs, **how)}
    if not identity:
        types = {rule: each for rule, each in types.items() if each.kind != "identity"}
    name = data.draw(st.sampled_from(list(RULE_FORMATS)))
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rules"
        summary = write_hiero(pairs, path, format=name, identity=identity, **how)
        text = Path(path).read_bytes()
        assert (summary.rules, summary.bytes) == (len(types), len(text))
        read = list(read_rules(path, name))
    assert {each.rule for each in read} == set(types)
    in_order = [types[each.rule] for each in read]
    assert list(rule_lines(in_order, name)) == text.decode().splitlines(keepends=True)


def test_variables_below_an_empty_label_are_written_as_the_formats_do(tmp_path):
    tree = Tree.from_nltk(nltk.Tree("S", [nltk.Tree("", list("ab")), nltk.Tree("V", ["c"])]))
    pair = SentencePair("1", tuple("abc"), tuple("abc"), {"gold": Alignment.parse("0-0 1-1 2-2")})
    pairs = [pair.with_trees("t", target=tree)]
    types = {each.rule: each for each in learn_hiero(pairs, grammar="samt")}
    for name in ("tsv", "joshua", "moses", "ppdb"):
        write_hiero(pairs, tmp_path / "rules", format=name, grammar="samt", identity=True)
        text = (tmp_path / "rules").read_text()
        assert sorted(rule_lines(types.values(), name)) == sorted(text.splitlines(keepends=True))
    assert "[X,1] c" in "".join(rule_lines(types.values(), "joshua"))


def test_rules_of_some_kinds_alone_are_written(tmp_path):
    pair = SentencePair("1", ("a", "B"), ("c", "b"), {"gold": Alignment.parse("0-0 1-1")})
    for kinds, known in ((["lexical"], ["a"]), (["identity"], ["B"]), (None, ["B", "a"])):
        options = HieroOptions(max_length=1)
        found = write_hiero([pair], str(tmp_path / "r"), kinds=kinds, options=options)
        read = [each.rule.source.children[0] for each in read_rules(tmp_path / "r", "tsv")]
        assert (read, found.rules) == (known, len(known))
        assert found.left_out == ({} if kinds is None else {"of other kinds": 1})
    found = write_hiero([pair], str(tmp_path / "r"), identity=False, min_count=2)
    assert (found.rules, found.left_out) == (0, {"types seen less than 2 times": 3})


def test_what_memory_holds_does_not_matter(tmp_path):
    rng = random.Random(7)
    pairs = []
    for k in range(100):
        order = sorted(range(9), key=lambda i: i + rng.random() * 3)
        sides = [[str(int(rng.paretovariate(1))) for _ in range(9)] for _ in range(2)]
        pairs.append(SentencePair(str(k), *sides, {"g": Alignment(set(enumerate(order)))}))
    written = []
    for room in (1 << 17, 1 << 26):
        steps = []
        path = tmp_path / "rules"
        summary = write_hiero(pairs, path, room=room, progress=lambda *step: steps.append(step))  # noqa: B023
        written.append(path.read_text())
        assert bool(summary.sorted_bytes) == (room == 1 << 17)
        assert steps[-1] == (2 * summary.tokens, 2 * summary.tokens)
    assert (written[0], len(list(tmp_path.iterdir()))) == (written[1], 1)
