"""Control characters of a text are named all at once, listed, and mended in a copy."""

import gzip

import pytest
from command import made, run, write
from hypothesis import given
from hypothesis import strategies as st

from alignkit import FormatError, read_corpus
from alignkit.io.odd_characters import OddCharacters
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile

TEXT = "le ch\0at\u00a0x\r\nla\x1b b\0c\nx\n\0\n\0\n\ufeff\ufeffun"


@pytest.fixture
def texts(tmp_path):
    return write(tmp_path, "s", TEXT), write(tmp_path, "t", "a\n" * 6)


LISTED = "the file contains U+0000 (4, lines 1, 2, 4, ...), U+001B (1, line 2); "


def test_align_names_all_control_characters_of_a_text(capsys, texts):
    advice = f"`alignkit check --text {texts[0]} --fix OUT`"
    run(capsys, "align", *texts).failed(r"s:1:6: control character '\x00'", LISTED, advice)
    run(capsys, "align", *reversed(texts)).failed(LISTED)
    run(capsys, "pairs", *texts).failed(LISTED)


def test_all_that_reads_texts_names_them(tmp_path, texts):
    links = write(tmp_path, "l", "\n" * 6)
    with pytest.raises(FormatError) as caught:
        read_corpus(links, format="pharaoh", source=texts[0], target=texts[1])
    assert LISTED in str(caught.value)
    packed = tmp_path / "s.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    with pytest.raises(FormatError) as caught:
        read_corpus(links, format="pharaoh", source=str(packed), target=texts[1])
    assert LISTED in str(caught.value)
    wide = tmp_path / "wide"
    wide.write_bytes(TEXT.encode("utf-16"))
    named = {"source": str(wide), "target": str(wide) + "2", "encoding": "utf-16"}
    (tmp_path / "wide2").write_bytes(("a\n" * 6).encode("utf-16"))
    with pytest.raises(FormatError) as caught:
        read_corpus(write(tmp_path, "l", ("\n" * 6).encode("utf-16")), format="pharaoh", **named)
    assert LISTED in str(caught.value)


def test_check_lists_them_and_fix_mends_them_in_a_copy(capsys, tmp_path, texts):
    ran = run(capsys, "check", "--text", texts[0])
    assert ran.code == 1
    rows = [line.split("  ") for line in ran.out.splitlines()]
    rows = [[part.strip() for part in row if part] for row in rows]
    assert ["control character", "U+0000", "4", "1, 2, 4"] in rows
    assert ["control character", "U+001B", "1", "2"] in rows
    assert ["byte order mark", "U+FEFF", "2", "6"] in rows
    assert ["white space in words", "U+00A0", "1", "1"] in rows
    assert "findings: 5 x control character, 2 x byte order mark, 1 x carriage return" in ran.out
    out = tmp_path / "out"
    ran = run(capsys, "check", "--text", texts[0], "--fix", out)
    assert "out: written with 5 x control character replaced by U+FFFD, 2 x byte order" in ran.err
    assert out.read_text() == "le ch\ufffdat\u00a0x\nla\ufffd b\ufffdc\nx\n\ufffd\n\ufffd\nun"
    assert (tmp_path / "s").read_bytes() == TEXT.encode()
    made(capsys, "align", out, texts[1])
    assert "clean" in made(capsys, "check", "--text", out).out
    record = run(capsys, "check", "--text", *texts, "--json").json
    assert [each["clean"] for each in record] == [False, True]
    assert record[0]["counts"]["control character"] == 5
    assert record[0]["characters"][0] == {
        "kind": "control character",
        "character": "U+0000",
        "count": 4,
        "lines": [1, 2, 4],
    }


def test_the_input_is_never_replaced(capsys, tmp_path, texts):
    (tmp_path / "link").symlink_to(texts[0])
    for out in (texts[0], tmp_path / "link"):
        run(capsys, "check", "--text", texts[0], "--fix", out).failed("name another OUT")
    assert (tmp_path / "s").read_bytes() == TEXT.encode()
    run(capsys, "check", "--text", *texts, "--fix", tmp_path / "o").failed("give one IN")
    run(capsys, "check", "--text", texts[0], "--leaks").failed("--leaks")


@given(st.text(st.sampled_from("ab \x00\x1b\x1c\r\ufeff\u00a0\u2028\u0085"), max_size=10))
def test_a_mended_line_is_what_reading_leniently_gives(text):
    reading = TextFile("x", ReadOptions(lenient=True))
    line = reading.decode(f"{text}\n".encode(), 1)
    odd = OddCharacters()
    assert odd.line(f"{text}\n") == f"{line}\n"
    controls = sum(char < " " and char != "\r" for char in text)
    counts = dict.fromkeys(("control character", "byte order mark", "carriage return"), 0)
    for each in odd.problems:
        counts[each.kind] += each.count
    assert counts["control character"] == controls
    assert len(text) - len(line) == counts["byte order mark"] + counts["carriage return"]
