"""What an adjudicated version made of votes: by hand, by a plain count, of published links."""

import csv
from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from command import PARAPHRASES, made
from hypothesis import given
from hypothesis import strategies as st
from repetitions import repetitions
from scipy.stats import fisher_exact

from alignkit import Alignment, Annotation, Corpus, SentencePair, agree, merge, read_corpus
from alignkit.agreement import vote_table
from alignkit.errors import OptionError, UnknownNameError
from alignkit.stats import wilson_interval
from alignkit.stats.clusters import halves_test, share_interval


def pair_of(id, *texts, when=None):
    names = "ann", "ben", "gold"
    said = {
        name: Annotation(Alignment.parse(text), when=when if name == "gold" else None)
        for name, text in zip(names, texts, strict=True)
    }
    return SentencePair(id, ["a", "b"], ["a", "c"], said)


def test_votes_by_hand():
    corpus = Corpus(
        [
            pair_of("1", "0-0 1-1", "0-0 1?1", "0-0 1-1"),
            pair_of("2", "0-0", "0-0", "0-0 1?1"),
            pair_of("3", "", "0?1", ""),
        ]
    )
    table = vote_table(corpus, "gold", ["ann", "ben"])
    # none, possible, sure: what the cells became
    assert table.combinations() == {
        (0, 0): (0, 1, 0),
        (0, 1): (1, 0, 0),
        (2, 1): (0, 0, 1),
        (2, 2): (0, 0, 2),
    }
    assert table.combinations(equal=True) == {(2, 2): (0, 0, 2)}
    assert table.combinations(half=1) == {(0, 1): (1, 0, 0)}
    assert [(share.count, share.total) for share in table.shares] == [(2, 2), (0, 2)]
    assert (table.agreed, table.changed) == (1, 1)
    assert "no annotator drew: 1" in str(table.summary)
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
    table = agree(corpus, resamples=20).votes
    assert table.annotators == ("anna", "ben")
    assert table.combinations() == vote_table(corpus, "gold").combinations()
    assert agree(corpus, adjudicated="", resamples=20).votes is None
    command = ("agree", PARAPHRASES, "--resamples", "20")
    ran = made(capsys, *command, "--adjudicated", "gold", "--json")
    assert ran.json["votes"]["votes-different"][0]["cells"] > 0
    text = made(capsys, *command, "--csv").out
    counts = {
        row["statistic"]: float(row["value"])
        for row in csv.DictReader(text.splitlines())
        if row["level"] == "different.votes"
    }
    for votes, row in table.combinations(equal=False).items():
        drawn = "+".join(("none", "possible", "sure")[vote] for vote in votes)
        assert [counts[f"{drawn}:{state}"] for state in ("none", "possible", "sure")] == list(row)
    text = made(capsys, *command, "--tables", "votes").out
    assert text.startswith("Where the annotators differ")
    assert "no annotator drew: 3" in " ".join(text.split())


def adjudicated(corpus, source):
    """Give each pair a gold version: that of the annotator whom a function of the place names."""
    return Corpus(
        replace(
            pair,
            annotations={
                **pair.annotations,
                "gold": Annotation(pair.alignment(source(k)), role="adjudicated"),
            },
        )
        for k, pair in enumerate(corpus)
    )


def three(count):
    texts = "0-0 1-1", "0-0", "0-0 0-1"
    return Corpus(
        SentencePair(
            str(k),
            ["a", "b"],
            ["c", "d"],
            {
                name: Annotation(Alignment.parse(texts[(k + place) % 3]))
                for place, name in enumerate("xyz")
            },
        )
        for k in range(count)
    )


