"""Check what can be checked quickly, before a server listens and a browser opens."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from alignkit.annotate.errors import ProjectError
from alignkit.annotate.exchange.documents import read_documents
from alignkit.annotate.names import (
    ADJUDICATOR,
    ANNOTATOR,
    GOLD,
    check_adjudicable,
    check_gold,
    not_assigned,
)
from alignkit.annotate.server.job import Job, Plan
from alignkit.annotate.tables.lock import ServerLock
from alignkit.annotate.tables.project_file import check_file, read_annotators, read_assigned
from alignkit.corpus import Corpus
from alignkit.errors import OptionError, UnknownNameError
from alignkit.formats import ReadOptions, open_reading, read_pairs

_SMALL = 1 << 18  # bytes of a corpus that is read in a tenth of a second


def check_plan(plan: Plan, annotators: Iterable[str], annotator: str) -> None:
    """Check that suggestions can come from there."""
    if plan.kind != "initial":
        return
    if plan.name not in annotators:
        raise UnknownNameError("annotator (--initial)", plan.name, annotators)
    if plan.name == annotator:
        raise OptionError(
            f"--initial {plan.name} and --annotator {annotator} are one: annotate under another "
            "name"
        )


def check_beforehand(
    job: Job, plan: Plan | None, role: str = ANNOTATOR, gold: str = ""
) -> Sequence[str]:
    """Check a project and, where there is none yet, its place and its corpus.

    What takes long, such as to read a large corpus, is left for later.
    """
    known: Sequence[str] | None
    if os.path.exists(job.project):
        check_file(job.project)
        ServerLock(job.project).release()
        known = read_annotators(job.project)
        assigned = read_assigned(job.project)
        if role == ANNOTATOR and assigned and job.annotator not in assigned:
            raise ProjectError(not_assigned(job.annotator, assigned))
        if role == ADJUDICATOR:
            _check_adjudicator(job, gold)
    else:
        _check_place(job.project)
        known = annotators_of(job) if not job.documents else _check_documents(job)
        if role == ADJUDICATOR:
            check_adjudicable(job.task)
            gold = gold or GOLD
            check_gold(gold, job.annotator, taken=gold in (known or ()))
    if plan is not None and plan.kind == "model":
        from alignkit.aligner.store import check_head

        check_head(plan.name)
    elif plan is not None and known is not None:
        check_plan(plan, known, job.annotator)
    return known or ()


def _check_adjudicator(job: Job, gold: str) -> None:
    """Check that somebody may adjudicate a project; it takes the store, which opening it takes."""
    from alignkit.annotate.server.admission import check_adjudicator
    from alignkit.annotate.store import Store

    with Store.open(job.project) as store:  # read-only leaves files beside it
        check_adjudicator(store, job.annotator, gold)


def _check_documents(job: Job) -> tuple[str, ...]:
    """Check that there are documents, by the first; nobody has annotated them."""
    encoding = job.reading.get("encoding", "utf-8")
    if next(read_documents(job.documents, tokenize=job.tokenize, encoding=encoding), None) is None:
        names = " and ".join(job.documents)
        raise ProjectError(f"{names}: no documents; there is nothing to extract from")
    return ()


def annotators_of(job: Job) -> tuple[str, ...] | None:
    """Return who annotated the corpus; None where it is too large to read it now."""
    options = ReadOptions(**job.reading)
    files = [path for path in (job.corpus, options.source, options.target) if path is not None]
    for path in files:
        try:
            if os.path.isdir(path):
                os.scandir(path).close()
            else:
                open(path, "rb").close()
        except OSError as problem:
            raise OptionError(f"{path}: cannot be read: {problem.strerror or problem}") from None
    if not all(map(os.path.isfile, files)) or sum(map(os.path.getsize, files)) > _SMALL:
        return None
    kind, reading = open_reading(job.corpus, format=job.format, options=options)
    corpus = Corpus(read_pairs(kind, reading))
    if not len(corpus):
        raise ProjectError(f"{job.corpus}: holds no sentence pairs; there is nothing to annotate")
    return corpus.annotators


def _check_place(project: str) -> None:
    folder = os.path.dirname(os.path.realpath(project))
    if not os.path.isdir(folder):
        raise OptionError(f"{project}: there is no folder {folder}; make it, or name another file")
    ServerLock(project).release()
