"""A pair that was judged, but not aligned, is neither aligned nor forgotten."""

import json
import pickle
from dataclasses import replace

import pytest
from command import run, write
from lxml import etree
from refusals import refuses

from alignkit import NULL, Alignment, Annotation, Corpus, SentencePair, count_corpus, errors, merge
from alignkit.agreement import agree
from alignkit.io import WRITTEN, get_format, read_corpus, write_corpus
from alignkit.io.format import JUDGED
from alignkit.io.formats.alignkit_xml import load_schema
from alignkit.scoring import score
from alignkit.show.html import draw_html
from alignkit.show.text import draw_text

OWN = ["alignkit-jsonl", "alignkit-xml"]
ONLY = Annotation(None, judgment="paraphrase", provenance="page 1")
ONE = Alignment.parse("0-0")
MIXED = Corpus(
    [
        SentencePair("1", ("a", "b"), ("a", "c"), {"anna": ONLY, "ben": ONE, "cleo": ONE}),
        SentencePair("2", ("a", "b"), ("a", "c"), {"anna": ONLY, "ben": Alignment()}),
        SentencePair("3", ("a", "b"), ("a", "c"), {"anna": ONLY}),
        SentencePair("4", ("a", "b"), ("a", "c"), {"ben": ONE, "cleo": Alignment()}),
    ]
)


@pytest.fixture(params=OWN)
def own(request, tmp_path):
    path = tmp_path / f"mixed.{request.param[9:]}"
    write_corpus(MIXED, path, format=request.param)
    return str(path)


def test_an_annotation_without_an_alignment_says_something():
    for said in ({"comment": "x"}, {"flags": {"x"}}, {"judgment": "x"}, {"provenance": "x"}):
        assert Annotation(None, **said).alignment is None
    refuses(errors.AlignmentError, "needs a judgment", Annotation, None)


def test_the_accessors_tell_aligned_from_judged():
    first, second, third, _ = MIXED
    assert list(first.annotations) == ["anna", "ben", "cleo"]
    assert first.alignments == {"ben": ONE, "cleo": ONE}
    assert (second.alignments, third.alignments) == ({"ben": Alignment()}, {})
    assert first.annotation("anna") is ONLY
    told = r"'anna' judged pair '1', but gave no .*: ben, cleo"
    refuses(errors.NotAlignedError, told, first.alignment, "anna")
    refuses(errors.UnknownNameError, "unknown annotator", first.alignment, "dora")
    assert (MIXED.annotators, MIXED.aligners) == (("anna", "ben", "cleo"), ("ben", "cleo"))
    assert MIXED.annotated_by("ben", "cleo").ids == ("1", "4")
    with pytest.raises(errors.NotAlignedError, match="'anna' judged pairs") as caught:
        MIXED.annotated_by("ben", "anna")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), vars(again)) == (str(caught.value), vars(caught.value))
    assert MIXED.transpose().transpose() == MIXED
    assert MIXED.transpose()[2].annotations == {"anna": ONLY}
    assert {record["annotator"] for record in MIXED.to_records()} == {"ben", "cleo"}
    assert replace(ONLY, alignment=ONE).alignment == ONE


def test_nulls_alone_are_turned_with_the_pair():
    alone = SentencePair("1", ("a",), (), {"x": Alignment(nulls=[(0, NULL)])})
    assert alone.transpose().alignment("x").nulls == {(NULL, 0)}


@pytest.mark.parametrize("format", OWN)
@pytest.mark.parametrize("options", [{}, {"base": 1}, {"transpose": True}])
def test_own_formats_keep_judgments_and_empty_alignments_apart(tmp_path, format, options):
    empty = Annotation(Alignment(), judgment="paraphrase", provenance="page 1")
    both = MIXED + Corpus([SentencePair("5", None, None, {"anna": ONLY, "ben": empty})])
    assert not write_corpus(both, tmp_path / "x", format=format, **options)
    assert read_corpus(tmp_path / "x", format=format, **options) == both


@pytest.mark.parametrize(
    ("value", "aligned"),
    [
        ({"judgment": "x"}, False),
        ({"comment": "x"}, False),
        ({"flags": ["x"]}, False),
        ({"provenance": "x"}, False),
        ({"judgment": "x", "sure": None, "labels": {}}, False),
        ({"judgment": "x", "sure": ""}, True),
        ({"judgment": "x", "possible": ""}, True),
        ({"judgment": "x", "null": "0-"}, True),
        ({"judgment": "x", "labels": {"0-0": "wrong"}}, True),
        ({"sure": ""}, True),
    ],
)
def test_what_jsonl_says_without_links(tmp_path, value, aligned):
    line = {"id": "1", "source": ["a"], "target": ["b"], "annotations": {"anna": value}}
    found = read_corpus(write(tmp_path, "x.jsonl", json.dumps(line)), format="alignkit-jsonl")[0]
    assert ("anna" in found.alignments) is aligned
    assert not aligned or not found.alignment("anna").possible
    assert found.annotation("anna").judgment == value.get("judgment", "")


