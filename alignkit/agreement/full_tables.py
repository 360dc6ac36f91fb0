"""Lay the article's report out as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from textwrap import fill

from alignkit.agreement.cautions import LEVEL_NAMES, cautions
from alignkit.agreement.chance import CHANCE_MODELS
from alignkit.agreement.corrected_result import CorrectedSection
from alignkit.agreement.corrected_settings import CorrectedSettings
from alignkit.agreement.edit_model import EditModel
from alignkit.agreement.full import (
    ADJUDICATED,
    ANNOTATORS,
    AUTOMATIC,
    CONSENSUS,
    LEVELS,
    FullAgreement,
    Pairing,
)
from alignkit.agreement.full_records import statistics
from alignkit.agreement.grid import Grid, decimal, percent
from alignkit.arguments import check_arguments
from alignkit.visible import visible

__all__ = ["agreement_tables", "render_full"]

_RATIOS = {"P": "precision", "R": "recall", "F1": "f1"}
_UNITS = {"phrases": "Phrase pairs", "links": "Words"}
_WIDTH = 100
_SAID = """\
C is 1 where all that is marked agrees and 0 where it agrees as by chance; pi is what was observed
and pi0 what chance gives. Kappa and AC1 judge every cell, of which {prevalence}% are linked; alpha
(MASI) compares the set of target words of each source word. These three count equal words too."""


@dataclass(frozen=True)
class _Figures:
    """Hold what a cell of a table shows, for a pairing or as a mean over some."""

    pairs: int | None
    used: int | None
    values: Mapping[str, float]
    bounds: tuple[float, float] | None


def agreement_tables(full: FullAgreement) -> list[Grid]:
    """Return the tables: phrases, words, human ~ automatic, the statistics side by side, ..."""
    tables = [_main(full, ANNOTATORS, unit) for unit in _UNITS]
    if full.of(AUTOMATIC):
        tables.append(_main(full, AUTOMATIC, "phrases"))
    if full.settings is not None:
        tables.append(_side_by_side(full))
        tables += [_settled(full, kind) for kind in (ADJUDICATED, CONSENSUS) if full.of(kind)]
        if full.settings.sampled:
            tables.append(_edits(full))
    return tables


def render_full(full: FullAgreement) -> str:
    """Return the report as text; what is undefined is "-", and said why below the tables."""
    check_arguments(render_full, locals())
    blocks = [_head(full), *map(str, agreement_tables(full))]
    notes = cautions(full)
    if notes:
        lines = (fill(f"- {visible(note)}", _WIDTH, subsequent_indent="  ") for note in notes)
        blocks.append("\n".join(["Read with care", *lines]))
    return "\n\n".join([*blocks, full.signature]) + "\n"


def _head(full: FullAgreement) -> str:
    overall = full.report.overall
    pairs = "pair" if overall.pairs == 1 else "pairs"
    names = visible(", ".join(full.report.annotators))
    lines = [
        f"Agreement of {names}: {overall.pairs} sentence {pairs}, "
        f"{overall.used} annotated by two or more"
    ]
    lines += [f"  {count} {visible(reason)}" for reason, count in overall.left_out.items()]
    if full.settings is not None:
        chance = CHANCE_MODELS[full.settings.chance].description
        initial = visible(full.settings.initial or "empty")
        start = f"; initial alignment: {initial}"
        lines.append(f"Chance: {chance}{start if full.settings.sampled else ''}")
        lines += _certainty(full, full.settings)
    return "\n".join(lines)


def _certainty(full: FullAgreement, settings: CorrectedSettings) -> Iterator[str]:
    if settings.bootstrap != "none":
        models = ", edit models refitted" if settings.bootstrap == "refit" else ""
        yield f"In brackets: {100 * settings.confidence:g}% of bootstrap resamples of pairs{models}"
    if settings.sampled:
        found = [result for one in full.of(ANNOTATORS) for result in one.corrected.values()]
        errors = [one.C_error for one in found if not isnan(one.C_error)]
        error = f"; standard error of C at most {max(errors):.2g}" if errors else ""
        drawn = sorted({one.samples for one in found if one.samples})
        span = (
            "-".join(str(number) for number in dict.fromkeys((drawn[0], drawn[-1])))
            if drawn
            else "0"
        )
        yield f"Samples of each pair: {span}{error}"


def _main(full: FullAgreement, kind: str, unit: str) -> Grid:
    """Return the article's table of one unit: a row for each group, for each two, and for all."""
    levels = [f"{unit}-{links}" for links in ("possible", "sure")]
    rows = list(_rows(full, kind, levels))
    headings: list[tuple[str, str]] = []
    body: list[list[str]] = [[] for _ in rows]
    for level, span in zip(levels, ("poss", "sure"), strict=True):
        for name in (*_RATIOS, *(["C"] if full.settings else [])):
            show = _with_bounds if name == "C" else _percent(name)
            headings.append((span, name))
            for line, (_, figures) in zip(body, rows, strict=True):
                line.append(show(figures[level]))
    labels = [(label, _counted(figures[levels[0]])) for label, figures in rows]
    return Grid(_title(full, kind, unit), headings, labels, body)


