"""Check what a server is to open before it starts: the project, or what it is to be made of."""

from __future__ import annotations

import os
from collections.abc import Sequence

from alignkit.annotate.creation import open_pairs
from alignkit.annotate.documents import read_documents
from alignkit.annotate.project import database, names, server_lock
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import Job, SuggestionPlan
from alignkit.annotate.server.sessions import check_adjudicator
from alignkit.errors import OptionError
from alignkit.io.options import ReadOptions
from alignkit.model.corpus import Corpus

_SMALL = 1 << 18  # bytes of a corpus that is read in a tenth of a second


def check_beforehand(
    job: Job, plan: SuggestionPlan | None, role: str = names.ANNOTATOR, gold: str = ""
) -> Sequence[str]:
    """Check a project; if there is none yet, check its folder, and its corpus if that is quick."""
    known: Sequence[str] | None
    if os.path.exists(job.project):
        known = _check_existing(job, role, gold)
    else:
        known = _check_new(job, role, gold or names.GOLD)
    if plan is not None and plan.kind == "model":
        from alignkit.align.model_contents import encoder_of_model

        used = encoder_of_model(plan.name)
        if used is not None and not plan.encoder:
            raise used.missing(plan.name)
    elif plan is not None and known is not None:
        plan.checked(known, job.annotator)
    return known or ()


def _check_existing(job: Job, role: str, gold: str) -> Sequence[str]:
    """Check a project, and that somebody may be let in; return its annotators."""
    database.check_file(job.project)
    server_lock.ServerLock(job.project).release()
    known = database.read_annotators(job.project)
    assigned = database.read_assigned(job.project)
    if role == names.ANNOTATOR and assigned and job.annotator not in assigned:
        raise names.ProjectError(names.not_assigned(job.annotator, assigned))
    if role == names.ADJUDICATOR:
        # not read-only, which leaves files beside it
        with Store.open(job.project, accept_copy=job.accept_copy) as store:
            check_adjudicator(store, job.annotator, gold)
    return known


def _check_new(job: Job, role: str, gold: str) -> Sequence[str] | None:
    """Check what a project is to be made of; return its annotators, None if that takes long."""
    folder = os.path.dirname(os.path.realpath(job.project))
    if not os.path.isdir(folder):
        raise OptionError(
            f"{job.project}: there is no folder {folder}; make it, or give another file"
        )
    server_lock.ServerLock(job.project).release()
    known: Sequence[str] | None = ()
    if job.documents:
        encoding = job.reading.get("encoding", "utf-8")
        documents = read_documents(job.documents, tokenize=job.tokenize, encoding=encoding)
        if next(documents, None) is None:
            named = " and ".join(job.documents)
            raise names.ProjectError(f"{named}: no documents; there is nothing to extract")
    else:
        known = annotators_of(job)
    if role == names.ADJUDICATOR:
        names.check_adjudicable(job.task)
        names.check_gold(gold, job.annotator, taken=gold in (known or ()))
    return known


def annotators_of(job: Job) -> tuple[str, ...] | None:
    """Return the annotators of the corpus; None if it is too large to read now."""
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
    _, pairs = open_pairs(job.corpus, job.format, options)
    corpus = Corpus(pairs)
    if not len(corpus):
        raise names.ProjectError(
            f"{job.corpus}: contains no sentence pairs; there is nothing to annotate"
        )
    return corpus.annotators
