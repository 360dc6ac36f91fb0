"""The likelihoods of the keyboard route in plain Python, formula by formula, for one side.

`page/route.js` computes the same for the annotation page. Words of the side are rows here; the
columns are the words of the other side.
"""

from dataclasses import dataclass, field
from math import exp, log, prod

LEAST = 0.001
MOST = 0.9995


@dataclass
class Words:
    """A pair as seen from the side whose words are settled one after the other."""

    rows: int
    columns: int
    p: dict = field(default_factory=dict)  # the suggestions, by cell
    links: set = field(default_factory=set)  # cells
    settled: set = field(default_factory=set)  # rows
    excluded: set = field(default_factory=set)  # cells in which no link may be shown

    def is_settled(self, i):
        return i in self.settled or any(row == i for row, _ in self.links)

    def probability(self, i, j):
        return min(MOST, max(LEAST, self.p.get((i, j), LEAST)))

    def is_linked(self, i, j, *, by):
        """Return whether a cell is linked, unless it is in the row of the word `by`."""
        return i != by and (i, j) in self.links

    def expected(self, i):
        """Return where the partner of a word should be, by the nearest linked word."""
        linked = {row for row, _ in self.links} - {i}
        if not linked:
            return i * self.columns / self.rows
        nearest = min(linked, key=lambda row: (abs(row - i), row > i))
        partners = [column for row, column in self.links if row == nearest]
        if nearest < i:
            return max(partners) + i - nearest
        return min(partners) + i - nearest

    def q(self, i, j):
        taken = any(self.is_linked(row, j, by=i) for row in range(self.rows))
        beside = self.is_linked(i - 1, j, by=i) or self.is_linked(i + 1, j, by=i)
        diagonal = self.is_linked(i - 1, j - 1, by=i) or self.is_linked(i + 1, j + 1, by=i)
        backward = self.is_linked(i - 1, j + 1, by=i) or self.is_linked(i + 1, j - 1, by=i)
        waiting = [row for row in range(self.rows) if row != i and not self.is_settled(row)]
        c = max((self.probability(row, j) for row in waiting), default=LEAST)
        others = [column for column in range(self.columns) if column != j]
        r = max((self.probability(i, column) for column in others), default=LEAST)
        odds = (
            -0.1
            + 0.6 * logit(self.probability(i, j))
            - 2.4 * (taken and not beside)
            + 0.5 * diagonal
            + 0.6 * backward
            - 0.12 * logit(c)
            - 0.16 * logit(r)
            - 0.5 * log(1 + abs(j - self.expected(i)))
        )
        return 1 / (1 + exp(-odds))

    def doubt(self, i):
        if self.is_settled(i):
            return 0.0
        free = [j for j in range(self.columns) if (i, j) not in self.excluded]
        return 1 - prod(max(self.q(i, j), 1 - self.q(i, j)) for j in free)

    def shown(self, i):
        if self.is_settled(i):
            return sorted(column for row, column in self.links if row == i)
        free = [j for j in range(self.columns) if (i, j) not in self.excluded]
        return [j for j in free if self.q(i, j) >= 0.5]

    def candidates(self, i):
        return sorted(range(self.columns), key=lambda j: (-self.q(i, j), j))[:9]

    def stops(self, least):
        rows = range(self.rows)
        return [i for i in rows if not self.is_settled(i) and self.doubt(i) >= least]


def logit(p):
    return log(p / (1 - p))


def side_to_stop_at(source, target, least):
    """Return the side that is being settled; else the one with fewer words to look at."""
    if source.settled or target.settled:
        chosen = len(target.settled) > len(source.settled)
    else:
        chosen = len(target.stops(least)) < len(source.stops(least))
    return "target" if chosen else "source"