@pytest.mark.parametrize("value", [{}, {"sure": None}, {"judgment": "", "flags": [], "labels": {}}])
def test_jsonl_refuses_an_annotation_that_says_nothing(tmp_path, value):
    line = {"id": "1", "source": ["a"], "target": ["b"], "annotations": {"anna": value}}
    with pytest.raises(errors.FormatError, match=r'x.jsonl:1: .*is empty; write {"sure": ""}'):
        read_corpus(write(tmp_path, "x.jsonl", json.dumps(line)), format="alignkit-jsonl")


@pytest.mark.parametrize(
    ("inner", "aligned"),
    [
        ('<annotation by="anna" judgment="x"/>', False),
        ('<annotation by="anna" judgment="x"><flag>x</flag></annotation>', False),
        ('<annotation by="anna"><comment>x</comment></annotation>', False),
        ('<annotation by="anna" judgment="x"><sure/></annotation>', True),
        ('<annotation by="anna"><comment>x</comment><null>0-</null></annotation>', True),
        ('<annotation by="anna"><comment>x</comment><possible/></annotation>', True),
        ('<annotation by="anna"><flag>x</flag><label link="0-0">x</label></annotation>', True),
        ('<annotation by="anna"><sure/></annotation>', True),
        ('<annotation by="anna"/>', True),
    ],
)
def test_what_xml_says_without_links(tmp_path, inner, aligned):
    head = '<corpus xmlns="urn:alignkit:corpus:1" version="1">'
    words = "<source><w>a</w></source><target><w>b</w></target>"
    text = f'{head}<pair id="1">{words}{inner}</pair></corpus>'
    load_schema().assertValid(etree.fromstring(text))
    found = read_corpus(write(tmp_path, "x.xml", text), format="alignkit-xml")[0]
    assert list(found.annotations) == ["anna"]
    assert ("anna" in found.alignments) is aligned


@pytest.mark.parametrize("format", [name for name in WRITTEN if name not in OWN])
def test_other_formats_hold_it_as_not_annotated_and_tell(tmp_path, format):
    # the words are known to all, or all is links only
    held = get_format(format)
    words = (("a", "b"), ("a", "c")) if "no text" not in held.holds else (None, None)
    judged = SentencePair("2", *words, {"anna": ONLY})
    others = [SentencePair(id, *words, {"anna": ONE}) for id in ("1", "3")]
    lost, read = [], []
    for k, middle in enumerate((judged, SentencePair("2", *words))):
        path = tmp_path / f"{k}" / "x"
        path.parent.mkdir()
        sides = ("source", "target") if format == "scripture" else ()
        beside = {side: str(path.with_name(side)) for side in sides}
        lost.append(write_corpus([others[0], middle, others[1]], path, format=format, **beside))
        read.append(read_corpus(path, format=format, **beside))
    assert (lost[0] - lost[1], lost[1] - lost[0], read[0]) == ({JUDGED: 1}, {}, read[1])
    if "absent" in held.holds:
        assert not read[0][1].annotations


def test_a_judgment_does_not_compete_with_the_one_alignment(tmp_path):
    first = SentencePair("1", ("a",), ("b",), {"anna": ONLY, "ben": ONE})
    assert write_corpus([first], tmp_path / "x", format="pharaoh") == {JUDGED: 1}
    assert (tmp_path / "x").read_text() == "0-0\n"


def test_merging_adds_links_to_a_judgment():
    base = [SentencePair("1", ("a",), ("b",), {"anna": ONLY})]
    links = [SentencePair("1", None, None, {"x": Annotation(ONE, comment="odd")})]
    both = Annotation(ONE, "odd", frozenset(), "paraphrase", "page 1")
    assert merge(base, {"anna": links})[0].annotations == {"anna": both}
    assert merge(links, {"x": base})[0].annotations == {"x": both}
    assert merge(base, {"anna": base}) == Corpus(base)
    twice = [SentencePair("1", None, None, {"x": Annotation(None, judgment="other")})]
    refuses(errors.JoinError, "'anna' already", merge, base, {"anna": twice})
    refuses(errors.JoinError, "'x' already", merge, links, {"x": links})


def test_counts_keep_judged_pairs_apart():
    found = count_corpus(MIXED).annotators
    assert (found["anna"].pairs, found["anna"].empty, found["anna"].judged) == (0, 0, 3)
    assert (found["ben"].pairs, found["ben"].empty, found["ben"].judged) == (3, 1, 0)


