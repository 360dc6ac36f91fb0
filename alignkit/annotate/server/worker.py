"""Do long work for the server in a process of its own: make a project, find suggestions, measure.

A job comes as a line of JSON on standard input, and what is done goes out as lines on standard
output. When the input ends, so does the process: it does not outlive its server.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO

from msgspec import Raw, json

from alignkit.annotate.creation import create_project, read_documents
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import Job, Line
from alignkit.annotate.server.learning import suggest
from alignkit.annotate.server.serving import check_plan
from alignkit.errors import AlignkitError
from alignkit.io.options import ReadOptions
from alignkit.io.reading import open_reading, read_pairs
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

_EVERY = 0.1  # seconds between two lines of progress


class _Teller:
    """Write lines, and progress not too often."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out, self._next = out, 0.0

    def line(self, line: Line) -> None:
        self._out.write(json.encode(line) + b"\n")
        if line.row is None:
            self._out.flush()

    def progress(self, text: str, share: float | None) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY
            self.line(Line(text=text, share=share))


def main() -> None:
    """Do one job."""
    job = json.decode(sys.stdin.buffer.readline(), type=Job)
    bell = threading.Event()
    threading.Thread(target=_outlive_nobody, args=[bell], daemon=True).start()
    teller = _Teller(os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no line of ours
    try:
        result = b"null"
        if job.figures:
            result = _measure(job, teller)
        elif job.learn:
            _learn(job, teller, bell)
        elif job.corpus or job.documents:
            _make(job, teller)
        else:
            _suggest(job, teller)
        teller.line(Line(done=True, result=Raw(result)))
    except AlignkitError as error:
        teller.line(Line(error=str(error)))
    except MemoryError:
        teller.line(Line(error="out of memory; split the corpus, or free some"))
    except OSError as error:
        teller.line(Line(error=f"{error.filename or job.project}: {error.strerror or error}"))
    except Exception as error:  # a fault of ours: to be told in a line, too
        teller.line(Line(error=f"this is a fault in alignkit: {type(error).__name__}: {error}"))
    os._exit(0)


def _outlive_nobody(bell: threading.Event) -> None:
    while sys.stdin.buffer.readline():
        bell.set()
    os._exit(1)


def _make(job: Job, teller: _Teller) -> None:
    corpus = _documents(job, teller) if job.documents else _corpus(job, teller)
    if job.plan is not None:
        check_plan(job.plan, corpus.annotators, job.annotator)
    told = _counter(teller, len(corpus))
    create_project(job.project, corpus, name=job.name, scheme=job.scheme, task=job.task, tell=told)


def _documents(job: Job, teller: _Teller) -> Corpus:
    return Corpus(
        read_documents(
            job.documents,
            tokenize=job.tokenize,
            encoding=job.reading.get("encoding", "utf-8"),
            note=lambda text: teller.line(Line(note=text)),
        )
    )


def _corpus(job: Job, teller: _Teller) -> Corpus:
    kind, reading = open_reading(job.corpus, format=job.format, options=ReadOptions(**job.reading))

    def pairs() -> Iterator[SentencePair]:
        for count, pair in enumerate(read_pairs(kind, reading), 1):
            share = reading.fraction()
            teller.progress(f"reading: {count:,} pairs", None if share is None else share / 2)
            yield pair

    corpus = Corpus(pairs())
    for what, count in reading.counts.items():
        if count:
            teller.line(Line(note=f"{job.corpus}: {count} x {what}"))
    return corpus


def _counter(teller: _Teller, total: int) -> Callable[[], None]:
    count = 0

    def tell() -> None:
        nonlocal count
        count += 1
        teller.progress(f"making the project: {count:,} of {total:,}", 0.5 + count / total / 2)

    return tell


def _suggest(job: Job, teller: _Teller) -> None:
    assert job.plan is not None
    _announce(teller)
    with Store.open(job.project, readonly=True) as store:
        for row in suggest(store, job.plan, teller.progress):
            teller.line(Line(row=row))


def _announce(teller: _Teller) -> None:
    from alignkit._support.jit import announce_compilation

    announce_compilation(lambda: teller.line(Line(text="compiling kernels, once on a machine")))


def _learn(job: Job, teller: _Teller, bell: threading.Event) -> None:
    assert job.plan is not None
    from alignkit.annotate.server.learning import Course

    _give_way()
    _announce(teller)
    with Store.open(job.project, readonly=True) as store:
        course = Course(store, job.plan, teller.progress)
        while True:
            lesson, rows = course.go_on()
            for row in rows:
                teller.line(Line(row=row))
            teller.line(Line(lesson=lesson))
            bell.wait()
            bell.clear()


def _give_way() -> None:
    with suppress(AttributeError, OSError):  # annotators go first
        os.nice(10)


def _measure(job: Job, teller: _Teller) -> bytes:
    from alignkit.annotate.dashboard.slow_figures import slow_figures

    _give_way()
    _announce(teller)
    with Store.open(job.project, readonly=True) as store:
        found = slow_figures(store, teller.progress, times_alone=job.figures == "times")
        return json.encode(found)
