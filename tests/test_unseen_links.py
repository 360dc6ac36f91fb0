"""Links that annotators kept without looking at them: in annotations, formats, projects, agree."""

import json
import pickle
from dataclasses import replace
from math import isnan, nan

import pytest
from annotation import Tab, ask, done, project, sent, small_corpus
from command import run
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit import (
    Alignment,
    Annotation,
    Corpus,
    Link,
    SentencePair,
    agree,
    read_corpus,
    write_corpus,
)
from alignkit.agreement.pairs import CorpusData
from alignkit.agreement.unseen_links import f1_of, f1_of_all, shared_links
from alignkit.annotate.control_sample import done_works
from alignkit.annotate.exporting import exported
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.project.replay import replay
from alignkit.corpora.join import merge
from alignkit.corpora.retokenization import retokenize
from alignkit.errors import AlignmentError, ArgumentError, FormatError
from alignkit.io.format import EVERYTHING
from alignkit.model.alignment import NULL

OWN = ["alignkit-jsonl", "alignkit-xml"]
SOURCE, TARGET = ("a", "b", "c", "a"), ("b", "x", "a")
CELLS = [(i, j) for i in range(len(SOURCE)) for j in range(len(TARGET))]
LINKS = st.dictionaries(st.sampled_from(CELLS), st.booleans(), max_size=6)
WORK = st.tuples(LINKS, st.sets(st.sampled_from(CELLS), max_size=4))
QUICK = {"bootstrap": "none"}


def said(links, unseen, **more):
    """Return the annotation with links, by cell whether they are sure, some of them unseen."""
    alignment = Alignment([cell for cell, sure in links.items() if sure], links)
    return Annotation(alignment, unseen=links.keys() & unseen, **more)


def worked(text, unseen, **more):
    return Annotation(Alignment.parse(text), unseen=Alignment.parse(unseen).possible, **more)


def corpus_of(*pairs, words=("p q r s", "w x y z")):
    """Return a corpus of the annotations of each pair, by name."""
    sides = [side.split() for side in words]
    return Corpus(SentencePair(str(k), *sides, said) for k, said in enumerate(pairs, 1))


# an annotation
def test_unseen_links_are_links_of_the_alignment():
    annotation = Annotation(Alignment.parse("0-0 1?1"), unseen=[(1, 1)])
    assert annotation.unseen == {Link(1, 1)}
    assert all(type(link) is Link for link in annotation.unseen)
    assert annotation != Annotation(annotation.alignment)
    assert Annotation(annotation.alignment).unseen == frozenset()
    assert Annotation.of(annotation.alignment) == Annotation(annotation.alignment)
    assert pickle.loads(pickle.dumps(annotation)) == annotation
    assert hash(annotation) == hash(replace(annotation))
    refuses(AlignmentError, "0-1 is unseen", Annotation, Alignment(), unseen=[(0, 1)])
    refuses(AlignmentError, "1-1 is unseen", replace, annotation, alignment=Alignment())
    judged = {"judgment": "yes", "unseen": [(0, 0)]}
    refuses(AlignmentError, "0-0 is unseen", Annotation, None, **judged)
    null = Alignment(nulls=[(0, NULL)])
    refuses(AlignmentError, "0--1 is unseen", Annotation, null, unseen=[(0, NULL)])


@pytest.mark.parametrize("wrong", [3, [3], "0-0", [(0, 1, 2)], [("a", 0)]])
def test_unseen_links_that_are_no_links_are_an_error(wrong):
    with pytest.raises((AlignmentError, ArgumentError)):
        Annotation(Alignment.parse("0-0"), unseen=wrong)


def test_unseen_links_follow_the_sides_names_and_records():
    corpus = corpus_of({"anna": worked("0-1 2?1", "2-1"), "ben": worked("0-0", "")})
    (pair,) = corpus
    assert pair.transpose().annotations["anna"].unseen == {(1, 2)}
    assert pair.transpose().transpose() == pair
    assert corpus.rename({"anna": "a"})[0].annotations["a"].unseen == {(2, 1)}
    assert Corpus.from_records(corpus.to_records(each="annotation")) == corpus


