"""A corpus is made of texts, asked by id, and shown on one screen, as in a notebook."""

import pickle
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from strategies import corpora

import alignkit as ak
from alignkit.errors import (
    AlignmentError,
    ArgumentError,
    JoinError,
    OptionError,
    RepeatedIdError,
    UnknownIdError,
    UnknownNameError,
)
from alignkit.io.format import EVERYTHING
from alignkit.io.reading import format_of_name

SAMPLES = Path(__file__).parent.parent / "samples"


@pytest.fixture(scope="module")
def corpus():
    return ak.read_corpus(SAMPLES / "paraphrases.jsonl", format="alignkit-jsonl")


def fits(text, lines=40, wide=120):
    rows = text.split("\n")
    return len(rows) <= lines and max(map(len, rows)) <= wide


def test_a_pair_is_had_by_its_id(corpus):
    assert corpus["p05"] is corpus[4]
    assert "p05" in corpus
    assert corpus[4] in corpus
    assert "p99" not in corpus
    assert 5 not in corpus
    assert pickle.loads(pickle.dumps(corpus)) == corpus


@given(corpora(EVERYTHING))
def test_every_id_gives_its_pair_or_says_that_it_repeats(found):
    for pair in found:
        if found.ids.count(pair.id) == 1:
            assert found[pair.id] is pair
        else:
            with pytest.raises(RepeatedIdError, match=f"{found.ids.count(pair.id)} pairs have"):
                found[pair.id]


def test_an_unknown_id_names_those_that_are_near(corpus):
    with pytest.raises(UnknownIdError, match="has the id 'p5'; did you mean 'p5") as caught:
        corpus["p5"]
    assert isinstance(caught.value, (KeyError, LookupError, UnknownNameError))
    assert str(caught.value).startswith("no pair")  # and not in quotes
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.name) == (str(caught.value), "p5")
    with pytest.raises(KeyError, match="the first is 'p01'"):
        corpus["nothing like it"]
    with pytest.raises(UnknownIdError, match="it holds no pair"):
        ak.Corpus()["1"]
    assert len(str(UnknownIdError("x" * 1000, map(str, range(10**6))))) < 300


def test_an_id_that_repeats_is_an_error_that_says_so():
    pair = ak.SentencePair("1", ["a"], ["b"])
    with pytest.raises(RepeatedIdError, match=r"3 pairs have the id '1'.*corpus\[1\]"):
        ak.Corpus([ak.SentencePair("0", ["a"], ["b"]), pair, pair, pair])["1"]


def test_a_corpus_is_made_of_texts():
    gold = ak.Alignment.parse("0-0 1-1")
    remark = ak.Annotation(None, judgment="paraphrase")
    found = ak.Corpus.from_texts(
        ["a b", ["c", "d"], ""],
        (["x  y", "z w", "v"]),
        ids=["p", "q", "r"],
        gold=["0-0 1-1", gold, ""],
        tool=[{(0, 0)}, [(1, 0)], None],
        ben=[None, remark, None],
    )
    assert found.ids == ("p", "q", "r")
    assert [pair.words for pair in found] == [
        (("a", "b"), ("x", "y")), (("c", "d"), ("z", "w")), ((), ("v",)),
    ]  # fmt: skip
    assert found["p"].alignment("gold") == found["q"].alignment("gold") == gold
    assert found["q"].alignment("tool") == ak.Alignment.parse("1-0")
    assert list(found["r"].annotations) == ["gold"]
    assert found["q"].annotation("ben") == remark
    assert ak.Corpus.from_texts(["a"], ["b"]) == ak.Corpus([ak.SentencePair("1", ["a"], ["b"])])


@pytest.mark.parametrize(
    ("texts", "more", "error", "told"),
    [
        ((["a"], ["b", "c"]), {}, JoinError, "target has 2 entries, but source has 1"),
        ((["a"], ["b"]), {"gold": []}, JoinError, "gold has 0 entries, but source has 1"),
        ((["a"], ["b"]), {"ids": ["1", "2"]}, JoinError, "ids has 2 entries, but source has 1"),
        (("a", ["b"]), {}, ArgumentError, "source must be a list of sentences"),
        ((["a"], ["b"]), {"gold": "0-0"}, ArgumentError, "gold must be a list of alignments"),
        ((["a"], ["b"]), {"gold": ["0+0"]}, AlignmentError, r"gold\[0\]: '0\+0' is not a link"),
        ((["a"], ["b"]), {"gold": [7]}, ArgumentError, r"it must hold the links"),
        ((["a"], ["b"]), {"gold": [[(0, 0, [1])]]}, ArgumentError, "the third part of a link"),
        ((["a"], ["b"]), {"gold": [{0: 1}]}, ArgumentError, "it must hold the links"),
        ((["a"], ["b"]), {"gold": ["1-0"]}, AlignmentError, "pair '1': links of 'gold' reach"),
        ((["a"], [["b", 3]]), {}, ArgumentError, r"target\[0\]\[1\] is 3"),
    ],
)
def test_texts_that_do_not_fit_are_refused(texts, more, error, told):
    with pytest.raises(error, match=told):
        ak.Corpus.from_texts(*texts, **more)


