"""No figure of agreement changes by itself: all are those that are kept in ``goldens/agreement``.

`agreement_goldens` holds the cases and writes the files; `agreement_figures` names the figures.
"""

import pytest
from agreement_goldens import CASES, FOLDER, REAL_CASES, differences, read_golden


def marked(cases):
    slow = {True: [pytest.mark.slow], False: []}
    return [pytest.param(name, id=name, marks=slow[case.slow]) for name, case in cases.items()]


def check(name, case, *data):
    golden = read_golden(name)
    changed = differences(case.figures(*data), golden)
    head = f"{name}: {len(changed)} of {len(golden)} figures are not as they were"
    assert not changed, "\n".join([head, *changed[:60]])


@pytest.mark.parametrize("name", marked(CASES))
def test_samples_give_the_figures_that_they_gave(name):
    check(name, CASES[name])


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("name", REAL_CASES)
def test_public_corpora_give_the_figures_that_they_gave(name, data):
    check(name, REAL_CASES[name], data)


def test_each_case_has_a_golden_and_each_golden_a_case():
    assert {path.stem for path in FOLDER.glob("*.json")} == {*CASES, *REAL_CASES}
