"""Phrase pairs as flat arrays, and their extraction from the arrays of alignments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from alignkit._support import arguments
from alignkit._support.arguments import words
from alignkit._support.array_types import I4, I8, U1
from alignkit._support.jit import all_readonly, readonly
from alignkit.errors import OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, offsets_of
from alignkit.model.phrase_kernel import (
    ATOMIC,
    COMPOSITE,
    PairLinks,
    PairWords,
    PhraseChoice,
    PhraseOutput,
    drop_identical,
    match_phrases,
    write_phrases,
)


class PhrasePair(NamedTuple):
    """A source span and a target span, both half-open and 0-based.

    Examples
    --------
    >>> pair = PhrasePair(0, 1, 0, 2, True)
    >>> pair.kind, pair.words(["they", "left"], ["both", "parties", "went"])
    ('atomic', (('they',), ('both', 'parties')))
    """

    source_start: int
    source_end: int
    target_start: int
    target_end: int
    atomic: bool

    @property
    def kind(self) -> str:
        """``"atomic"`` or ``"composite"``."""
        return "atomic" if self.atomic else "composite"

    def words(
        self, source: Sequence[str], target: Sequence[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the source and the target words of the phrase pair.

        Parameters
        ----------
        source, target : The words of the sentence pair.

        Examples
        --------
        >>> from alignkit import Alignment, extract_phrases
        >>> first = next(iter(extract_phrases(Alignment.parse("0-1 1-0"))))
        >>> first.words(["he", "left"], ["away", "he"])
        (('he',), ('he',))
        """
        source_words = words("source", source)[self.source_start : self.source_end]
        target_words = words("target", target)[self.target_start : self.target_end]
        return source_words, target_words


KINDS = {"all": ATOMIC + COMPOSITE, "atomic": ATOMIC, "composite": COMPOSITE}
"""The kinds of phrase pairs to choose from."""

LINKS: tuple[Literal["possible"], Literal["sure"]] = ("possible", "sure")
"""The links for phrase pairs: all of them (P), or the sure ones (S)."""

UNLIMITED = 2**31 - 1  # words of a span


@dataclass(frozen=True)
class PhraseArrays:
    """The phrase pairs of P sentence pairs as flat arrays.

    Parameters
    ----------
    spans : (Q, 4) int32: source start and end, target start and end; ascending within a pair.
    atomic : (Q,) uint8: 1 atomic, 0 composite.
    offsets : (P + 1,) int64: the phrase pairs of sentence pair k are `spans[offsets[k]:offsets[k +
        1]]`.

    Notes
    -----
    Memory: 17 bytes per phrase pair and 8 bytes per sentence pair.

    Examples
    --------
    >>> from alignkit import Alignment, LinkArrays, extract_phrases
    >>> links = LinkArrays.pack([Alignment.parse("0-0 1-1")])
    >>> phrases = extract_phrases(links)
    >>> phrases.spans.tolist(), phrases.atomic.tolist()
    ([[0, 1, 0, 1], [0, 2, 0, 2], [1, 2, 1, 2]], [1, 0, 1])
    """

    spans: I4
    atomic: U1
    offsets: I8

    def __post_init__(self) -> None:
        arguments.check_attributes(self)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def pair(self, k: int) -> list[PhrasePair]:
        """Return the phrase pairs of sentence pair k.

        Parameters
        ----------
        k : The place of the sentence pair.

        Examples
        --------
        >>> from alignkit import Alignment, LinkArrays, extract_phrases
        >>> phrases = extract_phrases(LinkArrays.pack([Alignment.parse("0-0 1-1")]))
        >>> [pair.kind for pair in phrases.pair(0)]
        ['atomic', 'composite', 'atomic']
        """
        k = arguments.place("k", k, len(self), "sentence pairs")
        start, end = self.offsets[k], self.offsets[k + 1]
        spans = self.spans[start:end].tolist()
        atomic = self.atomic[start:end].astype(bool).tolist()
        marked = zip(spans, atomic, strict=True)
        return [PhrasePair(i, i_end, j, j_end, mark) for (i, i_end, j, j_end), mark in marked]

    def only(self, kind: str) -> PhraseArrays:
        """Return the phrase pairs of one kind.

        Parameters
        ----------
        kind : One of `KINDS`.

        Raises
        ------
        UnknownNameError : If `kind` is not one of `KINDS`.

        Examples
        --------
        >>> from alignkit import Alignment, LinkArrays, extract_phrases
        >>> phrases = extract_phrases(LinkArrays.pack([Alignment.parse("0-0 1-1")]))
        >>> len(phrases.only("atomic").pair(0))
        2
        """
        arguments.check_arguments(PhraseArrays.only, locals())
        arguments.check_known("kind of phrase pair", kind, KINDS)
        if kind == "all":
            return self
        kept = self.atomic == (kind == "atomic")
        offsets = offsets_of(kept)[self.offsets]
        return PhraseArrays(self.spans[kept], self.atomic[kept], offsets)


