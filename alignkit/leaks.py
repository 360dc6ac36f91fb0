"""Find what two parts of a split share: equal pairs, reversed ones, and pairs of one group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from alignkit.arguments import check_arguments
from alignkit.corpus import Corpus, SentencePair
from alignkit.errors import UnknownNameError
from alignkit.labels.rewrites import REWRITE_OF, origin_of
from alignkit.labels.schemes import SCHEMES

__all__ = ["GROUPS", "KINDS", "Leak", "Repeats", "find_leaks", "flipped"]

GROUPS = ("goeswith",)
"""The attributes that name groups of pairs, where none are named."""
KINDS = EQUAL, REVERSED, GROUPED = ("equal", "reversed", "grouped")

_Texts = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Leak:
    """A pair of the second part that the first part knows.

    Parameters
    ----------
    kind
        ``"equal"``: both texts are those of a pair of the first part; ``"reversed"``: they are,
        source and target exchanged; ``"grouped"``: a pair of the first part has the same group.
    train, test
        The ids of both pairs; of the first part, the first such.
    group
        Attribute and value of the group, as ``goeswith=x``.
    """

    kind: str
    train: str
    test: str
    group: str = ""


def find_leaks(
    train: Corpus, test: Corpus, groups: Sequence[str] | None = None, *, ignore_case: bool = False
) -> list[Leak]:
    """Return what the second part shares with the first.

    Texts are equal where their words are: the white space between them does not count.

    Parameters
    ----------
    train, test
        The parts.
    groups
        The attributes that name groups; None: `GROUPS`, where pairs have them. A pair that was
        written anew of another (see `alignkit.labels.rewrites`) counts as grouped with it too,
        unless ids of one part stand in the other, which are then not parts of one corpus.
    ignore_case
        Whether words that differ in case alone are equal.

    Raises
    ------
    UnknownNameError
        If no pair of either part has an attribute that is named.

    Examples
    --------
    >>> train = Corpus.from_texts(["a b", "c"], ["d", "e"], ids=["1", "2"])
    >>> test = Corpus.from_texts(["d", "c"], ["a b", "f"], ids=["3", "4"])
    >>> find_leaks(train, test)
    [Leak(kind='reversed', train='1', test='3', group='')]
    """
    check_arguments(find_leaks, locals())
    for name in groups or ():
        if name not in train.attributes and name not in test.attributes:
            known = dict.fromkeys([*train.attributes, *test.attributes])
            raise UnknownNameError("attribute", name, known)
    groups = GROUPS if groups is None else groups
    one_corpus = not {pair.id for pair in train} & {pair.id for pair in test}
    texts: dict[_Texts, str] = {}
    named: dict[str, str] = {}
    for pair in train:
        if (key := _texts(pair, ignore_case)) is not None:
            texts.setdefault(key, pair.id)
        for name in _groups(pair, groups, origin=one_corpus):
            named.setdefault(name, pair.id)
    found: list[Leak] = []
    for pair in test:
        if (key := _texts(pair, ignore_case)) is not None:
            same, back = texts.get(key), texts.get(key[::-1])
            if same is not None:
                found.append(Leak(EQUAL, same, pair.id))
            elif back is not None:
                found.append(Leak(REVERSED, back, pair.id))
        shared = [name for name in _groups(pair, groups, origin=one_corpus) if name in named]
        found.extend(Leak(GROUPED, named[name], pair.id, name) for name in shared)
    return found


def _texts(pair: SentencePair, ignore_case: bool) -> _Texts | None:
    """Return both texts as they are compared; None where they are not known."""
    if pair.source is None or pair.target is None:
        return None
    if ignore_case:
        source, target = pair.source, pair.target
        return tuple(map(str.casefold, source)), tuple(map(str.casefold, target))
    return pair.source, pair.target


def _groups(pair: SentencePair, attributes: Iterable[str], *, origin: bool) -> list[str]:
    found = [f"{name}={pair.attributes[name]}" for name in attributes if pair.attributes.get(name)]
    return [*found, f"{REWRITE_OF}={origin_of(pair) or pair.id}"] if origin else found


def flipped(judgment: str) -> str:
    """Return a judgment for exchanged texts, by the first scheme in which that changes it.

    Examples
    --------
    >>> flipped("4<i"), flipped("forward"), flipped("3")
    ('4>i', 'reverse', '3')
    """
    for scheme in SCHEMES.values():
        if scheme.exchanged and judgment in scheme.judgments:
            other = scheme.flip(judgment)
            if other != judgment:
                return other
    return judgment


class Repeats:
    """Tell pairs that one annotator judged twice, otherwise, as they come."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, _Texts], tuple[str, str]] = {}

    def add(self, pair: SentencePair) -> list[tuple[str, str]]:
        """Take a pair; return the kind and the words of what is odd about it."""
        if pair.source is None or pair.target is None:
            return []
        found = []
        texts = (pair.source, pair.target)
        for name, annotation in pair.annotations.items():
            judgment = annotation.judgment
            if not judgment:
                continue
            same = self._seen.get((name, texts))
            back = self._seen.get((name, texts[::-1])) if texts != texts[::-1] else None
            if same is not None and same[1] != judgment:
                found.append((f"{EQUAL} pairs judged differently", self._told(name, pair, same)))
            elif same is None and back is not None and flipped(back[1]) != judgment:
                found.append((f"{REVERSED} pairs judged differently", self._told(name, pair, back)))
            if same is None:
                self._seen[name, texts] = pair.id, judgment
        return found

    @staticmethod
    def _told(name: str, pair: SentencePair, other: tuple[str, str]) -> str:
        judgment = pair.annotations[name].judgment
        return (
            f"pair {pair.id[:40]!r} is {judgment[:40]!r} by {name[:40]!r}, but pair "
            f"{other[0][:40]!r} is {other[1][:40]!r}"
        )
