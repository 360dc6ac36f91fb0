"""Rank phenomena within systems and systems over phenomena, and say which are told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from alignkit.arguments import check_arguments
from alignkit.brief import how_many
from alignkit.profiles.findings import Findings, Picture
from alignkit.profiles.friedman import Friedman, friedman
from alignkit.profiles.measured import Measured
from alignkit.report.columns import Cell, Column, Value
from alignkit.report.rank_plots import cd_diagram, heat_map
from alignkit.report.table import Table
from alignkit.version import __version__

FEW_HOLD = 10
"""A phenomenon that fewer sentence pairs hold is shown, but neither tested nor ranked."""

_WHOLE = ("overall", "total", "all", "average", "mean")


@dataclass(frozen=True, eq=False)
class Ranking(Findings):
    """The ranks of phenomena and of systems.

    Parameters
    ----------
    measured
        What was ranked.
    phenomena
        Friedman's test of the phenomena, each system a block.
    systems
        That of the systems, each phenomenon a block.
    missing
        The phenomena left out because a value is missing.
    few
        Those left out because fewer than `FEW_HOLD` sentence pairs hold them.
    """

    measured: Measured
    phenomena: Friedman
    systems: Friedman
    missing: tuple[str, ...] = ()
    few: tuple[str, ...] = ()

    @property
    def head(self) -> Sequence[str]:
        """What was ranked."""
        what = self.measured.measure or "a printed measure"
        kept = how_many(len(self.phenomena.names), "phenomenon", "phenomena")
        best = "lowest" if self.measured.lower_is_better else "highest"
        said = (
            f"{what} of {how_many(len(self.systems.names), 'system')} on {kept}; "
            f"rank 1 is the {best}"
        )
        return said, *([self.measured.read_as] if self.measured.pairs is None else [])

    @property
    def cautions(self) -> Sequence[str]:
        """Why a test may say too much, and what was left out of it."""
        return tuple(self._cautions())

    def _cautions(self) -> Iterator[str]:
        if self.measured.pairs is None:
            yield (
                "how many sentence pairs hold each phenomenon is not known, so all rows are "
                "ranked; rows of a few pairs rank by luck"
            )
            yield from self.measured.doubts()
        for names, why in (
            (self.few, f"fewer than {FEW_HOLD} pairs"),
            (self.missing, "a value missing"),
        ):
            if names:
                left = how_many(len(names), "phenomenon is", "phenomena are")
                yield f"{left} not ranked, with {why}: {', '.join(names)}"
        for name in self.phenomena.names:
            if name.casefold().split(maxsplit=1)[:1] and name.casefold().split()[0] in _WHOLE:
                yield f"the row {name!r} may be no phenomenon; if so, leave it out"
        for what, on, one in (
            ("system", ("phenomenon", "phenomena"), self.systems),
            ("phenomenon", ("system",), self.phenomena),
        ):
            if why := one.too_few:
                ranked = how_many(len(one.names), what, "phenomena" if on == ("system",) else "")
                yield (
                    f"nothing can be told by the ranks of {ranked} on "
                    f"{how_many(one.blocks, *on)}: {why}"
                )
        if not (self.systems.reason and self.phenomena.reason):
            yield (
                "Friedman's test takes blocks for independent: systems trained on the same data, "
                "and phenomena that overlap, are not, so p is too small"
            )

    @property
    def settings(self) -> str:
        """The settings behind the numbers."""
        return f"test:friedman|after:nemenyi|alpha:{self.systems.alpha}|version:{__version__}"

    def tables(self) -> Sequence[Table]:
        """Return the tests, the two rankings, and the pairs of systems told apart."""
        return [
            self._tests(),
            _ranks("Systems, ranked over phenomena", "system", "systems", self.systems),
            _ranks("Phenomena, ranked within systems", "phenomenon", "phenomena", self.phenomena),
        ]

    def images(self) -> Iterator[Picture]:
        """Yield a critical difference diagram of the systems, and the heat map."""
        two = self.systems
        if not two.reason:
            yield Picture(
                "Mean ranks of the systems, 1 the best; a bar joins those that are not told apart",
                cd_diagram(two.ranking, two.groups(), two.critical_difference),
            )
        one = self.measured.worst_first()
        rows = "the phenomenon with the worst mean first"
        yield Picture(
            f"{one.measure or 'Values'} by phenomenon and system, {rows}; the higher, the darker",
            heat_map(one.phenomena, one.systems, one.values, one.measure),
        )

    def _tests(self) -> Table:
        columns = [
            Column("ranked"),
            Column("number", "count"),
            Column("blocks", "count"),
            Column("chi2", "decimal"),
            Column("without correction for ties", "decimal", key="uncorrected"),
            Column("p", "number", digits=4),
            Column("critical difference", "decimal", key="critical_difference"),
            Column("pairs apart", "count", key="apart"),
            Column("of pairs", "count", key="pairs"),
        ]
        rows: list[list[Cell]] = [
            [
                name, len(one.names), one.blocks, Value(one.statistic, reason=one.reason),
                one.uncorrected, one.p_value,
                one.critical_difference, len(one.beyond()), one.pairs,
            ]
            for name, one in (("systems", self.systems), ("phenomena", self.phenomena))
        ]  # fmt: skip
        note = "chi2: Friedman's, corrected for ties"
        return Table("Do ranks differ?", columns, rows, note, "tests")


def _ranks(title: str, what: str, anchor: str, found: Friedman) -> Table:
    apart = Counter(name for better, other, _ in found.beyond() for name in (better, other))
    columns = [
        Column(what),
        Column("mean rank", "decimal", key="mean_rank", digits=2),
        Column("apart from", "count", key="apart_from"),
    ]
    rows: list[list[Cell]] = [[name, mean, apart[name]] for name, mean in found.ranking]
    note = (
        "apart from: how many others are further away than the critical difference, "
        f"{found.critical_difference:.3f}"
    )
    return Table(title, columns, rows, "" if found.reason else note, anchor)


def rank(measured: Measured, *, alpha: float = 0.05) -> Ranking:
    """Rank phenomena and systems by Friedman's test, with Nemenyi's critical differences.

    Parameters
    ----------
    measured
        A measure of systems on phenomena; phenomena with a value missing, or that fewer than
        `FEW_HOLD` pairs are known to hold, are left out.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[.8, .7], [.9, .8], [.6, .5]])
    >>> found = rank(Measured(("idiom", "number", "tense"), ("giza", "eflomal"), values))
    >>> found.systems.ranking, found.phenomena.ranking[0]
    ([('giza', 1.0), ('eflomal', 2.0)], ('number', 1.0))
    """
    check_arguments(rank, locals())
    few, missing, kept = list[str](), list[str](), list[int]()
    for k, name in enumerate(measured.phenomena):
        if measured.pairs is not None and measured.pairs[k] < FEW_HOLD:
            few.append(name)
        elif any(isnan(value) for value in measured.values[k]):
            missing.append(name)
        else:
            kept.append(k)
    table = measured.values[np.array(kept, np.int64)]
    lower = measured.lower_is_better
    names = [measured.phenomena[k] for k in kept]
    return Ranking(
        measured,
        friedman(table.T, names, alpha=alpha, lower_is_better=lower),
        friedman(table, measured.systems, alpha=alpha, lower_is_better=lower),
        tuple(missing),
        tuple(few),
    )