def test_a_pair_shows_itself_in_a_line_and_draws_itself_in_a_notebook(corpus):
    pair = corpus["p05"]
    assert repr(pair) == "SentencePair('p05', 7 x 7 words, annotators: eflomal, anna, ben, gold)"
    assert (
        repr(ak.SentencePair("1", None, None)) == "SentencePair('1', ? x ? words, annotators: none)"
    )
    drawn = pair._repr_html_()
    assert drawn.count("<tr") == 8
    assert "Marchetti" in drawn
    assert "max-height" in drawn
    long = ak.SentencePair("1", ["a"] * 1000, ["b"] * 1000)
    assert len(long._repr_html_()) < 200


def test_many_and_long_names_fit_a_line():
    names = {f"annotator number {k} {'x' * 300}": ak.Alignment() for k in range(200)}
    pair = ak.SentencePair("i" * 999, ["a"], ["b"], names)
    for shown in (repr(pair), repr(ak.Corpus([pair]))):
        assert fits(shown, lines=1)
        assert " more)" in shown
    html = ak.Corpus([pair])._repr_html_()
    assert "and 180 more" in html


def test_a_corpus_shows_itself_as_a_short_table(corpus):
    assert repr(corpus) == "Corpus(64 pairs, annotators: eflomal, anna, ben, gold)"
    html = corpus._repr_html_()
    assert "64 sentence pairs, 1144 source and 1141 target words" in html
    assert html.count('scope="row"') == 4
    judged = ak.SentencePair("1", None, None, {"ben": ak.Annotation(None, judgment="no")})
    assert "judged only" in ak.Corpus([judged])._repr_html_()
    assert "0 sentence pairs" in ak.Corpus()._repr_html_()


def test_phrase_pairs_of_a_pair_are_those_of_its_alignment(corpus):
    pair = corpus["p05"]
    found = ak.extract_phrases(pair, annotator="gold", links="sure", ignore_identical=True)
    assert [phrase[:5] for phrase in found] == ak.extract_phrases(
        pair.alignment("gold"), links="sure", ignore_identical=True,
        source=pair.source, target=pair.target,
    )  # fmt: skip
    assert "atomic" in repr(found)
    alone = ak.Corpus.from_texts(["a b"], ["c d"], gold=["0-0"])[0]
    assert ak.extract_phrases(alone) == [(0, 1, 0, 1, True, "a", "c")]
    bare = ak.SentencePair("1", None, ["b"], {"gold": ak.Alignment.parse("0-0")})
    assert ak.extract_phrases(bare) == [(0, 1, 0, 1, True, None, None)]
    assert repr(ak.extract_phrases(bare)).startswith("1 phrase pair of '1'")


def test_phrase_pairs_of_every_pair_fit_a_screen(corpus):
    for pair in corpus:
        found = ak.extract_phrases(pair, annotator="gold")
        assert fits(repr(found)), pair.id
        assert f"{len(found)} phrase pair" in repr(found)
        assert found._repr_html_().count("<tr>") <= 31


def test_phrase_pairs_of_a_pair_need_to_know_whose(corpus):
    with pytest.raises(OptionError, match="aligned by eflomal, anna, ben, gold; name one"):
        ak.extract_phrases(corpus[0])
    with pytest.raises(UnknownNameError, match="'gild'; did you mean 'gold'"):
        ak.extract_phrases(corpus[0], annotator="gild")
    with pytest.raises(OptionError, match="words of its own"):
        ak.extract_phrases(corpus[0], annotator="gold", source=["a"])
    with pytest.raises(OptionError, match="annotator is for a sentence pair"):
        ak.extract_phrases(ak.Alignment(), annotator="gold")


