"""`alignkit rules` learns rules of files, shows and writes them."""

import pytest
from command import ROOT, made, run, write

from alignkit.rules import read_rules, rule_text

SAMPLES = ROOT / "samples"
STRUCTURES = [
    SAMPLES / "structures.jsonl",
    *("--source-trees", SAMPLES / "structures.source.trees"),
    *("--target-trees", SAMPLES / "structures.target.trees"),
]
ACTIVE = "S(x0:NP VP(x1:VBD x2:NP) x3:.)"
PASSIVE = f'{ACTIVE} ||| S(x2:NP VP(VBD("was") VP(x1:VBN PP(IN("by") x0:NP))) x3:.)'


def test_json_holds_all_figures(capsys):
    found = run(capsys, "rules", *STRUCTURES, "--json", "--size", 2, "--max-variables", 3).json
    assert (found["grammar"], found["links"], found["pairs"]) == ("stsg", "sure", 16)
    kinds = found["kinds"].values()
    assert found["rules"] == sum(found["sizes"].values()) == sum(kind["rules"] for kind in kinds)
    assert found["types"] == sum(kind["types"] for kind in kinds)
    assert found["dropped"]["more than 3 variables"] > 0
    assert len(found["list"]) == found["chosen"]["types"]
    assert found["list"][0]["examples"][0]["id"].startswith("s")
    ran = run(capsys, "rules", *STRUCTURES, "--markdown", "--limit", 1)
    assert all(text in ran.out for text in ("| reordering+words | 14 | 9 |", "| s04 | 0-6 0-8 |"))


def test_kinds_counts_and_identity_choose_what_is_listed(capsys):
    chosen = run(capsys, "rules", *STRUCTURES, "--kind", "reordering,lexical", "--json").json
    assert chosen["chosen"]["rules"] == 12
    assert chosen["rules"] == 229  # weights are of all
    often = run(capsys, "rules", *STRUCTURES, "--min-count", 3, "--json").json
    assert all(one["count"] >= 3 for one in often["list"])
    whole = run(capsys, "rules", *STRUCTURES, "--identity", "--json").json
    assert whole["chosen"] == {"rules": 229, "types": 123}
    # no rule is too rare unless a count is asked for
    found = run(capsys, "rules", *STRUCTURES, "--all", "--identity", "--json").json
    assert found["chosen"]["types"] == found["types"] == len(found["list"])
    assert min(one["count"] for one in found["list"]) < 1


def test_types_that_are_not_written_are_counted_and_written_ones_are_read_back(capsys, tmp_path):
    ran = run(capsys, "rules", *STRUCTURES, "--to", "tsv", "--min-count", 2)
    assert "output: 8 types of rules" in ran.err
    assert "types left out: 90 x seen less than 2 times, 25 x identity" in ran.err
    ran = run(capsys, "rules", *STRUCTURES, "--to", "tsv", "--kind", "lexical")
    assert "120 x of other kinds" in ran.err
    path = tmp_path / "rules.xrs"
    ran = run(capsys, "rules", *STRUCTURES, "--to", "xrs", "-o", path)
    assert ran.out == ""
    assert f"{path}: 18 types of rules" in ran.err
    assert PASSIVE in {rule_text(one.rule) for one in read_rules(path)}


def test_labels_that_differ_are_joined_or_left_out_and_counted(capsys, tmp_path):
    out = tmp_path / "rules"
    command = ("rules", *STRUCTURES, "-o", out, "--to")
    joined, text = run(capsys, *command, "ppdb"), out.read_text()
    differ = sum("~" in line for line in text.splitlines())
    assert differ > 5
    assert f"{differ} types with labels" in joined.err
    apart = run(capsys, *command, "ppdb", "--one-label")
    assert f"{differ} x labels" in apart.err
    assert out.read_text().splitlines() == [li for li in text.splitlines() if "~" not in li]
    assert "labels that differ" not in run(capsys, *command, "moses").err
    again = run(capsys, "pivot", write(tmp_path, "r.ppdb", text), "--to", "joshua", "--one-label")
    assert (again.code, "~" in again.out) == (0, False)


