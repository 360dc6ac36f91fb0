"""Ask how far annotators agree on the judgments of pairs, in each view of a scheme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import words
from alignkit._support.values import FrozenMap
from alignkit.agreement.judgments.comparisons import JudgmentDisagreements, ViewData
from alignkit.agreement.judgments.figures import Resamples, view_figures
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.judgments.result import JudgmentAgreement, judgment_cautions
from alignkit.agreement.judgments.tables import NullKappas, null_kappas
from alignkit.agreement.result import Figure
from alignkit.agreement.sections import CorpusPart, in_several
from alignkit.corpora.labelled import judges_of, judgments_of
from alignkit.errors import OptionError, UnknownNameError
from alignkit.model.corpus import Corpus, compared_texts

Parts = Callable[[Sequence[str]], Sequence[CorpusPart]]
"""Gives the whole corpus and its groups, by whose times and judgments make them."""


def agree_on_judgments(
    corpus: Corpus,
    annotators: Sequence[str] | None,
    options: JudgmentOptions,
    *,
    rewrites: int,
    parts: Parts,
    by: str | None,
    split: str | None,
    seed: int,
    workers: int | None,
) -> JudgmentAgreement:
    """Measure how far annotators agree on the judgments of whole pairs; see `alignkit.agree`."""
    settled = options.settled
    names = judges(corpus, annotators, settled)
    for name in options.groups or {}:
        if name not in names:
            raise UnknownNameError("annotator", name, names)
    data = []
    left_out: FrozenMap[str, int] = FrozenMap()
    whose = (*names, *([settled] if settled else []))
    for view in options.views:
        matrix = judgments_of(corpus, whose, view, lenient=options.lenient)
        left_out = matrix.left_out
        one = ViewData(
            view.name,
            names,
            view.labels,
            matrix.values[: len(names)],
            view.order is not None,
            options.weights,
            options.ties,
            matrix.values[-1] if settled else None,
            options.groups or {},
        )
        one.check_ties()
        data.append(one)
    sections = parts(names)
    figures = tuple(
        figure
        for part in sections
        for figure in _figures(data, part, options, seed=seed, workers=workers)
    )
    compared = set(names)
    judged = [
        pair
        for pair in corpus
        if any(one.judgment and name in compared for name, one in pair.annotations.items())
    ]
    repeats = Counter(text for pair in judged if (text := compared_texts(pair)))
    agreement = JudgmentAgreement(
        names,
        options,
        by,
        seed,
        tuple(part.name for part in sections),
        len(judged),
        sum(repeats.values()) - len(repeats),
        rewrites,
        left_out,
        FrozenMap({one.name: FrozenMap(_shares(one)) for one in data}),
        figures,
        JudgmentDisagreements(corpus, data, whose),
        (),
        split,
        in_several(sections),
        len(corpus) - len(judged),
    )
    return replace(agreement, cautions=judgment_cautions(agreement))


def judges(
    corpus: Corpus, annotators: Sequence[str] | None, settled: str | None
) -> tuple[str, ...]:
    """Return whose judgments are compared: all but the adjudicated version, or those named."""
    known = judges_of(corpus)
    if settled is not None and settled not in known:
        raise UnknownNameError("annotator who judged pairs", settled, known)
    if annotators is None:
        names = tuple(name for name in known if name != settled)
    else:
        names = tuple(dict.fromkeys(words("annotators", annotators)))
    if settled in names:
        raise OptionError(
            f"{settled!r} is the adjudicated version; do not name it among the annotators"
        )
    for name in names:
        if name not in known:
            raise UnknownNameError("annotator who judged pairs", name, known)
    if len(names) < 2:
        raise OptionError("agreement needs the judgments of two annotators or more; merge theirs")
    return names


def _figures(
    data: Sequence[ViewData],
    part: CorpusPart,
    options: JudgmentOptions,
    *,
    seed: int,
    workers: int | None,
) -> Iterator[Figure]:
    """Yield the figures of all views in a part of the corpus; views share the permutations."""
    here = [one.part(part.members) for one in data]
    drawing = Resamples(options.resamples, options.confidence, seed, workers)
    nulls: Sequence[NullKappas | None] = [None] * len(here)
    if here[0].has_majority:
        nulls = null_kappas(
            [view.question for view in here],
            permutations=options.permutations,
            null=options.null,
            seed=seed,
            workers=workers,
        )
    for view, null in zip(here, nulls, strict=True):
        yield from view_figures(view, null, drawing, part.name)


def _shares(view: ViewData) -> dict[str, float]:
    """Return the share of each label among all judgments."""
    given: NDArray[np.int8] = view.values[view.values >= 0]
    counts = np.bincount(given, minlength=len(view.labels))
    total = max(len(given), 1)
    return dict(zip(view.labels, (counts / total).tolist(), strict=True))
