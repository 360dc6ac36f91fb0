"""Extract the phrase pairs that are consistent with an alignment, atomic and composite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypedDict, overload

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
    """The fields of a `PhrasePair`, and its words joined by spaces; None where not known."""

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
    """List the phrase pairs of one sentence pair, and show them by their words."""

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
        """Return a table of the phrase pairs, or of the first so many."""
        rows: list[list[Cell]] = []
        for phrase in self[:most]:
            texts = (cut_text(text or "", _WIDE) for text in (phrase.source, phrase.target))
            rows.append([*texts, phrase.kind, "{}:{}-{}:{}".format(*phrase[:4])])
        columns = [Column(name) for name in ("source", "target", "kind", "spans")]
        title = f"{how_many(len(self), 'phrase pair')} of {self._id!r}"
        more = len(self) - len(rows)
        note = f"and {more} more" if more else ""
        return Table(title, columns, rows, note, ruled=False)

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each phrase pair: its words, its spans, and if it is atomic."""
        return [phrase._asdict() for phrase in self]

    def __repr__(self) -> str:
        return str(self.table(_SHOWN))

    def _repr_html_(self) -> str:
        return self.table(_SHOWN)._repr_html_()


class _OfPairs(TypedDict, total=False):
    """The options of sentence pairs, which have words of their own."""

    annotator: str | None
    links: str
    kind: str
    loose: bool
    max_length: int | None
    ignore_identical: bool


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
def extract_phrases(alignments: SentencePair, **options: Unpack[_OfPairs]) -> PairPhrases: ...
@overload
def extract_phrases(
    alignments: Corpus, **options: Unpack[_OfPairs]
) -> Iterator[tuple[str, WordedPhrase]]: ...
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
@naming_keywords
def extract_phrases(
    alignments: LinksOfPair | SentencePair | Corpus | LinkArrays,
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
) -> list[PhrasePair] | PairPhrases | PhraseArrays | Iterator[tuple[str, WordedPhrase]]:
    """Extract the phrase pairs that are consistent with one alignment, or with many.

    A phrase pair is *consistent* when at least one link lies in it and no link joins a word
    inside one span to a word outside the other, *tight* when all four boundary words are aligned,
    and *composite* when each of its links lies in a strictly smaller tight pair inside it; else
    it is *atomic* [1]_.

    Parameters
    ----------
    alignments
        One alignment, or its links as text (``"0-0 1?1"``) or tuples; a sentence pair that has one;
        a corpus, of which pairs that nobody aligned are passed over; or the arrays of P sentence
        pairs.
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
        are a list that shows them, each with its words as `source` and `target` besides; of a
        corpus an iterator of (id, such a phrase pair). Both go into a data frame as they are.

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
    if isinstance(alignments, Corpus):
        if not (source is None and target is None and lengths is None):
            raise OptionError("a corpus has words of its own; leave out source and target")
        if annotator is not None:
            alignments.require(annotator)
        each: _OfPairs = {
            "annotator": annotator, "links": links, "kind": kind, "loose": loose,
            "max_length": max_length, "ignore_identical": ignore_identical,
        }  # fmt: skip
        return (
            (pair.id, phrase)
            for pair in alignments
            if (annotator in pair.alignments if annotator else pair.alignments)
            for phrase in extract_phrases(pair, **each)
        )
    if not isinstance(alignments, (Alignment, SentencePair, LinkArrays)):
        alignments = alignment_of("alignments", alignments)
    check_arguments(extract_phrases, locals(), apart=["alignments"])
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


_Words = tuple[TokenArrays, TokenArrays]


def _single(
    alignment: Alignment, source: Sequence[str] | TokenArrays | None,
    target: Sequence[str] | TokenArrays | None, lengths: tuple[int, int] | None, loose: bool,
) -> tuple[LinkArrays, _Words | None]:  # fmt: skip
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
    fitted = LinkArrays.trusted(arrays.links, arrays.sure, arrays.offsets, known)
    return fitted, (source, target)
