"""An explicit NULL of any format comes through alignkit's own formats as it was."""

import tempfile
from pathlib import Path

import pytest
from format_files import NUMBERS, refused, text
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import corpora

from alignkit import NULL, Alignment, FormatError, Link, SentencePair, read_corpus, write_corpus
from alignkit.io import WRITTEN, get_format

OWN = ("alignkit-jsonl", "alignkit-xml")
WITH_NULLS = [name for name in WRITTEN if "nulls" in get_format(name).holds]
XML = '<corpus xmlns="urn:alignkit:corpus:1" version="1"><pair id="1">{}</pair></corpus>'
FIRST, SECOND = Link(1, NULL), Link(NULL, 1)

FILES = {  # the words a b and c d, aligned a-c, and nulls: b, and d where the format has both sides
    "alignkit-jsonl": '{"id": "1", "source": ["a", "b"], "target": ["c", "d"], '
    '"annotations": {"x": {"sure": "0-0", "null": "1- -1"}}}',
    "alignkit-xml": XML.format(
        "<source><w>a</w><w>b</w></source><target><w>c</w><w>d</w></target>"
        '<annotation by="x"><sure>0-0</sure><null>1- -1</null></annotation>'
    ),
    "naacl": "1 1 1\n1 2 0\n1 0 2\n",
    "giza": "# Sentence pair (1) source length 2 target length 2 alignment score : 1\n"
    "c d\nNULL ({ 2 }) a ({ 1 }) b ({ })\n",
    "rte": "# sentence pair 1\na b\nNULL ({ 2 / / }) c ({ 1 / / }) d ({ / / })\n",
    "jsonl": '{"src_words": ["a", "b"], "tgt_words": ["c", "d"], '
    '"alignment": [[0, 0], [1, -1], [-1, 1]]}\n',
    "yawat": {"x.crp": "1\na b\nc d\n", "x.aln": "\n1 0:0:unspec 1::unspec :1:unspec\n"},
    "transread": {
        "x.txt": "1\na b\nc d\n",
        "x_annotation_1.txt": "\n1 0:0:sure 1::sure :1:unaligned\n",
    },
    "ists": '<sentence id="1" status="">\n<source>\n1 a :\n2 b :\n</source>\n<translation>\n'
    "1 c :\n2 d :\n</translation>\n<alignment>\n1 <==> 1 // EQUI // 5 // a <==> c\n"
    "2 <==> 0 // NOALI // NIL // b <==> -not aligned-\n"
    "0 <==> 2 // NOALI // NIL // -not aligned- <==> d\n</alignment>\n</sentence>\n",
    "blinker": {"x/samp1.SentPair0": "1 1\n2 0\n0 2\n"},
    "pud": '[{"1": ["1"], "2": ["X"], "X": ["2"]}]',
    "paraphrase-xml": "<corpus><paraphrase id='1'><first>a b</first><second>c d</second>"
    "<alignments><alignment first='0' second='0'/><alignment first='1' second=''/>"
    "<alignment first='' second='1'/></alignments></paraphrase></corpus>",
}
ONE_SIDED = {"giza": {SECOND}, "rte": {FIRST}}


def test_no_format_with_nulls_is_forgotten():
    assert FILES.keys() == set(WITH_NULLS)


@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("format", WITH_NULLS)
def test_nulls_of_a_file_go_through_own_formats(tmp_path, format, own):
    files = FILES[format] if isinstance(FILES[format], dict) else {"x": FILES[format]}
    for name, content in files.items():
        text(tmp_path, content, name)
    read = read_corpus(tmp_path / "x", format=format)
    (alignment,) = read[0].alignments.values()
    assert alignment.sure == {Link(0, 0)}
    assert alignment.nulls == ONE_SIDED.get(format, {FIRST, SECOND})
    write_corpus(read, tmp_path / "own", format=own)
    back = read_corpus(tmp_path / "own", format=own)
    assert back == read
    again = tmp_path / "again" / "x"
    again.parent.mkdir()
    assert not write_corpus(back, again, format=format)
    last = read_corpus(again, format=format)
    assert [pair.alignments for pair in last] == [pair.alignments for pair in read]


@pytest.mark.parametrize("format", [name for name in WITH_NULLS if name not in OWN])
def test_what_a_format_gives_comes_through_own_formats(format):
    words = st.sampled_from(["a", "b\u00a0c", "{", "日本"])

    @settings(max_examples=6)
    @given(corpora(get_format(format).holds, tokens=words, ids=NUMBERS, max_pairs=2).filter(len))
    def holds(corpus):
        with tempfile.TemporaryDirectory() as folder:
            write_corpus(corpus, Path(folder, "x"), format=format)
            read = read_corpus(Path(folder, "x"), format=format)
            for own in OWN:
                assert not write_corpus(read, Path(folder, own), format=own)
                assert read_corpus(Path(folder, own), format=own) == read

    holds()


JSONL = '{"src_words": ["a", "b"], "tgt_words": ["c"], "alignment": %s}'


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("transpose", [False, True])
def test_jsonl_writes_and_reads_minus_one(tmp_path, base, transpose):
    corpus = [
        SentencePair("1", ("a", "b"), ("c",), {"alignment": Alignment(nulls=[(0, -1), (-1, 0)])}),
        SentencePair("2", ("a", "b"), ("c",), {"alignment": Alignment([(1, 0)], nulls=[(0, -1)])}),
    ]
    options = {"base": base, "transpose": transpose}
    assert not write_corpus(corpus, tmp_path / "x", format="jsonl", **options)
    assert "-1" in (tmp_path / "x").read_text()
    assert list(read_corpus(tmp_path / "x", format="jsonl", **options)) == corpus


def test_jsonl_knows_no_other_null(tmp_path):
    for links, message in (
        ("[[-1, -1]]", "the empty word to itself"),
        ("[[-2, 0]]", "-2 is not a word position"),
        ("[[true, 0]]", "true is not a word"),
        ("[[-1.0, 0]]", "-1.0 is not a word position"),
    ):
        refused(text(tmp_path, JSONL % links), "jsonl", message, 1)
    with pytest.raises(FormatError, match=r"outside .* counted from 1"):
        read_corpus(text(tmp_path, JSONL % "[[0, 1]]"), format="jsonl", base=1)
