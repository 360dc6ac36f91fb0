"""Turn states into annotations of a corpus and back, and find the difference of two states.

A state has an alignment if something is linked, null or labelled, or if the pair is marked done: a
pair that is done without links has an empty alignment. A pair that was only judged has an
annotation without alignment; if the task is to judge, done does not make it aligned. Comments on
cells are the labels of the alignment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from alignkit.annotate.project.events import JUDGMENT, Data, Turn, comment_key
from alignkit.annotate.project.fold import Pair
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.state import PairState, copied
from alignkit.model.alignment import NULL, Alignment
from alignkit.model.annotation import Annotation
from alignkit.model.labels import Scheme
from alignkit.model.sentence_pair import SentencePair


def project_pair(k: int, pair: SentencePair) -> Pair:
    """Return a sentence pair as a project stores it, without its annotations."""
    source, target = pair.words
    return Pair(k, pair.id, source, target, dict(pair.attributes), trees_of(pair))


def trees_of(pair: SentencePair) -> dict[str, dict[str, str]]:
    """Return the trees of a pair as text: by side, by name."""
    sides = {"source": pair.source_trees, "target": pair.target_trees}
    named = {side: trees.items() for side, trees in sides.items() if trees}
    return {side: {name: str(tree) for name, tree in trees} for side, trees in named.items()}


def annotation_of(
    state: PairState, scheme: Scheme | None = None, when: str | None = None, *, judged: bool = False
) -> Annotation | None:
    """Return a state as an annotation; None if it says nothing."""
    labels = {comment_key(key): text for key, text in state.comments.items() if key}
    comment = state.comments.get("", "")
    judgment = state.judgment
    flags = frozenset(state.flags)
    if scheme is not None:
        judgment, flags = scheme.put_together(judgment, flags)
    if not ((state.done and not judged) or state.cells or labels):
        if not (comment or flags or judgment or state.provenance):
            return None
        return Annotation(None, comment, flags, judgment, state.provenance, when)
    links = {cell: value for cell, value in state.cells.items() if NULL not in cell}
    nulls = {cell: value for cell, value in state.cells.items() if NULL in cell}
    alignment = Alignment(
        [cell for cell, value in links.items() if value == 2],
        links,
        nulls=[cell for cell, value in nulls.items() if value == 2],
        possible_nulls=nulls,
        weights={cell: w for cell, w in state.weights.items() if cell in state.cells},
        labels={cell: text for cell, text in labels.items() if cell is not None},
    )
    return Annotation(alignment, comment, flags, judgment, state.provenance, when)


def state_of(annotation: Annotation, scheme: Scheme | None = None) -> PairState:
    """Return the state for an annotation."""
    judged: tuple[str, Iterable[str]] = annotation.judgment, annotation.flags
    if scheme is not None:
        apart = scheme.take_apart(*judged)
        if scheme.put_together(*apart) == judged:
            judged = apart
    state = PairState(judgment=judged[0], flags=sorted(judged[1]), provenance=annotation.provenance)
    if annotation.comment:
        state.comments[""] = annotation.comment
    alignment = annotation.alignment
    if alignment is None:
        return state
    state.done = True
    state.cells = {(i, j): 1 + sure for (i, j), sure in alignment.items()}
    if alignment.nulls:
        sure_nulls = alignment.sure_nulls
        state.cells.update(((i, j), 1 + ((i, j) in sure_nulls)) for i, j in alignment.nulls)
    for (i, j), weight in alignment.weights.items():
        if not isfinite(weight):
            raise ProjectError(f"the weight of {i}-{j} is {weight}; expected a finite number")
        state.weights[i, j] = weight
    for (i, j), text in alignment.labels.items():
        state.comments[f"{i}-{j}"] = text
    return state


def difference(old: PairState, new: PairState, *, how: str = "") -> Data:
    """Return the writes that turn one state into another."""
    fields = {
        name: _changed(getattr(old, name), getattr(new, name))
        for name in ("weights", "comments", "whys", "rewrites", "extracts")
    }
    for name, held in (("label", "judgment"), ("flags", "flags"), ("provenance", "provenance")):
        change = getattr(old, held), getattr(new, held)
        fields[name] = change if change[0] != change[1] else None
    return Data(
        how=how,
        cells=_changed(old.cells, new.cells, 0),
        bulk=_changed(dict.fromkeys(old.bulk, 1), dict.fromkeys(new.bulk, 1), 0),
        rejected=_changed(dict.fromkeys(old.rejected, 1), dict.fromkeys(new.rejected, 1), 0),
        done=Turn(old.done, new.done) if old.done != new.done else None,
        **fields,
    )


def _changed(old: Mapping[Any, Any], new: Mapping[Any, Any], none: Any = None) -> Any:
    changed = (key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key))
    writes = (
        (*(key if isinstance(key, tuple) else (key,)), old.get(key, none), new.get(key, none))
        for key in changed
    )
    return tuple(writes) or ()  # the default itself, which is not encoded: Python 3.10 makes others


def merged(
    state: PairState, annotation: Annotation, holds: frozenset[str], scheme: Scheme | None
) -> PairState:
    """Return a state with an annotation merged in; fields that its format cannot hold stay."""
    said = state_of(annotation, scheme)
    new = copied(state)
    if "comment" in holds:
        new.comments.pop("", None)
        new.comments.update({key: text for key, text in said.comments.items() if not key})
    if scheme is not None:
        within = {flag.value for flag in scheme.flags}
    else:
        within = set()
    text, beside = (said if name in holds else state for name in ("judgment", "flags"))
    new.flags = sorted({*within.intersection(text.flags), *(set(beside.flags) - within)})
    new.judgment = text.judgment
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
