"""Pairs check their links; corpora are made of texts, slice, group, count and show themselves."""

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, replace
from pathlib import Path

import networkx as nx
import pandas
import pytest
from hypothesis import given
from nltk.translate import AlignedSent
from nltk.translate import Alignment as Links
from refusals import refuses
from strategies import corpora

import alignkit as ak
from alignkit import NULL, Alignment, Annotation, SentencePair, errors, from_nltk, to_nltk
from alignkit.corpora.counts import AnnotatorCounts, count_corpus, count_groups
from alignkit.errors import AlignmentError, ArgumentError, JoinError, OptionError
from alignkit.io.format import EVERYTHING
from alignkit.io.reading import format_of_name
from alignkit.model.corpus import Corpus, group_text, values_of

EXAMPLE = SentencePair(
    "7",
    ("they", "left"),
    ("both", "went", "off"),
    {
        "anna": Annotation(Alignment.parse("0-0 1?2"), "unsure", {"odd"}, "paraphrase", "tool 1"),
        "ben": Alignment(),
    },
    {"genre": "news"},
)
ONE = ("a",), ("b",)
THREE = Corpus(
    SentencePair(id, None, None, dict.fromkeys(names, Alignment()), attributes)
    for id, names, attributes in [
        ("a", ["anna"], {"genre": "news"}),
        ("b", ["anna", "ben"], {}),
        ("c", [], {"genre": "news"}),
    ]
)
PAIR = SentencePair("1", ("a", "b"), ("c",), {"gold": Alignment.parse("0-0 1?0 1-")})
SAMPLES = Path(__file__).parent.parent / "samples"


@pytest.mark.parametrize(
    ("source", "target", "alignment"),
    [
        *((*ONE, Alignment.parse(links)) for links in ("0-1", "1?0", "1-")),
        ((), ("b",), Alignment.parse("0-0")),
        (("a",), None, Alignment.parse("1-9")),
        (None, ("b",), Alignment.parse("9-1")),
        (*ONE, Alignment(possible_nulls=[(NULL, 1)])),
        (*ONE, Alignment(labels={(0, 1): "wrong"})),
    ],
)
def test_links_beyond_the_sentences_are_refused(source, target, alignment):
    with pytest.raises(AlignmentError, match="links of 'anna' need"):
        SentencePair("3", source, target, {"anna": alignment})
    bare = SentencePair("3", None, None, {"anna": alignment})
    assert bare.alignment("anna") == alignment
    refuses(AlignmentError, "need", replace, bare, source=source, target=target)


def test_a_sentence_is_not_one_string_and_a_pair_without_words_says_how_to_get_them():
    refuses(AlignmentError, "split the text", SentencePair, "1", "they left", ("they",))
    refuses(AlignmentError, "split the text", SentencePair, "1", None, "they left")
    pair = SentencePair("1", ("a",), None)
    assert not pair.has_text
    for ask in (lambda: pair.words, lambda: pair.lengths):
        refuses(errors.MissingTextError, "no target words", ask)
    known = SentencePair("1", [], iter(["b"]))
    assert known.has_text
    assert (known.words, known.lengths) == (((), ("b",)), (0, 1))


def test_not_annotated_is_not_empty():
    assert EXAMPLE.alignment("ben") == Alignment()
    refuses(errors.UnknownNameError, "did you mean 'anna'", EXAMPLE.annotation, "ana")
    assert EXAMPLE.without_annotations("ben", "nobody") != EXAMPLE
    assert list(EXAMPLE.without_annotations("ben").annotations) == ["anna"]


def test_annotations_are_added_and_replaced_in_a_new_pair():
    more = EXAMPLE.with_annotation("ben", Alignment.parse("0-0"))
    assert list(more.annotations) == ["anna", "ben"]
    assert more.alignment("ben") == Alignment.parse("0-0")
    assert EXAMPLE.alignment("ben") == Alignment()
    refuses(AlignmentError, None, EXAMPLE.with_annotation, "ben", Alignment.parse("0-3"))
    with pytest.raises(FrozenInstanceError):
        EXAMPLE.id = "8"


