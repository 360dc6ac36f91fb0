"""Count for each pair what hypothesis and reference share: the rows behind every score.

Every measure is a function of a row of counts or of a sum of rows. So corpus scores, bootstraps,
paired tests and tables by group work in the same way: choose rows, add them up, compute the ratios
(as sacreBLEU does; Post 2018).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments
from alignkit._support.jit import readonly
from alignkit._support.wording import how_many
from alignkit.errors import JoinError, MissingTextError
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.model.phrase_arrays import count_shared_phrases, longest_span
from alignkit.model.phrases import extract_phrases
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.counts_kernel import merge_phrases
from alignkit.scoring.settings import LINK_POLICIES, ScoreSettings

Rows = NDArray[np.int64]
"""A (P, C) array: a row of counts for each sentence pair; the columns are named below."""

LINK_COLUMNS = (
    "hyp_sure",
    "hyp_possible",
    "ref_sure",
    "ref_possible",
    "hyp_sure_in_ref_possible",
    "hyp_possible_in_ref_sure",
    "sure_in_sure",
    "possible_in_possible",
)
"""The columns of `count_links`; "possible" means all of P, including the sure links."""

PHRASE_COLUMNS = (
    "hyp_atomic",
    "ref_atomic",
    "hyp_atomic_in_ref",
    "hyp_in_ref_atomic",
    "atomic_in_atomic",
)
"""The columns of `count_phrases`; plain "hyp" and "ref" mean atomic and composite."""


def count_links(hypothesis: LinkArrays, reference: LinkArrays) -> Rows:
    """Count the links of each sentence pair, and the links that both sides have.

    Parameters
    ----------
    hypothesis, reference : The links of the same P sentence pairs, as `LinkArrays.pack` makes them.

    Returns
    -------
    rows
        (P, 8) int64, the columns `LINK_COLUMNS`.

    Raises
    ------
    JoinError : If the numbers of sentence pairs differ.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> hyp = LinkArrays.pack([Alignment.parse("0-0 1-1 2?2")])
    >>> ref = LinkArrays.pack([Alignment.parse("0-0 1?1 2-2")])
    >>> dict(zip(LINK_COLUMNS, count_links(hyp, ref)[0].tolist()))["hyp_sure_in_ref_possible"]
    2
    """
    check_arguments(count_links, locals())
    _check_pairs(hypothesis, reference)
    pairs = len(hypothesis)
    hyp_pair = hypothesis.pair_of
    ref_pair = reference.pair_of
    in_hypothesis, in_reference = hypothesis.shared(reference)
    pair = hyp_pair[in_hypothesis]
    hyp_sure = hypothesis.sure[in_hypothesis] == 1
    ref_sure = reference.sure[in_reference] == 1
    counts = {
        "hyp_sure": np.bincount(hyp_pair[hypothesis.sure == 1], minlength=pairs),
        "hyp_possible": np.diff(hypothesis.offsets),
        "ref_sure": np.bincount(ref_pair[reference.sure == 1], minlength=pairs),
        "ref_possible": np.diff(reference.offsets),
        "hyp_sure_in_ref_possible": np.bincount(pair[hyp_sure], minlength=pairs),
        "hyp_possible_in_ref_sure": np.bincount(pair[ref_sure], minlength=pairs),
        "sure_in_sure": np.bincount(pair[hyp_sure & ref_sure], minlength=pairs),
        "possible_in_possible": np.bincount(pair, minlength=pairs),
    }
    return np.column_stack([counts[name] for name in LINK_COLUMNS])


def count_phrases(
    hypothesis: LinkArrays,
    reference: LinkArrays,
    *,
    links: Literal["possible", "sure"],
    loose: bool = False,
    max_length: int | None = None,
    ignore_identical: bool = False,
    source: TokenArrays | None = None,
    target: TokenArrays | None = None,
) -> Rows:
    """Count the phrase pairs of each sentence pair, and those that both sides have.

    Parameters
    ----------
    hypothesis, reference : The links of the same P sentence pairs.
    links : Extract from the ``"possible"`` (all) or from the ``"sure"`` links, on both sides.
    loose, max_length, ignore_identical : As in `alignkit.model.phrases.extract_phrases`.
    source, target : The words: needed to leave out identical phrase pairs; if given, they define
        the lengths of the sentences.

    Returns
    -------
    rows
        (P, 5) int64, the columns `PHRASE_COLUMNS`.

    Raises
    ------
    JoinError : If the numbers of sentence pairs differ, links are outside the sentences or, for
        loose phrase pairs, if the sentence lengths differ.
    MissingTextError : If words are needed but not given, or given for only one side.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> hyp = LinkArrays.pack([Alignment.parse("0-0 1-1 2-2")])
    >>> ref = LinkArrays.pack([Alignment.parse("0-0 1-1 1-2 2-1 2-2")])
    >>> count_phrases(hyp, ref, links="possible").tolist()
    [[3, 2, 1, 2, 1]]
    """
    check_arguments(count_phrases, locals())
    _check_pairs(hypothesis, reference)
    if loose and source is None and not np.array_equal(hypothesis.lengths, reference.lengths):
        raise JoinError(
            "loose phrase pairs extend over unaligned words, so hypothesis and reference must "
            "have the same sentence lengths; give the texts"
        )
    words = None
    if ignore_identical or source is not None or target is not None:
        check_text(hypothesis, source, target)
        words = check_text(reference, source, target)
    if not loose:
        longest = longest_span(links, max_length)
        if links == "sure":
            hypothesis = hypothesis.sure_only()
            reference = reference.sure_only()
        different = words if ignore_identical else None
        return count_shared_phrases(hypothesis, reference, longest, different)
    sides = list[Any]()
    for side in (hypothesis, reference):
        phrases = extract_phrases(
            side,
            links=links,
            loose=True,
            max_length=max_length,
            ignore_identical=ignore_identical,
            source=source,
            target=target,
        )
        sides += [readonly(phrases.spans), readonly(phrases.atomic), readonly(phrases.offsets)]
    return merge_phrases(*sides)


def check_text(
    links: LinkArrays, source: TokenArrays | None, target: TokenArrays | None
) -> tuple[TokenArrays, TokenArrays]:
    """Return the words of both sides, after checking that all links are inside."""
    if source is None or target is None:
        raise MissingTextError("leaving out identical words needs the words; give both texts")
    for name, column, side in (("source", 0, source), ("target", 1, target)):
        if len(side.offsets) != len(links.offsets):
            raise JoinError(f"{len(side.offsets) - 1} {name} sentences for {len(links)} alignments")
        outside = np.flatnonzero(links.lengths[:, column] > np.diff(side.offsets))
        if len(outside):
            k = int(outside[0])
            raise JoinError(
                f"pair {k} of the block (counted from 0): links reach {links.lengths[k, column]} "
                f"{name} words, but the sentence has {side.offsets[k + 1] - side.offsets[k]}"
            )
    return source, target


def _check_pairs(hypothesis: LinkArrays, reference: LinkArrays) -> None:
    """Raise an error if the numbers of sentence pairs differ."""
    if len(hypothesis) != len(reference):
        raise JoinError(
            f"the hypothesis has {how_many(len(hypothesis), 'sentence pair')}, the reference "
            f"{len(reference)}; both must align the same pairs in the same order"
        )


Block = tuple[LinkArrays, LinkArrays, TokenArrays | None, TokenArrays | None]
"""Hypothesis, reference, source words and target words of the same sentence pairs."""

BLOCK_PAIRS = 8192  # number of sentence pairs counted at once

_THREADS = min(4, os.cpu_count() or 1)


def pair_blocks(
    pairs: Iterable[SentencePair], hypothesis: str, reference: str, settings: ScoreSettings
) -> Iterator[Block]:
    """Yield blocks of the sentence pairs that both annotated, with words if needed."""
    vocabulary = Vocabulary(casefold=not settings.exact_case)
    rest = iter(pairs)
    while part := list(islice(rest, BLOCK_PAIRS)):
        source = target = None
        if settings.needs_words:
            words = [pair.words for pair in part]
            source = TokenArrays.pack((first for first, _ in words), vocabulary)
            target = TokenArrays.pack((second for _, second in words), vocabulary)
        hyp = LinkArrays.pack(pair.alignment(hypothesis) for pair in part)
        ref = LinkArrays.pack(pair.alignment(reference) for pair in part)
        yield hyp, ref, source, target


def counted(
    blocks: Iterable[Block], settings: ScoreSettings
) -> Iterator[tuple[Block, dict[str, Rows]]]:
    """Count blocks in separate threads, in order, while the next blocks are read."""
    ahead: deque[tuple[Block, Future[dict[str, Rows]]]] = deque()
    with ThreadPoolExecutor(_THREADS) as pool:
        for block in blocks:
            ahead.append((block, pool.submit(_count, block, settings)))
            if len(ahead) > 2 * _THREADS:
                done, counts = ahead.popleft()
                yield done, counts.result()
        for done, counts in ahead:
            yield done, counts.result()


def _count(block: Block, settings: ScoreSettings) -> dict[str, Rows]:
    """Return the rows of each level; if all links are sure, phrase pairs are counted once."""
    hypothesis, reference, source, target = block
    policy = LINK_POLICIES[settings.links]
    hyp = policy(hypothesis)
    ref = policy(reference)
    if settings.loose and settings.phrases and source is None:
        raise MissingTextError("loose phrase pairs extend over unaligned words; give both texts")
    counts: dict[str, Rows] = {}
    for level in settings.levels:
        if level == "links":
            counts |= _count_links(hyp, ref, source, target, settings)
        elif level in counts:
            continue
        elif level == "phrases-sure" and hyp.sure.all() and ref.sure.all():
            counts[level] = counts["phrases-possible"]
        else:
            counts[level] = count_phrases(
                hyp,
                ref,
                links="sure" if level == "phrases-sure" else "possible",
                loose=settings.loose,
                max_length=settings.max_length,
                ignore_identical=settings.ignore_identical,
                source=source,
                target=target,
            )
    return counts


def _count_links(
    hyp: LinkArrays,
    ref: LinkArrays,
    source: TokenArrays | None,
    target: TokenArrays | None,
    settings: ScoreSettings,
) -> dict[str, Rows]:
    """Return the rows of links; identical and non-identical links together are all links."""
    if not (settings.ignore_identical or settings.split_identical):
        return {"links": count_links(hyp, ref)}
    check_text(hyp, source, target)
    words = check_text(ref, source, target)
    others = count_links(hyp.without_identical(*words), ref.without_identical(*words))
    if settings.ignore_identical:
        return {"links": others}
    every = count_links(hyp, ref)
    return {"links": every, "links-identical": every - others, "links-non-identical": others}
