"""No figure of agreement changes by itself: all are those that are kept in ``goldens/agreement``.

`agreement_goldens` holds the cases and writes the files; `agreement_figures` names the figures.
"""

from math import nan

import pytest
from agreement_goldens import (
    CASES,
    FOLDER,
    REAL_CASES,
    Case,
    differences,
    read_golden,
    write_golden,
)

_SHOWN = 60


def marked(cases: dict[str, Case]) -> list:
    slow = {True: [pytest.mark.slow], False: []}
    return [pytest.param(name, id=name, marks=slow[case.slow]) for name, case in cases.items()]


def check(name: str, case: Case) -> None:
    golden = read_golden(name)
    told = differences(case.figures(), golden)
    if told:
        left = [f"... and {len(told) - _SHOWN} more"] if len(told) > _SHOWN else []
        head = f"{name}: {len(told)} of {len(golden)} figures are not as they were"
        pytest.fail("\n".join([head, *told[:_SHOWN], *left]), pytrace=False)


@pytest.mark.parametrize("name", marked(CASES))
def test_samples_give_the_figures_that_they_gave(name: str) -> None:
    check(name, CASES[name])


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("name", REAL_CASES)
def test_public_corpora_give_the_figures_that_they_gave(name: str, data) -> None:
    check(name, REAL_CASES[name])


def test_each_case_has_a_golden_and_each_golden_a_case() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {*CASES, *REAL_CASES}


def test_a_figure_that_changes_is_named() -> None:
    golden = {"a": 1.0, "b": 2, "c": nan, "d": 0.5, "e": 3}
    assert differences({**golden, "a": 1 + 1e-12}, golden) == []
    found = {"a": 1 + 1e-6, "b": 3, "c": 0.0, "d": nan, "f": 1}
    assert differences(found, golden) == [
        "a: 1.000001, was 1.0",
        "b: 3, was 2",
        "c: 0.0, was nan",
        "d: nan, was 0.5",
        "e: missing, was 3",
        "f: new, 1",
    ]


def test_a_golden_comes_back_as_it_was_written(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("agreement_goldens.FOLDER", tmp_path)
    found = {"x | all | words.sure | C": 0.1 + 0.2, "x | all | words.sure | pi": nan, "y | z": 3}
    write_golden("case", found)
    assert differences(read_golden("case"), found) == []
    assert repr(read_golden("case")["x | all | words.sure | C"]) == repr(0.1 + 0.2)
