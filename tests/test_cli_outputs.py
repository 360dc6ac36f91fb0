"""What a command writes takes its place when the whole command has succeeded, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import FRENCH, PARAPHRASES, TEXTS, made, process, run, write
from test_cli import posix

BITEXT = FRENCH / "fr.txt", FRENCH / "en.txt"
TO_PHARAOH = "--to", "pharaoh", "--annotator", "gold"
AGREE = ["agree", PARAPHRASES, "--annotators", "anna", "ben", "--initial", "eflomal"]
AGREE += ["--samples", "10", "--html", "page"]


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def old(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("out", "s.txt", "t.txt", "model", "page"):
        write(tmp_path, name, "old\n")
    return files(tmp_path)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            [
                "convert",
                PARAPHRASES,
                "out",
                *TO_PHARAOH,
                "--to-source",
                "s.txt",
                "--to-target",
                "./s.txt",
            ],
            "./s.txt and s.txt are the same file",
        ),
        (["convert", PARAPHRASES, "s.txt", *TO_PHARAOH, "--to-source", "sub/../s.txt"], "same"),
        (["align", *BITEXT, "-o", "out", "--save", "./out"], "./out and out are the same file"),
        (["align", *BITEXT, "--scores", "-"], "- is named twice"),
        (["show", PARAPHRASES, "--id", "p05", "--html", "page", "--svg", "./page"], "same file"),
        (["pairs", "t.txt", "--to-source", "out", "--to-target", "link"], "same file"),
        (
            [
                "check",
                FRENCH / "gold.align",
                *TEXTS,
                "--fix",
                "out",
                "--fix-source",
                "s.txt",
                "--fix-target",
                "./s.txt",
            ],
            "same file",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_two_outputs_that_are_one_file_are_refused_before_any_work(capsys, old, command, told):
    os.mkdir("sub")
    os.symlink("out", "link")
    run(capsys, *command).failed(told, "nothing was changed")
    os.remove("link")
    assert files(Path()) == old


@pytest.mark.parametrize(
    "command",
    [
        ["align", "s.txt", "t.txt", "-o", "t.txt"],
        ["align", "s.txt", "t.txt", "--save", "./t.txt"],
        ["align", "s.txt", "t.txt", "--load", "model", "--scores", "model"],
        ["align", "s.txt", "t.txt", "--dictionary", "out", "-o", "link"],
        ["symmetrize", "s.txt", "t.txt", "-o", "t.txt"],
        ["pairs", "s.txt", "t.txt", "-o", "t.txt"],
        ["phrases", "s.txt", "-o", "s.txt"],
        ["show", "s.txt", "--html", "s.txt"],
        ["agree", "s.txt", "--html", "link/../s.txt"],
        ["convert", "out", "s.txt", "--to", "pharaoh", "--source", "s.txt", "--target", "t.txt"],
        ["check", "out", "--source", "s.txt", "--target", "t.txt", "--fix", "t.txt"],
        ["merge", "out", "--add", "x=s.txt:pharaoh", "-o", "s.txt"],
    ],
    ids=" ".join,
)
def test_what_is_read_is_not_replaced_by_something_else(capsys, old, command):
    os.symlink("out", "link")
    os.mkdir("sub")
    command = ["sub/../s.txt" if word == "link/../s.txt" else word for word in command]
    run(capsys, *command).failed("but is also read", "nothing was changed")
    os.remove("link")
    assert files(Path()) == old


def test_a_corpus_and_its_texts_are_converted_in_their_places(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {name: (FRENCH / name).read_bytes() for name in ("gold.align", "fr.txt", "en.txt")}
    for name, text in texts.items():
        write(tmp_path, name, text)
    given = ["--source", "fr.txt", "--target", "en.txt"]
    to = ["--to", "pharaoh", "--swap", "--to-source", "fr.txt", "--to-target", "en.txt"]
    for swapped in (True, False):
        made(capsys, "convert", "gold.align", "gold.align", "--from", "pharaoh", *given, *to)
        assert (files(tmp_path)["fr.txt"] == texts["en.txt"]) is swapped
    assert files(tmp_path) == texts


@posix
@pytest.mark.parametrize(
    "command",
    [
        [
            "align",
            *BITEXT,
            "-o",
            "out",
            "--scores",
            "s.txt",
            "--save",
            "model",
            "--lexicon",
            "/dev/full",
        ],
        [
            "convert",
            PARAPHRASES,
            "out",
            *TO_PHARAOH,
            "--to-source",
            "s.txt",
            "--to-target",
            "/dev/full",
        ],
        ["show", PARAPHRASES, "--id", "p05", "--svg", "page", "--html", "/dev/full"],
    ],
    ids=["align", "convert", "show"],
)
def test_one_output_that_cannot_be_written_leaves_the_others_as_they_were(capsys, old, command):
    run(capsys, *command).failed("/dev/full: cannot be written", "nothing was chan")
    assert files(Path()) == old


def test_what_cannot_be_written_is_told_before_the_work(capsys, old, monkeypatch):
    def refused(path, _mode):
        return os.path.realpath(path) not in (os.path.realpath("out"), os.path.realpath("closed"))

    monkeypatch.setattr(os, "access", refused)  # as it is for all but root
    os.mkdir("closed")
    expected = {"out": "it is read-only", "closed/x": "cannot create files in its folder"}
    for path, told in expected.items():
        ran = run(capsys, "align", *BITEXT, "--save", path)
        ran.failed(f"{path}: cannot be written: {told}")
        assert "rounds" not in ran.err
    assert files(Path()) == old


@pytest.mark.slow
@posix
@pytest.mark.parametrize("command", [["check", FRENCH / "gold.align", "--fix", "out"], AGREE])
def test_a_report_that_cannot_be_printed_leaves_all_as_it_was(old, command):
    with open("/dev/full", "w", encoding="utf-8") as full:
        process(*command, stdout=full).failed("No space left")
    assert files(Path()) == old


@pytest.mark.parametrize(
    ("format", "made"),
    [
        ("goldalign", "users/anna/complete/corpus/batch_0000.tsv"),
        ("blinker", "anna/samp1.SentPair0"),
    ],
)
def test_a_folder_that_fails_half_way_is_as_it_was(capsys, tmp_path, format, made):
    broken = write(tmp_path, "broken.jsonl", Path(PARAPHRASES).read_bytes() + b'{"id": 1\n')
    run(capsys, "convert", broken, tmp_path / "new", "--to", format).failed("broken.jsonl:66")
    assert sorted(os.listdir(tmp_path)) == ["broken.jsonl"]
    out = tmp_path / "out"
    assert run(capsys, "convert", PARAPHRASES, out, "--to", format).code == 0
    assert made in files(out)
    write(out, "README", "mine")
    before = files(out)
    run(capsys, "convert", broken, out, "--to", format).failed("broken.jsonl:66")
    assert files(out) == before
    assert run(capsys, "convert", PARAPHRASES, out, "--to", format).code == 0
    assert files(out) == before


@pytest.mark.slow
@posix
def test_standard_outputs_own_file_is_written_where_it_is(tmp_path):
    out = tmp_path / "out"
    for name in ("/dev/stdout", out, "-"):
        out.write_text("before\n")
        with open(out, "a", encoding="utf-8") as stream:
            assert process("convert", PARAPHRASES, name, *TO_PHARAOH, stdout=stream).code == 0
        lines = out.read_text().splitlines()
        assert (len(lines), lines[0]) == (65, "before")


@posix
def test_a_file_is_not_read_while_standard_output_adds_to_it(tmp_path):
    out = tmp_path / "x.jsonl"
    out.write_bytes(Path(PARAPHRASES).read_bytes())
    with open(out, "a", encoding="utf-8") as stream:
        ran = process("convert", out, "-", "--to", "alignkit-jsonl", stdout=stream)
    ran.failed("x.jsonl is an input")
    assert out.read_bytes() == Path(PARAPHRASES).read_bytes()


@pytest.mark.slow
@posix
def test_other_names_of_a_replaced_file_are_told(tmp_path):
    os.link(write(tmp_path, "a", "old"), tmp_path / "b")
    ran = process("convert", PARAPHRASES, tmp_path / "a", *TO_PHARAOH)
    assert "a: replaced; other hard links" in ran.err
    assert (tmp_path / "b").read_text() == "old"


@pytest.mark.slow
@posix
def test_a_reader_that_has_enough_does_not_cost_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reading, writing = os.pipe()
    os.close(reading)
    ran = process(*AGREE, stdout=writing)
    os.close(writing)
    assert (ran.code, ran.err) == (0, "")
    assert Path("page").exists()
