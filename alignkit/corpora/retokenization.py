"""Carry a corpus over to other words of the same texts: to subwords, to Moses tokens, and back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple
from unicodedata import combining, is_normalized, normalize

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.wording import brief, how_many
from alignkit.corpora.remapping import without_escapes, without_marker
from alignkit.errors import JoinError, OptionError
from alignkit.model.alignment import NULL, SIDES, Alignment, Link, LinkLike
from alignkit.model.coercion import sentences_of
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

DIFFERING = ("stop", "leave-out")
"""What to do with pairs whose texts differ: raise an error, or leave them out."""

_NUMBERING = {"id", "head", "deps"}  # columns that refer to words by their numbers
_READINGS = (
    lambda word: word,
    without_marker,
    lambda word: without_escapes(without_marker(word)),
)
_INSIDE = re.compile(r"[BI](-.*)", re.DOTALL)


@dataclass(frozen=True)
class Retokenized(TableResult):
    """A corpus with other words, and what became of its parts.

    Parameters
    ----------
    corpus
        The corpus with the new words.
    before, after
        The numbers of pairs, words, links and so on, in the corpus as given and in the new one.
    lost
        What could not be carried over, with its number.
    differing
        The id of each pair that was left out, and the first difference of its texts.
    """

    corpus: Corpus
    before: Mapping[str, int]
    after: Mapping[str, int]
    lost: Mapping[str, int]
    differing: Sequence[tuple[str, str]]

    def table(self) -> Table:
        """Return the numbers before and after, a row for each part."""
        columns = [Column("", key="part"), Column("before", "count"), Column("after", "count")]
        rows: list[list[Cell]] = [[name, x, self.after[name]] for name, x in self.before.items()]
        return Table("", columns, rows, "; ".join(self.notes), anchor="retokenized")

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What was lost, and how many pairs were left out."""
        lost = [f"{count:,} x {what}" for what, count in self.lost.items()]
        left_out = how_many(len(self.differing), "pair")
        return (*lost, *([f"{left_out} left out: the texts differ"] if self.differing else []))

    def to_json(self) -> dict[str, object]:
        """Return all numbers, and the pairs that were left out, for JSON."""
        differing = [{"id": id, "difference": text} for id, text in self.differing]
        numbers = {"before": dict(self.before), "after": dict(self.after), "lost": dict(self.lost)}
        return {**numbers, "differing": differing}


Sentences = Iterable[str | Iterable[str]]


def retokenize(
    corpus: Corpus,
    source_words: Sentences | None = None,
    target_words: Sentences | None = None,
    *,
    differing: str = "stop",
) -> Retokenized:
    """Carry the annotations of a corpus over to other words of the same texts.

    A link goes to every new word that shares a character with the old one. A sure link stays sure
    where the old and the new word correspond on both sides: no other new word has more of the old
    word's characters, or no other old word has more characters of the new word. Elsewhere it is
    possible. Of several links that become one, it is sure if one is, and has the largest weight.

    Parameters
    ----------
    corpus
        The corpus; all its annotations are carried over.
    source_words, target_words
        The new words of each pair, in order: texts (split at white space) or sequences of words.
        None: the side stays. The texts must be equal except for white space, the form of Unicode
        (NFC), markers of subwords and escapes; see `alignkit.corpora.remapping`.
    differing
        Whether pairs whose texts differ ``stop`` the work, or are left out, ``leave-out``.

    Raises
    ------
    JoinError
        If there are more or fewer sentences than pairs, or the texts of a pair differ.
    MissingTextError
        If a pair has no words.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["unhappy"], ["not happy"], gold=["0-0 0-1"])
    >>> pieces = retokenize(corpus, ["un@@ happy"])
    >>> pieces.corpus["1"].alignment("gold")
    Alignment('0-0 0-1 1-0 1-1')
    >>> retokenize(pieces.corpus, ["unhappy"]).corpus == corpus
    True
    """
    check_arguments(retokenize, locals(), apart=["source_words", "target_words"])
    check_known("differing", differing, DIFFERING)
    if source_words is None and target_words is None:
        raise OptionError("no new words: give `source_words`, `target_words` or both")
    new = [
        [pair.words[k] for pair in corpus]
        if given is None
        else _of_each(("source_words", "target_words")[k], given, len(corpus))
        for k, given in enumerate((source_words, target_words))
    ]
    lost, pairs, left_out = Counter[str](), [], []
    for pair, *sentences in zip(corpus, *new, strict=True):
        sides = list(map(_fitted, pair.words, sentences, SIDES))
        source, target = sides
        if isinstance(source, _Fitted) and isinstance(target, _Fitted):
            pairs.append(_carried(pair, (source, target), lost))
        else:
            left_out.append((pair.id, next(side for side in sides if isinstance(side, str))))
    if left_out and differing == "stop":
        (id, problem), *others = left_out
        more = f" (so do {how_many(len(others), 'other pair')})" if others else ""
        raise JoinError(
            f"pair {brief(id)!r}: the texts differ{more}: {problem}; correct the new words, or "
            "leave such pairs out with `differing`"
        )
    before, after = _counts(corpus), _counts(pairs)
    return Retokenized(Corpus(pairs), before, {k: after[k] for k in before}, +lost, left_out)


