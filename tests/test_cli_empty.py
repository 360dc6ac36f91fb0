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
    ["agree", "FILE", "--on", "judgments", "--scheme", "turku"],
    ["stats", "FILE", "--diversity"],
    ["select", "FILE", "--split", "a=.5,b=.5", "-o", "OUT"],
    ["score-labels", "FILE", "FILE", "--scheme", "turku"],
    ["score-labels", "FILE", "--hyp-annotator", "a", "--scheme", "turku"],
    ["audit", "pairs", "FILE", "--n", "4", "--judges", "a", "b", "-o", "OUT"],
]


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_file_without_pairs_is_named(tmp_path, capsys, words, name):
    path, out = write(tmp_path, name, EMPTY[name]), tmp_path / "out.jsonl"
    ran = run(capsys, *({"FILE": path, "OUT": out}.get(word, word) for word in words))
    ran.failed(f"error: {path}: no sentence pairs")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("words", JUDGED, ids=" ".join)
def test_a_file_without_judgments_is_named(tmp_path, capsys, words):
    path, out = write(tmp_path, "x.jsonl", PLAIN), tmp_path / "out.jsonl"
    ran = run(capsys, *({"FILE": path, "OUT": out}.get(word, word) for word in words))
    ran.failed(f"error: {path}: no judged pairs; name a file with judgments")
    assert not out.exists()