def test_unseen_links_are_merged_with_their_alignment():
    links = corpus_of({"anna": worked("0-1 2?1", "2-1")})
    judged = corpus_of({"anna": Annotation(None, judgment="yes")})
    for first, second in ((links, judged), (judged, links)):
        (pair,) = merge(first, {"anna": second})
        assert pair.annotations["anna"] == worked("0-1 2?1", "2-1", judgment="yes")


def test_new_words_have_unseen_links_if_all_their_old_links_were_unseen():
    corpus = corpus_of({"anna": worked("0-0 1-1 2-2", "1-1 2-2")}, words=("ab c d", "w x y"))
    (parts,) = retokenize(corpus, ["a b c d"], ["w x y"]).corpus
    assert parts.annotations["anna"].unseen == {(2, 1), (3, 2)}
    (back,) = retokenize(Corpus([parts]), ["ab c d"], ["w x y"]).corpus
    assert back == corpus[0]
    (joined,) = retokenize(corpus, ["abc d"], ["wx y"]).corpus  # 0-0 was seen, 1-1 was not
    assert joined.annotations["anna"].unseen == {(1, 1)}


# formats; `test_hold_everything` and the round trips draw them too
@pytest.mark.parametrize("format", OWN)
@pytest.mark.parametrize("options", [{}, {"base": 1}, {"transpose": True}])
def test_unseen_links_come_back_and_none_are_not_written(format, options, tmp_path):
    path = tmp_path / "corpus"
    corpus = corpus_of({"anna": worked("0-1 2?1", "2-1"), "ben": worked("0-1", "")})
    assert not write_corpus(corpus, path, format=format, **options)
    assert read_corpus(path, format=format, **options) == corpus
    text = path.read_text("utf-8")
    written = {"base": "3-2", "transpose": "1-2"}.get(next(iter(options), ""), "2-1")
    if format == "alignkit-xml":
        assert text.count("unseen") == 2
        assert f"<unseen>{written}</unseen>" in text
    else:
        assert text.count("unseen") == 1
        assert f'"unseen": "{written}"' in text


@given(st.dictionaries(st.sampled_from(["anna", "ben"]), WORK), st.sampled_from(OWN))
def test_any_unseen_links_come_back(tmp_path_factory, works, format):
    path = tmp_path_factory.getbasetemp() / "unseen"
    annotations = {name: said(*work) for name, work in works.items()}
    corpus = Corpus([SentencePair("1", SOURCE, TARGET, annotations)])
    assert not write_corpus(corpus, path, format=format)
    assert read_corpus(path, format=format) == corpus


JSONL = '{{"id": "1", "source": ["a", "b"], "target": ["x"], "annotations": {{"A": {}}}}}\n'
XML = (
    '<corpus xmlns="urn:alignkit:corpus:1" version="1">\n'
    '<pair id="1"><source><w>a</w><w>b</w></source>'
    '<target><w>x</w></target>\n<annotation by="A">{}</annotation></pair></corpus>\n'
)