def _of_each(name: str, given: Sentences, pairs: int) -> list[tuple[str, ...]]:
    sentences = sentences_of(name, given)
    if len(sentences) != pairs:
        raise JoinError(f"`{name}` has {len(sentences):,} sentences for {pairs:,} pairs")
    return sentences


def _counts(pairs: Iterable[SentencePair]) -> Counter[str]:
    counts = Counter[str]()
    for pair in pairs:
        source, target = pair.words
        counts.update({"pairs": 1, "source words": len(source), "target words": len(target)})
        for alignment in pair.alignments.values():
            sure = sum(alignment.packed()[1])
            counts.update({"sure links": sure, "possible links": len(alignment) - sure})
            counts.update({"nulls": len(alignment.nulls), "labels": len(alignment.labels)})
    return counts


class _Fitted(NamedTuple):
    """The new words of a side, and where the old words went."""

    words: tuple[str, ...]
    changed: bool
    shares: Counter[tuple[int, int]]  # of an old and a new word: how many characters they share
    places: list[dict[int, bool]]  # of each old word: the new ones, and whether one is its main one


def _fitted(old: Sequence[str], new: Sequence[str], side: str) -> _Fitted | str:
    """Return where the old words of a side went, or the first difference of the texts."""
    readings = sorted(product(range(len(_READINGS)), repeat=2), key=sum)  # as it is, if that fits
    for reading in readings if old != new else readings[:1]:
        chars, new_chars = (
            _characters([_READINGS[k](word) for word in words])
            for k, words in zip(reading, (old, new), strict=True)
        )
        if chars.texts == new_chars.texts:
            break
    else:
        return _difference(side, (old, new), (chars, new_chars))
    owners = zip(chars.owners, new_chars.owners, strict=True)
    shares = Counter(both for each in owners for both in product(*each))
    most, most_of_new = Counter[int](), Counter[int]()
    for (k, n), count in shares.items():
        most[k], most_of_new[n] = max(most[k], count), max(most_of_new[n], count)
    places: list[dict[int, bool]] = [{} for _ in old]
    for (k, n), count in shares.items():
        places[k][n] = count == most[k] or count == most_of_new[n]
    return _Fitted(tuple(new), old != new, shares, places)


class _Characters(NamedTuple):
    """The characters of a sentence, with their marks, and the words that have a part of each."""

    texts: list[str]
    owners: list[tuple[int, ...]]


def _characters(words: Sequence[str]) -> _Characters:
    bare = ["".join(word.split()) for word in words]
    text = "".join(bare)
    owners = [k for k, word in enumerate(bare) for _ in word]
    if text.isascii() or (is_normalized("NFC", text) and not any(map(combining, text))):
        return _Characters(list(text), [(k,) for k in owners])
    texts: list[str] = []
    several: list[dict[int, None]] = []
    for char, owner in zip(text, owners, strict=True):
        if texts and _joins(texts[-1], char):
            texts[-1] += char
            several[-1][owner] = None
        else:
            texts.append(char)
            several.append({owner: None})
    return _Characters([normalize("NFC", part) for part in texts], list(map(tuple, several)))


def _joins(before: str, char: str) -> bool:
    """Return whether a mark belongs to the characters before it, as Hangul vowels do."""
    if combining(normalize("NFD", char)[0]):
        return True
    apart = normalize("NFC", before) + normalize("NFC", char)
    return normalize("NFC", before + char) != apart


