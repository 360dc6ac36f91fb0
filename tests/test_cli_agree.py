"""`alignkit agree`: the tables, every option, JSON, CSV, LaTeX, Markdown, and errors."""

import csv
import io
import re
from dataclasses import fields

import pytest
from command import GOLD, PARAPHRASES, TEXTS, process, run, write

from alignkit import Alignment, Corpus, SentencePair, read_corpus, write_corpus
from alignkit.agreement import LEVELS, AgreementOptions, agree
from alignkit.agreement.overlaps import overlap
from alignkit.cli.evaluate.agree import add_arguments
from alignkit.cli.parser import Parser

TWO = ("agree", PARAPHRASES, "--annotators", "anna", "ben")
FULL = (*TWO, "--initial", "initial")
QUICK = ("--samples", "20", "--resamples", "20")


@pytest.fixture(scope="module")
def corpus():
    return read_corpus(PARAPHRASES, format="alignkit-jsonl")


def made(capsys, *given):
    ran = run(capsys, *given)
    assert ran.code == 0, ran.err
    return ran


def beyond(capsys, *given, level="phrases.sure"):
    first = made(capsys, *given, "--json").json["pairings"][0]
    return first["beyond_chance"][first["chance"]][level]


def rows(capsys, *given):
    return list(csv.DictReader(io.StringIO(made(capsys, *given, "--csv").out)))


def table(text, title):
    block = next(part for part in re.split(r"\n\n(?=[A-Z])", text) if part.startswith(title))
    labels = r"^((?:\S+(?:, \S+| 2)?  +)?\S+(?: \S+)*?)   +(\S.*)$"
    return {
        " ".join(found[1].split()): found[2].split() for found in re.finditer(labels, block, re.M)
    }


def percents(values):
    return [f"{100 * value:.1f}" for value in values]


def test_what_is_printed_is_the_agreement(capsys, corpus):
    found = agree(corpus, ["anna", "ben"], initial="initial", samples=20, resamples=20)
    assert made(capsys, *FULL, *QUICK).out == f"{found}\n"
    assert made(capsys, *FULL, *QUICK, "--json").json == found.to_json()
    assert made(capsys, *FULL, *QUICK, "--latex").out == f"{found.show('latex')}\n"
    titles = [table.title for table in found.tables()]
    text = made(capsys, *FULL, *QUICK, "--markdown").out
    assert re.findall(r"^\*\*(.*)\*\*$", text, re.M)[: len(titles)] == titles


def test_the_automatic_alignment_is_compared_with_each_annotator(capsys, corpus):
    found = table(made(capsys, *FULL, *QUICK).out, "Human ~ automatic: phrase pairs")
    assert [name for name in found if "sure" in name] == [
        f"sure {name}" for name in ("initial ~ anna", "initial ~ ben", "mean")
    ]
    row = overlap(corpus, "initial", "anna").phrases_sure
    assert found["sure initial ~ anna"][:2] == percents((row.precision, row.recall))
    text = made(capsys, *FULL, *QUICK, "--system", "gold").out
    assert "sure gold ~ anna" in table(text, "Human ~ automatic: words")
    plain = made(capsys, *TWO, "--system", "initial", "gold").out
    assert "sure gold ~ ben" in table(plain, "Human ~ automatic: words")


