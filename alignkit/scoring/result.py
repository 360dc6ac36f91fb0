"""What a score found, and show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from alignkit.arguments import check_arguments
from alignkit.brief import how_many
from alignkit.errors import OptionError
from alignkit.report.table import Table
from alignkit.scoring.bootstrap import SEED, Interval, check_drawing, few_pairs
from alignkit.scoring.counts import Rows
from alignkit.scoring.level_intervals import level_intervals
from alignkit.scoring.macro import MacroScore
from alignkit.scoring.measures import LinkScore, PhraseScore, none_if_nan
from alignkit.scoring.score_table import Part, level_records, score_table, short
from alignkit.scoring.signature import Signature


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
