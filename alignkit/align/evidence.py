"""Evidence: the links of other systems, and what they say of the cells of sentence pairs."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from logging import getLogger
from typing import NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from alignkit._support.array_types import B1, F4, F8, I4, I8
from alignkit._support.wording import natural_key
from alignkit.align.bitext import Bitext, Pieces
from alignkit.align.decoders import Decoding
from alignkit.align.settings import LONGEST_PIECE
from alignkit.errors import AlignerError, AlignmentError, OptionError, UnknownNameError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import gather
from alignkit.model.sentence_pair import SentencePair

FEATURES = (
    "link",
    "strength",
    "row_others",
    "column_others",
    "row_none",
    "column_none",
    "link_logit",
    "known",
)
"""What a channel says of a cell, in the order of its columns; all are 0 if it lacks the pair."""

# the columns of these features
_LINK = 0  # whether the channel has the link
_STRENGTH = 1  # the log odds of its weight
_OTHERS = (2, 3)  # the weights of other links of the source word, and of the target word
_NONE = (4, 5)  # whether the source word has no link, and the target word
_LINK_LOGIT = 6  # the weight of the link times the log odds of the aligner
_KNOWN = 7  # whether the channel aligned the pair

STRONG_OF_CHANNEL = (".link", ".link_logit")  # ends of features that few pairs can weight
_MOST_OTHERS = 2  # with more weight of other links, a word is as one with this

# of `doubts`
_CHECKED = 500  # pairs that it looks at
_FEW_LINKS = 20  # with fewer, a channel says too little
_BETTER = 1.25  # how many times the mean posterior of another reading must be as high
_POOR = 0.25  # a mean posterior below this is no agreement
_LOGGER = getLogger("alignkit")


class EvidenceSystem(NamedTuple):
    """A system that gives evidence."""

    name: str
    channels: int  # how many annotators or files it has, for example one for each direction
    weighted: bool  # whether some links have a weight below 1

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its channels."""
        if self.channels == 1:
            return (self.name,)
        return tuple(f"{self.name}/{k + 1}" for k in range(self.channels))

    def __str__(self) -> str:
        if self.channels > 1:
            return f"{self.name} ({self.channels} files)"
        return self.name


Annotators = Mapping[str, Sequence[str]]  # for each system, the annotators of its channels


def weights_of(alignment: Alignment, place: str) -> list[float]:
    """Return the weights of links, 1 if there is none; `place` names the alignment in an error."""
    weights = [alignment.weights.get(link, 1.0) for link in alignment]
    for (i, j), weight in zip(alignment, weights, strict=True):
        if not 0 <= weight <= 1:
            raise AlignmentError(
                f"{place}: link {i}-{j} (counted from 0) has the weight {weight:g}; expected "
                "a number from 0 to 1"
            )
    return weights


