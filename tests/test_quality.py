"""`alignkit quality`: from a corpus to verdicts, lists for re-annotation and good phrases."""

from __future__ import annotations

import csv
import io
import json
from math import isnan

import numpy as np
import pytest

from alignkit import Annotation, Corpus, SentencePair, write_corpus
from alignkit.agreement import CrowdQuality, crowd_quality
from alignkit.cli.main import main
from alignkit.errors import OptionError, UnknownNameError
from alignkit.tables.columns import Value

GOOD = ("ann", "bea", "cid")


def crowd(pairs: int = 40, gold: int = 12, times: bool = False) -> Corpus:
    """Three who judge as the gold does, one who guesses, one who always errs, one who came late."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, pairs)
    made = []
    for number, right in enumerate(truth.tolist()):
        said = {**dict.fromkeys(GOOD, right), "guess": int(rng.integers(0, 2)), "wrong": 1 - right}
        if number >= 30:
            said["late"] = right
            del said["ann"]
        if number < gold:
            said["gold"] = right
        when = f"2026-11-{28 - number % 28:02d}T10:00:00Z" if times else None
        notes = {
            name: Annotation(None, judgment=str(label), when=when) for name, label in said.items()
        }
        phrase = {"phrase": f"p{number // 4}"} if number < 32 else {}
        made.append(SentencePair(f"q{number}", ("a", str(number)), ("b",), notes, phrase))
    return Corpus(made)


def by_name(found: CrowdQuality) -> dict[str, tuple[int, int, str]]:
    return {one.name: (one.gold.judged, one.gold.right, one.gold.verdict)
            for one in found.annotators}  # fmt: skip


def test_who_errs_is_rejected_and_who_guesses_is_judged_again() -> None:
    found = crowd_quality(crowd(), gold="gold", scheme="binary")
    told = by_name(found)
    assert told["ann"] == (12, 12, "keep")
    assert told["wrong"] == (12, 0, "reject")
    assert told["late"] == (0, 0, "too few")
    again = dict(found.again)
    assert set(again) == {f"q{k}" for k in range(40)}  # all that guess and wrong have judged
    corpus = {pair.id: pair for pair in crowd()}
    for id, who in again.items():
        assert "wrong" not in who
        assert not set(who) & set(corpus[id].annotations)
        free = {"ann", "late"} - set(corpus[id].annotations)
        assert set(who) == free
    one = found.annotators[0]
    assert (one.gold.low, one.gold.high) == pytest.approx((0.7575, 1), abs=5e-5)  # Wilson
    # P(Bin(12, 1/2) < 6) = 1586 / 4096
    assert one.power == pytest.approx(1586 / 4096)


def test_kappas_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    pairs = [pair for pair in crowd() if "late" not in pair.annotations]
    found = crowd_quality(Corpus(pairs), gold="gold", scheme="binary")
    labels = {
        name: [int(pair.annotations[name].judgment) for pair in pairs]
        for name in (*GOOD, "guess", "wrong")
    }
    for one in found.annotators:
        others = [values for name, values in labels.items() if name != one.name]
        votes = [(mine, sum(rest)) for mine, *rest in zip(labels[one.name], *others, strict=True)]
        settled = [(mine, int(vote > 2)) for mine, vote in votes if vote != 2]
        assert one.others == pytest.approx(metrics.cohen_kappa_score(*zip(*settled, strict=True)))
        whole = [(mine, int(mine + vote > 2)) for mine, vote in votes]
        assert one.consensus == pytest.approx(metrics.cohen_kappa_score(*zip(*whole, strict=True)))


def test_the_consensus_spares_who_guesses() -> None:
    """One of three who guesses expects .5 - k / 2, where k is the kappa of the other two."""
    rng = np.random.default_rng(3)
    first, guess = rng.integers(0, 2, (2, 4000))
    for share in (1.0, 0.0):
        second = np.where(rng.random(4000) < share, first, rng.integers(0, 2, 4000))
        corpus = Corpus(
            SentencePair(str(k), ("a",), ("b",), {
                name: Annotation(None, judgment=str(label))
                for name, label in zip("abcg", (*row, row[0]), strict=True)
            })
            for k, row in enumerate(zip(first, second, guess, strict=True))
        )  # fmt: skip
        found = crowd_quality(corpus, gold="g", scheme="binary", by="consensus")
        assert found.annotators[2].consensus == pytest.approx(0.5 - share / 2, abs=0.04)
        assert "contains" in [one.code for one in found.told]


def test_a_running_project_goes_by_time() -> None:
    def made(when: bool) -> Corpus:
        return Corpus(
            SentencePair(str(k), ("a",), ("b",), {
                "gold": Annotation(None, judgment="1"),
                "ann": Annotation(None, judgment="1"),
                "ben": Annotation(None, judgment=str(int(k < 14)),
                                  when=f"2026-11-{28 - k:02d}T10:00:00Z" if when else None),
            })
            for k in range(20)
        )  # fmt: skip

    def verdict(when: bool, sequential: bool) -> tuple[str, int | None]:
        found = crowd_quality(made(when), gold="gold", scheme="binary", sequential=sequential)
        return found.annotators[1].gold.verdict, found.annotators[1].gold.rejected_at

    assert verdict(True, False) == verdict(False, False) == ("keep", None)
    assert verdict(False, True) == ("keep", None)
    assert verdict(True, True) == ("reject", 10)
    found = crowd_quality(made(True), gold="gold", scheme="binary", sequential=True)
    assert "untimed" in [one.code for one in found.told]  # ann's have none
    assert found.annotators[0].power == pytest.approx(0.64676, abs=5e-6)


def test_gold_that_most_contradict_is_listed() -> None:
    pairs = list(crowd())
    notes = dict(pairs[0].annotations)
    right = notes["ann"].judgment
    notes["gold"] = Annotation(None, judgment=str(1 - int(right)))
    pairs[0] = SentencePair("q0", ("a", "0"), ("b",), notes)
    (one,) = crowd_quality(Corpus(pairs), gold="gold", scheme="binary").suspicious
    agreeing = sum(notes[name].judgment == right for name in (*GOOD, "guess"))
    assert (one.id, one.instead, one.against, one.judged) == ("q0", right, agreeing, 4)


def test_long_lists_are_shortened_for_people_and_counted() -> None:
    """Nobody is left for 246 of 300 pairs; the other 54 are more than is shown."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 300).tolist()
    pairs = []
    for k, right in enumerate(truth):
        said = {"ann": right, "bea": right, "cid": right, "guess": int(rng.integers(0, 2))}
        said |= {"gold": right} if k < 20 else {}
        if k >= 246:
            del said["ann"]
        notes = {name: Annotation(None, judgment=str(label)) for name, label in said.items()}
        pairs.append(SentencePair(f"q{k}", ("a",), ("b",), notes, {"phrase": f"f{k}"}))
    found = crowd_quality(Corpus(pairs), gold="gold", scheme="binary", over="phrase")
    text, again = " ".join(found.show().split()), found.shown_tables()[1]
    assert "by whom: 300 pairs; nobody is left who could judge 246 of them" in text
    assert [row[0] for row in again.rows] == [f"q{k}" for k in range(246, 286)]
    assert "40 of 300 are listed; --csv and --json have all" in text
    assert len(found.shown_tables()[-1].rows) == 40
    assert len(found.to_json()["again"]) == len(found.to_json()["phrases"]) == 300
    assert found.csv().count("again,") == 300
    alone = crowd_quality(Corpus(pairs[:246]), gold="gold", scheme="binary")
    assert not alone.shown_tables()[1].rows
    assert "not listed here; --csv and --json have all" in alone.show()


