"""Count rules over blocks of sentence pairs, and weigh them."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alignkit.model.arrays import LinkArrays, TokenArrays
from alignkit.model.sentence_pair import SentencePair
from alignkit.rules.derivation.derivation import RuleReader, mirrored
from alignkit.rules.derivation.derivations import Cuts, Derivations, Fragments, ends_of
from alignkit.rules.files.notation import rule_text
from alignkit.rules.grammar import Example, RuleType
from alignkit.rules.scores_kernel import weigh_words

_PENDING = 1 << 20


@dataclass(frozen=True, eq=False)
class Weights:
    """Translation weights of words."""

    keys: NDArray[np.int64]  # (W,) int64: source word << 32 | target word, rising
    weights: NDArray[np.float64]  # (W, 2): w(target | source), w(source | target)
    lone: NDArray[np.float64]

    @classmethod
    def nothing(cls) -> Weights:
        """Return no weights."""
        return cls(np.zeros(0, np.int64), np.zeros((0, 2)), np.zeros((0, 2)))


class Lexicon:
    """Count links between words, and words without links, by the numbers of words."""

    def __init__(self) -> None:
        self._keys, self._counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._size = 0
        self._lone = [np.zeros(0, np.int64), np.zeros(0, np.int64)]

    def add(self, links: LinkArrays, source: TokenArrays, target: TokenArrays) -> None:
        """Count the links of some sentence pairs, and their words without links."""
        pair = np.repeat(np.arange(len(links)), np.diff(links.offsets))
        places = [
            side.offsets[pair] + links.links[:, column]
            for column, side in enumerate((source, target))
        ]
        sources = source.ids[places[0]].astype(np.int64)
        keys, counts = np.unique(sources << 32 | target.ids[places[1]], return_counts=True)
        self._pending.append((keys, counts))
        self._size += len(keys)
        if self._size > max(_PENDING, len(self._keys)):
            self._settle()
        for column, side in ((0, target), (1, source)):
            free = np.ones(len(side.ids), bool)
            free[places[1 - column]] = False
            lone = np.bincount(side.ids[free], minlength=len(self._lone[column]))
            lone[: len(self._lone[column])] += self._lone[column]
            self._lone[column] = lone

    def _settle(self) -> None:
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._pending)])
        counts = np.concatenate([self._counts, *(counts for _, counts in self._pending)])
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        first = np.flatnonzero(
            np.concatenate([np.ones(min(1, len(keys)), bool), np.diff(keys) > 0])
        )
        self._keys = keys[first]
        self._counts = np.add.reduceat(counts, first) if len(first) else counts
        self._pending, self._size = [], 0

    def weights(self, words: int) -> Weights:
        """Return the weights of words that are numbered below `words`."""
        self._settle()
        columns = []
        for word in (self._keys >> 32, self._keys & 0xFFFFFFFF):
            totals = np.bincount(word, weights=self._counts, minlength=words)
            columns.append(self._counts / totals[word])
        lone = np.zeros((words, 2))
        for column, counts in enumerate(self._lone):
            lone[: len(counts), column] = counts / max(1, counts.sum())
        return Weights(self._keys, np.stack(columns, axis=1), lone)


class _Numbers(dict[Hashable, int]):
    """Number things as they come."""

    def __missing__(self, key: Hashable) -> int:
        self[key] = number = len(self)
        return number


class RuleCounts:
    """Rule types and their counts."""

    def __init__(self, strings: tuple[bool, bool], examples: int = 0) -> None:
        self._strings, self._most = strings, examples
        self._types = _Numbers()
        self._sides: list[tuple[bytes, bytes]] = []
        self._alignments: dict[tuple[int, bytes], int] = {}
        self._counts, self._pairs = np.zeros(0), np.zeros(0)
        self._aligned = np.zeros(0)
        self._seen: list[NDArray[np.int64]] = []
        self._examples: dict[int, list[Example]] = {}

    def __len__(self) -> int:
        return len(self._types)

    def add(
        self,
        derivations: Derivations,
        cuts: Cuts,
        fragments: Fragments,
        kept: NDArray[np.bool_],
        pairs: Sequence[SentencePair],
    ) -> None:
        """Count those rules of a block that are kept; `end_block` ends it."""
        chosen = np.flatnonzero(kept)
        numbers = self._numbered(fragments, chosen)
        counts = np.ones(len(cuts)) if cuts.counts is None else cuts.counts
        self._counts = _added(self._counts, numbers, counts[chosen], len(self._types))
        self._seen.append(numbers << 32 | cuts.pairs[chosen])
        self._add_alignments(fragments, chosen, numbers, counts)
        if self._most:
            self._add_examples(derivations, cuts, chosen, numbers, pairs)

    def end_block(self) -> None:
        """Count the pairs of a block, once for each type: it may be a rule of several sizes."""
        if self._seen:
            seen = np.unique(np.concatenate(self._seen)) >> 32
            self._pairs = _added(self._pairs, seen, np.ones(len(seen)), len(self._types))
            self._seen = []

    def _numbered(self, fragments: Fragments, chosen: NDArray[np.intp]) -> NDArray[np.int64]:
        text, ends = fragments.symbols.tobytes(), (fragments.offsets * 4).tolist()
        numbers = np.empty(len(chosen), np.int64)
        types, sides = self._types, self._sides
        for k, rule in enumerate(chosen.tolist()):
            start, end = ends[2 * rule], ends[2 * rule + 2]
            numbers[k] = number = types[text[start:end]]
            if number == len(sides):
                middle = ends[2 * rule + 1]
                sides.append((text[start:middle], text[middle:end]))
        return numbers

    def _add_alignments(
        self,
        fragments: Fragments,
        chosen: NDArray[np.intp],
        numbers: NDArray[np.int64],
        counts: NDArray[np.float64],
    ) -> None:
        text, ends = fragments.links.tobytes(), (fragments.link_offsets * 4).tolist()
        keys = self._alignments
        places = [
            keys.setdefault((number, text[ends[rule] : ends[rule + 1]]), len(keys))
            for number, rule in zip(numbers.tolist(), chosen.tolist(), strict=True)
        ]
        self._aligned = _added(self._aligned, np.array(places, np.int64), counts[chosen], len(keys))

    def _add_examples(
        self,
        derivations: Derivations,
        cuts: Cuts,
        chosen: NDArray[np.intp],
        numbers: NDArray[np.int64],
        pairs: Sequence[SentencePair],
    ) -> None:
        for rule, number in zip(chosen.tolist(), numbers.tolist(), strict=True):
            known = self._examples.setdefault(number, [])
            pair = pairs[k := int(cuts.pairs[rule])]
            if len(known) == self._most or any(example.id == pair.id for example in known):
                continue
            spans = (
                (int(side.nodes[1, at]), int(side.nodes[2, at]))
                for side, node in zip(
                    (derivations.source, derivations.target), cuts.roots[rule], strict=True
                )
                for at in (side.offsets[k] + node,)
            )
            known.append(Example(pair.id, *pair.words, *spans))

    def types(self, reader: RuleReader, weights: Weights) -> tuple[RuleType, ...]:
        """Return the rule types with their weights, by count, then by their text."""
        sources = [source for source, _ in self._sides]
        targets = [mirrored(target) for _, target in self._sides]
        roots = [tuple(self._roots(sides)) for sides in self._sides]
        columns = [self._shares(keys).tolist() for keys in (sources, targets, roots)]
        lexical = [(to, back) for to, back in self._lexical(weights).tolist()]
        alignments = self._best_alignments()
        rows = []
        for k, (source, target) in enumerate(self._sides):
            rule = reader.rule(source, target)
            count = float(self._counts[k])
            if abs(count - round(count)) < 1e-9:
                count = round(count)
            shares = columns[0][k], columns[1][k], columns[2][k]
            examples = tuple(self._examples.get(k, ()))
            made = RuleType(
                rule, count, int(self._pairs[k]), *shares, *lexical[k], alignments[k], examples
            )
            rows.append((-count, rule_text(rule), made))
        return tuple(made for *_, made in sorted(rows, key=lambda row: row[:2]))

    def _roots(self, sides: tuple[bytes, bytes]) -> Iterator[bytes]:
        for side, string in zip(sides, self._strings, strict=True):
            yield b"" if string else side[:4]  # a string has no label

    def _shares(self, keys: Sequence[Hashable]) -> NDArray[np.float64]:
        numbers = _Numbers()
        groups = np.array([numbers[key] for key in keys], np.int64)
        totals = np.bincount(groups, weights=self._counts)
        return np.asarray(self._counts / totals[groups], np.float64)

    def _lexical(self, weights: Weights) -> NDArray[np.float64]:
        """Return both lexical weights of each type: the best over its alignments."""
        numbers = [number for number, _ in self._alignments]
        sides = [side for number in numbers for side in self._sides[number]]
        links = [links for _, links in self._alignments]
        symbols, offsets = _joined(sides)
        flat, link_offsets = _joined(links)
        by_alignment = weigh_words(
            symbols, offsets, flat, link_offsets, weights.keys, weights.weights, weights.lone
        )
        best = np.zeros((len(self._sides), 2))
        np.maximum.at(best, numbers, by_alignment)
        return best

    def _best_alignments(self) -> list[tuple[tuple[int, int], ...]]:
        best: dict[int, tuple[float, bytes]] = {}
        for (number, links), count in zip(self._alignments, self._aligned.tolist(), strict=True):
            if number not in best or count > best[number][0]:
                best[number] = count, links
        flat = (array("i", best[k][1]).tolist() for k in range(len(self._types)))
        return [tuple(zip(links[::2], links[1::2], strict=True)) for links in flat]


def _added(
    known: NDArray[np.float64], numbers: NDArray[np.int64], more: NDArray[np.float64], size: int
) -> NDArray[np.float64]:
    counts = np.bincount(numbers, weights=more, minlength=size).astype(np.float64)
    counts[: len(known)] += known
    return counts


def _joined(parts: Sequence[bytes]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    offsets = ends_of([len(part) // 4 for part in parts])
    return np.frombuffer(b"".join(parts), np.int32), offsets
