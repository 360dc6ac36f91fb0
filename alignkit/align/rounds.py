"""The rounds of training, and the small tables that each of them estimates.

Training in memory (`training`) and on the parts of a corpus (`alignkit.cluster`) share what stands
here. The weights of word pairs, which are large, are estimated in `expectation`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignkit._support.array_types import B1, F4, F8, I4, I8
from alignkit.align.expectation import kinds_of
from alignkit.align.expectation_kernel import EMPTY, LEVELS
from alignkit.align.maximization_kernel import UNITS
from alignkit.align.settings import Settings

START_JUMPS = 0.5  # how fast the first jump table falls with the distance from one word further
NO_JUMPS = np.empty((0, 0, 0), np.float32)
BEYOND = 20  # how many jumps beyond the band share the counts of the tail
TRACED = 10_000  # in about how many pairs jumps are counted


# which rounds there are
def schedule_of(settings: Settings) -> Iterator[tuple[str, int]]:
    """Yield the model and the number of each round."""
    models = ["ibm1"]
    if settings.model == "ibm2":
        models.append("ibm2")
    elif settings.model != "ibm1":
        models.append("hmm")
    for model in models:
        rounds = getattr(settings, model)
        for number in range(1, rounds + 1):
            yield model, number
    if settings.fertile:
        yield settings.model, 1  # its own rounds follow each other in `fertility.training`


def prunes(model: str, number: int, settings: Settings) -> bool:
    """Return whether word pairs are dropped after this round, the last of IBM 1."""
    return settings.prune and model == "ibm1" and number == settings.ibm1


# word pairs
def is_learned(weights: F4, settings: Settings) -> B1:
    """Return for each word pair whether its weight differs from the floor (collapsed inference).

    A word pair without any evidence keeps exactly the floor, and no weight is smaller.
    """
    return np.asarray(weights != np.float32(settings.floor))


def unseen_total(settings: Settings, *, shares: bool = False) -> np.float32:
    """Return the divisor of the weights of a word never seen.

    `shares` says whether word pairs have pseudo-counts by shares, of an encoder or word vectors.
    """
    total = settings.concentration + settings.spelling + settings.identity
    if shares:
        total += settings.vector_weight
    return np.float32(max(total, 1e-30))


# the empty word
def uniform_null(words: int) -> F4:
    """Return the lexical table of the empty word before the first round."""
    return np.full(words, 1 / max(words, 1), np.float32)


def nulls_of(source: I8, target: I8) -> tuple[F4, F4, F4]:
    """Return the lexical tables of the empty word for source and target, and their units.

    source, target : The expected links of each word to the empty word, in units.
    """
    tables = []
    units = []
    for side in (source, target):
        counts = side / UNITS + EMPTY
        total = counts.sum()
        tables.append(np.asarray(counts / total, np.float32))
        units.append(1 / (LEVELS * total))
    return tables[0], tables[1], np.array(units, np.float32)


# jumps of the HMM
def kinds(words: int, settings: Settings) -> I4:
    """Return the kind of each of so many words; words of a kind share a row of jumps."""
    return kinds_of(np.arange(words, dtype=np.int32), settings.kinds)


def pairs_for_a_jump(pairs: int) -> int:
    """Return k if jumps are counted in every k-th of this number of pairs."""
    return max(1, pairs // TRACED)


def first_jumps(settings: Settings) -> F4:
    """Return (2, kinds + 1, 2 * band + 2) tables that favour a jump to the next word."""
    distance = np.abs(np.arange(-settings.band, settings.band + 1) - 1)
    row = np.append(np.exp(-START_JUMPS * distance) + 0.01, 0.001)
    return np.tile(row, (2, settings.kinds + 1, 1)).astype(np.float32)


def jumps_of(jumps: I8, settings: Settings) -> F4:
    """Return the jump tables of both directions from expected jumps, in units."""
    directions = jumps / UNITS
    return np.stack([_jump_shares(counts, settings.jump_smoothing) for counts in directions])


def _jump_shares(counts: F8, smoothing: float) -> F4:
    """Return the share of each jump (columns) among the jumps of each kind of word (rows).

    The counts of a kind are smoothed with the shares among the jumps of all words; the last row,
    jumps from the beginning of a sentence, does not count there. The last column is the jumps
    beyond the band, which share their counts.
    """
    counts[:, -1] /= BEYOND
    common = counts[:-1].sum(axis=0)
    common /= max(common.sum(), 1e-30)
    totals = counts.sum(axis=1, keepdims=True) + smoothing
    table = (counts + smoothing * common) / np.maximum(totals, 1e-30)
    return np.asarray(table + 1e-6, np.float32)
