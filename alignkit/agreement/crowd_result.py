"""The quality of a crowd as a result: what is said of each annotator, and the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from math import nan

from alignkit._support.wording import how_many
from alignkit.agreement.judges import Judges
from alignkit.agreement.judgments.consensus import GoldVerdict
from alignkit.agreement.judgments.options import QualityOptions
from alignkit.model.corpus import Corpus
from alignkit.model.labels import get_view
from alignkit.tables.columns import Column, Row, Value
from alignkit.tables.result import Caution, Result
from alignkit.tables.table import Table
from alignkit.version import __version__

_MOST_ROWS = 40  # of a long list that people see


@dataclass(frozen=True)
class AnnotatorQuality:
    """The quality of an annotator: the pairs with a label, and the answers to gold questions."""

    name: str
    judged: int  # the pairs with a label
    gold: GoldVerdict
    consensus: float  # kappa against the majority
    others: float  # kappa against the majority of the others
    power: float  # how probably the gold questions would reject somebody who guesses
    used: int = 0  # how many different labels are given
    model: Value | None = None  # the probability of a right label, by the model of judges


@dataclass(frozen=True)
class SuspectGold:
    """A gold question that most annotators (without the rejected ones) answer differently."""

    id: str  # of the pair
    gold: str  # the right label
    against: int  # how many annotators answered otherwise
    judged: int  # how many answered
    instead: str  # the label that most gave


@dataclass(frozen=True)
class GoodPhrase:
    """The contexts in which a phrase is good, judged by annotators who are not rejected."""

    phrase: str
    contexts: int  # the pairs with the phrase that somebody judged
    good: int  # in how many of these it is good
    verdict: str  # "good", "not good" or "not judged"


@dataclass(frozen=True, eq=False)
class CrowdQuality(Result):
    """How well annotators judge; printing it shows the tables of the command.

    Returned by `crowd_quality`.

    Parameters
    ----------
    options : The options.
    labels : The number of labels of the view.
    pairs : The number of pairs.
    timed : Whether all answers to gold questions have times.
    annotators : Each annotator.
    again : The ids of the pairs to judge again, with the annotators to do it (possibly none).
    suspicious : Gold questions that most annotators contradict.
    phrases : The phrases.
    asked : For each label, the number of gold questions with this right answer.
    rewrites_left_out, notes : The number of rewrites left out because nobody judged them, and notes
        on them.
    warnings : Warnings to read before the numbers.
    judges : The model of judges; None without.
    settled : The judged pairs with the most probable label by annotator ``model``, and its
        probability as attribute ``model.probability``; None without the model.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.agreement import crowd_quality
    >>> texts, key = [f"text {k}" for k in range(12)], ["0", "1"] * 6
    >>> judged = {"key": key, "ann": key, "ben": ["1"] * 12}
    >>> corpus = Corpus.from_texts(texts, texts, judgments=judged)
    >>> quality = crowd_quality(corpus, ["ann", "ben"], scheme="binary", gold="key")
    >>> quality.pairs, quality.annotators[1].gold.right, quality.asked
    (12, 6, {'0': 6, '1': 6})
    """

    options: QualityOptions
    labels: int
    pairs: int
    timed: bool
    annotators: tuple[AnnotatorQuality, ...]
    again: tuple[tuple[str, tuple[str, ...]], ...]
    suspicious: tuple[SuspectGold, ...]
    phrases: tuple[GoodPhrase, ...]
    asked: Mapping[str, int]
    rewrites_left_out: int = 0
    notes: tuple[str, ...] = ()
    warnings: tuple[Caution, ...] = ()
    judges: Judges | None = None
    settled: Corpus | None = None

    @property
    def scheme(self) -> str:
        """The name of the scheme."""
        return get_view(self.options.scheme, self.options.view).scheme.name

    @property
    def commonest(self) -> str:
        """The most common right label of the gold questions; the first if there are several."""
        return max(self.asked, key=lambda label: self.asked[label])

    @property
    def baseline(self) -> float:
        """The accuracy of always giving the most common label, over all gold questions."""
        return self.asked[self.commonest] / sum(self.asked.values())

    def to_json(self) -> dict[str, object]:
        """Return the records of each table, and the accuracy of one label alone."""
        return super().to_json() | {"commonest": self.commonest, "baseline": self.baseline}

    @property
    def head(self) -> Sequence[str]:
        """Lines with the annotators and the rules."""
        if not self.options.sequential:
            when = "once, at the end"
        elif self.timed:
            when = "after each, in the order of their times"
        else:
            when = "after each, in the order of the corpus"
        if self.options.compared == "others":
            whose = "the majority of the others"
        else:
            whose = "the majority"
        return (
            f"Quality of {len(self.annotators)} annotators on {self.pairs} pairs "
            f"({self.scheme}, {self.options.view}); gold: {self.options.gold}",
            f"Gold: {how_many(sum(self.asked.values()), 'question')}; always answering "
            f"{self.commonest!r}, the most common label, is right in {100 * self.baseline:.1f}%",
            f"Rejected: fewer than half of {self.options.after} or more gold questions are right; "
            f"checked {when}",
            f"Judged again: pairs of annotators with a kappa below .4 against {whose}, by up to "
            "five others above .75 who have not judged them",
        )

    @property
    def cautions(self) -> Sequence[str]:
        """Warnings to read before the numbers."""
        return [*self.notes, *map(str, self.warnings)]

    @property
    def settings(self) -> str:
        """The settings behind the numbers, in one line."""
        look = "sequential" if self.options.sequential else "once"
        line = (
            f"level:quality|scheme:{self.scheme}|view:{self.options.view}|gold:{self.options.gold}"
            f"|look:{look}|after:{self.options.after}|again-by:{self.options.compared}"
        )
        if self.options.over:
            line += f"|over:{self.options.over}|good-in:{self.options.good_in}"
        if self.judges:
            line += "|model:one-coin"
        return f"{line}|version:{__version__}"

    def tables(self) -> Sequence[Table]:
        """Return the tables."""
        tables = [self._people(), self._judged_again(), self._suspected()]
        if self.options.over is not None:
            tables.append(self._good())
        return tables

    def shown_tables(self) -> Sequence[Table]:
        """Return the tables with the first rows of long lists; CSV and JSON have all rows."""
        tables = []
        for table in self.tables():
            if table.anchor in ("again", "phrases"):
                tables.append(self._shortened(table))
            else:
                tables.append(table)
        return tables

    @staticmethod
    def _shortened(table: Table) -> Table:
        """Return a table with its first rows; without pairs that nobody is left to judge again."""
        rows = table.rows
        if table.anchor == "again":
            rows = [row for row in rows if row[1]]
        rows = rows[:_MOST_ROWS]
        if len(rows) == len(table.rows):
            return table
        if rows:
            note = f"{len(rows)} of {len(table.rows)} are shown"
        else:
            note = "not shown here"
        note += "; CSV and JSON have all"
        if table.note:
            note += f"; {table.note}"
        return replace(table, rows=rows, note=note)

    def _judged_again(self) -> Table:
        """Return a row for each pair to judge again."""
        title = "Pairs to judge again, and by whom"
        if self.again:
            title += f": {how_many(len(self.again), 'pair')}"
        alone = sum(not who for _, who in self.again)
        if alone:
            title += f"; nobody is left to judge {alone} of them"
        columns = [Column("pair"), Column("judges", "count"), Column("by", key="judged_again_by")]
        rows: list[Row] = [[id, len(who), ", ".join(who)] for id, who in self.again]
        return Table(title, columns, rows, "" if rows else "none", "again")

    def _suspected(self) -> Table:
        """Return a row for each gold question that most annotators contradict."""
        columns = [
            Column("pair"),
            Column("gold"),
            Column("otherwise", "count"),
            Column("of", "count", key="judged"),
            Column("most say"),
        ]
        rows = [astuple(gold) for gold in self.suspicious]  # its fields are the columns
        title = "Gold questions that most annotators (without rejected ones) answer differently"
        return Table(title, columns, rows, "" if rows else "none", "suspicious")

    def _people(self) -> Table:
        """Return a row for each annotator."""
        columns = [Column("annotator"), Column("pairs", "count")]
        if self.judges is not None:
            columns.append(Column("right (model)", "percent", key="model"))
        columns += [
            Column("judged", "count", "gold"),
            Column("right", "count", "gold"),
            Column("accuracy", "percent", "gold", unit="%"),
            Column("one label", "percent", "gold", key="baseline", unit="%"),
            Column("majority", "decimal", "kappa"),
            Column("others", "decimal", "kappa"),
            Column("guesser rejected", "decimal", key="power", digits=5),
            Column("verdict"),
        ]
        if self.options.sequential:
            columns.append(Column("after", "count", key="rejected_at"))
        note = (
            "one label: the accuracy of always giving the most common right label of these "
            "questions; kappa: against the majority, including the annotator, and against the "
            "majority of the others; guesser rejected: the probability that as many gold questions "
            f"reject somebody who guesses among {self.labels} labels"
        )
        if self.judges is not None:
            note += "; right (model): the probability of a right label"
        rows = [self._person(person) for person in self.annotators]
        return Table("Annotators", columns, rows, note, "annotators")

    def _person(self, person: AnnotatorQuality) -> Row:
        """Return what stands in the row of an annotator."""
        gold = person.gold
        row: Row = [person.name, person.judged]
        if self.judges is not None:
            row.append(person.model)
        accuracy = Value(gold.accuracy, gold.low, gold.high)
        row += [gold.judged, gold.right, accuracy, gold.baseline]
        if person.used == 1:
            row += [nan, nan]
        else:
            row += [person.consensus, person.others]
        row += [person.power, gold.verdict]
        if self.options.sequential:
            row.append(gold.rejected_at)
        return row

    def _good(self) -> Table:
        """Return a row for each phrase."""
        good = sum(phrase.verdict == "good" for phrase in self.phrases)
        judged = sum(phrase.contexts > 0 for phrase in self.phrases)
        names = {"any": "any context", "majority": "most contexts", "all": "all contexts"}
        over = self.options.over
        where = names[self.options.good_in]
        title = f"Phrases ({over}) that are good in {where}: {good} of {judged}"
        columns = [
            Column("phrase"),
            Column("contexts", "count"),
            Column("good", "count", key="good_contexts"),
            Column("verdict"),
        ]
        rows = [astuple(phrase) for phrase in self.phrases]  # its fields are the columns
        note = (
            "a context is good if more than half of the judgments by annotators who are not "
            "rejected say so"
        )
        return Table(title, columns, rows, note, "phrases")
