"""`alignkit audit pairs`: from a judged corpus to the shares that judges uphold."""

import json

import pytest
from audit_sheets import read, save
from command import made, run, write
from test_audit_pairs import sample

from alignkit import write_corpus


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "judged.jsonl"
    write_corpus(sample(people=("carl", "dora")), path, format="alignkit-jsonl")
    return path


def test_the_whole_way(capsys, corpus, tmp_path):
    folder = tmp_path / "sheets"
    how = ["--n", 30, "--mix", ".4", "--seed", 7, "--by", "period", "--sheets", "tsv", "html"]
    judges = ["--judges", "anna", "ben", "eva"]
    ran = run(capsys, "audit", "pairs", corpus, *how, *judges, "-o", folder)
    assert (ran.code, ran.out) == (0, "")
    for told in (
        "rewrite: 12 drawn of 20 pairs that annotators rewrote",
        "pairs that nobody rewrote, judged 1 in the corpus",
        "judgments: 0 (no paraphrase), 1 (paraphrase); upheld: 1",
        "of the rewrites were drawn together with their original pair",
    ):
        assert told in ran.err
    sheets = sorted(folder.glob("*.tsv"))
    assert sum(len(read(path)) for path in sheets) == 60
    for path in sheets:
        save(path, [{**row, "judgment": "1"} for row in read(path)])
    ran = run(capsys, "audit", "read", *sheets, "--key", folder / "key.json")
    assert (ran.code, ran.err) == (0, "")
    for told in ("every judge", "anna ~ ben", "Upheld, %, by period", "by period"):
        assert told in ran.out
    found = run(capsys, "audit", "read", *sheets, "--key", folder / "key.json", "--json").json
    assert found["upheld"] == ["1"]
    shares = [one for one in found["figures"] if one["kind"] == "upheld" and not one["group"]]
    assert {one["value"] for one in shares} == {1.0}
    differences = [one for one in found["figures"] if one["kind"] == "difference"]
    assert {one["value"] for one in differences} <= {0.0, None}


def test_annotators_among_the_judges_get_what_they_have_not_judged(capsys, corpus, tmp_path):
    words = ["audit", "pairs", corpus, "--n", 12, "--judges", "carl", "dora", "eva"]
    assert run(capsys, *words, "-o", tmp_path / "a").code == 0
    for item in json.loads((tmp_path / "a" / "key.json").read_text("utf-8"))["items"]:
        assert not set(item["facts"]["judged"]) & set(item["judges"])
    ran = run(capsys, *words[:-1], "-o", tmp_path / "b")
    ran.failed("to 2 of carl, dora")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--n 0",
        "--n 9 --mix half",
        "--n 9 --each 3",
        "--n 9 --annotator karl",
        "--n 9 --plain some",
    ],
)
def test_wrong_words_are_refused(capsys, corpus, words):
    run(capsys, "audit", "pairs", corpus, *words.split()).failed()


def test_a_corpus_without_rewrites_says_what_to_do(capsys, tmp_path):
    path = write(tmp_path, "x.tsv", "label\tsource\tlex-similarity\ttxt1\ttxt2\n4\ta\t0\tb\tc\n")
    ran = run(capsys, "audit", "pairs", path, "--n", 1, "-o", tmp_path / "a")
    ran.failed("no pair is a rewrite", "--mix 0")


def test_plain_pairs_alone_have_no_empty_columns(capsys, tmp_path):
    path = tmp_path / "plain.jsonl"
    write_corpus(sample(anew=0), path, format="alignkit-jsonl")
    words = ["--n", 8, "--mix", 0, "--judges", "carl", "anna", "ben", "-o", tmp_path / "a"]
    ran = made(capsys, "audit", "pairs", path, *words)
    assert "judged, wrote or know" in ran.err
    assert "rewrite:" not in ran.err
    sheets = sorted((tmp_path / "a").glob("*.tsv"))
    for sheet in sheets:
        if rows := read(sheet):
            save(sheet, [{**row, "judgment": str(k % 3 and 1)} for k, row in enumerate(rows)])
    ran = made(capsys, "audit", "read", *sheets, "--key", tmp_path / "a" / "key.json")
    assert "rewrite" not in ran.out
    assert "difference" not in ran.out
    assert ran.out.count("anna ~ ben") == 1
    assert "every judge" in ran.out
