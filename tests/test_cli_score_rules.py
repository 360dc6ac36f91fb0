"""The command score-rules scores the rules of alignments against those of a gold standard."""

import pytest
from command import run, write

from alignkit import __version__

TEXT = "the plan works ||| the proposal works\nhe rose ||| he stood up\n"
TREES = """\
(S (NP (DT the) (NN plan)) (VP (VBZ works)))
(S (NP (DT the) (NN proposal)) (VP (VBZ works)))
(S (NP (PRP he)) (VP (VBD rose)))
(S (NP (PRP he)) (VP (VBD stood) (PRT (RP up))))
"""
GOLD = "0-0 1-1 2-2\n0-0 1-1 1-2\n"
SYSTEM = "0-0 1-1 2-2\n0-0 1-1\n"


@pytest.fixture
def files(tmp_path):
    texts = write(tmp_path, "texts", TEXT)
    return (
        write(tmp_path, "system.align", SYSTEM), write(tmp_path, "gold.align", GOLD),
        "--source", texts, "--trees", write(tmp_path, "both.trees", TREES),
    )  # fmt: skip


def test_rules_are_scored(capsys, files):
    ran = run(capsys, "score-rules", *files)
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[2:] == [
        "                               precision  recall    F1  hypothesis  reference",
        "-----------------------------  ---------  ------  ----  ----------  ---------",
        "rules                               81.8   100.0  90.0          11         10",
        "rules, identity left out            33.3   100.0  50.0           3          2",
        "node pairs                          90.9   100.0  95.2          11         10",
        "node pairs, identity left out       66.7   100.0  80.0           3          2",
        "",
        "only 2 sentence pairs: other pairs could give other figures",
        f"format:pharaoh/pharaoh|base:0/0|links:sure|level:rules|version:{__version__}",
    ]


def test_media_and_intervals(capsys, files):
    found = run(capsys, "score-rules", *files, "--json", "--ci", "--resamples", "20").json
    assert found["rules"]["recall"] == 1
    assert found["intervals"]["rules.precision"]["high"] == 1
    assert found["pairs"] == 2
    assert run(capsys, "score-rules", *files, "--csv").out.startswith("level,precision,recall,f1,")
    assert "\\begin{tabular}" in run(capsys, "score-rules", *files, "--latex").out


def test_trees_and_gold_of_one_corpus(capsys, tmp_path, files):
    corpus = tmp_path / "corpus.jsonl"
    given = [files[1], "--name", "gold", *files[2:4], "--add", f"sys={files[0]}:pharaoh"]
    assert run(capsys, "merge", *given, "-o", corpus).code == 0
    both = ["--hyp-annotator", "sys", "--ref-annotator", "gold"]
    run(capsys, "score-rules", corpus, *both).failed(f"{corpus}: no sentence pair has trees")
    run(capsys, "score-rules", corpus).failed("--hyp-annotator and --ref-annotator")
    run(capsys, "score-rules", corpus, *both, "--tree-format", "mrg").failed("--tree-format")
    run(capsys, "score-rules", corpus, *both, "--resamples", "9").failed("say --ci")
    trees = write(tmp_path, "some.trees", "\n".join(TREES.split("\n")[:2]) + "\n\n\n")
    ran = run(capsys, "score-rules", corpus, *both, "--trees", trees)
    assert "1 sentence pair\n" in ran.out
    assert "not scored: 1 pair without trees" in ran.out
    few = write(tmp_path, "few.trees", "\n".join(TREES.split("\n")[:2]) + "\n")
    run(capsys, "score-rules", corpus, *both, "--trees", few).failed("few.trees:2: holds 2 trees")


@pytest.mark.real_data
def test_gold_against_itself_is_1_everywhere(capsys, data):
    gold = data / "edinburgh" / "gold.train.sure.json"
    trees = data / "edinburgh" / "train.parsed.xml.gz"
    found = run(capsys, "score-rules", gold, gold, "--trees", trees, "--json").json
    assert found["pairs"] == 714
    for level, count in (("rules", 19566), ("rules-changing", 4840)):
        assert found[level] == {"precision": 1, "recall": 1, "f1": 1}
        assert found[level.replace("rules", "nodes")] == found[level]
        name = "hyp_rules" if level == "rules" else "hyp_changing"
        assert found["counts"][name] == count


@pytest.mark.real_data
def test_possible_links_cost_what_they_did(capsys, data):
    folder = data / "edinburgh"
    paths = folder / "gold.train.sure+poss.json", folder / "gold.train.sure.json"
    trees = folder / "train.parsed.xml.gz"
    given = ["--trees", trees, "--links", "possible", "--json"]
    counts = run(capsys, "score-rules", *paths, *given).json["counts"]
    names = "hyp_rules", "hyp_changing", "ref_rules", "ref_changing"
    assert [counts[name] for name in names] == [19783, 5088, 19566, 4840]
