"""Scores say what was left out and what looks wrong: in every medium, in Python, under --quiet."""

import numpy as np
import pytest
from command import EFLOMAL, FAST, GOLD, TEXTS, run, write

import alignkit as ak
from alignkit.io.base_checks import Misfit
from alignkit.scoring import compare

PAIRS, KEPT = 52, 40
LEFT_OUT = f"{PAIRS - KEPT} of {PAIRS} sentence pairs are left out"


@pytest.fixture
def short(tmp_path):
    with open(EFLOMAL, encoding="utf-8") as file:
        return write(tmp_path, "short", "".join(file.readlines()[:KEPT]))


@pytest.fixture
def from_one(tmp_path):
    path = tmp_path / "from-one"
    ak.write_corpus(ak.read_corpus(GOLD), path, format="pharaoh", base=1)
    return str(path)


@pytest.fixture
def nearly(tmp_path, from_one):
    """A file counted from 1 in which one link uses the number 0: only the other side shows it."""
    with open(from_one, encoding="utf-8") as file:
        return write(tmp_path, "nearly", "0-0 " + file.read())


@pytest.mark.parametrize("medium", [[], ["--markdown"], ["--latex"], ["--csv"], ["--json"]])
@pytest.mark.parametrize("texts", [[], [*TEXTS, "--ignore-identical"]])
def test_pairs_that_one_file_lacks_are_counted_in_every_medium(capsys, short, medium, texts):
    for files in ([short, GOLD], [GOLD, short]) if not texts else ([short, GOLD],):
        ran = run(capsys, "score", *files, "--partial", "--quiet", *texts, *medium)
        assert ran.code == 0
        assert LEFT_OUT in " ".join(ran.out.replace("%", "").replace("\n", " ").split())
        if medium == ["--json"]:
            assert (ran.json["pairs"], ran.json["skipped"]) == (KEPT, PAIRS - KEPT)


def test_pairs_that_one_file_lacks_are_counted_in_python(short, tmp_path):
    for files in ((short, GOLD), (GOLD, short)):
        found = ak.score(*files, partial=True)
        assert (found.pairs, found.skipped) == (KEPT, PAIRS - KEPT)
        assert LEFT_OUT in found.cautions[-1]
        assert LEFT_OUT in found.show("html") if hasattr(found, "show") else str(found)
        assert ak.score(*files, partial=True, keep_rows=False).skipped == PAIRS - KEPT
    gold = write(tmp_path, "g", "a\t0-0\nb\t0-0\nc\t0-0\n")
    found = ak.score(write(tmp_path, "h", "b\t0-0\nd\t0-0\n"), gold, partial=True)
    assert (found.pairs, found.skipped) == (1, 3)


def test_comparisons_carry_what_is_odd(capsys, nearly):
    ran = run(capsys, "score", EFLOMAL, nearly, "--compare", FAST, "--json", "--quiet")
    assert sum("check --base of both" in one for one in ran.json["cautions"]) == 2
    systems = {name: ak.score(path, nearly) for name, path in (("a", EFLOMAL), ("b", FAST))}
    assert sum("check `base` of both" in one for one in compare(systems).cautions) == 2
    assert "check `base` of both" in " ".join(str(compare(systems)).split())


@pytest.mark.parametrize("level", ["links", "phrases", "both"])
def test_a_wrong_base_survives_quiet_and_is_in_the_results(capsys, from_one, level):
    for medium in ([], ["--json"]):
        ran = run(capsys, "score", EFLOMAL, from_one, "--level", level, "--quiet", *medium)
        assert ran.code == 0
        assert "no link uses word 0" in ran.err
        assert "no link uses word 0" in " ".join(ran.out.split())
    for right in ([EFLOMAL, from_one, "--ref-base", "1"], [EFLOMAL, GOLD], [FAST, EFLOMAL]):
        ran = run(capsys, "score", *right, "--quiet", "--json")
        assert (ran.err, "cautions" in ran.json) == ("", False)


def test_a_wrong_base_or_direction_between_the_sides_survives_quiet(capsys, nearly):
    ran = run(capsys, "score", EFLOMAL, nearly, "--quiet", "--json")
    assert "check --base of both" in ran.json["cautions"][0]
    assert "check --base of both" in ran.err
    assert any("check `base` of both" in one for one in ak.score(EFLOMAL, nearly).cautions)
    ran = run(capsys, "score", EFLOMAL, GOLD, "--hyp-transpose", "--quiet", "--json")
    assert "check --transpose of both" in ran.json["cautions"][0]
    assert "check --transpose of both" in ran.err


def test_python_carries_a_wrong_base_for_files_corpora_and_links(from_one):
    base = "no link uses word 0"
    assert any(base in one for one in ak.score(EFLOMAL, from_one).cautions)
    names = {"system": EFLOMAL, "gold": from_one}
    sides = {name: ak.read_corpus(path, name=name) for name, path in names.items()}
    both = ak.merge(sides["system"], {"gold": sides["gold"]})
    assert any(one.startswith("gold: " + base) for one in ak.score(both).cautions)
    links = [[pair.alignment(name) for pair in one] for name, one in sides.items()]
    assert any(base in one for one in ak.score(*links).cautions)
    read = {"source": TEXTS[1], "target": TEXTS[3], "drop_out_of_range": True}
    pairs = ak.read_corpus(EFLOMAL, name="system", **read)
    both = ak.merge(pairs, {"gold": ak.read_corpus(from_one, **read)})
    agreed = ak.agree(both, annotators=["system", "gold"], resamples=10)
    assert "misread" in {caution.code for caution in agreed.cautions}


def test_a_misfit_needs_more_than_a_poor_system():
    gold = ak.LinkArrays.pack(pair.alignment("alignment") for pair in ak.read_corpus(GOLD))
    drawn = np.random.default_rng(1).permutation(gold.links[:, 1])
    cells = zip(gold.links[:, 0].tolist(), drawn.tolist(), strict=True)
    poor = [ak.Alignment([cell]) for cell in cells]
    misfit = Misfit()
    misfit.add(ak.LinkArrays.pack(poor[: len(gold)]), gold)
    assert misfit.suspicion() == ""


def test_phrase_lists_and_quiet_commands_count_what_is_left_out(capsys, tmp_path, short):
    table = write(tmp_path, "table", "chat\tcat\n")
    given = ["score-phrases", table, "--table-format", "tsv", *TEXTS, "--quiet"]
    ran = run(capsys, given[0], table, short, *given[2:], "--partial")
    assert LEFT_OUT in " ".join(ran.out.split())
    assert run(capsys, given[0], table, short, *given[2:], "--partial", "--json").json["skipped"]
    out = tmp_path / "out.align"
    ran = run(capsys, "symmetrize", short, EFLOMAL, "--partial", "-o", out, "--quiet")
    assert f"{PAIRS - KEPT} sentence pairs have no" in ran.err
    out = tmp_path / "out.jsonl"
    ran = run(capsys, "merge", short, "--add", f"x={GOLD}", "--partial", "-o", out, "--quiet")
    assert f"{PAIRS - KEPT} pairs are only in" in ran.err
