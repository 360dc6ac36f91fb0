"""Extract the phrase pairs that are consistent with an alignment, atomic and composite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, check_attributes, check_count, place, words
from alignkit._support.jit import readonly
from alignkit.errors import (
    AlignmentError,
    JoinError,
    MissingTextError,
    OptionError,
    UnknownNameError,
)
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.model.coercion import LinksOfPair, alignment_of, alignment_of_pair
from alignkit.model.phrase_kernel import ATOMIC, COMPOSITE, drop_identical, fill
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.tables.table import Table


_SHOWN = 30  # phrase pairs, one a line
_WIDE = 40  # characters of a phrase


class PhrasePair(NamedTuple):
    """Join a source span and a target span, both half-open and 0-based.

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
        """Return the source and the target words of the phrase pair."""
        return (
            words("source", source)[self.source_start : self.source_end],
            words("target", target)[self.target_start : self.target_end],
        )


class PairPhrases(list[PhrasePair]):
    """List the phrase pairs of one sentence pair, and show them by their words."""

    def __init__(
        self,
        phrases: Iterable[PhrasePair],
        source: Sequence[str] | None,
        target: Sequence[str] | None,
        id: str,
    ) -> None:
        super().__init__(phrases)
        self._source, self._target, self._id = source, target, id

    def table(self, most: int | None = None) -> Table:
        """Return a table of the phrase pairs, or of the first so many."""
        from alignkit.tables.columns import Column
        from alignkit.tables.table import Table

        spans = [f"{p.source_start}:{p.source_end}-{p.target_start}:{p.target_end}" for p in self]
        rows = [
            [*self._texts(phrase), phrase.kind, span]
            for phrase, span in zip(self[:most], spans[:most], strict=True)
        ]
        names = ("source", "target", "kind", "spans")
        title = f"{len(self)} phrase pair{'' if len(self) == 1 else 's'} of {self._id!r}"
        more = len(self) - len(rows)
        note = f"and {more} more" if more else ""
        return Table(title, [Column(name) for name in names], rows, note, ruled=False)

    def _texts(self, phrase: PhrasePair) -> list[str]:
        if self._source is None or self._target is None:
            return ["", ""]
        from alignkit.tables.text_width import cut_text

        sides = phrase.words(self._source, self._target)
        return [cut_text(" ".join(side), _WIDE) for side in sides]

    def __repr__(self) -> str:
        return str(self.table(_SHOWN))

    def _repr_html_(self) -> str:
        return self.table(_SHOWN)._repr_html_()


KINDS = {"all": ATOMIC + COMPOSITE, "atomic": ATOMIC, "composite": COMPOSITE}
"""The kinds of phrase pairs that can be asked for."""

LINKS = ("possible", "sure")
"""The links that phrase pairs can be made from: all of them (P), or the sure ones (S)."""

_UNLIMITED = 2**31 - 1


@dataclass(frozen=True)
class PhraseArrays:
    """The phrase pairs of P sentence pairs as flat arrays.

    Parameters
    ----------
    spans
        (Q, 4) int32: source start and end, target start and end; rising within a sentence pair.
    atomic
        (Q,) uint8: 1 atomic, 0 composite.
    offsets
        (P + 1,) int64: the phrase pairs of sentence pair k are
        `spans[offsets[k]:offsets[k + 1]]`.

    Notes
    -----
    17 bytes a phrase pair and 8 bytes a sentence pair.
    """

    spans: NDArray[np.int32]
    atomic: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        check_attributes(self)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def pair(self, k: int) -> list[PhrasePair]:
        """Return the phrase pairs of sentence pair k."""
        k = place("k", k, len(self), "sentence pairs")
        start, end = self.offsets[k], self.offsets[k + 1]
        marks = self.atomic[start:end].astype(bool).tolist()
        rows = zip(self.spans[start:end].tolist(), marks, strict=True)
        return [PhrasePair(a, b, c, d, mark) for (a, b, c, d), mark in rows]

    def only(self, kind: str) -> PhraseArrays:
        """Return the phrase pairs of one kind.

        Raises
        ------
        UnknownNameError
            If `kind` is none of `KINDS`.
        """
        check_arguments(PhraseArrays.only, locals())
        _known("kind of phrase pair", kind, KINDS)
        if kind == "all":
            return self
        kept = self.atomic == (kind == "atomic")
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        return PhraseArrays(self.spans[kept], self.atomic[kept], before[self.offsets])