@given(corpora(EVERYTHING))
def test_copies_and_double_transposition_are_equal(corpus):
    for again in (pickle.loads(pickle.dumps(corpus)), copy.deepcopy(corpus)):
        assert (again, hash(again)) == (corpus, hash(corpus))
    turned = corpus.transpose()
    assert turned.transpose() == corpus
    for one, other in zip(corpus, turned, strict=True):
        assert (one.source, one.target) == (other.target, other.source)
        assert one.attributes == other.attributes
        assert other.alignments == {k: value.transpose() for k, value in one.alignments.items()}
        for name, annotation in one.annotations.items():
            assert other.annotation(name).comment == annotation.comment


def test_a_corpus_is_a_sequence():
    assert (len(THREE), THREE.ids, THREE[1].id, THREE[-1].id) == (3, ("a", "b", "c"), "b", "c")
    assert (THREE[1:].ids, THREE[::-1].ids) == (("b", "c"), ("c", "b", "a"))
    assert THREE[:1] + THREE[1:] == THREE[:]
    assert THREE[:2] != THREE[:]
    assert list(THREE) != THREE[:]
    with pytest.raises(IndexError):
        THREE[3]
    assert (len(Corpus()), Corpus().annotators) == (0, ())
    assert repr(THREE) == "Corpus(3 pairs, annotators: anna, ben)"


def test_groups_hold_every_pair_once_and_annotated_by_those_of_all_its_annotators():
    groups = THREE.groups("genre")
    assert {name: part.ids for name, part in groups.items()} == {"news": ("a", "c"), "": ("b",)}
    refuses(errors.UnknownNameError, "'genre'", THREE.groups, "gendre")
    assert Corpus().groups("genre") == {}
    assert (THREE.annotators, THREE.annotated_by().ids) == (("anna", "ben"), ("a", "b", "c"))
    assert THREE.annotated_by("anna").ids == ("a", "b")
    assert THREE.annotated_by("anna", "ben").ids == ("b",)
    refuses(errors.UnknownNameError, "annotator 'carl'", THREE.annotated_by, "anna", "carl")


def test_records_make_a_data_frame_of_which_an_attribute_never_hides_a_column():
    weighted = Alignment([(0, 0)], [(1, 2)], weights={(0, 0): 0.5}, labels={(1, 2): "loose"})
    first = replace(EXAMPLE, annotations={"anna": weighted, "ben": Alignment()})
    bare = SentencePair("8", None, None, {"anna": Alignment.parse("3-4")})
    frame = pandas.DataFrame(Corpus([first, bare]).to_records())
    assert " ".join(frame.columns) == "id genre annotator i j sure source target weight label"
    assert (frame["id"].tolist(), frame["sure"].tolist()) == (["7", "7", "8"], [True, False, True])
    assert frame["source"].tolist()[:2] == ["they", "left"]
    assert (frame["target"].tolist()[:2], frame["label"][1]) == (["both", "off"], "loose")
    assert frame["label"].isna().tolist() == [True, False, True]
    assert frame["source"].isna().tolist() == [False, False, True]
    pair = SentencePair("1", None, None, {"a": Alignment.parse("0-0")}, {"id": "x", "i": "y"})
    (record,) = Corpus([pair]).to_records()
    assert (record["id"], record["i"]) == ("1", 0)


def test_a_place_or_an_id_that_is_none_is_told_with_what_to_give():
    with pytest.raises(IndexError, match="index is 999"):
        THREE[999]
    assert THREE[-1] is THREE[2]
    with pytest.raises(ArgumentError, match=r"a list; .* alignkit.select_ids"):
        THREE[[THREE[0].id]]
    refuses(OptionError, "the corpus is empty", Corpus().require, "gold")
    assert repr(THREE[:1]) == "Corpus(1 pair, annotators: anna)"


def test_a_small_corpus_by_hand():
    anna = Annotation(Alignment.parse("0-0 0?2 1-1 2-"), "hm")
    texts = ("The", "dog", "barks"), ("the", "hound", "the")
    first = SentencePair("1", *texts, {"anna": anna, "ben": Alignment()}, {"genre": "a"})
    bare = SentencePair("1", None, None, {"anna": Alignment.parse("7-7")}, {"genre": "b"})
    counts = count_corpus([first, bare])
    assert (counts.pairs, counts.without_text, counts.repeated_ids) == (2, 1, 1)
    assert (counts.source_tokens, counts.target_tokens) == (3, 3)
    assert (counts.source_types, counts.target_types) == (3, 2)
    assert (counts.longest_source, counts.longest_target, counts.attributes) == (3, 3, {"genre": 2})
    assert counts.annotators["anna"] == AnnotatorCounts(
        pairs=2,
        sure=3,
        possible=1,
        nulls=1,
        source_aligned=3,
        target_aligned=4,
        source_tokens=3,
        target_tokens=3,
        one_to_one=2,
        identical=2,
        comments=1,
    )
    assert counts.annotators["ben"].empty == 1


