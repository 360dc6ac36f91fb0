"""Labels of words and spans go over links to the other side."""

import json
from itertools import combinations

import pytest
from command import made, run
from hypothesis import given
from hypothesis import strategies as st

import alignkit as ak
from alignkit import Alignment, Corpus, SentencePair
from alignkit.errors import AlignmentError, OptionError, UnknownNameError


def carried(labels, others, links, gold=None, **weights):
    """The result for a pair with these labels."""
    alignment = links if isinstance(links, Alignment) else Alignment.parse(links)
    attributes = {"source.tag": "\t".join(labels.split())}
    attributes |= {} if gold is None else {"target.tag": "\t".join(gold.split())}
    words = ["x"] * len(labels.split()), ["y"] * others
    return ak.transfer(Corpus([SentencePair("1", *words, {"a": alignment}, attributes)]), "tag")


def column(result, name="target.tag"):
    return result.corpus[0].attributes[name].replace("\t", " ")


@pytest.mark.parametrize(
    ("links", "label", "counts"),
    [
        ("0-0", "A", (1, 0, 0)),
        ("0?0 1-0", "B", (1, 1, 0)),  # sure before possible
        ("0?0 1?0", "A", (1, 1, 1)),  # the first
        ("0-0 1-0 2-0", "B", (1, 1, 1)),  # the most frequent
        ("3-0", "_", (0, 0, 0)),  # the other word has no label
        ("", "_", (0, 0, 0)),
    ],
)
def test_a_word_gets_the_label_of_its_strongest_link(links, label, counts):
    result = carried("A B B _", 1, links)
    assert column(result) == label
    names = ("labelled", "conflicts", "ties")
    assert tuple(result.counts[name] for name in names) == counts
    assert result.counts["labelled"] + result.counts["unlinked"] == result.counts["words"] == 1


def test_weights_decide_among_equal_links():
    links = Alignment([(0, 0), (1, 0)], [(2, 0)], weights={(0, 0): 0.3, (1, 0): 0.6, (2, 0): 0.9})
    result = carried("A B C", 1, links)
    assert (column(result), result.counts["conflicts"], result.counts["ties"]) == ("B", 1, 0)


@pytest.mark.parametrize(
    ("labels", "links", "expected"),
    [
        ("B-X I-X O", "0-1 1-2 2-3", "O B-X I-X O O"),
        ("B-X I-X O", "0-0 1-2 2-3", "B-X I-X I-X O O"),  # the gap is filled
        ("B-X I-X O", "0-0 1-1 1-4 2-2 2-3", "B-X I-X O O O"),  # a stray link is left out
        ("B-X B-Y O", "0-0 1-1 2-2", "B-X B-Y O O O"),
        ("I-X I-X O", "0-0 1-1", "B-X I-X O O O"),  # a span may begin with I-
        ("B-X I-Y O", "0-0 1-1", "B-X B-Y O O O"),
        ("B-X O O", "0-1 0-2 0-3", "O B-X I-X I-X O"),
        ("B-X O O", "1-0", "O O O O O"),
        ("B-X O O", "0-0 0?4", "B-X I-X I-X I-X I-X"),
        ("B-X O O", "0-0 0?4 1-1 1-2 2-3", "B-X O O O O"),
    ],
)
def test_a_span_goes_where_its_links_agree_best(labels, links, expected):
    assert column(carried(labels, 5, links)) == expected


def test_spans_that_want_the_same_words_are_counted():
    result = carried("B-X B-Y B-Z O", 4, "0-0 0-1 1-1 1-2 2-2")
    assert column(result) == "B-X I-X B-Z O"
    assert result.counts["conflicts"] == 1
    assert result.counts["dropped"] == 1
    assert result.counts["placed"] == 2
    weights = {(0, 0): 1.0, (0, 1): 0.1, (1, 1): 0.9, (1, 2): 0.9}
    result = carried("B-X B-Y", 3, Alignment(weights, weights=weights))
    assert column(result) == "B-X B-Y I-Y"
    assert (result.counts["conflicts"], result.counts["dropped"]) == (0, 0)