@overload
def extract_phrases(
    alignments: LinksOfPair,
    *,
    links: str = ...,
    kind: str = ...,
    loose: bool = ...,
    max_length: int | None = ...,
    ignore_identical: bool = ...,
    source: Sequence[str] | None = ...,
    target: Sequence[str] | None = ...,
    lengths: tuple[int, int] | None = ...,
) -> list[PhrasePair]: ...
@overload
def extract_phrases(
    alignments: SentencePair,
    *,
    annotator: str | None = ...,
    links: str = ...,
    kind: str = ...,
    loose: bool = ...,
    max_length: int | None = ...,
    ignore_identical: bool = ...,
) -> PairPhrases: ...
@overload
def extract_phrases(
    alignments: LinkArrays,
    *,
    links: str = ...,
    kind: str = ...,
    loose: bool = ...,
    max_length: int | None = ...,
    ignore_identical: bool = ...,
    source: TokenArrays | None = ...,
    target: TokenArrays | None = ...,
    lengths: None = ...,
) -> PhraseArrays: ...
def extract_phrases(
    alignments: LinksOfPair | SentencePair | LinkArrays,
    *,
    annotator: str | None = None,
    links: str = "possible",
    kind: str = "all",
    loose: bool = False,
    max_length: int | None = None,
    ignore_identical: bool = False,
    source: Sequence[str] | TokenArrays | None = None,
    target: Sequence[str] | TokenArrays | None = None,
    lengths: tuple[int, int] | None = None,
) -> list[PhrasePair] | PhraseArrays:
    """Extract the phrase pairs that are consistent with one alignment, or with many.

    A phrase pair is *consistent* when at least one link lies in it and no link joins a word
    inside one span to a word outside the other, *tight* when all four boundary words are aligned,
    and *composite* when each of its links lies in a strictly smaller tight pair inside it; else
    it is *atomic* [1]_.

    Parameters
    ----------
    alignments
        One alignment, or its links as text (``"0-0 1?1"``) or tuples; a sentence pair that has one;
        or the arrays of P sentence pairs.
    annotator
        Whose alignment of a sentence pair; None where one annotator alone aligned it. The words
        are those of the pair.
    links
        ``"possible"``: all links count; ``"sure"``: only the sure ones.
    kind
        ``"all"``, ``"atomic"`` or ``"composite"``.
    loose
        Extend each tight pair over unaligned words at its boundaries as well, in all ways, as the
        extraction of Moses does. A loose pair has the kind of its tight core.
    max_length
        The most words of either span. Kinds are decided before.
    ignore_identical
        Leave out the phrase pairs whose two sequences of words are equal after casefold. For
        arrays the `Vocabulary` that numbered the words says which are equal, so one made with
        ``casefold=False`` compares exactly.
    source, target
        The words: of one alignment a sequence of tokens each, of arrays the `TokenArrays` of the
        same sentence pairs. Where given, they say how long the sentences are.
    lengths
        (N, M) of one alignment whose words are not given; `loose` needs to know. Arrays have
        their own `lengths`.

    Returns
    -------
    list of PhrasePair or PhraseArrays
        Sorted by source start, source end, target start and target end. Those of a sentence pair
        are a list that shows their words.

    Raises
    ------
    UnknownNameError
        If `links`, `kind` or `annotator` names nothing.
    OptionError
        If `max_length` is less than 1, words are given for one side only, or beside a sentence
        pair, or several annotators aligned it and none is named.
    MissingTextError
        If words or lengths are needed and not given.
    JoinError
        If the words are those of another number of sentence pairs.
    AlignmentError
        If a link lies outside its sentence pair.

    Notes
    -----
    There are at most n (n + 1) / 2 tight pairs, n the number of aligned source words; of loose
    pairs there can be far more where long stretches are unaligned, so bound them by `max_length`.
    Arrays take 17 bytes a phrase pair, and while they grow up to twice that.

    References
    ----------
    .. [1] Cohn, Callison-Burch & Lapata 2008, Computational Linguistics 34(4):597-614. What
       "composite" means where links are discontinuous is decided here; the atomic pairs are then
       the closures of the links: bounding boxes of connected components, grown until no link
       leaves them.
    .. [2] Zhang, Gildea & Chiang 2008, Extracting synchronous grammar rules from word-level
       alignments in linear time, COLING.

    Examples
    --------
    >>> alignment = Alignment.parse("0-0 1-1 1-2")
    >>> for pair in extract_phrases(alignment):
    ...     print(pair.kind, *pair.words(["and", "reached"], ["and", "arrived", "at"]))
    atomic ('and',) ('and',)
    composite ('and', 'reached') ('and', 'arrived', 'at')
    atomic ('reached',) ('arrived', 'at')
    >>> arrays = LinkArrays.pack([alignment, Alignment.parse("0-1 1-0 2-2")])
    >>> extract_phrases(arrays, kind="atomic").offsets
    array([0, 2, 5])
    """
    if not isinstance(alignments, (Alignment, SentencePair, LinkArrays)):
        alignments = alignment_of("alignments", alignments)
    check_arguments(extract_phrases, locals(), apart=["alignments"])
    _known("kind of phrase pair", kind, KINDS)
    longest = longest_span(links, max_length)
    pair = None
    if isinstance(alignments, SentencePair):
        if not (source is None and target is None and lengths is None):
            raise OptionError("a sentence pair has words of its own; leave out source and target")
        pair, alignments = alignments, alignment_of_pair(alignments, annotator)
        source, target = pair.words if pair.has_text else (None, None)
    elif annotator is not None:
        raise OptionError("annotator is for a sentence pair; an alignment has none")
    if (source is None) != (target is None):
        raise OptionError("give the words of both source and target, or of neither")
    if ignore_identical and source is None:
        raise MissingTextError("ignore_identical compares words; pass source and target")
    single = isinstance(alignments, Alignment)
    if isinstance(alignments, Alignment):
        arrays, words = _one(alignments, source, target, lengths, loose)
    else:
        arrays, words = _many(alignments, source, target, lengths)
    if links == "sure":
        arrays = arrays.sure_only()
    phrases = _extract(arrays, KINDS[kind], loose, longest)
    if ignore_identical and words is not None:
        phrases = _without_identical(phrases, *words)
    if pair is not None:
        return PairPhrases(phrases.pair(0), pair.source, pair.target, pair.id)
    return phrases.pair(0) if single else phrases


