"""The command score-rules scores the rules of alignments against those of a gold standard."""

import pytest
from command import run, write

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
        write(tmp_path, "system.align", SYSTEM),
        write(tmp_path, "gold.align", GOLD),
        "--source",
        texts,
        "--both-trees",
        write(tmp_path, "both.trees", TREES),
    )


def test_rules_are_scored(capsys, files):
    ran = run(capsys, "score-rules", *files)
    assert [" ".join(line.split()[-5:]) for line in ran.out.splitlines()[4:8]] == [
        "81.8 100.0 90.0 11 10",
        "33.3 100.0 50.0 3 2",
        "90.9 100.0 95.2 11 10",
        "66.7 100.0 80.0 3 2",
    ]
    assert "only 2 sentence pairs" in ran.out
    assert "format:pharaoh/pharaoh|base:0/0|links:sure|level:rules|" in ran.out
    found = run(capsys, "score-rules", *files, "--json", "--ci", "--resamples", "20").json
    assert found["intervals"]["rules.precision"]["high"] == 1
    assert (found["pairs"], found["rules"]["recall"]) == (2, 1)


def test_trees_and_gold_of_one_corpus(capsys, tmp_path, files):
    corpus = tmp_path / "corpus.jsonl"
    given = [files[1], "--name", "gold", *files[2:4], "--add", f"sys={files[0]}:pharaoh"]
    assert run(capsys, "merge", *given, "-o", corpus).code == 0
    both = ["--hyp-annotator", "sys", "--ref-annotator", "gold"]
    run(capsys, "score-rules", corpus, *both).failed(f"{corpus}: no sentence pair")
    run(capsys, "score-rules", corpus).failed("--hyp-annotator and --ref-annotator")
    run(capsys, "score-rules", corpus, *both, "--tree-format", "mrg").failed("--tree-format")
    run(capsys, "score-rules", corpus, *both, "--resamples", "9").failed("add --ci")
    two = "".join(TREES.splitlines(keepends=True)[:2])
    trees, few = write(tmp_path, "some.trees", f"{two}\n\n"), write(tmp_path, "few.trees", two)
    ran = run(capsys, "score-rules", corpus, *both, "--both-trees", trees)
    assert "1 sentence pair\n" in ran.out
    assert "1 pair without trees" in ran.out
    ran = run(capsys, "score-rules", corpus, *both, "--both-trees", few)
    ran.failed("for 2 sentence pairs")


@pytest.mark.real_data
def test_real_alignments_have_the_rules_that_are_known_of_them(capsys, data):
    folder = data / "edinburgh"
    paths = folder / "gold.train.sure+poss.json", folder / "gold.train.sure.json"
    given = ["--both-trees", folder / "train.parsed.xml.gz", "--links", "possible", "--json"]
    counts = run(capsys, "score-rules", *paths, *given).json["counts"]
    names = "hyp_rules", "hyp_changing", "ref_rules", "ref_changing"
    assert [counts[name] for name in names] == [19783, 5088, 19566, 4840]
