"""Carry a corpus over to other words of the same texts: to subwords, to Moses tokens, and back.

An old and a new word of a side belong together by the characters that they share. Old "unhappy"
and new "un happy" share 2 and 5 characters, so a link of "unhappy" goes to both new words. A new
word is a *main* one of an old word if no other new word has more characters of the old word, or no
other old word has more characters of the new word. "un" and "happy" are both main ones. Old "happy"
in "un happy" goes to both words of the new "unh appy", but only "appy" is a main one. Sure links
stay sure at main words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, NamedTuple
from unicodedata import combining, is_normalized, normalize

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.wording import brief, how_many
from alignkit.corpora.remapping import without_escapes, without_marker
from alignkit.errors import JoinError, OptionError
from alignkit.model.alignment import NULL, SIDES, Alignment, Link, LinkLike
from alignkit.model.annotation import Annotation
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
_IN_SPAN = re.compile(r"[BI](-.*)", re.DOTALL)


@dataclass(frozen=True)
class Retokenized(TableResult):
    """A corpus with other words, and what was lost.

    Returned by `retokenize`.

    Parameters
    ----------
    corpus : The corpus with the new words.
    lost : What could not be carried over, with its number.
    differing : The id of each pair that was left out, and the first difference of its texts.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["unhappy"], ["not happy"], gold=["0-0 0-1"])
    >>> pieces = alignkit.retokenize(corpus, ["un@@ happy"])
    >>> pieces.corpus["1"].source, dict(pieces.lost)
    (('un@@', 'happy'), {})
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
    differing: Literal["stop", "leave-out"] = "stop",
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
        the form of Unicode (NFC), markers of subwords and escapes; see
        https://alignkit.github.io/alignkit/latest/formats/retokenize.html
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
    sources = _sentences(corpus, 0, source_words)
    targets = _sentences(corpus, 1, target_words)
    lost = Counter[str]()
    pairs = []
    left_out = []
    for pair, new_source, new_target in zip(corpus, sources, targets, strict=True):
        source = _matched(pair.words[0], new_source, "source")
        target = _matched(pair.words[1], new_target, "target")
        if isinstance(source, str):
            left_out.append((pair.id, source))
        elif isinstance(target, str):
            left_out.append((pair.id, target))
        else:
            pairs.append(_carried(pair, (source, target), lost))
    if left_out and differing == "stop":
        (id, problem), *others = left_out
        more = ""
        if others:
            more = f" (so do {how_many(len(others), 'other pair')})"
        raise JoinError(
            f"pair {brief(id)!r}: the texts differ{more}: {problem}; correct the new words, or "
            "leave such pairs out with `differing`"
        )
    return Retokenized(Corpus(pairs), +lost, left_out)


def _sentences(corpus: Corpus, side: int, given: Sentences | None) -> Sequence[Sequence[str]]:
    """Return the new words of a side of each pair; the old ones if none are given."""
    if given is None:
        return [pair.words[side] for pair in corpus]
    name = f"{SIDES[side]}_words"
    sentences = sentences_of(name, given)
    if len(sentences) != len(corpus):
        raise JoinError(f"`{name}` has {len(sentences):,} sentences for {len(corpus):,} pairs")
    return sentences


class _NewWords(NamedTuple):
    """The new words of a side, and where the old words went."""

    words: tuple[str, ...]
    changed: bool
    shared: Counter[tuple[int, int]]  # of an old and a new word: how many characters they share
    moved_to: list[
        dict[int, bool]
    ]  # of each old word: the new ones, and whether each is a main one


_MARKUP = sorted(product(range(3), repeat=2), key=sum)
"""What to remove from the old and from the new words (see `_without`): least first."""


