"""The quality of a crowd: gold questions, agreement, pairs to judge again, good phrases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from math import isnan, nan

import numpy as np

from alignkit._support.arguments import check_arguments, check_known, naming_keywords, words
from alignkit._support.wording import how_many
from alignkit.agreement.cautions import Hit, Hits, find_cautions
from alignkit.agreement.judges import LEAST_JUDGES, Judges, fit_judges
from alignkit.agreement.judgments import consensus
from alignkit.agreement.judgments.consensus import GOOD_IN, LEAST_JUDGED, GoldVerdict, Labels
from alignkit.agreement.judgments.question import judges
from alignkit.agreement.judgments.tables import LabelTables, apart
from alignkit.agreement.kappa import weighted_kappas
from alignkit.corpora.labelled import judged_part, judgments_of
from alignkit.errors import OptionError
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import Corpus, group_texts
from alignkit.model.labels import Scheme, View, get_view
from alignkit.stats.resampling import check_confidence
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

    Parameters
    ----------
    scheme, view, labels : The scheme, the view of it, and the number of labels of that view.
    gold : The annotator with the right judgments.
    pairs : The number of pairs.
    sequential, timed : Whether gold questions are checked one by one, and whether all answers have
        times.
    after : The number of gold questions that an annotator must answer before being rejected.
    by : The kappa that decides which pairs to judge again: ``"others"`` or ``"consensus"``.
    annotators : Each annotator.
    again : The ids of the pairs to judge again, with the annotators to do it (possibly none).
    suspicious : Gold questions that most annotators contradict.
    over, good_in : The attribute that names phrases, and the contexts in which one must be good.
    phrases : The phrases.
    asked : For each label, the number of gold questions with this right answer.
    rewrites_left_out, notes : The number of rewrites left out because nobody judged them, and notes
        on them.
    warnings : Warnings to read before the numbers.
    judges : The model of judges; None without.
    settled : The judged pairs with the most probable label by annotator ``model``, and its
        probability as attribute ``model.probability``; None without the model.
    """

    scheme: str
    view: str
    labels: int
    gold: str
    pairs: int
    sequential: bool
    timed: bool
    after: int
    by: str
    annotators: tuple[AnnotatorQuality, ...]
    again: tuple[tuple[str, tuple[str, ...]], ...]
    suspicious: tuple[SuspectGold, ...]
    over: str | None
    good_in: str
    phrases: tuple[GoodPhrase, ...]
    asked: Mapping[str, int]
    rewrites_left_out: int = 0
    notes: tuple[str, ...] = ()
    warnings: tuple[Caution, ...] = ()
    judges: Judges | None = None
    settled: Corpus | None = None

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
        if self.timed:
            order = "in the order of their times"
        else:
            order = "in the order of the corpus"
        if self.sequential:
            when = f"after each, {order}"
        else:
            when = "once, at the end"
        if self.by == "others":
            whose = "the majority of the others"
        else:
            whose = "the majority"
        return (
            f"Quality of {len(self.annotators)} annotators on {self.pairs} pairs "
            f"({self.scheme}, {self.view}); gold: {self.gold}",
            f"Gold: {how_many(sum(self.asked.values()), 'question')}; always answering "
            f"{self.commonest!r}, the most common label, is right in {100 * self.baseline:.1f}%",
            f"Rejected: fewer than half of {self.after} or more gold questions are right; "
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
        if self.over:
            phrases = f"|over:{self.over}|good-in:{self.good_in}"
        else:
            phrases = ""
        model = "|model:one-coin" if self.judges else ""
        return (
            f"level:quality|scheme:{self.scheme}|view:{self.view}|gold:{self.gold}"
            f"|look:{'sequential' if self.sequential else 'once'}|after:{self.after}"
            f"|again-by:{self.by}{phrases}{model}|version:{__version__}"
        )

    def tables(self) -> Sequence[Table]:
        """Return the tables."""
        alone = sum(not who for _, who in self.again)
        if self.again:
            count = f": {how_many(len(self.again), 'pair')}"
        else:
            count = ""
        if alone:
            nobody = f"; nobody is left to judge {alone} of them"
        else:
            nobody = ""
        again = Table(
            f"Pairs to judge again, and by whom{count}{nobody}",
            [Column("pair"), Column("judges", "count"), Column("by", key="judged_again_by")],
            [[id, len(who), ", ".join(who)] for id, who in self.again],
            "" if self.again else "none",
            "again",
        )
        counts = Column("otherwise", "count"), Column("of", "count", key="judged")
        suspicious = Table(
            "Gold questions that most annotators (without rejected ones) answer differently",
            [Column("pair"), Column("gold"), *counts, Column("most say")],
            [astuple(gold) for gold in self.suspicious],
            "" if self.suspicious else "none",
            "suspicious",
        )
        tables = [self._people(), again, suspicious]
        if self.over is None:
            return tables
        return [*tables, self._good()]

    def shown_tables(self) -> Sequence[Table]:
        """Return the tables with the first rows of long lists; CSV and JSON have all rows."""
        tables = list(self.tables())
        for place, table in enumerate(tables):
            rows = [row for row in table.rows if row[1] or table.anchor != "again"]
            short = len(rows[:_MOST_ROWS]) < len(table.rows)
            if table.anchor in ("again", "phrases") and short:
                shown = f"{min(len(rows), _MOST_ROWS)} of {len(table.rows)} are shown"
                note = f"{shown if rows else 'not shown here'}; CSV and JSON have all"
                if table.note:
                    note += f"; {table.note}"
                tables[place] = replace(table, rows=rows[:_MOST_ROWS], note=note)
        return tables

    def _people(self) -> Table:
        columns = [
            Column("annotator"),
            Column("pairs", "count"),
            *(Column(name, "count", "gold") for name in ("judged", "right")),
            Column("accuracy", "percent", "gold", unit="%"),
            Column("one label", "percent", "gold", key="baseline", unit="%"),
            *(Column(name, "decimal", "kappa") for name in ("majority", "others")),
            Column("guesser rejected", "decimal", key="power", digits=5),
            Column("verdict"),
            Column("after", "count", key="rejected_at"),
        ][: None if self.sequential else -1]
        if self.judges is not None:
            columns.insert(2, Column("right (model)", "percent", key="model"))
        rows: list[list[Cell]] = []
        for person in self.annotators:
            gold = person.gold
            if person.used == 1:
                kappas = (nan, nan)
            else:
                kappas = (person.consensus, person.others)
            accuracy = Value(gold.accuracy, gold.low, gold.high)
            numbers = person.judged, gold.judged, gold.right, accuracy, gold.baseline, *kappas
            row = [person.name, *numbers, person.power, gold.verdict, gold.rejected_at]
            if self.judges is not None:
                row.insert(2, person.model)
            rows.append(row[: len(columns)])
        note = (
            "one label: the accuracy of always giving the most common right label of these "
            "questions; kappa: against the majority, including the annotator, and against the "
            "majority of the others; guesser rejected: the probability that as many gold questions "
            f"reject somebody who guesses among {self.labels} labels"
        ) + ("; right (model): the probability of a right label" if self.judges else "")
        return Table("Annotators", columns, rows, note, "annotators")

    def _good(self) -> Table:
        good = sum(phrase.verdict == "good" for phrase in self.phrases)
        judged = sum(phrase.contexts > 0 for phrase in self.phrases)
        words = {"any": "any context", "majority": "most contexts", "all": "all contexts"}
        counts = Column("contexts", "count"), Column("good", "count", key="good_contexts")
        title = f"Phrases ({self.over}) that are good in {words[self.good_in]}: {good} of {judged}"
        columns = [Column("phrase"), *counts, Column("verdict")]
        note = "a context is good if more than half of the judgments by annotators who are not "
        rows = [astuple(phrase) for phrase in self.phrases]
        return Table(title, columns, rows, f"{note}rejected say so", "phrases")


# what to beware of
def _hits(quality: CrowdQuality) -> Hits:
    for person in quality.annotators:
        gold = person.gold
        kappa = person.others if quality.by == "others" else person.consensus
        if gold.judged < quality.after:
            text = f"{gold.judged} of the {quality.after} that are needed"
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
    if quality.by == "consensus":
        yield "contains", Hit("", "", "")
    if quality.sequential and not quality.timed:
        yield "untimed", Hit("", "", "")
    if rejected := sum(person.gold.verdict == "reject" for person in quality.annotators):
        yield "rejected", Hit("", "", f"{rejected} of {len(quality.annotators)}")
    if nobody := sum(not who for _, who in quality.again):
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
@naming_keywords
def crowd_quality(
    corpus: Corpus,
    annotators: Sequence[str] | None = None,
    *,
    gold: str,
    scheme: Scheme | str,
    view: str = "full",
    sequential: bool = False,
    after: int = LEAST_JUDGED,
    like: str | None = None,
    over: str | None = None,
    good: Sequence[str] | None = None,
    good_in: str = "any",
    model: bool = False,
    confidence: float = 0.95,
    lenient_labels: bool = False,
    rewrites: bool = False,
) -> CrowdQuality:
    """Measure how well annotators judge pairs, and list which pairs to judge again, by whom.

    Parameters
    ----------
    annotators : The crowd; None for all with the role annotator who judged, except the gold.
    gold : The annotator with the right judgments; pairs judged by gold are gold questions.
    sequential : Check gold questions one by one from number `after` on, as a running project does,
        by their times (or, if a time is missing, in the order of the corpus), instead of once.
    after : The number of gold questions that an annotator must answer before being rejected.
        Pavlick et al. reject after 10 tasks: if a task has g gold questions, give 10 g.
    like : Pairs of annotators with a kappa below .4 are judged again: kappa against the majority of
        the others, or with ``"parade"``, as in PARADE, against the majority of all.
    over : An attribute that names the phrase of which a pair is a context; None for no phrases.
    good : The labels that make a pair good; None takes those that the view ``binary`` calls 1.
    good_in : A phrase is good if it is good in ``"any"``, the ``"majority"`` or ``"all"`` of its
        contexts.
    model : Fit a model of judges, with the gold questions, too; see `fit_judges`. Pairs to judge
        again are then listed by its doubt.
    lenient_labels : Leave out judgments that are not in the scheme instead of raising an error.
    rewrites : Include rewrites, which nobody judged; see `alignkit.model.sentence_pair`.

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
    """
    check_arguments(crowd_quality, locals(), apart=["annotators", "good"])
    check_confidence(confidence)
    if after < 1:
        raise OptionError(f"`after` is {after}; it must be at least 1")
    check_known("rule", like or "parade", ["parade"])
    by = "others" if like is None else "consensus"
    check_known("number of contexts", good_in, GOOD_IN)
    if over is None and good is not None:
        raise OptionError("`good` needs phrases: name the attribute with the phrase with `over`")
    corpus, left_out, notes = judged_part(corpus, rewrites=rewrites)
    names, aside = judges(corpus, annotators, gold)
    notes += tuple(f"{how_many(n, 'judgment')} {who} left out" for who, n in aside.items())
    looked = get_view(scheme, view)
    matrix = judgments_of(corpus, (*names, gold), looked, lenient_labels=lenient_labels)
    values = matrix.values[:-1]
    right = matrix.values[-1]
    size = len(looked.labels)
    if not (right >= 0).any():
        raise OptionError(f"{gold!r} gave no pair a scored label, so there are no gold questions")
    all_timed = True
    verdicts = []
    for name, row in zip(names, values, strict=True):
        order: list[int] = np.flatnonzero((row >= 0) & (right >= 0)).tolist()
        times = [corpus[p].annotations[name].when for p in order]
        if all(times):
            order = [p for _, p in sorted(zip(map(str, times), order, strict=True))]
        all_timed &= all(times)
        answers = row[order], right[order]
        verdict = consensus.answer_gold(
            *answers, sequential=sequential, after=after, confidence=confidence
        )
        if verdict.verdict == "keep" and verdict.right <= verdict.commonest < verdict.judged:
            verdict = replace(verdict, verdict=DOUBT)
        verdicts.append(verdict)
    majority, others = _kappas(values, size)
    people = zip(names, values, verdicts, majority, others, strict=True)
    each = tuple(
        AnnotatorQuality(
            name,
            int((row >= 0).sum()),
            verdict,
            first,
            second,
            consensus.rejection_chance(verdict.judged, size, sequential=sequential, after=after),
            len(np.unique(row[row >= 0])),
        )
        for name, row, verdict, first, second in people
    )
    kept = [verdict.verdict != "reject" for verdict in verdicts]
    decisive = zip(kept, majority if by == "consensus" else others, strict=True)
    # nobody who is rejected judges anything again
    usable = [nan if not keep and kappa > 0.75 else kappa for keep, kappa in decisive]
    again = list(consensus.judge_again(values, usable).items())
    fitted = fit_judges(values, size, right, confidence=confidence) if model else None
    if fitted is not None:
        sure = fitted.posterior.max(axis=1)
        again.sort(key=lambda item: float(sure[item[0]]))
        bounds = zip(fitted.right.tolist(), fitted.interval.tolist(), strict=True)
        each = tuple(
            replace(person, model=Value(p, low, high, _reason(low)))
            for person, (p, (low, high)) in zip(each, bounds, strict=True)
        )
    phrases: tuple[GoodPhrase, ...] = ()
    if over is not None:
        good_labels = _good_labels(looked, good)
        phrases = _phrases(corpus, names, good_labels, kept, over, good_in, lenient_labels)
    quality = CrowdQuality(
        scheme=looked.scheme.name,
        view=looked.name,
        labels=size,
        gold=gold,
        pairs=len(corpus),
        sequential=sequential,
        timed=all_timed,
        after=after,
        by=by,
        annotators=each,
        again=tuple((corpus.ids[p], tuple(names[k] for k in who)) for p, who in again),
        suspicious=tuple(_suspicious(corpus, looked, values[kept], right)),
        over=over,
        good_in=good_in,
        phrases=phrases,
        asked={label: int((right == k).sum()) for k, label in enumerate(looked.labels)},
        rewrites_left_out=left_out,
        notes=notes,
        judges=fitted,
        settled=None if fitted is None else _settled(corpus, looked, values, fitted),
    )
    return replace(quality, warnings=find_cautions(_hits(quality), CAUTIONS, quality))


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


def _reason(low: float) -> str:
    if isnan(low):
        return "the judgments say too little about the interval"
    return ""


def _kappas(values: Labels, size: int) -> tuple[list[float], list[float]]:
    """Return the kappas of each annotator against the majority, and against the others'."""

    def kappas_with(others: Sequence[Labels]) -> list[float]:
        tables = LabelTables.of(list(zip(values, others, strict=True)), size).total()
        each: list[float] = weighted_kappas(tables, apart(size)).tolist()
        return each

    if len(values) < 3:
        return [nan] * len(values), kappas_with(list(values[::-1]))
    settled = consensus.majority_labels(values, size).labels
    others = [consensus.others_label(values, size, k)[0] for k in range(len(values))]
    return kappas_with([settled] * len(values)), kappas_with(others)


def _suspicious(corpus: Corpus, view: View, kept: Labels, right: Labels) -> Iterator[SuspectGold]:
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
    for label in (chosen := words("good", good)):
        check_known(f"label of {view.name}", label, view.labels)
    return view, [view.labels.index(label) for label in chosen]


def _phrases(
    corpus: Corpus,
    names: Sequence[str],
    good: tuple[View, list[int]],
    kept: Sequence[bool],
    over: str,
    good_in: str,
    lenient_labels: bool,
) -> tuple[GoodPhrase, ...]:
    values = judgments_of(corpus, names, good[0], lenient_labels=lenient_labels).values
    left = values[np.asarray(kept, np.bool_)]
    judged = (left >= 0).sum(axis=0)
    votes = np.isin(left, good[1]).sum(axis=0)
    contexts: dict[str, list[bool]] = {}  # of each phrase that somebody judged: whether it is good
    for phrase, n, said in zip(group_texts(corpus, over, names), judged, votes, strict=True):
        if phrase:
            contexts.setdefault(phrase, []).extend([bool(2 * said > n)] if n else [])
    phrases = []
    for phrase, each in contexts.items():
        enough = {"any": any(each), "all": all(each), "majority": 2 * sum(each) > len(each)}
        if not each:
            verdict = "not judged"
        elif enough[good_in]:
            verdict = "good"
        else:
            verdict = "not good"
        phrases.append(GoodPhrase(phrase, len(each), sum(each), verdict))
    return tuple(phrases)
