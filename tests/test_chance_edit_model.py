"""The edit model is the binomial maximum under its constraints."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_chance import log_likelihood
from refusals import refuses

from alignkit.agreement import READINGS, EditData, fit_edit_model
from alignkit.agreement.chance.edit_fitting import bounds_of
from alignkit.errors import OptionError, UnknownNameError


def fit(data, reading="count", **options):
    return fit_edit_model(EditData(*zip(*data, strict=True)), reading=reading, **options)


def test_a_line_is_fitted_to_the_edits_or_by_probability_to_the_rates() -> None:
    # every pair lies on edits = 1 + 0.25 (N + M): the maximum, as each pair's own rate is met
    model = fit([(8, 15, 3), (12, 36, 4), (20, 100, 6)])
    assert (model.a, model.b) == pytest.approx((1, 0.25))
    assert model.rates([12, 40], [36, 400]) == pytest.approx([4 / 36, 11 / 400])
    # 0.1 + 0.01 (N + M)
    model = fit([(10, 25, 5), (20, 100, 30), (30, 200, 80)], "probability")
    assert (model.a, model.b) == pytest.approx((0.1, 0.01))
    assert model.rates([20, 95], [7, 7]) == pytest.approx([0.3, 1.0])  # clipped


def test_log_likelihood_is_that_of_the_binomial() -> None:
    assert fit([(4, 4, 1)]).log_likelihood == pytest.approx(np.log(4 * (1 / 4) * (3 / 4) ** 3))


@pytest.mark.parametrize("reading", READINGS)
def test_equal_lengths_have_no_slope(reading: str) -> None:
    model = fit([(6, 9, 2), (6, 9, 3)], reading)
    assert (model.b, model.rates([6], [9])) == (0, pytest.approx([5 / 18]))


@pytest.mark.parametrize("reading", READINGS)
def test_nobody_edits_is_exactly_zero_and_everything_edited_exactly_one(reading: str) -> None:
    model = fit([(6, 9, 0), (7, 12, 0), (9, 20, 0)], reading)
    assert (model.a, model.b, model.log_likelihood) == (0, 0, 0)
    data = [(4, 4, 4), (5, 6, 6)]  # a line goes through the cells of two lengths
    assert fit(data, reading).rates([4, 5], [4, 6]).tolist() == [1, 1]
    three = fit([*data, (8, 16, 16)], "probability")
    assert (three.a, three.b) == (1, 0)


def test_a_constraint_that_binds_is_met_exactly_and_is_no_clipping() -> None:
    # free of constraints, the line would give short pairs a rate below 0
    model = fit([(2, 1, 0), (4, 4, 0), (10, 25, 20), (12, 36, 35)])
    assert model.a + 2 * model.b == pytest.approx(0, abs=1e-12)
    assert model.rates([2], [1]).tolist() == [0]
    assert model.log_likelihood > -60


def test_pairs_without_trials_drop_out_and_weights_repeat_pairs() -> None:
    model = fit([(5, 0, 0), (6, 9, 3)])
    assert (model.pairs, model.rates([5, 6], [0, 9])) == (1, pytest.approx([0, 1 / 3]))
    nothing = fit([(5, 0, 0)])
    assert isnan(nothing.a)
    assert nothing.rates([5], [9]).tolist() == [0]
    data = [(6, 9, 3), (8, 16, 1), (9, 18, 7)]
    weighted, repeated = fit(data, weights=[2, 0, 1]), fit([data[0], data[0], data[2]])
    assert (weighted.a, weighted.b) == pytest.approx((repeated.a, repeated.b))
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood)


def test_bad_input_is_refused() -> None:
    refuses(UnknownNameError, "known: count, probability", fit, [(6, 9, 3)], "rate")
    refuses(OptionError, "number of trials", EditData, [6], [9], [10])
    refuses(OptionError, "the same length", EditData, [6], [9], [1, 2])
    refuses(OptionError, "for each pair", fit, [(6, 9, 3)], weights=[1, 1])


# statsmodels 0.15.0, GLM of the binomial family with the identity link (in the count reading both
# columns are divided by the trials): params, llf, pearson_chi2 / df_resid
TRIALS = [25, 36, 56, 100, 144, 225, 240]
GLM = ([10, 12, 15, 20, 24, 30, 31], TRIALS, [6, 3, 12, 14, 31, 30, 47])


@pytest.mark.parametrize(
    ("reading", "a", "b", "height", "dispersion"),
    [
        ("probability", 0.17899454, -0.0002291, -20.036568170448255, 1.8653726768163956),
        ("count", -12.59161047, 1.62515989, -21.16083906522411, 2.315994538114343),
    ],
)
def test_an_unconstrained_fit_is_that_of_statsmodels(reading, a, b, height, dispersion) -> None:
    model = fit_edit_model(EditData(*GLM), reading=reading)
    assert (model.a, model.b) == pytest.approx((a, b), rel=1e-4)
    assert model.log_likelihood == pytest.approx(height, rel=1e-9)
    assert model.dispersion == pytest.approx(dispersion, rel=1e-6)


@given(st.lists(st.tuples(st.integers(2, 9), st.integers(1, 30)), min_size=1), st.data())
def test_dispersion_equals_a_plain_computation(sizes, data) -> None:
    rows = [(words, trials, data.draw(st.integers(0, trials))) for words, trials in sizes]
    model = fit(rows, "probability")
    free = len(rows) - min(len({words for words, *_ in rows}), 2)
    if free <= 0:
        assert isnan(model.dispersion)
        return
    total = 0.0
    for words, trials, edits in rows:
        p = model.rates([words], [trials])[0]
        if 0 < p < 1:
            total += (edits - trials * p) ** 2 / (trials * p * (1 - p))
        else:
            assert edits == trials * p
    assert model.dispersion == pytest.approx(total / free)


@st.composite
def edited(draw):
    data = []
    for _ in range(draw(st.integers(1, 5))):
        n, m = draw(st.integers(1, 5)), draw(st.integers(1, 5))
        data.append((n + m, n * m, draw(st.sampled_from([0, n * m]) | st.integers(0, n * m))))
    return data


@given(edited(), st.sampled_from(READINGS))
def test_no_other_line_is_more_likely(data, reading: str) -> None:
    model = fit(data, reading)
    mine = log_likelihood(model.a, model.b, reading, data)
    low, high = min(row[0] for row in data), max(row[0] for row in data)
    top = max(row[1] for row in data) * 2.0 if reading == "count" else 1.0
    if low == high:
        for a in np.linspace(0, top, 300):
            assert log_likelihood(a, 0, reading, data) <= mine + 1e-9
        return
    # a grid over the values at both ends, made finer around its best point
    bounds = [(0.0, top * 2), (0.0, top * 2)]
    for _ in range(4):
        values, best = [np.linspace(*one, 13) for one in bounds], (-np.inf, 0.0, 0.0)
        for u in values[0]:
            for v in values[1]:
                b = (v - u) / (high - low)
                best = max(best, (log_likelihood(u - b * low, b, reading, data), u, v))
        assert best[0] <= mine + 1e-7
        bounds = [
            (max(0.0, at - (one[1] - one[0]) / 8), at + (one[1] - one[0]) / 8)
            for at, one in zip(best[1:], bounds, strict=True)
        ]


@given(
    st.lists(
        st.tuples(st.integers(0, 8), st.integers(1, 9)), min_size=2, max_size=12, unique=True
    ).filter(lambda points: len({t for t, _ in points}) > 1)
)
def test_the_limits_of_an_optimum_are_the_lower_hull_of_all_limits(points):
    t = np.array([x / 8 for x, _ in points])
    limits = np.array([float(limit) for _, limit in points])
    order = np.lexsort((limits, t))
    zero, one, *rest = bounds_of(t[order], limits[order])
    assert (zero, one) == ((0.0, 0.0, True), (1.0, 0.0, True))
    assert not any(bound.is_floor for bound in rest)
    corners = [(bound.t, bound.limit) for bound in rest]
    slopes = np.diff([c for _, c in corners]) / np.diff([x for x, _ in corners])
    assert (np.diff(slopes) > 0).all()  # each corner lies below the line between its neighbours
    assert {*corners} <= {*zip(t.tolist(), limits.tolist(), strict=True)}
    assert (corners[0][0], corners[-1][0]) == (t.min(), t.max())
    below = np.interp(t, [x for x, _ in corners], [c for _, c in corners])
    assert (below <= limits + 1e-9).all()
