"""Make a project from a corpus, which may be one of documents (see `documents`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from uuid import NAMESPACE_URL, uuid4, uuid5

from msgspec import Raw

from alignkit.annotate.project.appending import new_event
from alignkit.annotate.project.conversion import difference, project_pair, state_of
from alignkit.annotate.project.events import LogEvent, encode, now
from alignkit.annotate.project.names import ProjectError, check_doubt
from alignkit.annotate.project.places import refuse_existing
from alignkit.annotate.project.project_events import Account, Import, ProjectEvent, Setting
from alignkit.annotate.project.queries import known_scheme, portions
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.state import PairState
from alignkit.io.options import ReadOptions
from alignkit.io.parallel_text import text_pairs
from alignkit.io.reading import open_reading, read_pairs
from alignkit.io.records import Reading
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import Corpus
from alignkit.model.labels import Scheme
from alignkit.model.roles import ROLES
from alignkit.model.sentence_pair import SentencePair

_CHUNK = 256  # pairs in one event
_THRESHOLD = 0.9  # from which probability on pages accept suggestions in bulk
_NAMESPACE = uuid5(NAMESPACE_URL, "urn:alignkit:import")


def open_pairs(
    path: str, format: str, options: ReadOptions
) -> tuple[Reading, Iterator[SentencePair]]:
    """Return the reading of a corpus, and its pairs; without a format, of the plain texts named."""
    if format:
        kind, reading = open_reading(path, format=format, options=options)
        return reading, read_pairs(kind, reading)
    reading = Reading(path, options)
    return reading, text_pairs(reading)


def create_project(
    path: str,
    corpus: Corpus,
    *,
    name: str = "",
    scheme: str = "",
    task: str = "",
    doubt: float | None = None,
    tell: Callable[[], None] = lambda: None,
) -> None:
    """Make a project from a corpus with all its annotations."""
    check_doubt(doubt)
    refuse_existing(path)
    if not len(corpus):
        raise ProjectError("the corpus has no sentence pairs; there is nothing to annotate")
    title = name or os.path.basename(path)
    setting = Setting(
        key=str(uuid4()),
        name=title,
        scheme=scheme,
        threshold=_THRESHOLD,
        task=task or None,
        doubt=doubt,
    )
    build_project(path, _log(corpus, setting, tell))


def import_id(k: int, annotator: str, *what: bytes) -> str:
    """Return the id of an imported event: the same for the same content in every project."""
    parts = (str(k).encode(), annotator.encode(), *what)
    return str(uuid5(_NAMESPACE, "\n".join(part.hex() for part in parts)))


def _log(corpus: Corpus, setting: Setting, tell: Callable[[], None]) -> Iterator[LogEvent]:
    """Yield the events of a new project: its setting, annotators, pairs, then all annotations."""
    at = now()
    last = 0
    for last, event in enumerate(_project_events(corpus, setting), 1):
        stored = new_event(event.kind, seq=last, n=last, at=at)
        stored.data = Raw(encode(event))
        yield stored
    scheme = known_scheme(setting.scheme or "")
    for k, pair in enumerate(corpus, 1):
        for name, annotation in pair.annotations.items():
            try:
                data = _imported(annotation, scheme)
            except ProjectError as problem:
                raise ProjectError(f"pair {pair.id!r}, {name!r}: {problem}") from None
            last += 1
            id = import_id(k, name, pair.id.encode(), data)
            stored = new_event("edit", name, id=id, seq=1, n=last, at=at)
            stored.k = k
            stored.annotator = name
            stored.data = Raw(data)
            yield stored
        tell()


def _project_events(corpus: Corpus, setting: Setting) -> Iterator[ProjectEvent]:
    """Yield the events of the project itself: its setting, annotators and pairs."""
    yield setting
    for name, role in corpus.roles.items():
        if not name:
            raise ProjectError("an annotator of the corpus has an empty name; give it a name")
        yield Account(name, "" if role == ROLES[0] else role)
    pairs = [project_pair(k, pair) for k, pair in enumerate(corpus, 1)]
    for some in portions(pairs, _CHUNK):
        yield Import(some)


def _imported(annotation: Annotation, scheme: Scheme | None) -> bytes:
    """Return the data of the event that imports an annotation."""
    data = difference(PairState(), state_of(annotation, scheme), how="import")
    data.when = annotation.when or ""
    data.start = annotation.start
    return encode(data)