def test_without_an_initial_alignment_everything_is_there_and_what_c_needs_is_told(
    capsys, tmp_path
):
    text = made(capsys, *TWO).out
    assert "Chance (kupper-hafner)" in text
    assert "--initial NAME (here perhaps one of initial, gold)" in text
    assert made(capsys, *TWO, "--json").json["pairings"][0]["chance"] == "kupper-hafner"
    for more in (("--confidence", "0.9"), ("--resamples", "9"), ("--bootstrap", "none")):
        assert "C of words" in made(capsys, *TWO, *more).out
    assert "adjudicated version (gold)" in made(capsys, *TWO, "--adjudicated", "gold").out
    files = []
    for name in ("anna", "ben"):
        files.append(tmp_path / f"{name}.tsv")
        made(capsys, "convert", PARAPHRASES, files[-1], "--to", "multimwa", "--annotator", name)
    assert "'merge' adds it" in made(capsys, "agree", *files, "--format", "multimwa").out


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        (("--normalizer", "max"), {"normalizer": "max"}),
        (("--aggregate", "micro"), {"aggregate": "micro"}),
        (("--chance", "edit-split"), {"chance": "edit-split"}),
        (("--chance", "edit-strata"), {"chance": "edit-strata"}),
        (("--chance", "kupper-hafner"), {"chance": "kupper-hafner"}),
        (("--reading", "probability"), {"reading": "probability"}),
        (("--include-identical",), {"ignore_identical": False}),
        (("--exact-case",), {"exact_case": True}),
        (("--universe", "all"), {"universe": "all"}),
        (("--missing-initial", "leave-out"), {"missing_initial": "leave-out"}),
        (("--tolerance", "0.01"), {"tolerance": 0.01}),
        (("--bootstrap", "refit"), {"bootstrap": "refit"}),
        (("--confidence", "0.5"), {"confidence": 0.5}),
        (("--resamples", "9"), {"resamples": 9}),
        (("--samples", "33"), {"samples": 33}),
        (("--seed", "7"), {"seed": 7}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_each_option_reaches_the_library(capsys, corpus, options, changed):
    given = {"samples": 150, "resamples": 20} | changed
    expected = agree(corpus, ["anna", "ben"], initial="initial", **given)
    usual = [] if "--samples" in options else ["--samples", "150"]
    usual += [] if "--resamples" in options else ["--resamples", "20"]
    found = made(capsys, *FULL, *usual, *options, "--json").json
    assert found == expected.to_json()


def test_the_options_are_those_of_the_library(capsys):
    parser = Parser(prog="x")
    add_arguments(parser)
    actions = {action.dest: action for action in parser._actions}
    for one in fields(AgreementOptions):
        action = actions[one.name]
        assert tuple(action.choices or ()) == one.metadata["choices"]
        told = " ".join(action.help.split())
        assert one.metadata["help"] in told
        if not isinstance(one.default, bool) and one.default is not None:
            assert f"(default: {one.default})" in told


def test_the_adjudicated_version_is_compared(capsys, corpus):
    found = made(capsys, *FULL, "--adjudicated", "gold", *QUICK, "--json").json
    assert [
        (one["first"], one["second"]) for one in found["pairings"] if one["kind"] == "adjudicated"
    ] == [("anna", "gold"), ("ben", "gold")]
    text = made(capsys, "agree", PARAPHRASES, "--initial", "initial", "--adjudicated", "gold",
                *QUICK).out  # fmt: skip
    assert text.startswith("Agreement of anna, ben:")
    assert "inflated" in " ".join(text.split())
    row = overlap(corpus, "anna", "gold").phrases_sure
    lines = table(text, "Each annotator ~ the adjudicated version (gold): phrase pairs")
    assert lines["sure anna ~ gold"][2] == percents([row.f1])[0]


def test_three_annotators_have_a_mean_and_the_majority_of_the_others(capsys):
    three = ("agree", PARAPHRASES, "--annotators", "anna", "ben", "gold", "--initial", "initial")
    text = made(capsys, *three, *QUICK, "--by", "genre").out
    means = ("news, mean", "novel, mean", "question, mean")
    rows = (*means, "anna ~ ben", "anna ~ gold", "ben ~ gold", "mean")
    assert [name for name in table(text, "Phrase pairs") if name.startswith("poss")] == [
        f"poss {name}" for name in rows
    ]
    others = table(text, "Each annotator ~ the majority of the others: words")
    assert [name for name in others if name.startswith("sure")] == [
        f"sure {name} ~ others" for name in ("anna", "ben", "gold")
    ]


def test_json_has_the_documented_keys(capsys):
    plain = made(capsys, *TWO, "--json").json
    found = made(capsys, *FULL, *QUICK, "--json").json
    assert list(found) == [
        *("annotators", "initial", "adjudicated", "systems", "by", "split", "in_several_groups"),
        *("seed", "options", "sections"),
        *("fleiss_kappa", "figures", "pairings", "together", "cautions", "signature"),
    ]
    assert list(plain) == list(found)
    assert plain["fleiss_kappa"] == found["fleiss_kappa"]
    first = found["pairings"][0]
    assert set(first["beyond_chance"]["edit"]) == set(LEVELS)
    one = first["beyond_chance"]["edit"]["phrases.sure"]
    assert {"pi", "pi0", "C", "C_error", "interval", "pairs", "models", "sentences"} <= set(one)
    assert len(one["distribution"]) == 20
    assert set(one["models"]) == {"anna", "ben"}
    other = first["beyond_chance"]["edit-split"]["phrases.sure"]
    assert "sentences" not in other
    assert "a" in other["models"]["anna"]["add"]


def test_latex_has_as_many_cells_as_columns(capsys):
    for given in (FULL, TWO):
        text = made(capsys, *given, *(QUICK if given is FULL else ()), "--latex").out
        tables = re.findall(r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\\end\{tabular\}", text, re.S)
        assert len(tables) > 8
        for columns, body in tables:
            lines = [
                line for line in body.splitlines() if "rule" not in line and "space" not in line
            ]
            for line in lines:
                assert line.endswith(r" \\")
                spans = [int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line)]
                assert line.count(" & ") + 1 + sum(spans) == len(columns)
        assert all(line.startswith(("%", "\\")) or " & " in line or not line
                   for line in text.splitlines())  # fmt: skip


def test_what_is_undefined_is_a_dash_and_said_why(capsys, tmp_path):
    text = "0-0 1-1\n"
    paths = [write(tmp_path, f"{name}.align", text) for name in ("a", "b", "start")]
    words = write(tmp_path, "words", "x y ||| v w\n")
    given = ("agree", *paths, "--source", words, "--initial", "start")
    ran = made(capsys, *given)
    assert table(ran.out, "Phrase pairs")["sure a ~ b"][-5:-3] == ["-", "(b)"]
    assert "pi0 is 1" in ran.out
    assert "nobody edits" in " ".join(ran.out.split())
    found = beyond(capsys, *given)
    assert found["C"] is None
    assert found["undefined"]
    (row,) = (
        row
        for row in rows(capsys, *given)
        if (row["kind"], row["level"], row["statistic"]) == ("annotators", "words.sure", "C")
    )
    assert row["value"] == ""
    assert "pi0 is 1" in row["reason"]
    assert "nan" not in made(capsys, *given, "--latex").out


def test_a_page_is_written_beside_the_tables(capsys, tmp_path):
    pytest.importorskip("alignkit.agreement.page")
    page = tmp_path / "page.html"
    for given in ((*FULL, *QUICK), TWO):
        assert "Side by side" in made(capsys, *given, "--html", page).out
        assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    run(capsys, *FULL, "--html", tmp_path).failed("is a folder")


def test_figures_are_written_beside_the_tables(capsys, tmp_path):
    pytest.importorskip("alignkit.agreement.page")
    picture = tmp_path / "figure.svg"
    assert "Side by side" in made(capsys, *FULL, *QUICK, "--plot", picture).out
    assert "<svg" in picture.read_text(encoding="utf-8")
    run(capsys, *FULL, *QUICK, "--plot", tmp_path / "figure.doc").failed("figure.doc")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--initial", "intial"), ("'intial'", "did you mean 'initial'", "anna, ben, gold")),
        (("--chance", "edit"), ("--initial NAME", "--missing-initial empty")),
        (("--bootstrap", "none", "--resamples", "9"), ("--resamples", "--bootstrap none")),
        (("--exact-case", "--include-identical"), ("--exact-case", "--include-identical")),
        (("--in-order",), ("--in-order", "several files")),
        (("--universe", "judged"), ("--universe all", "labels")),
        (("--initial", "anna"), ("'anna' is the initial alignment",)),
        (("--initial", "initial", "--adjudicated", "x"), ("unknown annotator 'x'", "gold")),
        (("--initial", "initial", "--samples", "1"), ("--samples", "at least 2")),
        (("--initial", "initial", "--workers", "0"), ("--workers", "1 or more")),
        (("--initial", "initial", "--chance", "x"), ("--chance", "edit-split")),
        (("--function-words", "english"), ("--function-words", "--html")),
        (("--json", "--csv"), ("--csv", "--json")),
    ],
    ids=" ".join,
)
def test_errors_say_what_to_do(capsys, given, told):
    run(capsys, *TWO, *given).failed(*told)


