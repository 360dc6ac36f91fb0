"""The table of schemes by which sentence pairs are judged.

References
----------
Kanerva et al. (2021), Finnish Paraphrase Corpus, NoDaLiDa: `turku`.

He, Wang, Zhang, Huang & Caverlee (2020), PARADE: A New Dataset for Paraphrase Identification
Requiring Computer Science Domain Knowledge, EMNLP: `parade`, `parade-votes`.
"""

from __future__ import annotations

from alignkit.errors import UnknownNameError
from alignkit.labels.scheme import Flag, Label, Scheme

DEFAULT = "paraphrase"

REMARKS = (
    Flag("unsure", "Unsure", "The annotator doubts the judgment or the links."),
    Flag("typing-error", "Typing error", "A word is misspelt, missing or doubled."),
    Flag("bad-split", "Bad split", "The words or the sentences are divided at a wrong place."),
)
"""Flags that stand beside any judgment, and without one; they are no part of its text."""

_PARAPHRASE = Scheme(
    "paraphrase",
    "Whether the two sentences say the same; of translations, whether one translates the other.",
    (
        Label("paraphrase", "Paraphrase", "Both say the same, in other words or another language."),
        Label("partial", "Partly", "They share the main message, but one says more, or other."),
        Label("none", "Not one", "They do not say the same, however alike they look."),
    ),
    order=("none", "partial", "paraphrase"),
    views=("full", "binary"),
)

_TURKU = Scheme(
    "turku",
    "How far two texts are paraphrases of each other: the labels of the Turku Paraphrase Corpus.",
    (
        Label("1", "1 unrelated", "The texts have nothing to do with each other."),
        Label("2", "2 related", "They are about the same, but are no paraphrases."),
        Label("3", "3 in context", "Paraphrases where they stand, but not in general."),
        Label("4", "4 paraphrase", "Paraphrases in every context, or nearly every one."),
        Label("x", "x skip", "Not judged, for example because a text is broken."),
    ),
    order=("1", "2", "3", "4"),
    flags=(
        Flag("<", "< first more general", "Text 1 says less than text 2.", ("4",), (">",)),
        Flag(">", "> second more general", "Text 2 says less than text 1.", ("4",), ("<",)),
        Flag("i", "i minor deviation", "They differ in a small thing, as in number.", ("4",)),
        Flag("s", "s style", "They differ in tone or style.", ("4",)),
    ),
    source="Kanerva et al. 2021",
    exchanged=(("<", ">"),),
    unscored=("x",),
    views=("full", "base+subsumption", "base", "binary", "strict", "retrieval"),
)

_PARADE = Scheme(
    "parade",
    "How far two definitions are paraphrases, in four grades; 2 and 3 count as paraphrases.",
    (
        Label("0", "0", "The lowest grade: no paraphrase at all."),
        Label("1", "1", "Low: counts as no paraphrase."),
        Label("2", "2", "High: counts as a paraphrase."),
        Label("3", "3", "The highest grade: a full paraphrase."),
    ),
    order=("0", "1", "2", "3"),
    source="He et al. 2020, the paper",
    views=("full", "binary"),
)

_PARADE_VOTES = Scheme(
    "parade-votes",
    "How many of three experts call two definitions paraphrases; 2 and 3 are a majority.",
    (
        Label("0", "0 of 3", "No expert calls them paraphrases."),
        Label("1", "1 of 3", "One expert calls them paraphrases."),
        Label("2", "2 of 3", "Two experts call them paraphrases."),
        Label("3", "3 of 3", "All three experts call them paraphrases."),
    ),
    order=("0", "1", "2", "3"),
    source="He et al. 2020, the data",
    views=("full", "binary"),
)

_BINARY = Scheme(
    "binary",
    "Whether two texts are paraphrases.",
    (
        Label("0", "No paraphrase", "They do not say the same."),
        Label("1", "Paraphrase", "They say the same."),
    ),
    order=("0", "1"),
    views=("full", "binary"),
)

_ENTAILMENT = Scheme(
    "entailment",
    "What follows from what: whether the one sentence is true where the other is.",
    (
        Label("equivalence", "Equivalence", "Each follows from the other."),
        Label("forward", "Forward", "The target follows from the source, but not the other way."),
        Label("reverse", "Reverse", "The source follows from the target, but not the other way."),
        Label("contradiction", "Contradiction", "They cannot both be true."),
        Label("neutral", "Neutral", "Neither follows from the other, nor excludes it."),
    ),
    exchanged=(("forward", "reverse"),),
)

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (_PARAPHRASE, _TURKU, _PARADE, _PARADE_VOTES, _BINARY, _ENTAILMENT)
}
"""All schemes by name; `DEFAULT` is what the annotation page offers unless told otherwise."""


def get_scheme(name: str = DEFAULT) -> Scheme:
    """Return a scheme.

    Examples
    --------
    >>> get_scheme("entailment").order is None
    True
    """
    if name not in SCHEMES:
        raise UnknownNameError("scheme", name, SCHEMES)
    return SCHEMES[name]
