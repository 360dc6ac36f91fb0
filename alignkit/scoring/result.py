"""What a score found, and show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import isnan, nan
from typing import TYPE_CHECKING, Union, cast

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import how_many
from alignkit.errors import OptionError
from alignkit.scoring.blocks import level_intervals
from alignkit.scoring.counts import Rows
from alignkit.scoring.macro import MacroScore
from alignkit.scoring.measures import LinkScore, PhraseScore
from alignkit.scoring.settings import Signature
from alignkit.stats.ratios import none_if_nan
from alignkit.stats.resampling import SEED, Interval, check_drawing, few_pairs
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.table import Table, guessed_column


@dataclass(frozen=True)
class Comparison:
    """One measure of a system beside that of another, the baseline.

    Parameters
    ----------
    measure
        The name of the measure.
    system, baseline
        The names of the two.
    system_value, baseline_value
        The measure of each on the whole corpus.
    difference
        System minus baseline.
    interval
        The bootstrap interval of the difference.
    wins
        In which share of the resamples the system is better (AER: lower); Koehn's figure.
    bootstrap_p
        Two-sided p-value of the paired bootstrap.
    randomization_p
        Two-sided p-value of the paired approximate randomization.
    bootstrap_holm, randomization_holm
        The same, corrected by `holm` for how many pairs of systems are compared.
    level
        Which of `LEVELS` was scored; empty where rows of counts were compared.
    """

    measure: str
    system: str
    baseline: str
    system_value: float
    baseline_value: float
    difference: float
    interval: Interval
    wins: float
    bootstrap_p: float
    randomization_p: float
    bootstrap_holm: float = nan
    randomization_holm: float = nan
    level: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the comparison as JSON takes it: NaN is None."""
        values = {n: none_if_nan(v) if isinstance(v, float) else v for n, v in vars(self).items()}
        return {"level": self.level, **values, "interval": self.interval.to_json()}


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
"""What levels are called."""

_MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1", "aer": "AER"}
MEASURE_NAMES = {
    **_MEASURES,
    "macro_precision": "macro precision",
    "macro_recall": "macro recall",
    "macro_f1": "macro F1",
    "mean_f1": "mean of F1",
    "exact_match": "exact match",
}
"""What measures are called."""

_LEFT = {name: f"left_out_{name}" for name in ("precision", "recall", "f1")}

_P_VALUES = (
    "p: two-sided, by paired bootstrap and by paired approximate randomization; Holm: corrected "
    "for the pairs of systems, measure by measure"
)

_OF_LINKS = ("hyp_possible", "ref_possible")  # what is said to be how many
_ATOMIC = ("hyp_atomic", "ref_atomic")


def score_table(
    parts: Mapping[str, Part],
    intervals: Intervals,
    *,
    macro: Mapping[str, MacroScore] | None = None,
    aggregate: str = "micro",
    title: str = "",
) -> Table:
    """Return the table of one score: a row for each level, and how many links or phrases it has."""
    macro = macro or {}
    columns = [
        Column("", key="level"),
        *_measures(_MEASURES),
        *([Column("exact match", "percent", key="exact_match")] if macro else []),
        Column("hypothesis", "count"),
        Column("reference", "count"),
    ]
    rows: list[list[Cell]] = []
    for level, part in parts.items():
        bounds = intervals.get(level, {})
        micro = [_value(part, name, bounds) for name in _MEASURES]
        sizes: list[Cell] = [
            part.counts[name] for name in (_OF_LINKS if level.startswith("links") else _ATOMIC)
        ]
        if not macro:
            rows.append([LEVEL_NAMES[level], *micro, *sizes])
            continue
        if aggregate == "both":
            rows.append([f"{LEVEL_NAMES[level]}, micro", *micro, None, *sizes])
            micro, sizes = [None] * len(micro), [None, None]
        rows += _macro_rows(LEVEL_NAMES[level], macro[level], bounds, micro[-1], sizes)
    return Table(title, columns, rows, "\n".join(_left_out(macro)))