def longest_span(links: str, max_length: int | None) -> int:
    """Check the options; return the greatest number of words of a span, as kernels take it."""
    _known("links", links, LINKS)
    if max_length is not None and max_length < 1:
        raise OptionError(f"max_length is {max_length}; a phrase has at least 1 word")
    return _UNLIMITED if max_length is None else min(max_length, _UNLIMITED)


_Words = tuple[TokenArrays, TokenArrays]


def _known(what: str, name: str, names: Sequence[str] | dict[str, int]) -> None:
    if name not in names:
        raise UnknownNameError(what, name, names)


def _one(
    alignment: Alignment,
    source: Sequence[str] | TokenArrays | None,
    target: Sequence[str] | TokenArrays | None,
    lengths: tuple[int, int] | None,
    loose: bool,
) -> tuple[LinkArrays, _Words | None]:
    if isinstance(source, TokenArrays) or isinstance(target, TokenArrays):
        raise OptionError("one alignment takes sequences of tokens as source and target")
    if source is None or target is None:
        if loose and lengths is None:
            raise MissingTextError(
                "loose phrase pairs need the sentence lengths; pass source and target, or lengths"
            )
        return LinkArrays.pack([alignment], lengths and [lengths]), None
    if lengths not in (None, (len(source), len(target))):
        raise OptionError(f"lengths {lengths} are not those of source and target")
    vocabulary = Vocabulary()
    words = TokenArrays.pack([source], vocabulary), TokenArrays.pack([target], vocabulary)
    return LinkArrays.pack([alignment], [(len(source), len(target))]), words


