"""A project knows when annotations were changed last, and how long pairs take."""

from datetime import datetime, timedelta, timezone
from math import isnan
from statistics import median

import pytest
from annotation import Tab, cell, project, sent, small_corpus
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Alignment, Annotation, Corpus
from alignkit.annotate.dashboard.times import pace_of
from alignkit.annotate.exporting import exported
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.merging import merge_project
from alignkit.io.format import EVERYTHING
from alignkit.model.annotation import read_moment

WHEN = "2020-02-29T13:06:28Z"
LINKS = Alignment.parse("0-0 1?1")


def times(store):
    return [{name: one.when for name, one in pair.annotations.items()} for pair in exported(store)]


def at(store, kind="", k=1):
    events = [event for event in store.log() if (event.k, event.annotator) == (k, "anna")]
    return read_moment([event.at for event in events if kind in ("", event.kind)][-1])


def test_an_export_has_the_time_of_the_last_event_that_changed_something(tmp_path, monkeypatch):
    clock = iter(f"2026-11-22T13:{minute:02d}:00.000+00:00" for minute in range(60))
    monkeypatch.setattr("alignkit.annotate.project.events.now", lambda: next(clock))
    store = project(tmp_path, small_corpus(4, {"gold": Annotation(LINKS, when=WHEN)}))
    Tab(store, 1).send(cell(0, 0, 0, 2))
    tab = Tab(store, 2)
    tab.send(cell(0, 0, 0, 2, bulk=[[0, 0, 0, 1]]))
    changed = at(store, "edit", k=2)
    tab.send(sent("open", rev=1, suggestions=False))
    tab.send(sent("edit", how="cell", seen=[[0, 0]]))
    Tab(store, 3).send(sent("judge", label=["", "none"]))
    Tab(store, 3).back()
    Tab(store, 4).send(sent("open", rev=1, suggestions=False))
    assert at(store, "open", k=2) > changed
    assert times(store) == [
        {"gold": WHEN, "anna": at(store, k=1)},
        {"gold": WHEN, "anna": changed},
        {"gold": WHEN},
        {"gold": WHEN},
    ]


def test_what_is_imported_has_the_time_of_its_file_or_none(tmp_path):
    store = project(tmp_path, small_corpus(3, {"gold": Annotation(LINKS)}))
    said = [Annotation(LINKS, when=WHEN), Annotation(LINKS), Annotation(None, "fine", when=WHEN)]
    corpus = [
        pair.without_annotations("gold").with_annotation("ben", one)
        for pair, one in zip(small_corpus(3), said, strict=True)
    ]
    import_pairs(store, corpus, holds=EVERYTHING)
    assert times(store) == [{"gold": None, "ben": one.when} for one in said]
    again = import_pairs(store, Corpus(exported(store)), holds=EVERYTHING)
    assert (again.new, again.changed) == (0, 0)


def test_merged_work_keeps_the_time_of_the_other_project(tmp_path):
    store, other = project(tmp_path), project(tmp_path, name="other")
    Tab(other, 1).send(cell(0, 0, 0, 2))
    Tab(store, 2).send(cell(0, 0, 0, 2))
    Tab(other, 2).send(cell(1, 1, 0, 2))
    merge_project(store, other)
    assert times(store)[0]["anna"] == at(other, k=1)
    assert times(store)[1]["anna"] == at(other, k=2)


# how long pairs take


def log(*steps, start=0.0):
    now, found = datetime(2026, 11, 22, 13, tzinfo=timezone.utc) + timedelta(seconds=start), []
    for k, seconds in steps:
        now += timedelta(seconds=seconds)
        found.append((k, now.isoformat(timespec="milliseconds")))
    return found


def test_without_events_or_pairs_done_nothing_is_foretold():
    for events in ([], log((1, 0)), log((1, 0), (1, 10))):
        pace = pace_of(events, done=())
        assert isnan(pace.median)
        assert isnan(pace.mean)
    assert pace_of(log((1, 0)), done={1, 7}).median == 0


@given(st.lists(st.tuples(st.integers(1, 4), st.floats(0, 200)), max_size=30), st.randoms())
def test_times_are_those_of_a_plain_loop_in_whatever_order_events_come(steps, random):
    events = log(*steps)
    seconds = dict.fromkeys((k for k, _ in steps), 0.0)
    before = None
    for k, text in events:
        now = datetime.fromisoformat(text)
        if before is not None and (now - before).total_seconds() < 60:
            seconds[k] += (now - before).total_seconds()
        before = now
    pace = pace_of(events, done={1, 2})
    assert pace.by_pair == pytest.approx(seconds, abs=1e-5)
    took = [seconds[k] for k in (1, 2) if k in seconds]
    if took:
        assert pace.median == pytest.approx(median(took), abs=1e-5)
        assert pace.mean == pytest.approx(sum(took) / len(took), abs=1e-4)
    distinct = {text for _, text in events}
    if len(distinct) == len(events):  # of two events at one time, the order of the log says which
        mixed = list(events)
        random.shuffle(mixed)
        assert pace_of(mixed, done={1, 2}) == pace or isnan(pace.median)
