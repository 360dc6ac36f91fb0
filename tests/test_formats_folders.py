"""Formats of several files are read with their quirks, and read(write(x)) == x."""

from collections import Counter

import pytest
from format_files import left_out, lenient, put, refusing
from refusals import refuses

from alignkit import NULL, Alignment, Corpus, Link, SentencePair
from alignkit.errors import OptionError
from alignkit.io import open_reading, read_corpus, read_pairs, write_corpus
from alignkit.io.atomic_files import WriteError

# --- Blinker


def blinker(folder):
    put(folder, "EN.sample.1", "After all ,\nif you\n")
    put(folder, "FR.sample.1", "Si toi\nsi vous\n")
    put(folder, "A1/samp1.SentPair0", "1 2\n2 1\n3 0\n0 1\n")
    put(folder, "A2/samp1.SentPair0", "")
    put(folder, "A10/samp1.SentPair1", "1 1 \r\n 2 2")
    put(folder, "A10/readme", "notes")
    return str(folder)


def test_blinker_folders_are_annotators_and_words_are_found(tmp_path):
    corpus = read_corpus(blinker(tmp_path), format="blinker")
    assert (corpus.ids, corpus.annotators) == (("1.0", "1.1"), ("A1", "A2", "A10"))
    assert corpus[0].words == (("After", "all", ","), ("Si", "toi"))
    assert (str(corpus[0].alignment("A1")), str(corpus[0].alignment("A2"))) == ("0-1 1-0 -0 2-", "")
    assert "A10" not in corpus[0].annotations
    assert str(corpus[1].alignment("A10")) == "0-0 1-1"


def test_blinker_reads_one_annotator_one_file_and_words_by_option(tmp_path):
    blinker(tmp_path)
    one = read_corpus(str(tmp_path / "A1"), format="blinker")
    assert one.annotators == ("alignment",)
    put(tmp_path, "A1/samp1.SentPair0", "2 1\n1 2\n0 3\n1 0\n")
    assert read_corpus(str(tmp_path / "A1"), format="blinker", transpose=True) == one
    blinker(tmp_path)
    (pair,) = read_corpus(str(tmp_path / "A10" / "samp1.SentPair1"), format="blinker")
    assert (pair.id, pair.target) == ("1.1", ("si", "vous"))
    words = put(tmp_path, "w", "a b c ||| d e\nf g ||| h i\nj ||| k\n")
    with refusing("more sentences", "`partial=True`"):
        read_corpus(str(tmp_path), format="blinker", source=words)
    more = read_corpus(str(tmp_path), format="blinker", source=words, partial=True)
    assert (more.ids, more[1].source) == (("1.0", "1.1", "1.2"), ("f", "g"))
    assert not more[2].annotations


@pytest.mark.parametrize("line", ["0 0", "1", "1 1 1", "EN FR", "1 -1", "1_0 1", "1 3"])
def test_blinker_refuses_a_broken_line(tmp_path, line):
    blinker(tmp_path)
    bad = put(tmp_path, "A2/samp1.SentPair0", f"1 1\n{line}\n")
    left_out(str(tmp_path), "blinker", f"{bad}:2:", ["1.1"])


def test_blinker_needs_files_and_writes_beside_no_others(tmp_path):
    with refusing("no file sampN.SentPairK"):
        read_corpus(str(tmp_path), format="blinker")
    pair = SentencePair("x", None, None, {"anna": Alignment.parse("0-0"), "../b": Alignment()})
    refuses(OptionError, "file name", write_corpus, [pair], str(tmp_path / "o"), format="blinker")
    out = str(tmp_path / "o")
    for _ in range(2):  # over itself
        assert write_corpus([pair], out, format="blinker", annotator="anna") == {"ids": 1}
    assert read_corpus(out, format="blinker").ids == ("1.0",)
    refuses(WriteError, "already exists", write_corpus, [], out, format="blinker")


# --- Yawat and TransRead

CRP = "0\nresumption of\nreprise de la\n1\nwelcome\nsouhaits\n7\nclosed\n\n"
ALN = "\n7 0::unspec\n0 1,0:2,1:literal :0:unspec\n1\n"


