"""Bitexts with numbered words: the input of the aligners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Union

import numpy as np

from alignkit._support import arguments
from alignkit._support.arguments import kind_of, words
from alignkit._support.array_types import F8, I4, I8, U2
from alignkit.align.settings import LONGEST_PIECE
from alignkit.errors import AlignerError, AlignmentError, ArgumentError, MissingTextError
from alignkit.model.arrays import LinkArrays, check_form, check_offsets, offsets_of
from alignkit.model.texts import split_unicode

if TYPE_CHECKING:
    from alignkit.model.sentence_pair import SentencePair

PairLike = Union["SentencePair", "tuple[str | Sequence[str], str | Sequence[str]]"]

PARTS = 64  # number of parts of a bitext; fixed, to give the same sums for any number of threads

_SHOWN = 80  # characters of an example in a message


@dataclass(frozen=True, eq=False)
class Side:
    """The sentences of one language.

    Parameters
    ----------
    words : The distinct words, most frequent first: the most used entries begin the tables.
    ids : (T,) int32: the number of each word, sentence after sentence.
    starts : (P + 1,) int64: sentence k is `ids[starts[k]:starts[k + 1]]`.

    Examples
    --------
    >>> side = Side.pack([["das", "haus"], ["das", "buch"]])
    >>> side.words, side.sentence(1), side.lengths.tolist()
    (['das', 'haus', 'buch'], ['das', 'buch'], [2, 2])
    """

    words: list[str]
    ids: I4
    starts: I8

    def __post_init__(self) -> None:
        arguments.check_attributes(self)
        check_form("ids", self.ids, np.int32, (self.ids.size,))
        check_offsets(self.starts, len(self.ids))
        if len(self.ids) and not 0 <= self.ids.min() <= self.ids.max() < len(self.words):
            raise AlignmentError(f"ids must be numbers of {len(self.words)} words, from 0")

    @classmethod
    def trusted(cls, words: list[str], ids: I4, starts: I8) -> Side:
        """Return a side without checking its arrays."""
        self = cls.__new__(cls)
        self.__dict__.update(words=words, ids=ids, starts=starts)
        return self

    @classmethod
    def pack(cls, sentences: Iterable[Sequence[str]], *, casefold: bool = True) -> Side:
        """Assign numbers to words; with `casefold`, words that differ only in case are the same.

        Examples
        --------
        >>> from alignkit.align import Side
        >>> side = Side.pack([["the", "house"], ["the", "book"]])
        >>> side.words, side.ids.tolist()
        (['the', 'house', 'book'], [0, 1, 0, 2])
        """
        arguments.check_arguments(Side.pack, locals())
        numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
        flat: list[int] = []
        starts = [0]
        for sentence in sentences:
            flat.extend(map(numbers.__getitem__, _known_words(sentence, casefold)))
            starts.append(len(flat))
        arguments.check_count("words", len(flat))
        ids = np.array(flat, np.int32)
        return cls.by_frequency(list(numbers), ids, np.array(starts, np.int64))

    @classmethod
    def by_frequency(cls, words: list[str], ids: I4, starts: I8) -> Side:
        """Renumber words by falling frequency; ids (T,) are their current numbers."""
        frequencies = np.bincount(ids, minlength=len(words))
        order = np.argsort(-frequencies, kind="stable")
        rank = np.empty(len(words), np.int32)
        rank[order] = np.arange(len(words), dtype=np.int32)
        return cls([words[number] for number in order], rank[ids], starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def part(self, begin: int, end: int) -> Side:
        """Return the sentences `begin:end`, with the same words."""
        arguments.check_arguments(Side.part, locals())
        begin, end, _ = slice(begin, end).indices(len(self))
        end = max(begin, end)
        starts = self.starts[begin : end + 1]
        return Side(self.words, self.ids[starts[0] : starts[-1]], starts - starts[0])

    @property
    def lengths(self) -> I8:
        """The (P,) lengths of the sentences in words."""
        return np.diff(self.starts)

    @cached_property
    def frequencies(self) -> I8:
        """The (V,) frequencies of the words."""
        return np.bincount(self.ids, minlength=len(self.words))

    def sentence(self, k: int) -> list[str]:
        """Return the words of sentence k.

        Examples
        --------
        >>> from alignkit.align import Side
        >>> Side.pack([["the", "house"], ["the", "book"]]).sentence(1)
        ['the', 'book']
        """
        k = arguments.place("k", k, len(self), "sentences")
        ids = self.ids[self.starts[k] : self.starts[k + 1]]
        return [self.words[number] for number in ids]

    def apart(self) -> Side:
        """Return the sentences with words of their own; a word occurs for each of its sentences."""
        sentences = np.repeat(np.arange(len(self)), self.lengths)
        keys, ids = np.unique(sentences << 32 | self.ids, return_inverse=True)
        words = [self.words[number] for number in (keys & 0xFFFFFFFF).tolist()]
        return Side.trusted(words, ids.astype(np.int32), self.starts)

    def cut(self, letters: int) -> Side:
        """Return the sentences with all words cut to this number of letters."""
        numbers: dict[str, int] = {}
        cut = [numbers.setdefault(word[:letters], len(numbers)) for word in self.words]
        ids = np.array(cut, np.int32)[self.ids]
        return Side.by_frequency(list(numbers), ids, self.starts)


def _known_words(sentence: Sequence[str], casefold: bool) -> Sequence[str]:
    """Return the words of a sentence, folded if they should be; refuse what is no sequence."""
    try:
        if casefold and not isinstance(sentence, str):
            return [word.casefold() for word in sentence]
    except (AttributeError, TypeError):
        pass  # to be named below
    return words("a sentence", sentence)


@dataclass(frozen=True, eq=False)
class Bitext:
    """P sentence pairs as numbers.

    Parameters
    ----------
    source, target : The sentences of both languages, in the same order.
    casefold : Whether words that differ only in case are the same.
    written : Both sides as written, for an encoder or word vectors, which know words with their
        case; not needed without `casefold`.
    shares : (C,) uint16: what they say of each cell, see `alignkit.align.encoder`; the cells of a
        pair stand row by row.

    Raises
    ------
    AlignerError : If the numbers of sentences differ.

    Examples
    --------
    >>> bitext = Bitext.pack([("das haus", "the house"), ("das buch", "the book")])
    >>> len(bitext), bitext.source.words
    (2, ['das', 'haus', 'buch'])
    """

    source: Side
    target: Side
    casefold: bool = True
    written: tuple[Side, Side] | None = None
    shares: U2 | None = None

    def __post_init__(self) -> None:
        arguments.check_attributes(self)
        pairs = len(self)
        others = len(self.target)
        if pairs != others:
            raise AlignerError(f"{pairs} source sentences, but {others} target sentences")
        arguments.check_count("sentence pairs", pairs)
        for side in (self.source, self.target):
            arguments.check_count("words", len(side.ids))

    @classmethod
    def pack(
        cls, pairs: Iterable[PairLike], *, casefold: bool = True, written: bool = False
    ) -> Bitext:
        """Assign numbers to the words of sentence pairs.

        Parameters
        ----------
        pairs : `SentencePair` objects (such as a `Corpus`), or tuples (source, target). Each side
            is a text, which is split at whitespace, or a sequence of words.
        casefold : Whether words that differ only in case are the same.
        written : Whether to keep the words as written too, which encoders and word vectors need.

        Examples
        --------
        >>> bitext = Bitext.pack([("das haus".split(), "the house".split())])
        >>> len(bitext), bitext.target.sentence(0)
        (1, ['the', 'house'])
        """
        arguments.check_arguments(Bitext.pack, locals(), apart=["pairs"])
        if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Iterable):
            raise ArgumentError(
                f"pairs is {kind_of(pairs)}; give sentence pairs, or (source, target) texts, "
                "such as [('la maison', 'the house')]"
            )
        sources = []
        targets = []
        for source, target in _sides_of(pairs):
            sources.append(source)
            targets.append(target)
        source_side = Side.pack(sources, casefold=casefold)
        target_side = Side.pack(targets, casefold=casefold)
        kept = None
        if written:
            kept = Side.pack(sources, casefold=False), Side.pack(targets, casefold=False)
        return cls(source_side, target_side, casefold, kept)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def as_written(self) -> tuple[Side, Side] | None:
        """Both sides with words as they are written; None if only folded words were kept."""
        if self.written is None and not self.casefold:
            return self.source, self.target
        return self.written

    def part(self, begin: int, end: int) -> Bitext:
        """Return the pairs `begin:end`, with the same words."""
        source = self.source.part(begin, end)
        target = self.target.part(begin, end)
        written = None
        if self.written is not None:
            written = self.written[0].part(begin, end), self.written[1].part(begin, end)
        shares = None
        if self.shares is not None:
            begin, end, _ = slice(begin, end).indices(len(self))
            shares = self.shares[self.starts[begin] : self.starts[max(begin, end)]]
        return Bitext(source, target, self.casefold, written, shares)

    def apart(self) -> Bitext:
        """Return the pairs with words of their own: equal words of two pairs have two numbers."""
        source = self.source.apart()
        return Bitext(source, self.target.apart(), self.casefold, self.written, self.shares)

    def cut(self, letters: int) -> Bitext:
        """Return the pairs with all words cut to this number of letters, without shares."""
        return Bitext(self.source.cut(letters), self.target.cut(letters), self.casefold)

    @property
    def lengths(self) -> I8:
        """The (P, 2) numbers of source and target words, N and M."""
        return np.stack([self.source.lengths, self.target.lengths], axis=1)

    @cached_property
    def starts(self) -> I8:
        """The (P + 1,) places of the first cell of each pair; a pair has N x M cells."""
        return offsets_of(self.source.lengths * self.target.lengths)

    def blocks(self, cells: int) -> list[tuple[int, int]]:
        """Divide the pairs into parts of about this number of cells, as (begin, end)."""
        goals = np.arange(cells, self.starts[-1], cells)
        bounds = np.unique([0, *np.searchsorted(self.starts, goals), len(self)])
        return list(pairwise(bounds.tolist()))

    @property
    def empty(self) -> int:
        """The number of pairs that have no words on a side."""
        return int((self.lengths == 0).any(axis=1).sum())


def parts_of(starts: I8, number: int = PARTS) -> list[tuple[int, int]]:
    """Divide P pairs into at most `number` parts with similar numbers of cells: (begin, end)."""
    if len(starts) == 2:
        return [(0, 1)]
    goals = np.linspace(0, starts[-1], number + 1)[1:-1]
    bounds = np.unique([0, *np.searchsorted(starts, goals), len(starts) - 1])
    return list(pairwise(bounds.tolist()))


def _sides_of(pairs: Iterable[PairLike]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield the words of both sides of each pair."""
    from alignkit.model.sentence_pair import SentencePair  # two texts are numbered without pairs

    for pair in pairs:
        if not isinstance(pair, SentencePair):
            yield _two_sides(pair)
        elif pair.source is None or pair.target is None:
            raise MissingTextError(f"pair {pair.id!r} has no words: give the texts of the corpus")
        else:
            yield pair.source, pair.target


