"""What words are linked to: the concordance of a word, and a glossary of all words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2, nan
from typing import Literal, NamedTuple

from alignkit._support.arguments import check_arguments, check_known, naming_keywords
from alignkit._support.wording import how_many
from alignkit.errors import OptionError
from alignkit.model.alignment import NULL, SIDES
from alignkit.model.sentence_pair import SentencePair, word_column
from alignkit.model.texts import compared
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import Result
from alignkit.tables.table import Table

SURE = "sure"
POSSIBLE = "possible"
EMPTY = "aligned to nothing"
UNLINKED = "no link"
"""How a word is linked: surely; at least once only possibly; explicitly to nothing; not at all."""

GAP = "…"
"""Stands between the words of a counterpart that are not adjacent."""

_COUNTS = (
    Column("counterpart"),
    Column(SURE, "count"),
    Column(POSSIBLE, "count"),
    Column("share", "percent", unit="%"),
)
_CONTEXT = (
    Column("annotator"),
    Column("pair", key="id"),
    Column("at", "count"),
    Column("left", right=True),
    Column("word"),
    Column("right"),
    Column("status"),
    Column("counterpart"),
)
_WORDS = (
    Column("annotator"),
    Column("word"),
    Column("occurrences", "count"),
    Column("linked", "percent", unit="%"),
    Column("different", "count"),
    Column("entropy", "decimal", digits=2),
    Column("counterparts"),
)
_MOST = 4  # counterparts of a word that a glossary shows


class Occurrence(NamedTuple):
    """A word of a sentence pair, its status (`SURE`, ...), its counterpart and its context.

    The fields are those of the columns of a concordance, in this order. `at` is the place of the
    word in its sentence, from 0; `left` and `right` are the words before and behind it.
    """

    annotator: str
    id: str
    at: int
    left: str
    word: str
    right: str
    status: str
    counterpart: str

    @property
    def shown(self) -> str:
        """The counterpart, or why there is none."""
        return self.counterpart or f"({self.status})"


class _Counted(Result):
    """A result that counts what it leaves out."""

    left_out: Mapping[str, int]

    @property
    def head(self) -> Sequence[str]:
        return [f"{count} {reason}" for reason, count in self.left_out.items()]

    def to_json(self) -> dict[str, object]:
        return super().to_json() | {"left_out": dict(self.left_out)}


@dataclass(frozen=True)
class Concordance(_Counted):
    """The counterparts of a word, and each of its occurrences.

    Returned by `concordance`.

    Parameters
    ----------
    word, side : What was looked for.
    occurrences : The occurrences in annotated pairs, by annotator.
    left_out : The number of further occurrences, or pairs, by the reason why they do not count.
    most : Lines of context for each counterpart that `show` prints; None for all.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["the bank"], ["la rive"], gold=["0-0 1-1"])
    >>> found = alignkit.concordance(corpus, "bank")
    >>> found.word, found.occurrences[0].counterpart
    ('bank', 'rive')
    """

    word: str
    side: str
    occurrences: tuple[Occurrence, ...]
    left_out: Mapping[str, int]
    most: int | None = None

    @property
    def head(self) -> Sequence[str]:
        """A line with the number of occurrences, and lines with what does not count."""
        pairs = how_many(len({x.id for x in self.occurrences}), "pair")
        times = how_many(len(self.occurrences), "annotated occurrence")
        return f"{self.word} ({self.side}): {times} in {pairs}", *super().head

    def tables(self) -> Sequence[Table]:
        """Return the counterparts, and a line of context for each occurrence."""
        return replace(self, most=None).shown_tables()

    def shown_tables(self) -> Sequence[Table]:
        """Return the tables with at most `most` lines for each counterpart."""
        by_annotator: dict[str, list[Occurrence]] = defaultdict(list)
        by_counterpart: dict[tuple[str, str], list[Occurrence]] = defaultdict(list)
        for x in self.occurrences:
            by_annotator[x.annotator].append(x)
            by_counterpart[x.annotator, x.shown].append(x)
        rows: list[list[Cell]] = []
        lines: list[list[Cell]] = []
        for name, part in by_annotator.items():
            for counted in _counterparts(part):
                rows.append([name, *counted])
                lines += map(list, by_counterpart[name, counted.text][: self.most])
        note = ""
        if more := len(self.occurrences) - len(lines):
            note = f"{how_many(more, 'further line')} not shown"
        return (
            Table("", [Column("annotator"), *_COUNTS], rows, "", "counterparts", stub=2),
            Table("", _CONTEXT, lines, note, "lines", stub=2),
        )


class _Counterpart(NamedTuple):
    """A counterpart of a word: how often it is sure and possible, and its share of all."""

    text: str
    sure: int
    possible: int
    share: float


def _counterparts(occurrences: Sequence[Occurrence]) -> list[_Counterpart]:
    """Return the counterparts of a word, the most frequent first; "(no link)" and the like too."""
    counts = Counter(x.shown for x in occurrences)
    sure = Counter(x.shown for x in occurrences if x.status == SURE)
    possible = Counter(x.shown for x in occurrences if x.status == POSSIBLE)
    counterparts = []
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        share = counts[text] / len(occurrences)
        counterparts.append(_Counterpart(text, sure[text], possible[text], share))
    return counterparts


@dataclass(frozen=True)
class Glossary(_Counted):
    """The counterparts of each word of a side.

    Returned by `glossary`.

    Parameters
    ----------
    entries : The occurrences of each word, by annotator and word, most frequent words first.
    left_out : See `Concordance`.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["the bank"] * 2, ["la rive"] * 2, gold=["0-0 1-1"] * 2)
    >>> entries = alignkit.glossary(corpus).entries
    >>> [occurrence.counterpart for occurrence in entries["gold", "bank"]]
    ['rive', 'rive']
    """

    entries: Mapping[tuple[str, str], Sequence[Occurrence]]
    left_out: Mapping[str, int]

    def entropy(self, annotator: str, word: str) -> float:
        """Return the entropy of the counterparts of a word in bits; NaN if it has no links.

        H = -sum p log2 p, with p the share of each counterpart among the linked occurrences.

        Parameters
        ----------
        annotator : The name of the annotator.
        word : A word of the side.

        Examples
        --------
        >>> import alignkit
        >>> texts = ["bank"] * 2, ["rive", "banque"]
        >>> corpus = alignkit.Corpus.from_texts(*texts, gold=["0-0"] * 2)
        >>> alignkit.glossary(corpus).entropy("gold", "bank")
        1.0
        """
        counts = Counter(x.counterpart for x in self.entries[annotator, word] if x.counterpart)
        if not counts:
            return nan
        shares = [count / counts.total() for count in counts.values()]
        return sum(p * log2(1 / p) for p in shares)

    def tables(self) -> Sequence[Table]:
        """Return a table of the words, and one of all their counterparts."""
        rows: list[list[Cell]] = []
        for key, part in self.entries.items():
            rows += [[*key, *counted] for counted in _counterparts(part)]
        columns = [Column("annotator"), Column("word"), *_COUNTS]
        return *self.shown_tables(), Table("", columns, rows, "", "counterparts", stub=3)

    def shown_tables(self) -> Sequence[Table]:
        """Return the words with their most frequent counterparts."""
        rows: list[list[Cell]] = []
        for key, part in self.entries.items():
            linked = [x for x in part if x.counterpart]
            counted = _counterparts(linked)
            texts = [f"{x.text} {x.share:.0%}" for x in counted[:_MOST]]
            if len(counted) > _MOST:
                texts.append(GAP)
            share = len(linked) / len(part)
            entropy = self.entropy(*key)
            rows.append([*key, len(part), share, len(counted), entropy, ", ".join(texts)])
        note = "entropy of the counterparts in bits; 0: always the same"
        return (Table("", _WORDS, rows, note, "words", stub=2),)


@naming_keywords
def concordance(
    corpus: Iterable[SentencePair],
    word: str,
    *,
    side: Literal["source", "target"] = "source",
    annotator: str | None = None,
    lemma: str | None = None,
    regex: bool = False,
    ignore_case: bool = False,
    context: int = 5,
) -> Concordance:
    """Return what a word is linked to, how often, and where.

    A word linked to several words has one counterpart, their sequence. An occurrence is sure if all
    its links are. Occurrences in pairs that an annotator did not align are counted in `left_out`.

    Parameters
    ----------
    corpus : The sentence pairs, with words and links.
    word : The word; with `regex`, a regular expression that matches the whole word.
    side : ``"source"`` or ``"target"``.
    annotator : Whose links to read; None for each annotator.
    lemma : A column of the words, such as ``"lemma"``: look for its values, and give the
        counterparts by their values if their side has the column too.
    ignore_case : Ignore differences of case. Those of the Unicode form of characters never count.
    regex : Whether `word` is a regular expression.
    context : Words of context on either side of the word.

    Raises
    ------
    OptionError : If the regular expression is invalid, `context` is negative, or no pair has the
        column `lemma`.
    UnknownNameError : If the annotator or the side is unknown.

    Examples
    --------
    >>> from alignkit.model.corpus import Corpus
    >>> corpus = Corpus.from_texts(["the bank"] * 2, ["la rive", "la grande banque"],
    ...                            gold=["0-0 1-1", "1-0 1-2"])
    >>> [(x.id, x.status, x.counterpart) for x in concordance(corpus, "bank").occurrences]
    [('1', 'sure', 'rive'), ('2', 'sure', 'la … banque')]
    """
    check_arguments(concordance, locals())
    if context < 0:
        raise OptionError(f"`context` is {context}; expected 0 or more")
    if regex:
        text = compared(word)  # not folded: \S is not \s
    else:
        text = re.escape(compared(word, ignore_case=ignore_case))
    flags = re.IGNORECASE if ignore_case else 0
    try:
        matches = re.compile(text, flags).fullmatch
    except re.error as error:
        raise OptionError(f"{word!r} is not a regular expression: {error}") from None
    occurrences, left_out = _read(
        corpus, side, annotator, lemma, ignore_case, matches=matches, context=context
    )
    return Concordance(word, side, tuple(x for _, x in occurrences), left_out)


@naming_keywords
def glossary(
    corpus: Iterable[SentencePair],
    *,
    side: Literal["source", "target"] = "source",
    annotator: str | None = None,
    lemma: str | None = None,
    ignore_case: bool = False,
) -> Glossary:
    """Return the counterparts of each word of a side, and their entropy; see `concordance`.

    Parameters
    ----------
    corpus : The sentence pairs, with words and links.
    side, annotator, lemma, ignore_case : As in `concordance`.

    Raises
    ------
    OptionError, UnknownNameError : As in `concordance`.

    Examples
    --------
    >>> from alignkit.model.corpus import Corpus
    >>> corpus = Corpus.from_texts(["bank"] * 4, ["rive", "banque", "banque", "banque"],
    ...                            gold=["0-0"] * 4)
    >>> round(glossary(corpus).entropy("gold", "bank"), 3)
    0.811
    """
    check_arguments(glossary, locals())
    occurrences, left_out = _read(corpus, side, annotator, lemma, ignore_case)
    entries: dict[tuple[str, str], list[Occurrence]] = defaultdict(list)
    for form, x in occurrences:
        entries[x.annotator, form].append(x)
    annotators = dict.fromkeys(name for name, _ in entries)
    places = {name: k for k, name in enumerate(annotators)}

    def rank(key: tuple[str, str]) -> tuple[int, int, str]:
        """Return what entries are sorted by: annotator, frequency and word."""
        name, form = key
        return places[name], -len(entries[key]), form

    return Glossary({key: entries[key] for key in sorted(entries, key=rank)}, left_out)


def _read(
    pairs: Iterable[SentencePair],
    side: str,
    annotator: str | None,
    lemma: str | None,
    fold: bool,
    *,
    matches: Callable[[str], object] = bool,
    context: int = 0,
) -> tuple[list[tuple[str, Occurrence]], dict[str, int]]:
    """Return each matching word as it is compared, with its occurrence; and what is left out.

    They come annotator by annotator. Pairs are transposed if the words are those of the target
    side, so the words are always those of the source.
    """
    check_known("side", side, SIDES)
    occurrences: dict[str, list[tuple[str, Occurrence]]] = {}
    matching = 0
    without_words = 0
    has_column = False
    for given in pairs:
        pair = given if side == "source" else given.transpose()
        for name in pair.alignments:
            occurrences.setdefault(name, [])
        words = _words(pair, "source", lemma)
        others = _words(pair, "target", lemma)
        has_column = has_column or words is not None
        if words is None or others is None:
            without_words += 1
            continue
        forms = [compared(word, ignore_case=fold) for word in words]
        places = [at for at, form in enumerate(forms) if matches(form)]
        matching += len(places)
        for at in places:
            for name in pair.alignments:
                occurrence = _occurrence(pair, name, at, others, context)
                occurrences[name].append((forms[at], occurrence))
    if lemma is not None and not has_column:
        raise OptionError(f"no pair has the column {side}.{lemma}")
    if annotator is not None:
        check_known("annotator", annotator, occurrences)
        occurrences = {annotator: occurrences[annotator]}
    left_out = {}
    kept = []
    for name, part in occurrences.items():
        kept += part
        if more := matching - len(part):
            left_out[f"more in pairs that {name} did not annotate"] = more
    if without_words:
        what = "words" if lemma is None else f"the column {lemma}"
        left_out[f"pairs without {what}"] = without_words
    return kept, left_out


def _words(pair: SentencePair, side: str, lemma: str | None) -> Sequence[str] | None:
    """Return the words of a side, or their values in a column, called `lemma`; None without any.

    The target side, which has the counterparts, may lack the column: then its words are returned.
    """
    words: Sequence[str] | None = getattr(pair, side)
    if lemma is None or words is None:
        return words
    lemmas = word_column(pair, side, lemma)
    if not lemmas and side == "target":
        return words
    return lemmas or None


def _occurrence(
    pair: SentencePair, name: str, at: int, others: Sequence[str], context: int
) -> Occurrence:
    """Return a word of the first side, and what an annotator linked it to."""
    alignment = pair.alignment(name)
    words = pair.words[0]
    linked = {link.j: sure for link, sure in alignment.items() if link.i == at}
    if linked:
        status = SURE if all(linked.values()) else POSSIBLE
    elif (at, NULL) in alignment.nulls:
        status = EMPTY
    else:
        status = UNLINKED
    counterpart: list[str] = []
    for k in sorted(linked):
        if counterpart and k - 1 not in linked:
            counterpart.append(GAP)
        counterpart.append(others[k])
    left = " ".join(words[max(0, at - context) : at])
    right = " ".join(words[at + 1 :][:context])
    text = " ".join(counterpart)
    return Occurrence(name, pair.id, at, left, words[at], right, status, text)
