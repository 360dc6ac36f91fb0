"""Extract the phrase pairs that are consistent with an alignment, atomic and composite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, overload

import numpy as np

from alignkit._support.arguments import check_arguments, naming_keywords
from alignkit._support.wording import how_many
from alignkit.errors import AlignmentError, JoinError, MissingTextError, OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.model.coercion import LinksOfPair, alignment_of
from alignkit.model.corpus import Corpus
from alignkit.model.phrase_arrays import PhraseArrays, PhrasePair, extract_arrays
from alignkit.model.sentence_pair import SentencePair, alignment_of_pair
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table
from alignkit.tables.text_width import cut_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

_SHOWN = 30  # phrase pairs, one a line
_WIDE = 40  # characters of a phrase


class WordedPhrase(NamedTuple):
    """The fields of a `PhrasePair`, and its words joined by spaces (None if not known)."""

    source_start: int
    source_end: int
    target_start: int
    target_end: int
    atomic: bool
    source: str | None
    target: str | None

    @property
    def kind(self) -> str:
        """``"atomic"`` or ``"composite"``."""
        return "atomic" if self.atomic else "composite"


class PairPhrases(list[WordedPhrase]):
    """The list of phrase pairs of a sentence pair, shown with their words."""

    def __init__(
        self,
        phrases: Iterable[PhrasePair],
        source: Sequence[str] | None,
        target: Sequence[str] | None,
        id: str,
    ) -> None:
        for phrase in phrases:
            texts: Iterable[str | None] = (None, None)
            if source is not None and target is not None:
                texts = map(" ".join, phrase.words(source, target))
            self.append(WordedPhrase(*phrase, *texts))
        self._id = id

    def table(self, most: int | None = None) -> Table:
        """Return a table of the phrase pairs, or of the first `most` of them."""
        rows: list[list[Cell]] = []
        for phrase in self[:most]:
            source = cut_text(phrase.source or "", _WIDE)
            target = cut_text(phrase.target or "", _WIDE)
            source_span = f"{phrase.source_start}:{phrase.source_end}"
            target_span = f"{phrase.target_start}:{phrase.target_end}"
            rows.append([source, target, phrase.kind, f"{source_span}-{target_span}"])
        columns = [Column(name) for name in ("source", "target", "kind", "spans")]
        title = f"{how_many(len(self), 'phrase pair')} of {self._id!r}"
        more = len(self) - len(rows)
        note = f"and {more} more" if more else ""
        return Table(title, columns, rows, note, ruled=False)

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each phrase pair: words, spans, and whether it is atomic."""
        return [phrase._asdict() for phrase in self]

    def __repr__(self) -> str:
        return str(self.table(_SHOWN))

    def _repr_html_(self) -> str:
        return self.table(_SHOWN)._repr_html_()


class _Options(TypedDict, total=False):
    """The options of all extractions."""

    links: Literal["possible", "sure"]
    kind: Literal["all", "atomic", "composite"]
    loose: bool
    max_length: int | None
    ignore_identical: bool


class _OfPairs(_Options, total=False):
    """The options for sentence pairs, which have their own words."""

    annotator: str | None


class _OfLinks(_Options, total=False):
    """The options for one alignment."""

    source: Sequence[str] | None
    target: Sequence[str] | None
    lengths: tuple[int, int] | None


class _OfArrays(_Options, total=False):
    """The options for arrays of links."""

    source: TokenArrays | None
    target: TokenArrays | None