@given(corpora(EVERYTHING))
def test_counts_agree_with_a_plain_recount(corpus):
    counts = count_corpus(iter(corpus))
    texts = [pair for pair in corpus if pair.has_text]
    assert (counts.pairs, counts.repeated_ids) == (len(corpus), len(corpus) - len(set(corpus.ids)))
    assert counts.source_tokens == sum(len(pair.source) for pair in texts)
    assert counts.target_types == len({word for pair in texts for word in pair.target})
    assert set(counts.annotators) == set(corpus.annotators)
    for name, found in counts.annotators.items():
        made = [(pair, pair.alignment(name)) for pair in corpus if name in pair.alignments]
        links = [(pair, one, i, j) for pair, one in made for i, j in one]
        assert asdict(found) | {"comments": 0} == asdict(
            AnnotatorCounts(
                pairs=len(made),
                empty=sum(not one.possible for _, one in made),
                sure=sum(len(one.sure) for _, one in made),
                possible=sum(len(one.possible - one.sure) for _, one in made),
                nulls=sum(len(one.nulls) for _, one in made),
                source_aligned=sum(len(one.aligned_source()) for _, one in made),
                target_aligned=sum(len(one.aligned_target()) for _, one in made),
                source_tokens=sum(len(pair.source) for pair, _ in made if pair.has_text),
                target_tokens=sum(len(pair.target) for pair, _ in made if pair.has_text),
                one_to_one=sum(
                    len(one.targets_of(i)) == len(one.sources_of(j)) == 1 for _, one, i, j in links
                ),
                identical=sum(
                    pair.source[i].casefold() == pair.target[j].casefold()
                    for pair, _, i, j in links
                    if pair.has_text
                ),
                judged=sum(name in pair.annotations for pair in corpus) - len(made),
            )
        )


@given(corpora(EVERYTHING))
def test_groups_are_counted_as_corpora_of_their_own(found):
    for attribute in found.attributes:
        for split in (None, " ", ","):
            counts = count_groups(found, attribute, split=split)
            groups = found.groups(attribute, split=split)
            assert counts.whole == count_corpus(found)
            assert counts.groups == {value: count_corpus(part) for value, part in groups.items()}
            values = [values_of(pair.attributes.get(attribute, ""), split) for pair in found]
            assert counts.several == sum(len(several) > 1 for several in values)


def test_groups_need_an_attribute_that_is_there():
    pair = SentencePair("1", None, None, {}, {"genre": "a"})
    refuses(errors.UnknownNameError, "did you mean 'genre'", count_groups, [pair], "gener")
    with pytest.raises(OptionError, match="separator of values"):
        count_groups([pair], "genre", split="")
    assert count_groups(Corpus(), "genre").groups == {}


@given(corpora(frozenset({"text", "empty"})))
def test_pairs_come_back(corpus):
    for pair in corpus:
        again = from_nltk(to_nltk(pair, "alignment"), id=pair.id)
        assert again.words == pair.words
        assert again.alignment("alignment") == pair.alignment("alignment")


def test_the_kind_of_links_is_chosen_and_what_is_missing_told():
    assert sorted(to_nltk(PAIR, "gold").alignment) == [(0, 0), (1, 0)]
    assert sorted(to_nltk(PAIR, "gold", links="sure").alignment) == [(0, 0)]
    with pytest.raises(errors.UnknownNameError, match="did you mean 'sure'"):
        to_nltk(PAIR, "gold", links="sur")
    refuses(errors.UnknownNameError, "annotator", to_nltk, PAIR, "silver")
    with pytest.raises(errors.MissingTextError):
        to_nltk(SentencePair("1", None, None, {"gold": Alignment()}), "gold")
    sent = AlignedSent(["a", "b"], ["c"], Links([(0, 0, "x"), (1, None)]))
    assert from_nltk(sent, id="1", annotator="n").alignment("n") == Alignment.parse("0-0 1-")


