"""Bytes are written as texts are: beside their place first, or to standard output."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from alignkit.output import WriteError, apart, replacing, replacing_bytes, together


def test_bytes_take_their_place_when_they_are_whole(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing_bytes(str(path)) as out:
        out.write(b"\r\n\xff")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"\r\n\xff"
    with pytest.raises(KeyboardInterrupt):
        write_half(str(path))
    assert path.read_bytes() == b"\r\n\xff"
    assert list(tmp_path.iterdir()) == [path]


def write_half(path):
    with replacing_bytes(path) as out:
        out.write(b"half")
        raise KeyboardInterrupt


def test_texts_and_bytes_go_to_standard_output_in_order(capfdbinary):
    with replacing("-") as out:
        out.write("one\n")
        with replacing_bytes("-") as raw:
            raw.write(b"\xff\n")
        out.write("two\n")
    assert capfdbinary.readouterr().out == b"one\n\xff\ntwo\n"


def test_places_where_no_bytes_can_be_are_named(tmp_path):
    with pytest.raises(WriteError, match="is a folder"), replacing_bytes(str(tmp_path)):
        pass


def test_a_name_in_gz_packs_text_to_the_same_bytes_at_any_time(tmp_path):
    path = str(tmp_path / "a.txt.gz")
    lines = [f"line {number} of ü\n" for number in range(5000)]
    with replacing(path) as stream:
        stream.writelines(lines)
    first = Path(path).read_bytes()
    assert gzip.decompress(first).decode() == "".join(lines)
    assert first[:10] == bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])  # no name, no time; Unix
    other = str(tmp_path / "b.gz")
    with replacing_bytes(other, text=True) as stream:
        for line in lines:
            stream.write(line.encode())
    assert Path(other).read_bytes() == first
    with replacing_bytes(other) as stream:  # a picture or a model is as it is
        stream.write(b"PNG")
    assert Path(other).read_bytes() == b"PNG"


def test_packing_that_fails_changes_nothing(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(b"before")
    with pytest.raises(WriteError, match="cannot be written as UTF-8"):
        write_texts([(path, "whole\n" * 9999 + "\ud800")])
    assert path.read_bytes() == b"before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.gz"]


def test_what_is_written_apart_stays_whatever_fails_later(tmp_path):
    texts = [(tmp_path / "kept", "1"), (tmp_path / "gone", "\ud800")]
    with pytest.raises(WriteError), together():
        write_apart(texts)
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept"]
    (tmp_path / "kept").unlink()
    with pytest.raises(WriteError), together():
        write_texts(texts)
    assert not list(tmp_path.iterdir())


def write_apart(texts):
    with apart():
        write_texts(texts)


def write_texts(texts):
    for path, text in texts:
        with replacing(str(path)) as out:
            out.write(text)
