"""AC2, Brennan-Prediger and Conger: Gwet's table, and relations to other coefficients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignkit.agreement.judgments.coefficients import chance_corrected

ROWS = "11.1 2232 3333 3333 2222 1234 4444 1121 2222 .555 ..11 ..3."
GWET = np.array([[int(x) - 1 if x != "." else -1 for x in row] for row in ROWS.split()]).T


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("nominal", (0.77544, 0.77273, 0.76282)),
        ("linear", (0.85874, 0.84848, 0.81378)),
        ("quadratic", (0.91400, 0.90152, 0.85771)),
    ],
    ids=["nominal", "linear", "quadratic"],
)
def test_the_numbers_of_gwet(weights, expected):
    found = chance_corrected(GWET, 5, weights)
    assert (found["ac2"], found["bp"], found["conger"]) == pytest.approx(expected, abs=5e-6)
    if weights == "nominal":
        assert found["observed"] == pytest.approx(0.81818, abs=5e-6)


VALUES = st.lists(st.lists(st.integers(-1, 2), min_size=4, max_size=4), min_size=2, max_size=3)


@given(VALUES, st.sampled_from(["nominal", "linear", "quadratic"]))
def test_coefficients_do_not_depend_on_orders_or_mirrors(rows, weights):
    values = np.array(rows)
    figures = chance_corrected(values, 3, weights)
    for other in (values[::-1], values[:, ::-1], np.where(values < 0, -1, 2 - values)):
        assert chance_corrected(other, 3, weights) == pytest.approx(figures, nan_ok=True)
    plain, items = 0.0, 0
    agree = 1 - np.abs(np.subtract.outer(range(3), range(3))) / 2
    agree = {"nominal": np.eye(3), "linear": agree, "quadratic": 1 - (1 - agree) ** 2}[weights]
    for column in values.T:
        given_labels = column[column >= 0].tolist()
        n = len(given_labels)
        if n >= 2:
            items += 1
            pairs = [
                agree[a, b]
                for i, a in enumerate(given_labels)
                for j, b in enumerate(given_labels)
                if i != j
            ]
            plain += sum(pairs) / (n * (n - 1))
    assert figures["observed"] == pytest.approx(plain / items if items else np.nan, nan_ok=True)
