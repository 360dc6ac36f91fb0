"""The command line as a whole: help, errors, streams, interruption."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from command import FRENCH, GOLD, PARAPHRASES, ROOT, TEXTS, feed, made, process, run, start, write

from alignkit.cli.annotate import project
from alignkit.cli.commands import COMMANDS
from alignkit.cli.evaluate import audit
from alignkit.version import __version__

HEAVY = {"numpy", "scipy", "numba", "lxml", "networkx", "nltk", "matplotlib", "jinja2"}
stops = pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and devices")

READING = {
    "convert": ["IN", "OUT", "--to", "pharaoh"],
    "check": ["IN"],
    "show": ["IN"],
    "phrases": ["IN"],
    "score": ["IN", "IN"],
    "score-phrases": ["TABLE", "IN"],
    "symmetrize": ["IN", "IN"],
    "merge": ["IN", "--add", "x=IN", "-o", "OUT"],
    "concat": ["IN", "-o", "OUT"],
    "select": ["IN", "--share", ".5", "-o", "OUT"],
    "agree": ["IN"],
    "stats": ["IN"],
}
OF_PROJECTS = [f"project {name}" for name in project.COMMANDS]
OF_AUDITS = [f"audit {name}" for name in audit.COMMANDS]
BROKEN = {
    "missing": (None, "cannot be read: No such file"),
    "binary": (b"\x00\x9f\x92\x96" * 500, "binary:1"),
    "wrong": (b"0-0 1-1\n0-0 1~1\n", "wrong:2:5: '1~1' is not a link"),
    "cut.gz": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03K", "cut.gz"),
    "fake.gz": (b"\x1f\x8b0-0\n", "fake.gz: cannot be unpacked"),
}


def shell(line):
    """Run a line of bash, in which ALIGNKIT is the command."""
    line = line.replace("ALIGNKIT", f"{sys.executable} -m alignkit")
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)


def words(command, path, tmp_path):
    table = write(tmp_path, "table.tsv", "a\tb\n")
    names = {"IN": path, "x=IN": f"x={path}", "OUT": tmp_path / "out", "TABLE": table}
    return [command, *(names.get(word, word) for word in READING[command])]


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from alignkit.cli import main\n"
        "for line in sys.argv[1:]:\n"
        "    code = main([*line.split(), '--help'])\n"
        "    print('ran', code, *{name.split('.')[0] for name in sys.modules}, f'; {line}')"
    )
    lines = ["", *COMMANDS, "audit phrases", "audit read"]
    words = [sys.executable, "-c", code, *lines]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    told = [line.split() for line in ran.stdout.splitlines() if line.startswith("ran ")]
    assert [one[1] for one in told] == ["0"] * len(lines)
    for one in told:
        assert not HEAVY & set(one[2:]), one


SLOW_TO_LOAD = {
    "alignkit._support.extras",
    "alignkit.io.compression",
    "alignkit.io.detection",
    "alignkit.io.reading",
    "alignkit.io.records",
    "alignkit.io.sniffing",
    "alignkit.model.corpus",
    "alignkit.model.labels",
    "alignkit.tables.media",
    "concurrent.futures",
    "difflib",
    "html",
    "json",
    "numpy",
    "tempfile",
    "xml.etree",
}


@pytest.mark.parametrize("command", ["agree", "score"])
def test_help_of_much_used_commands_loads_neither_detection_nor_reading(command):
    code = "import sys; from alignkit.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    words = [sys.executable, "-c", code, command, "--help"]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.splitlines()[-1].split())
    assert "alignkit.cli.common.inputs" in loaded
    assert not SLOW_TO_LOAD & loaded


def test_help_is_whole_where_python_leaves_docstrings_out():
    for command in ("score", "candidates documents"):
        words = [sys.executable, "-m", "alignkit", *command.split(), "--help-all"]
        plain, optimized = (
            subprocess.run(
                words,
                env=os.environ | {"PYTHONOPTIMIZE": level, "COLUMNS": "80"},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for level in ("", "2")
        )
        assert optimized == plain


@pytest.mark.parametrize("command", ["", *COMMANDS, *OF_PROJECTS, *OF_AUDITS])
def test_help_fits_a_screen_and_help_all_has_everything(capsys, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    short, full = (run(capsys, *command.split(), flag).out for flag in ("--help", "--help-all"))
    assert short.count("\n") <= 50
    assert short == run(capsys, "help", *command.split()).out
    assert set(re.findall(r"^  +(--[a-z-]+)", short, re.M)) <= set(re.findall(r"--[a-z-]+", full))


def test_the_completion_of_a_shell_knows_commands_and_options(capsys):
    pytest.importorskip("shtab")
    script = run(capsys, "--print-completion", "bash").out
    assert all(text in script for text in ("_shtab_alignkit_project_export", "--adjudicated"))
    run(capsys, "--print-completion", "fishy").failed("fish")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_what_a_reader_needs(capsys, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ran = run(capsys, command, "--help")
    assert " None" not in ran.out.partition("\n\n")[0]
    assert ran.code == 0
    assert ran.out.isascii()
    assert "For example:\n  alignkit " in ran.out


def test_help_is_filled_to_narrow_screens(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    help, _, _ = run(capsys, "score", "--help").out.partition("options:")
    assert max(map(len, help.splitlines())) <= 50


def test_version_and_without_a_command_the_help_on_stderr(capsys):
    assert run(capsys, "--version").out == f"alignkit {__version__}\n"
    ran = run(capsys)
    assert (ran.code, ran.out) == (2, "")
    assert "commands:" in ran.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["scor"], "did you mean 'score'?"),
        (["stats"], "required: IN"),
        (["stats", GOLD, "--fromat", "rte"], "did you mean --format?"),
        (["stats", GOLD, "more"], "unexpected argument 'more'"),
        (["stats", GOLD, "--format", "phraoh"], "did you mean 'pharaoh'?"),
        (["stats", GOLD, "--base", "2"], "argument --base"),
        (["stats", GOLD, "--encoding", "nonsense"], "nonsense"),
        (["convert", GOLD, "", "--to", "pharaoh"], "output is empty"),
        (["phrases", GOLD, "-o", "."], "is a folder"),
        (["phrases", GOLD, "--max-length", "0"], "1 or more, not '0'"),
        (["score", GOLD, GOLD, "--seed", "-1"], "0 or more, not '-1'"),
        (["score", GOLD, GOLD, "--resamples", "9" * 5000], "argument --resamples"),
        (["score", "-", "-"], "read once only"),
        (["stats", GOLD, "--target", GOLD], "--target needs --source"),
        (["stats", str(FRENCH)], "(eflomal.align); give one"),
    ],
)
def test_a_wrong_call_is_told_shortly(capsys, given, told):
    ran = run(capsys, *given).failed(told)
    assert len(ran.err.splitlines()) <= 3
    assert ran.out == ""


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("command", [name for name in READING if name != "check"])
def test_every_command_names_the_broken_file_and_line(capsys, tmp_path, command, name):
    content, told = BROKEN[name]
    path = str(tmp_path / name) if content is None else write(tmp_path, name, content)
    given = words(command, path, tmp_path)
    if command in ("symmetrize", "score"):
        given[1] = write(tmp_path, "whole", "0-0\n0-0\n")
    elif command == "score-phrases":
        given += ["--source", write(tmp_path, "text", "a b ||| c d\ne f ||| g h\n")]
    run(capsys, *given).failed(told, str(path))
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize("command", ["convert", "stats", "phrases", "show", "symmetrize", "score"])
def test_an_empty_file_is_read_and_told(capsys, tmp_path, command):
    ran = made(capsys, *words(command, write(tmp_path, "empty", ""), tmp_path))
    assert "empty: no sentence pairs" in ran.err


def test_an_undeclared_format_is_told(capsys, tmp_path):
    path = write(tmp_path, "links.wa", "1 1 1 S\n")
    assert run(capsys, "stats", path).err == f"alignkit: {path}: read as naacl\n"
    told = f"{path}:1:1: ", "the file reads as naacl: --format naacl"
    run(capsys, "stats", path, "--format", "pharaoh").failed(*told)


def test_text_of_another_length_and_links_outside_name_files_lines_and_links(capsys, tmp_path):
    short = write(tmp_path, "short.txt", "one\n")
    ran = run(capsys, "stats", GOLD, "--source", short, "--target", TEXTS[3])
    ran.failed(short, TEXTS[3], "52", "1")
    run(capsys, "stats", GOLD, "--base", "1", *TEXTS).failed(f"{GOLD}:1: ", "0-0", "--base")
    ran = made(capsys, "stats", GOLD, "--base", "1", "--drop-out-of-range", *TEXTS)
    assert f"{GOLD}: 87 x link out of range" in ran.err


def test_standard_input_and_output(capsys, monkeypatch):
    feed(monkeypatch, "0-0 1?1\n")
    ran = run(capsys, "convert", "-", "-", "--to", "naacl")
    assert (ran.code, ran.out, ran.err) == (0, "1 1 1\n1 2 2 P\n", "alignkit: -: read as pharaoh\n")
    feed(monkeypatch, (ROOT / "samples" / "paraphrases.jsonl").read_bytes())
    assert run(capsys, "stats", "-", "--json").json["pairs"] == 64


def test_a_fault_of_ours_is_one_line_too(capsys, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("at last")

    monkeypatch.setattr("alignkit.corpora.counts.count_corpus", broken)
    ran = run(capsys, "stats", GOLD)
    assert ran.code == 2
    assert "fault in alignkit" in ran.err
    assert "ZeroDivisionError in test_cli.py" in ran.err


@posix
@pytest.mark.parametrize(
    "given",
    [["--help"], ["stats", PARAPHRASES], ["convert", PARAPHRASES, "-", "--to", "alignkit-xml"]],
)
def test_a_full_disk_is_told(given):
    with open("/dev/full", "w", encoding="utf-8") as full:
        process(*given, stdout=full).failed("No space left")
    if given[0] == "convert":
        process("convert", PARAPHRASES, "/dev/full", "--to", "alignkit-xml").failed("/dev/full")


@posix
def test_a_pipe_is_read_whole():
    assert len(shell(f"ALIGNKIT convert <(cat {GOLD}) - --to pharaoh").stdout.splitlines()) == 52


@posix
def test_a_closed_pipe_is_no_error():
    piped = "- --to alignkit-xml | head -1; echo ${PIPESTATUS[0]}"
    ran = shell(f"ALIGNKIT convert {PARAPHRASES} {piped}")
    assert (ran.stdout.splitlines()[-1], ran.stderr) == ("0", "")


@posix
@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_closed_streams_are_told(closed):
    ran = shell(f"ALIGNKIT stats - {closed}")
    assert ran.returncode == 2
    assert "closed" in ran.stderr
    assert "Traceback" not in ran.stderr


@posix
@stops
def test_an_interruption_leaves_the_old_file_and_nothing_beside_it(tmp_path, name):
    pipe = tmp_path / "endless"
    os.mkfifo(pipe)
    out = tmp_path / "out.align"
    out.write_text("old")
    running = start("convert", pipe, out, "--from", "xlwa", "--to", "xlwa")
    with open(pipe, "w", encoding="utf-8") as feeding:
        feeding.write("a\tb\t0-0\n" * 10_000)
        feeding.flush()
        while not list(tmp_path.glob(".*.part")):
            time.sleep(0.01)
        os.kill(running.pid, getattr(signal, name))
        _, err = running.communicate(timeout=60)
    assert running.returncode == 128 + getattr(signal, name)
    assert (err, out.read_text()) == ("alignkit: error: interrupted; no file was changed\n", "old")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["endless", "out.align"]


AFTER = """
import importlib, os, signal, sys
import alignkit.__main__
main = importlib.import_module("alignkit.cli.main")
act, name = main._act, sys.argv.pop()
def stopped(*given, **options):
    code = act(*given, **options)
    os.kill(os.getpid(), getattr(signal, name))
    return code
