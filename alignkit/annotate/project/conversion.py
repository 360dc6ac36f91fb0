"""Turn states into annotations of a corpus and back, and find the difference of two states.

A state has an alignment if something is linked, null or labelled, or if the pair is marked done: a
pair that is done without links has an empty alignment. A pair that was only judged has an
annotation without alignment; if the task is to judge, done does not make it aligned. Comments on
cells are the labels of the alignment. Its unseen links are those in bulk; nulls in bulk are left
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from alignkit.annotate.project.events import JUDGMENT, Cell, Data, Turn, Write, comment_key, stored
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.project_events import Pair
from alignkit.annotate.project.state import PairState, copied
from alignkit.model.alignment import NULL, Alignment, Link
from alignkit.model.annotation import Annotation
from alignkit.model.labels import Scheme
from alignkit.model.sentence_pair import SentencePair

POSSIBLE = 1
SURE = 2


def project_pair(k: int, pair: SentencePair) -> Pair:
    """Return a sentence pair as a project stores it, without its annotations."""
    source, target = pair.words
    return Pair(k, pair.id, source, target, dict(pair.attributes), trees_of(pair))


def trees_of(pair: SentencePair) -> dict[str, dict[str, str]]:
    """Return the trees of a pair as text: by side, by name."""
    sides = {"source": pair.source_trees, "target": pair.target_trees}
    texts = {}
    for side, trees in sides.items():
        if trees:
            texts[side] = {name: str(tree) for name, tree in trees.items()}
    return texts


def annotation_of(
    state: PairState, scheme: Scheme | None = None, when: str | None = None, *, judged: bool = False
) -> Annotation | None:
    """Return a state as an annotation; None if it says nothing."""
    comment = state.comments.get("", "")
    labels = _labels(state)
    judgment = state.judgment
    flags = frozenset(state.flags)
    if scheme is not None:
        judgment, flags = scheme.put_together(judgment, flags)
    is_aligned = state.done and not judged
    if is_aligned or state.cells or labels:
        alignment = _alignment(state, labels)
    elif comment or flags or judgment or state.provenance:
        alignment = None
    else:
        return None
    unseen = _unseen_links(state)
    return Annotation(
        alignment,
        comment=comment,
        flags=flags,
        judgment=judgment,
        provenance=state.provenance,
        when=when,
        learned=state.learned,
        unseen=unseen,
    )


def _unseen_links(state: PairState) -> frozenset[Link]:
    """Return the links that were accepted in bulk, or kept by done, and not looked at."""
    links = [cell for cell in state.bulk if cell in state.cells and NULL not in cell]
    return frozenset(Link(i, j) for i, j in links)


def _labels(state: PairState) -> dict[Cell, str]:
    """Return the comments on cells."""
    labels = {}
    for key, text in state.comments.items():
        cell = comment_key(key)
        if cell is not None:
            labels[cell] = text
    return labels


def _alignment(state: PairState, labels: Mapping[Cell, str]) -> Alignment:
    """Return the links and nulls of a state, with their weights and labels."""
    links = [cell for cell in state.cells if NULL not in cell]
    nulls = [cell for cell in state.cells if NULL in cell]
    return Alignment(
        [cell for cell in links if state.cells[cell] == SURE],
        links,
        nulls=[cell for cell in nulls if state.cells[cell] == SURE],
        possible_nulls=nulls,
        weights={cell: w for cell, w in state.weights.items() if cell in state.cells},
        labels=labels,
    )


def state_of(annotation: Annotation, scheme: Scheme | None = None) -> PairState:
    """Return the state for an annotation."""
    judgment = annotation.judgment
    flags: Iterable[str] = annotation.flags
    if scheme is not None:
        apart = scheme.take_apart(judgment, flags)
        if scheme.put_together(*apart) == (judgment, flags):
            judgment, flags = apart
    state = PairState(judgment=judgment, flags=sorted(flags))
    state.provenance = annotation.provenance
    state.learned = annotation.learned
    if annotation.comment:
        state.comments[""] = annotation.comment
    alignment = annotation.alignment
    if alignment is None:
        return state
    state.done = True
    state.bulk = set(annotation.unseen)
    for cell, sure in alignment.items():
        state.cells[cell] = SURE if sure else POSSIBLE
    sure_nulls = alignment.sure_nulls
    for cell in alignment.nulls:
        state.cells[cell] = SURE if cell in sure_nulls else POSSIBLE
    for (i, j), weight in alignment.weights.items():
        if not isfinite(weight):
            raise ProjectError(f"the weight of {i}-{j} is {weight}; expected a finite number")
        state.weights[i, j] = weight
    for (i, j), text in alignment.labels.items():
        state.comments[f"{i}-{j}"] = text
    return state


def difference(old: PairState, new: PairState, *, how: str = "") -> Data:
    """Return the writes that turn one state into another."""
    data = Data(
        how=how,
        cells=_changed(old.cells, new.cells, 0),
        bulk=_changed_marks(old.bulk, new.bulk),
        rejected=_changed_marks(old.rejected, new.rejected),
        settled=_changed_marks(old.settled, new.settled),
        weights=_changed(old.weights, new.weights),
        comments=_changed(old.comments, new.comments),
        whys=_changed(old.whys, new.whys),
        rewrites=_changed(old.rewrites, new.rewrites),
        extracts=_changed(old.extracts, new.extracts),
    )
    if old.judgment != new.judgment:
        data.label = old.judgment, new.judgment
    if old.flags != new.flags:
        data.flags = old.flags, new.flags
    if old.provenance != new.provenance:
        data.provenance = old.provenance, new.provenance
    if old.learned != new.learned:
        data.learned = old.learned, new.learned
    if old.done != new.done:
        data.done = Turn(old.done, new.done)
    return data


def _changed_marks(old: set[Cell], new: set[Cell]) -> tuple[Write, ...]:
    """Return the writes of the cells that are marked in one of two states, in order."""
    return stored((*cell, int(cell in old), int(cell in new)) for cell in sorted(old ^ new))


def _changed(old: Mapping[Any, Any], new: Mapping[Any, Any], missing: Any = None) -> Any:
    """Return the writes of the values that differ, by cell or key in order.

    A write has the cell (two numbers) or the key, then the value before and after.
    """
    writes: list[tuple[Any, ...]] = []
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            place = key if isinstance(key, tuple) else (key,)
            writes.append((*place, old.get(key, missing), new.get(key, missing)))
    return stored(writes)


def merged(
    state: PairState, annotation: Annotation, holds: frozenset[str], scheme: Scheme | None
) -> PairState:
    """Return a state with an annotation merged in; fields that its format cannot hold stay."""
    said = state_of(annotation, scheme)
    new = copied(state)
    if "comment" in holds:
        new.comments.pop("", None)
        if "" in said.comments:
            new.comments[""] = said.comments[""]
    _merge_judgment(new, said, holds, scheme)
    if "provenance" in holds:
        new.provenance = said.provenance
    if "learned" in holds:
        new.learned = said.learned
    if annotation.alignment is None:
        return new
    new.done = True
    if "labels" in holds:
        new.comments = {key: text for key, text in new.comments.items() if not key}
    new.comments.update({key: text for key, text in said.comments.items() if key})
    new.cells = dict(said.cells)
    if "nulls" not in holds:
        new.cells |= _nulls_of_unlinked(state, said)
    if "weights" in holds:
        new.weights = dict(said.weights)
    else:
        new.weights = {cell: w for cell, w in state.weights.items() if cell in new.cells}
    new.rejected = state.rejected - new.cells.keys()
    new.bulk = _merged_bulk(state, said, new.cells)
    # a value that comes from elsewhere was not decided here
    for cell in state.whys:
        if new.cells.get(cell) != state.cells.get(cell):
            del new.whys[cell]
    if (new.judgment, new.flags) != (state.judgment, state.flags):
        new.whys.pop(JUDGMENT, None)
    return new


def _merged_bulk(state: PairState, said: PairState, cells: Mapping[Cell, int]) -> set[Cell]:
    """Return which cells nobody looked at: as the state has it, and for new cells as it is said."""
    bulk = set()
    for cell, value in cells.items():
        is_kept = state.cells.get(cell) == value
        if cell in (state.bulk if is_kept else said.bulk):
            bulk.add(cell)
    return bulk


def _merge_judgment(
    new: PairState, said: PairState, holds: frozenset[str], scheme: Scheme | None
) -> None:
    """Set the judgment and flags; the flags of a scheme belong to the judgment."""
    of_scheme = set()
    if scheme is not None:
        of_scheme = {flag.value for flag in scheme.flags}
    judged = said if "judgment" in holds else new
    flagged = said if "flags" in holds else new
    flags = of_scheme.intersection(judged.flags) | (set(flagged.flags) - of_scheme)
    new.judgment = judged.judgment
    new.flags = sorted(flags)


def _nulls_of_unlinked(state: PairState, said: PairState) -> dict[Cell, int]:
    """Return the nulls of a state whose words another state does not mention."""
    source = {i for i, _ in said.cells}
    target = {j for _, j in said.cells}
    nulls = {}
    for cell, value in state.cells.items():
        i, j = cell
        if (j == NULL and i not in source) or (i == NULL and j not in target):
            nulls[cell] = value
    return nulls
