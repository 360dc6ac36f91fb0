"""Count block after block of sentence pairs, in threads and flat memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

import numpy as np

from alignkit.errors import MissingTextError
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.counts import Rows, check_text, count_links, count_phrases
from alignkit.scoring.macro import aggregated
from alignkit.scoring.measures import LEVELS
from alignkit.scoring.settings import LINK_POLICIES, ScoreSettings
from alignkit.stats.resampling import Interval, drawn_intervals

Block = tuple[LinkArrays, LinkArrays, TokenArrays | None, TokenArrays | None]
"""Hypothesis, reference, source words and target words of the same sentence pairs."""

BLOCK_PAIRS = 8192
"""How many sentence pairs are counted at once."""

_THREADS = min(4, os.cpu_count() or 1)


def pair_blocks(
    pairs: Iterable[SentencePair], hypothesis: str, reference: str, settings: ScoreSettings
) -> Iterator[Block]:
    """Yield the blocks of sentence pairs that both have annotated; words where they are needed."""
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
    """Count in threads of their own, in order, while the next blocks are being read."""
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
    """Return the rows of each level; the sure phrase pairs are counted once if they are all."""
    policy = LINK_POLICIES[settings.links]
    hyp, ref = policy(block[0]), policy(block[1])
    source, target = block[2:]
    if settings.loose and settings.phrases and source is None:
        raise MissingTextError("loose phrase pairs grow over unaligned words; give both texts")
    found: dict[str, Rows] = {}
    for level in settings.levels:
        if level == "links":
            found |= _count_links(hyp, ref, source, target, settings)
        elif level in found:
            continue
        elif level == "phrases-sure" and hyp.sure.all() and ref.sure.all():
            found[level] = found["phrases-possible"]
        else:
            found[level] = count_phrases(
                hyp,
                ref,
                links=level.removeprefix("phrases-"),
                loose=settings.loose,
                max_length=settings.max_length,
                ignore_identical=settings.ignore_identical,
                source=source,
                target=target,
            )
    return found


def _count_links(
    hyp: LinkArrays,
    ref: LinkArrays,
    source: TokenArrays | None,
    target: TokenArrays | None,
    settings: ScoreSettings,
) -> dict[str, Rows]:
    """Return the rows of links; a link is identical or not, so that both rows make up all."""
    if not (settings.ignore_identical or settings.split_identical):
        return {"links": count_links(hyp, ref)}
    words = [check_text(side, source, target) for side in (hyp, ref)]
    others = count_links(hyp.without_identical(*words[0]), ref.without_identical(*words[1]))
    if settings.ignore_identical:
        return {"links": others}
    every = count_links(hyp, ref)
    return {"links": every, "links-identical": every - others, "links-non-identical": others}


def level_intervals(
    rows: Mapping[str, Rows],
    aggregate: str,
    *,
    resamples: int,
    confidence: float,
    seed: int | np.random.SeedSequence,
) -> dict[str, dict[str, Interval]]:
    """Return by level the interval of each measure."""
    streams = dict(zip(LEVELS, np.random.default_rng(seed).spawn(len(LEVELS)), strict=True))
    return {
        level: drawn_intervals(
            *aggregated(counts, level, aggregate),
            resamples=resamples,
            confidence=confidence,
            rng=streams[level],
        )
        for level, counts in rows.items()
    }
