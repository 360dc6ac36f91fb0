"""Convert alignments and words into flat arrays and back; only this module does that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from alignkit._support import arguments
from alignkit._support.array_types import B1, I4, I8, U1
from alignkit.errors import AlignmentError, ArgumentError
from alignkit.model.alignment import Alignment


@dataclass(frozen=True, eq=False)
class LinkArrays:
    """The links of P sentence pairs as flat arrays, for the kernels.

    Parameters
    ----------
    links : (L, 2) int32: source and target positions, ascending within each pair, pair after pair.
    sure : (L,) uint8: 1 sure, 0 only possible.
    offsets : (P + 1,) int64: the links of pair k are `links[offsets[k]:offsets[k + 1]]`.
    lengths : (P, 2) int32: the numbers of words N and M of each pair; if the words are not known,
        the least numbers that fit all links.

    Raises
    ------
    AlignmentError : If the arrays are not as described (kernels trust them, and would read outside
        of them), or if there are more links than `alignkit._support.arguments.MOST`.

    Notes
    -----
    Memory: 9 bytes per link and 16 bytes per pair.

    Examples
    --------
    >>> from alignkit import Alignment
    >>> arrays = LinkArrays.pack([Alignment.parse("0-0 1?1"), Alignment.parse("0-2")])
    >>> arrays.links.tolist(), arrays.sure.tolist(), arrays.offsets.tolist()
    ([[0, 0], [1, 1], [0, 2]], [1, 0, 1], [0, 2, 3])
    >>> arrays.alignment(1)
    Alignment('0-2')
    """

    links: I4
    sure: U1
    offsets: I8
    lengths: I4

    def __post_init__(self) -> None:
        arguments.check_attributes(self)
        arguments.check_count("links", len(self.links))
        check_form("links", self.links, np.int32, (self.sure.size, 2))
        check_form("sure", self.sure, np.uint8, (self.sure.size,))
        check_offsets(self.offsets, len(self.links))
        check_form("lengths", self.lengths, np.int32, (len(self), 2))
        if len(self.links) and (self.links.min() < 0 or self.sure.max() > 1):
            raise AlignmentError("a link has a negative index or is neither 1 sure nor 0 possible")
        if len(self.links):  # so that what follows the last word has a number too
            arguments.check_count("words of a sentence", int(self.links.max()) + 1)
        outside = (self.extents(self.links, self.offsets) > self.lengths).any(axis=1)
        if outside.any():
            k = int(outside.argmax())
            raise AlignmentError(f"links of pair {k} (counted from 0) are outside its lengths")
        rank = self.links[:, 0].astype(np.int64) << 32 | self.links[:, 1]
        falls = np.diff(rank) <= 0
        # the first link of a pair may come before the last one of the pair before
        inner = self.offsets[(self.offsets > 0) & (self.offsets < len(rank))]
        falls[inner - 1] = False
        if falls.any():
            k = int(np.searchsorted(self.offsets, falls.argmax(), "right")) - 1
            raise AlignmentError(f"the links of pair {k} (counted from 0) are not ascending")

    @classmethod
    def trusted(cls, links: I4, sure: U1, offsets: I8, lengths: I4) -> LinkArrays:
        """Wrap arrays that are known to be valid; only the number of links is checked."""
        arguments.check_count("links", len(links))
        self = cls.__new__(cls)
        self.__dict__.update(links=links, sure=sure, offsets=offsets, lengths=lengths)
        return self

    @classmethod
    def pack(
        cls, alignments: Iterable[Alignment], lengths: Sequence[tuple[int, int]] | None = None
    ) -> LinkArrays:
        """Make the arrays from alignments.

        Parameters
        ----------
        alignments : One for each sentence pair.
        lengths : (N, M) for each; None takes the least lengths that fit the links.

        Raises
        ------
        AlignmentError : If the counts differ or a link is outside its sentence pair.

        Examples
        --------
        >>> from alignkit import Alignment, LinkArrays
        >>> arrays = LinkArrays.pack([Alignment.parse("0-0 1-1"), Alignment.parse("0?1")])
        >>> arrays.offsets.tolist(), arrays.sure.tolist()
        ([0, 2, 3], [1, 1, 0])
        """
        links, sure, offsets = _joined(arguments.each("alignments", alignments, Alignment))
        least = cls.extents(links, offsets)
        if lengths is None:
            return cls.trusted(links, sure, offsets, least)
        sizes = np.asarray(lengths if hasattr(lengths, "__len__") else None)
        if sizes.size and (sizes.dtype.kind not in "iu" or sizes.size % 2):
            raise ArgumentError("lengths must be pairs (N, M) of whole numbers")
        arguments.check_count("words of a sentence", int(sizes.max(initial=0)))
        given = sizes.astype(np.int32).reshape(-1, 2)
        if len(given) != len(least):
            raise AlignmentError(f"{len(given)} sentence lengths, but {len(least)} alignments")
        outside = np.flatnonzero((least > given).any(axis=1))
        if len(outside):
            k = outside[0]
            n, m = given[k]
            rows, columns = least[k]
            raise AlignmentError(
                f"the links of alignment {k} (counted from 0) need {rows} x {columns} words, "
                f"but the sentences have {n} x {m}"
            )
        return cls.trusted(links, sure, offsets, given)

    @classmethod
    def pack_fitting(
        cls, alignments: Iterable[Alignment], lengths: Sequence[tuple[int, int]]
    ) -> LinkArrays:
        """Make the arrays from alignments that are known to fit, as in sentence pairs."""
        return cls.trusted(*_joined(alignments), np.array(lengths, np.int32).reshape(-1, 2))

    @staticmethod
    def extents(links: I4, offsets: I8) -> I4:
        """Return the least (P, 2) sentence lengths that fit all links."""
        least = np.zeros((len(offsets) - 1, 2), np.int32)
        filled = np.flatnonzero(np.diff(offsets))
        if len(filled):
            least[filled] = np.maximum.reduceat(links, offsets[filled], axis=0) + 1
        return least

    @classmethod
    def concatenate(cls, blocks: Sequence[LinkArrays]) -> LinkArrays:
        """Join the arrays of several blocks of pairs.

        Examples
        --------
        >>> from alignkit import Alignment, LinkArrays
        >>> arrays = LinkArrays.pack([Alignment.parse("0-0")])
        >>> list(LinkArrays.concatenate([arrays, arrays]).alignments())
        [Alignment('0-0'), Alignment('0-0')]
        """
        blocks = arguments.every("blocks", blocks, LinkArrays)
        if len(blocks) == 1:
            return blocks[0]
        arguments.check_count("links", sum(len(block.links) for block in blocks))
        # empty arrays first, so that there is something to join without blocks
        parts = [cls.pack([]), *blocks]
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        return cls.trusted(
            np.concatenate([part.links for part in parts]),
            np.concatenate([part.sure for part in parts]),
            offsets_of(sizes),
            np.concatenate([part.lengths for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def alignment(self, k: int) -> Alignment:
        """Return the alignment of pair k; a negative k counts from the end.

        Parameters
        ----------
        k : The place of the pair.

        Examples
        --------
        >>> from alignkit import Alignment, LinkArrays
        >>> LinkArrays.pack([Alignment.parse("0-0"), Alignment.parse("0?1")]).alignment(-1)
        Alignment('0?1')
        """
        k = arguments.place("k", k, len(self), "pairs")
        start, end = self.offsets[k], self.offsets[k + 1]
        points = self.links[start:end].tobytes()
        return Alignment.from_bytes(points, self.sure[start:end].tobytes())

    def alignments(self) -> Iterator[Alignment]:
        """Yield the alignment of each pair; faster than asking for each.

        Examples
        --------
        >>> from alignkit import Alignment, LinkArrays
        >>> arrays = LinkArrays.pack([Alignment.parse("0-0"), Alignment.parse("0?1")])
        >>> list(arrays.alignments())
        [Alignment('0-0'), Alignment('0?1')]
        """
        points = self.links.tobytes()
        flags = self.sure.tobytes()
        bounds = self.offsets.tolist()
        for start, end in pairwise(bounds):
            yield Alignment.from_bytes(points[8 * start : 8 * end], flags[start:end])

    def part(self, start: int, end: int) -> LinkArrays:
        """Return the arrays of the pairs from `start` to before `end`, as a slice does.

        Parameters
        ----------
        start, end : The places of the first pair, and of the one after the last.

        Examples
        --------
        >>> from alignkit import Alignment, LinkArrays
        >>> arrays = LinkArrays.pack([Alignment.parse("0-0"), Alignment.parse("0?1")])
        >>> list(arrays.part(1, 2).alignments())
        [Alignment('0?1')]
        """
        start = arguments.whole_number("start", start)
        end = arguments.whole_number("end", end)
        start, end, _ = slice(start, end).indices(len(self))
        end = max(start, end)
        first = self.offsets[start]
        last = self.offsets[end]
        return LinkArrays.trusted(
            self.links[first:last],
            self.sure[first:last],
            self.offsets[start : end + 1] - first,
            self.lengths[start:end],
        )

    def take(self, places: I8) -> LinkArrays:
        """Return the arrays of the pairs at some places, in that order; places may repeat.

        Parameters
        ----------
        places : (n,) int64 places of pairs, from 0.

        Examples
        --------
        >>> import numpy as np
        >>> from alignkit import Alignment, LinkArrays
        >>> arrays = LinkArrays.pack([Alignment.parse("0-0"), Alignment.parse("0?1")])
        >>> list(arrays.take(np.array([1, 0])).alignments())
        [Alignment('0?1'), Alignment('0-0')]
        """
        chosen, offsets = gather(self.offsets, places)
        links = self.links[chosen]
        sure = self.sure[chosen]
        return LinkArrays.trusted(links, sure, offsets, self.lengths[places])

    def without_identical(self, source: TokenArrays, target: TokenArrays) -> LinkArrays:
        """Return the arrays without the links between identical words.

        Parameters
        ----------
        source, target : The words of the same P sentence pairs, numbered by one `Vocabulary`.

        Raises
        ------
        AlignmentError : If the words are from other pairs, or too few for the links.
        """
        arguments.check_arguments(LinkArrays.without_identical, locals())
        return self.keep(~identical_links(self, source, target))

    @property
    def pair_of(self) -> I8:
        """(L,): the pair of each link, counted from 0."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))

    def cells(self, width: int) -> I8:
        """(L,): a number for each link, the same for the same cell of the same pair.

        Parameters
        ----------
        width : More than the largest index of a word. `number_cells` chooses it, and as many pairs
            as 64 bits can number.
        """
        row_numbers = self.pair_of * width + self.links[:, 0]
        numbers: I8 = row_numbers * width + self.links[:, 1]
        return numbers

    def among(self, others: LinkArrays) -> B1:
        """(L,): whether the same pair has the link in other arrays."""
        parts = []
        for block in number_cells(self, others):
            own, other = block.numbers
            parts.append(np.isin(own, other, assume_unique=True))
        return np.concatenate(parts)

    def shared(self, others: LinkArrays) -> tuple[I8, I8]:
        """Return the places of the links that other arrays have too: here, and in the others."""
        here = []
        there = []
        for block in number_cells(self, others):
            own, other = block.numbers
            _, in_own, in_other = np.intersect1d(
                own, other, assume_unique=True, return_indices=True
            )
            here.append(in_own + self.offsets[block.first])
            there.append(in_other + others.offsets[block.first])
        return np.concatenate(here), np.concatenate(there)

    def sure_only(self) -> LinkArrays:
        """Return the arrays with only the sure links.

        Examples
        --------
        >>> from alignkit import Alignment, LinkArrays
        >>> list(LinkArrays.pack([Alignment.parse("0-0 1?1")]).sure_only().alignments())
        [Alignment('0-0')]
        """
        if np.count_nonzero(self.sure) == len(self.sure):  # quicker than to copy them
            return self
        return self.keep(self.sure.astype(bool))

    def keep(self, kept: B1) -> LinkArrays:
        """Return the arrays of the links of an (L,) mask, in the same P pairs.

        Parameters
        ----------
        kept : (L,) whether to keep each link.

        Examples
        --------
        >>> import numpy as np
        >>> from alignkit import Alignment, LinkArrays
        >>> arrays = LinkArrays.pack([Alignment.parse("0-0 1?1")])
        >>> list(arrays.keep(np.array([False, True])).alignments())
        [Alignment('1?1')]
        """
        links = self.links[kept]
        sure = self.sure[kept]
        offsets = offsets_of(kept)[self.offsets]
        return LinkArrays.trusted(links, sure, offsets, self.lengths)


