"""Test alignkit's own XML and JSONL: they hold everything, and bad files do no harm."""

import json
import subprocess
import sys
import time

import pytest
from format_files import lenient, refusing
from hypothesis import given
from lxml import etree
from refusals import refuses
from strategies import corpora

from alignkit.errors import AlignkitError, FormatError
from alignkit.io import iterate_pairs, open_reading, read_corpus, write_corpus
from alignkit.io.format import EVERYTHING
from alignkit.io.formats.alignkit_xml import load_schema
from alignkit.model.alignment import NULL, Alignment
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

pytestmark = pytest.mark.usefixtures("no_collection")  # some texts are nested deeply

OWN = ["alignkit-jsonl", "alignkit-xml"]

LINKS = Alignment(
    [(0, 0), (1, 2)],
    [(2, 2)],
    nulls=[(3, NULL)],
    possible_nulls=[(NULL, 4)],
    weights={(0, 0): 0.93, (3, NULL): 1e-300},
    labels={(0, 0): "EQUI", (0, 1): "no link", (NULL, 4): ""},
)
REMARKS = (" a comment\n", {"odd", "tokenization"}, "paraphrase", "a tool 1.0")
ANNA = Annotation(LINKS, *REMARKS, unseen=[(1, 2), (2, 2)])
SIDES = ("a", "b c", "", "d\u00a0e"), ("<&>", '"', "\t", "]]>", "\r\n")
P1 = SentencePair("p1", *SIDES, {"anna": ANNA, "ben": Alignment()}, {"genre": "news", "empty": ""})
NAMELESS = SentencePair("", None, None, {"anna": Alignment.parse("5-7")})
FULL = Corpus([P1, NAMELESS, SentencePair("none", (), (), {})])


@pytest.mark.parametrize("format", OWN)
@pytest.mark.parametrize("options", [{}, {"base": 1}, {"transpose": True}])
def test_hold_everything(tmp_path, format, options):
    path = tmp_path / "full"
    assert not write_corpus(FULL, path, format=format, **options)
    assert read_corpus(path, format=format, **options) == FULL


@given(corpora(EVERYTHING))
def test_the_quick_way_reads_what_the_plain_way_reads(tmp_path_factory, corpus):
    path = tmp_path_factory.getbasetemp() / "quick.jsonl"
    write_corpus(corpus, path, format="alignkit-jsonl")
    chosen, reading = open_reading(str(path), format="alignkit-jsonl")
    assert Corpus(reading.pairs(chosen.parse(reading))) == corpus


def test_jsonl_is_written_as_its_specification_says(tmp_path):
    path = tmp_path / "x.jsonl"
    write_corpus(FULL, path, format="alignkit-jsonl")
    header, first, second, third = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(header) == {"alignkit": "corpus", "version": 1}
    assert json.loads(first) == {
        "id": "p1",
        "source": ["a", "b c", "", "d\u00a0e"],
        "target": ["<&>", '"', "\t", "]]>", "\r\n"],
        "attributes": {"genre": "news", "empty": ""},
        "annotations": {
            "anna": {
                "sure": "0-0 1-2",
                "possible": "2-2",
                "null": "3-",
                "possible_null": "-4",
                "weights": {"0-0": 0.93, "3-": 1e-300},
                "labels": {"0-0": "EQUI", "0-1": "no link", "-4": ""},
                "comment": " a comment\n",
                "flags": ["odd", "tokenization"],
                "judgment": "paraphrase",
                "provenance": "a tool 1.0",
                "unseen": "1-2 2-2",
            },
            "ben": {"sure": ""},
        },
    }
    assert json.loads(second) == {
        "id": "",
        "source": None,
        "target": None,
        "annotations": {"anna": {"sure": "5-7"}},
    }
    assert json.loads(third) == {"id": "none", "source": [], "target": []}


def jsonl(tmp_path, *lines):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def pair(**annotation):
    value = {"id": "1", "source": ["a", "b"], "target": ["c"], "annotations": {"x": annotation}}
    return json.dumps(value)


def refuses_the_second(path, format, line, message):
    """Check that the second of three pairs is refused, by its line, and left out when lenient."""
    with refusing(message) as caught:
        read_corpus(path, format=format)
    assert str(caught.value).startswith(f"{path}:{line}:")
    ids, reading = lenient(str(path), format)
    assert (len(ids), reading.read, reading.refused) == (2, 2, 1)


