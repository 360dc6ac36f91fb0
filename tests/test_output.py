"""Bytes are written as texts are: beside their place first, or to standard output."""

from __future__ import annotations

import pytest

from alignkit.output import WriteError, replacing, replacing_bytes


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
