"""Texts divided at ASCII white space or, if declared, at all white space."""

import tempfile
from itertools import chain
from pathlib import Path

import pytest
from command import feed, made, run, write
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses

from alignkit import Alignment, Corpus, FormatError, SentencePair, read_corpus
from alignkit.align.numbered_texts import lines_of
from alignkit.errors import UnknownNameError
from alignkit.io import FORMATS, ReadOptions, get_format, write_corpus
from alignkit.io import text_blocks as blocks

SPACES = " \t\v\f\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\u0085"
LINE = st.text(st.sampled_from("ab\ufeff" + SPACES.replace("\t", "")), min_size=1, max_size=8)
UNICODE = {"token_separators": "unicode"}


def test_all_white_space_of_str_split_and_no_other_divides(tmp_path):
    every = [chr(k) for k in chain(range(32, 0xD800), range(0xE000, 0x3100))]
    lines = [f"a{char}b" for char in every if char != "\ufeff"]
    source, target = (write(tmp_path, x, "".join(f"{line}\n" for line in lines)) for x in "st")
    links = write(tmp_path, "l", "\n" * len(lines))
    read = read_corpus(links, format="pharaoh", source=source, target=target, **UNICODE)
    assert [pair.source for pair in read] == [tuple(line.split()) for line in lines]


@given(st.lists(LINE, min_size=1, max_size=4), st.booleans())
@settings(max_examples=40)
def test_every_reader_divides_alike(lines, unicode):
    options = UNICODE if unicode else {}
    ascii = str.maketrans(dict.fromkeys("\t\v\f", " "))
    split = str.split if unicode else lambda line: filter(None, line.translate(ascii).split(" "))
    expected = [tuple(word.lstrip("\ufeff") or word for word in split(line)) for line in lines]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = write(folder, "s", "".join(f"{line}\n" for line in lines))
        other = write(folder, "t", "".join(f"{line}\n" for line in lines))
        with_ids = "".join(f"n{k}\t{line}\n" for k, line in enumerate(lines))
        ids = [write(folder, f"ids{k}", with_ids) for k in (0, 1)]
        in_tags = "".join(f"<s snum={k}> {line} </s>\n" for k, line in enumerate(lines))
        dressed = [write(folder, f"tags{k}", in_tags) for k in (0, 1)]
        both = write(folder, "both", "".join(f"{line} ||| {line}\n" for line in lines))
        links = write(folder, "links", "\n" * len(lines))
        columns = write(folder, "xlwa", "".join(f"{line}\t{line}\t\n" for line in lines))

        def read(source, target=None):
            named = {"source": source, "target": target, **options}
            return [pair.source for pair in read_corpus(links, format="pharaoh", **named)]

        for few in (0, 10**9):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(blocks, "_FEW", few)
                assert read(text, other) == expected
        assert read(both) == read(*ids) == read(*dressed) == expected
        read_columns = read_corpus(columns, format="xlwa", **options)
        assert [pair.target for pair in read_columns] == expected
        for paths in ([text, other], [both]):
            for whole in (False, True):
                parts = lines_of(paths, ReadOptions(**options), format=None, whole=whole)
                sentences = "".join(part.source for part in parts).split("\n")[:-1]
                ways = [tuple(filter(None, x.translate(ascii).split(" "))) for x in sentences]
                assert ways == expected


@pytest.mark.parametrize("format", [name for name in FORMATS if get_format(name).write is not None])
def test_what_is_written_has_the_same_words_with_and_without_the_option(tmp_path, format):
    source = write(tmp_path, "a", "one\u00a0two three\u3000four\n")
    target = write(tmp_path, "b", "five\u2028six\n")
    links = write(tmp_path, "l", "0-0 3-1\n")
    corpus = read_corpus(links, format="pharaoh", source=source, target=target, **UNICODE)
    assert corpus[0].words == (("one", "two", "three", "four"), ("five", "six"))
    beside = {"source": str(tmp_path / "s"), "target": str(tmp_path / "t")}
    beside = beside if get_format(format).text_beside else {}
    write_corpus(corpus, tmp_path / "x", format=format, **beside)
    for options in ({}, UNICODE):
        again = read_corpus(tmp_path / "x", format=format, **beside, **options)
        assert [pair.words for pair in again] == [pair.words for pair in corpus]


