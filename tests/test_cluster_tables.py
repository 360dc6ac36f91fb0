"""What a corpus takes and what its parts give: tables of parts have the bytes of one machine."""

import random
import re
from itertools import pairwise

import pytest
from command import run
from refusals import refuses

from alignkit.cluster import phrase_tables
from alignkit.cluster.estimate import estimate_texts
from alignkit.cluster.parts import find_parts
from alignkit.cluster.phrase_exchange import ExchangeOptions
from alignkit.cluster.phrase_tables import phrases, pivot
from alignkit.cluster.run import RunError
from alignkit.cluster.session import Session
from alignkit.errors import AlignkitError, OptionError, UnknownNameError
from alignkit.io.options import ReadOptions
from alignkit.rules.tables.phrase_tables import TableSettings
from alignkit.rules.tables.pivots import PivotSettings

WORDS = ["la", "le", "maison", "Maison", "chat", "é", "ẞ", "zz", "a", "b", "c", "d"]


def corpus(seed, pairs):
    rng = random.Random(seed)
    found = []
    for _ in range(pairs):
        sides = [[rng.choice(WORDS) for _ in range(rng.randint(0, 6))] for _ in range(2)]
        links = {
            f"{rng.randrange(len(sides[0]))}-{rng.randrange(len(sides[1]))}"
            for _ in range(rng.randint(0, 6))
            if all(sides)
        }
        found.append((" ".join(sorted(links)), *map(" ".join, sides)))
    return found


def written(folder, lines, cuts):
    for side, name in enumerate(("align", "fr", "en")):
        column = [f"{line[side]}\n" for line in lines]
        (folder / f"whole.{name}").write_text("".join(column), "utf-8")
        for k, (begin, end) in enumerate(pairwise([0, *cuts, len(lines)])):
            (folder / f"part{k}.{name}").write_text("".join(column[begin:end]), "utf-8")
    return [f"{folder}/part*.{name}" for name in ("align", "fr", "en")]


def whole(capsys, folder, *options):
    texts = [f"{folder}/whole.{name}" for name in ("align", "fr", "en")]
    given = ["--source", texts[1], "--target", texts[2], "--format", "pharaoh", *options]
    run(capsys, "phrases", texts[0], "--table", "-o", str(folder / "t"), *given)
    return (folder / "t").read_bytes()


def table_of(patterns, out, **more):
    links, source, target = patterns
    phrases(None, links, str(out), source=source, target=target, format="pharaoh", **more)


@pytest.mark.parametrize(
    ("seed", "cuts", "buckets", "least"),
    [(1, [], 1, 1), (2, [10], 2, 2), (3, [0, 0, 7, 60], 5, 1), (4, [1, 2, 3, 40], 3, 3)],
)
def test_a_table_of_parts_is_that_of_the_whole(capsys, tmp_path, seed, cuts, buckets, least):
    patterns = written(tmp_path, corpus(seed, 80), cuts)
    expected = whole(capsys, tmp_path, "--max-length", "3", "--min-count", str(least))
    assert least == 3 or expected.count(b"\n") > 3
    out = tmp_path / "parts.tsv"
    given = phrase_tables.AlignedInput(("source", "target"), "pharaoh")
    how = {"min_count": least, "options": ExchangeOptions(1 << 16, buckets)}
    parts, settings = find_parts(*patterns), TableSettings(max_length=3)
    counted = phrase_tables.count_parts(Session(), parts, str(out), settings, given, **how)
    assert (out.read_bytes(), counted.pairs) == (expected, 80)
    assert counted.tally.different - counted.tally.left_out == len(expected.splitlines())
    assert not list(tmp_path.glob(".alignkit-*"))  # what was made on the way is gone


