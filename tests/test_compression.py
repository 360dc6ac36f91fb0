"""Compressed files: read by content, written by ending, in all their members or not at all."""

import bz2
import gzip
import lzma
import os
import sys
from pathlib import Path
from threading import Thread

import pytest
import zstandard
from command import feed, run, write

from alignkit import Aligner, FormatError, read_corpus, read_trees, write_corpus
from alignkit.align.vectors import read_vectors
from alignkit.errors import AlignkitError
from alignkit.io.atomic_files import replacing, replacing_bytes
from alignkit.io.compression import codec_of, plain_name
from alignkit.io.opening import head_of, look_ahead
from alignkit.scoring import read_phrase_table

ZSTD = zstandard.ZstdCompressor(write_checksum=True).compress
PACK = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress, "zst": ZSTD}
UNPACK = {
    "gz": gzip.decompress,
    "xz": lzma.decompress,
    "bz2": bz2.decompress,
    "zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}
TEXT = b"0-0 1-1\n" * 40


def lines(count):
    return b"".join(b"%d-%d\n" % (k**3 % 97, k**5 % 89) for k in range(count))


LINES = lines(5_000)
kinds = pytest.mark.parametrize("kind", PACK)


def links(path, **options):
    pairs = read_corpus(path, format="pharaoh", **options)
    return "".join(f"{pair.alignment('alignment')}\n" for pair in pairs).encode()


@kinds
@pytest.mark.parametrize("name", ["links", "links.zst", "links.gz"])
def test_the_content_says_what_it_is_and_not_the_name(tmp_path, kind, name):
    for data in (PACK[kind](TEXT), TEXT):
        assert links(write(tmp_path, name, data)) == TEXT


@kinds
def test_members_follow_each_other_also_after_zeros(tmp_path, kind):
    pack = PACK[kind]
    whole = pack(LINES) + pack(b"") + pack(TEXT) + bytes(512) + pack(TEXT) + bytes(12)
    assert links(write(tmp_path, "a", whole)) == LINES + TEXT + TEXT


@kinds
def test_a_frame_to_skip_is_no_text(tmp_path, kind):
    skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc" if kind == "zst" else b""
    assert links(write(tmp_path, "a", skipped + PACK[kind](TEXT) + skipped)) == TEXT


@kinds
@pytest.mark.parametrize("cut", [-1, -9, -300])
def test_a_file_that_is_cut_off_is_refused_with_its_last_byte(tmp_path, kind, cut):
    for start in (b"", PACK[kind](TEXT)):
        data = start + PACK[kind](LINES)[:cut]
        with pytest.raises(FormatError, match=rf"a: cannot be .* after byte {len(data):,}$"):
            links(write(tmp_path, "a", data))


@kinds
def test_damage_is_refused_with_its_place(tmp_path, kind):
    packed = PACK[kind](lines(20_000))  # so many that damage is found before wrong links are
    for at in (len(packed) // 2, len(packed) - 6):
        broken = bytearray(packed)
        broken[at] ^= 0xFF
        with pytest.raises(
            FormatError, match=r"a: cannot be unpacked \(\w+\): it is .* byte [\d,]+"
        ):
            links(write(tmp_path, "a", bytes(broken)))
    for more in (b"more", b"more" * 99, PACK[kind](TEXT)[3:]):  # Python ignores what follows
        with pytest.raises(FormatError, match=r"it is (damaged before|cut off after) byte"):
            links(write(tmp_path, "a", packed + more))


@kinds
def test_bombs_are_refused_before_they_fill_the_memory(tmp_path, kind):
    bomb = write(tmp_path, "bomb", PACK[kind]((b"a" * 9999 + b"\tb\n") * 500))
    message = "bomb: grows to more than 100 times its size .* allow more with `max_size`"
    with pytest.raises(FormatError, match=message):
        links(bomb, lenient=True)
    with pytest.raises(FormatError, match="expected i-j"):  # it is read: the limit is 1/32
        links(bomb, max_size=1000)


def test_a_dictionary_that_needs_too_much_memory_is_refused(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    big = lzma.compress(TEXT, filters=filters)
    window = zstandard.ZstdCompressionParameters(window_log=30, write_content_size=False)
    stream = zstandard.ZstdCompressor(compression_params=window).compressobj()
    for data in (big, stream.compress(TEXT) + stream.flush()):
        with pytest.raises(FormatError, match=r"it is damaged .*[Mm]emory"):
            links(write(tmp_path, "a", data))


@kinds
def test_standard_input_and_pipes_are_unpacked(monkeypatch, tmp_path, capsys, kind):
    plain = run(capsys, "stats", write(tmp_path, "plain", LINES)).out
    packed = Path(write(tmp_path, "a", PACK[kind](LINES)))
    feed(monkeypatch, packed.read_bytes())
    assert head_of("-") == LINES[: len(head_of("-"))] != b""
    assert run(capsys, "stats", "-").out == plain.replace(f"{tmp_path}/plain", "-")
    end, start = os.pipe()
    thread = Thread(target=lambda: (os.write(start, packed.read_bytes()), os.close(start)))
    thread.start()
    assert run(capsys, "stats", f"/dev/fd/{end}").out.split("\n")[1:] == plain.split("\n")[1:]
    thread.join()
    os.close(end)


@kinds
def test_the_first_bytes_are_those_of_the_text(tmp_path, kind):
    packed = Path(write(tmp_path, "a", PACK[kind](LINES)))
    assert look_ahead(str(packed), 1000) == (LINES[:1000], True)
    assert look_ahead(str(write(tmp_path, "b", PACK[kind](TEXT))), 1000) == (TEXT, False)


@kinds
def test_the_ending_says_what_is_written_always_the_same(tmp_path, kind):
    text = [f"line {number} of ü\n" for number in range(5000)]
    for name, way in (("a", replacing), ("b", replacing_bytes)):
        with way(f"{tmp_path}/{name}.txt.{kind}") as stream:
            stream.writelines(text if name == "a" else [line.encode() for line in text])
    first, second = ((tmp_path / f"{name}.txt.{kind}").read_bytes() for name in "ab")
    assert first == second
    assert UNPACK[kind](first).decode() == "".join(text)
    assert plain_name(f"a.txt.{kind}") == "a.txt"
    assert codec_of(first).ending == f".{kind}"


@kinds
def test_commands_find_the_format_behind_the_ending(tmp_path, capsys, kind):
    corpus = read_corpus("samples/paraphrases.jsonl")
    for name in (f"a.jsonl.{kind}", f"b.xml.{kind}"):
        write_corpus(corpus, tmp_path / name)
        assert read_corpus(tmp_path / name) == corpus
    run(
        capsys,
        "select",
        tmp_path / f"a.jsonl.{kind}",
        "--split",
        "x=.5,y=.5",
        "-o",
        tmp_path / f"c.jsonl.{kind}",
    )
    parts = [read_corpus(tmp_path / f"c-{part}.jsonl.{kind}") for part in "xy"]
    assert sum(map(len, parts)) == len(corpus)
    UNPACK[kind]((tmp_path / f"c-x.jsonl.{kind}").read_bytes())


@kinds
def test_models_are_packed_and_read_again(tmp_path, capsys, kind):
    for name, word in (("s", b"house %d\n"), ("t", b"maison %d\n")):
        write(tmp_path, f"{name}.{kind}", PACK[kind](b"".join(word % (k % 9) for k in range(60))))
    texts = [tmp_path / f"s.{kind}", tmp_path / f"t.{kind}"]
    packed, plain = tmp_path / f"m.{kind}", tmp_path / "m"
    for model in (packed, plain):
        run(capsys, "align", *texts, "--save", model, "-o", tmp_path / "links")
    assert UNPACK[kind](packed.read_bytes()) == plain.read_bytes()
    assert Aligner.load(packed).align("house 3", "maison 3") == Aligner.load(plain).align(
        "house 3", "maison 3"
    )
    packed.write_bytes(packed.read_bytes()[:-30])
    run(capsys, "align", *texts, "--load", packed).failed("cut off")
    packed.write_bytes(PACK[kind](plain.read_bytes() + b"more"))
    run(capsys, "align", *texts, "--load", packed).failed("directory at its end")


@kinds
@pytest.mark.parametrize("reader", ["found", "phrases", "vectors", "trees"])
def test_every_reader_unpacks(tmp_path, kind, reader):
    raw, read = {
        "found": (TEXT, read_corpus),
        "phrases": (
            b"a ||| b ||| 0.5\n",
            lambda path: list(read_phrase_table(path, format="moses")),
        ),
        "vectors": (b"a 1 2\nb 2 3\n", lambda path: read_vectors(path, {"a"}).words),
        "trees": (b"(S (NN rain))\n", lambda path: list(read_trees(path))),
    }[reader]
    packed, plain = write(tmp_path, "a", PACK[kind](raw)), write(tmp_path, "b", raw)
    assert read(packed) == read(plain)


def test_parts_of_a_corpus_are_unpacked_and_packed(tmp_path, capsys):
    pytest.importorskip("distributed")
    for k, kind in enumerate(PACK):
        for side, word in (("s", b"house %d\n"), ("t", b"maison %d\n")):
            text = b"".join(word % (n % 9) for n in range(40 + k))
            write(tmp_path, f"{k}.{kind}.{side}", PACK[kind](text))
    texts = f"{tmp_path}/*.s", f"{tmp_path}/*.t"
    first = tmp_path / "0.gz.s", tmp_path / "0.gz.t"
    run(capsys, "align", *first, "--save", tmp_path / "m.zst", "-o", tmp_path / "links")
    run(capsys, "align", *texts, "--load", tmp_path / "m.zst", "-o", f"{tmp_path}/*.align.zst")
    for k, kind in enumerate(PACK):
        lines = UNPACK["zst"]((tmp_path / f"{k}.{kind}.align.zst").read_bytes()).split(b"\n")
        assert len(lines) == 41 + k


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = str(write(tmp_path, "a.zst", ZSTD(TEXT)))
    for work in (
        lambda: links(path),
        lambda: read_corpus(path),
        lambda: replacing(path).__enter__(),
    ):
        with pytest.raises(AlignkitError, match=r"install .*\[zstd\]"):
            work()
    assert Path(path).read_bytes() == ZSTD(TEXT)
    assert len(list(tmp_path.iterdir())) == 1
