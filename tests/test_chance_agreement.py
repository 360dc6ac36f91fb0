"""`agreement` puts observation, chance and intervals together, and names what has no value."""

from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_chance import exact, items, norm
from refusals import refuses
from repetitions import FULL
from strategies_agreement import corpora
from strategies_agreement import edited_corpus as corpus

from alignkit.agreement import CHANCE_MODELS, agree
from alignkit.errors import OptionError, UnknownNameError
from alignkit.model.alignment import Alignment

ROWS = [
    ("0-0 1-1", "0-0 1-1 2-2", "0-0 1-2 2-1"),
    ("0-0", "0-1 1-1", "0-0 1?1"),
    ("0-0 1-1 2-2", "0-0 1-1", "0-0 1-1 2?2"),
]


def measure(pairs, first="A", second="B", *, unit="phrases", links="sure", **options):
    given = {"initial": "initial", "seed": 1, "samples": 200, "resamples": 100, "systems": []}
    given |= options
    if given["initial"] is None and "missing_initial" not in given:
        del given["samples"]
    if given.get("bootstrap") == "none":
        del given["resamples"]
    level = f"{'words' if unit == 'links' else unit}.{links}"
    return agree(pairs, [first, second], **given).pairings[0].main(level)


@pytest.mark.parametrize("aggregate", ["macro", "micro"])
@pytest.mark.parametrize("chance", ["edit", "edit-split", "edit-strata"])
@pytest.mark.parametrize("reading", ["count", "probability"])
def test_chance_is_that_of_the_fitted_rates(chance, reading, aggregate) -> None:
    how = {"chance": chance, "reading": reading, "aggregate": aggregate}
    found, terms = measure(corpus(*ROWS), samples=4000, **how), []
    for row in ROWS:
        start = Alignment.parse(row[0]).sure
        words, cells = np.array([6]), np.array([[9 - len(start), len(start), 0, 0]])
        rates = [CHANCE_MODELS[chance].rates(found.models[k], words, cells)[0] for k in "AB"]
        of = {"unit": "phrases", "source": "abc", "target": "xyz"}
        terms.append(exact(start, 3, 3, np.concatenate(rates), **of))
    pi0 = np.mean([term[0] for term in terms])
    if aggregate == "micro":
        pi0 = sum(term[1] for term in terms) / sum(term[2] for term in terms)
    assert abs(found.pi0 - pi0) < 4 * found.pi0_error
    assert (found.pi - found.pi0) / (1 - found.pi0) == found.C
    assert found.C_error == pytest.approx(found.pi0_error * (1 - found.pi) / (1 - found.pi0) ** 2)


def test_edits_are_those_of_the_links_that_are_compared() -> None:
    sure, possible = (measure(corpus(*ROWS), links=links) for links in ("sure", "possible"))
    assert sure.models["B"]["edit"].data.edits.tolist() == [3, 0, 1]
    assert possible.models["B"]["edit"].data.edits.tolist() == [3, 1, 0]
    split = measure(corpus(*ROWS), chance="edit-split").models["B"]
    assert split["add"].data.edits.tolist() == [2, 0, 0]
    assert split["delete"].data.edits.tolist() == [1, 0, 1]
    assert split["add"].data.trials.tolist() == [7, 8, 6]


def test_a_model_is_fitted_to_all_that_an_annotator_did() -> None:
    found = measure(corpus(*ROWS, ("0-0", "0-0 1-1", None)))
    assert (found.models["A"]["edit"].pairs, found.models["B"]["edit"].pairs) == (4, 3)
    assert (found.pairs, found.used, dict(found.left_out)) == (4, 3, {"not annotated by B": 1})


