"""An annotation may have a time; files, corpora and groups keep to it."""

import pickle
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from command import run
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit import errors
from alignkit.agreement import agree
from alignkit.corpora.counts import count_groups
from alignkit.corpora.join import concat, merge
from alignkit.io import WRITTEN, get_format, read_corpus, write_corpus
from alignkit.model.alignment import Alignment
from alignkit.model.annotation import PERIODS, Annotation, period_of, read_moment
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring import score_records

LINKS = Alignment.parse("0-0 1?1")
WHEN = "2026-11-22T13:06:28Z"


def pair(id="1", **annotations):
    return SentencePair(id, ["a", "b"], ["c", "d"], annotations)


def timed(when=WHEN, **said):
    return Annotation(LINKS, when=when, **said)


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)),
    st.integers(-23 * 60, 23 * 60),
    st.booleans(),
)
def test_a_time_is_held_in_utc_whatever_its_zone(time, minutes, fraction):
    local = time.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    moment = read_moment(local.isoformat(timespec="milliseconds" if fraction else "seconds"))
    assert datetime.fromisoformat(moment.replace("Z", "+00:00")) == local.replace(microsecond=0)
    assert (len(moment), read_moment(moment)) == (20, moment)


@given(st.lists(st.datetimes(timezones=st.just(timezone.utc)), min_size=2))
def test_the_later_time_is_the_greater_text_and_so_are_periods(times):
    times = sorted(time.replace(microsecond=0) for time in times)
    texts = [read_moment(time.isoformat()) for time in times]
    assert texts == sorted(texts)
    for period in PERIODS:
        names = [period_of(text, period) for text in texts]
        assert names == sorted(names)
    for time, text in zip(times, texts, strict=True):
        assert period_of(text, "day") == time.date().isoformat()
        year, week, _ = time.isocalendar()
        assert period_of(text, "week") == f"{year:04d}-W{week:02d}"


def test_weeks_are_those_of_iso_8601():
    # the examples of the standard's article on Wikipedia
    for day, week in {
        **{"1977-01-01": "1976-W53", "1978-01-01": "1977-W52", "1979-12-31": "1980-W01"},
        **{"1981-12-31": "1981-W53", "2008-12-29": "2009-W01", "2010-01-03": "2009-W53"},
    }.items():
        assert period_of(f"{day}T00:00:00Z", "week") == week
    refuses(errors.UnknownNameError, "year", period_of, WHEN, "year")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-11-22",
        "2026-11-22T13:06Z",
        "2026-11-22T13:06:28",
        "2026-02-30T13:06:28Z",
        "2026-11-22T24:06:28Z",
        "2026-11-22T13:06:28+25:00",
        "0001-01-01T00:00:00+01:00",
        "2026-11-22 13:06:28Z",
        WHEN + "\n",
        "２０２６-11-22T13:06:28Z",
    ],
)
def test_what_is_no_time_is_refused(text):
    told = "expected a time with seconds and zone, such as 2026-"
    refuses(errors.AlignmentError, told, timed, text)


def test_a_time_is_a_text_and_says_nothing_alone():
    refuses(errors.ArgumentError, "when", timed, datetime.now(timezone.utc))
    refuses(errors.AlignmentError, "without an alignment needs", Annotation, None, when=WHEN)
    assert Annotation(None, judgment="yes", when=WHEN).when == WHEN
    assert not timed().remarks
    assert Annotation.of(LINKS).when is None
    assert Annotation.of(LINKS) == Annotation(LINKS)


def test_a_time_goes_wherever_its_annotation_goes():
    corpus = Corpus([pair(anna=timed()), pair("2", anna=LINKS)])
    kept = [
        corpus.transpose(),
        concat({"one": corpus}, prefix=True),
        merge(Corpus([pair(), pair("2")]), {"anna": corpus}),
        corpus.filter(lambda pair: True),
        pickle.loads(pickle.dumps(corpus)),
    ]
    for copy in kept:
        assert [pair.annotations["anna"].when for pair in copy] == [WHEN, None]
    judged = Annotation(None, judgment="yes", when="2026-11-23T00:00:00Z")
    base = Corpus([pair(anna=judged)])
    for links in (timed(), LINKS):
        both = merge(base, {"anna": Corpus([pair(anna=links)])})[0].annotations["anna"]
        assert (both.alignment, both.judgment, both.when) == (LINKS, "yes", judged.when)


