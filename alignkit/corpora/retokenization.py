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
from alignkit.tables.columns import Column
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

DIFFERING = ("stop", "leave-out")
"""What to do with pairs whose texts differ: raise an error, or leave them out."""

_OF_SENTENCES = {"sent_id", "text", "comments"}  # what CoNLL-U says about the sentence
_NUMBERING = {"id", "head", "deps", "others"}  # what refers to words by their numbers
_READINGS = (lambda word: word, without_marker, lambda word: without_escapes(without_marker(word)))
_INSIDE = re.compile(r"[BI](-.*)", re.DOTALL)


@dataclass(frozen=True)
class Retokenized(TableResult):
    """A corpus with other words, and what was lost.

    Parameters
    ----------
    corpus : The corpus with the new words.
    lost : What could not be carried over, with its number.
    differing : The id of each pair that was left out, and the first difference of its texts.
    """

    corpus: Corpus
    lost: Mapping[str, int]
    differing: Sequence[tuple[str, str]]

    def table(self) -> Table:
        """Return the numbers of pairs, and of each kind of loss."""
        left_out = ("pairs left out: the texts differ", len(self.differing))
        rows = [("pairs", len(self.corpus)), left_out, *self.lost.items()]
        return Table("", [Column("", key="part"), Column("number", "count")], rows)

    def to_json(self) -> dict[str, object]:
        """Return the numbers, and the pairs that were left out, for JSON."""
        differing = [{"id": id, "difference": text} for id, text in self.differing]
        return {"pairs": len(self.corpus), "lost": dict(self.lost), "differing": differing}


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
    corpus : The corpus; all its annotations are carried over.
    source_words, target_words : The new words of each pair, in order: texts (split at white space)
        or sequences of words. None: the side stays. The texts must be equal except for white space,
        the form of Unicode (NFC), markers of subwords and escapes; see `docs/retokenize.md`.
    differing : Whether pairs whose texts differ ``stop`` the work, or are left out, ``leave-out``.

    Raises
    ------
    JoinError : If there are more or fewer sentences than pairs, or the texts of a pair differ.
    MissingTextError : If a pair has no words.

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
    new = []
    for side, given in zip(SIDES, (source_words, target_words), strict=True):
        name = f"{side}_words"
        old = [pair.words[side == "target"] for pair in corpus]
        new.append(old if given is None else sentences_of(name, given))
        if len(new[-1]) != len(corpus):
            raise JoinError(f"`{name}` has {len(new[-1]):,} sentences for {len(corpus):,} pairs")
    lost = Counter[str]()
    pairs = []
    left_out = []
    for pair, *sentences in zip(corpus, *new, strict=True):
        sides = list(map(_fitted, pair.words, sentences, SIDES))
        source, target = sides
        if isinstance(source, _Fitted) and isinstance(target, _Fitted):
            pairs.append(_carried(pair, (source, target), lost))
        else:
            left_out.append((pair.id, next(side for side in sides if isinstance(side, str))))
    if left_out and differing == "stop":
        (id, problem), *others = left_out
        if others:
            more = f" (so do {how_many(len(others), 'other pair')})"
        else:
            more = ""
        raise JoinError(
            f"pair {brief(id)!r}: the texts differ{more}: {problem}; correct the new words, or "
            "leave such pairs out with `differing`"
        )
    return Retokenized(Corpus(pairs), +lost, left_out)


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
        if [char for char, _ in chars] == [char for char, _ in new_chars]:
            break
    else:
        return _difference(side, (old, chars), (new, new_chars))
    owners = ((first, second) for (_, first), (_, second) in zip(chars, new_chars, strict=True))
    shares = Counter(both for each in owners for both in product(*each))
    most = Counter[int]()
    most_of_new = Counter[int]()
    for (k, n), count in shares.items():
        most[k], most_of_new[n] = max(most[k], count), max(most_of_new[n], count)
    places: list[dict[int, bool]] = [{} for _ in old]
    for (k, n), count in shares.items():
        places[k][n] = count == most[k] or count == most_of_new[n]
    return _Fitted(tuple(new), old != new, shares, places)


_Characters = list[tuple[str, Iterable[int]]]
"""The characters of a sentence, with their marks, each with the words that have a part of it."""


def _characters(words: Sequence[str]) -> _Characters:
    bare = ["".join(word.split()) for word in words]
    text = "".join(bare)
    owned = [(char, (k,)) for k, word in enumerate(bare) for char in word]
    if text.isascii() or (is_normalized("NFC", text) and not any(map(combining, text))):
        return list(owned)
    characters: _Characters = []
    for char, owner in owned:
        before, owners = characters[-1] if characters else ("", ())
        joined = before + char
        composed = normalize("NFC", char)
        mark = combining(normalize("NFD", char)[0])
        # Hangul vowels and some others are no marks, but become one character with those before
        if before and (mark or normalize("NFC", joined) != normalize("NFC", before) + composed):
            characters[-1] = joined, {*owners, *owner}
        else:
            characters.append((char, owner))
    return [(normalize("NFC", char), owners) for char, owners in characters]


