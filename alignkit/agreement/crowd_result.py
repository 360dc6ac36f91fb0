"""The quality of a crowd, with its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

from alignkit._support.wording import how_many
from alignkit.agreement.cautions import CautionKind, Hit
from alignkit.agreement.judgments.consensus import LEAST_JUDGED, GoldVerdict, is_good
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import Caution, Result
from alignkit.tables.table import Table
from alignkit.version import __version__

DOUBT = "in doubt"
"""The verdict on who is not rejected, but no better than who always gives the commonest label."""
_MOST_ROWS = 40
"""People are shown no more of a list."""


@dataclass(frozen=True)
class AnnotatorQuality:
    """How an annotator judges: the pairs with a label, and the answers to gold questions."""

    name: str
    judged: int
    gold: GoldVerdict
    consensus: float
    others: float
    power: float
    used: int = 0


@dataclass(frozen=True)
class SuspectGold:
    """A gold question that most annotators who are not rejected answer otherwise."""

    id: str
    gold: str
    against: int
    judged: int
    instead: str


@dataclass(frozen=True)
class GoodPhrase:
    """In how many contexts, judged by annotators who are not rejected, a phrase is good."""

    phrase: str
    contexts: int
    good: int
    verdict: str

    @classmethod
    def of(cls, phrase: str, judged: Sequence[int], good_in: str) -> GoodPhrase:
        """Judge a phrase by its judged contexts: 1 where it is good, 0 where not."""
        verdict = "good" if judged and is_good(judged, good_in) else "not good"
        return cls(phrase, len(judged), sum(judged), verdict if judged else "not judged")


@dataclass(frozen=True, eq=False)
class CrowdQuality(Result):
    """How well annotators judge; printed, it is the tables of the command.

    Parameters
    ----------
    scheme, view, labels
        What was judged, how it is looked at, and how many labels that view has.
    gold
        Whose judgments are right.
    pairs
        How many pairs there are.
    sequential, timed
        Whether gold questions are looked at one by one, and whether all answers have times.
    by
        By which kappa pairs are judged again: ``"others"`` or ``"consensus"``.
    annotators
        Each annotator.
    again
        The ids of the pairs that are to be judged again, with who is to do it; perhaps nobody.
    suspicious
        Gold questions that most contradict.
    over, good_in
        The attribute that names phrases, and in how many contexts a good one is good.
    phrases
        The phrases.
    told
        What to know before one believes it.
    asked
        By label, for how many gold questions it is right.
    rewrites_left_out, notes
        How many rewrites, which nobody judged, are left out, and what to know of them.
    """

    scheme: str
    view: str
    labels: int
    gold: str
    pairs: int
    sequential: bool
    timed: bool
    by: str
    annotators: tuple[AnnotatorQuality, ...]
    again: tuple[tuple[str, tuple[str, ...]], ...]
    suspicious: tuple[SuspectGold, ...]
    over: str | None
    good_in: str
    phrases: tuple[GoodPhrase, ...]
    told: tuple[Caution, ...]
    asked: Mapping[str, int]
    rewrites_left_out: int = 0
    notes: tuple[str, ...] = ()

    @property
    def commonest(self) -> str:
        """The commonest right label of the gold questions, the first of several."""
        return max(self.asked, key=lambda label: self.asked[label])

    @property
    def baseline(self) -> float:
        """The accuracy of always answering the commonest label, over all gold questions."""
        return self.asked[self.commonest] / sum(self.asked.values())

    def to_json(self) -> dict[str, object]:
        """Return the records of each table, and how good one label alone is."""
        return {**super().to_json(), "commonest": self.commonest, "baseline": self.baseline}

    @property
    def head(self) -> Sequence[str]:
        """Who is looked at, and by which rules."""
        order = "in the order of their times" if self.timed else "in the order of the corpus"
        when = f"after each from the tenth on, {order}" if self.sequential else "once, over all"
        whose = "the majority of the others" if self.by == "others" else "the majority"
        return (
            f"Quality of {len(self.annotators)} annotators on {self.pairs} pairs "
            f"({self.scheme}, {self.view}); gold: {self.gold}",
            f"Gold: {how_many(sum(self.asked.values()), 'question')}; always answering "
            f"{self.commonest!r}, the commonest label, has {100 * self.baseline:.1f}% right",
            f"Rejected: less than half of 10 gold questions or more are right; looked at {when}",
            f"Judged again: pairs of annotators whose kappa against {whose} is below .4, by up to "
            "five others above .75 who have not judged them",
        )

    @property
    def cautions(self) -> Sequence[str]:
        """What to know before one believes it."""
        return [*self.notes, *map(str, self.told)]

    @property
    def settings(self) -> str:
        """The settings behind the numbers, in one line."""
        phrases = f"|over:{self.over}|good-in:{self.good_in}" if self.over else ""
        return (
            f"level:quality|scheme:{self.scheme}|view:{self.view}|gold:{self.gold}"
            f"|look:{'sequential' if self.sequential else 'once'}|again-by:{self.by}{phrases}"
            f"|version:{__version__}"
        )

    def tables(self) -> Sequence[Table]:
        """Return the tables."""
        return list(self._tables())

    def shown_tables(self) -> Sequence[Table]:
        """Return the tables with the first rows of long lists; machines are given all."""
        return [self._shortened(table) for table in self._tables()]

    def _shortened(self, table: Table) -> Table:
        if table.anchor not in ("again", "phrases"):
            return table
        rows = [row for row in table.rows if row[1] or table.anchor != "again"]
        left = len(table.rows) - len(rows[:_MOST_ROWS])
        if not left:
            return table
        shown = f"{len(rows[:_MOST_ROWS])} of {len(table.rows)} are listed"
        notes = [f"{shown if rows else 'not listed here'}; --csv and --json have all", table.note]
        return replace(table, rows=rows[:_MOST_ROWS], note="; ".join(filter(None, notes)))

    def _tables(self) -> Iterator[Table]:
        yield self._people()
        yield self._judged_again()
        yield Table(
            "Gold questions that most annotators who are not rejected answer otherwise",
            [
                Column("pair"),
                Column("gold"),
                Column("otherwise", "count"),
                Column("of", "count", key="judged"),
                Column("most say"),
            ],
            [[one.id, one.gold, one.against, one.judged, one.instead] for one in self.suspicious],
            "" if self.suspicious else "none",
            "suspicious",
        )
        if self.over is not None:
            yield self._good()

    def _judged_again(self) -> Table:
        alone = sum(not who for _, who in self.again)
        count = f": {how_many(len(self.again), 'pair')}" if self.again else ""
        nobody = f"; nobody is left who could judge {alone} of them" if alone else ""
        return Table(
            f"Pairs to be judged again, and by whom{count}{nobody}",
            [Column("pair"), Column("judges", "count"), Column("by", key="judged_again_by")],
            [[id, len(who), ", ".join(who)] for id, who in self.again],
            "" if self.again else "none",
            "again",
        )

    def _people(self) -> Table:
        columns = [
            Column("annotator"),
            Column("pairs", "count"),
            Column("judged", "count", "gold"),
            Column("right", "count", "gold"),
            Column("accuracy", "percent", "gold", unit="%"),
            Column("one label", "percent", "gold", key="baseline", unit="%"),
            Column("majority", "decimal", "kappa"),
            Column("others", "decimal", "kappa"),
            Column("guesser rejected", "decimal", key="power", digits=5),
            Column("verdict"),
            *([Column("after", "count", key="rejected_at")] if self.sequential else []),
        ]
        rows: list[list[Cell]] = [
            [
                one.name, one.judged, one.gold.judged, one.gold.right,
                Value(one.gold.accuracy, one.gold.low, one.gold.high), one.gold.baseline,
                *((nan, nan) if one.used == 1 else (one.consensus, one.others)), one.power,
                one.gold.verdict, *([one.gold.rejected_at] if self.sequential else []),
            ]
            for one in self.annotators
        ]  # fmt: skip
        note = (
            "one label: the accuracy of always giving the commonest right label of these questions;"
            " kappa: against the majority, which contains the annotator, and against the majority "
            f"of the others; guesser rejected: how probably one who guesses among {self.labels} "
            "labels would be rejected by as many gold questions"
        )
        return Table("Annotators", columns, rows, note, "annotators")

    def _good(self) -> Table:
        good = sum(one.verdict == "good" for one in self.phrases)
        judged = sum(one.contexts > 0 for one in self.phrases)
        words = {"any": "any context", "majority": "most contexts", "all": "all contexts"}
        return Table(
            f"Phrases ({self.over}) that are good in {words[self.good_in]}: {good} of {judged}",
            [
                Column("phrase"),
                Column("contexts", "count"),
                Column("good", "count", key="good_contexts"),
                Column("verdict"),
            ],
            [[one.phrase, one.contexts, one.good, one.verdict] for one in self.phrases],
            "a context is good where more than half of the judgments of annotators who are not "
            "rejected say so",
            "phrases",
        )


POWER = 0.8
"""Below this chance to reject one who guesses, gold questions prove little."""


def few(found: CrowdQuality) -> Iterator[Hit]:
    """Find annotators with too few gold questions."""
    for one in found.annotators:
        if one.gold.judged < LEAST_JUDGED:
            yield Hit(one.name, "", str(one.gold.judged), -one.gold.judged)


def in_doubt(found: CrowdQuality) -> Iterator[Hit]:
    """Find annotators who are kept though one label alone would do as well."""
    for one in found.annotators:
        if one.gold.verdict == DOUBT:
            yield Hit(one.name, "", f"{one.gold.right} of {one.gold.judged} right", -one.judged)


def one_label(found: CrowdQuality) -> Iterator[Hit]:
    """Find annotators who gave one label alone."""
    for one in found.annotators:
        if one.used == 1:
            yield Hit(one.name, "", str(one.judged), one.judged)


def weak(found: CrowdQuality) -> Iterator[Hit]:
    """Find annotators whose gold questions one who guesses would often pass."""
    for one in found.annotators:
        if one.gold.judged >= LEAST_JUDGED and one.power < POWER:
            yield Hit(one.name, "", f"{one.power:.5f} (of {one.gold.judged})", -one.power)


def contains(found: CrowdQuality) -> Iterator[Hit]:
    """Find that pairs are judged again by kappas against the consensus."""
    if found.by == "consensus":
        yield Hit("", "", "")


def untimed(found: CrowdQuality) -> Iterator[Hit]:
    """Find that the order of answers is not known."""
    if found.sequential and not found.timed:
        yield Hit("", "", "")


def rejected(found: CrowdQuality) -> Iterator[Hit]:
    """Find that some are rejected."""
    count = sum(one.gold.verdict == "reject" for one in found.annotators)
    if count:
        yield Hit("", "", f"{count} of {len(found.annotators)}")


def nobody(found: CrowdQuality) -> Iterator[Hit]:
    """Find pairs that nobody can judge again."""
    count = sum(not who for _, who in found.again)
    if count:
        yield Hit("", "", f"{count} of {len(found.again)}")


def unknown(found: CrowdQuality) -> Iterator[Hit]:
    """Find annotators whose kappa is not defined."""
    for one in found.annotators:
        if isnan(one.others if found.by == "others" else one.consensus):
            yield Hit(one.name, "", "")


CAUTIONS: tuple[CautionKind[CrowdQuality], ...] = (
    CautionKind(
        "few-gold", few,
        "fewer than 10 gold questions judged ({number}), so that nobody is rejected for them",
        "ask more before these judgments are used",
    ),
    CautionKind(
        "in-doubt", in_doubt,
        "no better on the gold questions ({number}) than always giving their commonest label",
        "look at these judgments before they are used, and ask more gold questions of other labels",
    ),
    CautionKind(
        "one-label", one_label,
        "gave one label to all pairs judged ({number}): a kappa of one label measures nothing",
        "compare the accuracy on gold questions with that of one label",
    ),
    CautionKind(
        "weak-gold", weak,
        "one who guesses would be rejected by the gold questions with a chance of only {number}",
        "ask more gold questions, or look after each (sequential), or take a view with more labels",
    ),
    CautionKind(
        "contains", contains,
        "kappas against the consensus contain the annotator: one of three who guesses between two "
        "labels expects .5 - k / 2, where k is the kappa of the other two, and may pass .4",
        "judge again by the kappa against the others (the default)",
    ),
    CautionKind(
        "untimed", untimed,
        "some answers have no time: who is rejected after which question goes by the order of the "
        "corpus",
        "take judgments with times, as a project exports them",
    ),
    CautionKind(
        "rejected", rejected,
        "{number} annotators are rejected, and still part of the majorities that kappas are taken "
        "against; everything is computed once",
        "leave them out by `annotators`, and compute it again, if you do not want them there",
    ),
    CautionKind(
        "nobody", nobody,
        "nobody above .75 is left to judge {number} pairs again",
        "find new annotators for them",
    ),
    CautionKind(
        "unknown-kappa", unknown,
        "the kappa is not defined, so that these pairs are not judged again",
        "have more pairs judged by several",
    ),
)  # fmt: skip
"""Every caution on a crowd, in the order in which they are told."""
