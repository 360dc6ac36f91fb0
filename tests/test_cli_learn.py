"""The command learn, and what align does with what was learned."""

import json
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from command import FRENCH, GOLD, PARAPHRASES, TEXTS, made, run, write

from alignkit.align import Aligner
from alignkit.cli import main
from alignkit.io.atomic_files import WriteError

HOW = ["--identity", "3", "--ignore-identical"]
LINES = Path(PARAPHRASES).read_text(encoding="utf-8").splitlines(keepends=True)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """Return the file of a model that learned from the samples, and the file of what was told."""
    path = str(tmp_path_factory.mktemp("learned") / "model")
    with open(f"{path}.json", "w", encoding="utf-8") as told, redirect_stdout(told):
        assert main(["learn", PARAPHRASES, *HOW, "--save", path, "--json"]) == 0
    return path


def test_learning_prints_a_table_and_saves(capsys, tmp_path):
    path = tmp_path / "model"
    how = ["--objective", "aer", "--prior", "none", "--save", path]
    ran = made(capsys, "learn", GOLD, *TEXTS, *how)
    for text in ("AER", "before", "learned", "difference", "calibration error", "threshold"):
        assert text in ran.out
    lessons = Aligner.load(path).parameters.learned.lessons
    assert lessons.objective == "aer"
    assert (lessons.kind == "unsupervised") == ("not used: no gain" in ran.out)


def test_what_was_learned_is_applied_unless_asked_otherwise(capsys, learned):
    given = ["align", PARAPHRASES, "--load", learned]
    with_it, without = (run(capsys, *given, *more).out for more in ([], ["--no-learned"]))
    assert with_it != without == run(capsys, "align", PARAPHRASES, "--identity", 3).out
    assert run(capsys, *given, "--threads", 1).out == with_it
    # the aligner's own, told
    assert "--symmetrize" in made(capsys, *given, "--symmetrize", "union").err


def test_align_learns_and_aligns_at_once_and_sums_it_up(capsys, learned, tmp_path):
    align = ["align", PARAPHRASES, "-o", tmp_path / "o", "--json"]
    ran = run(capsys, *align, "--learn", "gold", *HOW)
    assert (tmp_path / "o").read_text() == run(capsys, "align", PARAPHRASES, "--load", learned).out
    assert "on 64 pairs" in ran.err
    told = json.loads(Path(f"{learned}.json").read_text(encoding="utf-8"))
    assert (ran.json["learned"], told["pairs"]) == (told, 64)
    assert told["gain"]["low"] < told["gain"]["value"] < told["gain"]["high"]
    assert set(told["losses"]) >= {"platt", "strong", "all-30"}
    assert run(capsys, *align, "--identity", 3).json["learned"] is None


def test_of_a_model_that_gained_nothing_nothing_is_left_aside(capsys, tmp_path):
    same = write(tmp_path, "same.tsv", "".join(f"w{k} x\tw{k} x\t0-0 1-1\n" for k in range(9)))
    given = ["learn", same, "--format", "xlwa", "--save", tmp_path / "m"]
    assert "not used" in made(capsys, *given).out
    given = ["align", PARAPHRASES, "--load", tmp_path / "m", "--symmetrize", "union"]
    assert "corrections from gold" not in made(capsys, *given).err


