"""Draw an agreement as one self-contained HTML page, from the template `page.html.j2`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import isnan
from typing import TYPE_CHECKING, Any

from alignkit._support.arguments import check_arguments
from alignkit.agreement.chance.models import CHANCE_MODELS
from alignkit.agreement.result import Agreement, Pairing
from alignkit.agreement.show.differences import (
    PairDifference,
    draw_pairs,
    further_table,
    word_table,
)
from alignkit.agreement.show.disagreements import disagreements
from alignkit.agreement.show.media import agreement_head, agreement_tables
from alignkit.agreement.show.plots import (
    chance_plots,
    edit_plots,
    interval_plots,
    kinds_plot,
    model_plots,
    sentence_plots,
)
from alignkit.scoring.link_classes import FunctionWords
from alignkit.show.cells import letters
from alignkit.show.html import page_template
from alignkit.tables.media import CARE, style_sheet

if TYPE_CHECKING:
    from jinja2 import Template


SECTIONS = {
    "overview": "Overview",
    "tables": "Tables",
    "reading": "How to read this",
    "chance-models": "Models of chance",
    "sentences": "Agreement by sentence pair",
    "edit-models": "Edit models",
    "chance-samples": "Agreement by chance",
    "disagreements": "Disagreements",
    "more": "How many more pairs",
    "matrices": "Sentence pairs",
    "settings": "Settings",
}
"""The sections of the page, by their anchors; no table has one of these."""

_MOST_PAIRINGS = 6
_NO_WORDS = "The words of these sentence pairs are not known"


def agreement_page(
    agreement: Agreement, *, title: str | None = None, function_words: FunctionWords | None = None
) -> str:
    """Return the page as one text; see `draw_agreement_page`."""
    return "".join(draw_agreement_page(agreement, title=title, function_words=function_words))


def draw_agreement_page(
    agreement: Agreement, *, title: str | None = None, function_words: FunctionWords | None = None
) -> Iterator[str]:
    """Draw a page of all annotators that needs neither network nor script."""
    check_arguments(draw_agreement_page, locals())
    context = {
        **_words(agreement, title),
        **_figures(agreement),
        **_differences(agreement, function_words),
    }
    yield from _template().generate(context)


@cache
def _template() -> Template:
    return page_template("page.html.j2", letters=letters)


def _words(agreement: Agreement, title: str | None) -> dict[str, Any]:
    """Return what the page says and lists."""
    options = agreement.options
    *others, last = agreement.annotators
    models = dict.fromkeys(one.chance for one in agreement.of("annotators") if one.beyond)
    says = "; ".join(CHANCE_MODELS[name].description for name in models)
    return {
        "title": title or f"Agreement of {', '.join(others)} and {last}",
        "style": "".join(map(style_sheet, ("matrix", "drawings", "table", "page"))),
        "head": [line.strip() for line in agreement_head(agreement)],
        "care": CARE,
        "cautions": agreement.cautions,
        "sections": SECTIONS.items(),
        "tables": agreement_tables(agreement),
        "chance_says": says or "what two who know nothing of each other would share",
        "micro": options.aggregate == "micro",
        "normalizer": options.normalizer,
        "reading": options.reading,
        "intervals": options.bootstrap != "none",
        "settings": list(_settings(agreement)),
        "signature": agreement.signature,
        "several": len(agreement.of("annotators")) > 1,
        "beyond": any(one.beyond for one in agreement.pairings),
        "no_beyond": f"{_NO_WORDS}: there is no agreement beyond chance.",
    }


def _settings(agreement: Agreement) -> Iterator[tuple[str, object]]:
    """Yield the settings that matter, by name."""
    options = dict(vars(agreement.options))
    models = dict.fromkeys(one.chance for one in agreement.of("annotators") if one.beyond)
    levels = (level for one in agreement.pairings for level in one.beyond.values())
    if not any(found.samples for level in levels for found in level.values()):
        for name in ("reading", "samples", "tolerance", "missing_initial"):
            options.pop(name)
    if options["bootstrap"] == "none":
        for name in ("resamples", "confidence"):
            options.pop(name)
    settings = {
        "annotators": ", ".join(agreement.annotators),
        "initial alignment": agreement.initial,
        "adjudicated version": agreement.adjudicated,
        "automatic alignments": ", ".join(agreement.systems),
        "groups": agreement.by,
        "values divided by": agreement.split,
        **{name.replace("_", " "): value for name, value in options.items()},
        "chance": ", ".join(models),
        "seed": agreement.seed,
    }
    for name, value in settings.items():
        if isinstance(value, bool):
            yield name, "yes" if value else "no"
        elif value not in (None, ""):
            yield name, value


def _figures(agreement: Agreement) -> dict[str, Any]:
    """Return the figures; histograms of those pairings first whose F1 is lowest."""
    known = [one for one in agreement.of("annotators") if one.chance in one.beyond]
    known.sort(key=_likeness)
    drawn = known[:_MOST_PAIRINGS]
    sentences = [(one.name, list(sentence_plots(f"sentences-{k}", one)))
                 for k, one in enumerate(drawn)]  # fmt: skip
    samples = [(one.name, list(chance_plots(f"chance-{k}", one))) for k, one in enumerate(drawn)]
    return {
        "overview": list(interval_plots(agreement)),
        "models": list(model_plots(agreement)),
        "sentences": [one for one in sentences if one[1]],
        "samples": [one for one in samples if one[1]],
        "unshown": len(known) - len(drawn),
        "edits": list(edit_plots(agreement)),
    }


def _likeness(pairing: Pairing) -> float:
    """Return the F1 of all words; those without one come last."""
    value = pairing.sections[0].figures.get("words.possible.f1", 2.0)
    return 2.0 if isnan(value) else value


def _differences(agreement: Agreement, function_words: FunctionWords | None) -> dict[str, Any]:
    """Return where every two annotators differ, those who differ most first."""
    corpus = agreement.corpus
    found: list[PairDifference] = []
    known = all(pair.has_text for pair in corpus)
    if known:
        for pairing in sorted(agreement.of("annotators"), key=_likeness):
            if not pairing.sections[0].pairs:
                continue
            counts = disagreements(
                corpus,
                pairing.first,
                pairing.second,
                function_words=function_words,
                exact_case=agreement.options.exact_case,
            )
            kinds = kinds_plot(f"kinds-{len(found)}", counts)
            found.append(PairDifference(pairing, counts, kinds, word_table(counts)))
    return {
        "differences": found,
        "matrices": list(draw_pairs(corpus, found)),
        "more": further_table(agreement),
        "no_words": "No two annotators have a sentence pair in common."
        if known
        else f"{_NO_WORDS}: nothing can be drawn.",
    }
