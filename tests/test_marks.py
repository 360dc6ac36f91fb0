"""U+FEFF: marks before tokens are removed and counted; a token of its own is a word, everywhere."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import made, run, write
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import FULL

from alignkit import AlignkitError, Alignment, Corpus, SentencePair, read_corpus
from alignkit.align.bitext import Bitext
from alignkit.align.numbered_texts import lines_of
from alignkit.annotate.documents import read_documents
from alignkit.identification.candidates import Candidates, TextPair
from alignkit.io import FORMATS, ReadOptions, get_format, open_reading, read_pairs, write_corpus
from alignkit.io import text_blocks as blocks
from alignkit.model.texts import split_unicode, split_words, without_marks

WRITTEN = [name for name in FORMATS if get_format(name).write is not None]
FREE = st.sampled_from(["a", "b", "\ufeff", "\ufeff\ufeff", "a\ufeff", "a\ufeffb"])
MARKED = FREE | FREE | st.text(st.sampled_from("\ufeffab"), min_size=1, max_size=4)
SENTENCE = st.lists(MARKED, min_size=1, max_size=4)


def plainly_unmarked(text):
    """Remove marks token by token: the reference."""
    return " ".join(word.lstrip("\ufeff") or word for word in text.split(" "))


@given(st.lists(MARKED | st.just("")).map(" ".join))
def test_marks_are_what_stands_before_the_rest_of_a_token(text):
    assert without_marks(text) == plainly_unmarked(text)
    assert split_words(text) == split_unicode(text) == plainly_unmarked(text).split()
    assert without_marks(without_marks(text)) == without_marks(text)


def beside(format, folder):
    """Name the files for the words, if the format needs any."""
    texts = get_format(format).text_beside
    return {side: str(folder / side) for side in ("source", "target")} if texts else {}


@pytest.mark.parametrize("format", WRITTEN)
def test_what_is_written_is_read_back_or_not_written(format):
    written = []

    def write_and_read(pair, folder):
        path, texts = folder / "x", beside(format, folder)
        write_corpus([pair], path, format=format, **texts)
        kind, reading = open_reading(path, format=format, options=ReadOptions(**texts))
        again = list(read_pairs(kind, reading))
        assert [back.words for back in again] == [pair.words]
        assert format == "conllu" or str(next(iter(again[0].alignments.values()))) == "0-0"
        assert not reading.counts["byte order mark"]
        written.append(pair)

    @settings(max_examples=100 if FULL else 15)
    @given(SENTENCE, SENTENCE)
    def check(source, target):
        pair = SentencePair("1", source, target, {"alignment": Alignment.parse("0-0")})
        marked = any(without_marks(word) != word for word in source + target)
        with tempfile.TemporaryDirectory() as name:
            try:
                write_and_read(pair, Path(name))
            except AlignkitError as error:
                if not marked or "U+FEFF" not in str(error):
                    raise

    check()
    assert any("\ufeff" in pair.source for pair in written)


def read_with(links, source, target, **options):
    declared = ReadOptions(source=source, target=target, **options)
    kind, reading = open_reading(links, format="pharaoh", options=declared)
    return list(read_pairs(kind, reading)), reading


@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=4))
@settings(max_examples=100 if FULL else 15)
def test_texts_have_the_same_words_whoever_reads_them(sentences):
    expected = [
        tuple(tuple(plainly_unmarked(word) for word in side) for side in pair) for pair in sentences
    ]
    lines = [[" ".join(side) for side in pair] for pair in sentences]
    pairs = Corpus.from_texts(*zip(*lines, strict=True))
    assert [pair.words for pair in pairs] == expected
    packed = Bitext.pack(map(tuple, lines))
    assert packed.source.lengths.tolist() == [len(source) for source, _ in expected]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = [
            write(folder, name, "".join(f"{line}\n" for line in side))
            for name, side in zip("st", zip(*lines, strict=True), strict=True)
        ]
        links = write(folder, "links", "\n" * len(lines))
        for few in (0, 10**9):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(blocks, "_FEW", few)
                read, reading = read_with(links, *texts)
            assert [pair.words for pair in read] == expected
            marks = sum(len(a) + len(b) for a, b in lines)
            marks -= sum(len(" ".join(side)) for pair in expected for side in pair)
            assert reading.counts["byte order mark"] == marks
        both = write(folder, "both", "".join(f"{a} ||| {b}\n" for a, b in lines))
        for paths in (texts, [both]):
            (block,) = lines_of(paths, ReadOptions(), format=None, whole=True)
            words = zip(block.source.split("\n"), block.target.split("\n"), strict=True)
            assert [tuple(tuple(x.split()) for x in pair) for pair in words][:-1] == expected


def test_a_mark_alone_is_a_token_and_links_point_behind_it(capsys, tmp_path):
    source = write(tmp_path, "s", "the \ufeff cat sat\n")
    target = write(tmp_path, "t", "le chat\n")
    links = write(tmp_path, "l", "0-0 2-1\n")
    texts = ("--source", source, "--target", target)
    out = made(capsys, "convert", links, "-", "--to", "xlwa", "--format", "pharaoh", *texts).out
    assert out == "the \ufeff cat sat\tle chat\t0-0 2-1\n"
    (pair,) = read_corpus(links, format="pharaoh", source=source, target=target)
    assert pair.source == ("the", "\ufeff", "cat", "sat")


def test_marks_are_counted_in_the_message_the_table_and_json(capsys, tmp_path):
    source = write(tmp_path, "s", "\ufeff" * 7 + "the \ufeffcat \ufeff\n")
    target = write(tmp_path, "t", "\ufeffle chat\n")
    links = write(tmp_path, "l", "\ufeff0-0 2-1\n")
    texts = ("--format", "pharaoh", "--source", source, "--target", target)
    assert (
        "l: 10 x byte order mark" in made(capsys, "convert", links, "-", "--to", "xlwa", *texts).err
    )
    ran = run(capsys, "check", links, *texts)
    assert "s:1: byte order mark: 8" in ran.out
    assert "findings: 10 x byte order mark" in ran.out
    report = run(capsys, "check", links, *texts, "--json").json[0]
    assert report["counts"]["byte order mark"] == 10
    err = made(capsys, "align", source, target).err
    assert "s: 8 byte order marks removed" in err
    assert "t: 1 byte order mark removed" in err
    both = write(tmp_path, "both", "\ufeffthe a|||\ufeffle b\n")
    assert "2 byte order marks" in made(capsys, "align", both, "--format", "bitext").err


def test_documents_and_candidates_have_words_by_the_same_rule(tmp_path):
    texts = [write(tmp_path, side, "\ufeffa \ufeff\n\n\ufeffb c\n") for side in "st"]
    (document,) = read_documents(texts)
    assert document.source == ("a", "\ufeff", "b", "c")
    assert document.attributes["source_text"] == "a \ufeff\n\n\ufeffb c\n"
    pair = TextPair("1", "a \ufeffb", "\ufeff", {})
    assert Candidates.corpus.fget(SimpleNamespace(pairs=[pair]))[0].words == (
        ("a", "b"),
        ("\ufeff",),
    )


def test_a_file_of_links_may_begin_with_a_mark_and_an_empty_line(tmp_path):
    path = write(tmp_path, "l", "\ufeff\n1-1\n")
    assert [str(pair.alignment("alignment")) for pair in read_corpus(path, format="pharaoh")] == [
        "",
        "1-1",
    ]


def test_ids_before_marked_sentences(tmp_path):
    source = write(tmp_path, "s", "\ufeff1\t\ufeffa \ufeff\n2\tb\n3\tc\n")
    target = write(tmp_path, "t", "1\tx\n2\t\ufeff\n3\tz\n")
    links = write(tmp_path, "l", "0-0\n" * 3)
    read, _ = read_with(links, source, target)
    assert [pair.id for pair in read] == ["1", "2", "3"]
    assert read[0].source == ("a", "\ufeff")
    assert read[1].target == ("\ufeff",)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("jacana", '[{"id": "1", "source": "\ufeffa b", "target": "c \\ufeffd"}]'),
        (
            "edinburgh",
            '{"paraphrases": [{"id": "1", "annotations": {}, '
            '"S": {"string": "\ufeffa b"}, "T": {"string": "c \ufeffd"}}]}',
        ),
        (
            "paraphrase-xml",
            '<corpus><paraphrase id="1"><first><string>\ufeffa b</string></first>'
            "<second><string>c \ufeffd</string></second></paraphrase></corpus>",
        ),
        ("turku", '[{"id": "1", "label": "4", "txt1": "\ufeffa b", "txt2": "c \ufeffd"}]'),
        (
            "tmx",
            '<tmx><body><tu tuid="1"><tuv lang="a"><seg>\ufeffa b</seg></tuv>'
            '<tuv lang="b"><seg>c \ufeffd</seg></tuv></tu></body></tmx>',
        ),
        ("xlwa", "\ufeffa b\tc \ufeffd\t\n"),
    ],
)
def test_marks_within_texts_of_other_formats(tmp_path, format, text):
    kind, reading = open_reading(write(tmp_path, "x", text), format=format)
    (pair,) = read_pairs(kind, reading)
    assert pair.words == (("a", "b"), ("c", "d"))
    assert reading.counts["byte order mark"] == 2


@pytest.mark.real_data
def test_the_marks_of_rte_do_not_count_as_words(data):
    counts = {}
    for name in "ABC":
        kind, reading = open_reading(data / f"rte2/RTE2_dev_{name}.align.txt", format="rte")
        words = [word for pair in read_pairs(kind, reading) for word in pair.source + pair.target]
        assert not any("\ufeff" in word for word in words)
        counts[name] = len(words), reading.counts["byte order mark"]
    assert counts == {"A": (32633, 8), "B": (32633, 9), "C": (32633, 140)}
