"""Options have their choices and help in one place, and none is silently ignored."""

import subprocess
import sys

import pytest
from refusals import refuses

from alignkit import Alignment, Corpus, SentencePair, agree
from alignkit._support.options import options_of
from alignkit.agreement import AGGREGATES, CHANCE_MODELS, NORMALIZERS, READINGS, UNIVERSES
from alignkit.agreement.answer import CHANCE_NAMES
from alignkit.agreement.options import AgreementOptions
from alignkit.agreement.report import _models_in_words
from alignkit.errors import OptionError, UnknownNameError

LINK = Alignment.parse("0-0")
PAIR = SentencePair("1", ["a"], ["b"], {"A": LINK, "B": LINK, "initial": Alignment()})


def test_each_field_tells_its_help_its_choices_and_its_group():
    options = options_of(AgreementOptions)
    choices = {one.name: one.choices for one in options}
    assert (choices["chance"], choices["reading"]) == (tuple(CHANCE_MODELS), READINGS)
    assert (choices["normalizer"], choices["aggregate"]) == (tuple(NORMALIZERS), AGGREGATES)
    assert choices["universe"] == UNIVERSES
    for one in options:
        assert one.about.help
        assert one.about.group or one.about.python
        assert not one.choices or one.default in (None, *one.choices)


def test_each_model_of_chance_has_a_heading_and_its_words():
    assert list(CHANCE_NAMES) == list(_models_in_words(None)) == list(CHANCE_MODELS)


def test_options_are_known_without_loading_numpy():
    code = (
        "import sys; from alignkit.agreement.options import AgreementOptions; AgreementOptions();"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'scipy', 'numba')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("given", "initial", "words"),
    [
        ({"chance": "edit"}, None, "missing_initial='empty'"),
        ({"reading": "probability"}, None, "`reading` is about edits"),
        ({"samples": 10}, None, "`samples` is about edits"),
        ({"tolerance": 0.1}, None, "`tolerance` is about edits"),
        ({"missing_initial": "leave-out"}, None, "`missing_initial` is about edits"),
        ({"samples": 10, "chance": "kupper-hafner"}, None, "remove `samples`"),
        ({"bootstrap": "refit"}, None, "bootstrap='refit'"),
        ({"bootstrap": "refit", "chance": "kupper-hafner"}, "initial", "has none"),
        ({"bootstrap": "none", "resamples": 9}, "initial", "`resamples` is about intervals"),
        ({"bootstrap": "none", "confidence": 0.9}, None, "`confidence` is about intervals"),
        ({"exact_case": True, "ignore_identical": False}, None, "has no effect"),
    ],
)
def test_options_that_contradict_are_refused(given, initial, words):
    refuses(OptionError, words, AgreementOptions(**given).settled, initial)
    refuses(OptionError, words, agree, Corpus([PAIR]), ["A", "B"], initial=initial, **given)


@pytest.mark.parametrize(
    ("given", "initial"),
    [
        ({}, None),
        ({"samples": 1000, "reading": "count"}, None),  # what has its default contradicts nothing
        ({"bootstrap": "none", "resamples": 1000}, None),
        ({"chance": "kupper-hafner"}, None),
        ({"missing_initial": "empty", "samples": 9, "reading": "count"}, None),
        ({"chance": "kupper-hafner", "samples": 9}, "initial"),  # of the table of all models
        ({"exact_case": True, "ignore_identical": False}, "initial"),  # of edit-strata
        ({"bootstrap": "refit", "resamples": 9, "confidence": 0.9}, "initial"),
    ],
)
def test_options_that_are_looked_at_are_taken(given, initial):
    AgreementOptions(**given).settled(initial)
    found = agree(Corpus([PAIR]), ["A", "B"], initial=initial, **given)
    assert all(getattr(found.options, name) == value for name, value in given.items())


def test_the_signature_says_what_is_computed():
    options = AgreementOptions(seed=7)
    signed = str(options.settled("initial").sign("initial"))
    for part in ("chance:edit|", "initial:initial|", "samples:1000|", "seed:7|", "case:folded|"):
        assert part in signed
    closed = str(AgreementOptions(bootstrap="none").settled(None).sign())
    assert not any(part in closed for part in ("samples", "reading", "interval", "initial"))


def test_what_is_not_in_a_result_is_told():
    found = agree(Corpus([SentencePair("1", ("x",), ("y",), dict.fromkeys("ab", LINK))] * 2))
    one = found.pairing("a", "b")
    for look in (
        lambda: found.pairing("b", "a"),
        lambda: one.section("news"),
        lambda: one.main("words"),
        lambda: one.part("words.sure", "all", "edit"),
        lambda: one.part("words.sure", "news"),
        lambda: found.show("word"),
    ):
        refuses(UnknownNameError, "known: ", look)


@pytest.mark.parametrize(
    "given",
    [
        *({name: "x"} for name in ("chance", "normalizer", "aggregate", "reading", "bootstrap")),
        *({name: "x"} for name in ("missing_initial", "include_identical", "universe")),
        *({"samples": 1}, {"tolerance": 0}, {"resamples": 0}, {"confidence": 1}, {"workers": 0}),
        *({"adjudicated": "A"}, {"annotators": ["A", "A"]}, {"annotators": ["A", "Z"]}),
    ],
    ids=str,
)
def test_values_that_do_not_exist_are_refused(given):
    with pytest.raises((OptionError, UnknownNameError)):
        agree(Corpus([PAIR]), **{"annotators": ["A", "B"], "initial": "initial", **given})