def votes(rows: dict[str, list[str]]) -> Corpus:
    """Each text is a context of the phrase, a letter a judgment; the gold is of other pairs."""
    pairs = [
        SentencePair(f"{phrase}{k}", ("a",), ("b",), {
            f"w{n}": Annotation(None, judgment=label) for n, label in enumerate(text)
        }, {"phrase": phrase})
        for phrase, texts in rows.items() for k, text in enumerate(texts)
    ]  # fmt: skip
    gold = SentencePair("g", ("a",), ("b",), {"gold": Annotation(None, judgment="1")})
    return Corpus([*pairs, gold])


def test_a_phrase_is_good_by_a_strict_majority_of_five() -> None:
    corpus = votes({"sick": ["11100", "00000"], "ill": ["1100", "11000"], "poor": ["11111"]})
    for within, good in (("any", {"sick", "poor"}), ("majority", {"poor"}), ("all", {"poor"})):
        found = crowd_quality(corpus, gold="gold", scheme="binary", over="phrase", good_in=within)
        assert {one.phrase for one in found.phrases if one.verdict == "good"} == good
        assert [one.contexts for one in found.phrases] == [2, 2, 1]
    other = crowd_quality(corpus, gold="gold", scheme="binary", over="phrase", good=["0"])
    assert {one.phrase for one in other.phrases if one.verdict == "good"} == {"sick", "ill"}
    with pytest.raises(UnknownNameError, match="label"):
        crowd_quality(corpus, gold="gold", scheme="binary", over="phrase", good=["7"])


