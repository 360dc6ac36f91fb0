"""Words beside the links are read from two files or one, and their lines must agree."""

import contextlib
import tempfile
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses
from strategies import PLAIN

from alignkit import AlignkitError, Alignment, FormatError, SentencePair, read_corpus, write_corpus
from alignkit.io import ReadOptions
from alignkit.io.bitext_lines import ParallelWriter
from alignkit.io.parallel_text import PairText, read_texts
from alignkit.io.records import Reading


@pytest.fixture
def read(tmp_path):
    def read(source, target=None):
        for name, content in (("s", source), ("t", target)):
            if content is not None:
                (tmp_path / name).write_bytes(content.encode())
        other = None if target is None else str(tmp_path / "t")
        options = ReadOptions(source=str(tmp_path / "s"), target=other)
        return list(read_texts(Reading(str(tmp_path / "a"), options)))

    return read


def test_plain_lines_bitexts_and_tagged_lines_are_read_and_a_missing_file_is_named(read, tmp_path):
    assert read("a b\r\n\r\nc", "x\n y \nz\n") == [
        PairText(1, None, "a b", "x"),
        PairText(2, None, "", " y "),
        PairText(3, None, "c", "z"),
    ]
    assert read("", "") == []
    assert read("a b ||| x\n|||\nc  |||  z") == [
        PairText(1, None, "a b ", " x"),
        PairText(2, None, "", ""),
        PairText(3, None, "c  ", "  z"),
    ]
    for line, count in (("a b", 0), ("a ||| b ||| c", 2), ("", 0)):
        refuses(FormatError, rf"s:2: {count} dividers", read, f"a ||| b\n{line}\n")
    (tagged,) = read("<s snum=0026> a b </s>\n\n", "\n<s snum=0026>x</s>".lstrip())
    assert tagged == PairText(1, "0026", " a b ", "x")
    assert read_texts(Reading("a", ReadOptions())) is None
    with pytest.raises(FormatError, match="nowhere: cannot be read"):
        list(read_texts(Reading("a", ReadOptions(source=str(tmp_path / "nowhere")))))


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a\nb\nc\n", "x\n", r"s: has 3 sentences, but .*t has 1"),
        ("a\n", "x\ny\nz", r"t: has 3 sentences, but .*s has 1"),
        ("", "x\n", r"t: has 1 sentences, but .*s has 0"),
        ("<s snum=1> a </s>\nb\n", "<s snum=1> x </s>\n", r"s:2: expected '<s snum=N> words </s>'"),
        (
            "<s snum=1> a </s>\n",
            "\n".join(["<s snum=2> x </s>"]),
            r"t:1: sentence 2, but .*s:1 has 1",
        ),
        ("<s snum=1> a </s>\n", "x\n", "t:1: sentence without a number"),
        ("a\n", "<s snum=1> x </s>\n", r"t:1: sentence 1, but .*s:1 has none"),
    ],
)
def test_lines_that_do_not_agree_are_refused(read, source, target, message):
    refuses(FormatError, message, read, source, target)


def bitext_line(id, source, target):
    stream = StringIO()
    ParallelWriter(stream).write(id, source, target)
    return stream.getvalue()


def test_a_bitext_line_is_one_that_can_be_read(read):
    assert read(bitext_line("1", "a b", "")) == [PairText(1, None, "a b ", " ")]
    refuses(AlignkitError, r"pair '1': .*two files", bitext_line, "1", "a ||| b", "c")
    assert read(bitext_line("1", "a\ufeff \ufeff", "b")) == [
        PairText(1, None, "a\ufeff \ufeff ", " b")
    ]
    refuses(AlignkitError, r"pair '1': .* byte order mark", bitext_line, "1", "a \ufeffa", "b")


_PIPES = st.text("|a", min_size=1, max_size=5)
_TOKENS = _PIPES | st.sampled_from(["|||", "\ufeff", "b\ufeff", "\u3000", "\x85", "\x1c", "\t", ""])
_SENTENCES = st.lists(st.text(PLAIN, min_size=1, max_size=3) | _TOKENS, max_size=4)


@pytest.mark.parametrize("format", ["pharaoh", "naacl", "blinker"])
def test_a_bitext_is_read_back_or_not_written(format):
    @settings(max_examples=25)
    @given(st.lists(st.tuples(_SENTENCES, _SENTENCES), min_size=1, max_size=3))
    def holds(sentences):
        with tempfile.TemporaryDirectory() as folder:
            path, beside = Path(folder, "x"), str(Path(folder, "bitext"))
            none = {"x": Alignment()}
            pairs = [SentencePair(str(k), *two, none) for k, two in enumerate(sentences)]
            with contextlib.suppress(AlignkitError):
                write_corpus(pairs, path, format=format, source=beside)
            if Path(beside).exists():
                read = read_corpus(path, format=format, source=beside)
                assert [pair.words for pair in read] == [pair.words for pair in pairs]

    holds()


@pytest.mark.parametrize("format", ["pharaoh", "naacl", "blinker"])
def test_a_divider_among_the_words_is_told_by_every_writer(tmp_path, format):
    pair = SentencePair("7", ("a", "|||"), ("b",), {"x": Alignment()})
    with pytest.raises(AlignkitError, match="pair '7': the words contain"):
        write_corpus([pair], tmp_path / "x", format=format, source=str(tmp_path / "s"))
    assert not (tmp_path / "s").exists()