def test_jsonl_reads_without_header_joined_and_with_empty_lines(tmp_path):
    header = '{"alignkit": "corpus", "version": 1}'
    path = jsonl(tmp_path, pair(sure="0-0"), "", header, pair(sure="1-0"), "  ")
    corpus = read_corpus(path, format="alignkit-jsonl")
    assert [str(pair.alignment("x")) for pair in corpus] == ["0-0", "1-0"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"alignkit": "corpus", "version": 2}', "header"),
        ("[1]", "expected one object"),
        ("{", "not JSON"),
        ('{"id": 1}', "'id' is 1; expected a text"),
        ('{"source": ["a"]}', "'id' is missing"),
        ('{"id": "1", "source": ["a", 1]}', "contains 1; expected texts"),
        ('{"id": "1", "sorce": []}', "unknown key 'sorce'"),
        ('{"id": "1", "id": "2"}', "'id' occurs twice"),
        ('{"id": "\\ud800"}', "half a surrogate pair"),
        (pair(sure="0-0 1"), "'1' is not a link; expected i-j"),
        (pair(sure="0-0", sur="1-0"), "unknown key 'sur'"),
        *((pair(sure=text), "not a link") for text in ("0-\u0661", "9999999999-0")),
        (pair(sure="2-0"), "link 2-0 lies outside"),
        (pair(null="0-0"), "'0-0' is not a null"),
        (pair(null="-1"), "lies outside"),
        (pair(sure="0-0", weights={"1-0": 1}), "a weight for '1-0'"),
        (pair(sure="0-0", weights={"0-0": True}), "not a number"),
        (pair(sure="0-0", weights={"0-0": float("nan")}), "not a JSON number"),
        (pair(sure="0-0").replace('"0-0"', "1e999"), "too large"),
        (pair(sure="0-0").replace('"0-0"', "9" * 5000), "has 5000 digits"),
        (pair(sure="0-0", labels={"0-0": "a", "00-0": "b"}), "are the same link"),
        (pair(flags="odd"), "expected a list"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": "1", "attributes": {"a": 1}}', "expected a text"),
        ('{"id": "1"} x', "found 'x'"),
    ],
)
def test_jsonl_errors_name_the_line_and_the_cause(tmp_path, line, message):
    path = jsonl(tmp_path, pair(sure="0-0"), line, pair(sure=""))
    refuses_the_second(path, "alignkit-jsonl", 2, message)


@pytest.mark.parametrize("format", OWN)
def test_what_cannot_be_written_is_refused_and_leaves_the_old_file(tmp_path, format):
    path = tmp_path / "x"
    path.write_text("old")
    odd = SentencePair("7", ("a",), ("b",), {"x": Alignment([(0, 0)], labels={(0, 0): "\ud800"})})
    for wrong in (SentencePair("7", ("\ud800",), (), {}), odd):
        refuses(AlignkitError, "'7'", write_corpus, [wrong], path, format=format)
    assert path.read_text() == "old"


def test_xml_follows_its_schema_and_says_what_it_cannot_hold(tmp_path):
    corpus = Corpus([SentencePair("7", ("\x01",), (), {})])
    with pytest.raises(AlignkitError, match=r"'7'.*alignkit-jsonl"):
        write_corpus(corpus, tmp_path / "x.xml", format="alignkit-xml")
    write_corpus(corpus, tmp_path / "x.jsonl", format="alignkit-jsonl")
    assert read_corpus(tmp_path / "x.jsonl", format="alignkit-jsonl") == corpus
    linked = Alignment([(0, 0)], labels={(0, 0): "a\x1bb"})
    for annotation, told in [
        (Annotation(None, comment="a\x01b"), "'7' has a character in the comment of 'anna' that"),
        (Annotation(linked), "'7' has a character in the label of 'anna' on link 0-0"),
    ]:
        pair = SentencePair("7", ("a",), ("b",), {"anna": annotation})
        with pytest.raises(AlignkitError, match=told):
            write_corpus([pair], tmp_path / "x.xml", format="alignkit-xml")
    path = tmp_path / "x.xml"
    write_corpus(FULL, path, format="alignkit-xml")
    load_schema().assertValid(etree.parse(str(path)))


SAID = '<annotation by="x">%s</annotation>'
HEAD = '<corpus xmlns="urn:alignkit:corpus:1" version="1">\n'
PAIR = '<pair id="1"><source><w>a</w></source><target><w>b</w></target>{}</pair>\n'


def xml(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "x.xml"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ("<annotation/>", "failed to validate attributes"),
        (SAID % "<sure>0</sure>", "follow alignkit.rng"),
        (SAID % "<sure>1-0</sure>", "1-0 lies outside"),
        (SAID % '<weight link="0-0">1</weight>', "which is not a link"),
        (SAID % '<sure>0-0</sure><weight link="0-0">NaN</weight>', "not a finite number"),
        ('<annotation by="x"/><annotation by="x"/>', "occurs twice"),
        ("text", "follow alignkit.rng"),
        ("<w/>", "not expect element w"),
        (SAID % '<label link="-">1</label>', "follow alignkit.rng"),
    ],
)
def test_xml_errors_name_the_line_and_the_cause(tmp_path, inner, message):
    pairs = "".join(PAIR.format(text) for text in ("", inner, ""))
    refuses_the_second(xml(tmp_path, f"{HEAD}{pairs}</corpus>"), "alignkit-xml", 3, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "not XML") for text in ("", HEAD, HEAD + "<pair>", HEAD + "<a>" * 10_000)),
        ("plain text", "not XML"),
        ("<corpus/>", "expected <corpus> in the namespace"),
        (HEAD.replace('"1"', '"2"') + "</corpus>", "expected only version"),
        (HEAD.replace("version", "extra='1' version") + "</corpus>", "expected only version"),
        (HEAD + "stray</corpus>", "text 'stray'"),
        (HEAD + PAIR.format("") + "stray" + PAIR.format("") + "</corpus>", "text 'stray'"),
        (HEAD + PAIR.format("") + "stray</corpus>", "text 'stray'"),
        (HEAD + "<other/></corpus>", "<other>, expected <pair>"),
    ],
)
def test_xml_that_is_something_else_is_refused(tmp_path, text, message):
    with refusing(message, "x.xml"):
        read_corpus(xml(tmp_path, text), format="alignkit-xml")


