"""Sentence numbers that are out of order or missing are found, and lines in file order say so."""

from itertools import pairwise

import pytest
from command import made, run, write
from hypothesis import given
from hypothesis import strategies as st

from alignkit.io.sentence_numbers import SentenceNumbers

A3 = """# Sentence pair ({0}) source length 1 target length 1 alignment score : 0.1
c{0}
NULL ({{ }}) a{0} ({{ 1 }})
"""
RTE = "# sentence pair {0}\na{0}\nNULL ({{ / / }}) c{0} ({{ 1 / / }})\n"
PART = (1, 3, 2, 7, 9, 12)
WRONG = "number 2 comes after 3; 6 numbers are missing: 4-6, 8, 10-11"


def a3(tmp_path, name, numbers, block=A3):
    return write(tmp_path, name, "".join(map(block.format, numbers)))


@given(st.lists(st.integers(0, 12), max_size=12))
def test_numbers_are_found_as_by_a_plain_reference(numbers):
    found = SentenceNumbers(numbers)
    assert found.backwards == sum(b < a for a, b in pairwise(numbers))
    missing = [n for first, last in found.missing() for n in range(first, last + 1)]
    assert missing == [n for n in range(1, max(numbers, default=0)) if n not in numbers]
    assert (str(found) == "") is (not missing and numbers == sorted(numbers))


def test_a_message_lists_some_ranges():
    assert str(SentenceNumbers(PART)) == WRONG
    assert str(SentenceNumbers([3, 2, 1])) == "number 2 comes after 3 (2 such places)"
    many = str(SentenceNumbers(range(2, 200, 2)))
    assert many.startswith("99 numbers are missing: 1, 3, 5, ")
    assert many.endswith("37, 39 and 79 more ranges")


@pytest.mark.parametrize(("format", "block"), [("giza", A3), ("rte", RTE)])
def test_check_says_which_numbers(capsys, tmp_path, format, block):
    path = a3(tmp_path, "x.A3", PART, block)
    ran = run(capsys, "check", path, "--format", format)
    assert ran.code == 1
    assert f"{path}:7: sentence number out of order: 2 comes after 3\n" in ran.out
    for gap in ("4-6 are", "8 is", "10-11 are"):
        assert f"{path}: gap in sentence numbers: {gap} missing\n" in ran.out
    counts = run(capsys, "check", path, "--format", format, "--json").json[0]["counts"]
    assert counts == {"sentence number out of order": 1, "gap in sentence numbers": 3}
    made(capsys, "check", a3(tmp_path, "good.A3", range(1, 7), block), "--format", format)
    made(capsys, "check", a3(tmp_path, "zero.A3", range(6), block), "--format", format)


def test_a_broken_block_is_no_gap(capsys, tmp_path):
    blocks = [A3.format(number) for number in (1, 2, 3)]
    blocks[1] = blocks[1].replace("source length 1", "source length 2")
    path = write(tmp_path, "x.A3", "".join(blocks))
    counts = run(capsys, "check", path, "--format", "giza", "--json").json[0]["counts"]
    assert counts == {"broken record": 1}


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_lines_in_file_order_say_so(capsys, tmp_path, quiet):
    path, out = a3(tmp_path, "x.A3", PART), tmp_path / "out.align"
    warning = f"{out}: warning: in the order of {path}, without its sentence numbers: {WRONG}"
    for command in (
        ("convert", path, out),
        ("convert", path, out, "--to", "xlwa"),
        ("select", path, "--share", "1", "-o", out),
        ("concat", path, "-o", out),
        ("symmetrize", path, path, "-o", out),
    ):
        assert warning in made(capsys, *command, *quiet).err, command
    for command in (  # the numbers are kept
        ("convert", path, out, "--to-ids"),
        ("convert", path, out, "--to", "giza"),
        ("convert", path, out, "--to", "alignkit-jsonl"),
    ):
        assert "warning" not in made(capsys, *command, *quiet).err, command
    good = a3(tmp_path, "good.A3", range(1, 7))
    assert "warning" not in made(capsys, "convert", good, out, *quiet).err


def test_align_says_so_too(capsys, tmp_path):
    path, out = a3(tmp_path, "x.A3", PART), tmp_path / "out.align"
    for words in ((), ("--to", "xlwa")):
        ran = made(capsys, "align", path, "-o", out, "--format", "giza", *words, "--quiet")
        assert f"{out}: warning: in the order" in ran.err
    assert "warning" not in made(capsys, "align", path, "-o", out, "--to-ids", "--quiet").err


def test_links_of_scattered_sentences_say_so(capsys, tmp_path):
    """Lines of links without words: a sentence without links has no line either."""
    path, out = write(tmp_path, "x.wa", "3 1 1\n1 1 1\n5 1 1\n"), tmp_path / "out.align"
    ran = made(capsys, "convert", path, out, "--from", "naacl", "--quiet")
    assert "number 1 comes after 3; 2 numbers are missing: 2, 4" in ran.err
    texts = [write(tmp_path, name, "a\n" * 5) for name in ("source", "target")]
    beside = ("--source", texts[0], "--target", texts[1])
    assert made(capsys, "convert", path, out, "--from", "naacl", *beside, "--quiet").err == ""
    assert out.read_text() == "0-0\n\n0-0\n\n0-0\n"
    assert "warning" not in run(capsys, "check", path, "--format", "naacl").out


def test_joining_in_order_says_so_and_joining_by_number_does_not(capsys, tmp_path):
    path, other = a3(tmp_path, "x.A3", PART), a3(tmp_path, "y.A3", [*PART[::-1]])
    ordered = f"{path}: joined in order, but {WRONG}"
    assert ordered in run(capsys, "score", path, other, "--in-order", "--json").json["cautions"]
    assert ordered not in run(capsys, "score", path, other, "--json").json["cautions"]
    out = tmp_path / "out.jsonl"
    whole = a3(tmp_path, "whole.A3", range(1, 13))
    ran = made(capsys, "merge", whole, "--add", f"x={path}", "--partial", "-o", out, "--quiet")
    assert "warning" not in ran.err
    ran = run(capsys, "merge", path, "--add", f"x={other}", "--in-order", "-o", out, "--quiet")
    assert f"{path}: warning: joined in order, but {WRONG}" in ran.err
