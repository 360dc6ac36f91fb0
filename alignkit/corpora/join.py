"""Combine corpora: inputs of the same pairs, joined by id, or corpora of different pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from alignkit._support.arguments import check_arguments, each, naming_keywords
from alignkit.errors import (
    ArgumentError,
    JoinError,
    MissingPairsError,
    OtherIdsError,
    RepeatedIdError,
)
from alignkit.model.alignment import SIDES
from alignkit.model.annotation import Annotation
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.model.trees import Tree

_TEXT_FIELDS = ("comment", "judgment", "provenance", "role", "learned")
"""The texts of an annotation; two annotations contradict if both have one, and it differs."""


@dataclass
class Differences:
    """The different words of joined pairs, the pairs missing on one side, and doubtful ids."""

    # pair, side, position from 0, word of the first and of the second input
    tokens: list[tuple[str, str, int, str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # ids that only the first input has
    surplus: list[str] = field(default_factory=list)  # ids that only the second input has
    doubt: str = ""  # why equal ids may belong to different pairs

    def __str__(self) -> str:
        parts = [self.doubt] if self.doubt else []
        if self.tokens:
            id, side, position, first, second = self.tokens[0]
            pairs = len({entry[0] for entry in self.tokens})
            parts.append(
                f"{len(self.tokens)} tokens differ in {pairs} pairs (pair {id!r}, {side} "
                f"word {position}: {first!r} and {second!r}); the first ones are kept"
            )
        if self.missing:
            parts.append(f"{len(self.missing)} pairs are not in the second")
        if self.surplus:
            parts.append(f"{len(self.surplus)} pairs are only in the second")
        return "; ".join(parts)


@naming_keywords
def join_pairs(
    first: Iterable[SentencePair],
    second: Iterable[SentencePair],
    *,
    partial: bool = False,
    differences: Differences | None = None,
) -> Iterator[tuple[SentencePair, SentencePair]]:
    """Yield the pairs of two inputs, in the order of the first.

    While the ids agree, the two are read in parallel, and ids may repeat. The rest is joined by id;
    these ids must be unique.

    Parameters
    ----------
    first, second : Sentence pairs; the words may be unknown in either.
    partial : Allow either input to lack pairs of the other; otherwise this is an error.
    differences : Collects different tokens and missing pairs.

    Raises
    ------
    JoinError : If a pair is missing (`MissingPairsError`; `OtherIdsError` if the ids of one input
        seem to be those of other pairs), an id repeats although ids must be unique, or sentences
        with the same id have different numbers of tokens.

    Examples
    --------
    >>> from alignkit import Alignment
    >>> texts = [SentencePair("1", ("he", "left"), ("he", "went"), {})]
    >>> links = [SentencePair("1", None, None, {"gold": Alignment.parse("0-0")})]
    >>> [(first.source, second.alignment("gold")) for first, second in join_pairs(texts, links)]
    [(('he', 'left'), Alignment('0-0'))]
    """
    check_arguments(join_pairs, locals())
    left = each("first", first, SentencePair)
    right = each("second", second, SentencePair)
    noted = differences if differences is not None else Differences()

    def joined() -> Iterator[tuple[SentencePair, SentencePair]]:
        before = SeenIds()
        for pair in left:
            other = next(right, None)
            if other is None or pair.id != other.id:
                rest = chain([] if other is None else [other], right)
                yield from _by_id(chain([pair], left), rest, partial, noted, before)
                return
            before.add(pair.id)
            yield _checked(pair, other, noted)
        noted.surplus.extend(pair.id for pair in right)
        _check_whole(noted, partial, before.count)

    return joined()


class SeenIds:
    """The ids read so far; ids 1, 2, 3, ... take no memory."""

    def __init__(self) -> None:
        self.count = 0
        self._numbered = 0
        self._others: set[str] = set()

    def add(self, id: str) -> None:
        """Add the id of the next pair."""
        if self._numbered == self.count and id == str(self.count + 1):
            self._numbered += 1
        else:
            self._others.add(id)
        self.count += 1

    @property
    def numbered(self) -> bool:
        """Whether the ids are 1, 2, 3, ..."""
        return self._numbered == self.count

    def __contains__(self, id: str) -> bool:
        if len(id) < 19 and id.isascii() and id.isdecimal():
            number = int(id)
        else:
            number = 0
        return id in self._others or (0 < number <= self._numbered and id == str(number))


def _by_id(
    left: Iterable[SentencePair],
    right: Iterable[SentencePair],
    partial: bool,
    differences: Differences,
    before: SeenIds,
) -> Iterator[tuple[SentencePair, SentencePair]]:
    """Yield the remaining pairs of both inputs with the same ids; `before` are those yielded."""
    second = _unique(right, before, "second")
    first = _unique(left, before, "first")
    differences.doubt = _doubt(first, second, before)
    shared = [id for id in first if id in second]
    differences.missing.extend(id for id in first if id not in second)
    differences.surplus.extend(id for id in second if id not in first)
    if differences.doubt and not partial:
        number = ""
        if len(first) == len(second):
            number = f"both inputs have {before.count + len(first)} pairs, but "
        raise OtherIdsError(f"{number}{differences.doubt}; give the same pairs the same ids")
    _check_whole(differences, partial, before.count + len(shared))
    for id in shared:
        yield _checked(first[id], second[id], differences)


def _unique(pairs: Iterable[SentencePair], before: SeenIds, which: str) -> dict[str, SentencePair]:
    """Return pairs by id; `which` names their input in the message about a repeated id."""
    by_id: dict[str, SentencePair] = {}
    for pair in pairs:
        if pair.id in by_id or pair.id in before:
            raise JoinError(f"id {pair.id!r} repeats in the {which} input; ids must be unique")
        by_id[pair.id] = pair
    return by_id


def _doubt(first: Iterable[str], second: Iterable[str], before: SeenIds) -> str:
    """Say if one input has no ids but the numbers of its pairs, and the other has ids of its own.

    This is so if both have as many pairs, or if the other counts from 0.
    """
    first_ids = list(first)
    second_ids = list(second)
    start = before.count + 1
    first_numbered = before.numbered and _count_from(start, first_ids)
    second_numbered = before.numbered and _count_from(start, second_ids)
    if first_numbered == second_numbered:
        return ""
    if first_numbered:
        numbered = "first"
        named = "second"
        ids = second_ids
    else:
        numbered = "second"
        named = "first"
        ids = first_ids
    from_zero = before.count == 0 and all(map(str.isdecimal, ids)) and "0" in ids
    if not ids or not (from_zero or len(first_ids) == len(second_ids)):
        return ""
    if from_zero:
        what = "counts its pairs from 0"
    else:
        what = f"has other ids, such as {ids[0]!r}"
    return (
        f"the ids of the {numbered} are the numbers of its pairs, from 1, and the {named} {what}: "
        "equal ids may belong to different pairs"
    )


def _count_from(start: int, ids: list[str]) -> bool:
    """Return whether the ids are consecutive numbers from `start`."""
    return all(id == str(number) for number, id in enumerate(ids, start))


def _check_whole(differences: Differences, partial: bool, shared: int) -> None:
    """Raise an error if an input lacks pairs of the other; `shared` is how many are in both."""
    if partial:
        return
    if differences.missing:
        which = "second"
        ids = differences.missing
    else:
        which = "first"
        ids = differences.surplus
    if ids:
        lacks = f"the {which} input lacks {len(ids)} (the first has the id {ids[0]!r})"
        if shared:
            advice = "if this is intended, use `partial=True`"
        else:
            advice = "check the ids of both"
        raise MissingPairsError(f"{shared} pairs are in both, but {lacks}; {advice}")


def _checked(
    pair: SentencePair, other: SentencePair, differences: Differences
) -> tuple[SentencePair, SentencePair]:
    """Return both pairs; note words that differ, and raise an error if their numbers do."""
    for side in SIDES:
        words = getattr(pair, side)
        other_words = getattr(other, side)
        if words is None or other_words is None or words == other_words:
            continue
        if len(words) != len(other_words):
            raise JoinError(
                f"pair {pair.id!r}: the {side} sentence has {len(words)} tokens in the first "
                f"input and {len(other_words)} in the second"
            )
        for k, (word, other_word) in enumerate(zip(words, other_words, strict=True)):
            if word != other_word:
                differences.tokens.append((pair.id, side, k, word, other_word))
    return pair, other


@naming_keywords
def merge(
    base: Iterable[SentencePair],
    others: Mapping[str, Iterable[SentencePair]],
    *,
    partial: bool = False,
    tell: Callable[[str, Differences], None] | None = None,
) -> Corpus:
    """Combine the annotations of several inputs of the same pairs into one corpus.

    Parameters
    ----------
    base : The pairs; their words (if known), attributes and trees are kept.
    others : For each name, the same pairs with annotations to add under that name, or under
        ``name/annotator`` if an input has several annotators. Trees are added too, over the kept
        words; a tree that differs from the known one with its name becomes ``name/tree``.
    partial : Allow inputs to lack pairs, which they did not annotate.
    tell : Called with the name and the `Differences` of each input with differences.

    Raises
    ------
    JoinError : As for `join_pairs`, or if a name already exists. Two annotations with one name are
        combined if one has no alignment (the pair was only judged) and they do not contradict each
        other.

    Examples
    --------
    >>> from alignkit import Alignment
    >>> texts = [SentencePair("1", ("he", "left"), ("he", "went"), {})]
    >>> links = [SentencePair("1", None, None, {"alignment": Alignment.parse("0-0 1?1")})]
    >>> merge(texts, {"ann": links})["1"].alignment("ann")
    Alignment('0-0 1?1')
    """
    check_arguments(merge, locals())
    pairs = list(each("base", base, SentencePair))
    for name, other in others.items():
        differences = Differences()
        joined = list(join_pairs(pairs, other, partial=partial, differences=differences))
        if tell is not None and str(differences):
            tell(name, differences)
        at = 0  # `joined` has the order of `pairs`, some of which may be missing
        for k, pair in enumerate(pairs):
            if at < len(joined) and joined[at][0] is pair:
                _, with_annotations = joined[at]
                pairs[k] = _with(pair, with_annotations, name)
                at += 1
    return Corpus(pairs)


def _united(known: Annotation | None, added: Annotation) -> Annotation | None:
    """Combine two annotations if one has no alignment; None if they contradict."""
    if known is None:
        return added
    if known.alignment is not None and added.alignment is not None:
        return None
    texts = {}
    for name in _TEXT_FIELDS:
        first = getattr(known, name)
        second = getattr(added, name)
        if first and second and first != second:
            return None
        texts[name] = first or second
    starts = {known.start, added.start} - {None}
    if len(starts) > 1:
        return None
    times = [when for when in (known.when, added.when) if when]
    return Annotation(
        added.alignment if known.alignment is None else known.alignment,
        flags=known.flags | added.flags,
        when=max(times, default=None),
        start=starts.pop() if starts else None,
        unseen=known.unseen | added.unseen,
        **texts,
    )


def _with(pair: SentencePair, other: SentencePair, name: str) -> SentencePair:
    """Return a pair with the annotations and trees of another, under new names; see `merge`."""
    several = len(other.annotations) > 1
    annotations: dict[str, Annotation] = dict(pair.annotations)
    for annotator, annotation in other.annotations.items():
        key = f"{name}/{annotator}" if several else name
        start = annotation.start
        if several and start in other.annotations:  # which gets a new name too
            start = f"{name}/{start}"
        given = replace(annotation, start=start)
        united = _united(annotations.get(key), given)
        if united is None:
            message = f"pair {pair.id!r} has an annotation {key!r} already: choose a new name"
            raise JoinError(message)
        annotations[key] = united
    source = pair.source if pair.source is not None else other.source
    target = pair.target if pair.target is not None else other.target
    return replace(
        pair,
        annotations=annotations,
        source=source,
        target=target,
        source_trees=_all_trees(pair.id, source, pair.source_trees, other.source_trees, name),
        target_trees=_all_trees(pair.id, target, pair.target_trees, other.target_trees, name),
    )


def _all_trees(
    id: str,
    words: tuple[str, ...] | None,
    known: Mapping[str, Tree],
    added: Mapping[str, Tree],
    name: str,
) -> Mapping[str, Tree]:
    """Return the trees of a side, with those added under their names, or under ``name/tree``."""
    if words is None:
        return known
    trees = dict(known)
    for key, tree in added.items():
        fitted = tree if tree.words == words else tree.with_words(words)
        free = key
        if trees.get(key, fitted) != fitted:
            free = f"{name}/{key}"
        if trees.setdefault(free, fitted) != fitted:
            raise JoinError(f"pair {id!r} has a tree {free!r} already: choose a new name")
    return trees


@naming_keywords
def concat(
    corpora: Mapping[str, Iterable[SentencePair]] | Iterable[Iterable[SentencePair]],
    *,
    prefix: bool = False,
) -> Corpus:
    """Concatenate corpora of different sentence pairs.

    Annotators with the same name count as the same. To combine annotations of the same pairs, use
    `merge`.

    Parameters
    ----------
    corpora : The corpora, by name; without names these are ``"1"``, ``"2"``, ...
    prefix : Put the name of the corpus and a slash before each id.

    Raises
    ------
    RepeatedIdError : If two of them have the same id.

    Examples
    --------
    >>> news, web = Corpus.from_texts(["a"], ["b"]), Corpus.from_texts(["c"], ["d"])
    >>> concat({"news": news, "web": web}, prefix=True).ids
    ('news/1', 'web/1')
    """
    check_arguments(concat, locals(), apart=["corpora"])
    if isinstance(corpora, (str, bytes)) or not isinstance(corpora, Iterable):
        raise ArgumentError("corpora must be several corpora, in a list or by name")
    if not isinstance(corpora, Mapping):
        corpora = {str(number): corpus for number, corpus in enumerate(corpora, 1)}
    homes: dict[str, str] = {}
    clashes: dict[str, tuple[str, str]] = {}
    pairs: list[SentencePair] = []
    for name, corpus in corpora.items():
        for pair in each(f"corpora[{name!r}]", corpus, SentencePair):
            added = replace(pair, id=f"{name}/{pair.id}") if prefix else pair
            home = homes.setdefault(added.id, name)
            if home != name:
                clashes.setdefault(added.id, (home, name))
            pairs.append(added)
    if clashes:
        id, (home, name) = next(iter(clashes.items()))
        more = ""
        if len(clashes) > 1:
            more = f", as are {len(clashes) - 1} more ids"
        raise RepeatedIdError(
            f"id {id!r} is in {home} and in {name}{more}; put names before the ids with "
            "`prefix=True`, or merge the corpora if these are the same pairs"
        )
    return Corpus(pairs)