def test_the_command_takes_patterns(capsys, tmp_path):
    links, source, target = written(tmp_path, corpus(5, 60), [20, 40])
    sides = ["--source", source, "--target", target, "--format", "pharaoh", "--table"]
    expected = whole(capsys, tmp_path)
    for more in ([], ["--work", f"{tmp_path}/work"]):
        out = tmp_path / "parts.tsv"
        said = run(capsys, "phrases", links, *sides, "-o", str(out), *more).err
        assert out.read_bytes() == expected
        assert "different" in said
        out.unlink()
    run(capsys, "pivot", str(tmp_path / "t"), "-o", str(tmp_path / "p"), "--identity")
    lines = expected.splitlines(keepends=True)
    for k, (begin, end) in enumerate(pairwise([0, 0, 9, 30, len(lines)])):  # the first is empty
        (tmp_path / f"table{k}").write_bytes(b"".join(lines[begin:end]))
    for more in ([], ["--work", f"{tmp_path}/work2"]):
        out = tmp_path / "p2"
        run(capsys, "pivot", f"{tmp_path}/table*", "-o", str(out), "--identity", *more)
        assert out.read_bytes() == (tmp_path / "p").read_bytes()
        out.unlink()
    for more in ([], ["--work", f"{tmp_path}/work3"]):
        run(capsys, "pivot", f"{tmp_path}/table0", "-o", str(out), *more).failed("no phrase pairs")


@pytest.mark.parametrize(("buckets", "second"), [(1, False), (2, True), (4, False)])
def test_paraphrases_of_parts_are_those_of_the_whole(capsys, tmp_path, buckets, second):
    written(tmp_path, corpus(6, 90), [])
    lines = whole(capsys, tmp_path, "--max-length", "2").splitlines(keepends=True)
    other = [f"{tmp_path}/o"] if second else []
    if second:
        (tmp_path / "o").write_bytes(b"".join(lines[::2]))
    flags = ["--min-p", "0.01", "--top", "5", "--min-count", "2", "--memory", "1"]
    run(capsys, "pivot", f"{tmp_path}/t", *other, "-o", f"{tmp_path}/p", *flags)
    for k in range(3):
        (tmp_path / f"t{k}.tsv").write_bytes(b"".join(lines[k::3]))  # in another order
    out = tmp_path / "q"
    tables = [find_parts(f"{tmp_path}/t*.tsv"), *map(find_parts, other)]
    settings, given = PivotSettings(0.01, 5), phrase_tables.TableInput(min_count=2)
    options = ExchangeOptions(1 << 16, buckets)
    joined = phrase_tables.join_tables(Session(), tables, str(out), settings, given, options)
    assert out.read_bytes() == (tmp_path / "p").read_bytes()
    tally = joined.tally
    assert out.read_bytes().count(b"\n") == tally.joined - tally.rare - tally.beyond
    assert joined.entries[0] == len(lines)


def test_a_second_table_may_have_a_single_word(tmp_path):
    (tmp_path / "first.tsv").write_text("a\tb\t1\t1\t1\n", "utf-8")
    (tmp_path / "second.tsv").write_text("a\ta\t1\t1\t1\n", "utf-8")
    out = tmp_path / "out"
    pivot(None, f"{tmp_path}/first.tsv", str(out), second=f"{tmp_path}/second.tsv", min_p=0)
    assert out.read_text("utf-8").split("\t")[:2] == ["b", "a"]


def test_a_run_goes_on_after_a_stop(capsys, tmp_path):
    patterns, expected = written(tmp_path, corpus(7, 60), [10, 20, 50]), whole(capsys, tmp_path)
    out, work = tmp_path / "out", tmp_path / "work"

    def again(stop_at):
        told = []

        def progress(done, total, text):
            told.append(text)
            if len(told) == stop_at:
                raise KeyboardInterrupt

        table_of(patterns, out, work=str(work), progress=progress)
        return told

    for stop_at in (2, 5, 7):
        refuses(KeyboardInterrupt, None, again, stop_at)
        assert not out.exists()
        times = {path: path.stat().st_mtime_ns for path in work.glob("alignkit-run/records/*.bin")}
        assert times
    again(0)
    assert out.read_bytes() == expected
    assert times == {path: path.stat().st_mtime_ns for path in times}
    (tmp_path / "part1.en").write_text("x\n" * 10, "utf-8")
    refuses(RunError, r"inputs .*part1\.en", again, 0)


