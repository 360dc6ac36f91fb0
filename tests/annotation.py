"""Drive a store of annotations as a browser tab does: for the tests."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count

import pytest
from postgres_server import server

pytest.importorskip("sqlalchemy", reason="needs the extra [annotate]")

from msgspec import Raw

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate import assignment
from alignkit.annotate.creation import create_project
from alignkit.annotate.project import engines
from alignkit.annotate.project.events import Request, Sent, decode_data
from alignkit.annotate.project.names import Conflict, is_url
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.store import Store

_ids = count(1)


def sent(kind, *, id=None, **data):
    named = {key.rstrip("_"): value for key, value in data.items()}
    return Sent(id or f"event-{next(_ids)}", kind, Raw(json.dumps(named).encode()))


def cell(i, j, before, after, **more):
    return sent("edit", how="cell", cells=[[i, j, before, after]], **more)


def done(before=False):
    return sent("done", before=before, after=not before)


def add_pairs(store, pairs):
    with store.database.writing() as conn:
        return assignment.add_pairs(conn, pairs)


def small_corpus(pairs=3, annotations=None):
    words = ["a", "b", "c", "d"], ["w", "x", "y", "z"]
    made = {"gold": Alignment.parse("0-0 1?1")} if annotations is None else annotations
    return Corpus(SentencePair(f"p{k}", *words, made) for k in range(1, pairs + 1))


def place_of(folder, name):
    """Return a new place: a file, or a schema if ALIGNKIT_STORE says so."""
    postgres = os.environ.get("ALIGNKIT_STORE") == "postgresql"
    return server().place() if postgres else str(folder / name)


def project(folder, corpus=None, name="project", annotator="anna", **more):
    path = place_of(folder, name)
    create_project(path, corpus if corpus is not None else small_corpus(), **more)
    store = Store.open(path)
    if annotator is not None:
        store.enrol(annotator)
    return store


def run_sql(path, *statements):
    """Change a project behind the back of the log."""
    if is_url(path):
        if any(text.startswith(("PRAGMA", "DROP", "ALTER")) for text in statements):
            pytest.skip("is about files of SQLite")
        engine = engines.postgres_engine(*engines.parsed(path))
        with engines.writing(engine) as conn:
            engines.use_schema(conn)
            for statement in statements:
                conn.exec_driver_sql(statement)
        return engines.close(engine)
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        for statement in statements:
            conn.execute(statement)


def ask(store, question, *more):
    with store.database.reading() as conn:
        answer = question(conn, *more)
        return list(answer) if isinstance(answer, Iterator) else answer


def copy_of(store, folder, name="other"):
    """Return a copy of an open project, which goes on by itself."""
    path = place_of(folder, name)
    if is_url(path):
        build_project(path, store.log())
    else:
        run_sql(store.path, f"VACUUM INTO '{path}'")
    return Store.open(path)


def append(store, k, annotator, *, base, rev, events):
    """Append events to a stream; return the answer, and whether any of them was new."""
    return store.append(k, annotator, Request(base, rev, list(events))).result()


class Tab:
    """What one tab knows of a pair; it may be behind."""

    def __init__(self, store, k=1, annotator="anna"):
        self.store, self.k, self.annotator = store, k, annotator
        self.load()

    def load(self):
        view = self.store.pair(self.k, self.annotator)
        self.seq, self.rev = 0, view.rev
        self.state, self.events = PairState(rev=view.rev), {}
        for event in self.store.history(self.k, self.annotator):
            self._fold(event)

    def _fold(self, event):
        self.events[event.seq] = event
        self.state.apply(event.kind, decode_data(event.data))
        self.state.push(event.kind, event.seq, lambda seq: self.events[seq].below)
        self.seq = event.seq

    def tops(self):
        seqs = self.state.undo, self.state.redo
        return tuple(self.events[seq].id if seq else None for seq in seqs)

    def send(self, *events):
        try:
            answer, new = append(
                self.store, self.k, self.annotator, base=self.seq, rev=self.rev, events=events
            )
        except Conflict as conflict:
            for event in conflict.events:
                self._fold(event)
            raise
        for event in answer.events:
            self._fold(event)
        self.undo, self.redo = answer.state_undo, answer.state_redo
        return answer, new

    def back(self, kind="undo", of=None):
        view = self.store.pair(self.k, self.annotator).state
        return self.send(sent(kind, of=of or getattr(view, kind) or "none"))


def cells_of(store, k=1, annotator="anna"):
    return {(i, j): v for i, j, v in store.pair(k, annotator).state.cells}