@pytest.mark.parametrize(
    ("unseen", "told"),
    [
        ("1-0", "1-0 is unseen"),
        ("0-0 0-0", "0-0 occurs twice"),
        ("x", "'x' is not a link"),
        ("0-", "'0-' is not a link"),
    ],
)
def test_wrong_unseen_links_are_errors_with_their_line(unseen, told, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(JSONL.format(json.dumps({"sure": "0-0", "unseen": unseen})), "utf-8")
    refuses(FormatError, rf"a\.jsonl:1: {told}", read_corpus, path, format="alignkit-jsonl")
    path = tmp_path / "a.xml"
    path.write_text(XML.format(f"<sure>0-0</sure><unseen>{unseen}</unseen>"), "utf-8")
    refuses(FormatError, r"a\.xml:\d: ", read_corpus, path, format="alignkit-xml")


def test_unseen_links_alone_are_no_annotation(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(JSONL.format(json.dumps({"unseen": "", "when": None})), "utf-8")
    refuses(FormatError, "is empty", read_corpus, path, format="alignkit-jsonl")
    path.write_text(JSONL.format(json.dumps({"sure": "", "unseen": None})), "utf-8")
    (pair,) = read_corpus(path, format="alignkit-jsonl")
    assert pair.annotations == {"A": Annotation(Alignment())}


def test_a_link_out_of_range_is_dropped_with_its_mark(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(JSONL.format(json.dumps({"sure": "0-0 9-0", "unseen": "0-0 9-0"})), "utf-8")
    (pair,) = read_corpus(path, format="alignkit-jsonl", drop_out_of_range=True)
    assert pair.annotations["A"] == worked("0-0", "0-0")


def test_other_formats_count_the_pairs_whose_unseen_links_they_drop(tmp_path, capsys):
    work = {"anna": worked("0-1 2?1", "2-1")}
    corpus = corpus_of(work, work, {"anna": worked("0-1", "")})
    assert write_corpus(corpus, tmp_path / "folder", format="goldalign")["unseen"] == 2
    write_corpus(corpus, path := tmp_path / "corpus.jsonl", format="alignkit-jsonl")
    ran = run(capsys, "convert", path, tmp_path / "a.align", "--to", "pharaoh")
    assert "of 2 pairs were kept" in ran.err


# projects
def kept(store, k, name, *cells, looked_at=(), null=None):
    """Mark a pair as done while the page shows links, some of which were looked at."""
    bulk = [[i, j, 0, 1] for i, j in cells if (i, j) not in looked_at]
    taken = [[i, j, 0, 2] for i, j in cells]
    if null is not None:
        taken.append([*null, 0, 2])
        bulk.append([*null, 0, 1])
    turn = {"before": False, "after": True, "how": "done"}
    Tab(store, k, name).send(sent("done", cells=taken, bulk=bulk, **turn))


def test_the_export_says_which_links_nobody_looked_at(tmp_path):
    store = project(tmp_path)
    kept(store, 1, "anna", (0, 0), (1, 1), (2, 2), looked_at=[(0, 0)], null=(3, NULL))
    Tab(store, 1).send(sent("edit", how="cell", cells=[[2, 2, 2, 0]]))
    corpus = Corpus(exported(store))
    assert corpus[0].annotations["anna"].unseen == {(1, 1)}
    assert corpus[0].annotations["gold"].unseen == frozenset()
    Tab(store, 1).send(sent("open", rev=1, suggestions=True, seen=[[1, 1]]))
    assert Corpus(exported(store))[0].annotations["anna"].unseen == frozenset()


def test_a_new_project_and_an_import_keep_unseen_links(tmp_path):
    store = project(tmp_path)
    kept(store, 1, "anna", (0, 0), (1, 1), looked_at=[(0, 0)])
    corpus = Corpus(exported(store))
    again = project(tmp_path, corpus, "again", annotator=None)
    assert Corpus(exported(again)) == corpus
    assert not replay(again).differences
    other = project(tmp_path, name="other", annotator=None)
    import_pairs(other, corpus, holds=EVERYTHING)
    assert Corpus(exported(other))[0].annotations["anna"].unseen == {(1, 1)}
    assert not replay(other).differences
    alignment, state = ask(other, done_works)[1, "anna"]  # what the report on bias counts
    assert (state.bulk, len(alignment)) == ({(1, 1)}, 2)


def test_an_import_leaves_the_marks_of_links_that_a_project_has(tmp_path):
    store = project(tmp_path)
    kept(store, 1, "anna", (0, 0), (1, 1))
    both = Corpus(exported(store))
    Tab(store, 1).send(
        sent("open", rev=1, suggestions=True, seen=[[1, 1]])
    )  # it was looked at here
    assert import_pairs(store, both, holds=EVERYTHING).changed == 0
    assert Corpus(exported(store))[0].annotations["anna"].unseen == {(0, 0)}

    def unmarked(pair):  # as earlier versions wrote it
        without = {name: replace(x, unseen=()) for name, x in pair.annotations.items()}
        return replace(pair, annotations=without)

    assert import_pairs(store, both.map(unmarked), holds=EVERYTHING).changed == 0
    assert Corpus(exported(store))[0].annotations["anna"].unseen == {(0, 0)}
    more = worked("0-0 1-1 2-2 3-3", "1-1 2-2")
    import_pairs(store, corpus_pair(both, more), holds=EVERYTHING)
    assert Corpus(exported(store))[0].annotations["anna"].unseen == {(0, 0), (2, 2)}


def corpus_pair(corpus, annotation):
    return [corpus[0].with_annotation("anna", annotation)]


# agreement
@given(st.fixed_dictionaries({"anna": WORK, "ben": WORK}), st.booleans())
def test_unseen_links_are_counted_as_by_plain_sets(works, ignore_identical):
    annotations = {name: said(*work) for name, work in works.items()}
    empty = {name: Annotation(Alignment()) for name in works}
    alone = {"anna": annotations["anna"]}
    corpus = Corpus(
        SentencePair(str(k), SOURCE, TARGET, each)
        for k, each in enumerate([empty, alone, annotations])
    )
    options = {"ignore_identical": ignore_identical}
    counts = shared_links(CorpusData(corpus), "anna", "ben", **options)
    compared = {(i, j) for i, j in CELLS if not ignore_identical or SOURCE[i] != TARGET[j]}
    (anna, marks), (ben, other) = works["anna"], works["ben"]
    unseen = marks & other & anna.keys() & ben.keys()
    shared = anna.keys() & ben.keys() & compared
    assert counts.places.tolist() == [0, 2]
    assert (counts.common, counts.unseen) == (len(shared), len(shared & unseen))
    agreement = agree(corpus, ["anna", "ben"], **QUICK, **options)
    (pairing,) = agreement.pairings
    has_any = any(each.unseen for each in annotations.values())
    assert (pairing.unseen is not None) == has_any
    for level, least in (("possible", False), ("sure", True)):
        sides = [
            {cell for cell, sure in links.items() if cell in compared and sure >= least} - unseen
            for links in (anna, ben)
        ]
        both, sizes = len(sides[0] & sides[1]), len(sides[0]) + len(sides[1])
        expected = 2 * both / sizes if sizes else nan
        f1 = f1_of_all(counts.without_unseen, level)
        assert f1 == pytest.approx(expected, nan_ok=True)
        assert f1_of(counts.without_unseen, level)[1] == pytest.approx(expected, nan_ok=True)
        if has_any:
            assert pairing.unseen.f1[level] == pytest.approx(expected, nan_ok=True)
    if has_any:
        assert (pairing.unseen.common, pairing.unseen.unseen) == (counts.common, counts.unseen)
    said_so = [code for code in agreement.answer.codes if code.startswith("unseen")]
    assert bool(said_so) == bool(shared & unseen)


def four():
    """Return pairs in which anna and ben share 5 links, of which neither looked at 3.

    Without these, each has 3 links, and they share 2.
    """
    first = {
        "anna": worked("0-0 1-1 2-2", "0-0 1-1"),
        "ben": worked("0-0 1-1 2?2", "0-0 1-1 2-2"),
    }
    second = {"anna": worked("0-0 1-1 3-2", "1-1"), "ben": worked("0-0 1-1 3-3", "1-1 3-3")}
    return corpus_of(first, second)


def test_the_figures_are_those_of_the_others():
    """F1 without three unseen links: 2 of 3 and 3 links are shared; of the sure, 1 of 3 and 2."""
    agreement = agree(four(), **QUICK)
    (pairing,) = agreement.of("annotators")
    assert (pairing.unseen.common, pairing.unseen.unseen) == (5, 3)
    assert pairing.unseen.f1 == {"possible": pytest.approx(2 / 3), "sure": pytest.approx(2 / 5)}
    record = agreement.to_json()["pairings"][0]["unseen"]
    assert record == {"common": 5, "unseen": 3, "f1": {"possible": 2 / 3, "sure": 0.4}}
    figures = {
        (each.level, each.statistic): (each.value, each.pairs)
        for each in agreement.figures()
        if each.kind == "annotators"
    }
    assert figures["words.possible", "common"] == (5, 2)
    assert figures["words.possible", "unseen"] == (3, 2)
    assert figures["words.possible", "f1.without-unseen"] == (pytest.approx(2 / 3), 2)
    assert figures["words.sure", "f1.without-unseen"] == (pytest.approx(2 / 5), 2)
    assert "annotators,anna,ben,all,words.possible,unseen,3" in agreement.csv()


def test_the_answer_says_it_in_one_sentence_and_a_table_has_it_all():
    agreement = agree(four(), **QUICK)
    *rest, last = agreement.answer.sentences
    assert last == (
        "Neither annotator looked at 3 of their 5 common links, which were suggested and kept; "
        "without these, F1 is 66.7%."
    )
    assert rest == list(agree(seen(four()), **QUICK).answer.sentences)
    (row,) = [line for line in agreement.show(tables=["unseen"]).split("\n") if "anna" in line]
    assert row.split() == ["anna", "~", "ben", "5", "3", "83.3", "66.7", "72.7", "40.0"]
    assert "unseen" in agreement.show().split("More, by tables")[1]
    assert "without looking at them" in agreement.show(tables="all")
    assert "Neither annotator looked at 3" in agreement.to_html()


def seen(corpus):
    """Return a corpus as earlier versions wrote it."""

    def unmarked(pair):
        said = {name: replace(x, unseen=()) for name, x in pair.annotations.items()}
        return replace(pair, annotations=said)

    return corpus.map(unmarked)


def test_without_unseen_links_nothing_is_said(tmp_path):
    agreement = agree(seen(four()), **QUICK)
    (pairing,) = agreement.of("annotators")
    assert pairing.unseen is None
    assert not {"unseen", "unseen-of-several"} & {*agreement.answer.codes}
    for text in (agreement.show(), agreement.show(tables="all"), json.dumps(agreement.to_json())):
        assert "unseen" not in text
    assert "no such figures" in agreement.show(tables=["unseen"])


def test_of_several_pairings_the_one_with_most_is_named():
    corpus = four().map(lambda pair: pair.with_annotation("cleo", worked("0-0 1-1 2-2 3-2", "0-0")))
    agreement = agree(corpus, **QUICK)
    counts = [(two.unseen.common, two.unseen.unseen) for two in agreement.of("annotators")]
    assert counts == [(5, 3), (6, 1), (5, 1)]
    assert agreement.answer.sentences[-1] == (
        "In 3 of 3 pairings, neither annotator looked at some common links, which were suggested "
        "and kept; anna and ben have most (3 of 5; without these, F1 is 66.7%)."
    )
    table = agreement.show(tables=["unseen"])
    assert [line.split()[:5] for line in table.split("\n") if "~" in line] == [
        ["anna", "~", "ben", "5", "3"],
        ["anna", "~", "cleo", "6", "1"],
        ["ben", "~", "cleo", "5", "1"],
    ]


def test_two_who_looked_at_nothing_have_no_f1_without_it():
    everything = {name: worked("0-0 1-1", "0-0 1-1") for name in ("anna", "ben")}
    agreement = agree(corpus_of(everything, everything), **QUICK)
    assert isnan(agreement.pairings[0].unseen.f1["possible"])
    assert agreement.answer.sentences[-1].endswith("neither has a link.")
    assert "neither has another link" in agreement.show(tables=["unseen"])
    record = agreement.to_json()["pairings"][0]["unseen"]
    assert record["f1"] == {"possible": None, "sure": None}


def test_links_of_unknown_words_are_counted_too():
    corpus = four().map(lambda pair: replace(pair, source=None, target=None))
    (pairing,) = agree(corpus, ignore_identical=False, **QUICK).pairings
    assert (pairing.unseen.common, pairing.unseen.unseen) == (5, 3)


def test_the_command_reports_an_export_of_a_project(tmp_path, capsys):
    store = project(tmp_path, small_corpus(annotations={}), annotator=None)
    for name in ("anna", "ben"):
        store.enrol(name)
        kept(store, 1, name, (0, 0), (1, 1), looked_at=[(0, 0)] if name == "anna" else ())
        Tab(store, 2, name).send(done())
    path = tmp_path / "work.jsonl"
    ran = run(capsys, "project", "export", store.path, path, "--to", "alignkit-jsonl", "--done")
    assert ran.code == 0
    ran = run(capsys, "agree", path, "--bootstrap", "none")
    assert "1 of their 2 common links" in " ".join(ran.out.split())
    ran = run(capsys, "agree", path, "--bootstrap", "none", "--json")
    assert ran.json["pairings"][0]["unseen"]["unseen"] == 1
    ran = run(capsys, "agree", path, "--bootstrap", "none", "--tables", "unseen")
    assert "Common links that both" in ran.out