def test_an_alignment_is_a_bipartite_graph():
    alignment = ak.Alignment(
        [(0, 0), (2, 1)], [(2, 2)], nulls=[(3, ak.NULL)], possible_nulls=[(ak.NULL, 5)],
        weights={(0, 0): 0.5}, labels={(2, 1): "MWE", (0, 1): "wrong", (3, ak.NULL): "new"},
    )  # fmt: skip
    graph = alignment.to_networkx()
    assert nx.is_bipartite(graph)
    assert set(graph) == {("source", k) for k in (0, 2, 3)} | {("target", k) for k in (0, 1, 2, 5)}
    assert graph.edges[("source", 0), ("target", 0)] == {
        "kind": "link", "status": "sure", "weight": 0.5,
    }  # fmt: skip
    assert graph.edges[("target", 1), ("source", 2)]["label"] == "MWE"
    assert graph.edges[("source", 2), ("target", 2)]["status"] == "possible"
    assert graph.number_of_edges() == 3
    assert graph.nodes["source", 3] == {
        "kind": "word", "side": "source", "bipartite": 0, "position": 3, "null": "sure",
        "label": "new",
    }  # fmt: skip
    assert graph.nodes["target", 5]["null"] == "possible"
    assert len(ak.Alignment().to_networkx()) == 0


@given(corpora(EVERYTHING))
def test_the_parts_of_the_graph_are_the_components_of_the_links(found):
    for pair in found:
        for alignment in pair.alignments.values():
            graph = alignment.to_networkx()
            parts = [part for part in nx.connected_components(graph) if len(part) > 1]
            links = {
                frozenset(((end[1], other[1]) if end[0] == "source" else (other[1], end[1]))
                          for end, other in graph.subgraph(part).edges)
                for part in parts
            }  # fmt: skip
            assert links == set(alignment.components())


def test_the_graph_of_a_pair_has_its_phrase_pairs(corpus, tmp_path):
    pair = corpus["p05"]
    graph = pair.to_networkx("gold")
    found = {(*node[1:], told["atomic"]) for node, told in graph.nodes(data=True)
             if told["kind"] == "phrase"}  # fmt: skip
    assert found == {phrase[:5] for phrase in ak.extract_phrases(pair, annotator="gold")}
    assert graph.graph["id"] == "p05"
    assert graph.graph["genre"] == "question"
    for node in graph:
        if node[0] == "phrase":
            _, a, b, c, d = node
            words = {("source", k) for k in range(a, b)} | {("target", k) for k in range(c, d)}
            assert set(graph[node]) == words
            assert graph.nodes[node]["source"] == " ".join(pair.source[a:b])
    nx.write_graphml(graph, tmp_path / "graph.xml")
    assert len(nx.read_graphml(tmp_path / "graph.xml")) == len(graph)
    sure = pair.to_networkx("gold", links="sure")
    assert len(sure) != len(graph)
    assert sum(told["kind"] == "link" for *_, told in sure.edges(data=True)) == 8
    words = pair.to_networkx("gold", phrases=False)
    assert nx.is_bipartite(words)
    assert [words.nodes["source", k]["word"] for k in range(7)] == list(pair.source)
    bare = ak.SentencePair("1", None, None, {"gold": ak.Alignment.parse("0-0 2-2")})
    assert ("source", 1) in bare.to_networkx("gold")  # within a phrase


def test_an_annotator_may_be_called_target():
    corpus = ak.Corpus.from_texts(["a"], ["b"], target=["0-0"])
    assert corpus.annotators == ("target",)
    for source, target in ((["a"], ["b", "c"]), (["a", "x"], ["b"])):
        with pytest.raises(JoinError, match="target has"):
            ak.Corpus.from_texts(source, target, target=["0-0"] * len(source))


def test_phrase_pairs_of_a_corpus_come_with_the_ids(corpus):
    chosen = {"annotator": "gold", "kind": "atomic"}
    assert list(ak.extract_phrases(corpus, **chosen)) == [
        (pair.id, phrase) for pair in corpus for phrase in ak.extract_phrases(pair, **chosen)
    ]
    record = ak.extract_phrases(corpus[0], annotator="gold").to_records()[0]
    assert (record["source"], record["target"], record["source_end"]) == (
        "A fire",
        "in a blaze which",
        2,
    )
    some = corpus.map(lambda pair: pair if pair.id == "p05" else pair.without_annotations("gold"))
    assert {id for id, _ in ak.extract_phrases(some, annotator="gold")} == {"p05"}
    with pytest.raises(UnknownNameError, match="did you mean 'gold'"):
        ak.extract_phrases(corpus, annotator="golt")
    with pytest.raises(OptionError, match="words of its own"):
        ak.extract_phrases(corpus, source=["a"], target=["b"])


def test_a_format_is_known_by_the_end_of_the_name(corpus, tmp_path):
    for name in ("a.jsonl", "a.xml", "a.jsonl.gz"):
        assert not ak.write_corpus(corpus, tmp_path / name)
        assert ak.read_corpus(tmp_path / name) == corpus
    assert [format_of_name(x) for x in ("-", "x.align")] == ["alignkit-jsonl", "pharaoh"]
    assert format_of_name("x.txt", "rte") == "rte"
