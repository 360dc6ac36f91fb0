"""Parts are aligned as files alone are; what is done is not done again."""

import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest
from command import FRENCH, run, write
from refusals import refuses

from alignkit import Aligner, AlignkitError, Bitext, FormatError
from alignkit.cli.common.cluster import PartsProgress
from alignkit.cluster.aligning import align
from alignkit.cluster.run import RunError
from alignkit.cluster.session import ClusterError
from alignkit.io.atomic_files import WriteError

CUTS = (0, 1, 1, 20, 52)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    texts = {side: (FRENCH / f"{side}.txt").read_bytes().splitlines(True) for side in ("fr", "en")}
    texts["fr"][30] = b" ".join([b"mot"] * 450) + b"\n"  # aligned in pieces
    for side, lines in texts.items():
        (folder / f"whole.{side}").write_bytes(b"".join(lines))
        for k, (begin, end) in enumerate(pairwise(CUTS)):
            data = b"".join(lines[begin:end])
            (folder / f"in{k}.{side}").write_bytes(gzip.compress(data) if k == 3 else data)
    pairs = zip(*((line.decode() for line in lines) for lines in texts.values()), strict=True)
    Aligner.train(Bitext.pack(list(pairs)), threads=1).save(folder / "model")
    return folder


def patterns(folder):
    return [f"{folder}/in*.fr", f"{folder}/in*.en"]


def joined(folder, name):
    parts = [(folder / name.replace("*", f"{k}")).read_bytes() for k in range(len(CUTS) - 1)]
    return b"".join(gzip.decompress(data) if name.endswith(".gz") else data for data in parts)


def test_parts_are_aligned_as_the_whole_text(capsys, made, tmp_path):
    options = ["--load", f"{made}/model", "--probs", "--sure", "0.8"]
    whole = [f"{made}/whole.{side}" for side in ("fr", "en")]
    run(capsys, "align", *whole, "-o", tmp_path / "a", *options, "--scores", tmp_path / "s")
    ran = run(
        capsys,
        "align",
        *patterns(made),
        "-o",
        f"{tmp_path}/*.gz",
        *options,
        "--scores",
        f"{tmp_path}/s*",
        "--json",
    )
    assert joined(tmp_path, "*.gz") == (tmp_path / "a").read_bytes()
    assert joined(tmp_path, "s*") == (tmp_path / "s").read_bytes()
    assert "more than 400 words" in ran.err
    assert "4 parts, 52 pairs" in ran.err
    assert json.loads(ran.out)["pairs"] == 52
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    one = [f"{made}/in3.fr", f"{made}/in3.en"]
    for more in ([], ["--work", tmp_path / "work"]):  # without a star
        run(capsys, "align", *one, "-o", tmp_path / "o.gz", *options, *more)
        assert (tmp_path / "o.gz").read_bytes() == (tmp_path / "3.gz").read_bytes()


def test_what_is_done_is_not_done_again(made, tmp_path):
    options = {"model": str(made / "model"), "work": str(tmp_path / "work")}
    out = f"{tmp_path}/*.align"

    def stopped(done, total, text):
        if text.startswith("2 of 4"):
            raise KeyboardInterrupt

    refuses(KeyboardInterrupt, None, align, None, *patterns(made), out, progress=stopped, **options)
    done = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.align")}
    assert len(done) == 2
    told = []
    counts = align(None, *patterns(made), out, progress=lambda *now: told.append(now), **options)
    assert (counts.pairs, done) == (52, {path: path.stat().st_mtime_ns for path in done})
    assert told[-1][2] == "4 of 4 parts aligned"
    assert told[-1][0] == told[-1][1]
    whole = joined(tmp_path, "*.align")
    (tmp_path / "1.align").unlink()  # lost, or another one now: done again
    (tmp_path / "2.align").write_text("0-0\n", "utf-8")
    align(None, *patterns(made), out, **options)
    assert joined(tmp_path, "*.align") == whole


def test_other_settings_models_and_inputs_are_refused(made, tmp_path):
    text = [Path(write(tmp_path, f"x1.{side}", "a b\n")) for side in ("fr", "en")]
    model = tmp_path / "model"
    model.write_bytes((made / "model").read_bytes())
    given = [f"{tmp_path}/x*.{side}" for side in ("fr", "en")] + [f"{tmp_path}/o*"]
    options = {"model": str(model), "work": str(tmp_path / "work")}
    align(None, *given, **options)
    told = r"settings threshold was None, and is now 0\.4"
    refuses(RunError, told, align, None, *given, threshold=0.4, **options)
    text[0].touch()
    align(None, *given, **options)  # it says the same
    text[0].write_text("a c\n", "utf-8")
    refuses(RunError, r"inputs .*x1\.fr", align, None, *given, **options)
    text[0].write_text("a b\n", "utf-8")
    Aligner.train(Bitext.pack([("a b", "a b")]), threads=1).save(model)
    refuses(RunError, "model has changed", align, None, *given, **options)


