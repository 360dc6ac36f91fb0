"""Count the contents of a corpus in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from alignkit._support.arguments import check_arguments, each, naming_keywords
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import group_text, no_group, values_of
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.model.trees import Tree


@dataclass
class AnnotatorCounts:
    """The counts of an annotator."""

    pairs: int = 0  # sentence pairs aligned
    empty: int = 0  # of these, how many have no link
    sure: int = 0  # links that are sure
    possible: int = 0  # links that are only possible
    nulls: int = 0  # words explicitly aligned to nothing
    source_aligned: int = 0  # source words that have a link
    target_aligned: int = 0  # target words that have a link
    source_tokens: int = 0  # source words of the aligned pairs with words
    target_tokens: int = 0  # target words of the aligned pairs with words
    one_to_one: int = 0  # links of which neither word has another link
    identical: int = 0  # links between words equal after casefold
    comments: int = 0  # annotations with a comment
    judged: int = 0  # annotations without an alignment
    role: str = "annotator"

    def add(self, pair: SentencePair, annotation: Annotation) -> None:
        """Count one annotation."""
        self.comments += bool(annotation.comment)
        self.role = annotation.role or self.role
        if (alignment := annotation.alignment) is None:
            self.judged += 1
            return
        links = list(alignment)
        sources = Counter(i for i, _ in links)
        targets = Counter(j for _, j in links)
        _, is_sure = alignment.packed()
        sure = sum(is_sure)
        self.pairs += 1
        self.empty += not len(alignment)
        self.sure += sure
        self.possible += len(alignment) - sure
        self.nulls += len(alignment.nulls)
        self.source_aligned += len(sources)
        self.target_aligned += len(targets)
        self.one_to_one += sum(sources[i] == targets[j] == 1 for i, j in links)
        if pair.source is not None and pair.target is not None:
            self.source_tokens += len(pair.source)
            self.target_tokens += len(pair.target)
            for i, j in links:
                self.identical += pair.source[i].casefold() == pair.target[j].casefold()


@dataclass
class TreeCounts:
    """The counts of the trees with a name."""

    source: int = 0  # sentence pairs with a tree of the source side
    target: int = 0  # sentence pairs with a tree of the target side
    source_nodes: int = 0  # nodes of the source trees
    target_nodes: int = 0  # nodes of the target trees
    deepest: int = 0  # nodes on the longest way from a root to a leaf

    def add(self, source: Tree | None, target: Tree | None) -> None:
        """Count the trees of a pair."""
        if source is not None:
            self.source += 1
            self.source_nodes += len(source)
            self.deepest = max(self.deepest, source.depth)
        if target is not None:
            self.target += 1
            self.target_nodes += len(target)
            self.deepest = max(self.deepest, target.depth)


@dataclass
class CorpusCounts:
    """The counts of a corpus."""

    pairs: int = 0  # sentence pairs
    without_text: int = 0  # of these, how many have no words
    repeated_ids: int = 0  # pairs whose id an earlier pair has
    source_tokens: int = 0  # source words
    target_tokens: int = 0  # target words
    source_types: int = 0  # different source words
    target_types: int = 0  # different target words
    longest_source: int = 0  # words of the longest source sentence
    longest_target: int = 0  # words of the longest target sentence
    annotators: dict[str, AnnotatorCounts] = field(default_factory=dict)
    attributes: dict[str, int] = field(default_factory=dict)  # of each, its different values
    trees: dict[str, TreeCounts] = field(default_factory=dict)  # by name of the trees


@naming_keywords
def count_corpus(pairs: Iterable[SentencePair]) -> CorpusCounts:
    """Count the pairs of a corpus in one pass; memory grows with words and ids, not with links.

    Parameters
    ----------
    pairs : The sentence pairs, such as a `Corpus`; read once, so an iterator is enough.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair
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
    """The counts of a corpus, and of its groups by the values of an attribute."""

    whole: CorpusCounts  # the counts of all pairs
    groups: dict[str, CorpusCounts]
    several: int = 0  # how many pairs have several values: groups overlap by these


@naming_keywords
def count_groups(
    pairs: Iterable[SentencePair], by: str, *, split: str | None = None
) -> GroupCounts:
    """Count the pairs of a corpus, and for each value of an attribute, in one pass.

    Parameters
    ----------
    pairs : The sentence pairs.
    by : The name of the attribute; or ``"day"``, ``"week"``, ``"month"``: see
        `alignkit.model.corpus.group_text`.
    split : The separator of several values; a pair then counts in the group of each value.

    Raises
    ------
    UnknownNameError : If no pair has the attribute.
    OptionError : If no annotation has a time for the day, week or month.

    Examples
    --------
    >>> pairs = [SentencePair(str(k), ("a",), ("b",), {}, {"genre": text})
    ...          for k, text in enumerate(["news", "web", "news, web"])]
    >>> counts = count_groups(pairs, "genre", split=",")
    >>> {value: part.pairs for value, part in counts.groups.items()}, counts.several
    ({'news': 2, 'web': 2}, 1)
    """
    check_arguments(count_groups, locals(), apart=["pairs"])
    whole = _Counting()
    several = 0
    known = False
    parts: dict[str, _Counting] = {}
    for pair in each("pairs", pairs, SentencePair):
        whole.add(pair)
        text = group_text(pair, by)
        known = known or text is not None
        values = values_of(text or "", split)
        several += len(values) > 1
        for value in values:
            parts.setdefault(value, _Counting()).add(pair)
    counts = whole.counts()
    if counts.pairs and not known:
        raise no_group(by, counts.attributes)
    groups = {value: part.counts() for value, part in parts.items()}
    return GroupCounts(counts, groups, several)


class _Counting:
    """Counts sentence pairs one by one."""

    def __init__(self) -> None:
        self._counts = CorpusCounts()
        self._ids: set[str] = set()
        self._sources: set[str] = set()
        self._targets: set[str] = set()
        self._values: dict[str, set[str]] = {}

    def add(self, pair: SentencePair) -> None:
        """Count one pair."""
        counts = self._counts
        counts.pairs += 1
        counts.repeated_ids += pair.id in self._ids
        self._ids.add(pair.id)
        counts.without_text += not pair.has_text
        if pair.source is not None and pair.target is not None:
            counts.source_tokens += len(pair.source)
            counts.target_tokens += len(pair.target)
            counts.longest_source = max(counts.longest_source, len(pair.source))
            counts.longest_target = max(counts.longest_target, len(pair.target))
            self._sources.update(pair.source)
            self._targets.update(pair.target)
        for name, value in pair.attributes.items():
            self._values.setdefault(name, set()).add(value)
        for name in dict.fromkeys((*pair.source_trees, *pair.target_trees)):
            tree_counts = counts.trees.setdefault(name, TreeCounts())
            tree_counts.add(pair.source_trees.get(name), pair.target_trees.get(name))
        for name, annotation in pair.annotations.items():
            counts.annotators.setdefault(name, AnnotatorCounts()).add(pair, annotation)

    def counts(self) -> CorpusCounts:
        """Return the counts."""
        counts = self._counts
        counts.source_types = len(self._sources)
        counts.target_types = len(self._targets)
        counts.attributes = {name: len(seen) for name, seen in self._values.items()}
        return counts
