"""Show how far suggestions pull as tables."""

from __future__ import annotations

from math import isnan

from alignkit.annotate.pull.estimates import Estimate
from alignkit.annotate.pull.result import Pull, PullBin
from alignkit.report.agreement_rows import value
from alignkit.report.columns import Cell, Column
from alignkit.report.medium import Report
from alignkit.report.table import Table, get_medium
from alignkit.scoring.signature import Signature

_ARMS = {
    "split": "split by a coin",
    "bare": "bare of suggestions",
    "coin": "annotated once, by a coin",
    "shown": "outside the control sample",
}
_AGREEMENT = {
    "shown": "both saw suggestions",
    "split": "one saw suggestions",
    "bare": "neither did",
}


def pull_tables(pull: Pull) -> list[Table]:
    """Return the tables of a pull: the estimate, what became of suggestions, the agreement."""
    return [_estimates(pull), _fates(pull), _bins(pull), _agreement(pull)]


def pull_report(pull: Pull, medium: str = "text") -> str:
    """Return all tables, the cautions and the settings in a medium."""
    written = get_medium(medium)
    options = pull.options
    signature = Signature(
        links="all",
        level="pull",
        interval="bootstrap-strata",
        confidence=options.confidence,
        resamples=options.resamples,
        seed=options.seed,
    )
    tables = [table.sheet() for table in pull_tables(pull)]
    return written.report(Report(_head(pull), tables, pull.cautions, str(signature)))


def _head(pull: Pull) -> list[str]:
    shown = _signed("").show(_cell(pull.pull)).text
    counts = [
        f"{pull.pairs[arm]} {meaning}" + (f" ({pull.open[arm]} open)" if pull.open[arm] else "")
        for arm, meaning in _ARMS.items()
    ]
    return [f"Pull of suggestions: {shown} points of F1", f"Pairs done: {', '.join(counts)}"]


def _cell(estimate: Estimate) -> Cell:
    return value(estimate.value, estimate.interval)


def _signed(name: str, key: str = "") -> Column:
    return Column(name, "percent", signed=True, key=key)


def _estimates(pull: Pull) -> Table:
    columns = [
        Column("pairs annotated", key="sample"),
        Column("pairs", "count"),
        Column("left out", "count", key="left_out"),
        Column("shown", "percent"),
        Column("hidden", "percent"),
        _signed("pull"),
    ]
    samples = {
        "twice, split by a coin": (pull.shown, pull.hidden, pull.pull),
        "once, by a coin": (pull.coin["shown"], pull.coin["hidden"], pull.coin["pull"]),
    }
    rows = [
        [name, estimate[-1].pairs, estimate[-1].left_out, *map(_cell, estimate)]
        for name, estimate in samples.items()
    ]
    least = f" of {pull.options.least:g} and more" if pull.options.least else ""
    return Table(
        f"F1 of annotators' links with the suggestions{least}, shown and hidden",
        columns,
        rows,
        f"Intervals of {100 * pull.options.confidence:g} % by a bootstrap over pairs within "
        "strata. Left out: pairs without suggestions.",
    )


def _fates(pull: Pull) -> Table:
    columns = [
        Column("suggestions seen", "count", key="suggestions"),
        Column("accepted", "percent"),
        Column("rejected", "percent"),
    ]
    row = [pull.suggestions, _cell(pull.accepted), _cell(pull.rejected)]
    return Table(
        "What became of suggestions",
        columns,
        [row],
        "Accepted: linked in the end. Rejected: put aside, and not linked.",
        stub=0,
    )


def _bins(pull: Pull) -> Table:
    columns = [
        Column("probability"),
        Column("suggestions", "count"),
        Column("taken", "percent"),
        Column("drawn unseen", "percent", key="unseen"),
        _signed("pull"),
    ]
    rows = [
        [
            _span(part) if k else "all",
            part.suggestions,
            *map(_cell, (part.taken, part.unseen, part.pull)),
        ]
        for k, part in enumerate(pull.bins)
    ]
    return Table(
        "Suggestions on split pairs, linked by who saw them and who did not", columns, rows
    )


def _span(part: PullBin) -> str:
    if isnan(part.low):
        return "unknown"
    return f"{part.low:g} to {'' if part.high == 1 else 'below '}{part.high:g}"


def _agreement(pull: Pull) -> Table:
    columns = [
        Column("suggestions", key="arm"),
        Column("pairs", "count"),
        Column("left out", "count", key="left_out"),
        Column("F1", "percent", key="f1"),
        _signed("less neither", key="excess"),
    ]
    rows: list[list[Cell]] = [
        [
            name,
            pull.agreement[arm].pairs,
            pull.agreement[arm].left_out,
            _cell(pull.agreement[arm]),
            _cell(pull.excess[arm]) if arm in pull.excess else None,
        ]
        for arm, name in _AGREEMENT.items()
    ]
    return Table(
        "F1 between two annotators, mean over pairs",
        columns,
        rows,
        "Left out: pairs on which nobody drew anything.",
    )
