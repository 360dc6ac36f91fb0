"""Words that are cut from bytes, many lines at once, are those that each line is split into."""

import gc
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Corpus, FormatError, read_corpus
from alignkit.io import ReadOptions, open_reading, read_pairs
from alignkit.io import text_blocks as blocks
from alignkit.io.reading import _seldom_collecting as seldom_collecting
from alignkit.io.text_blocks import words_of_both
from alignkit.model.texts import split_words

LINE = st.text(st.sampled_from("ab\u00e9\u00a0\u3000 \t\x0b\U0001f600"), max_size=12)


@given(st.lists(LINE, max_size=20), st.lists(LINE, max_size=20))
def test_words_are_those_of_each_line(lines, others):
    sides = [[f"{line}\n" for line in side] for side in (lines, others)]
    first, second = ("".join(side).encode() for side in sides)
    assert words_of_both(first, second, str) == tuple(
        [tuple(split_words(line)) for line in side] for side in (lines, others)
    )


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "_FEW", 0)

    def write(links, source, target):
        paths = [tmp_path / name for name in ("links", "source", "target")]
        for path, content in zip(paths, (links, source, target), strict=True):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return paths

    return write


def both_ways(paths, monkeypatch, **options):
    """Read as always, and without the kernel."""
    links, source, target = paths
    found = []
    for few in (0, 10**9):
        monkeypatch.setattr(blocks, "_FEW", few)
        declared = ReadOptions(source=source, target=target, **options)
        kind, reading = open_reading(links, format="pharaoh", options=declared)
        try:
            found.append((Corpus(read_pairs(kind, reading)), reading.counts))
        except FormatError as error:
            found.append((str(error), None))
    assert found[0] == found[1]
    return found[0][0]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("a b\nc\n\n", "d\ne f\ng"),
        ("\ufeffa b\nc\n\n", "d\ne\ufeff f\ng\n"),
        ("a b\r\nc\r\n\r\n", "d\ne f\ng\n"),
        ("a\x00b\nc\nd\n", "d\ne f\ng\n"),
        (b"\xe9\nc\nd\n", "d\ne f\ng\n"),
        ("<s snum=1> a </s>\n<s snum=2> b </s>\n<s snum=3> c </s>\n",) * 2,
        ("a\nb\n", "a\nb\nc\n"),
        ("a\nb\nc\nd\n", "a\nb\nc\nd\ne\n"),
        ("a\nb\n", "a\nb\n"),
        ("a\nb\nc\nd\n", "a\nb\nc\nd\n"),
        ("&quot; a\nb\nc\n", "a\nb\nc\n"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("options", [{}, {"partial": True}, {"lenient": True}, {"unescape": True}])
def test_both_ways_read_the_same(files, monkeypatch, source, target, options):
    both_ways(files("0-0\n0-0\n\n", source, target), monkeypatch, **options)


def test_ids_are_read_and_a_word_is_made_once(files, monkeypatch):
    paths = files("x\t0-0\ny\t\n", "x\ta b\ny\tc\n", "x\td\ny\te f\n")
    assert both_ways(paths, monkeypatch).ids == ("x", "y")
    links, source, target = files("0-0\n" * 5, "word other\n" * 5, "word\n" * 5)
    corpus = read_corpus(links, format="pharaoh", source=source, target=target)
    assert len({id(words[0]) for pair in corpus for words in pair.words}) == 1


def test_the_collector_is_left_as_it_was(files):
    before = gc.get_threshold()
    links, source, target = files("0-0\n", "a\n", "b\n")
    read_corpus(links, format="pharaoh", source=source, target=target)
    with pytest.raises(FormatError):
        read_corpus(links, format="giza")
    assert gc.get_threshold() == before
    seldom_collecting.__enter__()
    with seldom_collecting:
        pass
    assert gc.get_threshold() != before
    seldom_collecting.__exit__()
    assert gc.get_threshold() == before


def test_texts_come_from_pipes(tmp_path):
    """Each is looked at before it is read."""
    links = tmp_path / "links"
    links.write_text("0-0\n" * 5, encoding="utf-8")
    for start, stop in (("", ""), ("<s snum={n}> ", " </s>")):
        texts = [
            "".join(start.format(n=n) + f"{word}{n}" + stop + "\n" for n in range(1, 6))
            for word in "ab"
        ]
        pipes = [tmp_path / f"{name}{bool(start)}" for name in "st"]
        writers = []
        for pipe, text in zip(pipes, texts, strict=True):
            os.mkfifo(pipe)
            writers.append(threading.Thread(target=pipe.write_text, args=(text,)))
            writers[-1].start()
        corpus = read_corpus(links, format="pharaoh", source=str(pipes[0]), target=str(pipes[1]))
        for writer in writers:
            writer.join()
        assert [pair.words for pair in corpus] == [((f"a{n}",), (f"b{n}",)) for n in range(1, 6)]