def test_a_version_that_follows_another_in_the_second_half_is_cautioned():
    corpus = three(40)
    changed = agree(adjudicated(corpus, lambda k: "x" if k < 20 else "y"), ["x", "y", "z"])
    caution = next(one for one in changed.cautions if one.code == "unsteady")
    assert caution.brief == (
        "'gold' follows y in 35% of the cells on which annotators differ in the first half of the "
        "pairs, in 100% in the second half (p < 0.0001); see the table votes"
    )
    assert "x 100% of the cells on which annotators differ, then 32%, p < 0.0001" in caution.says
    steady = agree(adjudicated(corpus, lambda k: "xyz"[k % 3]), ["x", "y", "z"])
    assert "unsteady" not in {one.code for one in steady.cautions}


def test_few_pairs_are_cautioned_below_fifty():
    assert (
        "covers about 90%"
        in next(one for one in agree(three(39)).cautions if one.code == "few-pairs").says
    )
    assert "few-pairs" not in {one.code for one in agree(three(78)).cautions}


def test_cells_of_one_pair_are_no_independent_witnesses():
    """Nine cells of one pair weigh as much as one; Fisher's test of cells has p = .009 here."""
    table = vote_table(read_corpus(PARAPHRASES), "gold")
    anna, ben = table.shares
    assert (anna.count, anna.total) == (57, 150)
    assert (anna.low, anna.high) == pytest.approx((0.21, 0.586), abs=5e-4)
    assert anna.p == ben.p == pytest.approx(0.29, abs=0.01)  # the mean of 10 seeds: .290
    again = vote_table(read_corpus(PARAPHRASES), "gold")
    assert [share.p for share in again.shares] == [anna.p, ben.p]
    other = vote_table(read_corpus(PARAPHRASES), "gold", seed=1)
    probabilities = [share.p for share in other.shares]
    assert probabilities != [anna.p, ben.p]
    assert probabilities == pytest.approx([anna.p, ben.p], abs=0.02)
    low, high = agreement_bounds(agree(read_corpus(PARAPHRASES)), "anna")
    assert (low, high) == (anna.low, anna.high)


def agreement_bounds(agreement, name):
    figures = (one for one in agreement.figures() if one.kind == "votes" and one.first == name)
    stands = next(one for one in figures if one.statistic == "stands")
    return stands.low, stands.high


def test_one_pair_has_no_interval_and_one_half_no_p():
    table = vote_table(
        Corpus([pair_of("1", "0-0 1-1 0-1", "", "0-0"), pair_of("2", "0-0", "0-0", "0-0")]), "gold"
    )
    (one, _) = table.shares
    assert isnan(one.low)
    assert isnan(one.p)
    text = str(table)
    assert "only one sentence pair" in text
    assert "the annotators never differ" in text


def test_outcomes_that_are_as_frequent_are_a_tie():
    corpus = Corpus(
        pair_of(str(k), "0-0 1-1", "1-1", "0-0 1-1" if k % 2 else "1-1") for k in range(4)
    )
    table = vote_table(corpus, "gold", ["ann", "ben"])
    row = next(
        row
        for row in table.to_records()
        if (row.get("vote ann"), row.get("vote ben")) == ("sure", "none")
    )
    assert (row["none"], row["possible"], row["sure"]) == (2, 0, 2)
    assert (row["state"], row["prevailed"], row["share"]) == ("none, sure", "tie", 0.5)
    text = " ".join(str(table).split())
    assert "tie: 1 of 1 row" in text
    assert "tie" not in str(vote_table(corpus[:3], "gold", ["ann", "ben"]))


@pytest.mark.real_data
def test_the_numbers_of_goldalign(data):
    corpus = read_corpus(str(data / "goldalign"), format="goldalign")
    table = vote_table(corpus, "arbit", ["demo-user-1", "demo-user-2"])
    counts = table.combinations()
    assert {votes: counts[votes] for votes in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]} == {
        (0, 1): (148, 116, 1),
        (0, 2): (158, 11, 21),
        (1, 0): (249, 371, 4),
        (1, 2): (4, 55, 17),
        (2, 0): (17, 29, 45),
        (2, 1): (7, 46, 49),
    }
    assert (table.agreed, table.changed) == (256, 35)
    assert (
        "112 of the 1643 cells that all linked in the same way; 35 of the 256 pairs"
        in table.summary[1]
    )
    assert table.summary[0] == "Links in 'arbit' that no annotator drew: 246"
    assert table.shares[0].share == pytest.approx(0.613, abs=5e-4)
    bounds = table.shares[0].low, table.shares[0].high
    assert bounds == pytest.approx((0.550, 0.672), abs=5e-4)
    assert [share.p for share in table.shares] == pytest.approx([0.15, 0.135], abs=0.01)