def _title(full: FullAgreement, kind: str, unit: str) -> str:
    identical = "included" if full.report.include_identical else "left out"
    title = f"{_UNITS[unit]}, identical ones {identical}; the second is the reference"
    if kind == AUTOMATIC:
        title = f"Human ~ automatic: {title[0].lower()}{title[1:]}"
        if full.settings is not None:
            title += f"; chance here: {full.chance(kind)}"
    return title


def _rows(
    full: FullAgreement, kind: str, levels: Sequence[str]
) -> Iterator[tuple[str, dict[str, _Figures]]]:
    found = full.of(kind)
    for place, name in enumerate(full.sections):
        if place:
            yield name or "(none)", {level: _mean(found, level, place) for level in levels}
    several = len(found) > 1
    for one in found:
        label = f"{one.first} ~ {one.second}" if several or len(full.sections) == 1 else "all"
        yield label, {level: _mean([one], level, 0) for level in levels}
    if several:
        yield "mean", {level: _mean(found, level, 0) for level in levels}


def _mean(found: Sequence[Pairing], level: str, place: int) -> _Figures:
    """Average over pairings, by the sentence pairs that both annotated or (C) that are used."""
    weighted: dict[str, list[tuple[int, float]]] = {}
    for one in found:
        row, overlap = one.row(level, place), one.overlaps[place]
        if row is not None and overlap is not None:
            for name, key in _RATIOS.items():
                weighted.setdefault(name, []).append((overlap.pairs, getattr(row, key)))
        if one.corrected:
            part = _section(one, level, place)
            for name in ("pi", "pi0", "C"):
                weighted.setdefault(name, []).append((part.used, getattr(part, name)))
    values = {name: _average(terms) for name, terms in weighted.items()}
    if len(found) > 1:
        return _Figures(None, None, values, None)
    (one,), overlap = found, found[0].overlaps[place]
    chance = _section(one, level, place) if one.corrected else None
    interval = chance.interval if chance else None
    return _Figures(
        overlap.pairs if overlap else 0,
        chance.used if chance else None,
        values,
        (interval.low, interval.high) if interval else None,
    )


def _counted(figures: _Figures) -> str:
    return "" if figures.pairs is None else str(figures.pairs)


def _average(terms: Sequence[tuple[int, float]]) -> float:
    known = [(weight, value) for weight, value in terms if not isnan(value)]
    total = sum(weight for weight, _ in known)
    return sum(weight * value for weight, value in known) / total if total else nan


def _section(one: Pairing, level: str, place: int) -> CorrectedSection:
    result = one.corrected[level]
    return result.groups[place - 1] if place else result


def _percent(name: str) -> Callable[[_Figures], str]:
    return lambda figures: percent(figures.values.get(name, nan))


