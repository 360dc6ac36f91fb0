"""Schemes of pair judgments take what their corpora hold, and nothing else."""

import csv
import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit.errors import ArgumentError, FormatError, UnknownNameError
from alignkit.model.labels import (
    DEFAULT,
    REMARKS,
    SCHEMES,
    Flag,
    Judgment,
    Label,
    Scheme,
    get_scheme,
)

TURKU = get_scheme("turku")
CANONICAL = re.compile(r"[123]|4[<>]?i?s?|x")
PIECES = st.text("1234x<>is", max_size=6)


@given(PIECES)
def test_turku_takes_what_its_notation_says(text):
    if CANONICAL.fullmatch(text):
        judgment = TURKU.parse(text)
        assert judgment == Judgment(text[0], tuple(text[1:]))
        assert TURKU.canonical(judgment.label, reversed(judgment.flags)) == text
    else:
        refuses(FormatError, None, TURKU.parse, text)


@pytest.mark.parametrize("text", ["4si", "4<>", "5", "", "４", " 4", "4 ", "xi"])
def test_a_bad_label_says_where_and_what_is_expected(text):
    with pytest.raises(FormatError) as caught:
        TURKU.parse(text, "labels.tsv", 12)
    assert str(caught.value).startswith(f"labels.tsv:12: {text!r} is not a judgment of turku")
    assert "1, 2, 3, 4, x" in str(caught.value)
    assert "in this order: <, >, i, s" in str(caught.value)


@pytest.mark.parametrize(
    ("label", "flags"), [("3", ["i"]), ("4", ["<", ">"]), ("4", ["unsure"]), ("5", []), ("x", "s")]
)
def test_flags_that_cannot_stand_there_are_refused(label, flags):
    refuses(FormatError, "not a judgment", TURKU.canonical, label, list(flags))


@pytest.mark.parametrize("excluding", [("b",), ("c",), ("b", "c")])
def test_an_error_names_flags_that_exclude_each_other_once(excluding):
    """Whether one of them or both exclude the other, they cannot stand together."""
    flags = []
    for flag, other in (("b", "c"), ("c", "b")):
        flags.append(Flag(flag, flag, "", excludes=(other,) if flag in excluding else ()))
    scheme = Scheme("own", "", (Label("1", "one", ""),), flags=tuple(flags))
    assert scheme.expected.count("exclude each other") == 1


@pytest.mark.parametrize("name", SCHEMES)
def test_a_scheme_is_whole(name):
    scheme = get_scheme(name)
    assert scheme.name == name
    assert scheme.about
    assert len(set(scheme.values)) == len(scheme.values) >= 2
    assert set(scheme.order or ()) <= set(scheme.values)
    values = [flag.value for flag in (*scheme.flags, *REMARKS)]
    assert len(set(values)) == len(values)
    for shown in (*scheme.labels, *scheme.flags, *REMARKS):
        assert shown.value
        assert shown.name
        assert shown.about.endswith(".")
    for flag in scheme.flags:
        assert set(flag.on) <= set(scheme.values)
        for other in flag.excludes:
            assert flag.value in next(f for f in scheme.flags if f.value == other).excludes


def test_schemes_have_orders_a_default_and_names():
    assert TURKU.order == ("1", "2", "3", "4")  # x is skipped, not below 1
    assert get_scheme("parade").order == get_scheme("parade-votes").order == ("0", "1", "2", "3")
    assert get_scheme("entailment").order is None
    assert get_scheme() is SCHEMES[DEFAULT]
    refuses(UnknownNameError, "did you mean 'turku'", get_scheme, "turka")
    refuses(ArgumentError, "flags", TURKU.canonical, "4", "is")


@given(
    st.sampled_from(sorted(SCHEMES)),
    st.sampled_from(["", "4", "3", "1", "paraphrase", "forward", "of my own"]),
    st.sets(st.sampled_from(["<", ">", "i", "s", "unsure", "bad-split", "of my own"])),
)
def test_nothing_is_lost_between_page_and_file(name, label, flags):
    scheme = get_scheme(name)
    judgment, beside = scheme.put_together(label, flags)
    found = scheme.take_apart(judgment, beside)
    assert (found.label, set(found.flags)) == (label, flags)
    assert scheme.put_together(*found) == (judgment, beside)


@pytest.mark.parametrize("judgment", ["0", "5", "4<>", "same meaning", "Paraphrase", ""])
def test_what_is_in_no_scheme_is_kept(judgment):
    assert TURKU.take_apart(judgment, {"mine", "unsure"}) == Judgment(judgment, ("mine", "unsure"))


@pytest.mark.real_data
def test_turku_holds_all_labels_of_its_corpus(data):
    """The number was counted apart: 1,081 Swedish pairs, the Finnish sample and 3,000 lines."""
    labels = []
    for path in sorted((data / "turku").glob("*.json")):
        labels += [record["label"] for record in json.loads(path.read_text("utf-8"))]
    for path in sorted((data / "turku").glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as stream:
            rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
            labels += [row["label"] for row in rows]
    assert len(labels) == 8974
    for text, count in Counter(labels).items():
        assert TURKU.canonical(*TURKU.parse(text)) == text, count


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["parade", "parade-votes"])
def test_parade_holds_all_labels_of_its_corpus(name, data):
    (path,) = (data / "parade").glob("*.txt")
    lines = path.read_text("utf-8").splitlines()[1:]
    counts = Counter(tuple(line.split("\t")[:2]) for line in lines)
    assert sum(counts.values()) == 1275
    for label, binary in counts:
        assert get_scheme(name).canonical(*get_scheme(name).parse(label)) == label
        assert get_scheme("binary").parse(binary).label == str(int(int(label) >= 2))
