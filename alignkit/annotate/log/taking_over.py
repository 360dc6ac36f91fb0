"""Put what an annotation made elsewhere says over the state of a stream."""

from __future__ import annotations

from alignkit.alignment import NULL
from alignkit.annotate.log.conversion import state_of
from alignkit.annotate.log.decisions import JUDGMENT
from alignkit.annotate.log.state import PairState, copied
from alignkit.annotation import Annotation
from alignkit.labels import Scheme


def merged(
    state: PairState, annotation: Annotation, holds: frozenset[str], scheme: Scheme | None
) -> PairState:
    """Return a state with what an annotation says; what its format cannot hold stays."""
    said = state_of(annotation, scheme)
    new = copied(state)
    if "comment" in holds:
        new.comments.pop("", None)
        new.comments.update({key: text for key, text in said.comments.items() if not key})
    new.flags = _flags(state, said, holds, scheme)
    if "judgment" in holds:
        new.judgment = said.judgment
    if "provenance" in holds:
        new.provenance = said.provenance
    if annotation.alignment is None:
        return new
    new.done = True
    if "labels" in holds:
        new.comments = {key: text for key, text in new.comments.items() if not key}
    new.comments.update({key: text for key, text in said.comments.items() if key})
    new.cells = dict(said.cells)
    if "nulls" not in holds:
        linked = {i for i, _ in said.cells}, {j for _, j in said.cells}
        new.cells.update(
            ((i, j), value)
            for (i, j), value in state.cells.items()
            if (j == NULL and i not in linked[0]) or (i == NULL and j not in linked[1])
        )
    if "weights" in holds:
        new.weights = dict(said.weights)
    else:
        new.weights = {cell: w for cell, w in state.weights.items() if cell in new.cells}
    new.rejected = state.rejected - new.cells.keys()
    new.bulk = {cell for cell in state.bulk if new.cells.get(cell) == state.cells.get(cell)}
    new.whys = {  # a value that comes from elsewhere was not decided here
        cell: why
        for cell, why in state.whys.items()
        if new.cells.get(cell) == state.cells.get(cell)
        and (cell != JUDGMENT or (new.judgment, new.flags) == (state.judgment, state.flags))
    }
    return new


def _flags(
    state: PairState, said: PairState, holds: frozenset[str], scheme: Scheme | None
) -> list[str]:
    within = {flag.value for flag in scheme.flags} if scheme is not None else set()
    text = said if "judgment" in holds else state
    beside = said if "flags" in holds else state
    return sorted({*within.intersection(text.flags), *(set(beside.flags) - within)})
