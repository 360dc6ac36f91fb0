"""The command paraphrase rewrites the sentences of a file of trees."""

import gzip

import pytest
from command import feed, run, write

RULES = """\
NN("plan") ||| NN("proposal") ||| 12 0.5 0.2
NP(DT("the") x0:NN) ||| NP(DT("a") x0:NN) ||| 3 0.9 0.2
TO("to") ||| IN("of") ||| 3 0.25 1
VB("say") ||| VB("tell") ||| 1 1 1
"""
TREES = """\
(S (NP (DT The) (NN plan)) (VP (VBZ works)))

(S (NP (PRP They)) (VP (VBD left)))
"""


@pytest.fixture
def files(tmp_path):
    return write(tmp_path, "rules.tsv", RULES), "--sentences", write(tmp_path, "s.trees", TREES)


def test_rewrites_are_printed_with_their_rules(capsys, files):
    ran = run(capsys, "paraphrase", *files)
    assert ran.out.startswith("""\
1  The plan works
   1  0.5     The [plan → proposal] works
      NN("plan") ||| NN("proposal") ||| 12 0.5 at 1-2
   2  0.45    [The plan → A proposal] works
""")
    for told in (
        "2 of 4 rules can be applied; not applied: 1 have other labels on the target side, "
        "1 have a count below 2",
        "1 sentence without a parse",
        "1 of 3 sentences rewritten",
    ):
        assert told in ran.err


def test_rewrites_as_json(capsys, files):
    found = run(capsys, "paraphrase", *files, "--json", "--nbest", "1").json
    assert [len(one["rewrites"]) for one in found["sentences"]] == [1, 0, 0]
    assert [one["words"] for one in found["sentences"]][1:] == [None, ["They", "left"]]
    assert found["sentences"][0]["rewrites"][0] == {
        "rank": 1,
        "probability": 0.5,
        "words": ["The", "proposal", "works"],
        "origins": [0, -1, 2],
        "minor": False,
        "rules": [
            {
                "rule": 'NN("plan") ||| NN("proposal")',
                "count": 12,
                "p_target": 0.5,
                "node": 3,
                "start": 1,
                "end": 2,
            }
        ],
    }
    assert found["rules"]["applicable"] == 2


def test_options_choose_rules(capsys, files):
    def first(*options):
        return run(capsys, "paraphrase", *files, *options).err.splitlines()[0]

    assert "3 of 4 rules" in first("--any-labels")
    assert "3 of 4 rules" in first("--min-count", "1")
    assert "1 of 4 rules" in first("--min-p", ".6")


def test_streams_and_files(capsys, tmp_path, monkeypatch, files):
    packed = tmp_path / "rules.tsv.gz"
    packed.write_bytes(gzip.compress(RULES.encode()))
    feed(monkeypatch, TREES)
    out = tmp_path / "out.txt"
    assert run(capsys, "paraphrase", packed, "--sentences", "-", "-o", out).out == ""
    assert out.read_text(encoding="utf-8") == run(capsys, "paraphrase", *files).out
    run(capsys, "paraphrase", "-", "--sentences", "-").failed("can be read once")
    run(capsys, "paraphrase", *files, "-o", files[0]).failed("would be replaced")


@pytest.mark.parametrize(
    ("rules", "trees", "options", "told"),
    [
        ("", TREES, [], "rules.tsv: no rules"),
        (RULES, "", [], "s.trees: no trees"),
        (RULES, "(S (NN a)\n", [], "s.trees:1:"),
        (RULES.replace(":NN)", ":NN", 1), TREES, [], "rules.tsv:2:"),
        (RULES.replace("0.9", "nan"), TREES, [], "rules.tsv:2:"),
        (RULES, TREES, ["--min-p", "2"], "--min-p is 2.0"),
        (RULES, TREES, ["--tree-format", "stanford-xml"], "s.trees"),
    ],
)
def test_what_is_wrong_is_told(capsys, tmp_path, rules, trees, options, told):
    paths = write(tmp_path, "rules.tsv", rules), write(tmp_path, "s.trees", trees)
    out = tmp_path / "out"
    run(capsys, "paraphrase", paths[0], "--sentences", paths[1], "-o", out, *options).failed(told)
    assert not out.exists()
