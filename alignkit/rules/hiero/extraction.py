r"""Extract hiero rules: phrase pairs in which smaller phrase pairs are replaced by variables.

A rule is a phrase pair of limited length with up to two smaller phrase pairs cut out. These of
Chiang's constraints [1]_ hold: holes have at least a minimum number of words on both sides, a side
has at most a maximum number of symbols (words and variables), no two variables are adjacent on the
source side, and at least one link is among the remaining words.

Syntax-augmented rules label a span of words by the first of these that exists: the highest of the
constituents with exactly this span (A); two adjacent constituents, the first the shortest (A+B); a
constituent A that lacks a constituent B at its right end (A/B) or at its left end (A\B), the
shortest B; three adjacent constituents, the first and then the second the shortest (A+B+C);
otherwise X [2]_.

References
----------
.. [1] Chiang 2007, Hierarchical phrase-based translation, Computational Linguistics 33(2):201-228.
.. [2] Zollmann & Venugopal 2006, Syntax augmented machine translation via chart parsing, WMT. The
   order of the forms is a choice of alignkit, the same as in Thrax.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alignkit._support.arguments import check_arguments, check_attributes, check_known
from alignkit._support.jit import readonly
from alignkit.errors import MissingTextError, OptionError
from alignkit.model.alignment import SIDES
from alignkit.model.arrays import LinkArrays
from alignkit.model.phrase_arrays import LINKS, PhraseArrays
from alignkit.model.phrases import extract_phrases
from alignkit.model.sentence_pair import SentencePair, alignment_of_pair
from alignkit.model.trees import Tree
from alignkit.rules.derivation.derivations import NameNumbers
from alignkit.rules.grammar import Item, Node, Rule, Variable
from alignkit.rules.hiero.counts_kernel import BESIDE, CONSTITUENT, LEFT, RIGHT, THREE, chart
from alignkit.rules.hiero.extraction_kernel import derive
from alignkit.rules.tables.runs import I4, I8

_ROWS = 2**17
_MOST_LABELS = 2**19
Span = tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True)
class HieroOptions:
    """The limits of the hiero rules to extract.

    Parameters
    ----------
    loose : Whether phrase pairs, and those cut out, may begin or end with unaligned words.
    max_length : The most words on either side of a phrase pair.
    max_symbols : The most words and variables on either side.
    min_hole : The least words on either side of a hole.
    max_variables : The most variables: 0, 1 or 2.

    Raises
    ------
    OptionError : If the limits exclude every rule.
    """

    loose: bool = False
    max_length: int = 10
    max_symbols: int = 5
    min_hole: int = 2
    max_variables: int = 2

    def __post_init__(self) -> None:
        check_attributes(self)
        for name, least, most in (
            ("max_length", 1, 2**15),
            ("max_symbols", 1, 2**10),
            ("min_hole", 1, 2**15),
            ("max_variables", 0, 2),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise OptionError(f"{name} is {value}; it must be {least} to {most}")


_FORMS = {CONSTITUENT: "{0}", BESIDE: "{0}+{1}", RIGHT: "{0}/{1}", LEFT: "{0}\\{1}"}
_FORMS[THREE] = "{0}+{1}+{2}"


class Labels(NameNumbers):
    """Number the labels of spans; number 0 is ``X``."""

    def __init__(self) -> None:
        super().__init__()
        self._coded = {0: self["X"]}
        self._nodes = NameNumbers()  # the labels of nodes have numbers of their own

    def chart(self, trees: Sequence[Tree], longest: int) -> I4:
        """Return the labels of the spans of some sentences."""
        sizes = [len(tree.words) for tree in trees]
        codes = np.zeros(sum(sizes) * longest, np.int64)
        at = 0
        for tree, size in zip(trees, sizes, strict=True):
            if not size:
                continue
            part = codes[at * longest : (at + size) * longest]
            labels = self._nodes.encode(tree.labels, len(tree.labels))
            if len(self._nodes) > _MOST_LABELS:
                raise OptionError(f"the trees have more than {_MOST_LABELS} labels")
            starts, ends = readonly(tree.starts), readonly(tree.ends)
            chart(readonly(labels), starts, ends, *_highest(tree), longest, part)
            at += size
        different, inverse = np.unique(codes, return_inverse=True)
        numbers = np.array([self._number(code) for code in different.tolist()], np.int32)
        return numbers[inverse.reshape(-1)]

    def _number(self, code: int) -> int:
        if code not in self._coded:
            nodes = (code >> shift & (_MOST_LABELS - 1) for shift in (38, 19, 0))
            labels = (self._nodes.texts[node] for node in nodes)
            self._coded[code] = self[_FORMS[code >> 57].format(*labels)]
        return self._coded[code]


def _highest(tree: Tree) -> tuple[I8, I8, I8, I8]:
    """Return the highest nodes of spans, by first and by last word, and where each word's begin."""
    parents, starts, ends = tree.parents, tree.starts, tree.ends
    below = (parents >= 0) & (starts[parents] == starts) & (ends[parents] == ends)
    nodes = np.flatnonzero((starts < ends) & ~below)[::-1]  # those of a word: the shortest first
    by_start, by_end = (nodes[np.argsort(words[nodes], kind="stable")] for words in (starts, ends))
    words = np.arange(len(tree.words) + 1)
    from_start = np.searchsorted(starts[by_start], words)
    return by_start, from_start, by_end, np.searchsorted(ends[by_end], words + 1)


class HieroRule(NamedTuple):
    """A rule seen in a sentence pair."""

    rule: Rule  # the rule
    span: Span  # source start and end, target start and end of the whole
    holes: tuple[Span, ...]  # the same of each variable, in the order of their numbers
    alignment: tuple[tuple[int, int], ...]


