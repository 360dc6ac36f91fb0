"""The quality of a crowd: gold questions, who judges again, good phrases, and the command."""

import csv
import io
import json
from fractions import Fraction
from math import comb, isnan, nan

import numpy as np
import pytest
from command import run
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_st
from refusals import refuses

from alignkit import Annotation, Corpus, SentencePair, write_corpus
from alignkit.agreement import crowd_quality
from alignkit.agreement.judgments.consensus import answer_gold, judge_again, rejection_chance
from alignkit.errors import OptionError, UnknownNameError
from alignkit.tables.columns import Value

GOOD = ("ann", "bea", "cid")


def judged(id, said, *, words=("a",), when=None, **attributes):
    notes = {
        name: Annotation(None, judgment=str(label), when=(when or {}).get(name))
        for name, label in said.items()
    }
    return SentencePair(str(id), words, ("b",), notes, attributes)


def measure(corpus, *given, **options):
    return crowd_quality(corpus, *given, **{"gold": "gold", "scheme": "binary", **options})


def crowd(times=False):
    """Three who judge as the gold does, one who guesses, one who always errs, one who came late."""
    rng = np.random.default_rng(4)
    pairs = []
    for number, right in enumerate(rng.integers(0, 2, 40).tolist()):
        said = {**dict.fromkeys(GOOD, right), "guess": int(rng.integers(0, 2)), "wrong": 1 - right}
        if number >= 30:
            said["late"] = right
            del said["ann"]
        if number < 12:
            said["gold"] = right
        when = dict.fromkeys(said, f"2026-11-{28 - number % 28:02d}T10:00:00Z") if times else None
        phrase = {"phrase": f"p{number // 4}"} if number < 32 else {}
        pairs.append(judged(f"q{number}", said, words=("a", str(number)), when=when, **phrase))
    return Corpus(pairs)


def verdict(text, *, sequential=False, after=10):
    """+ is right, - is wrong, a blank is not judged; the gold is 0 everywhere."""
    answers = np.array([{"+": 0, "-": 1, " ": -1}[mark] for mark in text], np.int8)
    result = answer_gold(answers, np.zeros(len(text), np.int8), sequential=sequential, after=after)
    return result.verdict, result.rejected_at


def test_below_half_after_ten_is_rejected_and_half_stays():
    assert verdict("+++++-----") == ("keep", None)
    assert verdict("++++------") == verdict("--------- -") == ("reject", 10)
    assert verdict("---------") == verdict("") == ("too few", None)
    recovered = "++++------" + "++++"  # a running project looks after each
    assert verdict(recovered) == ("keep", None)
    assert verdict(recovered, sequential=True) == ("reject", 10)
    assert verdict("+++++-----" + "-", sequential=True) == ("reject", 11)


def test_after_counts_gold_questions():
    """2 of 5 right are fewer than half; half of the 32 answers to 5 questions has at most 2."""
    answers = "++---" + 20 * "+"
    assert verdict(answers, sequential=True, after=5) == ("reject", 5)
    assert verdict(answers, sequential=True, after=20) == ("keep", None)
    assert verdict(14 * "-", after=20) == ("too few", None)
    assert (
        rejection_chance(5, 2, after=5) == rejection_chance(5, 2, sequential=True, after=5) == 0.5
    )
    assert rejection_chance(19, 2, after=20) == 0
    quality = measure(crowd(), after=100)
    assert {who.gold.verdict for who in quality.annotators} == {"too few"}
    assert "or more gold questions" in quality.head[2]
    assert "100 that are needed" in str(quality.cautions)
    refuses(OptionError, "at least 1, not 0", measure, crowd(), after=0)