def test_stats_shows_them_only_where_there_are_some(capsys, own, tmp_path):
    assert "judged only" in run(capsys, "stats", own).out
    assert run(capsys, "stats", own, "--json").json["annotators"]["anna"]["judged"] == 3
    plain = write(tmp_path, "x.align", "0-0\n")
    assert "judged" not in run(capsys, "stats", plain).out
    assert "judged" not in run(capsys, "stats", plain, "--json").out


def test_a_pair_knows_who_aligned_it():
    for pair in MIXED:
        for name in ("anna", "ben", "cleo", "nobody"):
            assert pair.aligned_by(name) == (name in pair.alignments)
    assert MIXED[0].aligned_by("ben", "cleo")
    assert not MIXED[0].aligned_by("ben", "anna")
    assert MIXED[0].aligned_by()
    refuses(TypeError, "names", MIXED[0].aligned_by, 3)


def test_agreement_compares_those_who_aligned(capsys, own):
    assert agree(MIXED).annotators == ("ben", "cleo")
    without = MIXED.map(lambda pair: pair.without_annotations("anna"))
    one, other = (agree(pairs).to_records() for pairs in (MIXED, without))
    assert repr(one) == repr(other)  # NaN included
    assert run(capsys, "agree", own, "--json").json["annotators"] == ["ben", "cleo"]
    run(capsys, "agree", own, "--annotators", "anna", "ben").failed("'anna' judged pairs")
    with pytest.raises(errors.OptionError, match="two or more"):
        agree(Corpus([MIXED[2], SentencePair("9", ("a",), ("b",), {"ben": ONE})]))


def test_scoring_passes_them_over(capsys, own):
    assert score(MIXED, "ben", "cleo").pairs == 2
    refuses(errors.NotAlignedError, None, score, MIXED, "anna", "cleo")
    words = ("score", own, own, "--hyp-annotator", "ben", "--ref-annotator")
    assert run(capsys, *words, "cleo", "--json").code == 0
    run(capsys, *words, "anna").failed("'anna' judged pairs of", "aligned by: ben, cleo")


@pytest.mark.parametrize("command", ["phrases", "check", "stats"])
def test_commands_read_a_corpus_of_judgments_alone(capsys, tmp_path, command):
    path = tmp_path / "x.jsonl"
    write_corpus([MIXED[2]], path, format="alignkit-jsonl")
    ran = run(capsys, command, path)
    assert (ran.code, ran.err) == (0, "")
    assert "empty alignment" not in ran.out


def test_convert_keeps_them_where_it_can(capsys, own, tmp_path):
    out = tmp_path / "out.jsonl"
    words = ("convert", own, out, "--annotator", "anna", "--to")
    ran = run(capsys, *words, "alignkit-jsonl")
    assert (ran.code, ran.err) == (0, "")
    kept = read_corpus(out, format="alignkit-jsonl")
    assert [pair.annotations for pair in kept] == [{"anna": ONLY}] * 3 + [{}]
    run(capsys, *words, "pharaoh").failed("'anna' judged pairs of")
    run(capsys, "convert", own, out, "--annotator", "dora", "--to", "pharaoh").failed("'dora'")
    ran = run(capsys, "convert", own, out, "--annotator", "ben", "--to", "jacana")
    assert (ran.code, ran.err) == (0, "")  # anna's judgments were not asked for


def test_align_fills_in_a_judgment(capsys, own, tmp_path):
    out = tmp_path / "out.jsonl"
    words = ("align", own, "-o", out, "--to", "alignkit-jsonl", "--annotator")
    assert run(capsys, *words, "anna").code == 0
    for pair in list(read_corpus(out, format="alignkit-jsonl"))[:3]:
        assert replace(pair.annotation("anna"), alignment=None) == ONLY
        assert "anna" in pair.alignments
    run(capsys, *words, "ben").failed("an alignment by 'ben'")


def test_drawings_say_that_a_pair_was_judged(capsys, own):
    text = draw_text(MIXED[0])
    assert "anna: judged, not aligned" in text
    assert "anna, judgment: paraphrase" in text
    page = "".join(draw_html([MIXED[2]]))
    assert "anna</bdi>: judged, not aligned" in page
    assert "anna</bdi>, judgment" in page
    run(capsys, "show", own, "--annotators", "anna").failed("'anna' judged pairs of")
    assert run(capsys, "show", own, "--annotators", "ben").out.count("ben:") == 3


def test_a_name_that_nobody_has_is_unknown_among_judgments_too(capsys, tmp_path):
    path = tmp_path / "x.jsonl"
    write_corpus([MIXED[2]], path, format="alignkit-jsonl")
    for words in (
        ("convert", path, tmp_path / "y", "--to", "alignkit-xml", "--annotator", "dora"),
        ("phrases", path, "--annotator", "dora"),
        ("show", path, "--annotators", "dora"),
    ):
        run(capsys, *words).failed("unknown annotator", "'dora'", "known: anna")
