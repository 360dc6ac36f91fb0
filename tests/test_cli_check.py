"""`alignkit check`: what is odd is told with file and line, and mended on request."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from command import EFLOMAL, FAST, GOLD, PARAPHRASES, TEXTS, made, run, write

BOM = b"\xef\xbb\xbf"


def kinds(ran):
    return {tuple(map(one.get, ("kind", "path", "line"))) for one in ran.json[0]["findings"]}


@pytest.fixture
def dirty(tmp_path):
    path = write(tmp_path, "dirty.align", BOM + b"0-0 0-0 1?1 1-1\r\n0-0 9-9\r\n\r\n0-0 1-1\r\n")
    source = write(tmp_path, "dirty.s", BOM + b"a b\nc d\ne f\ng h\n")
    target = write(tmp_path, "dirty.t", "a b\nc d\n\ng h\n")
    return ["check", path, "--source", source, "--target", target]


def test_leaks_need_words_to_compare(capsys):
    run(capsys, "check", "--leaks", GOLD, GOLD).failed("words to compare")
    assert "only partly checked" in run(capsys, "check", GOLD).out


@pytest.mark.parametrize(
    "given",
    [[GOLD, *TEXTS], [EFLOMAL, *TEXTS], [FAST, *TEXTS], [GOLD], [PARAPHRASES], [GOLD, EFLOMAL]],
)
def test_the_samples_are_clean(capsys, given):
    assert "clean: no problems found" in made(capsys, "check", *given).out
    assert run(capsys, "check", *given, "--json").json[0]["clean"]


def test_every_kind_of_finding_has_file_and_line(capsys, dirty):
    _, path, _, source, _, _ = dirty
    ran = run(capsys, *dirty, "--json")
    assert ran.code == 1
    assert kinds(ran) == {
        ("byte order mark", path, 1),
        ("byte order mark", source, 1),
        ("carriage returns", path, 1),
        ("duplicate link", path, 1),
        ("both sure and possible", path, 1),
        ("link out of range", path, 2),
        ("empty alignment", path, 3),
        ("empty sentence", path, 3),
    }
    assert (ran.json[0]["records"], ran.json[0]["links"], ran.json[0]["sure"]) == (4, 8, 7)
    assert f"{path}:2: link out of range: link 9-9" in run(capsys, *dirty).out


def test_what_is_mended_is_clean(capsys, dirty, tmp_path):
    mended = [str(tmp_path / name) for name in ("m.align", "m.s", "m.t")]
    words = ["--fix", mended[0], "--fix-source", mended[1], "--fix-target", mended[2]]
    ran = run(capsys, *dirty, *words)
    assert ran.code == 1
    assert "left for you to decide: 1 x empty alignment, 1 x empty sentence" in ran.err
    assert Path(mended[0]).read_bytes() == b"0-0 1-1\n0-0\n\n0-0 1-1\n"
    rest = run(capsys, "check", mended[0], "--source", mended[1], "--target", mended[2], "--json")
    assert rest.json[0]["counts"] == {"empty alignment": 1, "empty sentence": 1}
    ran = run(capsys, *dirty, "--fix", "-")
    assert ran.out == "0-0 1-1\n0-0\n\n0-0 1-1\n"
    assert "findings: " in ran.err


@pytest.mark.parametrize(
    ("before", "after"),
    [(BOM + b"0-0 0-0\r\n1-1 1?1", "0-0\n1-1\n"), (b"x\t0-0 0-0\ny\t1-1\n", "x\t0-0\ny\t1-1\n")],
)
def test_a_file_is_mended_in_its_place(capsys, tmp_path, before, after):
    path = write(tmp_path, "a.align", before)
    ran = run(capsys, "check", path, "--fix", path)
    assert (ran.code, f"{path}: written; it is clean" in ran.err) == (1, True)
    assert (Path(path).read_text(encoding="utf-8"), run(capsys, "check", path).code) == (after, 0)


def test_nothing_is_lost_by_mending_in_place(capsys, tmp_path):
    before = "0-0:0.5 0-0\n1-1\n"
    path = write(tmp_path, "a.align", before)
    run(capsys, "check", path, "--fix", path).failed("weights of 1 pairs", path)
    assert Path(path).read_text(encoding="utf-8") == before
    ran = run(capsys, "check", path, "--fix", tmp_path / "b.align")
    assert "weights of 1 pairs" in ran.err


def test_broken_lines_are_told_and_not_mended(capsys, tmp_path):
    path, out = write(tmp_path, "a.align", "0-0\n0~0\n1-1\n"), tmp_path / "out"
    ran = run(capsys, "check", path, "--fix", out).failed(path, "by hand")
    assert f"{path}:2: broken record: '0~0'" in ran.out
    assert not out.exists()
    found = run(capsys, "check", path, "--json").json[0]
    assert (found["records"], found["read"], found["refused"]) == (3, 2, 1)


@pytest.mark.parametrize("damage", range(12))
def test_all_records_of_a_damaged_file_are_counted(capsys, tmp_path, damage):
    rng, whole = random.Random(damage), bytearray(Path(GOLD).read_bytes())
    for _ in range(10):
        at = rng.randrange(len(whole))
        whole[at : at + 1] = bytes(rng.choices(range(256), k=rng.randint(0, 3)))
    lines = whole.count(b"\n") + (not whole.endswith(b"\n"))
    ran = run(capsys, "check", write(tmp_path, "damaged", bytes(whole)), "--json")
    assert ran.code == 1
    assert ran.json[0]["records"] == ran.json[0]["read"] + ran.json[0]["refused"] == lines


def test_a_wrong_base_or_direction_is_told(capsys, tmp_path):
    found = run(capsys, "check", GOLD, "--base", "1", *TEXTS, "--json").json[0]
    assert found["counts"] == {"link out of range": 87, "suspicious base": 1}
    fits = {(fit["base"], fit["transposed"]): fit for fit in found["fits"]}
    assert fits[0, False] == {"base": 0, "transposed": False, "outside": 0, "equal": 18}
    assert fits[1, True]["outside"] == 140
    found = run(capsys, "check", GOLD, "--transpose", *TEXTS, "--json").json[0]
    assert found["counts"]["suspicious direction"] == 1
    from_one = str(tmp_path / "one")
    run(capsys, "convert", GOLD, from_one, "--to", "pharaoh", "--to-base", "1")
    found = run(capsys, "check", from_one, "--json").json[0]
    assert found["counts"] == {"suspicious base": 1}
    assert found["fits"][0]["outside"] is None  # nothing is known without words
    assert run(capsys, "check", from_one, "--base", "1", *TEXTS).code == 0


@pytest.mark.parametrize("base", ["0", "1"])
@pytest.mark.parametrize("turned", [[], ["--transpose"]])
def test_the_fits_do_not_depend_on_what_is_declared(capsys, tmp_path, base, turned):
    dirtied = write(tmp_path, "a", Path(GOLD).read_bytes().replace(b"\n", b"\r\n"))
    tables = [
        run(capsys, "check", path, "--base", base, *turned, *TEXTS, "--json").json[0]["fits"]
        for path in (GOLD, dirtied)  # by the kernel, and line by line
    ]
    assert tables[0] == tables[1] == run(capsys, "check", GOLD, *TEXTS, "--json").json[0]["fits"]


def test_a_file_that_is_of_another_format_is_unreadable(capsys, tmp_path):
    binary = write(tmp_path, "binary", bytes(range(1, 256)) * 20)
    run(capsys, "check", binary).failed(binary, "control character")
    run(capsys, "check", tmp_path / "none").failed("none: cannot be read")
    run(capsys, "check", GOLD, "--format", "alignkit-xml").failed(GOLD)
    assert run(capsys, "check", write(tmp_path, "empty", "")).code == 1


def test_texts_that_differ_between_annotators(capsys, tmp_path):
    first = write(tmp_path, "A.tsv", "a b\tc .\t0-0\nd\te\t0-0\n")
    second = write(tmp_path, "B.tsv", "a b\tc ..\t0-0\nd\te\t0-0\n")
    third = write(tmp_path, "C.tsv", "a b\tc .\t0-0\nd f\te\t0-0\n")
    ran = run(capsys, "check", first, second, third, "--format", "xlwa")
    assert ran.code == 1
    told = "texts differ: pair '1': target word 1 is '.' in the first file and '..' here"
    assert f"{second}:1: {told}" in ran.out
    assert f"{third}:2: texts differ: pair '2'" in ran.out
    run(capsys, "check", first, second, "--format", "xlwa", "--fix", "x").failed("one file")
    shorter = write(tmp_path, "D.tsv", "a b\tc .\t0-0\n")
    assert "is only in" in run(capsys, "check", first, shorter, "--format", "xlwa").out


def test_repeated_ids_have_their_line_and_many_findings_are_cut_and_counted(capsys, tmp_path):
    path = write(tmp_path, "a", "x\t0-0\ny\t0-0\nx\t0-0\n")
    assert kinds(run(capsys, "check", path, "--json")) == {("repeated id", path, 3)}
    path = write(tmp_path, "a", "0-0 0-0\n" * 8)
    ran = run(capsys, "check", path, "--show", "2")
    assert ran.out.count("duplicate link: 0-0") == 2
    assert "8 in all; --show 8" in ran.out
    assert run(capsys, "check", path, "--show", "0").out.count("occurs again") == 0


@pytest.mark.real_data
def test_the_annotators_of_rte_differ_in_41_pairs(capsys, data):
    files = [data / "rte2" / f"RTE2_dev_{name}.align.txt" for name in "ABC"]
    ran = run(capsys, "check", *files, "--format", "rte", "--json")
    assert [found["records"] for found in ran.json] == [800, 800, 800]
    assert sum(found["counts"].get("texts differ", 0) for found in ran.json) == 41
    assert ran.json[2]["counts"]["missing parenthesis"] == 1
    assert all(found["counts"]["byte order mark"] for found in ran.json)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("path", "format"),
    [
        ("edinburgh/gold.train.sure+poss.json", "jacana"),
        ("multimwa/mtref-dev.tsv", "multimwa"),
        ("multimwa/wiki-dev.tsv", "multimwa"),
        ("xl-wa/bg/dev.tsv", "xlwa"),
        ("formats/ists/STSint.testinput.images.wa", "ists"),
    ],
)
def test_real_corpora_are_clean(capsys, data, path, format):
    made(capsys, "check", data / path, "--format", format)


@pytest.mark.real_data
def test_the_link_out_of_range_of_wpt_is_found(capsys, data):
    path = data / "formats" / "wpt-eng-hin" / "data" / "test.eng.hin.wa"
    texts = ["--source", path.with_name("test.eng"), "--target", path.with_name("test.hin")]
    ran = run(capsys, "check", path, "--format", "naacl", *texts, "--json")
    assert ("link out of range", str(path), 678) in kinds(ran)
    assert "suspicious base" not in ran.json[0]["counts"]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    program = (
        "import resource, sys; from alignkit.cli import main; code = main(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    pytest.importorskip("resource")
    used = []
    for lines in (10, 100_000):
        path = write(tmp_path, f"{lines}", "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7 8-8 9-9\n" * lines)
        words = [sys.executable, "-c", program, "check", path]
        ran = subprocess.run(words, capture_output=True, text=True, check=True)
        used.append(int(ran.stderr.split()[-1]))
    assert (used[1] - used[0]) * (1 if sys.platform == "darwin" else 1024) < 60e6


def test_an_unknown_member_that_is_null_is_counted(capsys, tmp_path):
    record = '{"src_words": ["a"], "tgt_words": ["x"], "alignment": "0-0", "extra": null}\n'
    ran = run(capsys, "check", write(tmp_path, "a.jsonl", record), "--format", "jsonl")
    assert "findings: 1 x member left out" in ran.out