def test_a_page_goes_to_standard_output(capsys, tmp_path):
    ran = made(capsys, "rules", *STRUCTURES, "--html", "-")
    assert ran.out.startswith("<!DOCTYPE html>")
    assert "<svg" in ran.out
    path = str(tmp_path / "one")
    for words in (["--html", "-"], ["--html", path, "-o", path]):
        run(capsys, "rules", *STRUCTURES, *words, "--to", "tsv").failed("is named twice")
    ran = made(capsys, "rules", *STRUCTURES, "--html", path, "--to", "tsv")
    assert PASSIVE in ran.out


def test_one_side_may_be_a_string(capsys):
    ran = run(capsys, "rules", STRUCTURES[0], *STRUCTURES[3:], "--grammar", "s2t", "--json")
    assert ran.json["grammar"] == "s2t"
    assert '"also" x0 ||| ' not in ran.out
    assert any(one["source"].startswith("x0 ") for one in ran.json["list"])


def test_rules_have_their_places(capsys, tmp_path):
    words = [*STRUCTURES, "--kind", "lexical", "--min-count", 3]
    ran = run(capsys, "rules", *words)
    assert "s01: He [also] said that the bridge was safe ." in ran.out
    path = tmp_path / "page.html"
    assert run(capsys, "rules", *words, "--html", path).code == 0
    assert "<mark>also</mark>" in path.read_text("utf-8")
    ran = run(capsys, "rules", *words, "--to", "jsonl", "--examples", 2)
    assert ran.out.count('"id": "s0') == 4


def test_pairs_without_trees_are_told(capsys):
    told = "no sentence pair gave rules; name trees with --source-trees"
    run(capsys, "rules", STRUCTURES[0]).failed(told, "pairs skipped: 16 x not parsed")
    told = "with --target-trees, or use --grammar s2t"
    run(capsys, "rules", *STRUCTURES[:3]).failed(told, "structures.source.trees: 16 trees\n")
    asked = [STRUCTURES[0], "--grammar", "s2t"]
    run(capsys, "rules", *asked).failed("with --source-trees or --target-trees")
    run(capsys, "rules", *asked, "--string", "source").failed("name trees with --target-trees")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--kind", "lexicall"], "kind of rule 'lexicall'"),
        (["--all", "--size", 2], "exclude each other"),
        (["--grammar", "tree"], "invalid choice: 'tree'"),
        (["--one-label"], "--one-label only works with"),
        (["--string", "source"], "--string needs --grammar s2t"),
        (["-o", "rules.tsv"], "-o needs --to FORMAT"),
        (["--to", "tsv", "--json"], "for printed output"),
        (["--annotator", "anna"], "unknown annotator"),
        (["--max-nodes", 0], "1 or more"),
    ],
)
def test_what_cannot_be_is_refused(capsys, words, told):
    try:
        ran = run(capsys, "rules", *STRUCTURES, *words)
    except SystemExit:
        assert told in capsys.readouterr().err
    else:
        ran.failed(told)


def test_several_annotators_are_to_be_chosen_from(capsys):
    path = SAMPLES / "paraphrases.jsonl"
    sides = ("source", "target")
    trees = [x for y in sides for x in (f"--{y}-trees", SAMPLES / f"paraphrases.{y}.trees")]
    told = "has alignments of eflomal, anna, ben, gold: choose one with --annotator"
    run(capsys, "rules", path, *trees).failed(f"{path}: pair 'p01' {told}")
    assert run(capsys, "rules", path, *trees, "--annotator", "gold", "--json").json["pairs"] == 64


def test_trees_that_do_not_fit_are_an_error(capsys, tmp_path):
    trees = (SAMPLES / "structures.source.trees").read_text(encoding="utf-8")
    path = write(tmp_path, "bad.trees", trees.replace("(NN bridge)", "(NN brigde)", 1))
    ran = run(capsys, "rules", STRUCTURES[0], "--source-trees", path, *STRUCTURES[3:])
    ran.failed("bad.trees:1:92", "brigde", "bridge")
