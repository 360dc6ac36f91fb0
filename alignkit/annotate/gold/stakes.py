"""Count what is at stake where annotators differ: the phrase pairs that not all of them have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from alignkit.alignment import NULL, Alignment
from alignkit.annotate.gold.adjudication import Ballot
from alignkit.annotate.log.decisions import Value
from alignkit.annotate.log.events import Cell
from alignkit.arrays import LinkArrays
from alignkit.phrases import LINKS, extract_phrases


def phrases_at_stake(pairs: Sequence[Mapping[str, Ballot]]) -> list[int]:
    """Count for each pair the atomic phrase pairs that some votes have, and others have not.

    Examples
    --------
    >>> one, other = Ballot({(0, 0): 2, (1, 1): 2}), Ballot({(0, 0): 2, (1, 1): 1})
    >>> phrases_at_stake([{"anna": one, "ben": other}, {"anna": one, "ben": one}])
    [1, 0]
    """
    counts = [0] * len(pairs)
    differing = [(k, links) for k, links in enumerate(map(_links, pairs)) if _differ(links)]
    packed = [_alignment(vote) for _, links in differing for vote in links]
    for strength in LINKS:
        spans = extract_phrases(LinkArrays.pack(packed), links=strength, kind="atomic")
        at = 0
        for k, links in differing:
            held = Counter(span for x in range(len(links)) for span in spans.pair(at + x))
            at += len(links)
            counts[k] += sum(count < len(links) for count in held.values())
    return counts


def _links(ballots: Mapping[str, Ballot]) -> list[dict[Cell, Value]]:
    return [
        {place: value for place, value in ballot.values.items() if NULL not in place}
        for ballot in ballots.values()
    ]


def _differ(links: Sequence[Mapping[Cell, Value]]) -> bool:
    return any(vote != links[0] for vote in links)


def _alignment(links: Mapping[Cell, Value]) -> Alignment:
    return Alignment([place for place, value in links.items() if value == 2], links)
