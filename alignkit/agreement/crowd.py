"""The quality of a crowd: gold questions, agreement, pairs to judge again, good phrases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from math import isnan, nan

import numpy as np

from alignkit._support.arguments import check_kind, check_known, words
from alignkit._support.options import takes
from alignkit._support.wording import how_many
from alignkit.agreement.cautions import Hit, Hits, find_cautions
from alignkit.agreement.judges import LEAST_JUDGES, Judges, fit_judges
from alignkit.agreement.judgments import consensus
from alignkit.agreement.judgments.consensus import GoldVerdict, Labels
from alignkit.agreement.judgments.options import QualityOptions
from alignkit.agreement.judgments.question import judges
from alignkit.agreement.judgments.tables import LabelTables, apart
from alignkit.agreement.kappa import weighted_kappas
from alignkit.corpora.labelled import judged_part, judgments_of
from alignkit.errors import OptionError
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import Corpus, group_texts
from alignkit.model.labels import View, get_view
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import Caution, Result
from alignkit.tables.table import Table
from alignkit.version import __version__

DOUBT = "in doubt"  # not rejected, but no better than always giving the most common label
POWER = 0.8  # if the chance of rejecting a guesser is below this, gold questions prove little
MODEL = "model"  # the annotator who gives the labels of the model of judges
_MOST_ROWS = 40  # the most rows of a list that people see


@dataclass(frozen=True)
class AnnotatorQuality:
    """The quality of an annotator: the pairs with a label, and the answers to gold questions."""

    name: str
    judged: int
    gold: GoldVerdict
    consensus: float  # kappa against the majority
    others: float  # kappa against the majority of the others
    power: float  # how probably the gold questions would reject somebody who guesses
    used: int = 0  # how many of the labels are given
    model: Value | None = None  # the probability of a right label, by the model of judges


@dataclass(frozen=True)
class SuspectGold:
    """A gold question that most annotators (without the rejected ones) answer differently."""

    id: str
    gold: str
    against: int
    judged: int
    instead: str


@dataclass(frozen=True)
class GoodPhrase:
    """The contexts in which a phrase is good, judged by annotators who are not rejected."""

    phrase: str
    contexts: int
    good: int
    verdict: str


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
        rows: list[list[Cell]] = [[id, len(who), ", ".join(who)] for id, who in self.again]
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
        rows = [astuple(gold) for gold in self.suspicious]
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

    def _person(self, person: AnnotatorQuality) -> list[Cell]:
        """Return what stands in the row of an annotator."""
        gold = person.gold
        row: list[Cell] = [person.name, person.judged]
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
        words = {"any": "any context", "majority": "most contexts", "all": "all contexts"}
        over = self.options.over
        where = words[self.options.good_in]
        title = f"Phrases ({over}) that are good in {where}: {good} of {judged}"
        columns = [
            Column("phrase"),
            Column("contexts", "count"),
            Column("good", "count", key="good_contexts"),
            Column("verdict"),
        ]
        rows = [astuple(phrase) for phrase in self.phrases]
        note = (
            "a context is good if more than half of the judgments by annotators who are not "
            "rejected say so"
        )
        return Table(title, columns, rows, note, "phrases")


# what to beware of
def _hits(quality: CrowdQuality) -> Hits:
    """Yield what triggers a caution of `CAUTIONS`."""
    for person in quality.annotators:
        gold = person.gold
        kappa = person.others if quality.options.compared == "others" else person.consensus
        if gold.judged < quality.options.after:
            text = f"{gold.judged} of the {quality.options.after} that are needed"
            yield "few-gold", Hit(person.name, "", text, -gold.judged)
        elif person.power < POWER:
            text = f"{person.power:.5f} (of {gold.judged})"
            yield "weak-gold", Hit(person.name, "", text, -person.power)
        if gold.verdict == DOUBT:
            text = f"{gold.right} of {gold.judged} right"
            yield "in-doubt", Hit(person.name, "", text, -person.judged)
        if person.used == 1:
            yield "one-label", Hit(person.name, "", str(person.judged), person.judged)
        if isnan(kappa):
            yield "unknown-kappa", Hit(person.name, "", "")
    if quality.judges is not None:
        yield "hard-items", Hit("", "", "")
        if len(quality.annotators) == LEAST_JUDGES and quality.labels == 2:
            yield "untestable", Hit("", "", "")
    if quality.options.compared == "consensus":
        yield "contains", Hit("", "", "")
    if quality.options.sequential and not quality.timed:
        yield "untimed", Hit("", "", "")
    rejected = sum(person.gold.verdict == "reject" for person in quality.annotators)
    if rejected:
        yield "rejected", Hit("", "", f"{rejected} of {len(quality.annotators)}")
    nobody = sum(not who for _, who in quality.again)
    if nobody:
        yield "nobody", Hit("", "", f"{nobody} of {len(quality.again)}")


CAUTIONS: Mapping[str, tuple[str, str]] = {
    "few-gold": (
        "too few gold questions judged ({number}): they cannot reject this annotator",
        "ask more before you use these judgments",
    ),
    "in-doubt": (
        "no better on the gold questions ({number}) than always giving their most common label",
        "check these judgments before use, and ask more gold questions with other labels",
    ),
    "one-label": (
        "gave the same label to all pairs ({number}): kappa measures nothing then",
        "compare the accuracy on gold questions with that of always giving one label",
    ),
    "weak-gold": (
        "the gold questions would reject somebody who guesses with a probability of only {number}",
        "ask more gold questions, check after each (sequential), or use a view with more labels",
    ),
    "hard-items": (
        "the model is too sure where pairs are hard for everybody",
        "do not let it replace gold questions",
    ),
    "untestable": (
        "with three annotators and two labels, nothing can show that the model is wrong",
        "ask gold questions, or more annotators",
    ),
    "contains": (
        "the consensus contains the annotator: one of three annotators who guesses between two "
        "labels gets a kappa near .5 - k / 2 (k: the kappa of the other two), perhaps above .4",
        "use the kappa against the others (the default)",
    ),
    "untimed": (
        "some answers have no time, so gold questions are checked in the order of the corpus",
        "use judgments with times, as projects export them",
    ),
    "rejected": (
        "{number} annotators are rejected, but still part of the majorities that kappas compare "
        "with; everything is computed once",
        "to exclude them, leave them out of the annotators and compute again",
    ),
    "nobody": (
        "no annotator above .75 is left to judge {number} pairs again",
        "find new annotators for them",
    ),
    "unknown-kappa": (
        "the kappa is undefined, so these pairs are not judged again",
        "have more pairs judged by several annotators",
    ),
}
"""Every caution about a crowd, in order."""


# the question
@takes(QualityOptions)
def crowd_quality(corpus: Corpus, options: QualityOptions) -> CrowdQuality:
    """Measure how well annotators judge pairs, and list which pairs to judge again, by whom.

    Parameters
    ----------
    corpus : The judged pairs. Rewrites, which nobody judged, are left out unless asked for.
    options : The fields of `QualityOptions`.

    Raises
    ------
    OptionError : If there are fewer than two annotators, no label is known as good, or `after` < 1.

    Notes
    -----
    Everything is computed once: rejected annotators are still part of the majorities that kappas
    compare with. But they judge nothing again, and do not count for good phrases.

    References
    ----------
    Pavlick, Rastogi, Ganitkevitch, Van Durme & Callison-Burch 2015, PPDB 2.0, ACL, supplement on
    crowd annotation. He, Wang, Zhang, Huang & Caverlee 2020, PARADE, EMNLP.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> texts = [f"text {k}" for k in range(12)]
    >>> right = ["0", "1"] * 6
    >>> judged = {"key": right, "ann": right, "ben": ["1", "1"] * 6}
    >>> corpus = Corpus.from_texts(texts, texts, judgments=judged)
    >>> quality = crowd_quality(corpus, ["ann", "ben"], scheme="binary", gold="key")
    >>> [(each.name, each.gold.right, each.gold.judged) for each in quality.annotators]
    [('ann', 12, 12), ('ben', 6, 12)]
    """
    check_kind("corpus", corpus, Corpus)
    gold = options.gold
    lenient = options.lenient_labels
    corpus, left_out, notes = judged_part(corpus, rewrites=options.rewrites)
    names, aside = judges(corpus, options.annotators, gold)
    notes += tuple(f"{how_many(n, 'judgment')} {who} left out" for who, n in aside.items())
    looked = get_view(options.scheme, options.view)
    matrix = judgments_of(corpus, (*names, gold), looked, lenient_labels=lenient)
    values = matrix.values[:-1]
    right = matrix.values[-1]
    size = len(looked.labels)
    if not (right >= 0).any():
        raise OptionError(f"{gold!r} gave no pair a scored label, so there are no gold questions")
    people, all_timed = _people(corpus, names, values, right, size, options)
    kept = [person.gold.verdict != "reject" for person in people]
    kappas = []
    for person, keep in zip(people, kept, strict=True):
        kappa = person.others if options.compared == "others" else person.consensus
        if not keep and kappa > 0.75:  # rejected annotators judge nothing again
            kappa = nan
        kappas.append(kappa)
    again = list(consensus.judge_again(values, kappas).items())
    fitted = None
    settled = None
    if options.model:
        fitted = fit_judges(values, size, right, confidence=options.confidence)
        settled = _settled(corpus, looked, values, fitted)
        sure = fitted.posterior.max(axis=1)
        again.sort(key=lambda item: float(sure[item[0]]))
        people = _with_model(people, fitted)
    phrases: tuple[GoodPhrase, ...] = ()
    if options.over is not None:
        phrases = _phrases(corpus, names, looked, kept, options)
    quality = CrowdQuality(
        options=options,
        labels=size,
        pairs=len(corpus),
        timed=all_timed,
        annotators=tuple(people),
        again=tuple((corpus.ids[p], tuple(names[k] for k in who)) for p, who in again),
        suspicious=tuple(_suspicious(corpus, looked, values[kept], right)),
        phrases=phrases,
        asked={label: int((right == k).sum()) for k, label in enumerate(looked.labels)},
        rewrites_left_out=left_out,
        notes=notes,
        judges=fitted,
        settled=settled,
    )
    return replace(quality, warnings=find_cautions(_hits(quality), CAUTIONS, options))


def _people(
    corpus: Corpus,
    names: Sequence[str],
    values: Labels,
    right: Labels,
    labels: int,
    options: QualityOptions,
) -> tuple[list[AnnotatorQuality], bool]:
    """Return the quality of each annotator, and whether all answers to gold questions have times.

    `values` are (A, P), `right` is (P,): the labels of the gold questions.
    """
    people = []
    all_timed = True
    kappas = _kappas(values, labels)
    for name, given, (majority, others) in zip(names, values, kappas, strict=True):
        answered = np.flatnonzero((given >= 0) & (right >= 0))
        order, timed = _in_order(corpus, name, answered.tolist())
        all_timed &= timed
        verdict = consensus.answer_gold(
            given[order],
            right[order],
            sequential=options.sequential,
            after=options.after,
            confidence=options.confidence,
        )
        if verdict.verdict == "keep" and verdict.right <= verdict.commonest < verdict.judged:
            verdict = replace(verdict, verdict=DOUBT)
        power = consensus.rejection_chance(
            verdict.judged, labels, sequential=options.sequential, after=options.after
        )
        own = given[given >= 0]
        person = AnnotatorQuality(
            name=name,
            judged=len(own),
            gold=verdict,
            consensus=majority,
            others=others,
            power=power,
            used=len(np.unique(own)),
        )
        people.append(person)
    return people, all_timed


def _in_order(corpus: Corpus, name: str, pairs: list[int]) -> tuple[list[int], bool]:
    """Return pairs in the order in which an annotator judged them, and whether it is known."""
    times = [corpus[p].annotations[name].when for p in pairs]
    if not all(times):
        return pairs, False
    timed = sorted(zip(map(str, times), pairs, strict=True))
    return [p for _, p in timed], True


def _settled(corpus: Corpus, view: View, values: Labels, judges: Judges) -> Corpus:
    """Return the pairs with the label of the model, if anybody judged them, and its probability."""
    if MODEL in corpus.annotators:
        raise OptionError(f"the corpus has an annotator {MODEL!r}; rename that one")
    pairs = list(corpus)
    for p in np.flatnonzero((values >= 0).any(axis=0)).tolist():
        k = int(judges.posterior[p].argmax())
        said = {**pairs[p].attributes, "model.probability": f"{judges.posterior[p, k]:.4f}"}
        label = Annotation(None, judgment=view.labels[k], role="system")
        pairs[p] = replace(pairs[p], attributes=said).with_annotation(MODEL, label)
    return Corpus(pairs)


def _with_model(people: Sequence[AnnotatorQuality], judges: Judges) -> list[AnnotatorQuality]:
    """Return the annotators with their probability of a right label by the model."""
    completed = []
    for person, right, interval in zip(people, judges.right, judges.interval, strict=True):
        low, high = interval.tolist()
        reason = "the judgments say too little about the interval" if isnan(low) else ""
        completed.append(replace(person, model=Value(float(right), low, high, reason)))
    return completed


def _kappas(values: Labels, size: int) -> list[tuple[float, float]]:
    """Return the kappas of each annotator against the majority, and against the others'."""

    def kappas_with(others: Sequence[Labels]) -> list[float]:
        tables = LabelTables.of(list(zip(values, others, strict=True)), size).total()
        each: list[float] = weighted_kappas(tables, apart(size)).tolist()
        return each

    if len(values) < 3:
        majority = [nan] * len(values)
        others = list(values[::-1])
    else:
        settled = consensus.majority_labels(values, size).labels
        majority = kappas_with([settled] * len(values))
        others = [consensus.others_label(values, size, k)[0] for k in range(len(values))]
    return list(zip(majority, kappas_with(others), strict=True))