def test_yawat_groups_labels_nulls_and_pairs_not_annotated(tmp_path):
    put(tmp_path, "n.crp", CRP)
    put(tmp_path, "n.aln", ALN)
    corpus = read_corpus(str(tmp_path / "n.aln"), format="yawat")
    assert corpus.ids == ("0", "1", "7")
    found = corpus[0].alignment("alignment")
    assert str(found) == "0-1 0-2 1-1 1-2 -0"
    assert found.labels == dict.fromkeys(found.possible, "literal")
    assert not corpus[1].annotations
    assert (corpus[2].target, str(corpus[2].alignment("alignment"))) == ((), "0-")
    for path in ("n.crp", "n", ""):
        assert read_corpus(str(tmp_path / path), format="yawat") == corpus
    put(tmp_path, "m.crp", CRP)
    put(tmp_path, "m.aln", ALN)
    assert set(read_corpus(str(tmp_path), format="yawat").groups("document")) == {"m", "n"}


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("1,0:2,1:literal", "1,0:2,1", "n.aln:3"),
        ("1,0:2,1:literal", "1,:2,1:literal", "n.aln:3"),
        ("1,0:2,1:literal", "::literal", "n.aln:3"),
        ("1,0:2,1:literal", "0:3:literal", "n.aln:3"),
        ("\n0 1,0", "\n8 1,0", "n.crp:1"),
        ("1\n", "1\n9\n", "n.aln:5"),
    ],
)
def test_yawat_refuses_what_is_broken(tmp_path, old, new, place):
    put(tmp_path, "n.crp", CRP)
    put(tmp_path, "n.aln", ALN.replace(old, new))
    with refusing(place):
        read_corpus(str(tmp_path), format="yawat")
    assert lenient(str(tmp_path), "yawat")[1].refused in (1, 2)


def test_yawat_ids_may_repeat_and_lack_a_line_if_partial(tmp_path):
    put(tmp_path, "n.crp", "1\na\nb\n1\nc\nd\n2\ne\nf\n")
    put(tmp_path, "n.aln", "1 0:0:unspec\n1 0::unspec\n")
    with refusing("n.crp:7", "`partial=True`"):
        read_corpus(str(tmp_path), format="yawat")
    first, second, third = read_corpus(str(tmp_path), format="yawat", partial=True)
    assert [str(pair.alignment("alignment")) for pair in (first, second)] == ["0-0", "0-"]
    assert not third.annotations


def test_groups_are_blocks_where_they_can_be(tmp_path):
    links = {"x": Alignment.parse("0-0 0-1 1-0 1-1 2-2 2-3 3-3")}
    pair = SentencePair("1", list("abcd"), list("wxyz"), links)
    write_corpus([pair], str(tmp_path / "n"), format="yawat")
    written = (tmp_path / "n.aln").read_text(encoding="utf-8")
    assert written == "\n1 0,1:0,1:unspec 2:2,3:unspec 3:3:unspec\n"


TRANSREAD = "\n1 0,1:0:sure 1:1:contextual\n2 0:0:wrong 1::partial :1:wrong\n"


def test_transread_labels_make_status_and_are_kept(tmp_path):
    put(tmp_path, "n.txt", "1\na b\nc d\n2\ne f\ng h\n")
    put(tmp_path, "n_annotation_1.txt", TRANSREAD)
    put(tmp_path, "n_annotation_ben.txt", "1 0:0:sure\n2\n")
    corpus = read_corpus(str(tmp_path / "n.txt"), format="transread")
    first, second = (pair.alignment("1") for pair in corpus)
    assert (str(first), str(second)) == ("0-0 1-0 1?1", "1?")
    assert first.labels[Link(1, 1)] == "contextual"
    assert second.labels == {Link(0, 0): "wrong", Link(1, NULL): "partial", Link(NULL, 1): "wrong"}
    assert list(corpus[1].annotations) == ["1"]
    assert read_corpus(str(tmp_path), format="transread") == corpus
    only = read_corpus(str(tmp_path / "n_annotation_ben.txt"), format="transread")
    assert only.annotators == ("ben",)
    put(tmp_path, "n_annotation_1.txt", TRANSREAD.replace("partial", "maybe"))
    with refusing("n_annotation_1.txt:3", "maybe", "sure, partial, contextual, "):
        read_corpus(str(tmp_path), format="transread")


