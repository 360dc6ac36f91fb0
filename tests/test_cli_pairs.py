"""The command pairs, and the reading of translations."""

import gzip
import os
import random
import signal
import time

import pytest
from command import feed, run, start, write
from format_files import damaged
from hypothesis import given
from hypothesis import strategies as st
from strategies import PLAIN
from test_cli import posix

from alignkit import pair_translations
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.io.translations import groups_of

pytestmark = pytest.mark.usefixtures("no_collection")  # some texts are nested deeply

ANNA, BEN, CLEO = "they left\na b c\n\n", "they went away\nA b c\nx\n", "off they went\n\nx y\n"
_LINES = st.lists(st.text(PLAIN | st.sampled_from(" \xa0"), max_size=8), min_size=2, max_size=4)


@pytest.fixture
def files(tmp_path):
    return [write(tmp_path, f"{k}.txt", text) for k, text in enumerate((ANNA, BEN, CLEO))]


def made(capsys, *given):
    ran = run(capsys, "pairs", *given)
    assert ran.code == 0, ran.err
    return ran


def test_files_are_paired_line_by_line(capsys, files):
    ran = made(capsys, *files)
    assert ran.out.splitlines() == [
        "they left ||| they went away",
        "they left ||| off they went",
        "they went away ||| off they went",
        "a b c ||| A b c",
        "x ||| x y",
    ]
    assert ran.err == "alignkit: 3 groups of 9 translations, 2 empty; 5 pairs, 5 kept\n"


def test_columns_are_as_good_as_files(capsys, monkeypatch, files, tmp_path):
    rows = zip(*(text.split("\n")[:-1] for text in (ANNA, BEN, CLEO)), strict=True)
    text = "".join("\t".join(row) + "\n" for row in rows)
    expected = made(capsys, *files, "--both-orders")
    assert made(capsys, write(tmp_path, "t.tsv", text), "--both-orders") == expected
    feed(monkeypatch, text)
    assert made(capsys, "-", "--both-orders") == expected


def test_what_is_dropped_is_told_with_its_reason(capsys, files, tmp_path):
    ran = made(capsys, *files, "--max-ratio", "1.2", "--drop-identical", "--max-length", "9")
    assert ran.out == "they went away ||| off they went\n"
    assert ran.err.splitlines() == [
        "alignkit: 3 groups of 9 translations, 2 empty; 5 pairs, 1 kept",
        "alignkit: dropped: 3 x length ratio of 1.2 or more, 1 x identical",
    ]
    ran = made(capsys, *files, "--min-length", "2", "--max-length", "2", "--drop-repeated")
    assert "1 x a side under 2 words, 4 x a side over 2 words" in ran.err
    ran = made(capsys, *files, "--which", "first")
    assert "1 x group without a pair" in ran.err
    assert len(ran.out.splitlines()) == 3
    table = write(tmp_path, "t", "a\tb\nb\ta\na\tb\n")
    assert len(made(capsys, table).out.splitlines()) == 3
    ran = made(capsys, table, "--drop-repeated")
    assert (ran.out, "2 x repeated" in ran.err) == ("a ||| b\n", True)
    assert made(capsys, table, "--drop-repeated", "--both-orders").out == "a ||| b\nb ||| a\n"


def test_outputs_hold_the_same_pairs(capsys, files, tmp_path):
    bitext, table, source, target = (str(tmp_path / name) for name in "btsx")
    counts = made(capsys, *files, "-o", bitext, "--json")
    assert (counts.json["pairs"], counts.json["kept"], counts.json["empty"]) == (5, 5, 2)
    assert counts.err == ""
    made(capsys, *files, "--to", "tsv", "-o", table)
    made(capsys, *files, "--to-source", source, "--to-target", target)
    pairs = [tuple(map(" ".join, pair.words)) for pair in expected_pairs(files)]
    assert [tuple(line.split(" ||| ")) for line in lines(bitext)] == pairs
    assert [tuple(line.split("\t")) for line in lines(table)] == pairs
    assert list(zip(lines(source), lines(target), strict=True)) == pairs


