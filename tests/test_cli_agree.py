"""`alignkit agree`: the tables, every option, JSON, CSV, LaTeX, Markdown, and errors."""

import csv
import io
import re

import pytest
from command import GOLD, PARAPHRASES, TEXTS, made, process, run, write
from refusals import refuses

from alignkit import Alignment, Corpus, SentencePair, read_corpus, write_corpus
from alignkit._support.options import options_of
from alignkit.agreement import AgreementOptions, agree
from alignkit.cli.evaluate.agree import add_arguments
from alignkit.cli.options import made as made_options
from alignkit.cli.parser import Parser
from alignkit.errors import OptionError

TWO = ("agree", PARAPHRASES, "--annotators", "anna", "ben")
FULL = (*TWO, "--initial", "eflomal")
QUICK = ("--samples", "20", "--resamples", "20")
OPTIONS = {
    "--normalizer max": {"normalizer": "max"},
    "--aggregate micro": {"aggregate": "micro"},
    "--chance edit-strata": {"chance": "edit-strata"},
    "--reading probability": {"reading": "probability"},
    "--include-identical": {"ignore_identical": False},
    "--exact-case": {"exact_case": True},
    "--universe judged": {"universe": "judged"},
    "--missing-initial leave-out": {"missing_initial": "leave-out"},
    "--tolerance 0.01": {"tolerance": 0.01},
    "--bootstrap refit": {"bootstrap": "refit"},
    "--confidence 0.5": {"confidence": 0.5},
    "--resamples 9": {"resamples": 9},
    "--samples 33": {"samples": 33},
    "--annotators a b": {"annotators": ["a", "b"]},
    "--initial x": {"initial": "x"},
    "--adjudicated x": {"adjudicated": "x"},
    "--systems x y": {"systems": ["x", "y"]},
    "--by genre": {"by": "genre"},
    "--by genre --split ,": {"by": "genre", "split": ","},
    "--seed 7": {"seed": 7},
    "--workers 2": {"workers": 2},
}


@pytest.fixture(scope="module")
def corpus():
    return read_corpus(PARAPHRASES, format="alignkit-jsonl")


@pytest.fixture(scope="module")
def few(corpus, tmp_path_factory):
    """Sixteen pairs, and the words of a command that compares two annotators on them."""
    path = str(tmp_path_factory.mktemp("few") / "few.jsonl")
    write_corpus(corpus[:16], path, format="alignkit-jsonl")
    command = ("agree", path, "--annotators", "anna", "ben", "--initial", "eflomal")
    return corpus[:16], (*command, *QUICK)


def beyond(capsys, *given, level="phrases.sure"):
    first = made(capsys, *given, "--json").json["pairings"][0]
    return first["beyond_chance"][first["chance"]][level]


def test_what_is_printed_is_the_agreement(capsys, corpus, monkeypatch):
    found = agree(corpus, ["anna", "ben"], initial="eflomal", samples=20, resamples=20)
    assert made(capsys, *FULL, *QUICK, "--json").json == found.to_json()
    # the other forms show the same, which need not be computed for each
    monkeypatch.setattr("alignkit.agreement.question.agree", lambda *_, **options: found)
    command, _, more = made(capsys, *FULL, *QUICK).out.rpartition("\n\n")
    assert command == str(found).rpartition("\n\n")[0]
    given = more.split("--tables ")[1].split(";")[0]
    assert made(capsys, *FULL, *QUICK, "--tables", given).out.count("no such figures") == 0
    assert all(f"--{flag}" in more for flag in ("all", "html FILE"))
    latex = found.show("latex", label="agreement-paraphrases")
    assert made(capsys, *FULL, *QUICK, "--latex").out == f"{latex}\n"
    assert made(capsys, *FULL, *QUICK, "--all").out == f"{found.show(tables='all')}\n"
    tables = made(capsys, *FULL, *QUICK, "--tables", "cells,cautions").out
    assert tables == f"{found.show(tables=['cells', 'cautions'])}\n"
    assert tables.startswith("All cells")
    run(capsys, *FULL, *QUICK, "--tables", "cels").failed("unknown table 'cels'", "cells")
    run(capsys, *FULL, *QUICK, "--tables", "cells", "--csv").failed("--tables or --csv")
    refuses(OptionError, "as a list", found.show, tables="cells")
    titles = [table.title for table in found.tables()]
    text = made(capsys, *FULL, *QUICK, "--markdown", "--all").out
    assert re.findall(r"^\*\*(.*)\*\*$", text, re.M)[: len(titles)] == titles


def test_each_option_is_one_of_the_library():
    parser = Parser(prog="x")
    add_arguments(parser)
    assert made_options(AgreementOptions, parser.parse_args(["corpus"])) == AgreementOptions()
    for text, changed in OPTIONS.items():
        given = parser.parse_args(["corpus", *text.split()])
        assert made_options(AgreementOptions, given) == AgreementOptions(**changed)
    actions = {action.dest: action for action in parser._actions}
    for option in options_of(AgreementOptions):
        if option.name not in actions:
            assert option.about.python
            continue
        assert any(option.name in changed for changed in OPTIONS.values())
        assert tuple(actions[option.name].choices or ()) == option.choices
        assert option.about.help in " ".join(actions[option.name].help.split())
        assert (option.flag in parser.rare) == option.about.rare


def test_seed_and_options_reach_the_library(capsys, few):
    corpus, command = few
    options = {"samples": 20, "resamples": 20, "chance": "edit-split", "confidence": 0.5}
    expected = agree(corpus, ["anna", "ben"], initial="eflomal", seed=7, **options)
    given = ("--seed", "7", "--chance", "edit-split", "--confidence", "0.5", "--json")
    assert made(capsys, *command, *given).json == expected.to_json()