def test_the_chance_to_reject_who_guesses():
    """Binomial sums, and walks below half."""
    assert rejection_chance(10, 2) == pytest.approx(0.37695, abs=5e-6)
    assert rejection_chance(10, 4) == pytest.approx(0.922, abs=5e-4)
    # all 2 ** 20 rows of answers, listed: .64676
    assert rejection_chance(20, 2, sequential=True) == pytest.approx(0.64676, abs=5e-6)
    assert rejection_chance(50, 2, sequential=True) == pytest.approx(0.78630, abs=5e-6)
    # exact binomial sums
    for count, labels in ((10, 2), (11, 3), (57, 2), (200, 4)):
        ways = sum(
            comb(count, right) * (labels - 1) ** (count - right)
            for right in range(count + 1)
            if 2 * right < count
        )
        exact = float(Fraction(ways, labels**count))
        assert rejection_chance(count, labels) == pytest.approx(exact, rel=1e-12)
    assert rejection_chance(4000, 2) == pytest.approx(0.5, abs=0.01)
    assert rejection_chance(9, 2) == rejection_chance(9, 2, sequential=True) == 0
    refuses(OptionError, "2 or more labels", rejection_chance, 10, 1)


def test_gold_that_most_contradict_is_suspicious():
    first, *rest = crowd()
    right = first.annotations["ann"].judgment
    notes = {**first.annotations, "gold": Annotation(None, judgment=str(1 - int(right)))}
    (suspect,) = measure(Corpus([SentencePair("q0", ("a", "0"), ("b",), notes), *rest])).suspicious
    assert (suspect.id, suspect.instead, suspect.against, suspect.judged) == (
        "q0",
        right,
        sum(notes[name].judgment == right for name in (*GOOD, "guess")),
        4,
    )


def test_a_running_project_goes_by_time():
    def verdicts(when, sequential):
        pairs = (
            judged(
                k,
                {"gold": 1, "ann": 1, "ben": int(k < 14)},
                when={"ben": f"2026-11-{28 - k:02d}T10:00:00Z"} if when else None,
            )
            for k in range(20)
        )
        quality = measure(Corpus(pairs), sequential=sequential)
        codes = [caution.code for caution in quality.warnings]
        assert ("untimed" in codes) == sequential  # ann's have no times
        assert sequential == (quality.annotators[0].power == pytest.approx(0.64676, abs=5e-6))
        return quality.annotators[1].gold.verdict, quality.annotators[1].gold.rejected_at

    assert verdicts(True, False) == verdicts(False, False) == ("keep", None)
    assert (verdicts(False, True), verdicts(True, True)) == (("keep", None), ("reject", 10))


def test_who_is_no_better_than_one_label_is_in_doubt():
    """Nine of twelve gold questions are 1: lazy has 75% right, and so has who errs in three."""
    truth = [1] * 9 + [0] * 3
    rows = {
        "gold": truth,
        "lazy": [1] * 12,
        "errs": [0, 0, 0, *truth[3:]],
        "good": truth,
        "best": truth,
        "few": [1] * 9,
        "other": [0] * 12,
    }
    said = [{name: row[k] for name, row in rows.items() if k < len(row)} for k in range(12)]
    corpus = Corpus(judged(k, one) for k, one in enumerate(said))
    quality = measure(corpus)
    people = {person.name: person for person in quality.annotators}
    verdicts = {name: person.gold.verdict for name, person in people.items()}
    assert verdicts == {
        "lazy": "in doubt",
        "errs": "in doubt",
        "good": "keep",
        "best": "keep",
        "few": "too few",
        "other": "reject",
    }
    assert people["lazy"].gold.baseline == people["lazy"].gold.accuracy == 0.75
    assert (quality.commonest, quality.baseline) == ("1", 0.75)
    cautions = {caution.code: caution.pairings for caution in quality.warnings}
    assert cautions["in-doubt"] == ("lazy", "errs")
    assert cautions["one-label"] == ("lazy", "few", "other")
    record = quality.to_json()
    assert (record["commonest"], record["baseline"]) == ("1", 0.75)
    lazy, errs = record["annotators"][:2]
    assert (lazy["baseline"], lazy["verdict"], lazy["kappa others"]) == (0.75, "in doubt", None)
    assert errs["kappa others"] is not None
    assert "right in 75.0%" in quality.show()
    assert measure(corpus[:9]).baseline == 1


def test_people_alone_are_looked_at_unless_named():
    machine = Corpus(crowd()).with_roles({"guess": "system"})
    quality = measure(machine)
    assert "guess" not in [person.name for person in quality.annotators]
    assert "40 judgments of guess" in quality.show()
    assert "left out" not in measure(machine, ["ann", "guess"]).show()