def _matched(old: Sequence[str], new: Sequence[str], side: str) -> _NewWords | str:
    """Return where the old words of a side went, or the first difference of the texts."""
    to_try = _MARKUP
    if old == new:
        to_try = [(0, 0)]
    for old_markup, new_markup in to_try:
        chars = _characters(_without(old_markup, old))
        new_chars = _characters(_without(new_markup, new))
        if chars.texts == new_chars.texts:
            break
    else:
        return _difference(side, old, chars, new, new_chars)
    shared: Counter[tuple[int, int]] = Counter()
    for owners, new_owners in zip(chars.owners, new_chars.owners, strict=True):
        for old_and_new in product(owners, new_owners):
            shared[old_and_new] += 1
    # the most characters that a word shares with one word
    most = Counter[int]()
    most_of_new = Counter[int]()
    for (k, n), count in shared.items():
        most[k] = max(most[k], count)
        most_of_new[n] = max(most_of_new[n], count)
    moved_to: list[dict[int, bool]] = [{} for _ in old]
    for (k, n), count in shared.items():
        moved_to[k][n] = count in (most[k], most_of_new[n])
    return _NewWords(tuple(new), old != new, shared, moved_to)


def _without(markup: int, words: Sequence[str]) -> Sequence[str]:
    """Return words without markers of subwords if `markup` is 1, and without escapes too if 2."""
    if markup == 0:
        return words
    plain = [without_marker(word) for word in words]
    if markup == 1:
        return plain
    return [without_escapes(word) for word in plain]


class _Characters(NamedTuple):
    """The characters of a sentence, with their marks, and the words that have a part of each.

    A word can begin with a mark, such as an accent, of the last character of the word before it.
    """

    texts: list[str]
    owners: list[set[int]]


def _characters(words: Sequence[str]) -> _Characters:
    """Return the characters of words, without white space, composed as in NFC."""
    bare = ["".join(word.split()) for word in words]
    text = "".join(bare)
    texts: list[str] = []
    owners: list[set[int]] = []
    # nothing to compose
    if text.isascii() or (is_normalized("NFC", text) and not any(map(combining, text))):
        for k, word in enumerate(bare):
            texts += word
            owners += [{k}] * len(word)
        return _Characters(texts, owners)
    for k, word in enumerate(bare):
        for char in word:
            if texts and _belongs(char, texts[-1]):
                texts[-1] += char
                owners[-1].add(k)
            else:
                texts.append(char)
                owners.append({k})
    return _Characters([normalize("NFC", char) for char in texts], owners)


def _belongs(char: str, before: str) -> bool:
    """Return whether a character is a mark of those before, or becomes one with them.

    Hangul vowels and some others are no marks, but are composed.
    """
    if combining(normalize("NFD", char)[0]):
        return True
    apart = normalize("NFC", before) + normalize("NFC", char)
    return normalize("NFC", before + char) != apart


def _difference(
    side: str,
    old: Sequence[str],
    chars: _Characters,
    new: Sequence[str],
    new_chars: _Characters,
) -> str:
    """Describe the first character that differs, by the words that have it."""
    shorter = min(len(chars.texts), len(new_chars.texts))
    at = 0
    while at < shorter and chars.texts[at] == new_chars.texts[at]:
        at += 1

    def word_at(words: Sequence[str], characters: _Characters) -> str:
        """Return the word that has the character, shortened, or that the text ends there."""
        if at == len(characters.texts):
            return "the end"
        word = words[min(characters.owners[at])]
        return repr(word[:40])

    return (
        f"{side}, character {at + 1}: {word_at(old, chars)} in the corpus, "
        f"{word_at(new, new_chars)} in the new words"
    )


def _carried(
    pair: SentencePair, sides: tuple[_NewWords, _NewWords], lost: Counter[str]
) -> SentencePair:
    """Return a pair with new words, and all that belonged to the old ones."""
    attributes = dict(pair.attributes)
    for side, new, old in zip(SIDES, sides, pair.words, strict=True):
        if not new.changed:
            continue
        for key, text in pair.attributes.items():
            owner, _, name = key.partition(".")
            if owner != side or name in _OF_SENTENCES:
                continue
            values = text.split("\t") if old else []
            if name in _NUMBERING:
                del attributes[key]
                lost[f"columns {key}"] += 1
            elif len(values) == len(old):
                attributes[key] = "\t".join(_column(values, new))
    annotations = dict(pair.annotations)
    for name, alignment in pair.alignments.items():
        annotation = annotations[name]
        unseen = _unseen_cells(annotation, sides)
        moved = _moved(alignment, sides, lost)
        annotations[name] = replace(annotation, alignment=moved, unseen=unseen)
    source, target = sides
    source_trees = {} if source.changed else pair.source_trees
    target_trees = {} if target.changed else pair.target_trees
    lost["trees"] += len(pair.source_trees) - len(source_trees)
    lost["trees"] += len(pair.target_trees) - len(target_trees)
    return SentencePair(
        pair.id, source.words, target.words, annotations, attributes, source_trees, target_trees
    )


