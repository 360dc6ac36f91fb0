"""What many threads append at a time is committed at once, and the error of one is its own."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from annotation import Tab, cell, project, small_corpus

from alignkit.annotate.project.replay import replay


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path, monkeypatch):
    monkeypatch.setenv("ALIGNKIT_STORE", request.param)
    with project(tmp_path, small_corpus(20), annotator=None) as store:
        yield store


def together(store, calls):
    """Make calls in threads while a commit is held up; return their results or errors."""
    begun, held, waiting = threading.Event(), threading.Event(), store.database._waiting

    def outcome(call):
        try:
            return call()
        except Exception as problem:
            return type(problem).__name__

    with ThreadPoolExecutor(100) as pool:
        store.database.later(lambda conn: begun.set() or held.wait())
        begun.wait()
        outcomes = []
        for call in calls:
            outcomes.append(pool.submit(outcome, call))
            while len(waiting) < len(outcomes):
                time.sleep(0.001)
        held.set()
    return [answer.result() for answer in outcomes]


def tabs_of(store, count):
    for number in range(count):
        store.enrol(f"a{number}")
    return [Tab(store, annotator=f"a{number}") for number in range(count)]


def test_the_error_of_one_is_its_own_and_the_others_commit_at_once(store, monkeypatch):
    events = [cell(0, 0, 0, 2), cell(0, 0, 1, 2), cell(9, 9, 0, 2), *(cell(0, 0, 0, 2),) * 2]
    events += [cell(1, 1, 0, 1) for _ in range(65)]
    tabs, commits, writing = tabs_of(store, len(events)), [], store.database.writing
    monkeypatch.setattr(store.database, "writing", lambda: commits.append(1) or writing())
    calls = [
        lambda tab=tab, event=event: tab.send(event)[1]
        for tab, event in zip(tabs, events, strict=True)
    ]
    outcomes = together(store, calls)
    assert outcomes == [True, "Conflict", "BadEvent", True, "BadEvent", *[True] * 65]
    assert len(commits) == 3  # the one that was held up, 64, and the rest
    assert not replay(store).differences
    assert [event.n for event in store.log()] == list(range(1, store.project().n + 1))


def test_a_fault_in_some_work_spoils_no_other(store):
    (tab,) = tabs_of(store, 1)

    def broken(conn):
        conn.exec_driver_sql("SELECT nonsense FROM event")

    def faulty(conn):
        raise KeyError

    calls = [lambda: tab.send(cell(0, 0, 0, 2))[1]]
    later = store.database.later
    calls += [lambda work=work: later(work).result() for work in (broken, faulty, id)]
    done, *failed, number = together(store, calls)
    assert (done, failed[1], isinstance(number, int)) == (True, "KeyError", True)
    assert failed[0] in ("ProjectError", "DamagedProject")
    assert Tab(store, annotator="a0").state.cells == {(0, 0): 2}
