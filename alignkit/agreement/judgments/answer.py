"""The answer of an agreement on judgments: a paragraph that can be quoted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from alignkit._support.wording import how_many, visible
from alignkit.agreement.names import listed

if TYPE_CHECKING:
    from alignkit.agreement.figures import Figure
    from alignkit.agreement.judgments.options import JudgmentOptions

_DOMINATES = 0.9  # a label with this share of all judgments is named


def kappa_name(weights: str) -> str:
    """Return how a text calls the kappa of two annotators."""
    return "Cohen's kappa" if weights == "nominal" else f"Cohen's kappa with {weights} weights"


def ac1_name(weights: str) -> str:
    """Return how a table calls AC1, which with weights is Gwet's AC2."""
    return "AC1" if weights == "nominal" else f"AC1, {weights}"


def answer_sentences(
    annotators: Sequence[str],
    pairs: int,
    all_figures: Sequence[Figure],
    shares: Mapping[str, float],
    options: JudgmentOptions,
) -> Iterator[str]:
    """Yield the sentences: who judged what, kappa of every two, alpha, and what is rare.

    They are about the first view; `shares` are those of its labels.
    """
    view = options.views[0]
    who = listed([visible(name) for name in annotators])
    labels = view.scheme.name
    if view.name != "full":
        labels += f", {view.name}"
    yield f"{who} judged {how_many(pairs, 'pair')} by the labels of {visible(labels)}."
    level = f"judgments.{view.name}"
    figures = {figure.at: figure for figure in all_figures}
    two = []
    for figure in all_figures:
        place = (figure.kind, figure.section, figure.level, figure.statistic)
        if place == ("pairing", "all", level, "kappa"):
            two.append(figure)
    name = kappa_name(options.weights)
    if len(two) == 1:
        yield f"{name} is {_shown(two[0])}."
    else:
        yield _several(name, two, figures["mean", "", "", "all", level, "kappa"])
    ordinal = options.weights != "nominal" and view.order is not None
    alpha = "ordinal" if ordinal else "nominal"
    of_all = figures["joint", "", "", "all", level, f"alpha.{alpha}"]
    yield f"Krippendorff's alpha ({alpha}) is {_shown(of_all)}."
    yield f"In brackets: {100 * options.confidence:g}% intervals from resamples of the pairs."
    for label, share in shares.items():
        if share >= _DOMINATES:
            yield (
                f"{100 * share:.1f}% of all judgments are {visible(label)}, so kappa and alpha are "
                "low even if few judgments differ."
            )


def _several(name: str, two: list[Figure], mean: Figure) -> str:
    """Return the sentence about the kappas of every two of several annotators."""
    known = [figure.value for figure in two if not isnan(figure.value)]
    if not known:
        return f"For every two of them, {name} is undefined: {two[0].reason}."
    low = min(known)
    high = max(known)
    text = f"For every two of them, {name} is {low:.3f} to {high:.3f}, on average {_shown(mean)}"
    if len(known) < len(two):
        text += f"; it is undefined for {len(two) - len(known)} of {len(two)} couples"
    return f"{text}."


def _shown(figure: Figure) -> str:
    """Return a figure with its interval, or why it is undefined."""
    if isnan(figure.value):
        return f"undefined: {figure.reason}"
    if isnan(figure.low):
        return f"{figure.value:.3f} (no interval: {figure.reason})"
    return f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"