@pytest.fixture(scope="module")
def corpus():
    return ak.read_corpus(SAMPLES / "paraphrases.jsonl", format="alignkit-jsonl")


def fits(text, lines=40, wide=120):
    rows = text.split("\n")
    return len(rows) <= lines and max(map(len, rows)) <= wide


def test_a_pair_is_had_by_its_id(corpus):
    assert corpus["p05"] is corpus[4]
    assert all(key in corpus for key in ("p05", corpus[4]))
    assert "p99" not in corpus
    assert 5 not in corpus
    assert pickle.loads(pickle.dumps(corpus)) == corpus


@given(corpora(EVERYTHING))
def test_every_id_gives_its_pair_or_says_that_it_repeats(found):
    for pair in found:
        if found.ids.count(pair.id) == 1:
            assert found[pair.id] is pair
        else:
            told = f"{found.ids.count(pair.id)} pairs have"
            refuses(errors.RepeatedIdError, told, found.__getitem__, pair.id)


def test_an_unknown_id_names_those_that_are_near_and_one_that_repeats_says_so(corpus):
    with pytest.raises(errors.UnknownIdError, match="did you mean 'p5") as caught:
        corpus["p5"]
    assert isinstance(caught.value, (KeyError, LookupError, errors.UnknownNameError))
    assert str(caught.value).startswith("no pair")  # and not in quotes
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.name) == (str(caught.value), "p5")
    with pytest.raises(KeyError, match="the first id is 'p01'"):
        corpus["nothing like it"]
    with pytest.raises(errors.UnknownIdError, match="the corpus is empty"):
        ak.Corpus()["1"]
    assert len(str(errors.UnknownIdError("x" * 1000, map(str, range(10**6))))) < 300
    pair = ak.SentencePair("1", ["a"], ["b"])
    with pytest.raises(errors.RepeatedIdError, match=r"the id '1'.*corpus\[1\]"):
        ak.Corpus([ak.SentencePair("0", ["a"], ["b"]), pair, pair, pair])["1"]


def test_a_corpus_is_made_of_texts():
    gold, remark = ak.Alignment.parse("0-0 1-1"), ak.Annotation(None, judgment="paraphrase")
    found = ak.Corpus.from_texts(
        ["a b", ["c", "d"], ""],
        (["x  y", "z w", "v"]),
        ids=["p", "q", "r"],
        gold=["0-0 1-1", gold, ""],
        tool=[{(0, 0)}, [(1, 0)], None],
        ben=[None, remark, None],
    )
    assert found.ids == ("p", "q", "r")
    words = [(("a", "b"), ("x", "y")), (("c", "d"), ("z", "w")), ((), ("v",))]
    assert [pair.words for pair in found] == words
    assert found["p"].alignment("gold") == found["q"].alignment("gold") == gold
    assert found["q"].alignment("tool") == ak.Alignment.parse("1-0")
    assert (list(found["r"].annotations), found["q"].annotation("ben")) == (["gold"], remark)
    assert ak.Corpus.from_texts(["a"], ["b"]) == ak.Corpus([ak.SentencePair("1", ["a"], ["b"])])


@pytest.mark.parametrize(
    ("texts", "more", "error", "told"),
    [
        ((["a"], ["b", "c"]), {}, JoinError, "target has 2 entries"),
        ((["a"], ["b"]), {"gold": []}, JoinError, "gold has 0 entries"),
        ((["a"], ["b"]), {"ids": ["1", "2"]}, JoinError, "ids has 2 entries"),
        (("a", ["b"]), {}, ArgumentError, "source must be"),
        ((["a"], ["b"]), {"gold": "0-0"}, ArgumentError, "gold must be"),
        ((["a"], ["b"]), {"gold": ["0+0"]}, AlignmentError, r"gold\[0\]: '0\+0' is not a link"),
        ((["a"], ["b"]), {"gold": [7]}, ArgumentError, "must be the links"),
        ((["a"], ["b"]), {"gold": [[(0, 0, [1])]]}, ArgumentError, "third part of"),
        ((["a"], ["b"]), {"gold": [{0: 1}]}, ArgumentError, "must be the links"),
        ((["a"], ["b"]), {"gold": ["1-0"]}, AlignmentError, "links of 'gold' need"),
        ((["a"], [["b", 3]]), {}, ArgumentError, r"target\[0\]\[1\] is 3"),
    ],
)
def test_texts_that_do_not_fit_are_refused(texts, more, error, told):
    refuses(error, told, ak.Corpus.from_texts, *texts, **more)