def _difference(
    side: str, sentences: tuple[Sequence[str], Sequence[str]], read: tuple[_Characters, _Characters]
) -> str:  # fmt: skip
    """Describe the first character that differs, by the words that have it."""
    first, second = (each.texts for each in read)
    equal = (k for k, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    at = next(equal, min(len(first), len(second)))
    words = (
        repr(words[each.owners[at][0]][:40]) if at < len(each.owners) else "the end"
        for words, each in zip(sentences, read, strict=True)
    )
    return (
        f"{side}, character {at + 1}: {next(words)} in the corpus, {next(words)} in the new words"
    )


def _carried(
    pair: SentencePair, sides: tuple[_Fitted, _Fitted], lost: Counter[str]
) -> SentencePair:  # fmt: skip
    """Return a pair with new words, and all that belonged to the old ones."""
    attributes = dict(pair.attributes)
    for side, fitted, old in zip(SIDES, sides, pair.words, strict=True):
        own = [name for name in attributes if fitted.changed and name.startswith(f"{side}.")]
        for name in own:
            values = attributes.pop(name).split("\t") if old else []
            if len(values) == len(old) and name.partition(".")[2] not in _NUMBERING:
                attributes[name] = "\t".join(_column(values, fitted))
            else:
                lost[f"columns {name}"] += 1
    annotations = {
        name: replace(
            x, alignment=None if x.alignment is None else _moved(x.alignment, sides, lost)
        )
        for name, x in pair.annotations.items()
    }
    trees = [
        {} if fitted.changed else trees
        for fitted, trees in zip(sides, (pair.source_trees, pair.target_trees), strict=True)
    ]
    lost["trees"] += len(pair.source_trees) + len(pair.target_trees) - sum(map(len, trees))
    return SentencePair(
        pair.id, sides[0].words, sides[1].words, annotations, attributes, trees[0], trees[1]
    )


def _column(values: Sequence[str], fitted: _Fitted) -> list[str]:
    """Return the value of the old word with most characters of each new one; spans stay whole."""
    owners: list[list[int]] = [[] for _ in fitted.words]
    for k, n in fitted.shares:
        owners[n].append(k)
    column, before = list[str](), -1
    for n, olds in enumerate(owners):
        main = max(olds, key=lambda k: (fitted.shares[k, n], -k), default=-1)
        value = "_" if main < 0 else values[main]
        if (inside := _INSIDE.fullmatch(value)) is not None:
            begins = any(values[k] == f"B{inside[1]}" and k != before for k in olds)
            value = f"{'B' if begins else 'I'}{inside[1]}"
        before = main
        column.append(value)
    return column


def _moved(
    alignment: Alignment, sides: tuple[_Fitted, _Fitted], lost: Counter[str]
) -> Alignment:  # fmt: skip
    """Return the alignment of the new words."""

    def cells(link: Link) -> dict[Link, bool]:
        """Return the new cells of a cell or null, and whether each is a main one."""
        ends = (
            {NULL: True} if k == NULL else fitted.places[k]
            for k, fitted in zip(link, sides, strict=True)
        )
        return {Link(i, j): a and b for (i, a), (j, b) in product(*(end.items() for end in ends))}

    links, nulls = dict[Link, bool](), dict[Link, bool]()
    weights, labels = dict[LinkLike, float](), dict[LinkLike, str]()
    for link, sure in alignment.items():
        moved = cells(link)
        lost["links of words without characters"] += not moved
        lost["links that are only possible at some words"] += sure and not all(moved.values())
        for cell, main in moved.items():
            links[cell] = links.get(cell, False) or (sure and main)
            if link in alignment.weights:
                weights[cell] = max(weights.get(cell, 0.0), alignment.weights[link])
    linked = Alignment((), links)
    for null in alignment.nulls:
        had = null.i in alignment.aligned_source() or null.j in alignment.aligned_target()
        for cell, main in cells(null).items():
            if not had and (cell.i in linked.aligned_source() or cell.j in linked.aligned_target()):
                lost["nulls of words that are now part of a linked word"] += 1
            else:
                sure = null in alignment.sure_nulls and main
                nulls[cell] = nulls.get(cell, False) or sure
    for cell, text in sorted(
        alignment.labels.items(), key=lambda x: x[0] not in alignment.possible
    ):
        for new in cells(cell):
            lost["labels of links that are now one"] += labels.setdefault(new, text) != text
    return Alignment(
        [link for link, sure in links.items() if sure], links,
        nulls=[null for null, sure in nulls.items() if sure], possible_nulls=nulls,
        weights=weights, labels=labels,
    )  # fmt: skip