@dataclass(frozen=True, eq=False)
class Evidence:
    """The links of other systems for P pairs; the C channels of all systems have a number each."""

    systems: tuple[EvidenceSystem, ...]
    lengths: I8  # (P, 2) those of the pairs
    known: B1  # (P, C) which pairs each channel aligned, perhaps without links
    links: I8  # (L, 4) the pair (rising), channel, source and target position
    weights: F4  # (L,) above 0, at most 1

    @classmethod
    def pack(cls, pairs: Iterable[SentencePair], annotators: Annotators) -> Evidence:
        """Collect the links of annotators, for each system those of its channels."""
        pairs = list(pairs)
        names = list(chain.from_iterable(annotators.values()))
        known = [[pair.aligned_by(name) for name in names] for pair in pairs]
        flat = array("q")
        weights = array("d")
        for k, pair in enumerate(pairs):
            for channel, name in enumerate(names):
                if not known[k][channel]:
                    continue
                alignment = pair.alignment(name)
                weights.extend(weights_of(alignment, f"pair {pair.id!r}, {name}"))
                for i, j in alignment:
                    flat.extend((k, channel, i, j))
        links = np.array(flat).reshape(-1, 4)
        flat_weights = np.array(weights, np.float32)
        weighted = {names[channel] for channel in links[flat_weights < 1, 1].tolist()}
        systems = []
        for name, channels in annotators.items():
            systems.append(EvidenceSystem(name, len(channels), not weighted.isdisjoint(channels)))
        lengths = np.array([pair.lengths for pair in pairs], np.int64).reshape(-1, 2)
        aligned = np.array(known, bool).reshape(len(pairs), len(names))
        evidence = cls(tuple(systems), lengths, aligned, links, flat_weights)
        return evidence._only(flat_weights > 0)

    def _only(self, kept: B1) -> Evidence:
        """Return the evidence of some of the links (L,)."""
        return replace(self, links=self.links[kept], weights=self.weights[kept])

    @property
    def names(self) -> list[str]:
        """The names of the channels."""
        return channels_of_systems(self.systems)

    @property
    def lacking(self) -> B1:
        """Which pairs (P,) some system did not align."""
        return np.asarray(~self.known.all(axis=1), bool)

    def ordered(self, systems: Sequence[EvidenceSystem]) -> Evidence:
        """Return the evidence of exactly these systems, in their order."""
        check_systems(systems, self.systems)
        order = [self.names.index(name) for name in channels_of_systems(systems)]
        links = self.links.copy()
        links[:, 1] = np.argsort(order)[links[:, 1]]
        return replace(self, systems=tuple(systems), known=self.known[:, order], links=links)

    def part(self, begin: int, end: int) -> Evidence:
        """Return the evidence of the pairs `begin:end`."""
        inside = slice(*np.searchsorted(self.links[:, 0], [begin, end]))
        links = self.links[inside] - np.array([begin, 0, 0, 0])
        lengths = self.lengths[begin:end]
        known = self.known[begin:end]
        weights = self.weights[inside]
        return Evidence(self.systems, lengths, known, links, weights)

    def on(self, bitext: Bitext, pieces: Pieces | None) -> Evidence:
        """Return the evidence on a bitext or its pieces; report links that cross pieces."""
        if not np.array_equal(self.lengths, bitext.lengths):
            raise AlignerError("the evidence is about other pairs than those to align")
        if pieces is None:
            return self
        offsets = np.searchsorted(self.links[:, 0], np.arange(len(bitext) + 1))
        taken, ends = gather(offsets, pieces.pairs)
        owner = np.repeat(np.arange(len(pieces.pairs)), np.diff(ends))
        links = self.links[taken]
        lengths = pieces.bitext.lengths
        links[:, 0] = owner
        links[:, 2:] -= pieces.shifts[owner]
        inside = _inside(links, lengths)
        lost = len(self.links) - int(inside.sum())
        if lost:
            long = f"of lines with more than {LONGEST_PIECE} words cross two pieces"
            _LOGGER.warning("evidence: %d links %s, and are not used", lost, long)
        known = self.known[pieces.pairs]
        evidence = Evidence(self.systems, lengths, known, links, self.weights[taken])
        return evidence._only(inside)

    def cells(self) -> I8:
        """Return the number of the cell of each link, counted from the first cell of all pairs."""
        sizes = self.lengths.prod(axis=1)
        firsts = np.cumsum(sizes) - sizes
        pair, _, i, j = self.links.T
        return np.asarray(firsts[pair] + i * self.lengths[pair, 1] + j)

    def set_features(self, pair_of: I8, places: I4, means: F4, features: F4) -> F4:
        """Set the features (K, columns) of cells of all pairs; return their shares (K, S).

        `pair_of` and `places` say where the cells are, `means` how probable the aligner finds
        them. A share is the mean weight of the channels of a system; NaN if it lacks the pair.
        """
        as_links = np.column_stack([pair_of, np.zeros_like(pair_of), places])
        cells = replace(self, links=as_links).cells()
        linked_cells = self.cells()
        cell_count = int(self.lengths.prod(axis=1).sum())
        # each word of the pairs has a number of its own, by side
        firsts = np.cumsum(self.lengths, axis=0) - self.lengths
        words = firsts[pair_of] + places
        word_counts = self.lengths.sum(axis=0).tolist()
        odds = log_odds(means, 1e-3)
        by_channel = np.empty((len(cells), self.known.shape[1]))
        for channel in range(self.known.shape[1]):
            inside = self.links[:, 1] == channel
            links = self.links[inside]
            weights = self.weights[inside].astype(np.float64)
            cell_weights = np.bincount(linked_cells[inside], weights, cell_count)
            weight = np.asarray(cell_weights[cells], np.float64)  # of the link, 0 if there is none
            out = features[:, channel * len(FEATURES) : (channel + 1) * len(FEATURES)]
            out[:, _LINK] = weight > 0
            out[:, _STRENGTH] = np.where(weight > 0, log_odds(weight, 0.01), 0)
            for side in (0, 1):
                linked_words = firsts[links[:, 0], side] + links[:, 2 + side]
                word = words[:, side]
                sums = np.bincount(linked_words, weights, word_counts[side])
                numbers = np.bincount(linked_words, minlength=word_counts[side])
                out[:, _OTHERS[side]] = np.clip(sums[word] - weight, 0, _MOST_OTHERS)
                out[:, _NONE[side]] = numbers[word] == 0
            out[:, _LINK_LOGIT] = weight * odds
            out[:, _KNOWN] = 1
            known = self.known[pair_of, channel]
            out *= known[:, None]
            by_channel[:, channel] = np.where(known, weight, np.nan)
        ends = np.cumsum([system.channels for system in self.systems])
        by_system = np.split(by_channel, ends[:-1], axis=1)
        shares = [weights.mean(axis=1) for weights in by_system]
        return np.stack(shares, axis=1).astype(np.float32)


