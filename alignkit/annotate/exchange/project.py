"""Make a project from a corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import count
from uuid import NAMESPACE_URL, uuid4, uuid5

from msgspec import Raw, Struct

from alignkit.annotate.errors import ProjectError
from alignkit.annotate.log.clock import now
from alignkit.annotate.log.conversion import difference, project_pair, state_of
from alignkit.annotate.log.events import LogEvent, encode
from alignkit.annotate.log.project_events import Account, Import, Setting
from alignkit.annotate.log.state import PairState
from alignkit.annotate.tables.building import build_project
from alignkit.annotate.tables.queries import known_scheme
from alignkit.corpus import Corpus

_CHUNK = 256  # pairs in one event
_NAMESPACE = uuid5(NAMESPACE_URL, "urn:alignkit:import")
_START = PairState()


def create_project(
    path: str,
    corpus: Corpus,
    *,
    name: str = "",
    scheme: str = "",
    threshold: float = 0.9,
    task: str = "",
    tell: Callable[[], None] | None = None,
) -> None:
    """Make a project that holds a corpus with all that it says."""
    if os.path.lexists(path):
        raise ProjectError(f"{path}: is there already; open it, or name another file")
    if not len(corpus):
        raise ProjectError("the corpus holds no sentence pairs; there is nothing to annotate")
    setting = Setting(
        str(uuid4()), name or os.path.basename(path), scheme, threshold, task=task or None
    )
    build_project(path, _log(corpus, setting, tell))


def import_id(k: int, annotator: str, *what: bytes) -> str:
    """Return the id of an imported event: the same for the same things, wherever it is imported."""
    parts = (str(k).encode(), annotator.encode(), *what)
    return str(uuid5(_NAMESPACE, "\n".join(part.hex() for part in parts)))


def _log(corpus: Corpus, setting: Setting, tell: Callable[[], None] | None) -> Iterator[LogEvent]:
    numbers, seqs, at = count(1), count(1), now()

    def project_event(kind: str, data: Struct) -> LogEvent:
        return LogEvent(
            str(uuid4()), next(seqs), next(numbers), kind, 1, "", at, "", 0, Raw(encode(data))
        )

    chosen = known_scheme(setting.scheme or "")
    yield project_event("setting", setting)
    for name in corpus.annotators:
        if not name:
            raise ProjectError("an annotator of the corpus has an empty name; give it one")
        yield project_event("account", Account(name))
    pairs = [project_pair(k, pair) for k, pair in enumerate(corpus, 1)]
    for start in range(0, len(pairs), _CHUNK):
        yield project_event("import", Import(pairs[start : start + _CHUNK]))
    for k, pair in enumerate(corpus, 1):
        for name, annotation in pair.annotations.items():
            try:
                said = difference(_START, state_of(annotation, chosen), how="import")
                said.when = annotation.when or ""
                data = encode(said)
            except ProjectError as problem:
                raise ProjectError(f"pair {pair.id!r}, {name!r}: {problem}") from None
            id = import_id(k, name, pair.id.encode(), data)
            yield LogEvent(id, 1, next(numbers), "edit", 1, name, at, "", 0, Raw(data), k, name)
        if tell is not None:
            tell()
