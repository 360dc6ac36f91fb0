"""An input without pairs, or without judgments where these are asked for, is a clear error."""

import pytest
from command import run, write

EMPTY = {"x.jsonl": '{"alignkit": "corpus", "version": 1}\n', "zero": "", "x.json": "[]"}
PLAIN = '{"id": "1", "source": ["a"], "target": ["b"]}\n'
JUDGED = [
    ["labels", "FILE", "--scheme", "turku"],
    ["convert", "FILE", "OUT", "--rows", "plain", "--scheme", "turku"],
    ["quality", "FILE", "--gold", "g", "--scheme", "turku"],
]
COMMANDS = [
    *JUDGED,
    ["agree", "FILE"],
    ["agree-judgments", "FILE", "--scheme", "turku"],
    ["stats", "FILE", "--diversity"],
    ["select", "FILE", "--split", "a=.5,b=.5", "-o", "OUT"],
    ["score-labels", "FILE", "FILE", "--scheme", "turku"],
    ["score-labels", "FILE", "--hyp-annotator", "a", "--scheme", "turku"],
    ["audit", "pairs", "FILE", "--n", "4", "--judges", "a", "b", "-o", "OUT"],
]


def refused(capsys, folder, words, name, text, told):
    places = {"FILE": write(folder, name, text), "OUT": folder / "out.jsonl"}
    ran = run(capsys, *(places.get(word, word) for word in words))
    ran.failed(f"error: {places['FILE']}: {told}")
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_file_without_pairs_is_named(tmp_path, capsys, words, name):
    refused(capsys, tmp_path, words, name, EMPTY[name], "no sentence pairs")


@pytest.mark.parametrize("words", JUDGED, ids=" ".join)
def test_a_file_without_judgments_is_named(tmp_path, capsys, words):
    told = "no judged pairs; name a file with judgments"
    refused(capsys, tmp_path, words, "x.jsonl", PLAIN, told)