def test_bad_parts_are_told_before_any_is_aligned(made, tmp_path):
    for k in range(12):
        write(tmp_path, f"{k}.fr", "a\nb\n")
        write(tmp_path, f"{k}.en", b"a\nb\n" if k == 7 else b"a\n\xff\n")
    given = [f"{tmp_path}/*.fr", f"{tmp_path}/*.en", f"{tmp_path}/*.align"]
    told = r"^several parts cannot be read; the first 10 are shown.*(\n.*\.en:2:1: .*){10}$"
    refuses(AlignkitError, told, align, None, *given, model=str(made / "model"))
    assert not list(tmp_path.glob("*.align"))


def test_the_same_command_goes_on_where_machines_failed(capsys):
    for kind, kept in ((ClusterError, 1), (WriteError, 1), (FormatError, 0), (RunError, 0)):
        progress = PartsProgress("x")
        progress(1, 2, "1 of 2")
        progress.__exit__(kind, kind("it failed"), None)
        told = "x: 1 of 2; finished work is kept; run the command again"
        assert capsys.readouterr().err.count(told) == kept


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("how", ["--load", "--work"])
def test_on_a_full_disk_the_parts_that_are_written_are_named(capsys, made, tmp_path, how):
    (tmp_path / "2.align").symlink_to("/dev/full")
    place = made / "model" if how == "--load" else tmp_path / "work"
    given = ["align", *patterns(made), "-o", f"{tmp_path}/*.align", how, place, "--quiet"]
    ran = run(capsys, *given).failed("2.align: cannot be written")
    written = sorted(path.name for path in tmp_path.glob("*.align") if not path.is_symlink())
    assert written
    told = ran.err.partition("; this output was not changed; already written: ")[2].strip()
    assert sorted(Path(name).name for name in told.split(", ")) == written
    if how == "--work":
        ran = run(capsys, "align", *patterns(made), "--save", "/dev/full", how, place)
        ran.failed("finished parts are kept")


def test_what_parts_cannot_have_is_refused(capsys, made, tmp_path):
    given = ["align", *patterns(made), "-o", f"{tmp_path}/*.align"]
    load = ["--load", f"{made}/model"]
    run(capsys, *given).failed("name it with --work", "--load)")
    expanded = [f"{made}/in{k}.fr" for k in range(3)]
    run(capsys, "align", *expanded, *load).failed("with a * in quotes")
    run(capsys, *given, *load, "--to", "alignkit-jsonl").failed("--to does not work")
    run(capsys, *given, *load, "--tokenize").failed("--tokenize does not work")
    run(capsys, *given[:2], "-o", f"{tmp_path}/*", *load).failed("need SRC and TGT")
    run(capsys, *given[:3], *load).failed("as in -o 'out/*.align.gz'")
    run(capsys, *given[:4], f"{tmp_path}/x", *load).failed("there are several parts")
    run(capsys, *given[:4], f"{made}/in*.en", *load).failed("is also read")
    run(capsys, *given, *load, "--cluster", "here").failed("address of a cluster")
    run(capsys, *given, "--load", f"{made}/none").failed("none: cannot be read")
    run(capsys, *given[:4], f"{tmp_path}/no/*.align", *load).failed("there is no folder")
    assert not list(tmp_path.iterdir())


def test_a_line_of_too_many_words_is_told_before_any_is_aligned(capsys, made, tmp_path):
    for k in range(2):
        (tmp_path / f"{k}.fr").write_text("a " * 11 + "\n" + "a" * 99 + "\n", "utf-8")
        (tmp_path / f"{k}.en").write_text("b\n" + "b " * (11 - k) + "\n", "utf-8")
    given = [f"{tmp_path}/{side}" for side in ("*.fr", "*.en")]
    options = ["--load", f"{made}/model", "-o", f"{tmp_path}/*.align", "--max-words"]
    ran = run(capsys, "align", *given, *options, "10").failed("0.fr:1: ", "11 words", "1.fr:1: ")
    assert ":2:" not in ran.err
    (tmp_path / "0.fr").write_text("a\n\n", "utf-8")
    run(capsys, "align", *given, *options, "10").failed("0.en:2: a sentence has 11 words")
    run(capsys, "align", *given, *options, "11")