def test_a_page_and_figures_are_written_beside_the_tables(capsys, few, tmp_path):
    command = few[1]
    page, picture = tmp_path / "page.html", tmp_path / "figure.svg"
    for given in ((*command, "--plot", picture), (*TWO, "--resamples", "20")):
        assert "Words: anna ~ ben" in made(capsys, *given, "--html", page).out
        assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "<svg" in picture.read_text(encoding="utf-8")
    run(capsys, *FULL, "--html", tmp_path).failed("is a folder")
    run(capsys, *command, "--plot", tmp_path / "figure.doc").failed("figure.doc")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--initial", "eflomall"), ("did you mean 'eflomal'",)),
        (("--chance", "edit"), ("--initial", "--missing-initial empty")),
        (("--bootstrap", "none", "--resamples", "9"), ("--resamples", "--bootstrap none")),
        (("--exact-case", "--include-identical"), ("--exact-case", "--include-identical")),
        (("--in-order",), ("--in-order",)),
        (("--universe", "judged"), ("--universe all",)),
        (("--initial", "anna"), ("the initial alignment",)),
        (("--initial", "eflomal", "--samples", "1"), ("--samples",)),
        (("--initial", "eflomal", "--workers", "0"), ("--workers",)),
        (("--function-words", "english"), ("--html",)),
        (("--json", "--csv"), ("--csv", "--json")),
    ],
    ids=" ".join,
)
def test_errors_name_the_options_of_the_command(capsys, given, words):
    run(capsys, *TWO, *given).failed(*words)


def test_the_adjudicated_version_is_compared(capsys, few):
    found = made(capsys, *few[1], "--adjudicated", "gold", "--json").json
    pairings = [one for one in found["pairings"] if one["kind"] == "adjudicated"]
    assert [(x["first"], x["second"]) for x in pairings] == [("anna", "gold"), ("ben", "gold")]


def test_what_is_undefined_is_a_dash_and_said_why(capsys, tmp_path):
    paths = [write(tmp_path, f"{name}.align", "0-0 1-1\n") for name in ("a", "b", "start")]
    words = write(tmp_path, "words", "x y ||| v w\n")
    given = ("agree", *paths, "--source", words, "--initial", "start")
    assert "C has no value" in made(capsys, *given).out
    ran = made(capsys, *given, "--all")
    assert re.search(r"Phrase pairs: a ~ b .*\n.*\nall links .* - \(\w\) ", ran.out)
    assert "pi0 is 1" in ran.out
    assert "nobody edits" in " ".join(ran.out.split())
    found = beyond(capsys, *given)
    assert found["C"] is None
    assert found["undefined"]
    assert "nan" not in made(capsys, *given, "--latex").out
    of = "annotators", "words.sure", "C"
    rows = csv.DictReader(io.StringIO(made(capsys, *given, "--csv").out))
    found = {(row["kind"], row["level"], row["statistic"]): row for row in rows}
    assert found[of]["value"] == ""
    assert "pi0 is 1" in found[of]["reason"]


def test_a_pair_without_an_initial_alignment_is_an_error_that_names_the_ways_out(capsys, tmp_path):
    first, *others = read_corpus(PARAPHRASES, format="alignkit-jsonl")[:16]
    path = tmp_path / "some.jsonl"
    write_corpus([first.without_annotations("eflomal"), *others], path, format="alignkit-jsonl")
    given = ("agree", path, "--annotators", "anna", "ben", "--initial", "eflomal", *QUICK)
    run(capsys, *given).failed("'p01'", "--missing-initial", "leave-out")
    for way, used in (("empty", 16), ("leave-out", 15)):
        found = beyond(capsys, *given, "--missing-initial", way, level="phrases.possible")
        assert found["pairs"]["used"] == used


def test_words_are_needed(capsys):
    other = GOLD.replace("gold", "eflomal")
    run(capsys, "agree", GOLD, other, "--missing-initial", "empty").failed("--source and --target")
    given = ("agree", GOLD, other, *TEXTS, "--missing-initial", "empty", *QUICK)
    assert "gold ~ eflomal" in made(capsys, *given).out


def test_nothing_goes_to_stderr(few, tmp_path):
    ran = process(*few[1], cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")


def test_files_of_one_annotator_each_are_called_by_their_names(capsys, tmp_path):
    files = [tmp_path / f"{name}.jsonl" for name in ("anna", "ben")]
    for path, name in zip(files, ("first", "second"), strict=True):
        pair = SentencePair("1", ["a", "b"], ["c", "d"], {name: Alignment.parse("0-0 1-1")})
        write_corpus(Corpus([pair]), path, format="alignkit-jsonl")
    assert made(capsys, "agree", *files, "--json").json["annotators"] == ["anna", "ben"]
    # but for a name that an option asks for
    initial = ("--initial", "first", "--annotators", "ben", "ben2")
    again = tmp_path / "ben2.jsonl"
    again.write_bytes(files[1].read_bytes())
    found = made(capsys, "agree", *files, again, *initial, *QUICK, "--json").json
    assert (found["annotators"], found["initial"]) == (["ben", "ben2"], "first")


@pytest.mark.parametrize("option", ["--html", "--plot"])
def test_places_that_cannot_be_written_are_told_before_any_work(capsys, tmp_path, option):
    place = tmp_path / "none" / "report.svg"
    run(capsys, "agree", tmp_path / "no such corpus", option, place).failed("there is no folder")
    assert run(capsys, *TWO, option, "-").code == 2
