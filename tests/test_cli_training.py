"""The command `project training`: it begins and ends a round, and shows who has passed."""

import json

import pytest
from annotation import project
from command import run
from test_annotate_training import RIGHT, answered, with_gold

from alignkit import Alignment, Corpus, SentencePair, write_corpus
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.project.store import Store


@pytest.fixture
def path(tmp_path):
    with project(tmp_path, with_gold()) as store:
        assign_pairs(store, ["anna", "ben"], control=0)
        return store.path


def training(path, capsys, *more, code=0):
    """Run the command; return what it prints, and what it says."""
    ran = run(capsys, "project", "training", path, *more)
    assert ran.code == code
    return ran


def test_a_round_of_the_project_begins_and_ends(path, capsys):
    assert training(path, capsys).out == "there is no training round\n"
    assert training(path, capsys, "--json").out == "null\n"
    begin = "--gold", "gold", "--ids", "p2", "p1", "--mark", "0.5"
    said = training(path, capsys, *begin, "--dry-run").err
    assert "2 pairs, 4 links; F1 of 50.0% passes" in said
    assert "4 pairs not begun" in said
    assert "nothing was stored" in said
    assert training(path, capsys).out == "there is no training round\n"
    shown = training(path, capsys, *begin).out
    assert "2 pairs with the links" in shown
    assert shown.count("not begun") == 2
    with Store.open(path) as store:
        answered(store, "anna", 1, 1, RIGHT)
        answered(store, "anna", 1, 2, [])
    table = json.loads(training(path, capsys, "--json").out)
    assert (table["pairs"], table["mark"]) == (["p2", "p1"], 0.5)
    lines = {line["name"]: line for line in table["lines"]}
    assert (lines["anna"]["state"], lines["anna"]["f1"]) == ("passed", pytest.approx(2 / 3))
    assert "by hand" in training(path, capsys, "--admit", "ben").out
    assert "may begin already" in training(path, capsys, "--admit", "ben", code=2).err
    assert training(path, capsys, "--end").out == "there is no training round\n"


def test_pairs_come_from_a_file(path, capsys, tmp_path):
    file = str(tmp_path / "gold.jsonl")
    pairs = [SentencePair("t1", ["u"], ["v"], {"ref": Alignment([(0, 0)])})]
    write_corpus(Corpus(pairs), file, format="alignkit-jsonl")
    said = training(path, capsys, "--gold", "ref", "--from", file).err
    assert "1 pair, 1 link; F1 of 80.0%" in said
    assert "Back to nobody" not in said
    wrong = training(path, capsys, "--gold", "x", "--from", file, code=2)
    wrong.failed("unknown annotator 'x'", "ref")


def test_pairs_of_a_project_are_assigned_first(tmp_path, capsys):
    with project(tmp_path, with_gold()) as store:
        path = store.path
    assert "assign pairs first" in training(path, capsys, "--gold", "gold", code=2).err


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--gold", "gold", "--end"], "exclude each other"),
        (["--ids", "p1"], "give --gold NAME"),
        (["--gold", "gold", "--mark", "0"], "the pass mark is 0"),
        (["--gold", "gold", "--mark", "2"], "a number above 0, at most 1"),
    ],
)
def test_wrong_options_are_refused(path, capsys, more, problem):
    assert problem in training(path, capsys, *more, code=2).err