def test_chance_that_leaves_no_room_is_undefined() -> None:
    found = measure(corpus(("0-0 1-1", "0-0 1-1", "0-0 1-1"), ("0-2", "0-2", "0-2")))
    assert (found.pi, found.pi0, found.to_json()["C"]) == (1, 1, None)
    assert "nobody edits" in found.undefined
    assert isnan(found.interval.low)
    assert found.interval.undefined == 100
    start, rest = "0-0 1-1 2-2", "0-1 0-2 1-0 1-2 2-0 2-1"
    for chance in ("edit", "edit-split"):
        found = measure(corpus(*[(start, rest, rest)] * 2), chance=chance)
        assert found.pi0 == 1
        assert "flips every cell" in found.undefined
        assert isnan(found.C)


def test_only_empty_samples_make_chance_undefined_not_one() -> None:
    # A and B link words that are identical, or only possibly: nothing is sampled
    same = corpus(("0-0", "0-0", "0-0"), source="aa", target="aa")
    assert dict(measure(same).left_out) == {"both sets empty": 1}
    pairs = corpus(("", "0?0", "0?0"), ("0-0", "0-0", "0-0"), source="ab", target="xy")
    assert dict(measure(pairs).left_out) == {"both sets empty": 1}
    # the annotators' single link is not the initial one, and with 2 samples none may come up
    found = measure(corpus(("", "0-0", "0-0"), *[("", "", "")] * 400), samples=2)
    assert dict(found.left_out) == {"only empty samples": 1, "both sets empty": 400}
    assert isnan(found.pi)
    assert isnan(found.pi0)
    assert "every sample" in found.undefined


def test_links_of_one_annotator_alone_are_no_agreement() -> None:
    found = measure(corpus(("0-0", "0-0 1-1", ""), *ROWS))
    assert found.sentences[0].observed == 0
    assert found.sentences[0].expected > 0
    assert found.used == 4
    alone = measure(corpus(("0-0", "0-0 1-1", "")))
    assert alone.pi == 0
    assert alone.C < 0
    pooled = measure(corpus(("0-0", "0-0 1-1", "")), aggregate="micro")
    assert isnan(pooled.C)
    assert "norms" in pooled.undefined


def test_a_missing_initial_alignment_is_an_error_that_helps() -> None:
    pairs = corpus(*ROWS, (None, "0-0", "0-0"))
    refuses(OptionError, "'3' has no initial alignment", measure, pairs)
    refuses(OptionError, "missing_initial='empty'", measure, pairs, initial=None, chance="edit")
    refuses(UnknownNameError, "known: initial, A, B", measure, pairs, initial="giza")
    left = measure(pairs, missing_initial="leave-out")
    assert dict(left.left_out) == {"without an initial alignment": 1}
    assert left.models["A"]["edit"].pairs == 3
    empty = measure(pairs, missing_initial="empty")
    assert empty.models["A"]["edit"].data.edits.tolist() == [1, 3, 1, 1]
    nothing = measure(pairs, initial=None, missing_initial="empty")
    assert nothing.models["A"]["edit"].data.edits.tolist() == [3, 2, 2, 1]
    assert "initial:empty" in nothing.signature


def test_a_closed_form_needs_no_initial_alignment() -> None:
    found = measure(
        corpus(*[(None, *row[1:]) for row in ROWS]),
        initial=None,
        chance="kupper-hafner",
        unit="links",
        normalizer="max",
    )
    assert found.pi0 == pytest.approx((3 / 9 + 1 / 9 + 2 / 9) / 3)
    assert (found.samples, found.pi0_error, found.C_error, len(found.distribution)) == (0, 0, 0, 0)
    assert "reading" not in found.signature


@pytest.mark.parametrize("bootstrap", ["fixed", "refit"])
def test_the_result_does_not_depend_on_the_workers(bootstrap: str) -> None:
    pairs = corpus(*ROWS * 7)
    few = {"bootstrap": bootstrap, "resamples": 20}
    one, two = (measure(pairs, workers=workers, **few) for workers in (1, 2))
    assert (one.to_json(), one.C) == (two.to_json(), two.C)
    assert measure(pairs, seed=2, workers=1, resamples=20).C != one.C