@pytest.fixture
def shifted(tmp_path):
    """A text with a no-break space, and links of a tool that divides there."""
    source = write(tmp_path, "s", "le 25\u00a0000 euros\nun\n")
    target = write(tmp_path, "t", "25,000 euros\na\n")
    return write(tmp_path, "l", "1-0 3-1\n0-0\n"), source, target


def test_an_error_names_the_white_space_instead_of_base_and_direction(shifted):
    links, source, target = shifted
    named = {"format": "pharaoh", "source": source, "target": target}
    message = r"l:1: link 3-1 .* 3 x 2 words, counted from 0; the words contain U\+00A0; "
    message += r"tools .* use `token_separators=unicode`$"
    refuses(FormatError, message, read_corpus, links, **named)
    assert len(read_corpus(links, **named, **UNICODE)) == 2
    # a link that lies outside in any case
    write(Path(links).parent, "l", "1-0 4-1\n0-0\n")
    refuses(FormatError, r"check `base` and `transpose`", read_corpus, links, **named)
    write(Path(links).parent, "l", "1-2 3-1\n0-0\n")
    refuses(FormatError, r"check `base` and `transpose`", read_corpus, links, **named)
    write(Path(links).parent, "l", "4-0\n1-1\n")  # below the first word
    refuses(FormatError, r"check `base` and `transpose`", read_corpus, links, **named, base=1)


def test_check_counts_white_space_in_words(capsys, shifted):
    links, source, target = shifted
    words = ("check", links, "--format", "pharaoh", "--source", source, "--target", target)
    out = run(capsys, *words).out
    assert "white space in words: 1 x U+00A0; " in out
    assert "use --token-separators unicode\n" in out
    assert run(capsys, *words, "--json").json[0]["spaces"] == {"U+00A0": 1}
    ran = made(capsys, *words, "--token-separators", "unicode")
    assert "white space" not in ran.out


def test_commands_take_the_option(capsys, monkeypatch, shifted, tmp_path):
    _, source, target = shifted
    plain = write(tmp_path, "plain", "le 25 000 euros\nun\n")
    unicode = ("--token-separators", "unicode")
    expected = made(capsys, "align", plain, target).out
    assert made(capsys, "align", source, target, *unicode).out == expected
    both = "le 25\u00a0000 euros ||| 25,000 euros\nun ||| a\n"
    for words in (("align", write(tmp_path, "both", both)), ("align", "-")):
        feed(monkeypatch, both)
        assert made(capsys, *words, *unicode).out == expected
    pairs = ("pairs", source, target, "--min-length", 4, "--max-length", 4)
    assert made(capsys, *pairs).out == ""
    assert "no such" not in made(capsys, "pairs", source, target, *unicode).err
    words = write(tmp_path, "corpus.jsonl", "")
    write_corpus([SentencePair("1", ["a"], ["b"], {"x": Alignment()})], words)
    new = write(tmp_path, "new", "\u00a0a\n")
    out = made(capsys, "retokenize", words, "--source-words", new, "-o", "-", *unicode).out
    assert '"a"' in out


def test_links_of_another_system_outside_the_words(capsys, shifted):
    links, source, target = shifted
    words = ("align", source, target, "--vote", "--evidence", f"x={links}:pharaoh")
    run(capsys, *words).failed("link 3-1 ", "the words contain U+00A0: see --token-separators; ")
    assert made(capsys, *words, "--token-separators", "unicode").out


def test_an_unknown_separator_is_refused(shifted):
    refuses(UnknownNameError, "ascii, unicode", read_corpus, shifted[0], token_separators="utf-8")
    assert Corpus.from_texts(["a\u00a0b"], ["c"])[0].source == ("a", "b")
