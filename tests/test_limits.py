"""What is too large for memory is refused by a limit, and what is no text by its place."""

import gzip
import io
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import pytest
from command import GOLD, PARAPHRASES, TEXTS, feed, run, write
from refusals import refuses
from repetitions import some

from alignkit.errors import AlignkitError, FormatError
from alignkit.io import WRITTEN, ReadOptions, get_format, iterate_pairs, read_corpus, write_corpus
from alignkit.io.opening import bounded_chunks, head_of
from alignkit.io.records import Reading
from alignkit.io.text_files import TextFile
from alignkit.io.translations import groups_of
from alignkit.scoring import read_phrase_table

MB = 1 << 20
CORPUS = '<corpus xmlns="urn:alignkit:corpus:1" version="1">'
LONG = b"a " * MB
LINES = {
    "pharaoh": b"0-0\n" + b"0-0 " * (MB // 3),
    "naacl": b"1 1 1\n" + b"1 " * MB,
    "giza": b"# 1\n" + LONG,
    "rte": b"# 1\n" + LONG,
    "multimwa": LONG,
    "xlwa": b"a\tb\t0-0\n" + LONG,
    "jsonl": b'{"src_words": ["' + LONG,
    "alignkit-jsonl": b'{"id": "' + LONG,
    "ists": LONG,
    "goldalign": LONG,
}
"""A first line of more than a megabyte."""
PIECES = {
    "jacana": b'[{"id": "' + b"a" * 2 * MB,
    "edinburgh": b'{"paraphrases": [' + (b" " * 999 + b"\n") * 2000,
    "alignkit-xml": CORPUS.encode() + (b"<a>" + b"b" * 999 + b"</a>") * 2000,
    "paraphrase-xml": b"<corpus>" + (b"<a>" + b"b" * 999 + b"</a>") * 2000,
}
"""What is read in one piece, of more than a megabyte."""


@pytest.mark.parametrize("name", [*LINES, *PIECES])
def test_what_is_held_as_one_piece_has_a_limit(tmp_path, name):
    path = write(tmp_path, "x", {**LINES, **PIECES}[name])
    with pytest.raises(FormatError, match=f"^{path}.* has more than 1 MB; .* with `max_size`"):
        list(iterate_pairs(path, format=name, max_size=1))


def read_translations(path, **limits):
    return groups_of([TextFile(str(path), ReadOptions(**limits))])


def test_packed_input_that_swells_is_refused_and_an_option_allows_more(tmp_path):
    path = write(tmp_path, "x", b"0-0 1-1\n" + b"0-0 " * MB + b"\n")
    assert len(read_corpus(path, format="pharaoh", max_size=5)) == 2
    path = write(tmp_path, "bomb.gz", gzip.compress((b"a" * 9999 + b"\tb\n") * 100))
    message = "bomb.gz: grows to more than 100 times its size .* allow more with `max_size`"
    for read in (read_translations, read_phrase_table):
        refuses(FormatError, message, list, read(path, max_size=1))
    assert sum(1 for _ in read_translations(path, max_size=50)) == 100


@pytest.mark.parametrize("reader", ["lines", "raw_lines", "chunks"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_lines_are_the_same_at_each_limit(tmp_path, reader, encoding):
    text = "".join("é" * k + "\n" for k in range(3000)) + "end"
    path = write(tmp_path, "x", text.encode(encoding))
    lines = list(getattr(Reading(path, ReadOptions(encoding=encoding)), reader)())
    if reader == "lines":
        assert lines == list(enumerate(text.split("\n"), start=1))
    else:
        known = "latin-1" if encoding == "latin-1" else "utf-8"
        assert b"".join(lines).decode(known).rstrip("\n") == text


@pytest.mark.parametrize("size", [1, 2, MB - 1, MB, MB + 1])
def test_the_limit_is_exact(size):
    stream = io.BufferedReader(io.BytesIO(b"x\n" + b"a" * size + b"\nx"))
    if size <= MB:
        assert b"".join(bounded_chunks(stream, "x", 1)) == b"x\n" + b"a" * size + b"\nx\n"
    else:
        refuses(FormatError, "x:2: a line has more than 1 MB", list, bounded_chunks(stream, "x", 1))


def test_packed_input_is_unpacked_whatever_its_name(capsys, tmp_path, monkeypatch):
    plain = run(capsys, "stats", PARAPHRASES).out
    with open(PARAPHRASES, "rb") as stream:
        packed = gzip.compress(stream.read())
    assert run(capsys, "stats", write(tmp_path, "x", packed)).out == plain
    feed(monkeypatch, packed)
    assert head_of("-").startswith(b'{"alignkit"')
    assert run(capsys, "stats", "-").out == plain


WORDS = "a " * 6
LONG_SENTENCES = {
    "giza": "# Sentence pair (1) source length 6 target length 1 alignment score : 0\n"
    f"b\nNULL ({{ }}) {'a ({ }) ' * 6}\n",
    "xlwa": f"b\t{WORDS}\t0-0\n",
    "jsonl": '{"src_words": ["a"], "tgt_words": ["b", "b", "b", "b", "b", "b"], "alignment": []}\n',
    "alignkit-jsonl": '{"id": "1", "source": ["a", "a", "a", "a", "a", "a"], "target": []}\n',
    "jacana": f'[{{"id": "1", "source": "{WORDS}", "target": "b", "sureAlign": ""}}]',
}


@pytest.mark.parametrize("name", LONG_SENTENCES)
def test_a_sentence_has_a_limit(tmp_path, name):
    path = write(tmp_path, "x", LONG_SENTENCES[name])
    with pytest.raises(FormatError, match=r"x:\d.* 6 words.*`max_words`"):
        read_corpus(path, format=name, max_words=5)
    assert len(read_corpus(path, format=name, max_words=6)) == 1


def test_a_sentence_beside_the_links_has_a_limit(tmp_path):
    links, texts = write(tmp_path, "x", "0-0\n0-0\n"), write(tmp_path, "t", f"a|||b\n{WORDS}|||b\n")
    with pytest.raises(FormatError, match="x:2: pair '2': the source has 6 words, more than 5"):
        read_corpus(links, format="pharaoh", source=texts, max_words=5)
    with pytest.raises(FormatError, match="t:2: a sentence has 6 words, more than 5"):
        list(read_translations(write(tmp_path, "t", f"a\tb\n{WORDS}\tb\n"), max_words=5))


@pytest.mark.parametrize("form", ["bitext", "two", "to xml"])
def test_align_refuses_a_sentence_beyond_the_limit(capsys, tmp_path, form):
    sides = [f"a\n{WORDS}\n", "b\nb\n"]
    paths = [write(tmp_path, f"side{k}", text) for k, text in enumerate(sides)]
    if form != "two":
        paths = [write(tmp_path, "both", f"a ||| b\n{WORDS}||| b\n")]
    more = ["--to", "alignkit-xml"] if form == "to xml" else []
    place = "side0:2: a sentence" if form == "two" else "both:2: the source sentence"
    run(capsys, "align", *paths, *more, "--max-words", 5).failed(f"{place} has 6 words")


linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by Linux")
HELD = """
import resource, sys
limit = int(sys.argv.pop(1)) << 20
from alignkit.cli import main
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
sys.exit(main())
"""


def endless(begin, unit, *words, megabytes=3000):
    """Run a command on a huge line that comes through a pipe, in little memory; return stderr."""
    running = subprocess.Popen(
        [sys.executable, "-c", HELD, str(megabytes), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
    )
    part = unit * (MB // len(unit))
    with suppress(BrokenPipeError), running.stdin as pipe:
        pipe.write(begin)
        for _ in range(2048):
            pipe.write(part)
    with running.stderr as stream:
        err = stream.read().decode()
    running.wait(300)
    assert running.returncode == 2, err
    return err


@linux
def test_a_line_without_an_end_is_refused_in_bounded_memory():
    assert endless(b"", b"0-0 ", "stats", "-", megabytes=1000) == (
        "alignkit: -: read as pharaoh\n"
        "alignkit: error: -:1: a line has more than 64 MB; if this is correct, allow more with "
        "--max-size\n"
    )


@pytest.mark.slow
@linux
@pytest.mark.parametrize(
    ("begin", "unit", "words"),
    some(
        [
            (b"a ||| ", b"b ", ["align", "-"]),
            (b"a\t", b"b ", ["score-phrases", "-", GOLD, *TEXTS]),
            (b"", b"\0", ["stats", "-"]),
            (b'{"id": "', b"a", ["stats", "-", "--format", "alignkit-jsonl"]),
            (b"[\n", b" \n", ["stats", "-", "--format", "jacana"]),
            (b"<corpus>", b"<a/>", ["stats", "-", "--format", "paraphrase-xml"]),
            (b"\xff\xfe", b"a\0", ["stats", "-", "--encoding", "utf-16"]),
            (b"", b"0-0 ", ["score", "-", GOLD]),
            (b"", b"0-0 ", ["check", "-"]),
            (b"a\tb\t", b"0-0 ", ["convert", "-", "-", "--to", "xlwa", "--from", "xlwa"]),
        ]
    ),
)
def test_no_command_holds_a_line_without_an_end(begin, unit, words):
    err = endless(begin, unit, *words)
    assert not re.search("fault|memory|Traceback", err)


@pytest.mark.slow
@linux
@pytest.mark.parametrize(
    ("line", "command"),
    some(
        [(b"0-0 " * 999, "stats"), (b"a " * 499 + b"||| " + b"b " * 499, "align"), (b"", "align")]
    ),
)
def test_a_bomb_of_a_gigabyte_is_refused_in_bounded_memory(tmp_path, line, command):
    path = tmp_path / "bomb.gz"
    part = (line + b"\n") * (MB // len(line + b"\n"))
    with gzip.open(path, "wb", 1) as stream:
        for _ in range(1024):
            stream.write(part)
    held = [sys.executable, "-c", HELD, "3000", command, str(path)]
    ran = subprocess.run(held, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "bomb.gz: grows to more" in ran.stderr


# --- control characters

WITH_NUL = {
    "pharaoh": ("0-0\n0-\x010\n", 2),
    "naacl": ("1 1 1\n1 \x01 1\n", 2),
    "giza": ("# 1\na\x01\nNULL ({ }) b ({ 1 })\n", 2),
    "rte": ("# 1\na\x01\nNULL ({ }) b ({ 1 })\n", 2),
    "jacana": ('[\n{"id": "1", "source": "a\x01", "target": "b", "sureAlign": ""}]', 2),
    "edinburgh": ('{"paraphrases": [\n{"id": "\x01"}]}', 2),
    "multimwa": ("a\x01\tb", 1),
    "xlwa": ("a\tb\t0-0\na\x01\tb\t0-0\n", 2),
    "jsonl": ('{"src_words": ["a\x01"]}', 1),
    "alignkit-jsonl": ('{"id": "\x01"}', 1),
    "alignkit-xml": (f'{CORPUS}\n<pair id="\x01"/></corpus>', 2),
    "paraphrase-xml": ("<corpus>\n<paraphrase id='\x01'/></corpus>", 2),
    "ists": ('<sentence id="1" status="">\n// a\x01\n', 2),
    "goldalign": ("1\ta\x01\t\tb", 1),
}


@pytest.mark.parametrize("name", WITH_NUL)
@pytest.mark.parametrize("control", ["\x00", "\x1b", "\x1c"])
def test_a_control_character_is_an_error_with_its_place(tmp_path, name, control):
    text, line = WITH_NUL[name]
    path = write(tmp_path, "x", text.replace("\x01", control))
    with pytest.raises(FormatError) as caught:
        read_corpus(path, format=name)
    assert str(caught.value).startswith(f"{path}:{line}:")
    assert control not in str(caught.value)


def test_what_is_text_and_where_it_is_none(tmp_path):
    path = write(tmp_path, "x", "a\tb\t0-0\né a\0\tb\t0-0\n")
    told = "if the text is UTF-16, declare it with `encoding`"
    with pytest.raises(FormatError, match=told) as caught:
        read_corpus(path, format="xlwa")
    assert (caught.value.line, caught.value.column) == (2, 4)
    path = write(tmp_path, "x", "日本\tJapan\t0-0\n".encode("iso-2022-jp"))
    (pair,) = read_corpus(path, format="xlwa", encoding="iso-2022-jp")
    assert pair.source == ("日本",)
    path = write(tmp_path, "x", "a\x0bb\x0cc\x7f\x85 \x9b\tb\t0-0\r\n")
    (pair,) = read_corpus(path, format="xlwa")
    assert pair.source == ("a", "b", "c\x7f\x85", "\x9b")
    with pytest.raises(FormatError, match=r"x:1:2: control character '\\x00'"):
        list(read_phrase_table(write(tmp_path, "x", "a\0\tb\n")))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "iso-2022-jp", "utf-7", "cp037"])
def test_every_encoding_refuses_control_characters(tmp_path, encoding):
    good = "a b\tc d\t0-0 1-1\n"
    if encoding != "cp037":  # in which a line feed is another byte
        path = write(tmp_path, "x", (good * 2).encode(encoding))
        assert len(read_corpus(path, format="xlwa", encoding=encoding)) == 2
    path = write(tmp_path, "x", good.replace("b", "b\x02").encode(encoding))
    with pytest.raises(FormatError, match=r"x:1:4: control character '\\x02'"):
        read_corpus(path, format="xlwa", encoding=encoding)


@pytest.mark.parametrize("encoding", ["idna", "punycode", "undefined", "hex", "\ud800", "\0", ""])
def test_what_encodes_no_text_is_refused(capsys, encoding):
    run(capsys, "stats", PARAPHRASES, "--encoding", encoding).failed("unknown encoding")


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_not_read_is_not_written(tmp_path, name):
    kind = get_format(name)
    if "spaces" in kind.holds or not kind.holds & {"text"}:
        pytest.skip("holds every token, or none")
    corpus = read_corpus(PARAPHRASES, format="alignkit-jsonl")
    (pair,) = (pair for pair in corpus if pair.id == "p01")
    odd = replace(pair, source=("a\x1b", *pair.source[1:]))
    with pytest.raises(AlignkitError, match=r"'a\\x1b' is empty"):
        write_corpus([odd], tmp_path / "out", format=name, annotator=next(iter(pair.annotations)))


def test_check_lists_control_characters_and_goes_on(capsys, tmp_path):
    path = write(tmp_path, "x", "a\0\tb\x02\t0-0\na\tb\t0-0\n")
    out = tmp_path / "out"
    ran = run(capsys, "check", path, "--format", "xlwa", "--fix", out)
    assert ran.code == 1
    assert f"{path}:1: control character: 2 in this line, '\\x00' in column 2" in ran.out
    assert "findings: 1 x control character" in ran.out
    assert out.read_text() == "a\ufffd\tb\ufffd\t0-0\na\tb\t0-0\n"


@pytest.mark.parametrize("words", [["align", "x"], ["pairs", "x"], ["align", "x", "y"]])
def test_texts_hold_no_control_characters(capsys, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "x", "a\tb\na\x1bc\tb\n" if len(words) == 2 else "a\na\x1bc\n")
    write(tmp_path, "y", "a\nb\n")
    run(capsys, *words).failed(r"x:2:2: control character '\x1b'")