def systems_of(annotators: Annotators) -> tuple[EvidenceSystem, ...]:
    """Return the systems of annotators whose links are not known yet."""
    return tuple(EvidenceSystem(name, len(names), False) for name, names in annotators.items())


def channels_of_systems(systems: Iterable[EvidenceSystem]) -> list[str]:
    """Return the names of the channels of systems, in order."""
    return list(chain.from_iterable(system.names for system in systems))


def channels_of(name: str, known: Collection[str], what: str) -> list[str]:
    """Return the annotators of a system: NAME, or NAME/1 and so on; `what` names it in an error."""
    if name in known:
        return [name]
    several = [other for other in known if other.startswith(f"{name}/")]
    if not several:
        raise UnknownNameError(what, name, known)
    return sorted(several, key=natural_key)


def names_of_channels(systems: Iterable[EvidenceSystem]) -> tuple[str, ...]:
    """Return the names of the features of systems, in order."""
    names: list[str] = []
    for channel in channels_of_systems(systems):
        names += [f"{channel}.{feature}" for feature in FEATURES]
    return tuple(names)


def check_systems(systems: Sequence[EvidenceSystem], given: Sequence[EvidenceSystem]) -> None:
    """Raise an error unless exactly these systems are given, with as many channels."""
    if _channel_counts(systems) != _channel_counts(given):
        needed = " and ".join(map(str, systems)) or "none"
        there = " and ".join(map(str, given)) or "none"
        raise OptionError(f"needs evidence of {needed}; given: {there}")


def _channel_counts(systems: Iterable[EvidenceSystem]) -> dict[str, int]:
    """Return how many channels each system has."""
    return {system.name: system.channels for system in systems}


def not_used(evidence: EvidenceLike) -> str:
    """Return the caution about evidence that a model cannot use."""
    if isinstance(evidence, Evidence):
        systems = [system.name for system in evidence.systems]
    else:
        systems = list(evidence)
    return (
        f"the evidence of {' and '.join(systems)} is not used: the model learned without evidence"
    )


def _inside(links: I8, lengths: I8) -> B1:
    """Return which links (L, 4) are within their pairs, of these lengths (P, 2)."""
    places = links[:, 2:]
    inside = (places >= 0) & (places < lengths[links[:, 0]])
    return np.asarray(inside.all(axis=1))


def log_odds(x: NDArray[np.floating], least: float) -> F8:
    """Return the log odds of probabilities, taken to be this far from 0 and 1."""
    x = np.clip(x.astype(np.float64), least, 1 - least)
    return np.asarray(np.log(x / (1 - x)))


def doubts(
    decoder_of: Callable[[Bitext], Decoding], bitext: Bitext, evidence: Evidence
) -> Iterator[str]:
    """Yield a sentence on each channel whose links have a higher mean posterior in another reading.

    If no reading fits, its lines may be in another order.
    """
    long = np.flatnonzero(evidence.lengths.max(axis=1, initial=0) > LONGEST_PIECE)
    end = min(len(bitext), _CHECKED, *long.tolist())
    part = bitext.part(0, end)
    evidence = evidence.part(0, end)
    if not end:
        return
    forward, reverse = decoder_of(part).posteriors(0, end)
    for channel, name in enumerate(evidence.names):
        own = evidence._only(evidence.links[:, 1] == channel)
        if len(own.links) < _FEW_LINKS:
            continue
        means: dict[str, float] = {}  # of the posteriors of the links, by reading
        pair, number, i, j = own.links.T
        readings = {"": (i, j), ":transpose": (j, i), ":base1": (i - 1, j - 1)}
        for reading, places in readings.items():
            links = np.stack([pair, number, *places], axis=1)
            cells = replace(own, links=links[_inside(links, own.lengths)]).cells()
            total = float((forward + reverse)[cells].sum() / 2)
            means[reading] = total / len(links)
        now = means[""]
        best = max(means, key=means.__getitem__)
        if means[best] > max(_BETTER * now, now + 0.1):
            yield (
                f"{name}: agrees more with the aligner with {best} ({means[best]:.2f} against "
                f"{now:.2f}): add it, or leave it out?"
            )
        elif now < _POOR:
            yield (
                f"{name}: agrees little with the aligner ({now:.2f}): are its lines in the "
                "same order?"
            )


EvidenceLike = Union[Evidence, Annotators]
