"""`alignkit audit phrases` and `audit read`: from two alignments to corrected scores."""

import csv
import io
import json
from pathlib import Path

import pytest
from audit_sheets import filled, read, sample_audit, save
from command import EFLOMAL, GOLD, PARAPHRASES, TEXTS, made, process, run, write

SIDES = (PARAPHRASES, PARAPHRASES, "--hyp-annotator", "eflomal", "--ref-annotator", "gold")


def fill(paths, names="cuic"):
    """Fill sheets, each judge with other judgments."""
    for number, path in enumerate(paths):
        rows = sorted(read(path), key=lambda row: row["item"])
        for k, row in enumerate(rows):
            row["judgment"] = names[(k * (number + 1)) % len(names)]
        save(path, rows)


@pytest.fixture
def sheets(capsys, tmp_path, monkeypatch):
    """Two filled sheets and their key, in a folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "audit", "phrases", *SIDES, "--n", 20, "--seed", 1).code == 0
    paths = ["audit/sheet-A.tsv", "audit/sheet-B.tsv"]
    fill(paths)
    return [*paths, "--key", "audit/key.json"]


def test_the_whole_way(capsys, tmp_path):
    folder, key = tmp_path / "sheets", tmp_path / "secret.json"
    ran = run(
        capsys,
        "audit",
        "phrases",
        EFLOMAL,
        GOLD,
        *TEXTS,
        "--n",
        30,
        "--seed",
        7,
        "--judges",
        "anna",
        "ben",
        "eva",
        "--sheets",
        "tsv",
        "html",
        "-o",
        folder,
        "--key",
        key,
    )
    assert (ran.code, ran.out) == (0, "")
    names = {f"sheet-{name}.{form}" for name in ("anna", "ben", "eva") for form in ("tsv", "html")}
    assert {path.name for path in folder.iterdir()} == names
    assert f"should see: {key}" in ran.err
    assert "hypothesis: 15 drawn of " in ran.err
    paths = sorted(folder.glob("*.tsv"))
    fill(paths)
    ran = run(capsys, "audit", "read", *paths, "--key", key)
    assert (ran.code, ran.err) == (0, "")
    for told in ("judged by anna, ben, eva", "ben ~ eva", "mean", "all judges", "precision"):
        assert told in ran.out


def test_it_draws_what_the_library_draws(sheets):
    audit = sample_audit(n=20)
    cells = {tuple(row[name] for name in audit.columns) for row in read(sheets[0])}
    assert cells == {item.cells for item in audit.items}


def test_an_annotators_own_phrase_pairs(capsys, tmp_path):
    """166 items, as in the article; half of them judged correct: no score to correct."""
    given = ["audit", "phrases", PARAPHRASES, "--annotator", "gold", "--n", 166]
    ran = run(capsys, *given, "-o", tmp_path, "--judges", "anna")
    assert "annotator: 166 drawn of " in ran.err
    fill([tmp_path / "sheet-anna.tsv"], names="ci")
    ran = made(capsys, "audit", "read", tmp_path / "sheet-anna.tsv", "--key", tmp_path / "key.json")
    assert "50.0 [42.1, 57.9]" in ran.out
    assert "corrected" not in ran.out
    for more in ([PARAPHRASES], ["--ref-annotator", "anna"], ["--hyp-annotator", "anna"]):
        run(capsys, *given, *more).failed("HYP and --annotator")
    run(capsys, *given[:3], "--n", 9).failed("HYP and --annotator")
    run(capsys, *given, "--both", ".5").failed("--both needs a reference")
    run(capsys, "audit", "phrases", PARAPHRASES, "--annotator", "golf", "--n", 9).failed("gold")


def test_files_in_any_formats_are_read(capsys, tmp_path):
    gold = str(tmp_path / "gold.xml")
    run(capsys, "convert", GOLD, gold, "--to", "alignkit-xml", *TEXTS)
    made(capsys, "audit", "phrases", EFLOMAL, gold, "--in-order", "--n", 8, "-o", tmp_path / "a")
    run(capsys, "audit", "phrases", EFLOMAL, GOLD, "--n", 8).failed("--source and --target")


def test_groups_are_those_of_either_side_and_fewer_than_asked_for_are_told(capsys, tmp_path):
    given = ["audit", "phrases", *SIDES, "--n", 20, "--by"]
    made(capsys, *given, "genre", "-o", tmp_path / "a")
    run(capsys, *given, "gender").failed("did you mean 'genre'")
    ran = run(capsys, "audit", "phrases", *SIDES, "--n", 5000, "-o", tmp_path / "audit")
    assert "only 320 items" in ran.err


def test_a_failure_leaves_no_file(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(capsys, "audit", "phrases", *SIDES, "--n", 20, "--key", "no/where.json").failed("no/where")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "words",
    [
        ["phrase"],
        ["phrases", *SIDES],
        ["phrases", *SIDES, "--n", "0"],
        ["phrases", *SIDES, "--n", "9", "--both", "3"],
        ["phrases", *SIDES, "--n", "9", "--judges", "a/b"],
        ["phrases", *SIDES, "--n", "9", "--sheets", "xls"],
        ["phrases", *SIDES[:2], "--n", "9"],
        ["read", "none.tsv"],
        ["read", "none.tsv", "--key", "none.json"],
        ["read", "none.tsv", "--kye", "none.json"],
    ],
)
def test_wrong_words_are_refused(capsys, words):
    run(capsys, "audit", *words).failed()


def test_a_damaged_sheet_ends_with_2_and_says_where(capsys, sheets, tmp_path):
    rows = read(sheets[0])
    rows[2]["judgment"] = "maybe"
    save(sheets[0], rows)
    ran = run(capsys, "audit", "read", *sheets)
    ran.failed(f"{sheets[0]}:4: unknown judgment 'maybe'")
    assert ran.out == ""
    other = write(tmp_path, "other.tsv", "a\tb\n1\t2\n")
    run(capsys, "audit", "read", other, *sheets[2:]).failed(f"{other}:1: no sheet")
    run(capsys, "audit", "read", sheets[1], "--key", other).failed(f"{other}:1", "no key")


def test_what_is_missing_is_told_on_stderr(capsys, sheets):
    rows = read(sheets[0])
    for row in rows[1:]:
        row["judgment"] = ""
    save(sheets[0], [*rows, rows[0]])
    ran = made(capsys, "audit", "read", *sheets)
    assert f"{sheets[0]}:3: no judgment of {rows[1]['item']} by A" in ran.err
    assert f"{sheets[0]}:22: A already judged {rows[0]['item']}" in ran.err
    save(sheets[0], [{**row, "judgment": ""} for row in rows] * 2)
    assert "unjudged: 40 in all" in run(capsys, "audit", "read", *sheets).err


def test_all_outputs_have_the_same_numbers(capsys, sheets):
    found = run(capsys, "audit", "read", *sheets, "--json").json
    figures = {
        (one["kind"], one["first"], one["second"], one["origin"], one["statistic"]): one
        for one in found["figures"]
    }
    share = figures["share", "A", "", "hypothesis", "correct"]
    kappa = figures["agreement", "A", "B", "", "kappa"]
    texts = [f"{100 * share['value']:.1f}", f"{kappa['value']:.3f}", f"{kappa['low']:.3f}"]
    for medium in ([], ["--markdown"], ["--latex"]):
        ran = made(capsys, "audit", "read", *sheets, *medium)
        for text in texts:
            assert text in ran.out.replace("−", "-").replace("$", "")
    rows = list(csv.DictReader(io.StringIO(run(capsys, "audit", "read", *sheets, "--csv").out)))
    assert [row["kind"] for row in rows[-1:]] == ["signature"]
    plain = [row for row in rows if row["kind"] == "share" and row["first"] == "A"]
    assert (float(plain[0]["value"]), found["found"]) == (share["value"], {})
    assert {len(one["judgments"]) for one in found["items"]} == {2}


def test_a_sheet_comes_through_a_pipe(capsys, tmp_path):
    audit = sample_audit(n=6)
    paths, key = filled(tmp_path, audit, {"A": {item.id: "c" for item in audit.items}})
    with Path(paths[0]).open("rb") as stream:
        ran = process("audit", "read", "-", "--key", key, stdin=stream)
    assert ran.code == 0, ran.err
    assert "100.0" in ran.out
    run(capsys, "audit", "read", "-", "-", "--key", key).failed("once only")


@pytest.mark.real_data
def test_a_public_corpus_is_audited_as_it_is_scored(capsys, data, tmp_path):
    folder = data / "roen"
    sides = (
        folder / "giza" / "test.roen.talp",
        folder / "roen.gold",
        "--ref-base",
        "1",
        "--source",
        folder / "roen.src-tgt",
    )
    made(capsys, "audit", "phrases", *sides, "--n", 60, "--both", ".1", "-o", tmp_path / "a")
    key = json.loads((tmp_path / "a" / "key.json").read_text("utf-8"))
    found = run(capsys, "score", *sides, "--level", "phrases", "--ignore-identical", "--json")
    counts = found.json["phrases"]["sure"]["counts"]
    sizes = {name: one["population"] for name, one in key["origins"].items()}
    assert sizes["both"] == counts["hyp_atomic_in_ref"] > 100
    assert sizes["hypothesis"] == counts["hyp_atomic"] - counts["hyp_atomic_in_ref"]
    assert sizes["reference"] == counts["ref_atomic"] - counts["hyp_in_ref_atomic"]
    assert len(key["items"]) == 60