def test_a_prior_is_taken_by_name_alone(capsys):
    given = ["align", FRENCH / "fr.txt", FRENCH / "en.txt"]
    plain = run(capsys, *given).out
    assert run(capsys, *given, "--prior", "none").out == plain
    assert run(capsys, *given, "--prior", "samples").out != plain


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["learn", PARAPHRASES, "--gold", "zoe"], "zoe"),
        (["learn", PARAPHRASES, "--prior", "nowhere"], "--prior nowhere: no such"),
        (["learn", PARAPHRASES, "--prior", GOLD], "is not a prior"),
        (["learn", PARAPHRASES, "--load", "m", "--identity", "3"], "leave out --identity"),
        (["learn", PARAPHRASES, "--objective", "fame"], "--objective"),
        (["align", PARAPHRASES, "--load", "m", "--learn", "gold", "--save", "n"], "alignkit learn"),
        (["align", PARAPHRASES, "--objective", "aer"], "--objective needs --learn NAME"),
        (["align", PARAPHRASES, "--no-learned"], "--no-learned needs --load FILE"),
        (["align", PARAPHRASES, "--learn", "gold", "--symmetrize", "union"], "--symmetrize"),
        (["align", "few.jsonl", "--learn", "gold", "--sure", "0.01"], "--sure"),
        (["align", PARAPHRASES, "--learn", "zoe"], "zoe"),
        (["align", FRENCH / "fr.txt", FRENCH / "en.txt", "--learn", "gold"], "--learn"),
    ],
)
def test_what_makes_no_sense_is_refused(capsys, monkeypatch, tmp_path, words, told):
    write(tmp_path, "few.jsonl", "".join(LINES[:9]))
    monkeypatch.chdir(tmp_path)
    run(capsys, *words).failed(told)


def test_too_few_pairs_are_refused(capsys, tmp_path):
    place = write(tmp_path, "few.jsonl", "".join(LINES[:5]))
    run(capsys, "learn", place).failed("few.jsonl: 'gold' aligned 4", "at least 5")
    run(capsys, "align", place, "--learn", "gold").failed("few.jsonl: 'gold' aligned 4")


@pytest.mark.parametrize("objective", ["links", "aer"])
def test_gold_without_a_sure_link_is_refused(capsys, tmp_path, objective):
    pairs = [json.loads(line) for line in LINES[1:9]]
    for pair in pairs:
        gold = pair["annotations"]["gold"]
        gold["possible"], gold["sure"] = gold["sure"], ""
    text = LINES[0] + "".join(json.dumps(pair) + "\n" for pair in pairs)
    place = write(tmp_path, "possible.jsonl", text)
    told = f"{place}: 'gold' made no sure links"
    run(capsys, "learn", place, "--objective", objective).failed(told)


def test_vectors_that_were_learned_with_are_asked_for(capsys, tmp_path):
    vectors, model = tmp_path / "v.vec", tmp_path / "model"
    vectors.write_text("".join(f"{word} 1 {k}\n" for k, word in enumerate(["the", "of", "a"])))
    gold = write(tmp_path, "gold.jsonl", "".join(LINES[:41]))
    how = [gold, *HOW, "--prior", "none"]
    ran = run(capsys, "learn", *how, "--vectors", vectors, "--save", model)
    assert "3 vectors of 2 dimensions" in ran.err
    assert "words have no vector" in ran.err
    assert "not used" not in ran.out
    align = ["align", PARAPHRASES, "--load", model]
    run(capsys, *align).failed("model: ", "--vectors", "--no-learned")
    assert run(capsys, *align, "--no-learned").code == 0
    told = "use the vectors of the training"
    assert told not in run(capsys, *align, "--vectors", vectors).err
    assert told in run(capsys, *align, "--vectors", write(tmp_path, "other.vec", "the 1 2 3\n")).err
    ran = made(capsys, *align, "--prior", "samples")
    assert "gold links are replaced" in ran.err


def test_what_was_found_is_told_where_it_cannot_be_saved(capsys, tmp_path, monkeypatch):
    def full(aligner, path):
        raise WriteError(f"{path}: cannot be written: no space left")

    monkeypatch.setattr(Aligner, "save", full)
    ran = run(capsys, "learn", GOLD, *TEXTS, "--save", tmp_path / "model")
    assert ran.code == 2
    assert "no space left" in ran.err
    assert "on 52 pairs" in ran.out


def test_pairs_that_are_left_out_are_counted(capsys, tmp_path):
    long = json.loads(LINES[1])
    for side in ("source", "target"):
        long[side] += ["word"] * 401
    text = LINES[0] + json.dumps(long) + "\n" + "".join(LINES[2:9])
    ran = run(capsys, "learn", write(tmp_path, "corpus.jsonl", text))
    assert "cross-validation on 7 pairs" in ran.out
    assert "1 x annotated pair" in ran.err