def _suspicious(corpus: Corpus, view: View, kept: Labels, right: Labels) -> Iterator[SuspectGold]:
    """Yield the gold questions that most of the kept annotators answer differently."""
    for p in np.flatnonzero(right >= 0).tolist():
        given = kept[kept[:, p] >= 0, p]
        label = view.labels[int(right[p])]
        against = int((given != right[p]).sum())
        if 2 * against > len(given):
            counts = np.bincount(given, minlength=len(view.labels))
            instead = ", ".join(view.labels[k] for k in np.flatnonzero(counts == counts.max()))
            yield SuspectGold(corpus.ids[p], label, against, len(given), instead)


def _good_labels(view: View, good: Sequence[str] | None) -> tuple[View, list[int]]:
    """Return a view, and its labels that make a pair good."""
    if good is None:
        if "binary" not in view.scheme.views:
            raise OptionError(
                f"no view of {view.scheme.name} says which labels are good: name them with `good`"
            )
        view = get_view(view.scheme, "binary")
        good = ["1"]
    chosen = words("good", good)
    for label in chosen:
        check_known(f"label of {view.name}", label, view.labels)
    return view, [view.labels.index(label) for label in chosen]


def _phrases(
    corpus: Corpus,
    names: Sequence[str],
    view: View,
    kept: Sequence[bool],
    options: QualityOptions,
) -> tuple[GoodPhrase, ...]:
    """Return each phrase with its contexts; `kept` says whose judgments count."""
    view, good_labels = _good_labels(view, options.good)
    values = judgments_of(corpus, names, view, lenient_labels=options.lenient_labels).values
    left = values[np.asarray(kept, np.bool_)]
    judged = (left >= 0).sum(axis=0)
    votes = np.isin(left, good_labels).sum(axis=0)
    contexts: dict[str, list[bool]] = {}  # of each phrase that somebody judged: whether it is good
    for phrase, n, said in zip(
        group_texts(corpus, str(options.over), names), judged, votes, strict=True
    ):
        if phrase:
            of_phrase = contexts.setdefault(phrase, [])
            if n:
                of_phrase.append(bool(2 * said > n))
    phrases = []
    for phrase, each in contexts.items():
        enough = {"any": any(each), "all": all(each), "majority": 2 * sum(each) > len(each)}
        if not each:
            verdict = "not judged"
        elif enough[options.good_in]:
            verdict = "good"
        else:
            verdict = "not good"
        phrases.append(GoodPhrase(phrase, len(each), sum(each), verdict))
    return tuple(phrases)