def _joined(alignments: Iterable[Alignment]) -> tuple[I4, U1, I8]:
    """Return the links of some alignments, their sure flags, and the start of each."""
    points = []
    flags = []
    for alignment in alignments:
        its_points, its_flags = alignment.packed()
        points.append(its_points)
        flags.append(its_flags)
    sure = np.frombuffer(b"".join(flags), np.uint8)
    arguments.check_count("links", len(sure))
    links = np.frombuffer(b"".join(points), np.int32).reshape(-1, 2)
    return links, sure, offsets_of(list(map(len, flags)))


_MOST_NUMBERS = 2**63 - 1  # of int64


class NumberedLinks(NamedTuple):
    """The links of some pairs in several arrays, with a number for each cell."""

    first: int  # the first of these pairs
    arrays: list[LinkArrays]
    numbers: list[I8]  # of the links of each array, the same for the same cell of the same pair
    width: int  # cell (i, j) of the k-th of these pairs is (k width + i) width + j

    def cells(self, numbers: I8) -> tuple[I8, I8, I8]:
        """Return the pair, counted as in all arrays, and the words i and j of numbered cells."""
        row_numbers, j = np.divmod(numbers, self.width)
        pair, i = np.divmod(row_numbers, self.width)
        return pair + self.first, i, j


