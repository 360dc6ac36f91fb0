"""`alignkit agree`: the article's tables, every option of C, JSON, CSV, LaTeX, and errors."""

import csv
import io
import re
from math import isnan

import pytest
from command import GOLD, PARAPHRASES, TEXTS, process, run, write

from alignkit import Corpus, SentencePair, read_corpus, write_corpus
from alignkit.agreement import LEVELS, agreement, full_agreement, overlap
from alignkit.agreement.corrected_settings import CHOICES, CorrectedSettings
from alignkit.agreement.everyone import ADJUDICATED_WARNING
from alignkit.agreement.full_records import COLUMNS
from alignkit.cli.agree import add_arguments
from alignkit.cli.parser import Parser
from alignkit.report.latex import escape, latex_table

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


def corrected(capsys, *given):
    """Return the sure phrase pairs of the first two annotators."""
    return made(capsys, *given, "--json").json["corrected"]["phrases-sure"]["pairs"][0]


def rows(capsys, *given):
    return list(csv.DictReader(io.StringIO(made(capsys, *given, "--csv").out)))


def table(text, title):
    """Return the lines of a table by their first words, each as the words behind them."""
    block = next(part for part in text.split("\n\n") if part.startswith(title))
    return {found[1]: found[2].split() for found in re.finditer(r"^(\S.*?)  +(\S.*)$", block, re.M)}


def test_the_tables_show_what_the_library_computes(capsys, corpus):
    text = made(capsys, *FULL, "--by", "genre").out
    for title, unit, level in (("Phrase pairs", "phrases", "phrases"), ("Words", "links", "words")):
        found = table(text, title)
        assert list(found) == ["news", "novel", "question", "all"]
        expected = []
        for links in ("possible", "sure"):
            row = overlap(corpus, "anna", "ben").rows()[f"{level}.{links}"]
            result = agreement(
                corpus, "anna", "ben", initial="initial", unit=unit, links=links, rng=12345
            )
            expected += [f"{100 * value:.1f}" for value in (row.precision, row.recall, row.f1)]
            interval = result.interval
            expected += f"{result.C:.3f} [{interval.low:.3f}, {interval.high:.3f}]".split()
        assert found["all"] == ["64", *expected]


def test_the_automatic_alignment_is_compared_with_each_annotator(capsys, corpus):
    found = table(made(capsys, *FULL, *QUICK).out, "Human ~ automatic: phrase pairs")
    assert list(found) == ["initial ~ anna", "initial ~ ben", "mean"]
    row = overlap(corpus, "initial", "anna").phrases_sure
    assert found["initial ~ anna"][7:9] == [f"{100 * row.precision:.1f}", f"{100 * row.recall:.1f}"]
    text = made(capsys, *FULL, *QUICK, "--system", "gold").out
    assert list(table(text, "Human ~ automatic")) == ["gold ~ anna", "gold ~ ben", "mean"]
    plain = made(capsys, *TWO, "--system", "initial", "gold").out
    assert "gold ~ ben" in table(plain, "Human ~ automatic")


def test_statistics_stand_side_by_side(capsys, corpus):
    text = made(capsys, *FULL, *QUICK).out
    found = table(text, "Side by side")
    assert [len(row) for row in list(found.values())[:4]] == [5, 5, 8, 8]
    report = run(capsys, *FULL, *QUICK, "--json").json
    comparison = report["comparisons"][0]
    sure = found["words, sure"]
    assert sure[5:7] == [f"{comparison['cells']['sure'][name]:.3f}" for name in ("kappa", "ac1")]
    assert sure[7] == f"{comparison['alpha']['sure']['masi']['alpha']:.3f}"
    assert f"Fleiss' kappa of all annotators: {report['fleiss_kappa']:.3f}" in text