def test_a_pair_shows_itself_in_a_line_and_draws_itself_in_a_notebook(corpus):
    pair = corpus["p05"]
    assert repr(pair) == "SentencePair('p05', 7 x 7 words, annotators: eflomal, anna, ben, gold)"
    bare = ak.SentencePair("1", None, None)
    assert repr(bare) == "SentencePair('1', ? x ? words, annotators: none)"
    drawn = pair._repr_html_()
    assert drawn.count("<tr") == 8
    assert all(text in drawn for text in ("Marchetti", "max-height"))
    assert len(ak.SentencePair("1", ["a"] * 1000, ["b"] * 1000)._repr_html_()) < 200


def test_many_and_long_names_fit_a_line():
    names = {f"annotator number {k} {'x' * 300}": ak.Alignment() for k in range(200)}
    pair = ak.SentencePair("i" * 999, ["a"], ["b"], names)
    for shown in (repr(pair), repr(ak.Corpus([pair]))):
        assert fits(shown, lines=1)
        assert " more)" in shown
    assert "and 180 more" in ak.Corpus([pair])._repr_html_()


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
        pair.alignment("gold"),
        links="sure",
        ignore_identical=True,
        source=pair.source,
        target=pair.target,
    )
    assert "atomic" in repr(found)
    alone = ak.Corpus.from_texts(["a b"], ["c d"], gold=["0-0"])[0]
    assert ak.extract_phrases(alone) == [(0, 1, 0, 1, True, "a", "c")]
    bare = ak.SentencePair("1", None, ["b"], {"gold": ak.Alignment.parse("0-0")})
    assert ak.extract_phrases(bare) == [(0, 1, 0, 1, True, None, None)]
    assert repr(ak.extract_phrases(bare)).startswith("1 phrase pair of '1'")


def test_phrase_pairs_of_a_pair_fit_a_screen_and_need_to_know_whose(corpus):
    for pair in corpus:
        found = ak.extract_phrases(pair, annotator="gold")
        assert fits(repr(found)), pair.id
        assert f"{len(found)} phrase pair" in repr(found)
        assert found._repr_html_().count("<tr>") <= 31
    find, pair = ak.extract_phrases, corpus[0]
    refuses(OptionError, "ben, gold; name one", find, pair)
    refuses(errors.UnknownNameError, "did you mean 'gold'", find, pair, annotator="gild")
    refuses(OptionError, "its own words", find, pair, annotator="gold", source=["a"])
    refuses(OptionError, "for a sentence pair", find, ak.Alignment(), annotator="gold")


def test_an_alignment_is_a_bipartite_graph():
    alignment = ak.Alignment(
        [(0, 0), (2, 1)],
        [(2, 2)],
        nulls=[(3, ak.NULL)],
        possible_nulls=[(ak.NULL, 5)],
        weights={(0, 0): 0.5},
        labels={(2, 1): "MWE", (0, 1): "wrong", (3, ak.NULL): "new"},
    )
    graph = alignment.to_networkx()
    assert nx.is_bipartite(graph)
    assert set(graph) == {("source", k) for k in (0, 2, 3)} | {("target", k) for k in (0, 1, 2, 5)}
    link = {"kind": "link", "status": "sure", "weight": 0.5}
    assert graph.edges[("source", 0), ("target", 0)] == link
    assert graph.edges[("target", 1), ("source", 2)]["label"] == "MWE"
    assert graph.edges[("source", 2), ("target", 2)]["status"] == "possible"
    assert graph.number_of_edges() == 3
    assert graph.nodes["source", 3] == {
        "kind": "word",
        "side": "source",
        "bipartite": 0,
        "position": 3,
        "null": "sure",
        "label": "new",
    }
    assert (graph.nodes["target", 5]["null"], len(ak.Alignment().to_networkx())) == ("possible", 0)