def expected_pairs(files):
    return pair_translations(read_translations(*files))


def read_translations(*paths):
    return groups_of([TextFile(str(path), ReadOptions()) for path in paths])


def lines(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read().splitlines()


def test_ids_name_line_and_translations(capsys, files, tmp_path):
    ids = ["1/1-2", "1/1-3", "1/2-3", "2/1-2", "3/2-3"]
    assert [pair.id for pair in expected_pairs(files)] == ids
    table = made(capsys, *files, "--to", "tsv", "--to-ids").out.splitlines()
    assert [line.split("\t")[0] for line in table] == ids
    sides = [str(tmp_path / name) for name in "st"]
    made(capsys, *files, "--to-source", sides[0], "--to-target", sides[1], "--to-ids")
    assert [line.split("\t")[0] for line in lines(sides[1])] == ids
    links = write(tmp_path, "a", "".join(f"{id}\t0-0\n" for id in ids))
    texts = ["--source", sides[0], "--target", sides[1]]
    assert run(capsys, "stats", links, *texts, "--json").json["pairs"] == 5


def test_all_dresses_of_a_file_are_taken_off(capsys, tmp_path):
    first = write(tmp_path, "a", "\ufeffdas\u00a0ist gut\r\n日本 語\r\n")
    second = write(tmp_path, "b.gz", gzip.compress("  it   is\tgood \nשלום".encode()))
    assert made(capsys, first, second).out == "das\u00a0ist gut ||| it is good\n日本 語 ||| שלום\n"
    latin = write(tmp_path, "l", "é\tè\n".encode("latin-1"))
    assert made(capsys, latin, "--encoding", "latin-1").out == "é ||| è\n"
    run(capsys, "pairs", latin).failed(f"{latin}:1:1: not utf-8", "--encoding")
    wide = write(tmp_path, "w", "é\tè\n".encode("utf-16"))
    assert made(capsys, wide, "--encoding", "utf-16").out == "é ||| è\n"


def test_lines_may_differ_in_columns_and_files_may_be_empty(capsys, tmp_path):
    ran = made(capsys, write(tmp_path, "t", "a\tb\tc\n\na\na\t\tb\nd\te\n"))
    assert len(ran.out.splitlines()) == 5
    assert "2 x group without a pair" in ran.err
    for names in ("a", "ab"):
        ran = made(capsys, *(write(tmp_path, name, "") for name in names))
        assert ran.out == ""
        assert ran.err == "alignkit: 0 groups of 0 translations, 0 empty; 0 pairs, 0 kept\n"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_unequal_line_counts_name_both_files(capsys, tmp_path, order):
    texts = ["a\nb\n", "a\nb\nc\nd\ne\n", "a\nb\n"]
    paths = [write(tmp_path, f"{k}.txt", text) for k, text in enumerate(texts)]
    out = write(tmp_path, "out", "old\n")
    ran = run(capsys, "pairs", *(paths[k] for k in order), "-o", out)
    ran.failed(f"{paths[1]}: has 5 lines, but ", " has 2; the same line")
    assert paths[0] in ran.err or paths[2] in ran.err
    assert lines(out) == ["old"]
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize("several", [False, True])
def test_a_divider_among_the_words_names_file_and_line(capsys, tmp_path, several):
    bad = write(tmp_path, "bad", "x\na ||| b\n" if several else "x\ty\na ||| b\tc\n")
    given = [write(tmp_path, "other", "a\nb\n"), bad] if several else [bad]
    out = tmp_path / "out"
    run(capsys, "pairs", *given, "-o", out).failed(f"{bad}:2: ", "'|||'", "--to tsv")
    assert not out.exists()
    assert "a ||| b" in made(capsys, *given, "--to", "tsv").out
    made(capsys, *given, "--to-source", out, "--to-target", tmp_path / "target")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "required: IN"),
        (["-", "-"], "read once only"),
        (["F", "F"], "given twice"),
        (["F", "--max-ratio", "1:9"], "for a ratio of 1:9, use 9"),
        (["F", "--max-ratio", "inf"], "a number above 1"),
        (["F", "--max-ratio", "1"], "more than 1, not 1.0"),
        (["F", "--max-length", "0"], "1 or more, not '0'"),
        (["F", "--min-length", "5", "--max-length", "4"], "below the minimum"),
        (["F", "--to-source", "s"], "--to-source and --to-target"),
        (["F", "--to-source", "s", "--to-target", "./s"], "different files"),
        (["F", "--to-source", "s", "--to-target", "t", "-o", "o"], "not both"),
        (["F", "--to-source", "s", "--to-target", "t", "--to", "tsv"], "not both"),
        (["F", "--to-ids"], "a bitext has no ids"),
        (["F", "--json"], "pairs to a file"),
        (["PLAIN"], "has two columns"),
    ],
)
def test_a_wrong_call_is_told_and_writes_nothing(capsys, tmp_path, monkeypatch, given, told):
    monkeypatch.chdir(tmp_path)
    names = {"F": write(tmp_path, "f.tsv", "a\tb\n"), "PLAIN": write(tmp_path, "p", "a b\nc\n")}
    run(capsys, "pairs", *(names.get(word, word) for word in given)).failed(told)
    assert sorted(os.listdir(tmp_path)) == ["f.tsv", "p"]


