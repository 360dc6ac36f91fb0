"""Make rows for training from judged pairs: to classify pairs, or to generate paraphrases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from alignkit.errors import FormatError, JudgmentError, OptionError, UnknownNameError
from alignkit.labels.rewrites import origin_of
from alignkit.labels.views import View
from alignkit.sentence_pair import SentencePair

KINDS = {
    "plain": "each pair once",
    "classification": "each pair in both orders, its label flipped",
    "generation": "a text and a paraphrase of it, in each direction that the label allows",
}

# what says the same, to be generated both ways; and where the target is the more general one
_BOTH = {
    "turku": ("4",),
    "paraphrase": ("paraphrase",),
    "parade": ("2", "3"),
    "parade-votes": ("2", "3"),
    "binary": ("1",),
    "entailment": ("equivalence",),
}
_ONWARD = {"turku": ("4>",), "entailment": ("forward",)}


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A row for training."""

    id: str  # of the pair
    label: str  # of the view, for the texts in this order
    source: str  # the texts, words divided by single spaces
    target: str


def training_rows(
    pairs: Iterable[SentencePair],
    view: View,
    kind: str,
    *,
    annotator: str | None = None,
    rewrites: bool = True,
    lenient: bool = False,
) -> Iterator[TrainingRow]:
    """Yield the rows of judged pairs."""
    if kind not in KINDS:
        raise UnknownNameError("kind of rows", kind, KINDS)
    scheme = view.scheme
    if kind == "generation" and scheme.name not in _BOTH:
        raise OptionError(f"which judgments of {scheme.name} allow to generate is not known")
    seen: dict[str, None] = {}
    for pair in pairs:
        judged = {name: a.judgment for name, a in pair.annotations.items() if a.judgment}
        seen.update(dict.fromkeys(judged))
        if annotator is None and len(seen) > 1:
            names = ", ".join(seen)
            raise OptionError(f"{names} judged pairs: choose one by `annotator`")
        judgment = judged.get(annotator) if annotator is not None else "".join(judged.values())
        if not judgment or (not rewrites and origin_of(pair) is not None):
            continue
        try:
            scored = view.of(judgment) is not None
        except FormatError as error:
            if lenient:
                continue
            name = annotator if annotator is not None else next(iter(judged))
            raise JudgmentError.of(error, pair.id, name, judgment) from None
        if scored:
            yield from _rows(pair, judgment, view, kind)
    if annotator is not None and annotator not in seen:
        raise UnknownNameError("annotator who judged pairs", annotator, seen)


def _rows(pair: SentencePair, judgment: str, view: View, kind: str) -> Iterator[TrainingRow]:
    source, target = (" ".join(words) for words in pair.words)
    scheme = view.scheme
    back = scheme.flip(judgment)
    allowed = {*_BOTH.get(scheme.name, ()), *_ONWARD.get(scheme.name, ())}
    if kind != "generation" or judgment in allowed:
        yield TrainingRow(pair.id, view.of(judgment) or "", source, target)
    if kind == "classification" or (kind == "generation" and back in allowed):
        yield TrainingRow(pair.id, view.of(back) or "", target, source)
