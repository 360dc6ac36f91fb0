"""Leaks between two parts of a corpus: pairs of one that also occur in the other.

A pair of the second part leaks if the first part has its two texts (equal), has them exchanged
(reversed), or has a pair of the same group (grouped), such as the same document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from alignkit._support.arguments import check_arguments
from alignkit.model.corpus import Corpus, compared_texts, group_texts, group_values
from alignkit.model.sentence_pair import REWRITE_OF, SentencePair, origin_of

GROUPS = ("goeswith", "document", "entity", "original")
"""The attributes that usually name pairs which belong together."""

EQUAL = "equal"
REVERSED = "reversed"
GROUPED = "grouped"
KINDS = (EQUAL, REVERSED, GROUPED)
"""The kinds of leaks."""

_Texts = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Leak:
    """A pair of the second part that also occurs in the first."""

    kind: str  # one of `KINDS`
    train: str  # the id of the first such pair of the first part
    test: str  # the id of the pair of the second part
    group: str = ""  # attribute and value of the group, as goeswith=x
    also: tuple[str, ...] = ()  # the further groups of the pair that the first part has


def find_leaks(
    train: Corpus,
    test: Corpus,
    groups: Sequence[str] | None = None,
    *,
    separator: str | None = None,
    ignore_case: bool = False,
) -> list[Leak]:
    """Return the pairs that the second part shares with the first."""
    check_arguments(find_leaks, locals())
    for name in groups or ():
        group_texts([*train, *test], name)  # refuses one that no pair has
    groups = GROUPS if groups is None else groups
    # rewrites name their pair by its id, which says nothing if both parts use the same ids
    one_corpus = not {pair.id for pair in train} & {pair.id for pair in test}
    # the id of the first pair of train with these texts, and of the first one of a group
    with_texts: dict[_Texts, str] = {}
    in_group: dict[str, str] = {}
    for pair in train:
        if (texts := compared_texts(pair, ignore_case=ignore_case)) is not None:
            with_texts.setdefault(texts, pair.id)
        for group in _groups(pair, groups, separator, origin=one_corpus):
            in_group.setdefault(group, pair.id)
    leaks: list[Leak] = []
    for pair in test:
        if (texts := compared_texts(pair, ignore_case=ignore_case)) is not None:
            exchanged = texts[::-1]
            if texts in with_texts:
                leaks.append(Leak(EQUAL, with_texts[texts], pair.id))
            elif exchanged in with_texts:
                leaks.append(Leak(REVERSED, with_texts[exchanged], pair.id))
        of_pair = _groups(pair, groups, separator, origin=one_corpus)
        shared = [group for group in of_pair if group in in_group]
        if shared:
            first, *also = shared
            leaks.append(Leak(GROUPED, in_group[first], pair.id, first, tuple(also)))
    return leaks


def shared_texts(train: Corpus, test: Corpus, *, ignore_case: bool = False) -> set[str]:
    """Return the ids of pairs of the second part with a text, on any side, of the first."""
    known: set[tuple[str, ...]] = set()
    for pair in train:
        known.update(compared_texts(pair, ignore_case=ignore_case) or ())
    known.discard(())  # empty texts are not shared
    shared = set()
    for pair in test:
        texts = compared_texts(pair, ignore_case=ignore_case) or ()
        if not known.isdisjoint(texts):
            shared.add(pair.id)
    return shared


def _groups(
    pair: SentencePair, attributes: Iterable[str], separator: str | None, *, origin: bool
) -> list[str]:
    """Return the groups of a pair, as goeswith=x; with `origin`, also that of its rewrites."""
    names = []
    for attribute in attributes:
        names += [f"{attribute}={value}" for value in group_values(pair, attribute, separator)]
    if origin:
        names.append(f"{REWRITE_OF}={origin_of(pair) or pair.id}")
    return list(dict.fromkeys(names))
