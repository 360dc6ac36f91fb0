"""The score of a corpus, with its tables, records and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain, product
from math import isnan, nan
from typing import TYPE_CHECKING, Any, TypeVar, Union

from alignkit._support.arguments import check_arguments
from alignkit._support.values import FrozenMap, jsonable, named_json
from alignkit._support.wording import how_many, visible
from alignkit.errors import OptionError
from alignkit.scoring.counts import Rows
from alignkit.scoring.measures import LinkScore, MacroScore, PhraseScore, level_intervals
from alignkit.scoring.settings import Signature
from alignkit.stats.defaults import CONFIDENCE, RESAMPLES, SEED
from alignkit.stats.resampling import Interval, check_drawing, few_pairs
from alignkit.tables.columns import Cell, Column, Value, percent
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

if TYPE_CHECKING:
    from alignkit.show.dot_plots import DotPlot

Part = Union[LinkScore, PhraseScore]
"""The measures of one level."""

Intervals = Mapping[str, Mapping[str, Interval]]

LEVEL_NAMES = {
    "links": "links",
    "links-identical": "links, identical",
    "links-non-identical": "links, non-identical",
    "phrases-possible": "phrases, possible",
    "phrases-sure": "phrases, sure",
}
"""The names of levels."""

_MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1", "aer": "AER"}
MEASURE_NAMES = {
    **_MEASURES,
    "macro_precision": "macro precision",
    "macro_recall": "macro recall",
    "macro_f1": "macro F1",
    "mean_f1": "mean of F1",
    "exact_match": "exact match",
}
"""The names of measures."""

_OF_LINKS = ("hyp_possible", "ref_possible")  # what is said to be how many
ATOMIC = ("hyp_atomic", "ref_atomic")


def score_table(
    parts: Mapping[str, Part],
    intervals: Intervals,
    *,
    macro: Mapping[str, MacroScore] | None = None,
    aggregate: str = "micro",
    title: str = "",
) -> Table:
    """Return the table of one score: a row for each level, with the numbers of links or phrases."""
    macro = macro or {}
    columns = [Column("", key="level")]
    columns += [Column(text, "percent", key=name) for name, text in _MEASURES.items()]
    if macro:
        columns.append(Column("exact match", "percent", key="exact_match"))
    columns += [Column("hypothesis", "count"), Column("reference", "count")]
    rows: list[list[Cell]] = []
    for level, part in parts.items():
        name = LEVEL_NAMES[level]
        bounds = intervals.get(level, {})
        micro = [_measure_cell(part, measure, bounds) for measure in _MEASURES]
        counted = _OF_LINKS if level.startswith("links") else ATOMIC
        sizes: list[Cell] = [part.counts[column] for column in counted]
        if not macro:
            rows.append([name, *micro, *sizes])
            continue
        aer = micro[-1]
        if aggregate == "both":
            rows.append([f"{name}, micro", *micro, None, *sizes])
            aer = None
            sizes = [None, None]
        measures = macro[level].measures().items()
        *ratios, mean, exact = [bounded_value(value, bounds.get(key)) for key, value in measures]
        rows.append([f"{name}, macro", *ratios, aer, exact, *sizes])
        rows.append([f"{name}, mean of F1", None, None, mean, None, None, None, None])
    return Table(title, columns, rows, "\n".join(_left_out(macro)))


def _measure_cell(part: Part, measure: str, bounds: Mapping[str, Interval]) -> Cell:
    """Return a measure with its bounds; None for AER of phrase pairs."""
    if not hasattr(part, measure):
        return None
    return bounded_value(getattr(part, measure), bounds.get(measure))


def _left_out(macro: Mapping[str, MacroScore]) -> Iterator[str]:
    """Yield notes on means over sentence pairs, and what they leave out."""
    if not macro:
        return
    yield "macro: means over sentence pairs, without those for which the ratio is 0/0; AER is micro"
    for level, score in macro.items():
        counts = [f"{_MEASURES[name]} {count}" for name, count in score.left_out.items() if count]
        if counts:
            yield f"left out, {LEVEL_NAMES[level]}: {', '.join(counts)}"


def level_records(
    parts: Mapping[str, Part],
    intervals: Intervals,
    macro: Mapping[str, MacroScore] = FrozenMap(),
    **first: object,
) -> list[dict[str, object]]:
    """Return a record for each level: the measures, their bounds, the counts."""
    records = []
    for level, part in parts.items():
        record: dict[str, object] = {"level": level, **first}
        values = {name: getattr(part, name) for name in _MEASURES if hasattr(part, name)}
        if level in macro:
            values |= macro[level].measures()
        bounds = intervals.get(level, {})
        for name, value in values.items():
            record[name] = value
            if name in bounds:
                record[f"{name}_low"] = bounds[name].low
                record[f"{name}_high"] = bounds[name].high
        records.append({**record, **part.counts})
    return records


def short(parts: Mapping[str, Part], macro: Mapping[str, MacroScore]) -> str:
    """Return the main measures of a score in a few words."""
    said = []
    for level, part in parts.items():
        ratios = [f"F1 {percent(part.f1)}"]
        if level in macro:
            ratios.append(f"macro {percent(macro[level].f1)}")
        if isinstance(part, LinkScore):
            ratios.append(f"AER {percent(part.aer)}")
        said.append(f"{LEVEL_NAMES[level]}: {', '.join(ratios)}")
    return "; ".join(said)


def bounded_value(value: float, interval: Interval | None) -> Cell:
    """Return the cell of a measure, with its bounds if any."""
    if interval is None or isnan(value):
        return value
    return Value(value, interval.low, interval.high, interval.reason)


def left_out_pairs(skipped: int, pairs: int) -> tuple[str, ...]:
    """Return a caution if sentence pairs are left out."""
    if not skipped:
        return ()
    text = (
        f"{skipped} of {how_many(skipped + pairs, 'sentence pair')} are left out because they are "
        "missing or not annotated on one side: the scores do not cover them"
    )
    return (text,)


def digest_of(ids: Iterable[str]) -> str:
    """Return a digest of the ids of sentence pairs, in order."""
    digest = blake2b(digest_size=16)
    for id in ids:
        digest.update(id.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


S = TypeVar("S", bound="Score")


@dataclass(frozen=True, repr=False)
class Score(TableResult):
    """The scores of a corpus and what they were computed from.

    It prints as the table of the command, also in a notebook.

    Returned by `score`.

    Parameters
    ----------
    links : The measures of links, None if not requested.
    phrases : The measures of phrase pairs under ``"possible"`` (from all links) and ``"sure"``, or
        None.
    pairs : Number of scored sentence pairs.
    skipped : Number of pairs left out because they are missing or not annotated on one side.
    signature : All settings; print it next to the score.
    rows : For each scored level the counts of the sentence pairs, (P, 8) of links and (P, 5) of
        phrase pairs; empty without `keep_rows`.
    intervals : For each scored level the intervals of its measures; empty until `with_intervals`.
    macro : For each scored level the averages over sentence pairs; empty unless requested by
        `aggregate`.
    split : The measures of ``"identical"`` and ``"non-identical"`` links; empty unless requested by
        `split_identical`.
    scored : A digest of the ids of the scored pairs, with which comparisons check that the pairs
        are the same; empty if there are no ids.
    suspicions : What looks wrong in the alignments: base, direction, dropped links.

    Examples
    --------
    >>> import alignkit
    >>> result = alignkit.score(["0-0 1-1"], ["0-0"])
    >>> result.pairs, result.links.precision, round(result.links.f1, 3)
    (1, 0.5, 0.667)
    >>> result.to_records()[0]["recall"]
    1.0
    """

    links: LinkScore | None
    phrases: Mapping[str, PhraseScore] | None
    pairs: int
    skipped: int
    signature: Signature
    rows: Mapping[str, Rows] = field(default_factory=dict, repr=False, compare=False)
    intervals: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict, repr=False)
    macro: Mapping[str, MacroScore] = field(default_factory=dict)
    split: Mapping[str, LinkScore] = field(default_factory=dict)
    scored: str = field(default="", repr=False, compare=False)
    suspicions: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @property
    def aggregate(self) -> str:
        """How pairs are aggregated: ``"micro"``, ``"macro"`` or ``"both"``."""
        return self.signature.aggregate or "micro"

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings about the scores."""
        few = few_pairs(self.pairs, drawn=bool(self.intervals))
        return (*self.suspicions, *left_out_pairs(self.skipped, self.pairs), *few)

    def with_intervals(
        self: S, *, resamples: int = RESAMPLES, confidence: float = CONFIDENCE, seed: int = SEED
    ) -> S:
        """Return the score with bootstrap intervals; see `confidence_interval`.

        Parameters
        ----------
        resamples : Number of resamples of the bootstrap over sentence pairs.
        confidence : Between 0 and 1.
        seed : The seed of the resamples.

        Examples
        --------
        >>> from alignkit import score
        >>> gold = ["0-0 1-1", "0-0 1-1 2-2"] * 20
        >>> result = score(["0-0", "0-0 1-1 2-2"] * 20, gold, keep_rows=True).with_intervals()
        >>> result.intervals["links"]["f1"].low < result.links.f1
        True
        """
        check_arguments(Score.with_intervals, locals())
        check_drawing(resamples, confidence, seed)
        if not self.rows:
            raise OptionError(
                "intervals need the counts of the pairs; score again with keep_rows=True"
            )
        drawing: Any = {"resamples": resamples, "confidence": confidence, "seed": seed}
        intervals = level_intervals(self.rows, self.aggregate, **drawing)
        return replace(self, intervals=intervals, signature=self.signature.drawn(**drawing))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if name in LinkScore.__dataclass_fields__ and "pairs" in self.__dict__:
                parts = {"links": self.links}
                for links, part in (self.phrases or {}).items():
                    parts[f"phrases[{links!r}]"] = part
                places = [f"score.{x}.{name}" for x, part in parts.items() if hasattr(part, name)]
                where = f"; use {' or '.join(places)}" if places else ""
                raise AttributeError(f"a Score has no {name} of its own{where}")
            raise AttributeError(f"'Score' object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"Score({how_many(self.pairs, 'pair')}; {short(self.parts(), self.macro)})"

    def parts(self) -> dict[str, Part]:
        """Return the measures of each scored level.

        Examples
        --------
        >>> import alignkit
        >>> list(alignkit.score(["0-0 1-1"], ["0-0"], level="both").parts())
        ['links', 'phrases-possible', 'phrases-sure']
        """
        parts: dict[str, Part] = {}
        if self.links is not None:
            parts["links"] = self.links
        parts |= {f"links-{name}": part for name, part in self.split.items()}
        parts |= {f"phrases-{name}": part for name, part in (self.phrases or {}).items()}
        return parts

    @property
    def title(self) -> str:
        """The number of scored sentence pairs."""
        pairs = how_many(self.pairs, "sentence pair")
        if self.skipped:
            return f"{pairs}, {self.skipped} left out (not annotated)"
        return pairs

    def table(self) -> Table:
        """Return the score as a table, for LaTeX, Markdown, HTML, ...

        Examples
        --------
        >>> import alignkit
        >>> len(alignkit.score(["0-0 1-1"], ["0-0"], level="both").table().rows)
        3
        """
        table = self.bare_table(self.title)
        note = "\n".join(filter(None, [table.note, *self.cautions, str(self.signature)]))
        return replace(table, note=note)

    def bare_table(self, title: str) -> Table:
        """Return the table without cautions and signature, for a report of several tables."""
        return score_table(
            self.parts(), self.intervals, macro=self.macro, aggregate=self.aggregate, title=title
        )

    def plot(self, path: str | None = None, width: str = "column") -> DotPlot:
        """Return the figure of P, R, F1 and AER for a paper, with its caption.

        Parameters
        ----------
        path : A file to write as well: PDF, PNG or SVG, by its ending.
        width : Its width: ``"column"`` (3.3 inches) or ``"full"`` (6.9 inches).
        """
        figure = score_plot({"": self})
        if path is not None:
            figure.save(path, width)
        return figure

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each scored level, for a DataFrame.

        It has the level, the numbers of scored and skipped pairs, the measures (NaN if undefined),
        their bounds (``f1_low``, ``f1_high``) if computed, and the counts.

        Examples
        --------
        >>> import alignkit
        >>> [record] = alignkit.score(["0-0 1-1"], ["0-0"]).to_records()
        >>> record["level"], record["precision"], record["hyp_sure"]
        ('links', 0.5, 2)
        """
        more = {"pairs": self.pairs, "skipped": self.skipped}
        return level_records(self.parts(), self.intervals, self.macro, **more)

    def to_json(self) -> dict[str, object]:
        """Return the score as JSON values; NaN becomes None; intervals only if computed.

        Examples
        --------
        >>> import alignkit
        >>> result = alignkit.score(["0-0 1-1"], ["0-0"]).to_json()
        >>> result["pairs"], result["links"]["precision"]
        (1, 0.5)
        """
        parts: dict[str, dict[str, object]] = {}
        for level, part in self.parts().items():
            parts[level] = part.to_json()
            macro = self.macro.get(level)
            if macro is not None:
                parts[level]["macro"] = macro.to_json()
                parts[level] |= named_json(macro, ("exact_match", "exact_pairs"))
        links = parts.get("links")
        if links is not None:
            links |= {name.replace("-", "_"): parts[f"links-{name}"] for name in self.split}
        plain: dict[str, object] = {
            "links": links,
            "phrases": _phrases(parts),
            "pairs": self.pairs,
            "skipped": self.skipped,
            "signature": str(self.signature),
        }
        if self.intervals:
            bounds = {level: jsonable(intervals) for level, intervals in self.intervals.items()}
            plain["intervals"] = {
                "links": bounds.get("links"),
                **{name.replace("-", "_"): bounds[f"links-{name}"] for name in self.split},
                "phrases": _phrases(bounds),
            }
        if self.cautions:
            plain["cautions"] = list(self.cautions)
        return plain


def _phrases(parts: Mapping[str, object]) -> dict[str, object] | None:
    """Return the parts of phrase pairs, by the names of their links, or None."""
    names = {name: name.removeprefix("phrases-") for name in parts if name.startswith("phrases-")}
    return {short: parts[name] for name, short in names.items()} or None


# what type checkers know of a score by its level
class ScoreOfLinks(Score):
    """The score of links, ``level="links"``.

    Returned by `score`.

    Examples
    --------
    >>> import alignkit
    >>> result = alignkit.score(["0-0 1-1"], ["0-0"], level="links")
    >>> result.links.recall, result.phrases
    (1.0, None)
    """

    links: LinkScore
    phrases: None


class ScoreOfPhrases(Score):
    """The score of phrase pairs, ``level="phrases"``.

    Returned by `score`.

    Examples
    --------
    >>> import alignkit
    >>> result = alignkit.score(["0-0 1-1"], ["0-0"], level="phrases")
    >>> result.phrases["sure"].recall, result.links
    (1.0, None)
    """

    links: None
    phrases: Mapping[str, PhraseScore]


class ScoreOfBoth(Score):
    """The score of links and of phrase pairs, ``level="both"``.

    Returned by `score`.

    Examples
    --------
    >>> import alignkit
    >>> result = alignkit.score(["0-0 1-1"], ["0-0"], level="both")
    >>> result.links.recall, result.phrases["sure"].recall
    (1.0, 1.0)
    """

    links: LinkScore
    phrases: Mapping[str, PhraseScore]


SCORE_OF_LEVEL: Mapping[str, type[Score]] = {
    "links": ScoreOfLinks,
    "phrases": ScoreOfPhrases,
    "both": ScoreOfBoth,
}
"""The class of a score by its level."""


# the figure for a paper
_SHORT = {"precision": "P", "recall": "R", "f1": "F1", "aer": "AER"}


def score_plot(scores: Mapping[str, Score]) -> DotPlot:
    """Return the figure of P, R, F1 and AER of systems, with intervals if known."""
    from alignkit.show.dot_plots import DotPanel, DotPlot, DotRow

    first = next(iter(scores.values()))
    levels = dict.fromkeys(chain.from_iterable(score.parts() for score in scores.values()))
    if first.aggregate == "both":
        series = ["micro", "macro"]
    else:
        series = [first.aggregate]
    panels = list[DotPanel]()
    for name, short in _SHORT.items():
        rows = []
        values = []
        for level, (system, score) in product(levels, scores.items()):
            names, group = _row_names(level, system, len(levels), len(scores))
            rows.append(DotRow(names, group))
            values.append([_value(score, level, name, how) for how in series])
        label = f"{short} (%)"
        if series == ["macro"] and name != "aer":  # AER is always micro
            label = f"macro {label}"
        panel = DotPanel(label, rows, values)
        if panel.ends:
            panels.append(panel)
    measures = ", ".join(panel.label.removesuffix(" (%)") for panel in panels)
    shown = "; ".join(LEVEL_NAMES[level] for level in levels)
    caption = f"{measures} (percent) of {shown}, {first.title}"
    if len(scores) > 1:
        caption += f": {', '.join(map(visible, scores))}"
    if len(series) > 1:
        caption += (
            "; filled circles: counts of all pairs (micro), open diamonds: means over pairs (macro)"
        )
    confidence = first.signature.confidence
    if first.intervals and confidence is not None:
        caption += f"; lines: {100 * confidence:g}% of bootstrap resamples of sentence pairs"
    return DotPlot(panels, series, f"{caption}.", abreast=(2, 4))


def _row_names(level: str, system: str, levels: int, systems: int) -> tuple[tuple[str], str]:
    """Return the name of a system's row at a level, and its group, as far as they differ."""
    if systems == 1:
        return (LEVEL_NAMES[level],), ""
    if levels == 1:
        return (system,), ""
    return (system,), LEVEL_NAMES[level]


def _value(score: Score, level: str, name: str, how: str) -> Value:
    """Return a measure, micro or macro, with its bounds; NaN if there is none."""
    if how == "macro" and name != "aer":
        name = f"macro_{name}"
        value = score.macro[level].measures()[name]
    elif how == "macro" and score.aggregate == "both":
        return Value(nan)
    else:
        value = getattr(score.parts()[level], name, nan)
    cell = bounded_value(value, score.intervals.get(level, {}).get(name))
    return cell if isinstance(cell, Value) else Value(value)
