"""The child process of drafts: it reads uploaded files, makes projects, and imports into them.

What was uploaded is opened only here, with limits on memory, time and written bytes.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import json

from alignkit.annotate.creation import create_project
from alignkit.annotate.importing import Imported, import_pairs, merge_project
from alignkit.annotate.lab.bodies import ImportDone
from alignkit.annotate.lab.draft_reading import DraftReader
from alignkit.annotate.lab.drafts import MB, DraftJob, pairs_file
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.replay import build_project
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.sessions import Sessions
from alignkit.annotate.server.worker import Output, do_job, give_way
from alignkit.io.formats import get_format
from alignkit.io.reading import read_corpus
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

_LIMITS = {"read": (2048 * MB, 120, 600 * MB), "create": (4096 * MB, 600, 4096 * MB)}
_MOST_WARNINGS = 100


def main() -> None:
    """Do the job on standard input."""
    do_job(DraftJob, _do)


def _do(job: DraftJob, out: Output, _: threading.Event) -> bytes:
    give_way()
    os.umask(0o077)
    logging.disable()  # messages have words of the texts
    _limit(*_LIMITS.get(job.action, _LIMITS["create"]))
    if job.action == "read":
        return json.encode(DraftReader(job, out.progress).report())
    if job.action == "import":
        return json.encode(_import(job))
    _create(job, out)
    return b"null"


def _limit(memory: int, seconds: int, written: int) -> None:
    """Limit what this process may use, where the platform can."""
    if sys.platform == "win32":
        return
    import resource

    def too_long(*_: object) -> None:
        raise ProjectError("it takes too much time; split the files")

    signal.signal(signal.SIGXCPU, too_long)
    for kind, most in (
        (resource.RLIMIT_DATA, memory), (resource.RLIMIT_FSIZE, written),
        (resource.RLIMIT_CPU, seconds),
    ):  # fmt: skip
        hard = most + 5 * (kind == resource.RLIMIT_CPU)
        with suppress(ValueError, OSError):  # a lower limit holds already
            resource.setrlimit(kind, (most, hard))


def _rebuilt(job: DraftJob) -> Path | None:
    """Return the file of the uploaded project, made anew from its log; None for a corpus."""
    path = pairs_file(Path(job.folder), job.draft.revision).with_suffix(".alignkit")
    return path if path.exists() else None


def _corpus(job: DraftJob) -> Corpus:
    path = pairs_file(Path(job.folder), job.draft.revision)
    return read_corpus(path, format="alignkit-jsonl", max_size=512)


def _create(job: DraftJob, out: Output) -> None:
    new, done, total = job.new, 0, job.draft.report.pairs
    assert new is not None
    assert job.plan is not None

    def made() -> None:
        nonlocal done
        done += 1
        out.progress(f"Making the project: {done:,} of {total:,} pairs", done / total)

    if (project := _rebuilt(job)) is not None:
        with Store.open(str(project), readonly=True) as store:
            build_project(job.place, store.log())
    else:
        how = {"name": new.name, "scheme": new.scheme, "task": new.task}
        create_project(job.place, _corpus(job), **how, tell=made)
    with Store.open(job.place) as store:
        store.settings(name=new.name, blind=new.blind, majority=new.majority, gold=new.gold)
        Sessions(store.database).plan = job.plan


def _import(job: DraftJob) -> ImportDone:
    report = job.draft.report
    with Store.open(job.place) as store:
        if (project := _rebuilt(job)) is not None:
            if job.add_pairs or job.words_only:
                raise ProjectError("A project brings its work alone. Leave the two options off.")
            with Store.open(str(project), readonly=True) as other:
                return _done(merge_project(store, other, dry=job.dry_run), job)
        corpus = _corpus(job)
        pairs: Iterator[SentencePair] = iter(corpus)
        if job.words_only:
            pairs = (SentencePair(pair.id, pair.source, pair.target) for pair in pairs)
        holds = get_format(report.format).holds if report.format else frozenset({"text"})
        in_order = report.in_order and not job.add_pairs
        result = import_pairs(
            store, pairs, holds=holds, in_order=in_order, add=job.add_pairs, dry=job.dry_run
        )
        return _done(result, job)


def _done(result: Imported, job: DraftJob) -> ImportDone:
    counts = {
        "pairs of the project": result.pairs - result.added, "pairs added": result.added,
        "pairs with corrected words": result.reworded, "links kept": result.carried,
        "links removed": len(result.lost), "annotations new": result.new,
        "annotations changed": result.changed, "annotations unchanged": result.same,
        "annotations already ahead of the file": result.older,
    }  # fmt: skip
    warnings = [*result.warnings(), *result.removed()][:_MOST_WARNINGS]
    return ImportDone(list(counts.items()), warnings, job.dry_run)