def _macro_rows(
    name: str, found: MacroScore, bounds: Mapping[str, Interval], aer: Cell, sizes: Sequence[Cell]
) -> Iterator[list[Cell]]:
    values = {key: _bounded(value, bounds.get(key)) for key, value in found.measures().items()}
    *ratios, mean, exact = values.values()
    yield [f"{name}, macro", *ratios, aer, exact, *sizes]
    yield [f"{name}, mean of F1", None, None, mean, None, None, None, None]


def _left_out(macro: Mapping[str, MacroScore]) -> Iterator[str]:
    if not macro:
        return
    yield "macro: means over sentence pairs, those left out whose ratio is 0/0; AER is micro always"
    for level, found in macro.items():
        told = [f"{_MEASURES[name]} {count}" for name, count in found.left_out.items() if count]
        if told:
            yield f"left out, {LEVEL_NAMES[level]}: {', '.join(told)}"


def level_records(
    parts: Mapping[str, Part],
    intervals: Intervals,
    macro: Mapping[str, MacroScore] | None = None,
    **first: object,
) -> list[dict[str, object]]:
    """Return a record for each level: the measures, their bounds, the counts."""
    found = []
    for level, part in parts.items():
        record: dict[str, object] = {"level": level, **first}
        values = {name: getattr(part, name) for name in _MEASURES if hasattr(part, name)}
        values |= macro[level].measures() if macro and level in macro else {}
        for name, value in values.items():
            record[name] = value
            if name in intervals.get(level, {}):
                interval = intervals[level][name]
                record |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
        found.append(record | dict(part.counts))
    return found


def short(parts: Mapping[str, Part], macro: Mapping[str, MacroScore]) -> str:
    """Return what matters of a score in a few words."""
    said = []
    for level, part in parts.items():
        ratios = [f"F1 {percent(part.f1)}"]
        if level in macro:
            ratios.append(f"macro {percent(macro[level].f1)}")
        if isinstance(part, LinkScore):
            ratios.append(f"AER {percent(part.aer)}")
        said.append(f"{LEVEL_NAMES[level]}: {', '.join(ratios)}")
    return "; ".join(said)


def breakdown_table(
    records: Sequence[Mapping[str, object]], *, title: str = "", note: str = ""
) -> Table:
    """Return the table of what `pair_records` or `group_records` gives, without the counts."""
    names = [
        key
        for key in dict.fromkeys(key for record in records for key in record)
        if not key.startswith(("hyp_", "ref_", "left_out_"))
        and not key.endswith(("_low", "_high", "_reason"))
        and "_in_" not in key
    ]
    columns = [
        Column(MEASURE_NAMES[name], "percent", key=name)
        if name in MEASURE_NAMES
        else guessed_column(name, [record.get(name) for record in records])
        for name in names
    ]
    rows = [[_cell(record, name) for name in names] for record in records]
    if any(record.get(key) for record in records for key in _LEFT.values()):
        columns.append(Column("left out (0/0)", key="left_out"))
        for row, record in zip(rows, records, strict=True):
            counts = {_MEASURES[name]: record.get(key) for name, key in _LEFT.items()}
            row.append(", ".join(f"{name} {count}" for name, count in counts.items() if count))
    return Table(title, columns, rows, note)


def _cell(record: Mapping[str, object], name: str) -> Cell:
    if name == "level":
        return LEVEL_NAMES[str(record[name])]
    value = cast(Cell, record.get(name))
    if f"{name}_low" not in record or not isinstance(value, float) or isnan(value):
        return value
    low, high = (cast(float, record[f"{name}_{end}"]) for end in ("low", "high"))
    return Value(value, low, high, str(record.get(f"{name}_reason", "")))


def comparison_table(comparisons: Iterable[Comparison], *, note: str = "") -> Table:
    """Return the table of how systems differ from each other, at which level."""
    columns = [
        Column("system"),
        Column("against", key="baseline"),
        Column("", key="level"),
        Column("measure"),
        Column("difference", "percent", signed=True),
        Column("p", "p", "bootstrap", key="bootstrap_p"),
        Column("Holm", "p", "bootstrap", key="bootstrap_holm"),
        Column("p", "p", "randomization", key="randomization_p"),
        Column("Holm", "p", "randomization", key="randomization_holm"),
    ]
    rows: list[list[Cell]] = [
        [
            row.system, row.baseline, LEVEL_NAMES.get(row.level, row.level),
            MEASURE_NAMES.get(row.measure, row.measure), _bounded(row.difference, row.interval),
            row.bootstrap_p, row.bootstrap_holm, row.randomization_p, row.randomization_holm,
        ]
        for row in comparisons
    ]  # fmt: skip
    note = "\n".join(filter(None, [_P_VALUES, note]))
    return Table("", columns, rows, note, stub=4)