def test_who_errs_is_rejected_and_who_guesses_is_judged_again():
    quality = measure(crowd())
    people = {person.name: person for person in quality.annotators}
    golds = {name: vars(person.gold) for name, person in people.items()}
    for name, wanted in (
        ("ann", (12, 12, "keep")),
        ("wrong", (12, 0, "reject")),
        ("late", (0, 0, "too few")),
    ):
        assert tuple(golds[name][key] for key in ("judged", "right", "verdict")) == wanted
    again = dict(quality.again)
    corpus = {pair.id: pair for pair in crowd()}
    assert set(again) == set(corpus)  # all that guess and wrong have judged
    for id, who in again.items():
        assert set(who) == {"ann", "late"} - set(corpus[id].annotations)
    ann = people["ann"]
    assert (ann.gold.low, ann.gold.high) == pytest.approx((0.7575, 1), abs=5e-5)  # Wilson
    # P(Bin(12, 1/2) < 6) = 1586 / 4096
    assert ann.power == pytest.approx(1586 / 4096)


MATRICES = numpy_st.arrays(np.int8, (5, 8), elements=st.integers(-1, 2))


@given(MATRICES, st.lists(st.floats(-1, 1) | st.just(nan), min_size=5, max_size=5))
def test_nobody_judges_a_pair_twice(values, kappas):
    asked = judge_again(values, kappas, most=2)
    weak = [k for k in range(5) if kappas[k] < 0.4]
    assert set(asked) == {p for p in range(8) if any(values[k, p] >= 0 for k in weak)}
    for item, judges in asked.items():
        free = [k for k in range(5) if kappas[k] > 0.75 and values[k, item] < 0]
        assert len(judges) == min(2, len(free))
        assert set(judges) <= set(free)


def test_equal_judges_share_the_work_and_two_have_their_kappa_alone():
    values = np.array([[0] * 4, [-1] * 4, [-1] * 4], np.int8)
    assert judge_again(values, [0.1, 0.9, 0.9], most=1) == {0: (1,), 1: (2,), 2: (1,), 3: (2,)}
    people = measure(crowd(), ["ann", "bea"]).annotators
    assert [person.others for person in people] == [1, 1]
    assert all(isnan(person.consensus) for person in people)


def test_kappas_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    pairs = [pair for pair in crowd() if "late" not in pair.annotations]
    labels = {
        name: [int(pair.annotations[name].judgment) for pair in pairs]
        for name in (*GOOD, "guess", "wrong")
    }
    for person in measure(Corpus(pairs)).annotators:
        others = [values for name, values in labels.items() if name != person.name]
        rows = zip(labels[person.name], *others, strict=True)
        votes = [(mine, sum(rest)) for mine, *rest in rows]
        settled = [(mine, int(vote > 2)) for mine, vote in votes if vote != 2]
        kappa = metrics.cohen_kappa_score(*zip(*settled, strict=True))
        assert person.others == pytest.approx(kappa)
        whole = [(mine, int(mine + vote > 2)) for mine, vote in votes]
        kappa = metrics.cohen_kappa_score(*zip(*whole, strict=True))
        assert person.consensus == pytest.approx(kappa)


def test_the_consensus_spares_who_guesses():
    """One of three who guesses expects .5 - k / 2, where k is the kappa of the other two."""
    rng = np.random.default_rng(3)
    first, guess = rng.integers(0, 2, (2, 4000))
    for share in (1.0, 0.0):
        second = np.where(rng.random(4000) < share, first, rng.integers(0, 2, 4000))
        rows = zip(first, second, guess, first, strict=True)
        said = (dict(zip("abcg", row, strict=True)) for row in rows)
        corpus = Corpus(judged(k, row) for k, row in enumerate(said))
        quality = measure(corpus, gold="g", like="parade")
        assert quality.annotators[2].consensus == pytest.approx(0.5 - share / 2, abs=0.04)
        assert "contains" in [caution.code for caution in quality.warnings]