main._act = stopped
if name == "SIGHUP":  # which is ignored under nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if name == "SIGINT":  # which is ignored in a shell's background
    signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(alignkit.__main__.main())
"""


@posix
@stops
def test_an_interruption_at_the_end_says_that_the_files_are_written(tmp_path, name):
    words = ["convert", PARAPHRASES, tmp_path / "out", "--to", "pharaoh", "--annotator", "gold"]
    command = [sys.executable, "-c", AFTER, *words, "--quiet", name]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 128 + getattr(signal, name)
    assert ran.stderr == "alignkit: error: interrupted; all files were already written\n"


def test_words_of_any_script_pass_an_ascii_terminal(tmp_path):
    links = write(tmp_path, "a", "0-0\n")
    texts = write(tmp_path, "t", "日本 ||| שלום\n")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    ran = process("phrases", links, "--source", texts, env=environment)
    assert ran.out == "1\t0\t1\t0\t1\tatomic\t日本\tשלום\n"
    assert process("show", links, "--source", texts, env=environment).code == 0


def test_no_colour_is_heeded(capsys):
    given = "show", PARAPHRASES, "--id", "p05", "--annotators", "anna", "ben"
    assert "\x1b[" not in run(capsys, *given).out
    assert "\x1b[" in run(capsys, *given, "--colour", "always").out
    assert run(capsys, *given, "--ascii", "--colour", "never").out.isascii()
