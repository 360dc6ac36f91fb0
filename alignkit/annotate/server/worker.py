"""The long tasks of the server, in a child process: make a project, suggest, learn, measure.

A job is one line of JSON on standard input; progress and results are lines on standard output. When
the input ends, the process ends too: it does not outlive its server.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import IO, TYPE_CHECKING, TypeVar

from msgspec import Raw, json

from alignkit._support.locks import lock_alone
from alignkit.annotate.creation import create_project, open_pairs
from alignkit.annotate.documents import read_documents
from alignkit.annotate.exporting import exported
from alignkit.annotate.project.events import Lesson
from alignkit.annotate.project.project_events import Suggestion
from alignkit.annotate.project.queries import pair_rows
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import Job, Line, Report, Row, SuggestionPlan
from alignkit.errors import AlignkitError
from alignkit.io.options import ReadOptions
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.align.aligner import Aligner
    from alignkit.align.encoder.transformer import Encoder
    from alignkit.align.evidence import Annotators
    from alignkit.annotate.learning import Learner
    from alignkit.model.alignment import Alignment

Words = tuple[Sequence[str], Sequence[str]]
J = TypeVar("J")

LEAST = 0.05  # the least probability of a suggested link

_EVERY = 0.1  # seconds between two lines of progress
_WAIT = 0.5  # seconds until it is looked again whether another child has ended its training
_BLOCK = 2000  # pairs that are aligned at a time
_IDENTITY = 3.0  # pseudo-count for equal words if both sides are of one language
_SHARED = 0.2  # of the words of both sides, from which on they are taken to be
_NEXT = 20  # pairs that get new suggestions
_MANY = 2000  # pairs that get them if twice as many are done
_AT_ONCE = 250  # of these, pairs that are aligned at a time


class Output:
    """The lines that the process writes; progress is limited to a few lines per second."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._next = 0.0

    def line(self, line: Line) -> None:
        """Write a line."""
        self._out.write(json.encode(line) + b"\n")
        if line.row is None:
            self._out.flush()

    def progress(self, text: str, share: float | None) -> None:
        """Write the progress, if enough time has passed."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY
            self.line(Line(text=text, share=share))


def main() -> None:
    """Do the job on standard input."""
    do_job(Job, _run)


def _run(job: Job, out: Output, bell: threading.Event) -> bytes:
    """Do what a job asks; return its result as JSON. The bell rings when there is more to learn."""
    if job.figures:
        return _measure(job, out)
    if job.learn:
        _learn(job, out, bell)
    elif job.corpus or job.documents:
        _make(job, out)
    else:
        _suggest(job, out)
    return b"null"


def do_job(kind: type[J], work: Callable[[J, Output, threading.Event], bytes]) -> None:
    """Read a job from standard input and do it; errors and the result are lines of output."""
    job = json.decode(sys.stdin.buffer.readline(), type=kind)
    bell = threading.Event()

    def outlive_nobody() -> None:
        while sys.stdin.buffer.readline():
            bell.set()
        os._exit(1)

    threading.Thread(target=outlive_nobody, daemon=True).start()
    out = Output(os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no line of ours
    try:
        out.line(Line(done=True, result=Raw(work(job, out, bell))))
    except AlignkitError as error:
        out.line(Line(error=str(error)))
    except MemoryError:
        out.line(Line(error="out of memory; split the corpus, or free some memory"))
    except OSError as error:
        out.line(Line(error=f"{error.filename or 'a file'}: {error.strerror or error}"))
    except Exception as error:  # a fault of ours goes out in a line, too
        out.line(Line(error=f"this is a fault in alignkit: {type(error).__name__}: {error}"))
    os._exit(0)


@contextmanager
def turn_of(job: Job) -> Iterator[None]:
    """Train while no other child does, if the job has a file for that."""
    if not job.turn:
        yield
        return
    give_way()
    with open(job.turn, "ab") as file:
        while lock_alone(file.fileno()) is False:
            time.sleep(_WAIT)
        yield


def give_way() -> None:
    """Lower the priority of this process."""
    with suppress(AttributeError, OSError):  # annotators go first
        os.nice(10)


def announce(out: Output) -> None:
    """Write a line when kernels are compiled."""
    from alignkit._support.compiling import announce_compilation

    announce_compilation(lambda: out.line(Line(text="compiling kernels, once per machine")))


# Making a project


def _make(job: Job, out: Output) -> None:
    """Make a project of a corpus, or of pairs of documents."""
    if job.documents:
        documents = read_documents(
            job.documents,
            tokenize=job.tokenize,
            encoding=job.reading.get("encoding", "utf-8"),
            note=lambda text: out.line(Line(note=text)),
        )
        corpus = Corpus(documents)
    else:
        corpus = _corpus(job, out)
    if job.plan is not None:
        job.plan.checked(corpus.annotators, job.annotator)
    total = len(corpus)
    done = 0

    def made() -> None:
        nonlocal done
        done += 1
        out.progress(f"making the project: {done:,} of {total:,}", 0.5 + done / total / 2)

    create_project(
        job.project,
        corpus,
        name=job.name,
        scheme=job.scheme,
        task=job.task,
        doubt=job.doubt,
        tell=made,
    )


def _corpus(job: Job, out: Output) -> Corpus:
    """Read the corpus of a job, and report the reading."""
    reading, read = open_pairs(job.corpus, job.format, ReadOptions(**job.reading))

    def pairs() -> Iterator[SentencePair]:
        for count, pair in enumerate(read, 1):
            share = reading.fraction()
            out.progress(f"reading: {count:,} pairs", None if share is None else share / 2)
            yield pair

    corpus = Corpus(pairs())
    for what, count in reading.counts.items():
        if count:
            out.line(Line(note=f"{job.corpus}: {count} x {what}"))
    return corpus


# Suggestions


def _suggest(job: Job, out: Output) -> None:
    """Write the suggestions of a plan."""
    assert job.plan is not None
    announce(out)
    with turn_of(job), Store.open(job.project, readonly=True) as store:
        for row in suggest(store, job.plan, out.progress):
            out.line(Line(row=row))


def suggest(store: Store, plan: SuggestionPlan, report: Report) -> Iterator[Row]:
    """Yield the suggestions for each pair."""
    if plan.kind == "initial":
        for k, pair in enumerate(exported(store, annotator=plan.name), 1):
            alignment = pair.alignments.get(plan.name)
            if alignment is not None:
                yield k, _cells(alignment)
    elif plan.kind != "none":
        from alignkit.align.evidence import systems_of
        from alignkit.align.supervised.learned import Learned

        words = _words(store)
        aligner = aligner_of(plan, words, report)
        numbers = range(1, len(words) + 1)
        if plan.systems:
            aligner = aligner.with_learned(Learned.vote(systems_of(plan.systems)))
        yield from posteriors(store, aligner, numbers, plan.systems, _BLOCK, report)


def _words(store: Store) -> list[Words]:
    """Return the words of all pairs."""
    with store.reading() as conn:
        return [(row.source, row.target) for row in pair_rows(conn)]


def _cells(alignment: Alignment) -> list[Suggestion]:
    """Return the links of an alignment as suggestions; its weights may be probabilities."""
    cells: list[Suggestion] = []
    for link, sure in alignment.items():
        weight = alignment.weights.get(link)
        p = None
        if weight is not None and 0 <= weight <= 1:
            p = _rounded(weight)
        if p is None or p >= LEAST:
            cells.append((link.i, link.j, p, 2 if sure else 1))
    return cells


def aligner_of(plan: SuggestionPlan, pairs: Sequence[Words], report: Report) -> Aligner:
    """Return the aligner of a plan: a loaded one, or one trained on all pairs of the project."""
    from alignkit.align.aligner import Aligner
    from alignkit.align.bitext import Bitext

    encoder = _encoder_of(plan, report)
    if plan.kind == "model":
        report("loading the model", None)
        aligner = Aligner.load(plan.name, encoder=encoder or False)
        used = aligner.parameters.encoder
        if used is not None and encoder is None:
            raise used.missing(plan.name)
        return aligner
    identity = identity_weight(pairs)

    def progress(done: int, total: int, text: str) -> None:
        report(f"training: {text}" if text else "training", done / max(total, 1))

    bitext = Bitext.pack(pairs, written=encoder is not None)
    return Aligner.train(bitext, identity=identity, encoder=encoder, progress=progress)


def _encoder_of(plan: SuggestionPlan, report: Report) -> Encoder | None:
    """Return the encoder of a plan, which reports its progress."""
    if not plan.encoder:
        return None
    from alignkit.align.encoder.transformer import Encoder

    def progress(done: int, total: int) -> None:
        report(f"encoding: {done:,} of {total:,} sentences", done / total)

    return Encoder(plan.encoder, layer=plan.encoder_layer, progress=progress)


def posteriors(
    store: Store,
    aligner: Aligner,
    numbers: Sequence[int],
    systems: Annotators,
    block: int,
    report: Report,
    threads: int | None = None,
) -> Iterator[Row]:
    """Yield the links that an aligner suggests for pairs, with the evidence that it needs."""
    from alignkit.align.supervised.learned import SYSTEM
    from alignkit.annotate.learning import pairs_of

    learned = aligner.parameters.learned
    evidence = systems if learned is not None and learned.lessons.evidence else None
    rated = learned is None or not learned.lessons.kind.startswith(SYSTEM)  # its weights say little
    for start in range(0, len(numbers), block):
        report("aligning", start / len(numbers))
        with store.reading() as conn:
            pairs = pairs_of(conn, numbers[start : start + block], systems)
        links = aligner.align_bitext(pairs, threshold=LEAST, evidence=evidence, threads=threads)
        spans = pairwise(links.arrays.offsets.tolist())
        for pair, (begin, end) in zip(pairs, spans, strict=True):
            places = links.arrays.links[begin:end].tolist()
            probabilities = links.probabilities[begin:end].tolist()
            cells: list[Suggestion] = []
            for (i, j), p in zip(places, probabilities, strict=True):
                cells.append((i, j, _rounded(min(p, 1.0)) if rated else None, 2))
            yield int(pair.id), cells


def identity_weight(pairs: Sequence[Words]) -> float:
    """Return the pseudo-count for equal words: more than 0 if both sides are of one language.

    If they are of two, few words are on both sides of their pair, such as names.
    """
    shared = 0
    total = 0
    for source, target in pairs:
        first = {word.casefold() for word in source}
        second = {word.casefold() for word in target}
        shared += sum(word.isalpha() for word in first & second)
        total += min(len(first), len(second))
    share = shared / max(total, 1)
    return _IDENTITY if share >= _SHARED else 0.0


def _rounded(p: float) -> float:
    """Return a probability with the four digits that are stored."""
    return float(f"{p:.4f}")


# Learning


def _learn(job: Job, out: Output, bell: threading.Event) -> None:
    """Learn, write the lesson and new suggestions, and wait for the bell, again and again."""
    assert job.plan is not None
    give_way()
    announce(out)
    with Store.open(job.project, readonly=True) as store:
        course = Course(store, job.plan, out.progress)
        while True:
            with turn_of(job):
                lesson, rows = course.go_on()
                for row in rows:
                    out.line(Line(row=row))
            out.line(Line(lesson=lesson))
            bell.wait()
            bell.clear()


class Course:
    """Learn from the done pairs of a project, and suggest for the next pairs of each annotator."""

    def __init__(self, store: Store, plan: SuggestionPlan, report: Report) -> None:
        from alignkit.annotate.learning import DoneWork

        self._store = store
        self._plan = plan
        self._report = report
        self._work = DoneWork(plan.systems)
        self._learner: Learner | None = None
        self._many = 0  # how many pairs were done when many got suggestions
        self._stays = False  # whether the aligner of the plan learns nothing more

    def go_on(self) -> tuple[Lesson | None, Iterator[Row]]:
        """Learn what is new; return the lesson, None if nothing is new, and suggestions."""
        from alignkit.align.supervised.gold import FOLDS
        from alignkit.annotate.learning import Learner

        if self._stays:
            return None, iter(())
        with self._store.reading() as conn:
            self._work.refresh(conn)
        pairs = self._work.pairs
        if self._learner is None:
            if len(pairs) < FOLDS:
                return None, iter(())
            aligner = aligner_of(self._plan, _words(self._store), self._report)
            learned = aligner.parameters.learned
            if learned is not None and learned.used:
                self._stays = True
                stays = f"{self._plan.name} has already learned from gold, so suggestions stay"
                return Lesson(len(pairs), verdict=stays), iter(())
            self._learner = Learner(aligner, self._plan.systems)
        lesson = self._learner.learn(pairs)
        if lesson is None or not lesson.used:
            return lesson, iter(())
        lesson.revs = self._pairs_ahead()
        suggestions = posteriors(
            self._store,
            self._learner.aligner,
            list(lesson.revs),
            self._plan.systems,
            _AT_ONCE,
            self._report,
            threads=1,
        )
        return lesson, suggestions

    def _pairs_ahead(self) -> dict[int, int]:
        """Return the pairs that get new suggestions, with the revisions of their words.

        They are the next of each annotator; many if twice as many are done as when there were many.
        """
        from alignkit.annotate.learning import pairs_ahead

        done = self._work.pairs.keys()
        most = _NEXT
        if len(done) >= 2 * self._many:
            most = _MANY
            self._many = len(done)
        closed = self._work.opened | done
        with self._store.reading() as conn:
            rows = pair_rows(conn, pairs_ahead(conn, self._work.last, closed, most))
            return {row.k: row.rev for row in rows}


# Figures


def _measure(job: Job, out: Output) -> bytes:
    """Return the figures of the dashboard as JSON."""
    from alignkit.annotate.dashboard.figures import dashboard_view, times_view

    give_way()
    announce(out)
    with Store.open(job.project, readonly=True) as store:
        if job.figures == "times":
            return json.encode(times_view(store))
        return json.encode(dashboard_view(store, job.name, out.progress))