def _column(values: Sequence[str], new: _NewWords) -> list[str]:
    """Return the value of each new word: that of the old word that has most of its characters.

    Spans (``B-PER``, ``I-PER``) stay whole: of the pieces of a word with ``B-PER``, only the first
    has it, and the others have ``I-PER``.
    """
    old_words: list[list[int]] = [[] for _ in new.words]  # those with characters of each new word
    for k, n in new.shared:
        old_words[n].append(k)
    column = list[str]()
    before = -1  # the old word that gave its value to the new word before
    for n, olds in enumerate(old_words):
        main = max(olds, key=lambda k: (new.shared[k, n], -k), default=-1)
        value = "_" if main < 0 else values[main]
        if (in_span := _IN_SPAN.fullmatch(value)) is not None:
            kind = in_span[1]
            begins = any(values[k] == f"B{kind}" and k != before for k in olds)
            value = f"B{kind}" if begins else f"I{kind}"
        before = main
        column.append(value)
    return column


def _moved_cells(link: Link, sides: tuple[_NewWords, _NewWords]) -> dict[Link, bool]:
    """Return the new cells of a cell or null, and whether both words of each are main ones."""
    source, target = sides
    rows = {NULL: True} if link.i == NULL else source.moved_to[link.i]
    columns = {NULL: True} if link.j == NULL else target.moved_to[link.j]
    moved = {}
    for i, main_row in rows.items():
        for j, main_column in columns.items():
            moved[Link(i, j)] = main_row and main_column
    return moved


def _unseen_cells(annotation: Annotation, sides: tuple[_NewWords, _NewWords]) -> frozenset[Link]:
    """Return the new links that are made of unseen links alone."""
    if annotation.alignment is None or not annotation.unseen:
        return frozenset()
    unseen: set[Link] = set()
    seen: set[Link] = set()
    for link in annotation.alignment:
        cells = unseen if link in annotation.unseen else seen
        cells.update(_moved_cells(link, sides))
    return frozenset(unseen - seen)


def _moved(
    alignment: Alignment, sides: tuple[_NewWords, _NewWords], lost: Counter[str]
) -> Alignment:
    """Return the alignment of the new words."""
    links = dict[Link, bool]()  # whether each is sure
    nulls = dict[Link, bool]()
    weights = dict[LinkLike, float]()
    labels = dict[LinkLike, str]()
    for link, sure in alignment.items():
        moved = _moved_cells(link, sides)
        lost["links of words without characters"] += not moved
        lost["links that are only possible at some words"] += sure and not all(moved.values())
        for cell, main in moved.items():
            links[cell] = links.get(cell, False) or (sure and main)
            if link in alignment.weights:
                weight = alignment.weights[link]
                weights[cell] = max(weights.get(cell, weight), weight)
    linked = Alignment((), links)
    for null in alignment.nulls:
        was_linked = _is_linked(null, alignment)
        for cell, main in _moved_cells(null, sides).items():
            if not was_linked and _is_linked(cell, linked):
                lost["nulls of words that are now part of a linked word"] += 1
            else:
                sure = null in alignment.sure_nulls and main
                nulls[cell] = nulls.get(cell, False) or sure
    # first the labels of links: the first label of a new cell counts
    of_links = alignment.possible
    for cell in sorted(alignment.labels, key=lambda cell: cell not in of_links):
        text = alignment.labels[cell]
        for new in _moved_cells(cell, sides):
            lost["labels of links that are now one"] += labels.setdefault(new, text) != text
    return Alignment(
        [link for link, sure in links.items() if sure],
        links,
        nulls=[null for null, sure in nulls.items() if sure],
        possible_nulls=nulls,
        weights=weights,
        labels=labels,
    )


def _is_linked(cell: Link, alignment: Alignment) -> bool:
    """Return whether a word of the cell bears a link."""
    return cell.i in alignment.aligned_source() or cell.j in alignment.aligned_target()