def longest_span(links: str, max_length: int | None) -> int:
    """Check the options; return the maximum number of words of a span, for kernels."""
    arguments.check_known("links", links, LINKS)
    if max_length is not None and max_length < 1:
        raise OptionError(f"`max_length` is {max_length}; a phrase has at least 1 word")
    if max_length is None:
        return UNLIMITED
    return min(max_length, UNLIMITED)


def phrases_of(alignment: Alignment, links: str = "possible") -> list[PhrasePair]:
    """Return all tight phrase pairs of one alignment."""
    return extract_arrays(LinkArrays.pack([alignment]), links=links).pair(0)


def extract_arrays(
    arrays: LinkArrays,
    *,
    links: str = "possible",
    kind: str = "all",
    loose: bool = False,
    max_length: int | None = None,
    different: tuple[TokenArrays, TokenArrays] | None = None,
) -> PhraseArrays:
    """Extract the phrase pairs of alignments; `different` are words that must not be equal."""
    arguments.check_known("kind of phrase pair", kind, KINDS)
    longest = longest_span(links, max_length)
    kept = arrays.sure_only() if links == "sure" else arrays
    output = _extracted(kept, PhraseChoice(KINDS[kind], loose, longest))
    if different is not None:
        drop_identical(output, pair_words(*different))
    # the unused room is freed in place: nothing else uses the arrays yet
    count = int(output.ends[-1])
    output.spans.resize((count, 4), refcheck=False)
    output.atomic.resize(count, refcheck=False)
    return PhraseArrays(*output)


def count_shared_phrases(
    hypothesis: LinkArrays,
    reference: LinkArrays,
    longest: int,
    words: tuple[TokenArrays, TokenArrays] | None,
) -> I8:
    """Count the tight phrase pairs that two alignments share; see `match_phrases`.

    With words, phrase pairs of equal words are left out.
    """
    nothing = TokenArrays(np.empty(0, np.int32), np.zeros(len(hypothesis) + 1, np.int64))
    lengths = np.maximum(hypothesis.lengths, reference.lengths)
    return match_phrases(
        pair_links(hypothesis),
        pair_links(reference),
        readonly(lengths),
        longest,
        words is not None,
        pair_words(*(words or (nothing, nothing))),
    )


def pair_links(arrays: LinkArrays) -> PairLinks:
    """Return links as kernels take them."""
    return all_readonly(PairLinks(arrays.links, arrays.offsets))


def pair_words(source: TokenArrays, target: TokenArrays) -> PairWords:
    """Return the words of both sides as kernels take them."""
    return all_readonly(PairWords(source.ids, source.offsets, target.ids, target.offsets))


def _extracted(arrays: LinkArrays, wanted: PhraseChoice) -> PhraseOutput:
    """Run the kernel, with more room each time it runs out of room."""
    links = pair_links(arrays)
    lengths = readonly(arrays.lengths)
    ends = np.zeros(len(arrays) + 1, np.int64)
    size = 6 * len(arrays.links) + 64
    output = PhraseOutput(np.empty((size, 4), np.int32), np.empty(size, np.uint8), ends)
    pair = 0
    while True:
        pair = write_phrases(links, lengths, wanted, pair, output)
        written = ends[pair]
        arguments.check_count("phrase pairs", int(written))
        if pair == len(arrays):
            return output
        # room for as many a link as there were so far, and some more
        needed = written * len(arrays.links) // max(1, arrays.offsets[pair])
        size = int(max(2 * size, needed + needed // 16))
        more = PhraseOutput(np.empty((size, 4), np.int32), np.empty(size, np.uint8), ends)
        more.spans[:written] = output.spans[:written]
        more.atomic[:written] = output.atomic[:written]
        output = more