# simulations: the populations are corpora, and each pair of theirs is as likely


def goldalign(data):
    corpus = read_corpus(str(data / "goldalign"), format="goldalign")
    return vote_table(corpus, "arbit", ["demo-user-1", "demo-user-2"])


def samples(_):
    return vote_table(read_corpus(PARAPHRASES), "gold")


def rte2(data):
    files = {name: str(data / "rte2" / f"RTE2_dev_{name}.align.txt") for name in "ABC"}
    one, two, other = (read_corpus(path, format="rte", name=name) for name, path in files.items())
    return vote_table(merge(one, {"B": two, "C": other}), "C", ["A", "B"])


def three_voters(data):
    corpus = goldalign_of_three(data)
    return vote_table(corpus, "gold", ["demo-user-1", "demo-user-2", "initial"])


def goldalign_of_three(data):
    """Return GoldAlign with a version that takes every pair from one of three at random."""
    corpus = read_corpus(str(data / "goldalign"), format="goldalign")
    rng, names = np.random.default_rng(5), ["demo-user-1", "demo-user-2", "initial"]
    drawn = rng.integers(3, size=len(corpus))
    return adjudicated(corpus, lambda k: names[drawn[k]])


def of_pairs(table):
    """Return the counts of each pair: where each vote stands, and where votes differ."""
    differ = [len(set(votes)) > 1 for _, votes, _ in table.kinds]
    stands = [
        table.in_pairs(
            far and votes[k] == state
            for far, (_, votes, state) in zip(differ, table.kinds, strict=True)
        )
        for k in range(len(table.annotators))
    ]
    return np.array(stands), table.in_pairs(differ)


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("corpus", [samples, goldalign, rte2, three_voters])
def test_halves_in_random_order_seldom_differ(data, corpus):
    """Of 1,000 random orders, two in 300 at p < .01: here 299 choices of pairs for each p."""
    table = corpus(data)
    stands, differ = of_pairs(table)
    rng, orders, told, of_cells = np.random.default_rng(11), repetitions(10_000), 0, 0
    for k in range(orders):
        halves = rng.permutation(table.halves)
        told += min(halves_test(stands, differ, halves, orders=299, seed=k)) < 0.01
        first, second = halves == 0, halves == 1
        counts = [(stands[0][half].sum(), differ[half].sum()) for half in (first, second)]
        of_cells += fisher_exact([[a, n - a] for a, n in counts])[1] < 0.01
    assert told <= 0.02 * orders
    assert of_cells > 0.15 * orders  # the test of cells that was here before


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("corpus", [samples, goldalign, rte2])
@pytest.mark.parametrize("size", [64, 200, 600])
def test_intervals_of_shares_cover(data, corpus, size):
    stands, differ = of_pairs(corpus(data))
    rng, corpora, inside, of_cells = np.random.default_rng(12), repetitions(20_000), [], []
    for _ in range(corpora):
        drawn = rng.integers(len(differ), size=size)
        for own in stands:
            share, some, every = own.sum() / differ.sum(), own[drawn], differ[drawn]
            low, high = share_interval(some, every)
            inside.append(low <= share <= high)
            low, high = wilson_interval(int(some.sum()), int(every.sum()))
            of_cells.append(low <= share <= high)
    assert 0.92 <= np.mean(inside) <= 0.97
    assert np.mean(of_cells) < 0.75  # Wilson's interval of cells
