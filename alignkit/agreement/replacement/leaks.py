"""Why a system would pass without being good: it is a copy, or it knew these pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from alignkit.agreement.pairs import CorpusData
from alignkit.agreement.replacement.comparison import Closeness, OthersComparison
from alignkit.agreement.replacement.decision import LEAST_PAIRS
from alignkit.agreement.same_pairs import SamePairs, same_pairs
from alignkit.model.corpus import Corpus
from alignkit.model.gold_record import GoldRecord
from alignkit.model.sentence_pair import SentencePair

_ABOVE_CHANCE = 1.645  # the 95% quantile of the normal distribution


@dataclass(frozen=True)
class ReplacementLeak:
    """A reason why nothing can be decided on these pairs.

    Parameters
    ----------
    code : ``"copy"``, ``"learned"``, ``"initial"``, ``"shown"`` or ``"adjudicated"``.
    names : The annotators that it is about.
    pairs : The number of pairs in which it is so.
    """

    code: str
    names: tuple[str, ...]
    pairs: int


@dataclass(frozen=True)
class NearCopy:
    """An annotator whom the system is more like than any person is.

    Parameters
    ----------
    name : The annotator.
    likeness : The mean similarity of the system to this annotator.
    highest : The highest one of another annotator to this annotator.
    """

    name: str
    likeness: float
    highest: float


@dataclass(frozen=True)
class Twins:
    """Two annotators who have the same links in nearly all longer pairs."""

    first: str
    second: str
    counts: SamePairs


def leaks_of(
    corpus: Corpus, system: str, names: Sequence[str], comparison: OthersComparison
) -> list[ReplacementLeak]:
    """Return why the figures of a system say nothing about new pairs; usually nothing."""
    leaks = _copies(comparison.likeness)
    role = corpus.roles[system]
    leaks += _lessons(corpus, system, comparison)
    places = comparison.places
    if role == "adjudicated":
        leaks.append(ReplacementLeak("adjudicated", tuple(names), len(places)))
    starts: set[str | None] = {system}
    code = "shown"
    if role == "initial":
        # those who started from an unknown alignment may have started from this one
        starts.add(None)
        code = "initial"
    pairs = 0
    who: dict[str, None] = {}  # in the order of their first pairs
    for place in places:
        pair = corpus[place]
        of_pair = []
        for name, start in _starts(pair, names).items():
            if start in starts or _are_those_of(pair, start, system):
                of_pair.append(name)
        pairs += bool(of_pair)
        who.update(dict.fromkeys(of_pair))
    if pairs:
        leaks.append(ReplacementLeak(code, tuple(who), pairs))
    return leaks


def _starts(pair: SentencePair, names: Sequence[str]) -> dict[str, str | None]:
    """Return what each annotator of a pair was shown to begin with."""
    known = pair.annotations
    return {name: known[name].start for name in names if name in known}


def _are_those_of(pair: SentencePair, start: str | None, system: str) -> bool:
    """Return whether a start has the same links as the system, and some."""
    alignment = pair.alignments.get(start or "")
    return bool(alignment) and alignment == pair.alignments.get(system)


def other_starts(
    corpus: Corpus, system: str, names: Sequence[str], comparison: OthersComparison
) -> dict[str, int]:
    """Return in how many pairs annotators were shown other links than the system's, by name."""
    counts: Counter[str] = Counter()
    for place in comparison.places:
        starts = set(_starts(corpus[place], names).values()) - {None, "", system}
        counts.update(start for start in starts if start)
    return dict(counts)


def _lessons(
    corpus: Corpus, system: str, comparison: OthersComparison
) -> Iterator[ReplacementLeak]:
    """Yield that the system learned from some of the pairs that are compared."""
    records = _records(corpus, system, comparison)
    included = [record for record in records if record.included]
    names: dict[str, None] = {}
    for record in included:
        names.update(dict.fromkeys(record.annotators))
    if included:
        yield ReplacementLeak("learned", tuple(names), len(included))


def lessons_elsewhere(
    corpus: Corpus, system: str, comparison: OthersComparison
) -> GoldRecord | None:
    """Return what the system learned from, if that is recorded, and not from these pairs."""
    records = _records(corpus, system, comparison)
    if not records or any(record.included for record in records):
        return None
    return records[0]


def _records(corpus: Corpus, system: str, comparison: OthersComparison) -> list[GoldRecord]:
    """Return what the system learned from, of each compared pair for which this is recorded."""
    records = []
    known: dict[str, GoldRecord] = {}
    for place in comparison.places:
        text = corpus[place].annotations[system].learned
        if text:
            if text not in known:
                known[text] = GoldRecord.parse(text)
            records.append(known[text])
    return records


def _copies(likeness: Closeness) -> list[ReplacementLeak]:
    """Return a leak for each annotator whom the system equals in all pairs."""
    leaks = []
    for k, name in enumerate(likeness.names[1:], 1):
        shared = int(likeness.shared[0, k])
        if shared >= LEAST_PAIRS and likeness.same[0, k] == shared:
            leaks.append(ReplacementLeak("copy", (name,), shared))
    return leaks


def near_copies(likeness: Closeness) -> list[NearCopy]:
    """Return the annotators whom the system is more like than any person is, the likest first.

    A difference counts if it is above chance (one-sided paired test over pairs, 5%): a system that
    is as good as people is a little more like somebody than others are half of the time.
    """
    copies = []
    for k, name in enumerate(likeness.names[1:], 1):
        leads = np.delete(likeness.leads[k], [0, k])
        people = np.delete(likeness.means[k], [0, k])
        known = ~np.isnan(leads)
        if known.any() and (leads[known] > _ABOVE_CHANCE).all():
            copies.append(NearCopy(name, float(likeness.means[0, k]), float(people[known].max())))
    return sorted(copies, key=lambda copy: -copy.likeness)


def twins_of(data: CorpusData, names: Sequence[str], comparison: OthersComparison) -> list[Twins]:
    """Return every two annotators who have the same links in nearly all longer pairs."""
    twins = []
    same = comparison.likeness.same
    shared = comparison.likeness.shared
    for j in range(len(names)):
        for k in range(j + 1, len(names)):
            # most pairs must be the same if most of the longer ones are
            if 2 * same[1 + j, 1 + k] < shared[1 + j, 1 + k]:
                continue
            counts = same_pairs(data, names[j], names[k])
            if counts.nearly_identical:
                twins.append(Twins(names[j], names[k], counts))
    return twins
