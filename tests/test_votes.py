"""What an adjudicated version made of votes: by hand, by a plain count, of published links."""

import csv
from dataclasses import replace

import pytest
from command import PARAPHRASES, made
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Alignment, Annotation, Corpus, SentencePair, agree, read_corpus
from alignkit.agreement import vote_table
from alignkit.errors import OptionError, UnknownNameError
from alignkit.stats import wilson_interval


def pair_of(id, *texts, when=None):
    names = "ann", "ben", "gold"
    said = {
        name: Annotation(Alignment.parse(text), when=when if name == "gold" else None)
        for name, text in zip(names, texts, strict=True)
    }
    return SentencePair(id, ["a", "b"], ["a", "c"], said)


def test_votes_by_hand():
    corpus = Corpus([
        pair_of("1", "0-0 1-1", "0-0 1?1", "0-0 1-1"),
        pair_of("2", "0-0", "0-0", "0-0 1?1"),
        pair_of("3", "", "0?1", ""),
    ])  # fmt: skip
    table = vote_table(corpus, "gold", ["ann", "ben"])
    # none, possible, sure: what the cells became
    assert table.combinations() == {
        (0, 0): (0, 1, 0), (0, 1): (1, 0, 0), (2, 1): (0, 0, 1), (2, 2): (0, 0, 2)}  # fmt: skip
    assert table.combinations(equal=True) == {(2, 2): (0, 0, 2)}
    assert table.combinations(half=1) == {(0, 1): (1, 0, 0)}
    assert (table.stands(0), table.stands(1)) == ((2, 2), (0, 2))
    assert (table.agreed, table.changed) == (1, 1)
    assert "Links in 'gold' that no annotator drew: 1" in table.summary
    first = next(row for row in table.tables()[1].to_records() if row["vote ann"] == "none")
    assert first["prevailed"] == "-"


def test_halves_are_in_the_order_of_adjudication():
    pairs = [pair_of(str(k), "0-0", "", "0-0", when=f"2026-01-0{9 - k}T00:00:00Z") for k in (1, 2)]
    pairs[1] = pair_of("2", "", "0-0", "", when="2026-01-01T00:00:00Z")
    table = vote_table(Corpus(pairs), "gold", ["ann", "ben"])
    assert table.combinations(half=0) == {(0, 2): (1, 0, 0)}


STATES = st.dictionaries(st.sampled_from(["0-0", "0-1", "1-0", "1-1"]), st.integers(1, 2))


@given(st.lists(st.tuples(STATES, STATES, STATES), min_size=1, max_size=6))
def test_every_cell_is_counted_once(rows):
    def text(states):
        return " ".join(cell if n == 2 else cell.replace("-", "?") for cell, n in states.items())

    corpus = Corpus(pair_of(str(k), *map(text, row)) for k, row in enumerate(rows))
    table = vote_table(corpus, "gold", ["ann", "ben"])
    plain = {}
    for row in rows:
        for cell in {*row[0], *row[1], *row[2]}:
            votes = row[0].get(cell, 0), row[1].get(cell, 0)
            plain.setdefault(votes, [0, 0, 0])[row[2].get(cell, 0)] += 1
    assert table.combinations() == {votes: tuple(row) for votes, row in plain.items()}
    assert table.agreed == sum(a == b for a, b, _ in rows)


def test_bad_questions():
    corpus = read_corpus(PARAPHRASES)
    with pytest.raises(UnknownNameError):
        vote_table(corpus, "nobody")
    with pytest.raises(OptionError, match="1 voter"):
        vote_table(corpus, "gold", ["anna"])


def test_the_votes_are_part_of_the_agreement(capsys):
    corpus = read_corpus(PARAPHRASES)
    table = agree(corpus).votes
    assert table.annotators == ("anna", "ben")
    assert table.combinations() == vote_table(corpus, "gold").combinations()
    assert agree(corpus, adjudicated="").votes is None
    ran = made(capsys, "agree", PARAPHRASES, "--adjudicated", "gold", "--json")
    assert ran.json["votes"]["votes-different"][0]["cells"] > 0
    text = made(capsys, "agree", PARAPHRASES, "--csv").out
    counts = {row["statistic"]: float(row["value"]) for row in csv.DictReader(text.splitlines())
              if row["level"] == "different.votes"}  # fmt: skip
    for votes, row in table.combinations(equal=False).items():
        drawn = "+".join(("none", "possible", "sure")[vote] for vote in votes)
        assert [counts[f"{drawn}:{state}"] for state in ("none", "possible", "sure")] == list(row)
    text = made(capsys, "agree", PARAPHRASES, "--tables", "votes").out
    assert text.startswith("Where the annotators differ: whose vote does 'gold' follow?")
    assert "no annotator drew: 3" in " ".join(text.split())


def adjudicated(corpus, source):
    """Give each pair a gold version: that of the annotator whom a function of the place names."""
    return Corpus(
        replace(pair, annotations={
            **pair.annotations, "gold": Annotation(pair.alignment(source(k)), role="adjudicated")
        }) for k, pair in enumerate(corpus)
    )  # fmt: skip


def test_a_version_that_is_the_majority_or_changes_is_cautioned():
    texts = "0-0 1-1", "0-0", "0-0 0-1"
    corpus = Corpus(
        SentencePair(str(k), ["a", "b"], ["c", "d"], {
            name: Annotation(Alignment.parse(texts[(k + place) % 3]))
            for place, name in enumerate(["x", "y", "z", "most"])
        }) for k in range(39)
    )  # fmt: skip
    names, majority = ["x", "y", "z"], Annotation(Alignment.parse("0-0"))
    corpus = Corpus(replace(pair, annotations=pair.annotations | {"most": majority})
                    for pair in corpus)  # fmt: skip
    joint = agree(adjudicated(corpus, lambda k: "most" if k else "x"), names)
    cautions = {caution.code: caution for caution in joint.cautions}
    assert cautions["joint"].number == "38 of 39"
    assert "covers about 90%" in cautions["few-pairs"].says
    assert "few-pairs" in joint.answer.codes
    changed = agree(adjudicated(corpus, lambda k: "x" if k < 20 else "y"), names)
    codes = {caution.code for caution in changed.cautions}
    assert {"joint", "unsteady"} & codes == {"unsteady"}
    assert "few-pairs" not in {c.code for c in agree(Corpus([*corpus, *corpus]), names).cautions}


@pytest.mark.real_data
def test_the_numbers_of_goldalign(data):
    corpus = read_corpus(str(data / "goldalign"), format="goldalign")
    table = vote_table(corpus, "arbit", ["demo-user-1", "demo-user-2"])
    counts = table.combinations()
    assert {votes: counts[votes] for votes in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]} == {
        (0, 1): (148, 116, 1), (0, 2): (158, 11, 21), (1, 0): (249, 371, 4),
        (1, 2): (4, 55, 17), (2, 0): (17, 29, 45), (2, 1): (7, 46, 49)}  # fmt: skip
    assert (table.agreed, table.changed) == (256, 35)
    assert (
        "112 of the 1643 cells that all linked in the same way; 35 of the 256 pairs"
        in table.summary[1]
    )
    assert table.summary[0] == "Links in 'arbit' that no annotator drew: 246"
    low, high = wilson_interval(*table.stands(0))
    assert (low, high) == pytest.approx((0.586, 0.638), abs=1e-3)
    assert max(table.steady) < 0.01