BOMB = (
    '<!DOCTYPE corpus [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(12))
    + "]>"
)
SECRET = '<!DOCTYPE corpus [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
REMOTE = '<!DOCTYPE corpus SYSTEM "http://127.0.0.1:9/x.dtd">'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("start", ["", '<?xml version="1.0"?>\n<!-- a comment -->\n'])
@pytest.mark.parametrize("doctype", [BOMB, SECRET, REMOTE])
@pytest.mark.parametrize("format", ["alignkit-xml", "paraphrase-xml"])
def test_entities_and_document_types_are_refused(tmp_path, format, doctype, start, encoding):
    body = HEAD + PAIR.replace("<w>a", "<w>&a;&m;").format("") + "</corpus>"
    path = xml(tmp_path, start + doctype + body, encoding)
    refuses(FormatError, "document type", read_corpus, path, format=format)


def test_a_late_document_type_and_an_undeclared_entity_are_refused(tmp_path):
    path = xml(tmp_path, f"<!--{'-=' * 100_000}-->{BOMB}{HEAD}{PAIR.format('')}</corpus>")
    refuses(FormatError, "no element in", read_corpus, path, format="alignkit-xml")
    path = xml(tmp_path, HEAD + PAIR.replace("<w>a", "<w>&a;").format("") + "</corpus>")
    refuses(FormatError, r"not XML: .* entity", read_corpus, path, format="alignkit-xml")


def test_long_pairs_are_read_quickly_and_before_the_file_ends(tmp_path):
    words = f"<source>{'<w/>' * 200_000}</source>"
    path = xml(tmp_path, HEAD + f'<pair id="1">{words}</pair>' * 2 + "</corpus>")
    start = time.process_time()
    pairs = iterate_pairs(path, format="alignkit-xml", max_words=200_000)
    assert [len(pair.source) for pair in pairs] == [200_000] * 2
    assert time.process_time() - start < 5
    path = xml(tmp_path, HEAD + PAIR.format("") * 3000 + "broken")
    assert next(iterate_pairs(path, format="alignkit-xml")).id == "1"


@pytest.mark.parametrize(
    ("start", "encoding", "options"),
    [
        ('<?xml version="1.0" encoding="ISO-8859-1"?>', "latin-1", {}),
        ("", "latin-1", {"encoding": "latin-1"}),
        ("", "utf-8-sig", {}),
        ("", "utf-16", {}),
    ],
)
def test_xml_in_other_encodings_reads(tmp_path, start, encoding, options):
    text = start + HEAD + PAIR.replace(">a<", ">é<").format("") + "</corpus>"
    path = xml(tmp_path, text, encoding)
    assert read_corpus(path, format="alignkit-xml", **options)[0].source == ("é",)


def test_a_line_of_ten_megabytes_is_read(tmp_path):
    value = {"id": "1", "source": ["a" * 10_000_000], "target": ["b"], "annotations": {}}
    path = jsonl(tmp_path, json.dumps(value))
    assert len(read_corpus(path, format="alignkit-jsonl")[0].source[0]) == 10_000_000


@pytest.mark.slow
@pytest.mark.parametrize("format", OWN)
def test_memory_does_not_grow_with_the_file(tmp_path, format):
    path = tmp_path / "big"
    text = tuple(f"word{k}" for k in range(40))
    links = Alignment([(k, k) for k in range(40)])
    pairs = (SentencePair(str(k), text, text, {"x": links}) for k in range(6000))
    write_corpus(pairs, path, format=format)
    grown = _peak_of_reading(path, format) - _peak_of_reading(None, format)
    assert grown < 12_000, f"{grown} kB more for a file of {path.stat().st_size // 1000} kB"


def _peak_of_reading(path, format):
    lines = ["import resource", "from alignkit.io.formats import alignkit_jsonl, alignkit_xml"]
    if path is not None:
        lines.append("from alignkit.io import iterate_pairs")
        lines.append(f"sum(1 for _ in iterate_pairs({str(path)!r}, format={format!r}))")
    lines.append("print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)")
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout)  # kilobytes, as POSIX counts