def test_transread_labels_of_other_files_and_cells_with_two_labels(tmp_path):
    put(tmp_path, "n.txt", "1\na b\nc d\n")
    groups = "0:0:possible 1::unaligned :1,0:unaligned 1:1:unaligned 0:1:wrong 0:1:sure 0:0:partial"
    path = put(tmp_path, "n_annotation_1.txt", f"\n1 {groups}\n")
    chosen, reading = open_reading(path, format="transread")
    (pair,) = read_pairs(chosen, reading)
    found = pair.alignment("1")
    assert (str(found), found.sure_nulls) == ("0?0 0-1 -0 -1 1-", found.nulls)
    assert found.labels == {
        **{(0, 0): "possible", (0, 1): "sure", (1, 1): "unaligned"},
        **{(1, NULL): "unaligned", (NULL, 0): "unaligned", (NULL, 1): "unaligned"},
    }
    assert reading.counts == {"two labels": 2, "duplicate link": 1}
    write_corpus([pair], str(tmp_path / "m.txt"), format="transread")
    assert read_corpus(str(tmp_path / "m.txt"), format="transread") == Corpus([pair])


def test_transread_writes_over_itself_but_not_beside_others(tmp_path):
    pair = SentencePair("a b", ("a",), ("b",), {"x": Alignment([(0, 0)], labels={(0, 0): "odd"})})
    path = str(tmp_path / "n")
    for _ in range(2):
        assert write_corpus([pair], path, format="transread") == {"labels": 1, "ids": 1}
    assert read_corpus(path, format="transread")[0].alignment("x").labels == {(0, 0): "sure"}
    with pytest.raises(WriteError, match="n_annotation_x"):
        write_corpus([pair.without_annotations("x")], path, format="transread")
    for format in ("transread", "yawat", "blinker"):
        refuses(OptionError, "standard", read_corpus, "-", format=format)
        refuses(OptionError, "standard", write_corpus, [pair], "-", format=format)


def test_transread_folders_of_folders_are_read(tmp_path):
    block = "1\na b\nc d\n"
    for folder in ("es/one", "es/two", "fr"):
        put(tmp_path, f"{folder}/n.txt", block)
        put(tmp_path, f"{folder}/n_annotation_anna.txt", "\n1 0:0:sure 1:1:partial\n")
    put(tmp_path, "fr/other.txt", block)
    put(tmp_path, "fr/other_annotation_ben.txt", "\n1 0:1:sure\n")
    put(tmp_path, "fr/README.txt", "what this is\n")
    corpus = read_corpus(tmp_path, format="transread")
    names = ["es/one/n", "es/two/n", "fr/n", "other"]
    assert [pair.attributes["document"] for pair in corpus] == names
    assert corpus.ids == tuple(f"{name}:1" for name in names)
    assert [pair.annotations.keys() for pair in corpus] == [{"anna"}] * 3 + [{"ben"}]
    (alone,) = read_corpus(tmp_path / "es" / "one", format="transread")
    assert alone.attributes == {}


@pytest.mark.parametrize(
    ("format", "texts", "groups"),
    [("transread", ".txt", "_annotation_x.txt"), ("yawat", ".crp", ".aln")],
)
def test_ids_have_their_document_only_where_they_repeat(tmp_path, format, texts, groups):
    for name, id in (("m", "1"), ("n", "2"), ("o", "1")):
        put(tmp_path, f"{name}{texts}", f"{id}\na b\nc d\n")
        put(tmp_path, f"{name}{groups}", f"\ufeff\n{id} 0:0:sure\n")
    reading = open_reading(tmp_path, format=format)
    assert Corpus(read_pairs(*reading)).ids == ("m:1", "n:2", "o:1")
    assert reading[1].counts == Counter({"byte order mark": 3})
    for file in tmp_path.glob("o*"):
        file.unlink()
    assert read_corpus(tmp_path, format=format).ids == ("1", "2")
    assert read_corpus(next(tmp_path.glob(f"m*{groups}")), format=format).ids == ("1",)
