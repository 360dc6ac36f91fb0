"""A label that the scheme does not have is told with the file and the line."""

import json
import pickle

import pytest
from command import feed, run, write

from alignkit import read_corpus
from alignkit.errors import JudgmentError, MissingTextError


def line(id, **judgments):
    said = {name: {"judgment": judgment} for name, judgment in judgments.items()}
    return json.dumps({"id": id, "source": ["a"], "target": ["b"], "annotations": said}) + "\n"


BAD = line("p1", ann="3", ben="3", cid="4") + "\n" + line("p2", ann="5", ben="4", cid="4")
COMMANDS = [
    ["labels", "FILE"],
    ["agree-judgments", "FILE"],
    ["quality", "FILE", "--gold", "ben"],
    ["score-labels", "FILE", "--hyp-annotator", "ann", "--ref-annotator", "ben"],
    ["profile", "FILE", "--hyp-annotator", "ann", "--ref-annotator", "ben"],
    ["convert", "FILE", "-", "--rows", "plain", "--annotator", "ann"],
    ["convert", "FILE", "-", "--swap", "--to", "alignkit-jsonl"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_names_file_and_line(tmp_path, capsys, words):
    path = write(tmp_path, "x.jsonl", BAD)
    words = [path if word == "FILE" else word for word in words]
    told = f"{path}:3: pair 'p2', annotator 'ann': '5' is not a judgment of turku; expected one"
    run(capsys, *words, "--scheme", "turku").failed(told, "add --lenient-labels")


def test_the_right_file_is_named_and_the_error_survives_being_sent(tmp_path, capsys, monkeypatch):
    error = JudgmentError("is odd", "x", 3, pair="p", annotator="a", judgment="5")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == ("x:3: is odd", vars(error))
    one = write(tmp_path, "ann.jsonl", line("p1", x="3") + line("p2", x="3"))
    other = write(tmp_path, "ben.jsonl", line("p2", x="3") + line("p1", x="3s"))
    ran = run(capsys, "agree-judgments", one, other, "--scheme", "turku")
    ran.failed(f"{other}:2: pair 'p1', annotator 'ben': '3s' is no")
    ran = run(capsys, "score-labels", one, other, "--scheme", "turku")
    ran.failed(f"{other}:2: pair 'p1', annotator 'x': '3s' is no")
    row = "7\ta\t\tb\t\t\t{}\t0-0\t\t\n"
    for name, last in (("datasets", "1"), ("users/u1/complete", "1"), ("users/u2/complete", "si")):
        (tmp_path / name / "c").mkdir(parents=True)
        write(tmp_path, f"{name}/c/b.tsv", row.format("1") + row.format(last))
    ran = run(capsys, "labels", tmp_path, "--scheme", "binary", "--format", "goldalign")
    ran.failed("users/u2/complete/c/b.tsv:2: pair 'b:2', annotator 'u2': 'si'")
    feed(monkeypatch, BAD)
    run(capsys, "labels", "-", "--scheme", "turku").failed("-: pair 'p2', annotator 'ann': '5'")


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_judged_pair_without_the_words_of_a_side_is_told(tmp_path, capsys, side):
    lame = json.loads(line("p2", ann="3"))
    del lame[side]
    path = write(tmp_path, "x.jsonl", line("p1", ann="3") + json.dumps(lame) + "\n")
    ran = run(capsys, "convert", path, "-", "--rows", "plain", "--scheme", "turku")
    ran.failed(f"{path}:2: pair 'p2' is judged, but its {side} words are missing; add them")
    ran = run(capsys, "check", path)
    assert f"{path}:2: words missing: pair 'p2': the {side} words are missing" in ran.out
    with pytest.raises(MissingTextError, match=f"pair 'p2' has no {side} words"):
        _ = read_corpus(path)["p2"].words
