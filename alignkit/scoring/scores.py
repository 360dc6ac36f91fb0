"""Score a hypothesis against a reference: links, phrase pairs, or both."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from alignkit.arguments import check_arguments
from alignkit.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.corpus import Corpus
from alignkit.errors import MissingTextError, OptionError
from alignkit.report.table import Table
from alignkit.scoring.bootstrap import Interval, confidence_interval
from alignkit.scoring.counts import Rows, check_text, count_links, count_phrases
from alignkit.scoring.measures import LEVEL_COLUMNS, LEVELS, LinkScore, PhraseScore
from alignkit.scoring.score_table import Part, level_records, score_table, short
from alignkit.scoring.settings import LINK_POLICIES, Settings
from alignkit.scoring.signature import Signature

__all__ = ["Block", "Score", "corpus_blocks", "score", "score_blocks"]

Block = tuple[LinkArrays, LinkArrays, "TokenArrays | None", "TokenArrays | None"]
"""Hypothesis, reference, source words and target words of the same sentence pairs."""

_BLOCK_PAIRS = 8192
_THREADS = min(4, os.cpu_count() or 1)


@dataclass(frozen=True, repr=False)
class Score:
    """Hold the scores of a corpus and what they were computed from.

    Printed, it is the table that the command prints; a notebook shows that table too.

    Parameters
    ----------
    links
        The measures of links, None where not asked for.
    phrases
        The measures of phrase pairs under ``"possible"`` (from all links) and ``"sure"``, or None.
    pairs
        How many sentence pairs were scored.
    skipped
        How many were left out because one side has not annotated them.
    signature
        All settings; print it beside the score.
    rows
        For each of `LEVELS` that was scored the counts of the sentence pairs, (P, 8) of links and
        (P, 5) of phrase pairs; empty unless `keep_rows` was asked for.
    intervals
        For each of `LEVELS` that was scored the intervals of its measures; empty until
        `with_intervals`.
    """

    links: LinkScore | None
    phrases: Mapping[str, PhraseScore] | None
    pairs: int
    skipped: int
    signature: Signature
    rows: Mapping[str, Rows] = field(default_factory=dict, repr=False, compare=False)
    intervals: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict, repr=False)

    def with_intervals(
        self,
        *,
        samples: int = 1000,
        confidence: float = 0.95,
        rng: np.random.Generator | int | None = None,
    ) -> Score:
        """Return the score with bootstrap intervals; see `confidence_interval`.

        Raises
        ------
        OptionError
            If the rows were not kept, or a number is out of range.
        """
        check_arguments(Score.with_intervals, locals())
        if not self.rows:
            raise OptionError("intervals resample the rows of the pairs; score with keep_rows=True")
        # one stream a level, so that the interval of links is the same with phrases or without
        streams = dict(zip(LEVELS, np.random.default_rng(rng).spawn(len(LEVELS)), strict=True))
        intervals = {
            level: confidence_interval(
                rows, LEVELS[level], samples=samples, confidence=confidence, rng=streams[level]
            )
            for level, rows in self.rows.items()
        }
        signature = replace(
            self.signature,
            interval="bootstrap",
            confidence=confidence,
            samples=samples,
            seed=int(rng) if isinstance(rng, (int, np.integer)) else None,
        )
        return replace(self, intervals=intervals, signature=signature)

    def __repr__(self) -> str:
        return f"Score({self.pairs} pairs; {short(self._parts())})"

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def _parts(self) -> dict[str, Part]:
        found: dict[str, Part] = {} if self.links is None else {"links": self.links}
        return found | {f"phrases-{name}": part for name, part in (self.phrases or {}).items()}

    def table(self) -> Table:
        """Return the score as a table, to be shown in LaTeX, Markdown, HTML, ..."""
        skipped = f", {self.skipped} left out (not annotated)" if self.skipped else ""
        title, note = f"{self.pairs} sentence pairs{skipped}", str(self.signature)
        return score_table(self._parts(), self.intervals, title=title, note=note)

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each of `LEVELS` that was scored, as a DataFrame takes them.

        It holds the level, how many pairs were scored and skipped, the measures (NaN where
        undefined), their bounds (``f1_low``, ``f1_high``) where computed, and the counts.
        """
        return level_records(self._parts(), self.intervals, pairs=self.pairs, skipped=self.skipped)

    def to_json(self) -> dict[str, object]:
        """Return the score as JSON takes it: NaN is None, intervals only where computed."""
        phrases = self.phrases
        found: dict[str, object] = {
            "links": None if self.links is None else self.links.to_json(),
            "phrases": phrases and {name: part.to_json() for name, part in phrases.items()},
            "pairs": self.pairs,
            "skipped": self.skipped,
            "signature": str(self.signature),
        }
        if self.intervals:
            plain = {
                level: {name: interval.to_json() for name, interval in part.items()}
                for level, part in self.intervals.items()
            }
            within = {
                level.removeprefix("phrases-"): part
                for level, part in plain.items()
                if level != "links"
            }
            found["intervals"] = {"links": plain.get("links"), "phrases": within or None}
        return found


