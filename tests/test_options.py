"""Options that are declared once: checked, keywords of a function and arguments of a command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from inspect import getdoc, signature
from typing import Literal

import pytest
from refusals import refuses

from alignkit._support.options import DeclaredOptions, about, option, options_of, stated, takes
from alignkit.cli.options import add_fields, made
from alignkit.cli.parser import Parser
from alignkit.errors import ArgumentError, OptionError, UnknownArgumentError, UnknownNameError
from alignkit.scoring.settings import AGGREGATES, LEVEL_CHOICES, LINK_POLICIES, ScoreSettings


@dataclass(frozen=True)
class Base(DeclaredOptions):
    names: Sequence[str] | None = option(None, "who is counted", metavar="A", group="who")


@dataclass(frozen=True)
class Counting(Base):
    _: KW_ONLY
    scheme: str = field(metadata=about("how to count", metavar="S", group="how"))
    by: str | None = option(None, "an attribute", metavar="B", group="how")
    split: str | None = option(None, "a separator", metavar="T", group="how", needs="by", rare=True)
    kind: Literal["a", "b"] = option("a", "which of two", group="how")
    least: int = option(2, "the least, at most 100%", metavar="N", group="how", least=1)
    share: float | None = option(None, "a share", metavar="P", group="how", above=0, below=1)
    width: float = option(0.5, "a width", metavar="W", group="how", above=0)
    case: bool = option(True, "distinguish case", group="how", opposite="--fold-case")
    sure: bool = option(False, "count the sure ones", group="how")
    threads: int | None = option(None, "how many threads", metavar="N", group="how", silent=True)
    hook: object = option(None, "called at the end", python=True, silent=True)


@dataclass(frozen=True)
class Wide(DeclaredOptions):
    by: str | None = option(None, "an attribute")
    width: float = option(0.5, "a width", needs="by")


@takes(Counting)
def count(data: str, options: Counting) -> Counting:
    """Count.

    Parameters
    ----------
    data : What is counted.
    options : The fields of `Counting`, which
        stand below.

    Returns
    -------
    Counting
    """
    return options


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"kind": "c"}, UnknownNameError, r"unknown kind 'c' \(known: a, b\)"),
        ({"kind": 3}, ArgumentError, "kind is 3"),
        ({"names": "anna"}, ArgumentError, "names is the string"),
        ({"least": "3"}, ArgumentError, "least is the string '3'"),
        ({"least": 0}, OptionError, "at least 1, not 0"),
        ({"share": 1.0}, OptionError, "0 and 1, not 1.0"),
        ({"share": float("nan")}, OptionError, "0 and 1, not nan"),
        ({"width": 0}, OptionError, "must be above 0"),
        ({"split": ","}, OptionError, "`split` needs `by`: add it, or leave `split` out"),
        ({"leest": 3}, UnknownArgumentError, "did you mean 'least'"),
        ({"data": 3}, ArgumentError, "data is 3"),
    ],
    ids=str,
)
def test_a_wrong_value_is_refused_by_name(given, error, words):
    refuses(error, words, count, **{"data": "x", "scheme": "s", **given})


def test_a_value_that_is_the_default_needs_nothing():
    assert count("x", scheme="s", kind="a").kind == "a"
    refuses(OptionError, "`width` needs `by`", Wide, width=2.0)
    assert Wide(width=0.5) == Wide()


def test_what_is_missing_is_named():
    refuses(ArgumentError, "argument: 'scheme'", count, "x")
    refuses(ArgumentError, "argument: 'data'", count, scheme="s")
    refuses(ArgumentError, "too many positional", count, "x", ["a"], "s")


def test_a_function_of_several_data_takes_options_too():
    @takes(Wide)
    def joined(first: str, second: str = "b", third: str = "c", options: Wide = Wide()) -> str:
        return f"{first}{second}{third}{options.width}"

    assert joined("a", "x", width=0.5) == "axc0.5"
    assert joined("a", third="y") == "aby0.5"
    assert list(signature(joined).parameters) == ["first", "second", "third", "by", "width"]


def test_a_function_takes_each_option_by_its_name():
    options = count("x", ["anna"], scheme="s", by="genre", split=",")
    assert options == Counting(["anna"], scheme="s", by="genre", split=",")
    assert count(data="x", scheme="s").least == 2
    names = list(signature(count).parameters)
    assert names == ["data", *(each.name for each in options_of(Counting))]
    assert signature(count).parameters["least"].default == 2
    text = getdoc(count)
    assert "least : The least, at most 100%.\nshare : A share.\n" in text
    assert "options" not in text
    assert "stand below" not in text
    assert count.__wrapped__("x", options) is options


def test_reports_state_what_changes_the_result():
    assert stated(Counting(scheme="s", threads=3)).keys() == {
        "names",
        "scheme",
        "by",
        "split",
        "kind",
        "least",
        "share",
        "width",
        "case",
        "sure",
    }


def parsed(*words, **settings):
    parser = Parser(prog="count", **settings)
    add_fields(parser, Counting)
    return made(Counting, parser.parse_args(["--scheme", "s", *words]))


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ([], {}),
        (["--names", "anna", "ben"], {"names": ["anna", "ben"]}),
        (["--by", "genre", "--split", ","], {"by": "genre", "split": ","}),
        (["--kind", "b", "--least", "7"], {"kind": "b", "least": 7}),
        (["--share", "0.25", "--width", "2"], {"share": 0.25, "width": 2.0}),
        (["--fold-case", "--sure"], {"case": False, "sure": True}),
        (["--threads", "3"], {"threads": 3}),
    ],
    ids=str,
)
def test_a_command_makes_the_options_that_python_makes(words, changed):
    assert parsed(*words) == Counting(scheme="s", **changed)


def test_a_command_refuses_what_python_refuses(capsys):
    refuses(OptionError, "`split` needs `by`", parsed, "--split", ",")
    refuses(OptionError, "`share` must lie between", parsed, "--share", "2")
    for words, message in (
        (["--least", "0"], "expected a whole number, 1 or more, not '0'"),
        (["--kind", "c"], "invalid choice: 'c' (choose from"),
        (["--hook", "x"], "unrecognized arguments: --hook"),
    ):
        with pytest.raises(SystemExit):
            parsed(*words)
        assert message in capsys.readouterr().err
    parser = Parser(prog="count")
    add_fields(parser, Counting)
    with pytest.raises(SystemExit):
        parser.parse_args([])
    assert "required: --scheme" in capsys.readouterr().err


def test_the_help_has_groups_defaults_and_what_is_rare():
    parser = Parser(prog="count")
    groups = add_fields(parser, Counting)
    assert list(groups) == ["who", "how"]
    assert parser.rare == {"--split"}
    text = " ".join(parser.format_help().split())
    assert "do not distinguish case" in text
    parser.everything = True
    text = " ".join(parser.format_help().split())
    assert "--least N the least, at most 100% (default: 2)" in text
    assert "--kind {a,b} which of two (default: a)" in text
    assert isinstance(groups["who"], argparse._ArgumentGroup)


def test_the_choices_of_a_score_are_those_that_are_computed():
    choices = {each.name: each.choices for each in options_of(ScoreSettings)}
    assert choices["level"] == tuple(LEVEL_CHOICES)
    assert choices["links"] == tuple(LINK_POLICIES)
    assert choices["aggregate"] == AGGREGATES