def extract_hiero(
    pair: SentencePair,
    *,
    annotator: str | None = None,
    links: str = "sure",
    tree: Tree | None = None,
    side: str = "target",
    options: HieroOptions | None = None,
) -> list[HieroRule]:
    """Extract the hiero rules of a sentence pair; with a tree, its syntax-augmented rules.

    Parameters
    ----------
    pair : The sentence pair; it must have words.
    annotator, links : The annotator (None: the only one), and the links: ``"sure"``, or
        ``"possible"`` for all.
    tree, side : The tree for labels (None: all labels are X), and its side, ``"source"`` or
        ``"target"``.
    options : The limits; None for the defaults.

    Returns
    -------
    list of HieroRule
        One for each derivation, so each rule is listed as often as it is counted: the phrase
        pairs in order, each first whole, then with one hole, then with two.

    Raises
    ------
    MissingTextError : If the pair has no words.
    UnknownNameError : If `annotator`, `links` or `side` is unknown.
    OptionError : If several annotators aligned the pair and none is named, or the tree has other
        words.

    Examples
    --------
    >>> from alignkit import Alignment
    >>> pair = SentencePair("1", "le chat noir dort".split(), "the black cat sleeps".split(),
    ...                     {"gold": Alignment.parse("0-0 1-2 2-1 3-3")})
    >>> for seen in extract_hiero(pair):
    ...     if seen.holes:
    ...         print(seen.span, *seen.holes, seen.rule.target.children)
    (0, 3, 0, 3) (1, 3, 1, 3) ('the', Variable(number=0, label='X', kind='x'))
    (0, 4, 0, 4) (0, 3, 0, 3) (Variable(number=0, label='X', kind='x'), 'sleeps')
    (0, 4, 0, 4) (1, 3, 1, 3) ('the', Variable(number=0, label='X', kind='x'), 'sleeps')
    (0, 4, 0, 4) (1, 4, 1, 4) ('the', Variable(number=0, label='X', kind='x'))
    (1, 4, 1, 4) (1, 3, 1, 3) (Variable(number=0, label='X', kind='x'), 'sleeps')
    """
    check_arguments(extract_hiero, locals())
    options = options or HieroOptions()
    check_known("links", links, LINKS)
    check_known("side", side, SIDES)
    if pair.source is None or pair.target is None:
        raise MissingTextError(f"pair {pair.id!r} has no words; rules need words")
    if tree is not None and tree.words != getattr(pair, side):
        raise OptionError(f"pair {pair.id!r}: the tree and the {side} side have different words")
    source, target = pair.words
    longest = max(1, min(options.max_length, max(len(source), len(target))))
    labels = Labels()
    chart = None if tree is None else labels.chart([tree], longest)
    arrays = LinkArrays.pack([alignment_of_pair(pair, annotator)], [(len(source), len(target))])
    if links == "sure":
        arrays = arrays.sure_only()
    phrases, parts = derivations(arrays, options)
    column = 2 * SIDES.index(side)

    def label(span: Span) -> str:
        if chart is None:
            return "X"
        start, end = span[column : column + 2]
        return labels.texts[int(chart[start * longest + end - start - 1])]

    spans = [(a, b, c, d) for a, b, c, d in phrases.spans.tolist()]
    linked = arrays.links.tolist()
    seen = []
    for _, _, rows, _ in parts:
        for whole, *holes in rows.tolist():
            cut = [spans[hole] for hole in holes if hole >= 0]
            names = [label(hole) for hole in cut]
            sides = [
                _items(words, spans[whole][at : at + 2], [hole[at : at + 2] for hole in cut], names)
                for at, words in ((0, source), (2, target))
            ]
            top = label(spans[whole])
            nodes = (Node(top, tuple(item for item, _ in side)) for side in sides)
            places = [{word: x for x, (_, word) in enumerate(side)} for side in sides]
            alignment = tuple(
                (places[0][i], places[1][j]) for i, j in linked if i in places[0] and j in places[1]
            )
            seen.append(HieroRule(Rule(*nodes), spans[whole], tuple(cut), alignment))
    return seen


def _items(
    words: tuple[str, ...], span: tuple[int, ...], holes: list[tuple[int, ...]], names: list[str]
) -> list[tuple[Item, int]]:
    items: list[tuple[Item, int]] = []
    at, end = span
    starts = {hole[0]: number for number, hole in enumerate(holes)}
    while at < end:
        if (number := starts.get(at)) is not None:
            items.append((Variable(number, names[number]), -1))
            at = holes[number][1]
        else:
            items.append((words[at], at))
            at += 1
    return items


Part = tuple[int, int, I4, I8]
"""The first and last sentence pair, rows of derivations, and where the rows of each pair end."""


def derivations(arrays: LinkArrays, options: HieroOptions) -> tuple[PhraseArrays, Iterator[Part]]:
    """Return the phrase pairs of sentence pairs, and their derivations in parts."""
    phrases = extract_phrases(arrays, loose=options.loose, max_length=options.max_length)

    def parts() -> Iterator[Part]:
        rows = np.empty((min(_ROWS, 64 * len(phrases.spans) + 64), 3), np.int32)
        ends = np.zeros(len(arrays) + 1, np.int64)
        pair = 0
        while pair < len(arrays):
            done = derive(
                readonly(phrases.spans), readonly(phrases.offsets),
                readonly(arrays.links), readonly(arrays.offsets), readonly(arrays.lengths),
                options.max_symbols, options.min_hole, options.max_variables,
                pair, len(arrays), rows, ends,
            )  # fmt: skip
            if done > pair:
                yield pair, done, rows[: ends[done]], ends
                pair = done
            else:
                rows = np.empty((2 * len(rows), 3), np.int32)

    return phrases, parts()
