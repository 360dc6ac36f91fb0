"""Test the tables of the commands."""

from __future__ import annotations

from alignkit.report import render_table

ROWS = [
    {"system": "giza", "links": 12, "aer": 0.25, "interval": "81.2 [79.0, 83.1]"},
    {"system": "漢字", "links": 3, "aer": float("nan"), "interval": "-", "more": True},
]


def test_numbers_go_right_and_text_left():
    assert render_table(ROWS).splitlines() == [
        "system  links    aer           interval  more",
        "------  -----  -----  -----------------  ----",
        "giza       12  0.250  81.2 [79.0, 83.1]",
        "漢字        3      -                  -  yes",
    ]


def test_columns_digits_and_percent():
    drawn = render_table(ROWS, columns=["aer", "system"], percent={"aer"}, digits={"aer": 2})
    assert drawn.splitlines()[2:] == ["25.00%  giza", "     -  漢字"]
    assert render_table([{"x": 1.25, "y": 2.5}], digits={"x": 1}).splitlines()[2] == "1.2  2.500"
    assert render_table([{"x": 1}], percent={"x"}).splitlines()[2] == "100.0%"


def test_no_negative_zero():
    assert render_table([{"x": -0.0001}]).splitlines()[2] == "0.000"
    assert render_table([{"x": float("-inf")}]).splitlines()[2] == "-inf"


def test_markdown():
    assert render_table([{"name": "a|b", "n": 1}], markdown=True).splitlines() == [
        "| name | n |",
        "| :-- | --: |",
        "| a\\|b | 1 |",
    ]


def test_control_characters_are_shown():
    assert "\x1b" not in render_table([{"id": "\x1b[31m", "\x1b": 1}])


def test_nothing_to_show():
    assert render_table([]) == ""
    assert render_table([], columns=["a", "bc"]) == "a  bc\n-  --"