@overload
def extract_phrases(alignments: LinksOfPair, **options: Unpack[_OfLinks]) -> list[PhrasePair]: ...
@overload
def extract_phrases(alignments: SentencePair, **options: Unpack[_OfPairs]) -> PairPhrases: ...
@overload
def extract_phrases(
    alignments: Corpus, **options: Unpack[_OfPairs]
) -> Iterator[tuple[str, WordedPhrase]]: ...
@overload
def extract_phrases(alignments: LinkArrays, **options: Unpack[_OfArrays]) -> PhraseArrays: ...
@naming_keywords
def extract_phrases(
    alignments: LinksOfPair | SentencePair | Corpus | LinkArrays,
    *,
    annotator: str | None = None,
    links: Literal["possible", "sure"] = "possible",
    kind: Literal["all", "atomic", "composite"] = "all",
    loose: bool = False,
    max_length: int | None = None,
    ignore_identical: bool = False,
    source: Sequence[str] | TokenArrays | None = None,
    target: Sequence[str] | TokenArrays | None = None,
    lengths: tuple[int, int] | None = None,
) -> list[PhrasePair] | PairPhrases | PhraseArrays | Iterator[tuple[str, WordedPhrase]]:
    """Extract the phrase pairs that are consistent with one or many alignments.

    A phrase pair is *consistent* if it contains at least one link, and no link joins a word inside
    one span to a word outside the other. It is *tight* if all four boundary words are aligned. It
    is *composite* if each of its links is in a strictly smaller tight pair inside it; otherwise it
    is *atomic* [1]_.

    Parameters
    ----------
    alignments : One alignment, or its links as text (``"0-0 1?1"``) or tuples; a sentence pair with
        an alignment; a corpus (pairs without an alignment are skipped); or the arrays of P sentence
        pairs.
    annotator : The annotator of a sentence pair; may be None if only one annotator aligned it. The
        words are those of the pair.
    links : ``"possible"``: all links count; ``"sure"``: only the sure ones.
    kind : ``"all"``, ``"atomic"`` or ``"composite"``.
    loose : Also extend each tight pair over unaligned words at its boundaries, in all ways, as
        Moses does. A loose pair has the kind of its tight core.
    max_length : The most words of each span. Kinds are decided before this limit applies.
    ignore_identical : Leave out the phrase pairs with two sequences of words that are equal after
        casefold. For arrays, the `Vocabulary` of the words decides which are equal; with
        ``casefold=False`` it compares exactly.
    source, target : The words: two sequences of tokens for one alignment, or the `TokenArrays` of
        the same sentence pairs for arrays. They also give the sentence lengths.
    lengths : (N, M) of one alignment without words, needed for `loose`. Arrays have their own
        `lengths`.

    Returns
    -------
    list of PhrasePair or PhraseArrays
        Sorted by source start, source end, target start and target end. A sentence pair gives a
        list that shows itself; each phrase pair also has its words as `source` and `target`. A
        corpus gives an iterator of (id, such a phrase pair). Both can go into a data frame.

    Raises
    ------
    UnknownNameError : If `links`, `kind` or `annotator` is unknown.
    OptionError : If `max_length` is less than 1, words are given for only one side or together with
        a sentence pair, or several annotators aligned the pair and none is named.
    MissingTextError : If words or lengths are needed but not given.
    JoinError : If the words have another number of sentence pairs.
    AlignmentError : If a link is outside its sentence pair.

    Notes
    -----
    There are at most n (n + 1) / 2 tight pairs for n aligned source words. There can be far more
    loose pairs if many words in a row are unaligned, so limit them with `max_length`. Arrays take
    17 bytes per phrase pair, and up to twice that while they grow.

    References
    ----------
    .. [1] Cohn, Callison-Burch & Lapata 2008, Computational Linguistics 34(4):597-614. For
       discontinuous links, "composite" is defined as above; the atomic pairs are then the closures
       of the links: bounding boxes of connected components, extended until no link leaves them.
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
    if isinstance(alignments, Corpus):
        if not (source is None and target is None and lengths is None):
            raise OptionError("a corpus has its own words; leave out source and target")
        if annotator is not None:
            alignments.require(annotator)
        return _phrases_of_corpus(
            alignments,
            annotator=annotator,
            links=links,
            kind=kind,
            loose=loose,
            max_length=max_length,
            ignore_identical=ignore_identical,
        )
    if not isinstance(alignments, (Alignment, SentencePair, LinkArrays)):
        alignments = alignment_of("alignments", alignments)
    check_arguments(extract_phrases, locals(), apart=["alignments"])
    pair = None
    if isinstance(alignments, SentencePair):
        if not (source is None and target is None and lengths is None):
            raise OptionError("a sentence pair has its own words; leave out source and target")
        pair = alignments
        alignments = alignment_of_pair(alignments, annotator)
        source, target = pair.words if pair.has_text else (None, None)
    elif annotator is not None:
        raise OptionError("annotator is for a sentence pair; leave it out for an alignment")
    if (source is None) != (target is None):
        raise OptionError("give the words of both source and target, or of neither")
    if ignore_identical and source is None:
        raise MissingTextError("ignore_identical compares words; pass source and target")
    if isinstance(alignments, Alignment):
        arrays, words = _single(alignments, source, target, lengths, loose)
    else:
        arrays, words = _many(alignments, source, target, lengths)
    different = words if ignore_identical else None
    phrases = extract_arrays(
        arrays, links=links, kind=kind, loose=loose, max_length=max_length, different=different
    )
    if pair is not None:
        return PairPhrases(phrases.pair(0), pair.source, pair.target, pair.id)
    return phrases.pair(0) if isinstance(alignments, Alignment) else phrases


def _phrases_of_corpus(
    corpus: Corpus, **options: Unpack[_OfPairs]
) -> Iterator[tuple[str, WordedPhrase]]:
    """Yield the phrase pairs of all pairs that the annotator, or somebody, aligned, with ids."""
    annotator = options["annotator"]
    for pair in corpus:
        if annotator in pair.alignments or (not annotator and pair.alignments):
            for phrase in extract_phrases(pair, **options):
                yield pair.id, phrase


_Words = tuple[TokenArrays, TokenArrays]


def _single(
    alignment: Alignment,
    source: Sequence[str] | TokenArrays | None,
    target: Sequence[str] | TokenArrays | None,
    lengths: tuple[int, int] | None,
    loose: bool,
) -> tuple[LinkArrays, _Words | None]:
    """Return the arrays of one alignment, and of its words if they are given."""
    if isinstance(source, TokenArrays) or isinstance(target, TokenArrays):
        raise OptionError("for one alignment, source and target must be sequences of tokens")
    if source is None or target is None:
        if loose and lengths is None:
            raise MissingTextError(
                "loose phrase pairs need the sentence lengths; pass source and target, or lengths"
            )
        return LinkArrays.pack([alignment], lengths and [lengths]), None
    if lengths not in (None, (len(source), len(target))):
        raise OptionError(f"lengths {lengths} differ from those of source and target")
    vocabulary = Vocabulary()
    words = TokenArrays.pack([source], vocabulary), TokenArrays.pack([target], vocabulary)
    return LinkArrays.pack([alignment], [(len(source), len(target))]), words


def _many(
    arrays: LinkArrays,
    source: Sequence[str] | TokenArrays | None,
    target: Sequence[str] | TokenArrays | None,
    lengths: tuple[int, int] | None,
) -> tuple[LinkArrays, _Words | None]:
    """Return the arrays with the lengths of the sentences if words are given, and the words."""
    if lengths is not None:
        raise OptionError("lengths is for one alignment; arrays have their own")
    if source is None or target is None:
        return arrays, None
    if not (isinstance(source, TokenArrays) and isinstance(target, TokenArrays)):
        raise OptionError("for arrays of alignments, source and target must be TokenArrays")
    source_lengths = np.diff(source.offsets)
    target_lengths = np.diff(target.offsets)
    n_sources = len(source_lengths)
    n_targets = len(target_lengths)
    if n_sources != len(arrays) or n_targets != len(arrays):
        raise JoinError(
            f"{len(arrays)} alignments, but {n_sources} source and {n_targets} target sentences"
        )
    known = np.stack([source_lengths, target_lengths], axis=1).astype(np.int32)
    short = np.flatnonzero((known < arrays.lengths).any(axis=1))
    if len(short):
        k = short[0]
        n, m = known[k]
        rows, columns = arrays.lengths[k]
        raise AlignmentError(
            f"sentence pair {k} (counted from 0) has {n} x {m} words, but its alignment has "
            f"{rows} x {columns}"
        )
    return LinkArrays.trusted(arrays.links, arrays.sure, arrays.offsets, known), (source, target)