def number_cells(*arrays: LinkArrays) -> Iterator[NumberedLinks]:
    """Yield numbers for the cells of the links, of as many pairs at a time as 64 bits can number.

    There is at least one block, and more only if there are millions of pairs, and a sentence has
    hundreds of thousands of words.
    """
    width = 1 + max(int(each.links.max(initial=0)) for each in arrays)
    pairs = len(arrays[0])
    most = max(1, _MOST_NUMBERS // width**2)
    for first in range(0, max(1, pairs), most):
        parts = [each.part(first, first + most) for each in arrays]
        yield NumberedLinks(first, parts, [part.cells(width) for part in parts], width)


def identical_links(arrays: LinkArrays, source: TokenArrays, target: TokenArrays) -> B1:
    """(L,): whether each link is between identical words; see `without_identical`."""
    for column, side in enumerate((source, target)):
        if len(side.offsets) != len(arrays.offsets):
            raise AlignmentError(f"{len(side.offsets) - 1} sentences, but {len(arrays)} pairs")
        if (arrays.lengths[:, column] > np.diff(side.offsets)).any():
            raise AlignmentError("a sentence has fewer words than its pair in the arrays")
    pair = arrays.pair_of
    from_words = source.ids[source.offsets[pair] + arrays.links[:, 0]]
    to_words = target.ids[target.offsets[pair] + arrays.links[:, 1]]
    identical: B1 = from_words == to_words
    return identical


def offsets_of(sizes: ArrayLike) -> I8:
    """Return where each of P parts of some sizes begins, and where the last ends: (P + 1,).

    Of an array of booleans, each True counts 1: how many come before each place.
    """
    return np.append(0, np.cumsum(sizes, dtype=np.int64))


def gather(offsets: I8, places: I8) -> tuple[I8, I8]:
    """Return the places of the elements of some parts, and their new offsets."""
    sizes = np.diff(offsets)[places]
    new = offsets_of(sizes)
    moved_by = offsets[places] - new[:-1]
    return np.repeat(moved_by, sizes) + np.arange(new[-1]), new


def check_form(
    name: str, array: NDArray[np.generic], dtype: type[np.generic], shape: tuple[int, ...]
) -> None:
    """Raise an error for an array of another kind or shape."""
    if array.dtype != dtype or array.shape != shape:
        raise AlignmentError(
            f"{name} is a {array.shape} array of {array.dtype}; expected {shape} of "
            f"{np.dtype(dtype)}"
        )


def check_offsets(offsets: I8, end: int) -> None:
    """Raise an error for offsets that do not rise from 0 to the end."""
    check_form("offsets", offsets, np.int64, (max(1, offsets.size),))
    if offsets[0] != 0 or offsets[-1] != end or (np.diff(offsets) < 0).any():
        raise AlignmentError(f"offsets must rise from 0 to {end}")


class Vocabulary:
    """Numbers for words, so that kernels can compare them.

    Parameters
    ----------
    casefold : Whether words that differ only in case get the same number, and so count as
        identical.

    Examples
    --------
    >>> Vocabulary(casefold=True).encode(["The", "cat", "the"])
    [0, 1, 0]
    """

    def __init__(self, *, casefold: bool = True) -> None:
        arguments.check_arguments(Vocabulary.__init__, locals())
        self.casefold = casefold
        self._numbers: dict[str, int] = {}
        self._folded: dict[str, int] = {}

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Return the number of each token; new tokens are added.

        Parameters
        ----------
        tokens : The words.
        """
        tokens = arguments.words("tokens", tokens)
        numbers = self._numbers
        for token in tokens:
            if token not in numbers:
                key = token.casefold() if self.casefold else token
                numbers[token] = self._folded.setdefault(key, len(self._folded))
        arguments.check_count("different words", len(self._folded))
        return [numbers[token] for token in tokens]

    @property
    def words(self) -> list[str]:
        """The words by number; casefolded, if their case is ignored."""
        return list(self._folded)

    def __len__(self) -> int:
        return len(self._folded)


@dataclass(frozen=True, eq=False)
class TokenArrays:
    """The words of P sentences as flat arrays of numbers.

    Parameters
    ----------
    ids : (T,) int32: the numbers of all tokens, sentence after sentence.
    offsets : (P + 1,) int64: sentence k is `ids[offsets[k]:offsets[k + 1]]`.

    Raises
    ------
    AlignmentError : If the arrays are not as described.

    Examples
    --------
    >>> tokens = TokenArrays.pack([["he", "left"], ["he", "went"]], Vocabulary())
    >>> tokens.ids.tolist(), tokens.offsets.tolist()
    ([0, 1, 0, 2], [0, 2, 4])
    """

    ids: I4
    offsets: I8

    def __post_init__(self) -> None:
        arguments.check_attributes(self)
        arguments.check_count("words", self.ids.size)
        check_form("ids", self.ids, np.int32, (self.ids.size,))
        check_offsets(self.offsets, len(self.ids))

    @classmethod
    def pack(cls, sentences: Iterable[Sequence[str]], vocabulary: Vocabulary) -> TokenArrays:
        """Make the arrays from sentences.

        Parameters
        ----------
        sentences : The words of each sentence.
        vocabulary : The numbers of words; new words are added.
        """
        arguments.check_arguments(TokenArrays.pack, locals())
        coded = [vocabulary.encode(sentence) for sentence in sentences]
        offsets = offsets_of(list(map(len, coded)))
        arguments.check_count("words", int(offsets[-1]))
        return cls(np.fromiter(chain.from_iterable(coded), np.int32, offsets[-1]), offsets)

    def take(self, places: I8) -> TokenArrays:
        """Return the arrays of the sentences at some places, in that order."""
        chosen, offsets = gather(self.offsets, places)
        return TokenArrays(self.ids[chosen], offsets)


def whole_numbers(name: str, value: object, dimensions: int) -> I8:
    """Return an array of whole numbers."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.empty(())
    if array.dtype.kind == "f":
        whole = bool((array == array // 1).all())
    else:
        whole = array.dtype.kind in "iu"
    if array.size and not (whole and array.ndim == dimensions):
        shape = {1: "a sequence", 2: "a table"}[dimensions]
        raise ArgumentError(f"{name} must be {shape} of whole numbers")
    return array.astype(np.int64)