def phrase_list_table(
    part: PhraseScore, intervals: Mapping[str, Interval], *, title: str, note: str
) -> Table:
    """Return the table of the score of a list of phrase pairs."""
    names = ("precision", "recall", "f1")
    columns = [*_measures(names), Column("occurrences", "count"), Column("gold", "count")]
    row = [*(_value(part, name, intervals) for name in names), *(part.counts[k] for k in _ATOMIC)]
    return Table(title, columns, [row], note, stub=0)


def _measures(names: Iterable[str]) -> list[Column]:
    return [Column(_MEASURES[name], "percent", key=name) for name in names]


def _value(part: Part, name: str, intervals: Mapping[str, Interval]) -> Cell:
    return _bounded(getattr(part, name), intervals.get(name)) if hasattr(part, name) else None


def _bounded(value: float, interval: Interval | None) -> Cell:
    if interval is None or isnan(value):
        return value
    return Value(value, interval.low, interval.high, interval.reason)


def percent(value: float) -> str:
    """Return a ratio as a percentage with one decimal, ``-`` where undefined."""
    return Column("", "percent").show(value).text


def left_out_pairs(skipped: int, pairs: int) -> tuple[str, ...]:
    """Say that sentence pairs are left out, beside those that were scored; nothing if none is."""
    if not skipped:
        return ()
    return (
        f"{skipped} of {how_many(skipped + pairs, 'sentence pair')} are left out, since one side "
        "lacks them or has not annotated them: the figures say nothing of them",
    )