def test_who_is_no_better_than_one_label_is_in_doubt() -> None:
    """Nine of twelve gold questions are 1: lazy has 75% right, and so has who errs in three."""
    truth = [1] * 9 + [0] * 3
    rows = {"gold": truth, "lazy": [1] * 12, "errs": [0, 0, 0, *truth[3:]], "good": truth,
            "best": truth, "few": [1] * 9, "other": [0] * 12}  # fmt: skip
    corpus = Corpus(
        SentencePair(str(k), ("a",), ("b",), {
            name: Annotation(None, judgment=str(row[k])) for name, row in rows.items()
            if k < len(row)
        })
        for k in range(12)
    )  # fmt: skip
    found = crowd_quality(corpus, gold="gold", scheme="binary")
    people = {one.name: one for one in found.annotators}
    verdicts = {name: one.gold.verdict for name, one in people.items()}
    assert verdicts == {"lazy": "in doubt", "errs": "in doubt", "good": "keep", "best": "keep",
                        "few": "too few", "other": "reject"}  # fmt: skip
    assert people["lazy"].gold.baseline == people["lazy"].gold.accuracy == 0.75
    assert (found.commonest, found.baseline) == ("1", 0.75)
    told = {one.code: one.pairings for one in found.told}
    assert told["in-doubt"] == ("lazy", "errs")
    assert told["one-label"] == ("lazy", "few", "other")
    record = found.to_json()
    assert (record["commonest"], record["baseline"]) == ("1", 0.75)
    lazy, errs = record["annotators"][:2]
    assert (lazy["baseline"], lazy["verdict"], lazy["kappa others"]) == (0.75, "in doubt", None)
    assert errs["kappa others"] is not None
    assert "always answering '1', the commonest label, has 75.0% right" in found.show()
    assert "a kappa of one label measures nothing" in " ".join(found.show().split())
    same = crowd_quality(corpus[:9], gold="gold", scheme="binary")
    assert same.baseline == 1


def test_two_annotators_have_their_kappa_alone() -> None:
    found = crowd_quality(crowd(), ["ann", "bea"], gold="gold", scheme="binary")
    assert [one.others for one in found.annotators] == [1, 1]
    assert all(isnan(one.consensus) for one in found.annotators)


def test_what_cannot_be_is_refused() -> None:
    corpus = crowd()
    for wrong, error, told in (
        ({"gold": "nobody"}, UnknownNameError, "ann"),
        ({"good": ["1"]}, OptionError, "over"),
        ({"by": "all"}, UnknownNameError, "others"),
        ({"over": "phrase", "good_in": "most"}, UnknownNameError, "majority"),
        ({"over": "genre"}, UnknownNameError, "phrase"),
    ):
        with pytest.raises(error, match=told):
            crowd_quality(corpus, **{"gold": "gold", "scheme": "binary", **wrong})
    with pytest.raises(OptionError, match="do not name it"):
        crowd_quality(corpus, ["ann", "gold"], gold="gold", scheme="binary")


def test_the_command_says_the_same_in_every_medium(tmp_path, capsys) -> None:
    path, page = tmp_path / "crowd.jsonl", tmp_path / "page.html"
    write_corpus(crowd(times=True), path, format="alignkit-jsonl")
    given = ["quality", str(path), "--gold", "gold", "--scheme", "binary", "--sequential"]
    given += ["--over", "phrase", "--good-in", "all"]
    found = crowd_quality(
        crowd(times=True), gold="gold", scheme="binary", sequential=True, over="phrase",
        good_in="all",
    )  # fmt: skip
    assert main([*given, "--json", "--html", str(page)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads(json.dumps(found.to_json()))
    assert [one["pair"] for one in told["again"]] == [id for id, _ in found.again]
    assert main([*given, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == sum(len(table.rows) for table in found.tables())
    (wrong,) = [row for row in rows if row["annotator"] == "wrong"]
    assert (wrong["verdict"], wrong["rejected_at"]) == ("reject", "10")
    for medium in ("text", "markdown", "latex"):
        assert main([*given, *([] if medium == "text" else [f"--{medium}"])]) == 0
        assert capsys.readouterr().out == found.show(medium) + "\n"
    assert "reject" in page.read_text(encoding="utf-8")
    cells = [cell for row in found.tables()[0].rows for cell in row if isinstance(cell, Value)]
    assert len(cells) == len(found.annotators)
    assert main([*given[:-4], "--good-in", "any"]) == 2
    assert "--over" in capsys.readouterr().err
    assert main([*given, "--as", "parade"]) == 0
    assert ".5 - k / 2" in " ".join(capsys.readouterr().out.split())