def test_a_phrase_is_good_by_a_strict_majority_of_five():
    # a text is a context of the phrase, a letter a judgment; the gold is of other pairs
    rows = {"sick": ["11100", "00000"], "ill": ["1100", "11000"], "poor": ["11111"]}
    pairs = [
        judged(f"{phrase}{k}", {f"w{n}": label for n, label in enumerate(text)}, phrase=phrase)
        for phrase, texts in rows.items()
        for k, text in enumerate(texts)
    ]
    corpus = Corpus([*pairs, judged("g", {"gold": 1})])

    def good(**options):
        phrases = measure(corpus, over="phrase", **options).phrases
        assert [phrase.contexts for phrase in phrases] == [2, 2, 1]
        return {phrase.phrase for phrase in phrases if phrase.verdict == "good"}

    assert good(good_in="any") == {"sick", "poor"}
    assert good(good_in="majority") == good(good_in="all") == {"poor"}
    assert good(good=["0"]) == {"sick", "ill"}
    refuses(UnknownNameError, "label", good, good=["7"])


def test_long_lists_are_shortened_for_people_and_counted():
    """Nobody is left for 246 of 300 pairs; the other 54 are more than is shown."""
    rng = np.random.default_rng(2)
    pairs = []
    for k, right in enumerate(rng.integers(0, 2, 300).tolist()):
        said = {"ann": right, "bea": right, "cid": right, "guess": int(rng.integers(0, 2))}
        said |= {"gold": right} if k < 20 else {}
        if k >= 246:
            del said["ann"]
        pairs.append(judged(f"q{k}", said, phrase=f"f{k}"))
    quality = measure(Corpus(pairs), over="phrase")
    text, again = " ".join(quality.show().split()), quality.shown_tables()[1]
    assert "left to judge 246" in text
    assert [row[0] for row in again.rows] == [f"q{k}" for k in range(246, 286)]
    assert "40 of 300 are shown" in text
    assert len(quality.shown_tables()[-1].rows) == 40
    assert len(quality.to_json()["again"]) == len(quality.to_json()["phrases"]) == 300
    assert quality.csv().count("again,") == 300
    alone = measure(Corpus(pairs[:246]))
    assert not alone.shown_tables()[1].rows
    assert "not shown here" in alone.show()


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"gold": "nobody"}, UnknownNameError, "ann"),
        ({"good": ["1"]}, OptionError, "over"),
        ({"like": "all"}, UnknownNameError, "parade"),
        ({"over": "phrase", "good_in": "most"}, UnknownNameError, "majority"),
        ({"over": "genre"}, UnknownNameError, "phrase"),
        ({"annotators": ["ann", "gold"]}, OptionError, "remove it from"),
    ],
)
def test_what_cannot_be_is_refused(wrong, error, words):
    refuses(error, words, measure, crowd(), **wrong)


def test_the_command_says_the_same_in_every_medium(tmp_path, capsys):
    path, page = tmp_path / "crowd.jsonl", tmp_path / "page.html"
    write_corpus(crowd(times=True), path, format="alignkit-jsonl")
    given = ["quality", str(path), "--gold", "gold", "--scheme", "binary", "--sequential"]
    given += ["--after", "12", "--over", "phrase", "--good-in", "all"]
    quality = measure(crowd(times=True), sequential=True, after=12, over="phrase", good_in="all")
    printed = run(capsys, *given, "--json", "--html", page).json
    assert printed == json.loads(json.dumps(quality.to_json()))
    assert [row["pair"] for row in printed["again"]] == [id for id, _ in quality.again]
    assert "reject" in page.read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(run(capsys, *given, "--csv").out)))
    assert len(rows) == sum(len(table.rows) for table in quality.tables())
    (wrong,) = [row for row in rows if row["annotator"] == "wrong"]
    assert (wrong["verdict"], wrong["rejected_at"]) == ("reject", "12")
    for medium in ("text", "markdown", "latex"):
        ran = run(capsys, *given, *([] if medium == "text" else [f"--{medium}"]))
        assert ran.out == quality.show(medium) + "\n"
    cells = [cell for row in quality.tables()[0].rows for cell in row if isinstance(cell, Value)]
    assert len(cells) == len(quality.annotators)
    run(capsys, *given[:-4], "--good-in", "all").failed("--good-in needs --over")
    run(capsys, *given, "--after", "0").failed("--after")
    assert ".5 - k / 2" in " ".join(run(capsys, *given, "--like", "parade").out.split())