def score(
    corpus: Corpus,
    hypothesis: str = "system",
    reference: str = "gold",
    *,
    level: str = "links",
    ignore_identical: bool = False,
    exact_case: bool = False,
    loose: bool = False,
    max_length: int | None = None,
    links: str = "given",
    keep_rows: bool = False,
    signature: Signature | None = None,
) -> Score:
    """Score one annotator or system of a corpus against another.

    Parameters
    ----------
    corpus
        The sentence pairs; those that either has not annotated are left out and counted.
    hypothesis, reference
        The names of the annotations.
    level
        ``"links"``, ``"phrases"`` or ``"both"``.
    ignore_identical
        Leave out the links and the phrase pairs between equal words. Published AER keeps them.
    exact_case
        Words that differ in case are not equal.
    loose, max_length
        As in `alignkit.phrases.extract_phrases`.
    links
        ``"given"``, ``"sure-only"`` or ``"all-sure"``; see `Settings`.
    keep_rows
        Keep the counts of each pair, for intervals, comparisons and tables.
    signature
        What is known of the files; the settings are filled in.

    Returns
    -------
    Score

    Raises
    ------
    UnknownNameError
        If nobody of that name annotated the corpus, or an option names nothing.
    MissingTextError
        If words or sentence lengths are needed that the corpus lacks.
    OptionError
        If `max_length` makes no sense.

    Examples
    --------
    >>> from alignkit.alignment import Alignment
    >>> from alignkit.corpus import SentencePair
    >>> pair = SentencePair("1", ("a", "b"), ("c", "d"), {
    ...     "gold": Alignment.parse("0-0 1-1"), "system": Alignment.parse("0-0 1-0")})
    >>> found = score(Corpus([pair]))
    >>> found.links.precision, found.links.counts["hyp_sure_in_ref_possible"]
    (0.5, 1)
    """
    check_arguments(score, locals())
    settings = Settings(level, ignore_identical, exact_case, loose, max_length, links)
    shared = corpus.annotated_by(hypothesis, reference)
    blocks = corpus_blocks(shared, hypothesis, reference, settings)
    return _score(blocks, settings, keep_rows, signature, len(corpus) - len(shared))


def score_blocks(
    blocks: Iterable[Block],
    *,
    level: str = "links",
    ignore_identical: bool = False,
    exact_case: bool = False,
    loose: bool = False,
    max_length: int | None = None,
    links: str = "given",
    keep_rows: bool = False,
    signature: Signature | None = None,
    skipped: int = 0,
) -> Score:
    """Score block after block, in one pass and flat memory.

    Parameters
    ----------
    blocks
        Hypothesis, reference, source words and target words of some thousand pairs each. The words
        may be None where `ignore_identical` and `loose` are not asked for.
    exact_case
        Whether the words were numbered with case; only told in the signature here.
    keep_rows
        Keep the counts of each pair: 64 bytes a pair for links, and 80 for phrase pairs.
    skipped
        How many pairs the caller left out because one side has not annotated them.

    Returns
    -------
    Score

    Raises
    ------
    JoinError
        If hypothesis, reference and words do not hold the same pairs.
    MissingTextError
        If words are needed and not given.
    UnknownNameError, OptionError
        If an option makes no sense.

    See Also
    --------
    score : the other parameters, and the same for a `Corpus`.
    """
    check_arguments(score_blocks, locals())
    settings = Settings(level, ignore_identical, exact_case, loose, max_length, links)
    return _score(blocks, settings, keep_rows, signature, skipped)


def corpus_blocks(
    corpus: Corpus, hypothesis: str, reference: str, settings: Settings
) -> Iterator[Block]:
    """Yield the blocks of a corpus of which both annotated every pair."""
    vocabulary = Vocabulary(casefold=not settings.exact_case)
    for start in range(0, len(corpus), _BLOCK_PAIRS):
        part = corpus[start : start + _BLOCK_PAIRS]
        source = target = None
        if settings.ignore_identical or settings.loose:
            words = [pair.words for pair in part]
            source = TokenArrays.pack((first for first, _ in words), vocabulary)
            target = TokenArrays.pack((second for _, second in words), vocabulary)
        hyp = LinkArrays.pack(pair.alignment(hypothesis) for pair in part)
        ref = LinkArrays.pack(pair.alignment(reference) for pair in part)
        yield hyp, ref, source, target


def _score(
    blocks: Iterable[Block],
    settings: Settings,
    keep_rows: bool,
    signature: Signature | None,
    skipped: int,
) -> Score:
    pairs = 0
    none = {level: np.empty((0, len(LEVEL_COLUMNS[level])), np.int64) for level in settings.levels}
    totals = {level: rows.sum(axis=0) for level, rows in none.items()}
    kept = {level: [rows] for level, rows in none.items()}
    for block, counts in _counted(blocks, settings):
        pairs += len(block[0])
        for level, rows in counts.items():
            totals[level] += rows.sum(axis=0)
            if keep_rows:
                kept[level].append(rows)
    phrases = {
        name: PhraseScore.from_counts(totals[f"phrases-{name}"])
        for name in ("possible", "sure")
        if settings.phrases
    }
    return Score(
        links=LinkScore.from_counts(totals["links"]) if "links" in totals else None,
        phrases=phrases or None,
        pairs=pairs,
        skipped=skipped,
        signature=settings.sign(signature),
        rows={level: np.concatenate(rows) for level, rows in kept.items()} if keep_rows else {},
    )


def _counted(
    blocks: Iterable[Block], settings: Settings
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


def _count(block: Block, settings: Settings) -> dict[str, Rows]:
    """Return the rows of each level; the sure phrase pairs are counted once if they are all."""
    policy = LINK_POLICIES[settings.links]
    hyp, ref = policy(block[0]), policy(block[1])
    source, target = block[2:]
    if settings.loose and settings.phrases and source is None:
        raise MissingTextError("loose phrase pairs grow over unaligned words; give both texts")
    found: dict[str, Rows] = {}
    for level in settings.levels:
        if level == "links":
            found[level] = _count_links(hyp, ref, source, target, settings)
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
    settings: Settings,
) -> Rows:
    if settings.ignore_identical:
        words = [check_text(side, source, target) for side in (hyp, ref)]
        hyp, ref = hyp.without_identical(*words[0]), ref.without_identical(*words[1])
    return count_links(hyp, ref)