def test_a_pair_without_an_initial_alignment_is_an_error_that_names_the_ways_out(capsys, tmp_path):
    lines = read_corpus(PARAPHRASES, format="alignkit-jsonl")
    first = lines[0]
    kept = {name: one for name, one in first.annotations.items() if name != "initial"}
    path = tmp_path / "some.jsonl"
    bare = SentencePair(first.id, *first.words, kept, first.attributes)
    write_corpus(Corpus([bare, *list(lines)[1:]]), path, format="alignkit-jsonl")
    given = ("agree", path, "--annotators", "anna", "ben", "--initial", "initial", *QUICK)
    run(capsys, *given).failed("'p01'", "--missing-initial", "leave-out")
    for way, used in (("empty", 64), ("leave-out", 63)):
        found = beyond(capsys, *given, "--missing-initial", way, level="phrases.possible")
        assert found["pairs"]["used"] == used


def test_words_are_needed(capsys):
    other = GOLD.replace("gold", "eflomal")
    run(capsys, "agree", GOLD, other, "--missing-initial", "empty").failed("--source and --target")
    given = ("agree", GOLD, other, *TEXTS, "--missing-initial", "empty", *QUICK)
    assert "gold ~ eflomal" in made(capsys, *given).out


def test_nothing_goes_to_stderr(tmp_path):
    ran = process(*FULL, *QUICK, cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.slow
@pytest.mark.real_data
def test_goldalign_gives_a_full_report_in_one_command(capsys, data):
    users = ("demo-user-1", "demo-user-2")
    given = ("agree", data / "goldalign", "--format", "goldalign", "--annotators", *users)
    ran = made(capsys, *given, "--initial", "initial", "--adjudicated", "arbit")
    assert "Each annotator ~ the adjudicated version (arbit)" in ran.out
    phrases = table(ran.out, "Phrase pairs")
    name = "demo-user-1 ~ demo-user-2"
    assert float(phrases[f"poss {name}"][5]) == pytest.approx(0.414, abs=0.005)
    assert float(phrases[f"sure {name}"][5]) == pytest.approx(0.016, abs=0.02)
    assert phrases[f"sure {name}"][-3:] == ["153", "459", "90"]


@pytest.mark.slow
@pytest.mark.real_data
def test_rte_has_three_annotators_and_an_initial_alignment_of_ones_choice(capsys, data, tmp_path):
    files = [data / "rte2" / f"RTE2_dev_{name}.align.txt" for name in "ABC"]
    quick = ("--samples", "10", "--bootstrap", "none")
    given = ("agree", *files, "--format", "rte")
    found = made(capsys, *given, "--missing-initial", "empty", *quick, "--json").json
    assert round(found["fleiss_kappa"], 5) == 0.73364
    kinds = [one["kind"] for one in found["pairings"]]
    assert kinds == ["annotators"] * 3 + ["consensus"] * 3
    means = next(one for one in found["figures"] if one["kind"] == "mean")
    assert 0.6 < means["sections"]["all"]["phrases.sure"]["C"]["value"] < 0.8
    joined = tmp_path / "rte.jsonl"
    corpus = read_corpus(files[0], format="rte")
    diagonal = "".join(
        " ".join(f"{k}-{k}" for k in range(min(pair.lengths))) + "\n" for pair in corpus
    )
    made(
        capsys, "merge", files[0], "--format", "rte", "--name", "A", "-o", joined,
        "--add", f"B={files[1]}:rte", "--add", f"C={files[2]}:rte", "--in-order",
        "--add", f"diagonal={write(tmp_path, 'diagonal.align', diagonal)}:pharaoh",
    )  # fmt: skip
    text = made(capsys, "agree", joined, "--initial", "diagonal", *quick).out
    assert list(table(text, "Human ~ automatic: words"))[-1] == "eq. 2 mean"
    assert "diagonal ~ C" in text


def test_files_of_one_annotator_each_are_called_by_their_names(capsys, tmp_path):
    pair = SentencePair("1", ["a", "b"], ["c", "d"])
    both = [pair.with_annotation(name, Alignment.parse("0-0 1-1")) for name in ("first", "second")]
    for one, name in zip(both, ("anna", "ben"), strict=True):
        write_corpus(Corpus([one]), tmp_path / f"{name}.jsonl", format="alignkit-jsonl")
    files = [tmp_path / f"{name}.jsonl" for name in ("anna", "ben")]
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
    told = run(capsys, "agree", tmp_path / "no such corpus", option, place)
    assert (told.code, "there is no folder" in told.err) == (2, True)
    assert run(capsys, *TWO, option, "-").code == 2


def test_groups_by_several_values_in_one_attribute(capsys):
    ran = made(capsys, *TWO, "--by", "phenomena", "--split", ",", "--resamples", "5", "--json")
    by_value = read_corpus(PARAPHRASES).groups("phenomena", split=",")
    assert ran.json["sections"] == ["all", *by_value]
    used = {name: part["used"] for name, part in ran.json["together"].items()}
    assert used["negation"] == len(by_value["negation"].annotated_by("anna", "ben"))
    assert ran.json["in_several_groups"] > 0
    run(capsys, *TWO, "--split", ",").failed("--split is for --by")
