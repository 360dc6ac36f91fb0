"""Count what a corpus holds, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from alignkit.alignment import Alignment
from alignkit.annotation import Annotation
from alignkit.arguments import check_arguments, each
from alignkit.corpus import SentencePair, group_text, no_group, values_of

__all__ = [
    "AnnotatorCounts",
    "CorpusCounts",
    "GroupCounts",
    "TreeCounts",
    "count_corpus",
    "count_groups",
]


@dataclass
class AnnotatorCounts:
    """Count the annotations of one annotator.

    Parameters
    ----------
    pairs
        Sentence pairs aligned.
    empty
        Of these, how many have no link.
    sure, possible
        Links that are sure, and links that are only possible.
    nulls
        Words explicitly aligned to nothing.
    source_aligned, target_aligned
        Words that bear a link.
    source_tokens, target_tokens
        Words of the aligned pairs whose text is known.
    one_to_one
        Links of which both words bear no other link.
    identical
        Links between words equal after casefold.
    comments
        Annotations with a comment.
    judged
        Sentence pairs judged, but not aligned; nothing of them counts above but the comments.
    """

    pairs: int = 0
    empty: int = 0
    sure: int = 0
    possible: int = 0
    nulls: int = 0
    source_aligned: int = 0
    target_aligned: int = 0
    source_tokens: int = 0
    target_tokens: int = 0
    one_to_one: int = 0
    identical: int = 0
    comments: int = 0
    judged: int = 0

    def add(self, pair: SentencePair, annotation: Annotation) -> None:
        """Count one annotation."""
        self.comments += bool(annotation.comment)
        if annotation.alignment is None:
            self.judged += 1
        else:
            self._add_links(pair, annotation.alignment)

    def _add_links(self, pair: SentencePair, alignment: Alignment) -> None:
        from_words = [link.i for link in alignment]
        to_words = [link.j for link in alignment]
        sources, targets = Counter(from_words), Counter(to_words)
        sure = sum(alignment.packed()[1])
        self.pairs += 1
        self.empty += not len(alignment)
        self.sure += sure
        self.possible += len(alignment) - sure
        self.nulls += len(alignment.nulls)
        self.source_aligned += len(sources)
        self.target_aligned += len(targets)
        self.one_to_one += sum(
            sources[i] == 1 and targets[j] == 1 for i, j in zip(from_words, to_words, strict=True)
        )
        if pair.source is not None and pair.target is not None:
            self.source_tokens += len(pair.source)
            self.target_tokens += len(pair.target)
            self.identical += sum(
                pair.source[i].casefold() == pair.target[j].casefold() for i, j in alignment
            )


@dataclass
class TreeCounts:
    """Count the trees of one name.

    Parameters
    ----------
    source, target
        Sentence pairs with a tree of that side.
    source_nodes, target_nodes
        Their nodes.
    deepest
        How many nodes the longest way down passes.
    """

    source: int = 0
    target: int = 0
    source_nodes: int = 0
    target_nodes: int = 0
    deepest: int = 0


@dataclass
class CorpusCounts:
    """Count the sentence pairs of a corpus.

    Parameters
    ----------
    pairs
        Sentence pairs.
    without_text
        Of these, how many have no words.
    repeated_ids
        Pairs whose id an earlier pair has.
    source_tokens, target_tokens
        Words.
    source_types, target_types
        Different words.
    longest_source, longest_target
        Words of the longest sentence.
    annotators
        The counts of each annotator.
    attributes
        For each attribute how many different values it has.
    trees
        The counts of the trees of each name.
    """

    pairs: int = 0
    without_text: int = 0
    repeated_ids: int = 0
    source_tokens: int = 0
    target_tokens: int = 0
    source_types: int = 0
    target_types: int = 0
    longest_source: int = 0
    longest_target: int = 0
    annotators: dict[str, AnnotatorCounts] = field(default_factory=dict)
    attributes: dict[str, int] = field(default_factory=dict)
    trees: dict[str, TreeCounts] = field(default_factory=dict)


def count_corpus(pairs: Iterable[SentencePair]) -> CorpusCounts:
    """Count the pairs of a corpus in one pass; memory grows with words and ids, not with links.

    Examples
    --------
    >>> pair = SentencePair("1", ("a", "b"), ("a",), {"gold": Alignment.parse("0-0 1?0")})
    >>> counts = count_corpus([pair])
    >>> counts.source_tokens, counts.annotators["gold"].sure, counts.annotators["gold"].identical
    (2, 1, 1)
    """
    counting = _Counting()
    for pair in each("pairs", pairs, SentencePair):
        counting.add(pair)
    return counting.counts()


@dataclass
class GroupCounts:
    """Count a corpus, and the groups that the values of an attribute make of it.

    Parameters
    ----------
    whole
        The counts of all pairs.
    groups
        Those of each value, in the order of their first use; ``""``: of the pairs without one.
    several
        How many pairs have several values: groups overlap by these.
    """

    whole: CorpusCounts
    groups: dict[str, CorpusCounts]
    several: int = 0


def count_groups(
    pairs: Iterable[SentencePair], attribute: str, *, split: str | None = None
) -> GroupCounts:
    """Count the pairs of a corpus, and of each value of an attribute, in one pass.

    Parameters
    ----------
    pairs
        The sentence pairs.
    attribute
        The name of the attribute; or ``"day"``, ``"week"``, ``"month"``: see
        `alignkit.corpus.group_text`.
    split
        What stands between several values in it; a pair then counts in the group of each.

    Raises
    ------
    UnknownNameError
        If no pair has the attribute.
    OptionError
        If no annotation has a time to take a day, week or month from.

    Examples
    --------
    >>> pairs = [SentencePair(str(k), ("a",), ("b",), {}, {"genre": text})
    ...          for k, text in enumerate(["news", "web", "news, web"])]
    >>> found = count_groups(pairs, "genre", split=",")
    >>> {value: counts.pairs for value, counts in found.groups.items()}, found.several
    ({'news': 2, 'web': 2}, 1)
    """
    check_arguments(count_groups, locals(), apart=["pairs"])
    whole, several, known = _Counting(), 0, False
    parts: dict[str, _Counting] = {}
    for pair in each("pairs", pairs, SentencePair):
        whole.add(pair)
        text = group_text(pair, attribute)
        known = known or text is not None
        values = values_of(text or "", split)
        several += len(values) > 1
        for value in values:
            parts.setdefault(value, _Counting()).add(pair)
    counts = whole.counts()
    if counts.pairs and not known:
        raise no_group(attribute, counts.attributes)
    return GroupCounts(counts, {value: part.counts() for value, part in parts.items()}, several)


class _Counting:
    """Count sentence pairs as they come."""

    def __init__(self) -> None:
        self._counts = CorpusCounts()
        self._ids: set[str] = set()
        self._sources: set[str] = set()
        self._targets: set[str] = set()
        self._values: dict[str, set[str]] = {}

    def add(self, pair: SentencePair) -> None:
        """Count one pair."""
        found = self._counts
        found.pairs += 1
        found.repeated_ids += pair.id in self._ids
        self._ids.add(pair.id)
        if pair.source is None or pair.target is None:
            found.without_text += 1
        else:
            found.source_tokens += len(pair.source)
            found.target_tokens += len(pair.target)
            found.longest_source = max(found.longest_source, len(pair.source))
            found.longest_target = max(found.longest_target, len(pair.target))
            self._sources.update(pair.source)
            self._targets.update(pair.target)
        for name, value in pair.attributes.items():
            self._values.setdefault(name, set()).add(value)
        for name, tree in pair.source_trees.items():
            count = found.trees.setdefault(name, TreeCounts())
            count.source += 1
            count.source_nodes += len(tree)
            count.deepest = max(count.deepest, tree.depth)
        for name, tree in pair.target_trees.items():
            count = found.trees.setdefault(name, TreeCounts())
            count.target += 1
            count.target_nodes += len(tree)
            count.deepest = max(count.deepest, tree.depth)
        for name, annotation in pair.annotations.items():
            found.annotators.setdefault(name, AnnotatorCounts()).add(pair, annotation)

    def counts(self) -> CorpusCounts:
        """Return what was counted."""
        found = self._counts
        found.source_types, found.target_types = len(self._sources), len(self._targets)
        found.attributes = {name: len(seen) for name, seen in self._values.items()}
        return found