def test_tolerance_stops_the_sampling() -> None:
    rough = measure(corpus(*ROWS), samples=100_000, tolerance=0.02)
    assert rough.C_error <= 0.02
    assert 100 <= rough.samples < 10_000
    assert measure(corpus(*ROWS), samples=150, tolerance=1e-6).samples == 150


def test_groups_share_models_and_samples() -> None:
    genres = [{"genre": "news"}, {"genre": "talk"}, {"genre": "news"}, {}]
    pairs = corpus(*ROWS, (None, "0-0", None), attributes=genres)
    found = measure(pairs, by="genre")
    (news, talk, other), (first, second, third) = found.groups, found.sentences
    sizes = [("news", 2, 2), ("talk", 1, 1), ("", 1, 0)]
    assert [(one.name, one.pairs, one.used) for one in found.groups] == sizes
    assert news.pi0 == pytest.approx((first.expected + third.expected) / 2)
    error = second.expected_error * (1 - talk.pi) / (1 - talk.pi0) ** 2
    assert (talk.C_error, dict(other.left_out)) == (pytest.approx(error), {"not annotated by B": 1})
    assert "annotated by both" in other.undefined
    refuses(UnknownNameError, "attribute", measure, pairs, by="author")


def test_refitting_redraws_where_samples_say_too_little() -> None:
    # one long pair is changed all over: how often it is drawn decides the rates
    start = " ".join(f"{k}-{k}" for k in range(12))
    shifted = " ".join(f"{k}-{k + 1}" for k in range(11))
    pairs = corpus(
        *[(start, start, start)] * 5,
        (start, shifted, shifted),
        source="abcdefghijkl",
        target="mnopqrstuvwx",
    )
    found = measure(pairs, bootstrap="refit", resamples=40)
    assert found.redrawn > 0
    # they agree in all, so that every resample gives 1, but those without that pair: nobody edits
    assert found.interval is None
    assert "all resamples" in found.no_interval


def test_drawn_anew_or_reweighed_is_the_same_chance(monkeypatch) -> None:
    found = []
    for least in (0.0, 2.0):  # never, always
        monkeypatch.setattr("alignkit.agreement.chance.refitting._LEAST_EFFECTIVE", least)
        found.append(measure(corpus(*ROWS * 3), bootstrap="refit", resamples=30, samples=2000))
    bounds = [(one.low, one.high, one.standard_error) for one in (f.interval for f in found)]
    assert bounds[0] == pytest.approx(bounds[1], abs=0.02)
    assert found[0].redrawn < found[1].redrawn


@settings(max_examples=200 if FULL else 10)
@given(
    corpora(("initial", "A", "B"), complete=True),
    st.sampled_from(["phrases", "links"]),
    st.sampled_from(["sure", "possible"]),
    st.sampled_from(["min", "max"]),
    st.booleans(),
)
def test_pi_equals_a_plain_reference(pairs, unit, links, normalizer, kept) -> None:
    found = measure(
        pairs,
        unit=unit,
        links=links,
        normalizer=normalizer,
        ignore_identical=not kept,
        samples=3,
        bootstrap="none",
    )
    for sentence, pair in zip(found.sentences, pairs, strict=True):
        sides = [[word.casefold() for word in side] for side in pair.words]
        a, b = (items(getattr(pair.alignment(who), links), unit, *sides, kept) for who in "AB")
        assert (sentence.first, sentence.second, sentence.common) == (len(a), len(b), len(a & b))
        if not a and not b:
            assert sentence.left_out == "both sets empty"
            continue
        below = norm(len(a), len(b), normalizer)
        assert sentence.observed == (len(a & b) / below if below else 0)
    used = [one for one in found.sentences if not one.left_out]
    assert found.used == len(used)
    if used:
        assert found.pi == pytest.approx(np.mean([one.observed for one in used]))
        assert found.pi0 == pytest.approx(np.mean([one.expected for one in used]))
        spread = sqrt(sum(one.expected_error**2 for one in used)) / len(used)
        assert found.pi0_error == pytest.approx(spread)