@given(corpora(EVERYTHING))
def test_the_parts_of_the_graph_are_the_components_of_the_links(found):
    for pair in found:
        for alignment in pair.alignments.values():
            graph = alignment.to_networkx()
            links = {
                frozenset(
                    ((end[1], other[1]) if end[0] == "source" else (other[1], end[1]))
                    for end, other in graph.subgraph(part).edges
                )
                for part in nx.connected_components(graph)
                if len(part) > 1
            }
            assert links == set(alignment.components())


@given(corpora(EVERYTHING))
def test_each_node_of_a_graph_says_which_word_it_is(found):
    for pair in found:
        for name, alignment in pair.alignments.items():
            nulls = {}
            for null in alignment.nulls:
                word = ("source", null.i) if null.j == ak.NULL else ("target", null.j)
                nulls[word] = "sure" if null in alignment.sure_nulls else "possible"
            with_words = pair.to_networkx(name, phrases=False)
            for graph in (with_words, alignment.to_networkx()):
                assert nulls.keys() <= set(graph)
                for (side, position), known in graph.nodes(data=True):
                    assert known["kind"] == "word"
                    assert (known["side"], known["position"]) == (side, position)
                    assert known["bipartite"] == ["source", "target"].index(side)
                    assert known.get("null") == nulls.get((side, position))
            if pair.has_text:
                assert nx.get_node_attributes(with_words, "word") == {
                    (side, position): word
                    for side, words in (("source", pair.source), ("target", pair.target))
                    for position, word in enumerate(words)
                }


def test_the_graph_of_a_pair_has_its_phrase_pairs(corpus, tmp_path):
    pair = corpus["p05"]
    graph = pair.to_networkx("gold")
    found = {
        (*node[1:], told["atomic"])
        for node, told in graph.nodes(data=True)
        if told["kind"] == "phrase"
    }
    assert found == {phrase[:5] for phrase in ak.extract_phrases(pair, annotator="gold")}
    assert (graph.graph["id"], graph.graph["genre"]) == ("p05", "question")
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
    assert ak.Corpus.from_texts(["a"], ["b"], target=["0-0"]).annotators == ("target",)
    for source, target in ((["a"], ["b", "c"]), (["a", "x"], ["b"])):
        with pytest.raises(JoinError, match="target has"):
            ak.Corpus.from_texts(source, target, target=["0-0"] * len(source))


def test_phrase_pairs_of_a_corpus_come_with_the_ids(corpus):
    chosen = {"annotator": "gold", "kind": "atomic"}
    found = [(pair.id, one) for pair in corpus for one in ak.extract_phrases(pair, **chosen)]
    assert list(ak.extract_phrases(corpus, **chosen)) == found
    record = ak.extract_phrases(corpus[0], annotator="gold").to_records()[0]
    shown = record["source"], record["target"], record["source_end"]
    assert shown == ("A fire", "in a blaze which", 2)
    some = corpus.map(lambda pair: pair if pair.id == "p05" else pair.without_annotations("gold"))
    assert {id for id, _ in ak.extract_phrases(some, annotator="gold")} == {"p05"}
    refuses(
        errors.UnknownNameError, "did you mean 'gold'", ak.extract_phrases, corpus, annotator="golt"
    )
    refuses(OptionError, "its own words", ak.extract_phrases, corpus, source=["a"], target=["b"])


def test_a_format_is_known_by_the_end_of_the_name(corpus, tmp_path):
    for name in ("a.jsonl", "a.xml", "a.jsonl.gz"):
        assert not ak.write_corpus(corpus, tmp_path / name)
        assert ak.read_corpus(tmp_path / name) == corpus
    assert [format_of_name(x) for x in ("-", "x.align")] == ["alignkit-jsonl", "pharaoh"]
    assert format_of_name("x.txt", "rte") == "rte"


def test_a_pair_is_in_the_group_of_the_judgment_that_all_gave():
    def pair(**judgments):
        named = {name: ak.Annotation(ak.Alignment(), judgment=j) for name, j in judgments.items()}
        return ak.SentencePair("1", ["a"], ["b"], named)

    assert group_text(pair(anna="yes", ben="yes"), "judgment") == "yes"
    assert group_text(pair(anna="yes", ben="no"), "judgment") == "anna: yes, ben: no"
    assert group_text(pair(anna="yes", ben=""), "judgment") == "yes"
    assert group_text(pair(anna="", ben=""), "judgment") is None
    assert group_text(pair(anna="yes", ben="no"), "judgment", ["ben"]) == "no"