def _difference(side: str, *read: tuple[Sequence[str], _Characters]) -> str:
    """Describe the first character that differs, by the words that have it."""
    (_, first), (_, second) = read
    texts = zip(first, second, strict=False)
    equal = (k for k, ((char, _), (other, _)) in enumerate(texts) if char != other)
    at = next(equal, min(len(first), len(second)))
    old, new = (
        repr(words[min(chars[at][1])][:40]) if at < len(chars) else "the end"
        for words, chars in read
    )
    return f"{side}, character {at + 1}: {old} in the corpus, {new} in the new words"


def _carried(
    pair: SentencePair, sides: tuple[_Fitted, _Fitted], lost: Counter[str]
) -> SentencePair:
    """Return a pair with new words, and all that belonged to the old ones."""
    attributes = dict(pair.attributes)
    for side, fitted, old in zip(SIDES, sides, pair.words, strict=True):
        for key, text in pair.attributes.items() if fitted.changed else ():
            of, _, name = key.partition(".")
            values = text.split("\t") if old else []
            if of == side and name in _NUMBERING:
                del attributes[key]
                lost[f"columns {key}"] += 1
            elif of == side and name not in _OF_SENTENCES and len(values) == len(old):
                attributes[key] = "\t".join(_column(values, fitted))
    annotations = dict(pair.annotations)
    for name, alignment in pair.alignments.items():
        annotations[name] = replace(annotations[name], alignment=_moved(alignment, sides, lost))
    old_trees = pair.source_trees, pair.target_trees
    trees = [{} if x.changed else old for x, old in zip(sides, old_trees, strict=True)]
    lost["trees"] += sum(map(len, old_trees)) - sum(map(len, trees))
    return SentencePair(pair.id, sides[0].words, sides[1].words, annotations, attributes, *trees)


def _column(values: Sequence[str], fitted: _Fitted) -> list[str]:
    """Return the value of the old word with most characters of each new one; spans stay whole."""
    owners: list[list[int]] = [[] for _ in fitted.words]
    for k, n in fitted.shares:
        owners[n].append(k)
    column = list[str]()
    before = -1
    for n, olds in enumerate(owners):
        main = max(olds, key=lambda k: (fitted.shares[k, n], -k), default=-1)
        value = "_" if main < 0 else values[main]
        if (inside := _INSIDE.fullmatch(value)) is not None:
            begins = any(values[k] == f"B{inside[1]}" and k != before for k in olds)
            value = f"{'B' if begins else 'I'}{inside[1]}"
        before = main
        column.append(value)
    return column


def _moved(alignment: Alignment, sides: tuple[_Fitted, _Fitted], lost: Counter[str]) -> Alignment:
    """Return the alignment of the new words."""

    def cells(link: Link) -> dict[Link, bool]:
        """Return the new cells of a cell or null, and whether each is a main one."""
        ends = (
            {NULL: True} if k == NULL else fitted.places[k]
            for k, fitted in zip(link, sides, strict=True)
        )
        return {Link(i, j): a and b for (i, a), (j, b) in product(*(end.items() for end in ends))}

    links = dict[Link, bool]()
    nulls = dict[Link, bool]()
    weights = dict[LinkLike, float]()
    labels = dict[LinkLike, str]()
    for link, sure in alignment.items():
        moved = cells(link)
        lost["links of words without characters"] += not moved
        lost["links that are only possible at some words"] += sure and not all(moved.values())
        for cell, main in moved.items():
            links[cell] = links.get(cell, False) or (sure and main)
            if link in alignment.weights:
                weight = alignment.weights[link]
                weights[cell] = max(weights.get(cell, weight), weight)
    linked = Alignment((), links)
    for null in alignment.nulls:
        had = null.i in alignment.aligned_source() or null.j in alignment.aligned_target()
        for cell, main in cells(null).items():
            if not had and (cell.i in linked.aligned_source() or cell.j in linked.aligned_target()):
                lost["nulls of words that are now part of a linked word"] += 1
            else:
                sure = null in alignment.sure_nulls and main
                nulls[cell] = nulls.get(cell, False) or sure
    own = set(alignment if alignment.labels else ())
    for cell, text in sorted(alignment.labels.items(), key=lambda item: item[0] not in own):
        for new in cells(cell):
            lost["labels of links that are now one"] += labels.setdefault(new, text) != text
    return Alignment(
        [link for link, sure in links.items() if sure],
        links,
        nulls=[null for null, sure in nulls.items() if sure],
        possible_nulls=nulls,
        weights=weights,
        labels=labels,
    )