def _with_bounds(figures: _Figures) -> str:
    value = figures.values.get("C", nan)
    if isnan(value) or figures.bounds is None or isnan(figures.bounds[0]):
        return decimal(value)
    low, high = figures.bounds
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def _side_by_side(full: FullAgreement) -> Grid:
    """Return all statistics of every two annotators."""
    twos = full.of(ANNOTATORS)
    chosen = [(f"{one.first} ~ {one.second}, ", [one]) for one in twos]
    if len(twos) > 1:
        chosen.append(("mean, ", twos))
    else:
        chosen = [("", twos)]
    names = ("F1", "pi", "pi0", "C", "kappa", "AC1", "alpha")
    labels, body = [], []
    for label, found in chosen:
        for level, name in LEVEL_NAMES.items():
            figures = _mean(found, level, 0)
            other = [statistics(full, one, 0, level) for one in found]
            weights = [one.overlaps[0].pairs if one.overlaps[0] else 0 for one in found]
            labels.append((label + name, "" if figures.used is None else str(figures.used)))
            cells = [decimal(figures.values.get(name, nan)) for name in names[:4]]
            for key in ("kappa", "ac1", "alpha"):
                terms = [(w, part[key]) for w, part in zip(weights, other, strict=True) if part]
                cells.append(decimal(_average(terms)) if terms else "")
            body.append(cells)
    headings = [("", name) for name in names]
    return Grid("Side by side; pairs: those that C uses", headings, labels, body, _explain(full))


def _explain(full: FullAgreement) -> str:
    mean = full.report.overall.mean
    shares = [mean.get(f"cells.{links}.prevalence", nan) for links in ("possible", "sure")]
    text = _SAID.format(prevalence="/".join(map(percent, shares)))
    fleiss = full.report.overall.fleiss
    if fleiss is not None:
        text += f"\nFleiss' kappa of all annotators: {decimal(fleiss.kappa)}, {fleiss.items} items"
    return text


def _settled(full: FullAgreement, kind: str) -> Grid:
    """Return F1 and C of every annotator with what was agreed on."""
    found = full.of(kind)
    title = "Each annotator with the majority of the others"
    if kind == ADJUDICATED:
        title = f"Each annotator with the adjudicated version, {full.adjudicated}"
    headings = [(name, column) for name in LEVEL_NAMES.values() for column in ("F1", "C")]
    labels, body = [], []
    for one in found:
        cells = {level: _mean([one], level, 0) for level in LEVELS}
        labels.append((one.first, _counted(cells["phrases-sure"])))
        body.append(
            [
                show(cells[level])
                for level in LEVEL_NAMES
                for show in (_percent("F1"), lambda cell: decimal(cell.values.get("C", nan)))
            ]
        )
    return Grid(title, headings, labels, body)


def _edits(full: FullAgreement) -> Grid:
    """Return the edit models of every annotator: what chance is made of."""
    reading = full.settings.reading if full.settings else ""
    linear = "expected edits" if reading == "count" else "probability of an edit"
    title = f"Edits of the initial alignment, and the edit models: {linear} = a + b (N + M)"
    headings = [("", name) for name in ("edits", "of cells", "a", "b")]
    labels, body = [], []
    for links, name in (("possible", "poss"), ("sure", "sure")):
        found: dict[str, Mapping[str, EditModel]] = {}
        for one in full.of(ANNOTATORS):
            found |= one.corrected[f"phrases-{links}"].models
        for who, models in found.items():
            for part, model in models.items():
                labels.append(
                    (f"{who}, {name}{'' if part == 'edit' else f', {part}'}", str(model.pairs))
                )
                edits, cells = int(model.data.edits.sum()), int(model.data.trials.sum())
                constants = (
                    f"{value:.4g}" if not isnan(value) else "-" for value in (model.a, model.b)
                )
                body.append([str(edits), str(cells), *constants])
    return Grid(title, headings, labels, body)