def _many(
    arrays: LinkArrays,
    source: Sequence[str] | TokenArrays | None,
    target: Sequence[str] | TokenArrays | None,
    lengths: tuple[int, int] | None,
) -> tuple[LinkArrays, _Words | None]:
    if lengths is not None:
        raise OptionError("lengths is for one alignment; arrays have their own")
    if source is None or target is None:
        return arrays, None
    if not (isinstance(source, TokenArrays) and isinstance(target, TokenArrays)):
        raise OptionError("arrays of alignments take TokenArrays as source and target")
    sizes = [np.diff(side.offsets) for side in (source, target)]
    if any(len(side) != len(arrays) for side in sizes):
        raise JoinError(
            f"{len(arrays)} alignments, but {len(sizes[0])} source and {len(sizes[1])} target "
            f"sentences"
        )
    known = np.stack(sizes, axis=1).astype(np.int32)
    short = np.flatnonzero((known < arrays.lengths).any(axis=1))
    if len(short):
        k = short[0]
        raise AlignmentError(
            f"sentence pair {k} (counted from 0) has {known[k, 0]} x {known[k, 1]} words, but its "
            f"alignment is of {arrays.lengths[k, 0]} x {arrays.lengths[k, 1]}"
        )
    return LinkArrays.trusted(arrays.links, arrays.sure, arrays.offsets, known), (
        source,
        target,
    )


def _extract(arrays: LinkArrays, keep: int, loose: bool, longest: int) -> PhraseArrays:
    links, offsets = readonly(arrays.links), readonly(arrays.offsets)
    lengths = readonly(arrays.lengths)
    ends = np.zeros(len(arrays) + 1, np.int64)
    room = 6 * len(links) + 64
    spans, atomic = np.empty((room, 4), np.int32), np.empty(room, np.uint8)
    pair = 0
    while True:
        pair = fill(links, offsets, lengths, keep, loose, longest, pair, spans, atomic, ends)
        written = ends[pair]
        check_count("phrase pairs", int(written))
        if pair == len(arrays):
            break
        # room for as many a link as there were so far, and some more
        needed = written * len(links) // max(1, offsets[pair])
        room = int(max(2 * room, needed + needed // 16))
        more = np.empty((room, 4), np.int32), np.empty(room, np.uint8)
        more[0][:written], more[1][:written] = spans[:written], atomic[:written]
        spans, atomic = more
    return _fitted(spans, atomic, ends)


def _without_identical(
    phrases: PhraseArrays, source: TokenArrays, target: TokenArrays
) -> PhraseArrays:
    drop_identical(
        phrases.spans,
        phrases.atomic,
        phrases.offsets,
        readonly(source.ids),
        readonly(source.offsets),
        readonly(target.ids),
        readonly(target.offsets),
    )
    return _fitted(phrases.spans, phrases.atomic, phrases.offsets)


def _fitted(
    spans: NDArray[np.int32], atomic: NDArray[np.uint8], ends: NDArray[np.int64]
) -> PhraseArrays:
    """Give back the room that was not used, in place; nobody else has seen the arrays."""
    spans.resize((int(ends[-1]), 4), refcheck=False)
    atomic.resize(int(ends[-1]), refcheck=False)
    return PhraseArrays(spans, atomic, ends)
