"""Derivations of sentence pairs by synchronous rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from alignkit.alignment import Alignment
from alignkit.arguments import whole_number
from alignkit.arrays import LinkArrays
from alignkit.errors import OptionError
from alignkit.rules.derivation.derivations import Cuts, Derivations, derive
from alignkit.rules.derivation.fragments import RuleReader
from alignkit.rules.derivation.recomposing import recompose
from alignkit.rules.derivation.tree_arrays import TreeArrays
from alignkit.rules.rule import Rule
from alignkit.sentence_pair import SentencePair
from alignkit.trees import Tree


@dataclass(frozen=True, slots=True)
class RuleToken:
    """A rule where it was seen.

    Parameters
    ----------
    rule
        The rule.
    root
        Its source and target node; of a string the number of a span, see `Derivation.matched`.
    variables
        The nodes of x0, x1, ...
    source_span, target_span
        The half-open spans of words below its root.
    alignment
        The links between its words, as positions of symbols in the yield of each side.
    count
        What it counts: a fraction, of rules of all consistent nodes.
    """

    rule: Rule
    root: tuple[int, int]
    variables: tuple[tuple[int, int], ...]
    source_span: tuple[int, int]
    target_span: tuple[int, int]
    alignment: tuple[tuple[int, int], ...]
    count: float = 1.0


class Derivation:
    """How a sentence pair is derived by synchronous rules; `extract_rules` makes it."""

    def __init__(self, derived: Derived, k: int) -> None:
        self._derived, self._k = derived, k

    @property
    def id(self) -> str:
        """The name of the pair."""
        return self._derived.pairs[self._k].id

    @property
    def source(self) -> tuple[str, ...]:
        """The source words."""
        return self._derived.pairs[self._k].words[0]

    @property
    def target(self) -> tuple[str, ...]:
        """The target words."""
        return self._derived.pairs[self._k].words[1]

    @property
    def source_tree(self) -> Tree | None:
        """The source tree; None where the source is a string."""
        return self._derived.trees[0][self._k]

    @property
    def target_tree(self) -> Tree | None:
        """The target tree; None where the target is a string."""
        return self._derived.trees[1][self._k]

    @property
    def alignment(self) -> Alignment:
        """The alignment that it was derived from."""
        return self._derived.alignments[self._k]

    @cached_property
    def arrays(self) -> Derivations:
        """The same as flat arrays."""
        return self._derived.arrays.of(self._k)

    def __len__(self) -> int:
        offsets = self._derived.arrays.offsets
        return int(offsets[self._k + 1] - offsets[self._k])

    def __repr__(self) -> str:
        return f"Derivation({self.id!r}, {len(self)} minimal rules)"

    @property
    def matched(self) -> NDArray[np.int32]:
        """The matched source and target nodes, (n, 2), in preorder of the source.

        The nodes of a string are its spans, numbered in their order.
        """
        return self.arrays.matched

    @property
    def parents(self) -> NDArray[np.int32]:
        """The place in `matched` of the next ones above each, (n,); -1 for none."""
        return self.arrays.parents

    @property
    def spans(self) -> NDArray[np.int32]:
        """The half-open spans of words below `matched`, source and target, (n, 4)."""
        sides = zip((self.arrays.source, self.arrays.target), self.matched.T, strict=True)
        return np.concatenate([side.nodes[1:3, nodes].T for side, nodes in sides], axis=1)

    @cached_property
    def consistent(self) -> NDArray[np.int32]:
        """All pairs of nodes that have the same links, (c, 2); `matched` of a string and a tree."""
        return self.matched if self.arrays.classes is None else self._everywhere.roots

    @cached_property
    def _everywhere(self) -> Cuts:
        return self.arrays.everywhere()

    @property
    def minimal(self) -> tuple[Rule, ...]:
        """The minimal rules, one for each of `matched`, in the same order."""
        offsets = self._derived.arrays.offsets
        return tuple(self._derived.minimal[offsets[self._k] : offsets[self._k + 1]])

    @property
    def all(self) -> tuple[RuleToken, ...]:
        """A rule for each pair of consistent nodes, with the fraction that it counts.

        Raises
        ------
        OptionError
            If a side is a string.
        """
        return self._tokens(self._everywhere)

    def composed(self, size: int) -> tuple[Rule, ...]:
        """Return the rules made of exactly so many minimal ones, which are connected.

        Raises
        ------
        OptionError
            If `size` is less than 1, or there are too many.
        """
        made = self.arrays.fragments(self.cuts(size), deletions=self._derived.deletions)
        return tuple(self._derived.reader.rules(made.symbols, made.offsets))

    def tokens(self, size: int = 1) -> tuple[RuleToken, ...]:
        """Return the rules made of exactly so many minimal ones, and where they are."""
        return self._tokens(self.cuts(size))

    def cuts(self, size: int = 1) -> Cuts:
        """Return the nodes of the rules made of exactly so many minimal ones, as arrays."""
        check_size(size)
        return self.arrays.minimal() if size == 1 else self.arrays.composed(size)[0]

    def recompose(self) -> tuple[Tree | tuple[str, ...], Tree | tuple[str, ...]]:
        """Return both trees, of a string its words, put together from the minimal rules alone.

        Raises
        ------
        OptionError
            If there is no derivation, since nothing is linked.
        """
        if not len(self):
            raise OptionError(f"pair {self.id!r} has no links, and so no rules to put together")
        made = self.arrays.fragments(self.arrays.minimal())  # what is deleted is no variable
        return recompose(self._derived.reader.rules(made.symbols, made.offsets))

    @cached_property
    def source_rules(self) -> NDArray[np.int32]:
        """The minimal rule that holds each source word, (N,); -1 for none."""
        return self._holders(0)

    @cached_property
    def target_rules(self) -> NDArray[np.int32]:
        """The minimal rule that holds each target word, (M,); -1 for none."""
        return self._holders(1)

    def _holders(self, side: int) -> NDArray[np.int32]:
        trees = (self.arrays.source, self.arrays.target)[side]
        holders = np.full(len(trees.words), -1, np.int32)
        nodes = self.matched[:, side]
        for place in np.argsort(nodes).tolist():  # those below come later
            holders[slice(*trees.nodes[1:3, nodes[place]])] = place
        return holders

    def _tokens(self, cuts: Cuts) -> tuple[RuleToken, ...]:
        arrays = self.arrays
        made = arrays.fragments(cuts, deletions=self._derived.deletions)
        rules = self._derived.reader.rules(made.symbols, made.offsets)
        links, link_ends = _couples(made.links.reshape(-1, 2)), (made.link_offsets // 2).tolist()
        variables, ends = _couples(cuts.variables), cuts.offsets.tolist()
        spans = [
            _couples(side.nodes[1:3, nodes].T)
            for side, nodes in zip((arrays.source, arrays.target), cuts.roots.T, strict=True)
        ]
        counts = [1.0] * len(cuts) if cuts.counts is None else cuts.counts.tolist()
        return tuple(
            RuleToken(
                rules[k], root, tuple(variables[ends[k] : ends[k + 1]]), spans[0][k], spans[1][k],
                tuple(links[link_ends[k] : link_ends[k + 1]]), counts[k],
            )
            for k, root in enumerate(_couples(cuts.roots))
        )  # fmt: skip


def _couples(array: NDArray[np.int32]) -> list[tuple[int, int]]:
    return [(a, b) for a, b in array.tolist()]


class Derived:
    """What was derived together."""

    def __init__(
        self,
        pairs: Sequence[SentencePair],
        alignments: Sequence[Alignment],
        trees: tuple[Sequence[Tree | None], Sequence[Tree | None]],
        *,
        links: str = "sure",
        string: str | None = None,
        deletions: bool = False,
        reader: RuleReader | None = None,
    ) -> None:
        self.pairs, self.alignments, self.trees = pairs, alignments, trees
        self.links, self.string, self.deletions = links, string, deletions
        self.reader = reader or RuleReader()
        numbers = self.reader.labels, self.reader.words
        sentences = [pair.words for pair in pairs]
        source, target = (
            TreeArrays.pack(trees[side], [pair[side] for pair in sentences], *numbers)
            for side in (0, 1)
        )
        lengths = [(len(left), len(right)) for left, right in sentences]
        packed = LinkArrays.pack_fitting(alignments, lengths)
        if links == "sure":
            packed = packed.sure_only()
        self.arrays = derive(source, target, packed, string=string)

    def __reduce__(self) -> tuple[Callable[..., Derived], tuple[object, ...]]:
        made = partial(Derived, links=self.links, string=self.string, deletions=self.deletions)
        return made, (self.pairs, self.alignments, self.trees)

    @cached_property
    def minimal(self) -> list[Rule]:
        """The minimal rules of all pairs, one after the other."""
        made = self.arrays.fragments(self.arrays.minimal(), deletions=self.deletions)
        return self.reader.rules(made.symbols, made.offsets)


def check_size(size: int) -> None:
    """Refuse a size of composed rules that is none."""
    if whole_number("size", size) < 1:
        raise OptionError(f"size is {size}; a rule is made of 1 minimal rule or more")