def digest_of(ids: Iterable[str]) -> str:
    """Return a digest of the ids of sentence pairs, in their order."""
    digest = blake2b(digest_size=16)
    for id in ids:
        digest.update(id.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


@dataclass(frozen=True, repr=False)
class Score:
    """The scores of a corpus and what they were computed from.

    Printed, it is the table that the command prints; a notebook shows that table too.

    Parameters
    ----------
    links
        The measures of links, None where not asked for.
    phrases
        The measures of phrase pairs under ``"possible"`` (from all links) and ``"sure"``, or None.
    pairs
        How many sentence pairs were scored.
    skipped
        How many were left out because one side lacks them, or has not annotated them.
    signature
        All settings; print it beside the score.
    rows
        For each of `LEVELS` that was scored the counts of the sentence pairs, (P, 8) of links and
        (P, 5) of phrase pairs; empty where `keep_rows` was declined.
    intervals
        For each of `LEVELS` that was scored the intervals of its measures; empty until
        `with_intervals`.
    macro
        For each of `LEVELS` that was scored the averages over sentence pairs; empty unless
        `aggregate` asked for them.
    split
        The measures of ``"identical"`` and of ``"non-identical"`` links; empty unless
        `split_identical` asked for them.
    scored
        A digest of the ids of the pairs that were scored, by which comparisons know that they are
        the same; empty where there are no ids.
    suspicions
        What looks wrong in the alignments: base, direction, links that were dropped.
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
        """How the corpus is put together: ``"micro"``, ``"macro"`` or ``"both"``."""
        return self.signature.aggregate or "micro"

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know before one believes the figures."""
        few = few_pairs(self.pairs, drawn=bool(self.intervals))
        return (*self.suspicions, *left_out_pairs(self.skipped, self.pairs), *few)

    def with_intervals(
        self, *, resamples: int = 1000, confidence: float = 0.95, seed: int = SEED
    ) -> Score:
        """Return the score with bootstrap intervals; see `confidence_interval`."""
        check_arguments(Score.with_intervals, locals())
        check_drawing(resamples, confidence, seed)
        if not self.rows:
            raise OptionError(
                "intervals resample the counts of the pairs; score again with keep_rows=True"
            )
        intervals = level_intervals(
            self.rows, self.aggregate, resamples=resamples, confidence=confidence, seed=seed
        )
        signature = self.signature.drawn(resamples, confidence, seed)
        return replace(self, intervals=intervals, signature=signature)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if name in LinkScore.__dataclass_fields__ and "pairs" in self.__dict__:
                has = [one for one, part in self._places() if hasattr(part, name)]
                where = f"; say {' or '.join(f'score.{one}.{name}' for one in has)}" if has else ""
                raise AttributeError(f"a Score has no {name} as a whole{where}")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _places(self) -> list[tuple[str, Part]]:
        found: list[tuple[str, Part]] = [] if self.links is None else [("links", self.links)]
        return found + [(f"phrases[{name!r}]", one) for name, one in (self.phrases or {}).items()]

    def __repr__(self) -> str:
        return f"Score({how_many(self.pairs, 'pair')}; {short(self.parts(), self.macro)})"

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def parts(self) -> dict[str, Part]:
        """Return the measures of each of `LEVELS` that was scored."""
        found: dict[str, Part] = {} if self.links is None else {"links": self.links}
        found |= {f"links-{name}": part for name, part in self.split.items()}
        return found | {f"phrases-{name}": part for name, part in (self.phrases or {}).items()}

    @property
    def title(self) -> str:
        """On how many sentence pairs it was scored."""
        skipped = f", {self.skipped} left out (not annotated)" if self.skipped else ""
        return f"{how_many(self.pairs, 'sentence pair')}{skipped}"

    def table(self) -> Table:
        """Return the score as a table, to be shown in LaTeX, Markdown, HTML, ..."""
        table = self.bare_table(self.title)
        note = "\n".join(filter(None, [table.note, *self.cautions, str(self.signature)]))
        return replace(table, note=note)

    def bare_table(self, title: str) -> Table:
        """Return the same without cautions and signature, for a report of several tables."""
        return score_table(
            self.parts(), self.intervals, macro=self.macro, aggregate=self.aggregate, title=title
        )

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each of `LEVELS` that was scored, as a DataFrame takes them.

        It holds the level, how many pairs were scored and skipped, the measures (NaN where
        undefined), their bounds (``f1_low``, ``f1_high``) where computed, and the counts.
        """
        more = {"pairs": self.pairs, "skipped": self.skipped}
        return level_records(self.parts(), self.intervals, self.macro, **more)

    def to_json(self) -> dict[str, object]:
        """Return the score as JSON takes it: NaN is None, intervals only where computed."""
        parts = {level: self._part_json(level, part) for level, part in self.parts().items()}
        links = parts.get("links")
        if links is not None:
            links |= {name.replace("-", "_"): parts[f"links-{name}"] for name in self.split}
        found: dict[str, object] = {
            "links": links,
            "phrases": _phrases(parts),
            "pairs": self.pairs,
            "skipped": self.skipped,
            "signature": str(self.signature),
        }
        if self.intervals:
            plain = {
                level: {name: interval.to_json() for name, interval in part.items()}
                for level, part in self.intervals.items()
            }
            split = {name: plain[f"links-{name}"] for name in self.split}
            found["intervals"] = {
                "links": plain.get("links"),
                **{name.replace("-", "_"): part for name, part in split.items()},
                "phrases": _phrases(plain),
            }
        return found | ({"cautions": list(self.cautions)} if self.cautions else {})

    def _part_json(self, level: str, part: Part) -> dict[str, object]:
        found = part.to_json()
        if level in self.macro:
            macro = self.macro[level]
            found |= {
                "macro": macro.to_json(),
                "exact_match": none_if_nan(macro.exact_match),
                "exact_pairs": macro.exact_pairs,
            }
        return found


def _phrases(parts: Mapping[str, object]) -> dict[str, object] | None:
    """Return what is of phrase pairs, under the names of their links; None where nothing is."""
    found = {
        level.removeprefix("phrases-"): part
        for level, part in parts.items()
        if level.startswith("phrases-")
    }
    return found or None
