"""Find what two parts of a split share: equal pairs, reversed ones, and pairs of one group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from alignkit._support.arguments import check_arguments
from alignkit.model.corpus import Corpus, compared_texts, group_texts, group_values
from alignkit.model.labels import SCHEMES
from alignkit.model.sentence_pair import REWRITE_OF, SentencePair, origin_of

GROUPS = ("goeswith",)
"""The attributes that name groups of pairs, where none are named."""
KINDS = EQUAL, REVERSED, GROUPED = ("equal", "reversed", "grouped")

_Texts = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Leak:
    """A pair of the second part that the first part knows."""

    kind: str
    train: str  # the ids of both pairs; of the first part, the first such
    test: str
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
    """Return what the second part shares with the first."""
    check_arguments(find_leaks, locals())
    for name in groups or ():
        group_texts([*train, *test], name)  # refuses one that no pair has
    groups = GROUPS if groups is None else groups
    one_corpus = not {pair.id for pair in train} & {pair.id for pair in test}
    texts: dict[_Texts, str] = {}
    named: dict[str, str] = {}
    for pair in train:
        if (key := compared_texts(pair, ignore_case=ignore_case)) is not None:
            texts.setdefault(key, pair.id)
        for name in _groups(pair, groups, separator, origin=one_corpus):
            named.setdefault(name, pair.id)
    leaks: list[Leak] = []
    for pair in test:
        if (key := compared_texts(pair, ignore_case=ignore_case)) is not None:
            same, back = texts.get(key), texts.get(key[::-1])
            if same is not None:
                leaks.append(Leak(EQUAL, same, pair.id))
            elif back is not None:
                leaks.append(Leak(REVERSED, back, pair.id))
        mine = _groups(pair, groups, separator, origin=one_corpus)
        if shared := [name for name in mine if name in named]:
            leaks.append(Leak(GROUPED, named[shared[0]], pair.id, shared[0], tuple(shared[1:])))
    return leaks


def _groups(
    pair: SentencePair, attributes: Iterable[str], separator: str | None, *, origin: bool
) -> list[str]:
    names = [
        f"{name}={value}" for name in attributes for value in group_values(pair, name, separator)
    ]
    names += [f"{REWRITE_OF}={origin_of(pair) or pair.id}"] if origin else []
    return list(dict.fromkeys(names))


def flipped(judgment: str) -> str:
    """Return a judgment for exchanged texts, by the first scheme in which that changes it."""
    for scheme in SCHEMES.values():
        if scheme.exchanged and judgment in scheme.judgments:
            other = scheme.flip(judgment)
            if other != judgment:
                return other
    return judgment


class Repeats:
    """Finds pairs that an annotator judged twice, and differently, as they come."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, _Texts], tuple[str, str]] = {}

    def add(self, pair: SentencePair) -> list[tuple[str, str]]:
        """Take a pair; return the kind and the words of what is odd about it."""
        judged = {
            name: value.judgment for name, value in pair.annotations.items() if value.judgment
        }
        if not judged or (texts := compared_texts(pair)) is None:
            return []
        odd = []
        for name, judgment in judged.items():
            same = self._seen.get((name, texts))
            back = self._seen.get((name, texts[::-1])) if texts != texts[::-1] else None
            kind, other = (EQUAL, same) if same is not None else (REVERSED, back)
            if same is None:
                self._seen[name, texts] = pair.id, judgment
            if other is None:
                continue
            if judgment != (flipped(other[1]) if kind == REVERSED else other[1]):
                message = (
                    f"pair {pair.id[:40]!r} is {judgment[:40]!r} by {name[:40]!r}, but pair "
                    f"{other[0][:40]!r} is {other[1][:40]!r}"
                )
                odd.append((f"{kind} pairs judged differently", message))
        return odd
