"""Score the rules that follow from alignments: which of them a gold standard's derivations have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from alignkit.alignment import Alignment
from alignkit.arguments import check_arguments, each
from alignkit.arrays import LinkArrays
from alignkit.errors import JoinError, UnknownNameError
from alignkit.jit import readonly
from alignkit.rules.derivation.derivations import Derivations, derive
from alignkit.rules.derivation.tree_arrays import Names, TreeArrays
from alignkit.rules.rule_score import COUNTED, RuleScore
from alignkit.rules.scores_kernel import count_found, sides_differ
from alignkit.scoring.counts import Rows
from alignkit.scoring.signature import Signature
from alignkit.sentence_pair import SentencePair
from alignkit.trees import Tree

SIZE = 3
"""The most minimal rules of one side that may make up a rule of the other."""

_BLOCK = 4096
_LINKS = ("sure", "possible")
UNANNOTATED = "that one of the two has not annotated"
_WITHOUT = "without trees"


def score_rules(
    pairs: Iterable[SentencePair],
    hypothesis: str,
    reference: str = "gold",
    *,
    links: str = "sure",
    source_tree: str | None = None,
    target_tree: str | None = None,
    signature: Signature | None = None,
) -> RuleScore:
    """Score the rules that follow from a system's alignments against those of a gold standard.

    Parameters
    ----------
    pairs
        Sentence pairs with trees on both sides. Those without, and those that one of the two has
        not aligned, are left out and counted.
    hypothesis, reference
        Whose alignments are scored, and whose are right.
    links
        Rules of the ``"sure"`` links, or of the ``"possible"`` (all).
    source_tree, target_tree
        The names of trees; None where each side has one.
    signature
        What is known of the files; the settings are filled in.

    Raises
    ------
    UnknownNameError
        If nobody of such a name aligned a pair, or `links` names nothing.

    Notes
    -----
    A rule is known by the pair of nodes at its root and those of its variables, over the same
    trees. With A the minimal rules of the hypothesis, B those of the reference, and A_3, B_3 also
    those that up to three connected minimal ones make up, eq. 3 of the article, which has atomic
    and composite phrase pairs in their place, becomes precision = |A & B_3| / |A|, recall =
    |A_3 & B| / |B|, all sentence pairs together. Node pairs: the share of the matched ones that
    the other's links make consistent. Both also without those whose minimal rule is an identity.

    References
    ----------
    Cohn, Callison-Burch & Lapata 2008, Computational Linguistics 34(4):597-614, for eq. 3; Galley
    et al. 2004, What's in a translation rule?, HLT-NAACL: 273-280, for the rules.
    """
    check_arguments(score_rules, locals(), apart=["pairs"])
    if links not in _LINKS:
        raise UnknownNameError("kind of links", links, _LINKS)
    skipped: Counter[str] = Counter()
    trees = source_tree, target_tree
    parsed = _parsed(each("pairs", pairs, SentencePair), hypothesis, reference, trees, skipped)
    blocks = [np.zeros((0, 2 * len(COUNTED)), np.int64)]
    while block := list(islice(parsed, _BLOCK)):
        sources, targets, hyp, ref = zip(*block, strict=True)
        sides = [LinkArrays.pack(a if links == "possible" else a.sure_only() for a in side)
                 for side in (hyp, ref)]  # fmt: skip
        blocks.append(count_rules(sources, targets, *sides))
    settings = replace(signature or Signature(), level="rules", links=links)
    return RuleScore.from_rows(np.concatenate(blocks), skipped, settings)


def _parsed(
    pairs: Iterable[SentencePair],
    hypothesis: str,
    reference: str,
    trees: tuple[str | None, str | None],
    skipped: Counter[str],
) -> Iterator[tuple[Tree, Tree, Alignment, Alignment]]:
    names: dict[str, None] = {}
    for pair in pairs:
        names.update(dict.fromkeys(pair.alignments))
        if not {hypothesis, reference} <= pair.alignments.keys():
            skipped[UNANNOTATED] += 1
        elif not (pair.source_trees and pair.target_trees):
            skipped[_WITHOUT] += 1
        else:
            yield (
                pair.tree("source", trees[0]), pair.tree("target", trees[1]),
                pair.alignment(hypothesis), pair.alignment(reference),
            )  # fmt: skip
    for name in (hypothesis, reference):
        if names and name not in names:
            raise UnknownNameError("annotator", name, names)


def count_rules(
    sources: Sequence[Tree], targets: Sequence[Tree], hypothesis: LinkArrays, reference: LinkArrays
) -> Rows:
    """Count the rules and matched nodes of sentence pairs, and those that both alignments have."""
    check_arguments(count_rules, locals())
    if not len(sources) == len(targets) == len(hypothesis) == len(reference):
        raise JoinError(
            f"{len(sources)} and {len(targets)} trees for {len(hypothesis)} and {len(reference)} "
            "alignments"
        )
    labels, words = Names(), Names()
    source, target = (
        TreeArrays.pack(side, [[*map(str.casefold, tree.words)] for tree in side], labels, words)
        for side in (sources, targets)
    )
    for links in (hypothesis, reference):
        _check_inside(links, (source, target))
    hyp, ref = (derive(source, target, links) for links in (hypothesis, reference))
    return np.concatenate([_found(hyp, ref), _found(ref, hyp)], axis=1)


def _check_inside(links: LinkArrays, trees: Sequence[TreeArrays]) -> None:
    for column, side in enumerate(trees):
        outside = np.flatnonzero(links.lengths[:, column] > np.diff(side.word_offsets))
        if len(outside):
            raise JoinError(f"pair {outside[0]} (counted from 0): a link lies outside its sentence")


def _found(mine: Derivations, other: Derivations) -> Rows:
    """Count those of my rules that the other derivations have, each pair a row of `COUNTED`."""
    rules = mine.fragments(mine.minimal())
    changing = readonly(sides_differ(readonly(rules.symbols), readonly(rules.offsets)))
    return count_found(
        readonly(mine.matched), readonly(mine.afters), readonly(mine.offsets), changing,
        readonly(other.matched), readonly(other.afters), readonly(other.offsets),
        *_classes(other), SIZE,
    )  # fmt: skip


def _classes(
    derivations: Derivations,
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return the class of each node of both sides, -1 for none, and where trees begin."""
    classes = derivations.classes
    assert classes is not None  # both sides are trees
    pairs = np.repeat(np.arange(len(derivations)), np.diff(classes.offsets))
    made: list[NDArray[np.generic]] = []
    for trees, chains, begins in (
        (derivations.source, classes.source_chains, classes.source_begins),
        (derivations.target, classes.target_chains, classes.target_begins),
    ):
        numbers = np.repeat(np.arange(len(pairs), dtype=np.int32), np.diff(begins))
        of_node = np.full(len(trees.labels), -1, np.int32)
        of_node[trees.offsets[pairs[numbers]] + chains] = numbers
        made += [readonly(of_node), trees.offsets]
    return tuple(made)  # type: ignore[return-value]