def test_without_an_initial_alignment_the_report_says_what_c_needs(capsys, tmp_path):
    text = made(capsys, *TWO).out
    assert "Krippendorff's alpha" in text
    assert "--initial NAME (here perhaps one of initial, gold)" in text
    assert made(capsys, *TWO, "--json").json["corrected"] is None
    files = []
    for name in ("anna", "ben"):
        files.append(tmp_path / f"{name}.tsv")
        made(capsys, "convert", PARAPHRASES, files[-1], "--to", "multimwa", "--annotator", name)
    assert (
        "'alignkit align' makes one, 'merge' adds it"
        in made(capsys, "agree", *files, "--format", "multimwa").out
    )


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        (("--normalizer", "max"), {"normalizer": "max"}),
        (("--aggregate", "micro"), {"aggregate": "micro"}),
        (("--chance", "edit-split"), {"chance": "edit-split"}),
        (("--chance", "kupper-hafner"), {"chance": "kupper-hafner"}),
        (("--reading", "probability"), {"reading": "probability"}),
        (("--include-identical",), {"include_identical": True}),
        (("--missing-initial", "leave-out"), {"missing_initial": "leave-out"}),
        (("--tolerance", "0.01"), {"tolerance": 0.01}),
        (("--bootstrap", "refit"), {"bootstrap": "refit"}),
        (("--bootstrap", "none"), {"bootstrap": "none"}),
        (("--confidence", "0.5"), {"confidence": 0.5}),
        (("--resamples", "9"), {"resamples": 9}),
        (("--seed", "7"), {"rng": 7}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_each_option_reaches_the_library(capsys, corpus, options, changed):
    given = {"initial": "initial", "samples": 150, "resamples": 20, "rng": 12345} | changed
    expected = agreement(corpus, "anna", "ben", **given).to_json()
    found = corrected(capsys, *FULL, "--samples", "150", "--resamples", "20", *options)
    assert {name: found[name] for name in expected} == expected


def test_defaults_are_those_of_the_library(capsys):
    parser = Parser(prog="x")
    add_arguments(parser)
    actions = {action.dest: action for action in parser._actions}
    settings = CorrectedSettings()
    for name in ("missing_initial", "chance", "reading", "normalizer", "aggregate", "bootstrap"):
        assert actions[name].choices == CHOICES[name]
        assert f"(default: {getattr(settings, name)})" in " ".join(actions[name].help.split())
    for name in ("samples", "resamples", "confidence"):
        assert f"(default: {getattr(settings, name)})" in actions[name].help


def test_any_number_of_workers_gives_the_same(capsys):
    one, two = (
        made(capsys, *FULL, "--by", "genre", "--json", *QUICK, "--workers", n).out for n in "12"
    )
    assert one == two


def test_the_adjudicated_version_comes_with_a_warning(capsys, corpus):
    found = made(capsys, *FULL, "--adjudicated", "gold", *QUICK, "--json").json["corrected"]
    assert [one["annotators"] for one in found["phrases-sure"]["adjudicated"]] == [
        ["anna", "gold"],
        ["ben", "gold"],
    ]
    assert ADJUDICATED_WARNING in found["warnings"]
    text = made(capsys, "agree", PARAPHRASES, "--initial", "initial", "--adjudicated", "gold").out
    assert text.startswith("Agreement of anna, ben:")
    assert "agreement with it is inflated" in " ".join(text.split())
    row = overlap(corpus, "anna", "gold").phrases_sure
    assert table(text, "Each annotator with the adj")["anna"][3] == f"{100 * row.f1:.1f}"


def test_three_annotators_have_a_mean_and_the_majority_of_the_others(capsys):
    three = ("agree", PARAPHRASES, "--annotators", "anna", "ben", "gold", "--initial", "initial")
    text = made(capsys, *three, *QUICK, "--by", "genre").out
    assert list(table(text, "Phrase pairs")) == [
        *("news", "novel", "question", "anna ~ ben", "anna ~ gold", "ben ~ gold", "mean")
    ]
    assert list(table(text, "Each annotator with the majority"))[-3:] == ["anna", "ben", "gold"]
    found = made(capsys, *three, *QUICK, "--json").json["corrected"]["links-possible"]
    used = [one["pairs"]["used"] for one in found["pairs"]]
    values = [one["C"] for one in found["pairs"]]
    mean = sum(n * value for n, value in zip(used, values, strict=True)) / sum(used)
    assert found["mean"]["C"] == pytest.approx(mean)
    assert f"{mean:.3f}" in table(text, "Words")["mean"]


def test_json_keeps_the_old_keys_and_adds_what_is_beyond_chance(capsys):
    old = made(capsys, *TWO, "--json").json
    new = made(capsys, *FULL, *QUICK, "--json").json
    same = {"automatic", "corrected"}
    assert {k: v for k, v in new.items() if k not in same} == {
        k: v for k, v in old.items() if k not in same
    }
    assert isinstance(new["fleiss_kappa"], float)
    found = new["corrected"]
    assert set(found) == {
        *LEVELS,
        *("initial", "missing_initial", "chance", "adjudicated", "warnings", "signature"),
    }
    assert found["chance"] == {"annotators": "edit", "automatic": "kupper-hafner"}
    one = found["phrases-sure"]["pairs"][0]
    assert {"pi", "pi0", "C", "C_error", "interval", "pairs", "models", "sentences"} <= set(one)
    assert len(one["distribution"]) == 20
    assert set(one["models"]) == {"anna", "ben"}


def test_csv_is_one_flat_table(capsys):
    found = rows(capsys, *FULL, *QUICK, "--by", "genre", "--adjudicated", "gold")
    assert tuple(found[0]) == COLUMNS
    assert len(found) == (1 + 2 + 2) * 4 * 4  # comparisons, sections, levels
    assert {row["group"] for row in found} == {"", "news", "novel", "question"}
    of_all = [row for row in found if row["comparison"] == "annotators" and not row["group"]]
    assert all(-1 < float(row["C"]) <= float(row["high"]) + 1 for row in of_all)
    assert [bool(row["kappa"]) for row in of_all] == [False, False, True, True]
    plain = rows(capsys, *TWO)
    assert len(plain) == 4
    assert (plain[0]["C"], plain[0]["pi"]) == ("", "")
    assert float(plain[0]["f1"]) == float(of_all[0]["f1"])


def test_latex_has_as_many_cells_as_columns(capsys):
    for given in (FULL, TWO):
        text = made(capsys, *given, *(QUICK if given is FULL else ()), "--latex").out
        tables = re.findall(r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\\end\{tabular\}", text, re.S)
        assert len(tables) == (5 if given is FULL else 2)
        for columns, body in tables:
            lines = [line for line in body.splitlines() if line != r"\hline"]
            for line in lines:
                assert line.endswith(r" \\")
                spans = [int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line)]
                assert line.count(" & ") + 1 + sum(spans) == len(columns)
        assert all(line.startswith(("%", "\\")) or " & " in line or not line
                   for line in text.splitlines())  # fmt: skip


def test_latex_escapes_what_it_must():
    assert escape("a_b & 50% #1 {x} ~ \\ ^ $") == (
        r"a\_b \& 50\% \#1 \{x\} $\sim$ \textbackslash{} \textasciicircum{} \$"
    )
    text = latex_table([("", "x"), ("", "y")], [["[a]", "-"], ["*", "1"]], title="50%\nnext")
    assert text.splitlines()[0] == r"% 50\% next"
    assert "{}[a] & -- \\\\" in text
    assert "{}* & 1 \\\\" in text


def test_what_is_undefined_is_a_dash_and_said_why(capsys, tmp_path):
    text = "0-0 1-1\n"
    paths = [write(tmp_path, f"{name}.align", text) for name in ("a", "b", "start")]
    words = write(tmp_path, "words", "x y ||| v w\n")
    given = ("agree", *paths, "--source", words, "--initial", "start")
    ran = made(capsys, *given)
    assert table(ran.out, "Phrase pairs")["a ~ b"] == ["1", *["100.0", "100.0", "100.0", "-"] * 2]
    assert "C has no value for phrases, sure: pi0 is 1" in ran.out
    assert "nobody edits" in " ".join(ran.out.split())
    found = corrected(capsys, *given)
    assert found["C"] is None
    assert found["undefined"]
    assert rows(capsys, *given)[0]["C"] == ""
    assert "nan" not in made(capsys, *given, "--latex").out


def test_pairs_in_which_one_has_nothing_are_told(capsys, tmp_path):
    one = write(tmp_path, "a.align", "0-0 1-1\n" * 9)
    other = write(tmp_path, "b.align", "0-0 1-0\n" * 6 + "\n" * 3)
    words = write(tmp_path, "words", "x y ||| v w\n" * 9)
    given = ("agree", one, other, "--source", words, "--missing-initial", "empty", *QUICK)
    text = " ".join(made(capsys, *given).out.split())
    assert "words, sure: in 3 of the 9 pairs used one of the two has nothing to compare" in text
    assert "few pairs are used (9 in all)" in text
    assert "initial alignment: empty" in text
    assert corrected(capsys, *given)["one_sided"] == 3


def test_dividing_by_the_smaller_set_is_told_where_it_matters(capsys):
    told = "words, sure: pi is 1.000 of the smaller set, but 0.871 of the larger"
    assert told in " ".join(made(capsys, *FULL, *QUICK).out.split())
    assert told not in " ".join(made(capsys, *FULL, *QUICK, "--normalizer", "max").out.split())


def test_a_tolerance_that_was_not_reached_is_told(capsys):
    text = made(capsys, *FULL, *QUICK, "--tolerance", "1e-9").out
    assert "after 20 samples the standard error of C is" in text


def test_html_is_written_beside_the_tables(capsys, tmp_path):
    pytest.importorskip("alignkit.report.agreement_page")
    page = tmp_path / "page.html"
    assert "Side by side" in made(capsys, *FULL, *QUICK, "--html", page).out
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    run(capsys, *TWO, "--html", page).failed("--initial NAME")
    run(capsys, *FULL, "--html", tmp_path).failed("is a folder")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--initial", "intial"), ("'intial'", "did you mean 'initial'", "anna, ben, gold")),
        (("--samples", "99"), ("--initial NAME", "--missing-initial empty")),
        (("--missing-initial", "error"), ("--initial NAME",)),
        (("--adjudicated", "gold"), ("--initial NAME",)),
        (("--initial", "anna"), ("'anna' is the initial alignment",)),
        (("--initial", "initial", "--adjudicated", "ben"), ("'ben' is the adjudicated version",)),
        (("--initial", "initial", "--adjudicated", "x"), ("unknown annotator 'x'", "gold")),
        (("--initial", "initial", "--system", "x"), ("unknown annotator 'x'", "gold")),
        (("--system", "anna"), ("'anna' is an automatic alignment",)),
        (("--initial", "initial", "--samples", "1"), ("--samples", "2 or more")),
        (("--initial", "initial", "--workers", "0"), ("--workers", "1 or more")),
        (("--initial", "initial", "--tolerance", "0"), ("tolerance must be above 0",)),
        (("--initial", "initial", "--confidence", "2"), ("confidence",)),
        (("--initial", "initial", "--chance", "x"), ("--chance", "edit-split")),
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
        found = made(capsys, *given, "--missing-initial", way, "--json").json
        assert found["corrected"]["phrases-possible"]["pairs"][0]["pairs"]["used"] == used


def test_words_are_needed(capsys):
    other = GOLD.replace("gold", "eflomal")
    run(capsys, "agree", GOLD, other, "--missing-initial", "empty").failed("--source and --target")
    given = ("agree", GOLD, other, *TEXTS, "--missing-initial", "empty", *QUICK)
    assert "gold ~ eflomal" in made(capsys, *given).out


def test_settings_hold_for_the_annotators_and_closed_chance_for_machines(corpus):
    settings = CorrectedSettings("initial", samples=20, resamples=10, bootstrap="refit")
    found = full_agreement(corpus, ["anna", "ben"], settings=settings, rng=1)
    assert "seed:1|" in found.signature
    assert set(found.results) == set(LEVELS)
    machine = found.of("automatic")[0]
    expected = agreement(corpus, "initial", "anna", chance="kupper-hafner", resamples=10, rng=1)
    assert machine.corrected["phrases-sure"].C == expected.C
    assert not isnan(machine.corrected["phrases-sure"].C)


def test_progress_covers_all_the_sampling(corpus):
    told = []
    settings = CorrectedSettings("initial", samples=20, resamples=10)
    full_agreement(
        corpus, settings=settings, adjudicated="gold", rng=1, progress=lambda *one: told.append(one)
    )
    shares = [done / total for done, total in told]
    assert shares == sorted(shares)
    assert shares[0] < 0.2
    assert shares[-1] == 1


def test_nothing_goes_to_stderr(tmp_path):
    ran = process(*FULL, *QUICK, cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.real_data
def test_goldalign_gives_a_full_report_in_one_command(capsys, data):
    users = ("demo-user-1", "demo-user-2")
    given = ("agree", data / "goldalign", "--format", "goldalign", "--annotators", *users)
    ran = made(capsys, *given, "--initial", "initial", "--adjudicated", "arbit")
    found = " ".join(ran.out.split())
    assert "phrases, sure: in 90 of the 153 pairs used one of the two has nothing" in found
    assert "Each annotator with the adjudicated version, arbit" in found
    phrases = table(ran.out, "Phrase pairs")["demo-user-1 ~ demo-user-2"]
    assert float(phrases[4]) == pytest.approx(0.414, abs=0.005)
    assert float(phrases[10]) == pytest.approx(0.016, abs=0.02)


@pytest.mark.real_data
def test_rte_has_three_annotators_and_an_initial_alignment_of_ones_choice(capsys, data, tmp_path):
    files = [data / "rte2" / f"RTE2_dev_{name}.align.txt" for name in "ABC"]
    quick = ("--samples", "10", "--bootstrap", "none")
    given = ("agree", *files, "--format", "rte")
    found = made(capsys, *given, "--missing-initial", "empty", *quick, "--json").json
    assert round(found["fleiss_kappa"], 5) == 0.73364
    level = found["corrected"]["phrases-sure"]
    assert [len(level[kind]) for kind in ("pairs", "consensus", "automatic")] == [3, 3, 0]
    assert 0.6 < level["mean"]["C"] < 0.8
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
    assert list(table(text, "Human ~ automatic"))[-1] == "mean"
    assert "diagonal ~ C" in text