def test_gold_labels_stay_and_are_compared():
    result = carried("A B _", 4, "0-0 1-1", gold="A A _ B")
    assert column(result) == "A A _ B"
    assert column(result, "target.tag-transferred") == "A B _ _"
    counts = {"gold": 3, "transferred": 2, "equal": 1}
    assert result.score == {**counts, "coverage": 2 / 3, "accuracy": 0.5}
    spans = carried("B-X I-X B-Y", 4, "0-0 1-1 2-3", gold="B-X I-X B-Y B-Y")
    assert spans.score == {
        "gold": 3,
        "transferred": 2,
        "equal": 2,
        "precision": 1.0,
        "recall": 2 / 3,
        "f1": 0.8,
    }
    assert "f1" in str(spans)
    assert spans.to_json()["score"][0]["f1"] == 0.8
    assert [record["table"] for record in spans.to_records()] == ["transfer", "score"]


def agreement(cells, size, begin, end):
    """How well the links of the first words agree with those of some words of the other side."""
    weights = [(i < size, begin <= j < end, 1 if sure else 0.5) for (i, j), sure in cells.items()]
    shared, own, there = (
        sum(weight for *inside, weight in weights if all(inside[k] for k in sides))
        for sides in ((0, 1), (0,), (1,))
    )
    return 2 * shared / (own + there) if own + there else 0


CELL = st.tuples(st.integers(0, 3), st.integers(0, 5))


@given(st.dictionaries(CELL, st.booleans(), min_size=1, max_size=9), st.integers(1, 3))
def test_the_place_of_a_span_is_the_best_of_all(cells, size):
    links = Alignment([link for link, sure in cells.items() if sure], cells)
    labels = ["B-X", *["I-X"] * (size - 1), *["O"] * (4 - size)]
    column_made = column(carried(" ".join(labels), 6, links)).split()
    best = max(agreement(cells, size, *place) for place in combinations(range(7), 2))
    if best == 0:
        assert column_made == ["O"] * 6
        return
    begin = column_made.index("B-X")
    end = begin + 1 + column_made.count("I-X")
    assert column_made == [*["O"] * begin, "B-X", *["I-X"] * (end - begin - 1), *["O"] * (6 - end)]
    assert agreement(cells, size, begin, end) == pytest.approx(best)


def test_both_directions_are_mirror_images():
    result = carried("A B C", 3, "0-0 1-2 2?2")
    pair = result.corpus[0].transpose()
    turned = Corpus([SentencePair("1", *pair.words, pair.annotations, {"target.tag": "A\tB\tC"})])
    back = ak.transfer(turned, "tag", from_side="target")
    assert back.corpus[0].attributes["source.tag"] == result.corpus[0].attributes["target.tag"]
    assert back.counts == result.counts


def test_pairs_without_labels_or_links_are_counted_and_stay():
    tagged = {"source.tag": "A"}
    pairs = [
        SentencePair("1", ["a"], ["b"], {"x": Alignment.parse("0-0")}, tagged),
        SentencePair("2", ["a"], ["b"], {"x": Alignment.parse("0-0")}),
        SentencePair("3", ["a"], ["b"], {}, tagged),
    ]
    result = ak.transfer(Corpus(pairs), "tag")
    assert result.corpus[1:] == Corpus(pairs[1:])
    assert result.left_out == {"without labels": 1, "without links": 1}
    assert result.counts["pairs"] == 1
    assert "1 pairs without links: unchanged" in str(result)


