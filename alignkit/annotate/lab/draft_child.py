"""The child process of drafts: it reads uploaded files, makes projects, and imports into them.

What was uploaded is opened only here, with limits on memory, time and written bytes.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import threading
from contextlib import suppress

from msgspec import json

from alignkit.annotate.creation import create_project
from alignkit.annotate.importing import Imported, import_pairs
from alignkit.annotate.lab.bodies import ImportDone, NewImport
from alignkit.annotate.lab.draft_reading import DraftReader
from alignkit.annotate.lab.draft_records import MB, DraftJob, ImportPairs, MakeProject, ReadFiles
from alignkit.annotate.merging import merge_project
from alignkit.annotate.project.names import NO_SCHEME, ProjectError, check_name
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import SuggestionPlan
from alignkit.annotate.server.sessions import Sessions
from alignkit.annotate.server.worker import Output, announce, do_job, give_way
from alignkit.io.formats import get_format
from alignkit.io.reading import read_corpus
from alignkit.model.corpus import Corpus
from alignkit.model.labels import get_scheme
from alignkit.model.sentence_pair import SentencePair

_READING = (2048 * MB, 120, 600 * MB)  # memory, seconds, bytes of a written file
_MAKING = (4096 * MB, 600, 4096 * MB)
_WARNINGS = 100


def main() -> None:
    """Do the job on standard input."""
    do_job(DraftJob, _run)


def _run(job: DraftJob, out: Output, _: threading.Event) -> bytes:
    """Read a draft, make a project of it or import it; return the result as JSON."""
    give_way()
    announce(out)
    os.umask(0o077)
    logging.disable()  # messages have words of the texts
    limits = _READING if isinstance(job.task, ReadFiles) else _MAKING
    _limit(*limits)
    if isinstance(job.task, ImportPairs):
        return json.encode(_import(job, job.task))
    if isinstance(job.task, MakeProject):
        _create(job, job.task)
        return b"null"
    return json.encode(DraftReader(job, out.progress).read())


def _limit(memory: int, seconds: int, written: int) -> None:
    """Limit what this process may use, where the platform can."""
    if sys.platform == "win32":
        return
    import resource

    def too_long(*_: object) -> None:
        raise ProjectError("This takes too much time. Split the files.")

    signal.signal(signal.SIGXCPU, too_long)
    limits = {
        resource.RLIMIT_DATA: (memory, memory),
        resource.RLIMIT_FSIZE: (written, written),
        resource.RLIMIT_CPU: (seconds, seconds + 5),
    }
    for kind, soft_and_hard in limits.items():
        with suppress(ValueError, OSError):  # a lower limit holds already
            resource.setrlimit(kind, soft_and_hard)


def _create(job: DraftJob, task: MakeProject) -> None:
    """Make a project of the pairs of a draft, or of the log of the project in it."""
    new = task.new
    draft = job.record.draft
    project = job.pairs.with_suffix(".alignkit")
    adopted = project.exists()
    if new.task != draft.task and (adopted or "extract" in (new.task, draft.task)):
        raise ProjectError(f"The files were read for the task {draft.task}. Change that first.")
    if not adopted and check_name(new.gold) in draft.annotators:
        raise ProjectError(f"{new.gold} drew links in these files. Choose another name for gold.")
    kind = new.suggestions.kind if new.task == "align" else "none"
    name = new.suggestions.name
    models = {file.name: file.n for file in draft.files if file.kind == "model"}
    is_unknown_model = kind == "model" and name not in models
    is_unknown_annotator = kind == "initial" and name not in draft.annotators
    if is_unknown_model or is_unknown_annotator:
        raise ProjectError(f"{name or 'Nobody'} cannot suggest links. Choose another.")
    if kind == "model":
        shutil.copyfile(os.path.join(job.folder, str(models[name])), task.model)
        name = task.model
    if adopted:
        with Store.open(str(project), readonly=True) as store:
            build_project(task.place, store.log())
    else:
        if new.scheme == NO_SCHEME and new.task == "judge":
            raise ProjectError("Judging pairs needs labels. Choose some.")
        if new.scheme not in ("", NO_SCHEME):
            get_scheme(new.scheme)
        create_project(
            task.place,
            _corpus(job),
            name=new.name,
            scheme=new.scheme,
            task=new.task,
            doubt=new.doubt,
        )
    with Store.open(task.place) as store:
        store.settings(Setting(name=new.name))
        if not adopted:
            store.settings(Setting(blind=new.blind, majority=new.majority, gold=new.gold))
        plan = SuggestionPlan(kind, name, kind != "none", new.learning)
        if kind == "encoder" and task.encoder is not None:
            plan = task.encoder.trained(learning=new.learning)
        Sessions(store.database).plan = plan


def _corpus(job: DraftJob) -> Corpus:
    """Return the pairs of a draft."""
    return read_corpus(job.pairs, format="alignkit-jsonl", max_size=512)


def _import(job: DraftJob, task: ImportPairs) -> ImportDone:
    """Import the pairs of a draft into a project, or merge the project in it; say what changed."""
    new = task.new
    project = job.pairs.with_suffix(".alignkit")
    with Store.open(task.place) as store:
        if project.exists():
            if new.add_pairs or new.words_only:
                raise ProjectError("A project brings its work alone. Leave both options off.")
            with Store.open(str(project), readonly=True) as other:
                result = merge_project(store, other, dry=new.dry_run)
        else:
            result = _import_pairs(job, new, store)
    counts = {
        "pairs of the project": result.pairs - result.added,
        "pairs added": result.added,
        "pairs with corrected words": result.reworded,
        "links kept": result.carried,
        "links removed": len(result.lost),
        "annotations new": result.new,
        "annotations changed": result.changed,
        "annotations unchanged": result.same,
        "annotations already ahead of the file": result.older,
    }
    warnings = [*result.warnings(), *result.removed()][:_WARNINGS]
    return ImportDone([*counts.items()], warnings, new.dry_run)


def _import_pairs(job: DraftJob, new: NewImport, store: Store) -> Imported:
    """Import the pairs of a draft, by their order if they have no ids of their own."""
    pairs = list(_corpus(job))
    format = job.record.format
    holds = get_format(format).holds if format else frozenset({"text"})
    numbered = all(pair.id == str(k) for k, pair in enumerate(pairs, 1))
    in_order = "ids" not in holds and numbered and not new.add_pairs
    if new.words_only:
        pairs = [SentencePair(pair.id, pair.source, pair.target) for pair in pairs]
    return import_pairs(
        store, pairs, holds=holds, in_order=in_order, add=new.add_pairs, dry=new.dry_run
    )