def test_packed_garbage_names_its_own_file(capsys, tmp_path):
    whole = write(tmp_path, "a", "a\nb\n")
    cut = write(tmp_path, "cut.gz", gzip.compress(b"x\n" * 5000)[:-20])
    for paths in ([whole, cut], [cut, whole]):
        run(capsys, "pairs", *paths).failed("cut.gz: cannot be unpacked")


def test_garbage_is_paired_or_told(capsys, tmp_path):
    whole = "".join(f"mot {k}\tword {k}\tWort {k}\n" for k in range(20)).encode()
    other = write(tmp_path, "other", "w\n" * 20)
    for content in [*damaged(whole, 25), random.Random(1).randbytes(500), b"\0" * 99, b"\t" * 500]:
        path = write(tmp_path, "bad", content)
        for paths in ([path], [path, other]):
            ran = run(capsys, "pairs", *paths, "--to", "tsv", "--drop-repeated", "--max-ratio", "3")
            if ran.code:
                ran.failed(path)
            else:
                assert all(line.count("\t") == 1 for line in ran.out.split("\n")[:-1])


@given(st.lists(_LINES, max_size=5), st.booleans())
def test_reading_gives_the_words_of_each_column(tmp_path_factory, rows, packed):
    raw = "".join("\t".join(row) + "\n" for row in rows).encode()
    raw, name = (gzip.compress(raw), "t.gz") if packed else (raw, "t")
    words = [[[w for w in text.split(" ") if w] for text in row] for row in rows]
    assert list(read_translations(write(tmp_path_factory.mktemp("t"), name, raw))) == words


def test_reading_closes_what_it_leaves(tmp_path, monkeypatch):
    paths, opened = [write(tmp_path, name, "a\tb\n" * 9) for name in "xy"], []
    real = open
    monkeypatch.setattr("builtins.open", lambda *a, **k: opened.append(real(*a, **k)) or opened[-1])
    for some in (paths, paths[:1]):
        reading = read_translations(*some)
        next(reading)
        reading.close()
    assert len(opened) == 5  # two files are looked at first: do their lines begin with ids?
    assert all(stream.closed for stream in opened)


@posix
def test_an_interruption_leaves_no_half_file(tmp_path):
    pipe = tmp_path / "endless"
    os.mkfifo(pipe)
    running = start("pairs", pipe, "--to-source", tmp_path / "s", "--to-target", tmp_path / "t")
    with open(pipe, "w", encoding="utf-8") as feeding:
        feeding.write("a\tb\n" * 20_000)
        feeding.flush()
        while len(list(tmp_path.glob(".*.part"))) < 2:
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, "alignkit: error: interrupted; no file was changed\n")
    assert os.listdir(tmp_path) == ["endless"]