def _two_sides(
    pair: tuple[str | Sequence[str], str | Sequence[str]],
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the words of a source and a target; texts are split at whitespace."""
    if not isinstance(pair, (tuple, list)):
        example: tuple[str, ...] = ("la maison", "the house")
        if isinstance(pair, str):
            sides = tuple(map(str.strip, pair.split("|||")))
            if len(sides) == 2 and len(str(sides)) < _SHOWN:
                example = sides
        raise ArgumentError(
            f"a pair is {kind_of(pair)}; give a SentencePair, or (source, target) texts, such "
            f"as {example}"
        )
    if len(pair) != 2:
        raise AlignerError(f"a pair must have a source and a target, not {len(pair)} sentences")
    source, target = pair
    if isinstance(source, str):
        source = split_unicode(source)
    if isinstance(target, str):
        target = split_unicode(target)
    return source, target


@dataclass(frozen=True, eq=False)
class Pieces:
    """A bitext with lines over `LONGEST_PIECE` words cut at equal fractions of both sides."""

    bitext: Bitext  # the pieces, as pairs
    pairs: I8  # (Q,) int64: the pair that each piece is of
    shifts: I8  # (Q, 2) int64: the source and target words of the pair before each piece

    @classmethod
    def of(cls, bitext: Bitext) -> Pieces | None:
        """Cut the long lines of a bitext; None if there are none."""
        longest = bitext.lengths.max(axis=1, initial=0)
        if longest.max(initial=0) <= LONGEST_PIECE:
            return None
        numbers = np.maximum(-(-longest // LONGEST_PIECE), 1)
        pairs = np.repeat(np.arange(len(bitext)), numbers)
        firsts = np.cumsum(numbers) - numbers
        piece = np.arange(len(pairs)) - firsts[pairs]  # from 0 in each pair
        shifts = bitext.lengths[pairs] * piece[:, None] // numbers[pairs, None]
        source_side = _in_pieces(bitext.source, pairs, shifts[:, 0])
        target_side = _in_pieces(bitext.target, pairs, shifts[:, 1])
        cut = Bitext(source_side, target_side, bitext.casefold)
        if bitext.shares is not None:
            cut = replace(cut, shares=_shares_in_pieces(bitext, cut, pairs, shifts))
        return cls(cut, pairs, shifts)

    def joined(self, arrays: LinkArrays, bitext: Bitext) -> LinkArrays:
        """Combine the links of pieces into links of the pairs."""
        links = arrays.links + self.shifts[arrays.pair_of].astype(np.int32)
        ends = np.searchsorted(self.pairs, np.arange(len(bitext)), "right")
        offsets = np.append(0, arrays.offsets[ends])
        lengths = bitext.lengths.astype(np.int32)
        return LinkArrays.trusted(links, arrays.sure, offsets, lengths)

    def added(self, likelihoods: F8, pairs: int) -> F8:
        """Add up the log-likelihoods of pieces to those of the pairs (P, 2)."""
        totals = np.zeros((pairs, 2))
        np.add.at(totals, self.pairs, likelihoods)
        return totals


def _shares_in_pieces(bitext: Bitext, cut: Bitext, pairs: I8, shifts: I8) -> U2:
    """Return the shares of the cells that are left when long pairs are cut."""
    assert bitext.shares is not None
    shares = np.empty(cut.starts[-1], np.uint16)
    lengths = bitext.lengths
    sizes = cut.lengths
    for piece, pair in enumerate(pairs.tolist()):
        whole = bitext.shares[bitext.starts[pair] : bitext.starts[pair + 1]]
        whole = whole.reshape(lengths[pair])
        row, column = shifts[piece]
        rows, columns = sizes[piece]
        part = whole[row : row + rows, column : column + columns]
        shares[cut.starts[piece] : cut.starts[piece + 1]] = part.ravel()
    return shares


def _in_pieces(side: Side, pairs: I8, shifts: I8) -> Side:
    """Return pieces (Q,) of sentences, from the pair of each and where in it the piece begins."""
    starts = np.append(side.starts[pairs] + shifts, side.starts[-1])
    return Side.trusted(side.words, side.ids, starts)
