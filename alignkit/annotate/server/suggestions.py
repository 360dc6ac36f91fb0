"""Suggest links for the pairs of a project: of an annotator, a saved aligner, or a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from alignkit.annotate.exchange.exporting import exported
from alignkit.annotate.log.project_events import Suggestion
from alignkit.annotate.server.job import Plan, Row
from alignkit.annotate.store import Store

if TYPE_CHECKING:
    from alignkit.aligner import Aligner
    from alignkit.alignment import Alignment

LEAST = 0.05
"""The least probability of a link that is suggested."""

_BLOCK = 2000  # pairs that are aligned at a time
_IDENTITY = 3.0  # pseudo-count for equal words where both sides are of one language
_SHARED = 0.2  # of the words of both sides, from which on they are taken to be

Tell = Callable[[str, "float | None"], None]
Words = tuple[Sequence[str], Sequence[str]]


def suggest(store: Store, plan: Plan, tell: Tell) -> Iterator[Row]:
    """Yield the suggestions for each pair: its number, and its cells in order."""
    if plan.kind == "initial":
        for k, pair in enumerate(exported(store, annotator=plan.name), 1):
            alignment = pair.alignments.get(plan.name)
            if alignment is not None:
                yield k, _cells(alignment)
    elif plan.kind != "none":
        yield from _aligned(store, plan, tell)


def _cells(alignment: Alignment) -> list[Suggestion]:
    """Return the links of an alignment; weights that are probabilities are taken for these."""
    cells: list[Suggestion] = []
    for link, sure in alignment.items():
        weight = alignment.weights.get(link)
        p = None if weight is None or not 0 <= weight <= 1 else _rounded(weight)
        if p is None or p >= LEAST:
            cells.append((link.i, link.j, p, 2 if sure else 1))
    return cells


def _aligned(store: Store, plan: Plan, tell: Tell) -> Iterator[Row]:
    annotator = next(iter(store.project().annotators))
    pairs = [pair.words for pair in exported(store, annotator=annotator)]
    aligner = aligner_of(plan, pairs, tell)
    for start in range(0, len(pairs), _BLOCK):
        tell("aligning", start / len(pairs))
        some = pairs[start : start + _BLOCK]
        yield from posteriors(aligner, some, range(start + 1, start + 1 + len(some)))


def aligner_of(plan: Plan, pairs: Sequence[Words], tell: Tell) -> Aligner:
    """Return the aligner of a plan: loaded, or trained on all pairs of the project."""
    from alignkit.aligner import Aligner, Bitext

    if plan.kind == "model":
        tell("loading the model", None)
        return Aligner.load(plan.name)
    identity = _IDENTITY if _shared(pairs) >= _SHARED else 0.0

    def progress(done: int, total: int, text: str) -> None:
        tell(f"training: {text}" if text else "training", done / max(total, 1))

    return Aligner.train(Bitext.pack(pairs), identity=identity, progress=progress)


def posteriors(
    aligner: Aligner, pairs: Sequence[Words], numbers: Sequence[int], *, threads: int | None = None
) -> Iterator[Row]:
    """Yield what an aligner suggests for pairs of some numbers."""
    from alignkit.aligner import Bitext

    bitext = Bitext.pack(pairs, casefold=aligner.parameters.casefold)
    links = aligner.align_bitext(bitext, threshold=LEAST, threads=threads)
    offsets = links.arrays.offsets.tolist()
    for pair, k in enumerate(numbers):
        begin, end = offsets[pair], offsets[pair + 1]
        places = links.arrays.links[begin:end].tolist()
        weights = links.probabilities[begin:end].tolist()
        cells = zip(places, weights, strict=True)
        yield k, [(i, j, _rounded(min(p, 1.0)), 2) for (i, j), p in cells]


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