@pytest.mark.parametrize("format", ["alignkit-jsonl", "alignkit-xml"])
def test_own_formats_hold_times_and_say_where_one_is_wrong(format, tmp_path):
    path = tmp_path / "corpus"
    judged = Annotation(None, "no", when=WHEN)
    corpus = Corpus([pair(anna=timed(), ben=judged), pair("2", anna=LINKS)])
    assert not write_corpus(corpus, path, format=format)
    assert read_corpus(path, format=format) == corpus
    text = path.read_text()
    assert text.count("when") == 2
    path.write_text(text.replace(WHEN, "2026-11-22T14:06:28.123+01:00"))
    assert read_corpus(path, format=format) == corpus
    path.write_text(text.replace(WHEN, "today"))
    with pytest.raises(errors.FormatError, match=r"corpus:\d+: when is 'today'"):
        read_corpus(path, format=format)


@pytest.mark.parametrize("format", WRITTEN)
def test_formats_without_times_count_what_is_lost(format, tmp_path):
    lost, before = (
        Counter(write_corpus([pair(alignment=links)], tmp_path / "x", format=format))
        for links in (timed(), LINKS)
    )
    assert lost - before == ({} if "when" in get_format(format).holds else {"when": 1})


def noon(day):
    return day and f"2026-11-{day:02d}T12:00:00Z"


def annotated():
    """Return pairs of four weeks, by the later annotator, and one without times."""
    days = [(2, 9), (10, 3), (16, 16), (24, 1), (None, 3), (None, None)]
    one, gold = Alignment.parse("0-0"), timed("2027-01-01T00:00:00Z")
    return Corpus(
        pair(str(k), ann=timed(noon(ann)), ben=Annotation(one, when=noon(ben)), gold=gold)
        for k, (ann, ben) in enumerate(days)
    )


def test_agreement_by_week_is_that_of_the_pairs_of_each_week():
    corpus = annotated()
    agreed = agree(corpus, ["ann", "ben"], by="week")
    assert agreed.sections == ("all", "2026-W45", "2026-W46", "2026-W47", "2026-W48", "")
    weeks = {"2026-W45": [4], "2026-W46": [0, 1], "2026-W47": [2], "2026-W48": [3], "": [5]}
    for name, places in weeks.items():
        alone = agree(Corpus(corpus[k] for k in places), ["ann", "ben"])
        section = agreed.pairings[0].section(name)
        assert section.pairs == len(places)
        figures = alone.pairings[0].sections[0].figures
        for key in ("words.possible.f1", "words.sure.f1"):
            assert section.figures[key] == pytest.approx(figures[key], nan_ok=True)
    assert agree(corpus, ["ann", "ben"], by="month").sections == ("all", "2026-11", "")
    assert "2026-11-24" in agree(corpus, ["ann", "ben"], by="day").sections
    assert "(none)" in str(agreed)


def test_groups_and_counts_by_time_take_all_annotations():
    corpus = annotated()
    assert list(corpus.groups("month")) == ["2027-01"]
    assert len(corpus.groups("week", annotators=["ann"])["2026-W47"]) == 1
    counts = count_groups(corpus, "month")
    assert {name: part.pairs for name, part in counts.groups.items()} == {"2027-01": 6}
    corpus = Corpus([replace(pair(ann=timed()), attributes={"week": "the first"})])
    assert list(corpus.groups("week")) == ["the first"]
    assert list(corpus.groups("day")) == ["2026-11-22"]
    corpus = Corpus([pair(ann=LINKS, ben=LINKS)])
    told = "no annotation has a time, so there is no week"
    for ask in (Corpus.groups, lambda corpus, by: agree(corpus, by=by), count_groups):
        refuses(errors.OptionError, told, ask, corpus, "week")
    refuses(errors.UnknownNameError, "year", corpus.groups, "year")
    scored, alone = pair("1", ann=LINKS, ben=LINKS), pair("2", ann=LINKS)
    corpus = Corpus([scored, replace(alone, attributes={"genre": "news"})])
    (record,) = score_records(corpus, "ann", "ben", by="genre", level="links")
    assert record["genre"] == ""


def test_the_commands_group_by_time(tmp_path, capsys):
    path = tmp_path / "corpus.jsonl"
    write_corpus(annotated(), path, format="alignkit-jsonl")
    names = ["--annotators", "ann", "ben"]
    agreed = run(capsys, "agree", path, *names, "--by", "week", "--bootstrap", "none")
    assert (agreed.code, "2026-W46" in agreed.out) == (0, True)
    assert "2027-01" in run(capsys, "stats", path, "--by", "month").out
    sides = ["--hyp-annotator", "ann", "--ref-annotator", "ben"]
    scored = run(capsys, "score", path, *sides, "--by", "week").out
    weeks = [record["week"] for record in score_records(annotated(), "ann", "ben", by="week")]
    assert weeks == ["2026-W46", "2026-W47", "2026-W48", "2026-W45", ""]
    assert all(week in scored for week in weeks)
    assert "2027" not in scored
    write_corpus([pair(ann=LINKS, ben=LINKS)], path, format="alignkit-jsonl")
    for words in (["agree", path], ["score", path, *sides]):
        run(capsys, *words, "--by", "day").failed("there is no day")
