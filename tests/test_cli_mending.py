"""`check --fix` tells which pairs it leaves out, and what becomes of the ids of the others."""

import pytest
from command import run, write

from alignkit.io import read_corpus

GIZA = "# Sentence pair ({}) source length {} target length 1\nc\nNULL ({{ }}) a ({{ 1 }})\n"
ISTS = (
    '<sentence id="{}" status="">\n<source>\n1 a :\n</source>\n<translation>\n1 b :\n'
    "</translation>\n<alignment>\n1 <==> {} // EQUI // 5 // a <==> b\n</alignment>\n</sentence>\n"
)
GOLD = "{}\ta\t\tb\t\t\t\t{}\t\t\n"
PAIRS = {  # for each format one pair as it should be, and one that is broken
    "xlwa": ("a\tb\t0-0\n", "a b\t0-0\n"),
    "jsonl": (
        '{"src_words": ["a"], "tgt_words": ["b"], "alignment": [[0, 0]]}\n',
        '{"src_words": ["a"], "tgt_words": "b"}\n',
    ),
    "giza": (GIZA.format(7, 1), GIZA.format(7, 2)),
    "rte": (
        "# sentence pair 7\na\nNULL ({ / / }) b ({ 1 / / })\n",
        "# sentence pair 7\na\nNULL ({ / / }) b ({ 1 / })\n",
    ),
    "goldalign": (GOLD.format("x", "0-0"), GOLD.format("x", "0")),
    "multimwa": (GOLD.format("x", "0-0"), GOLD.format("x", "0")),
    "ists": (ISTS.format("x", "1"), ISTS.format("x", "one")),
    "alignkit-jsonl": (
        '{"id": "7", "annotations": {"x": {"sure": "0-0"}}}\n',
        '{"id": "7", "annotations": {"x": {}}}\n',
    ),
}
RENUMBERED = {
    "xlwa": "ids have changed: 3-4 are now 2-3",
    "goldalign": "ids have changed: x:1 is now y:1, x:3-x:4 are now y:2-y:3",
}


@pytest.mark.parametrize("format", PAIRS)
def test_what_is_left_out_is_told(capsys, tmp_path, format):
    whole, broken = PAIRS[format]
    path, out = write(tmp_path, "x.tsv", whole + broken + whole * 2), tmp_path / "y.tsv"
    before = run(capsys, "check", path, "--format", format, "--json").json[0]
    line = next(one["line"] for one in before["findings"] if one["kind"] == "broken record")
    ran = run(capsys, "check", path, "--format", format, "--fix", out)
    assert ran.code == 1
    assert f"{out}: written without 1 of 4 pairs, broken in {path}:{line}" in ran.err
    assert "clean" not in ran.err + ran.out
    assert (RENUMBERED.get(format, "ids have changed") in ran.err) is (format in RENUMBERED)
    assert len(read_corpus(out, format=format)) == 3
    told = run(capsys, "check", path, "--format", format, "--fix", out, "--json").json[0]["fix"]
    assert (told["written"], told["read_again"], told["dropped"]) == (3, 3, 1)
    assert [(one["path"], one["line"]) for one in told["broken"]] == [(path, line)]
    assert bool(told["renumbered"]) is (format in RENUMBERED)


def test_ranges_say_where_the_pairs_went(capsys, tmp_path):
    lines = ["a\tb\t0-0\n"] * 20
    for k in (2, 15, 16):
        lines[k] = "a\n"
    path = write(tmp_path, "x.tsv", "".join(lines))
    for out in (tmp_path / "y.tsv", "-"):
        ran = run(capsys, "check", path, "--format", "xlwa", "--fix", out)
        assert f"{out}: written without 3 of 20 pairs, broken in {path}:3, {path}:16-17" in ran.err
        assert f"{out}: ids have changed: 4-15 are now 3-14, 18-20 are now 15-17" in ran.err
        assert (ran.code, "clean" in ran.err) == (1, False)


def test_broken_records_are_not_lost_in_their_own_place(capsys, tmp_path):
    path = write(tmp_path, "x.tsv", "a\tb\t0-0\na\n")
    (tmp_path / "link").symlink_to("x.tsv")
    for out in (path, tmp_path / "link"):
        ran = run(capsys, "check", path, "--format", "xlwa", "--fix", out)
        ran.failed("1 broken records", "name another OUT")
    assert (tmp_path / "x.tsv").read_text() == "a\tb\t0-0\na\n"


def test_a_long_list_is_cut_in_the_terminal_alone(capsys, tmp_path):
    path, out = write(tmp_path, "x.tsv", "a\tb\t0-0\na\n" * 150), tmp_path / "y"
    ran = run(capsys, "check", path, "--format", "xlwa", "--fix", out)
    assert "and 50 more" in ran.err
    told = run(capsys, "check", path, "--format", "xlwa", "--fix", out, "--json").json[0]["fix"]
    assert len(told["broken"]) == told["dropped"] == 150
    assert told["renumbered"][-1] == {"old": "299", "new": "150"}


def test_words_beside_do_not_outlive_their_pairs(capsys, tmp_path):
    path = write(tmp_path, "x", "1 1 1\n2 1\n3 1 1\n")
    source, target = (write(tmp_path, name, "a\nb\nc\n") for name in "st")
    out, words = tmp_path / "y", [tmp_path / "ys", tmp_path / "yt"]
    given = ["check", path, "--format", "naacl", "--source", source, "--target", target]
    run(capsys, *given, "--fix", out).failed("would keep their words", "--fix-source")
    assert not out.exists()
    ran = run(capsys, *given, "--fix", out, "--fix-source", words[0], "--fix-target", words[1])
    assert f"written without 1 of 3 pairs, broken in {path}:2" in ran.err
    assert "ids have changed" not in ran.err
    read = read_corpus(out, format="naacl", source=str(words[0]), target=str(words[1]))
    assert [(pair.id, pair.source) for pair in read] == [("1", ("a",)), ("3", ("c",))]
    ran = run(capsys, *given, "--fix", out, "--fix-source", words[0])
    assert "ids have changed: 3 is now 2" in ran.err  # a bitext has no numbers


def test_the_findings_are_shown_when_mending_fails(capsys, tmp_path):
    path = write(tmp_path, "x.tsv", "a\tb\t0-0\na\n")
    ran = run(capsys, "check", path, "--format", "xlwa", "--fix", tmp_path / "no" / "x" / "y")
    ran.failed()
    assert "findings: 1 x broken record" in ran.out