def test_bad_lines_may_be_mended_and_the_same_command_given_again(capsys, tmp_path):
    patterns, expected = written(tmp_path, corpus(8, 60), [10]), whole(capsys, tmp_path)
    part = tmp_path / "part1.align"
    lines = part.read_bytes()
    part.write_bytes(b"x-y" + lines[lines.index(b"\n") :])
    refuses(AlignkitError, r"part1\.align:1", table_of, patterns, tmp_path / "out")
    assert not list(tmp_path.glob(".alignkit-*"))
    part.write_bytes(lines)
    table_of(patterns, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == expected


def test_the_format_of_parts_is_found_though_the_first_is_empty(capsys, tmp_path):
    written(tmp_path, corpus(5, 30), [])
    expected = whole(capsys, tmp_path)
    texts = ["--source", f"{tmp_path}/whole.fr", "--target", f"{tmp_path}/whole.en"]
    (tmp_path / "0.jsonl").write_bytes(b"")
    run(
        capsys,
        "convert",
        f"{tmp_path}/whole.align",
        f"{tmp_path}/1.jsonl",
        *texts,
        "--from",
        "pharaoh",
        "--to",
        "alignkit-jsonl",
    )
    for more in ([], ["--work", f"{tmp_path}/work"]):
        out = tmp_path / "out"
        run(capsys, "phrases", f"{tmp_path}/*.jsonl", "--table", "-o", str(out), *more)
        assert out.read_bytes() == expected
    phrases(None, f"{tmp_path}/*.jsonl", str(out))
    assert out.read_bytes() == expected


def test_what_makes_no_sense_is_refused(capsys, tmp_path):
    links, source, target = written(tmp_path, corpus(9, 6), [3])
    sides = ["--source", source, "--target", target, "--format", "pharaoh"]
    run(capsys, "phrases", links, *sides).failed("only work with --table")
    work = ["--work", f"{tmp_path}/w"]
    run(capsys, "phrases", links, *sides, "--table", *work).failed("name it with -o")
    ran = run(capsys, "phrases", links, *sides, "--table", "-o", f"{tmp_path}/part1.fr", *work)
    ran.failed("but is also read")
    ran = run(capsys, "pivot", f"{tmp_path}/part*.fr", "--rules-format", "tsv")
    ran.failed("--rules-format does not")
    refuses(UnknownNameError, "side", pivot, None, links, "out", on="middle")
    refuses(OptionError, "`min_count` is 0", pivot, None, links, "out", min_count=0)


def test_texts_are_counted_where_all_is_read_and_many_parts_are_estimated(tmp_path):
    lines = corpus(1, 200)
    _, *patterns = written(tmp_path, lines, [50, 120])
    found = estimate_texts(find_parts(*patterns), ReadOptions())
    sides = [[len(line[side].split()) for line in lines] for side in (1, 2)]
    assert (found.pairs, found.parts) == (200, 3)
    assert (found.source_words, found.target_words) == tuple(map(sum, sides))
    assert found.cells == sum(n * m for n, m in zip(*sides, strict=True))
    assert 60 < found.largest < 100  # by the sizes of files
    lines = corpus(2, 2000)
    _, *patterns = written(tmp_path, lines, list(range(100, 2000, 100)))
    found = estimate_texts(find_parts(*patterns), ReadOptions())
    assert abs(found.pairs - 2000) < 200
    assert abs(found.source_words - sum(len(line[1].split()) for line in lines)) < 600


def test_commands_print_what_they_would_take(capsys, tmp_path):
    links, source, target = written(tmp_path, corpus(3, 60), [20])
    ran = run(capsys, "align", source, target, "--estimate")
    assert "about 60 pairs of" in ran.out
    assert "on one machine" in ran.out
    sides = ["--source", source, "--target", target, "--format", "pharaoh", "--table"]
    found = run(capsys, "phrases", links, *sides, "--estimate").out
    run(capsys, "phrases", links, *sides, "-o", f"{tmp_path}/t")
    told = run(capsys, "phrases", links, *sides, "-o", f"{tmp_path}/t").err
    known = re.search(r"([\d,]+) phrase pairs", told)[1]
    assert f"; {known} phrase pairs" in found
    for side in ("fr", "en"):
        for k in range(2):
            (tmp_path / f"part{k}.{side}").write_text("", "utf-8")
    run(capsys, "align", source, target, "--estimate").failed("no sentence pairs")