def test_wrong_arguments_are_refused():
    corpus = carried("A", 1, "0-0").corpus
    with pytest.raises(UnknownNameError, match="did you mean 'tag'"):
        ak.transfer(corpus, "tags")
    with pytest.raises(UnknownNameError, match="side"):
        ak.transfer(corpus, "tag", from_side="left")
    with pytest.raises(UnknownNameError, match="annotator"):
        ak.transfer(corpus, "tag", annotator="b")
    two = corpus.map(lambda pair: pair.with_annotation("b", Alignment()))
    with pytest.raises(OptionError, match="choose one with `annotator`"):
        ak.transfer(two, "tag")
    broken = SentencePair("1", ["a"], ["b"], {"x": Alignment()}, {"source.tag": "A\tB"})
    with pytest.raises(AlignmentError, match=r"source\.tag has 2 values"):
        ak.transfer(Corpus([broken]), "tag")


def test_the_command_prints_and_writes(tmp_path, capsys):
    ak.write_corpus(carried("A B _", 4, "0-0 1-1", gold="A A _ B").corpus, tmp_path / "c.jsonl")
    given = ["transfer", tmp_path / "c.jsonl", "--layer", "tag"]
    assert "coverage" in made(capsys, *given).out
    report = made(capsys, *given, "--json", "-o", tmp_path / "o.jsonl").json
    assert report["score"][0]["accuracy"] == 0.5
    (pair,) = ak.read_corpus(tmp_path / "o.jsonl")
    assert pair.attributes["target.tag-transferred"] == "A\tB\t_\t_"
    out = made(capsys, *given, "-o", "-").out
    assert json.loads(out.splitlines()[1])["attributes"]["target.tag"] == "A\tA\t_\tB"
    run(capsys, *given[:3], "pos").failed("source words 'pos'")
    path = tmp_path / "odd.jsonl"
    pairs = Corpus.from_texts(["a b"], ["x"], gold=["0-0"], attributes={"source.pos": ["N"]})
    ak.write_corpus(pairs, path)
    run(capsys, "transfer", path, "--layer", "pos").failed(f"{path}: pair '1': column source.pos")
    run(capsys, *given, "--annotator", "b").failed("unknown annotator", "'b'")


def treebanks(data):
    """The parallel treebanks: words, parts of speech and gold links."""
    folder, columns = data / "interchange", {}
    for side, language in (("source", "en"), ("target", "ko")):
        text = (folder / f"pud-en-ko.{language}.conllu").read_text("utf-8")
        blocks = [
            [line.split("\t") for line in block.splitlines() if line[0].isdigit()]
            for block in text.strip().split("\n\n")
        ]
        rows = [[row for row in block if row[0].isdigit()] for block in blocks]
        columns[side] = [[row[1] for row in block] for block in rows]
        columns[f"{side}.upos"] = ["\t".join(row[3] for row in block) for block in rows]
    gold = json.loads((folder / "pud-en-ko.alignment.json").read_text("utf-8"))
    links = [
        {(int(i) - 1, int(j) - 1) for i, ends in own.items() if i != "X" for j in ends if j != "X"}
        for own in gold
    ]
    return Corpus.from_texts(
        columns["source"],
        columns["target"],
        gold=links,
        attributes={name: columns[name] for name in columns if "." in name},
    )


@pytest.mark.real_data
def test_parts_of_speech_of_english_on_korean(data):
    corpus = treebanks(data)
    result = ak.transfer(corpus, "upos")
    links = 0  # counted again, from the definition
    equal = 0
    for pair in corpus:
        english, korean = (ak.word_column(pair, side, "upos") for side in ("source", "target"))
        for j, gold in enumerate(korean):
            labels = [english[i] for i in pair.alignment("gold").sources_of(j)]
            links += bool(labels)
            equal += bool(labels) and max(labels, key=labels.count) == gold
    assert (result.score["transferred"], result.score["equal"]) == (links, equal) == (9301, 5617)
    aligner = ak.Aligner.train([pair.words for pair in corpus])
    aligned = Corpus(pair.with_annotation("own", aligner.align(*pair.words)) for pair in corpus)
    own = ak.transfer(aligned, "upos", annotator="own").score
    assert (own["transferred"], own["equal"]) == (5925, 3792)
