"""Suggest links for the pairs of a project: of an annotator, a saved aligner, or a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from alignkit.annotate.exchange.exporting import exported
from alignkit.annotate.server.job import Plan
from alignkit.annotate.store import Store

if TYPE_CHECKING:
    from alignkit.aligner import Aligner, Bitext
    from alignkit.alignment import Alignment
    from alignkit.corpus import SentencePair

__all__ = ["LEAST", "suggest"]

LEAST = 0.05
"""The least probability of a link that is suggested."""

_BLOCK = 2000  # pairs that are aligned at a time
_IDENTITY = 3.0  # pseudo-count for equal words where both sides are of one language
_SHARED = 0.2  # of the words of both sides, from which on they are taken to be

Cell = tuple[int, int, "float | None", int]
Row = tuple[int, list[Cell]]
Tell = Callable[[str, "float | None"], None]


def suggest(store: Store, plan: Plan, tell: Tell) -> Iterator[Row]:
    """Yield the suggestions for each pair: its number, and its cells in order.

    Parameters
    ----------
    store
        The project.
    plan
        Where they come from.
    tell
        Called with what is done now and, where it is known, the share that is done.

    Raises
    ------
    AlignkitError
        If there is nothing to learn from, or the model cannot be loaded.
    """
    if plan.kind == "initial":
        for k, pair in enumerate(exported(store, annotator=plan.name), 1):
            alignment = pair.alignments.get(plan.name)
            if alignment is not None:
                yield k, _cells(alignment)
    elif plan.kind != "none":
        yield from _aligned(store, plan, tell)


def _cells(alignment: Alignment) -> list[Cell]:
    """Return the links of an alignment; weights that are probabilities are taken for these."""
    cells: list[Cell] = []
    for link, sure in alignment.items():
        weight = alignment.weights.get(link)
        p = None if weight is None or not 0 <= weight <= 1 else _rounded(weight)
        if p is None or p >= LEAST:
            cells.append((link.i, link.j, p, 2 if sure else 1))
    return cells


def _aligned(store: Store, plan: Plan, tell: Tell) -> Iterator[Row]:
    from alignkit.aligner import Aligner, Bitext

    pairs = [pair.words for pair in _words(store)]
    if plan.kind == "model":
        tell("loading the model", None)
        aligner = Aligner.load(plan.name)
        for start in range(0, len(pairs), _BLOCK):
            tell("aligning", start / len(pairs))
            some = pairs[start : start + _BLOCK]
            packed = Bitext.pack(some, casefold=aligner.parameters.casefold)
            yield from _posteriors(aligner, packed, start)
        return
    bitext = Bitext.pack(pairs)
    identity = _IDENTITY if _shared(pairs) >= _SHARED else 0.0

    def progress(done: int, total: int, text: str) -> None:
        tell(f"training: {text}" if text else "training", done / max(total, 1))

    trained = Aligner.train(bitext, identity=identity, progress=progress)
    tell("aligning", None)
    yield from _posteriors(trained, bitext, 0)


def _posteriors(aligner: Aligner, bitext: Bitext, before: int) -> Iterator[Row]:
    links = aligner.align_bitext(bitext, threshold=LEAST)
    offsets = links.arrays.offsets.tolist()
    for pair in range(len(bitext)):
        begin, end = offsets[pair], offsets[pair + 1]
        places = links.arrays.links[begin:end].tolist()
        weights = links.probabilities[begin:end].tolist()
        cells = zip(places, weights, strict=True)
        yield before + pair + 1, [(i, j, _rounded(min(p, 1.0)), 2) for (i, j), p in cells]


def _words(store: Store) -> Iterator[SentencePair]:
    return exported(store, annotator=next(iter(store.project().annotators)))


def _shared(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> float:
    """Return the share of words that stand on both sides of their pair; names are few."""
    shared = total = 0
    for source, target in pairs:
        first, second = ({word.casefold() for word in side} for side in (source, target))
        shared += len({word for word in first & second if word.isalpha()})
        total += min(len(first), len(second))
    return shared / max(total, 1)


def _rounded(p: float) -> float:
    return float(f"{p:.4f}")
