"""Score a plain list of phrase pairs, such as a phrase table, against a gold corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from typing import Any, Literal

import numpy as np

from alignkit._support.arguments import check_arguments, naming_keywords, words
from alignkit._support.values import named_json
from alignkit._support.wording import how_many
from alignkit.errors import ArgumentError, FormatError, OptionError, UnknownNameError
from alignkit.io.base_checks import BaseWatch
from alignkit.io.limits import MAX_MEGABYTES
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.model.corpus import Corpus
from alignkit.model.phrase_arrays import PhraseArrays
from alignkit.model.phrases import extract_phrases
from alignkit.scoring import result
from alignkit.scoring.counts import Rows
from alignkit.scoring.measures import PhraseScore, phrase_ratios
from alignkit.scoring.settings import Signature
from alignkit.stats.defaults import CONFIDENCE, RESAMPLES, SEED
from alignkit.stats.resampling import Interval, confidence_interval, few_pairs
from alignkit.tables.columns import Cell, Column, percent
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

Span = tuple[int, int, int, int]
Starts = dict[int, list[int]]
"""Where a phrase occurs: its start positions, sorted, by the number of the sentence."""


@dataclass(frozen=True, repr=False)
class PhraseListScore(TableResult):
    """The score of a list of phrase pairs, and what happened to its entries.

    It prints as the table of the command, also in a notebook.

    `entries` = `kept` + `unmatched` + `repeated` + `identical` + `out_of_bounds`.

    Returned by `score_phrase_list`.

    Parameters
    ----------
    precision, recall, f1 : Over the occurrences, as defined in `score_phrase_list`; NaN if
        undefined.
    counts : The numbers behind them, by the names `PHRASE_COLUMNS`. A list does not distinguish
        composites, so all occurrences count as atomic.
    entry_precision : `correct` / `kept`: the share of kept entries that are right somewhere.
    entries : Number of entries read.
    kept : Number of different entries that occur in a test sentence pair.
    correct : Number of kept entries that are a gold phrase pair in at least one place.
    unmatched : Number of entries that occur in no test sentence pair.
    repeated : Number of entries that repeat one that was kept; an entry that was left out for
        another reason is counted under this reason each time.
    identical : Number of entries left out because both sides have the same words.
    out_of_bounds : Number of entries left out because of their length.
    pairs, skipped : Number of sentence pairs used, and of those without the reference.
    signature : All settings.
    rows : (P, 5) counts of the sentence pairs.
    intervals : The intervals of precision, recall and F1; empty until `with_intervals`.
    suspicions : What looks wrong in the reference.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["they left"], ["both went"], gold=["0-0 1-1"])
    >>> result = alignkit.score_phrase_list([("they", "both"), ("left", "both")], corpus)
    >>> result.entries, result.correct, result.entry_precision
    (2, 1, 0.5)
    """

    precision: float
    recall: float
    f1: float
    counts: Mapping[str, int]
    entry_precision: float
    entries: int
    kept: int
    correct: int
    unmatched: int
    repeated: int
    identical: int
    out_of_bounds: int
    pairs: int
    skipped: int
    signature: Signature
    rows: Rows = field(repr=False, compare=False)
    intervals: Mapping[str, Interval] = field(default_factory=dict, repr=False)
    suspicions: tuple[str, ...] = field(default=(), repr=False)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings about the scores."""
        few = few_pairs(self.pairs, drawn=bool(self.intervals))
        return (*self.suspicions, *result.left_out_pairs(self.skipped, self.pairs), *few)

    def with_intervals(
        self, *, resamples: int = RESAMPLES, confidence: float = CONFIDENCE, seed: int = SEED
    ) -> PhraseListScore:
        """Return the score with bootstrap intervals over the sentence pairs.

        Parameters
        ----------
        resamples : Number of resamples of the bootstrap over sentence pairs.
        confidence : Between 0 and 1.
        seed : The seed of the resamples.

        Examples
        --------
        >>> import alignkit
        >>> links = ["0-0 1-1"] * 5 + ["0-0"] * 5
        >>> corpus = alignkit.Corpus.from_texts(["they left"] * 10, ["both went"] * 10, gold=links)
        >>> result = alignkit.score_phrase_list([("they", "both")], corpus)
        >>> interval = result.with_intervals(resamples=100).intervals["recall"]
        >>> interval.low < result.recall < interval.high
        True
        """
        check_arguments(PhraseListScore.with_intervals, locals())
        intervals = confidence_interval(
            self.rows, phrase_ratios, resamples=resamples, confidence=confidence, seed=seed
        )
        signature = self.signature.drawn(resamples, confidence, seed)
        return replace(self, intervals=intervals, signature=signature)

    def __repr__(self) -> str:
        return (
            f"PhraseListScore({how_many(self.pairs, 'pair')}; {self.kept} of "
            f"{self.entries} entries kept; F1 {percent(self.f1)})"
        )

    def table(self) -> Table:
        """Return the score as a table, below the counts of the entries."""
        title = (
            f"{self.kept} of {self.entries} entries kept: they occur in the "
            f"{how_many(self.pairs, 'sentence pair')}; {self.correct} of them "
            f"({percent(self.entry_precision)}%) are right somewhere"
        )
        left_out = []
        for name, text in _LEFT_OUT.items():
            number = getattr(self, name)
            if number:
                left_out.append(f"{number} {text}")
        if left_out:
            title += f"\nleft out: {', '.join(left_out)}"
        columns = []
        row: list[Cell] = []
        for name in _RATIOS:
            columns.append(Column(result.MEASURE_NAMES[name], "percent", key=name))
            row.append(result.bounded_value(getattr(self, name), self.intervals.get(name)))
        columns += [Column("occurrences", "count"), Column("gold", "count")]
        row += [self.counts[name] for name in result.ATOMIC]
        note = "\n".join([*self.cautions, str(self.signature)])
        return Table(title, columns, [row], note, stub=0)

    def to_records(self) -> list[dict[str, object]]:
        """Return one dictionary for a DataFrame: measures, bounds, counts, entries.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["they left"], ["both went"], gold=["0-0 1-1"])
        >>> [record] = alignkit.score_phrase_list([("they", "both")], corpus).to_records()
        >>> record["precision"], record["recall"], record["entries"]
        (1.0, 0.5, 1)
        """
        part = PhraseScore(self.precision, self.recall, self.f1, self.counts)
        numbers = ("entries", *_FATES, "correct", "entry_precision")
        (record,) = result.level_records(
            {"list": part}, {"list": self.intervals}, pairs=self.pairs, skipped=self.skipped
        )
        record |= {name: getattr(self, name) for name in numbers}
        return [record]

    def to_json(self) -> dict[str, object]:
        """Return the score as JSON values; NaN becomes None.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["they left"], ["both went"], gold=["0-0 1-1"])
        >>> result = alignkit.score_phrase_list([("they", "both")], corpus).to_json()
        >>> result["precision"], result["recall"]
        (1.0, 0.5)
        """
        names = (*_RATIOS, "entry_precision", "entries", *_FATES, "correct", "pairs", "skipped")
        plain = named_json(self, (*names, "counts")) | {"signature": str(self.signature)}
        more = [name for name in ("intervals", "cautions") if getattr(self, name)]
        return plain | named_json(self, more)


_RATIOS = ("precision", "recall", "f1")
_LEFT_OUT = {
    "unmatched": "occur in no pair",
    "repeated": "repeated",
    "identical": "identical",
    "out_of_bounds": "too short or long",
}
_FATES = ("kept", *_LEFT_OUT)


@naming_keywords
def score_phrase_list(
    entries: Iterable[tuple[str, str]],
    corpus: Corpus,
    reference: str = "gold",
    *,
    links: Literal["possible", "sure"] = "sure",
    exact_case: bool = False,
    ignore_identical: bool = False,
    min_length: int = 1,
    max_length: int | None = None,
    loose: bool = False,
    signature: Signature | None = None,
) -> PhraseListScore:
    """Score a list of phrase pairs against the gold phrase pairs of a corpus.

    An entry is kept if, in at least one sentence pair, its source phrase is a contiguous span of
    the source sentence and its target phrase a contiguous span of the target sentence. Each such
    pair of spans is an occurrence: a prediction for that sentence pair.

    Parameters
    ----------
    entries : (source phrase, target phrase), words separated by white space; read once, not stored.
    corpus : The test sentence pairs; pairs without the reference are left out and counted.
    reference : The annotator with the gold links.
    links : Gold phrase pairs come from the ``"sure"`` links or the ``"possible"`` (all) links.
    exact_case : Distinguish case; otherwise words are compared after casefold.
    ignore_identical : Leave out entries and gold phrase pairs with the same words on both sides.
    min_length, max_length : Leave out entries and gold phrase pairs with fewer or more words on
        either side.
    loose : Extend gold phrase pairs over unaligned words at their ends.
    signature : The known settings of the files; the other settings are added.

    Raises
    ------
    OptionError : If the bounds are invalid.

    Notes
    -----
    With A the occurrences of the list, B the gold phrase pairs (atomic and composite) and B_atom
    the atomic ones, eq. 3 of the article becomes precision = |A & B| / |A|, recall =
    |A & B_atom| / |B_atom|. A list does not distinguish atomic and composite entries, so every
    occurrence counts in precision: if a list has composites and their parts, each counts. If words
    repeat in a sentence, every pair of spans is an occurrence, so the list cannot gain from
    ambiguity.

    References
    ----------
    Cohn, Callison-Burch & Lapata 2008, Computational Linguistics 34(4):597-614: they compare the
    part of a list that matches the test sentence pairs with the phrase pairs of the sure links.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> from alignkit.model.corpus import SentencePair
    >>> corpus = Corpus([SentencePair("1", ("they", "left"), ("both", "went"),
    ...                               {"gold": Alignment.parse("0-0 1-1")})])
    >>> score = score_phrase_list([("They", "both"), ("left", "both"), ("a", "b")], corpus)
    >>> score.kept, score.precision, score.recall
    (2, 0.5, 0.5)
    """
    check_arguments(score_phrase_list, locals(), apart=["entries"])
    if isinstance(entries, (str, bytes)) or not isinstance(entries, Iterable):
        raise ArgumentError("entries must be pairs (source phrase, target phrase)")
    if min_length < 1 or (max_length is not None and max_length < min_length):
        raise OptionError(f"invalid phrase lengths, {min_length} to {max_length}; the minimum is 1")
    shared = corpus.annotated_by(reference)
    watch = BaseWatch()
    for pair in shared:
        watch.see(pair.alignment(reference))
    vocabulary = Vocabulary(casefold=not exact_case)
    sides = [pair.words for pair in shared]
    gold = extract_phrases(
        LinkArrays.pack(pair.alignment(reference) for pair in shared),
        links=links,
        loose=loose,
        max_length=max_length,
        ignore_identical=ignore_identical,
        source=TokenArrays.pack((source for source, _ in sides), vocabulary),
        target=TokenArrays.pack((target for _, target in sides), vocabulary),
    )
    bounds = min_length, max_length
    matching = _Matching(shared, gold, exact_case, ignore_identical, bounds)
    for number, entry in enumerate(entries):
        if not (isinstance(entry, (tuple, list)) and len(entry) == 2):
            raise ArgumentError(f"entries[{number}] must be (source phrase, target phrase)")
        matching.add(*words(f"entries[{number}]", entry))
    rows = matching.rows
    total = PhraseScore.from_counts(rows.sum(axis=0))
    fates = matching.fates
    settings = replace(
        signature or Signature(),
        links=links,
        identical="left-out" if ignore_identical else "kept",
        case="exact" if exact_case else "folded",
        level="list",
        phrases="loose" if loose else "tight",
        min_length=min_length if min_length > 1 else None,
        max_length=max_length,
    )
    entry_precision = np.nan
    if fates["kept"]:
        entry_precision = matching.correct / fates["kept"]
    suspicion = watch.suspicion("`base=1` when reading it")
    return PhraseListScore(
        precision=total.precision,
        recall=total.recall,
        f1=total.f1,
        counts=total.counts,
        entry_precision=entry_precision,
        entries=sum(fates.values()),
        correct=matching.correct,
        **fates,
        pairs=len(shared),
        skipped=len(corpus) - len(shared),
        signature=settings,
        rows=rows,
        suspicions=(suspicion,) if suspicion else (),
    )


class _Matching:
    """Entries matched with sentence pairs so far, and the counts of both.

    Each entry has one fate, a name of `_FATES`; a kept one also counts in each sentence pair that
    has both of its phrases.
    """

    def __init__(
        self,
        corpus: Corpus,
        gold: PhraseArrays,
        exact_case: bool,
        ignore_identical: bool,
        bounds: tuple[int, int | None],
    ) -> None:
        self._fold = str if exact_case else str.casefold
        self._ignore_identical = ignore_identical
        self._least, self._most = bounds
        self._sides: tuple[list[list[str]], list[list[str]]] = ([], [])  # the words of sentences
        for pair in corpus:
            for sentences, words_of_side in zip(self._sides, pair.words, strict=True):
                sentences.append([self._fold(word) for word in words_of_side])
        # by side and number of words: where each phrase occurs; filled by `_find`
        self._places: dict[tuple[int, int], dict[str, Starts]] = {}
        self._seen: set[tuple[str, str]] = set()
        self.fates: dict[str, Any] = dict.fromkeys(_FATES, 0)  # the numbers of entries
        self.correct = 0
        # by sentence pair; lists, since adding to one number of an array is slow
        self._occurrences = [0] * len(gold)
        self._right = [0] * len(gold)
        self._right_atomic = [0] * len(gold)
        self._gold: list[dict[Span, bool]] = []  # the gold phrase pairs, and whether each is atomic
        for k in range(len(gold)):
            is_atomic: dict[Span, bool] = {}
            for phrase_pair in gold.pair(k):
                span = phrase_pair[:4]
                if self._fits(*span):
                    is_atomic[span] = phrase_pair.atomic
            self._gold.append(is_atomic)

    @property
    def rows(self) -> Rows:
        """The (P, 5) counts of the sentence pairs so far, by the names of `PHRASE_COLUMNS`."""
        atomic_gold = [sum(is_atomic.values()) for is_atomic in self._gold]
        right_atomic_in_both = self._right_atomic  # for all occurrences count as atomic
        columns = (
            self._occurrences,
            atomic_gold,
            self._right,
            self._right_atomic,
            right_atomic_in_both,
        )
        return np.array(columns, np.int64).T

    def add(self, source: str, target: str) -> None:
        """Count an entry and its occurrences."""
        fate = self._judge(self._fold(source).split(), self._fold(target).split())
        self.fates[fate] += 1

    def _judge(self, source: list[str], target: list[str]) -> str:
        """Count the occurrences of an entry; return its fate, one of `_FATES`."""
        n = len(source)
        m = len(target)
        if not self._fits(0, n, 0, m):
            return "out_of_bounds"
        if self._ignore_identical and source == target:
            return "identical"
        source_phrase = " ".join(source)
        target_phrase = " ".join(target)
        in_source = self._find(0, source_phrase, n)
        if not in_source:
            return "unmatched"
        in_target = self._find(1, target_phrase, m)
        fewer = min(in_source, in_target, key=len)  # the phrase of fewer sentences: faster
        both = [k for k in fewer if k in in_source and k in in_target]
        if not both:
            return "unmatched"
        # only what is kept is remembered, so a long list takes little memory
        entry = (source_phrase, target_phrase)
        if entry in self._seen:
            return "repeated"
        self._seen.add(entry)
        right = [self._count(k, in_source[k], in_target[k], n, m) for k in both]
        self.correct += any(right)
        return "kept"

    def _find(self, side: int, phrase: str, size: int) -> Starts:
        """Return where a phrase of so many words occurs on a side."""
        if (side, size) not in self._places:
            places: dict[str, Starts] = {}
            self._places[side, size] = places
            for number, sentence in enumerate(self._sides[side]):
                for start in range(len(sentence) - size + 1):
                    text = " ".join(sentence[start : start + size])
                    starts = places.setdefault(text, {})
                    starts.setdefault(number, []).append(start)
        return self._places[side, size].get(phrase, {})

    def _count(
        self, k: int, source_starts: list[int], target_starts: list[int], n: int, m: int
    ) -> bool:
        """Count the occurrences in a sentence pair; return whether any is a gold phrase pair."""
        gold = self._gold[k]
        right = 0
        atomic = 0
        for i in source_starts:
            for j in target_starts:
                span = (i, i + n, j, j + m)
                if span in gold:
                    right += 1
                    atomic += gold[span]
        self._occurrences[k] += len(source_starts) * len(target_starts)
        self._right[k] += right
        self._right_atomic[k] += atomic
        return right > 0

    def _fits(self, start: int, end: int, other_start: int, other_end: int) -> bool:
        """Return whether both sides of a phrase pair have an allowed number of words."""
        shorter, longer = sorted((end - start, other_end - other_start))
        return shorter >= self._least and (self._most is None or longer <= self._most)


def read_phrase_table(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    max_size: int = MAX_MEGABYTES,
) -> Iterator[tuple[str, str]]:
    r"""Yield (source phrase, target phrase) line by line, with one line in memory.

    Parameters
    ----------
    path : The file; ``-`` is standard input, ``.gz`` is decompressed.
    format : ``"tsv"`` or ``"moses"``; None means moses if the first line contains ``|||``.
    encoding : The encoding of the file.
    max_size : Maximum size of a line in megabytes, as in `alignkit.io.ReadOptions`.

    Raises
    ------
    FormatError : If a line does not have a phrase on both sides, or the file cannot be read or
        decoded.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.tsv")
    ...     _ = path.write_text("das haus\tthe house\n", "utf-8")
    ...     list(read_phrase_table(path))
    [('das haus', 'the house')]
    """
    check_arguments(read_phrase_table, locals())
    if format is not None and format not in PHRASE_TABLE_FORMATS:
        raise UnknownNameError("phrase table format", format, PHRASE_TABLE_FORMATS)
    name = fspath(path)
    options = ReadOptions(encoding=encoding, max_size=max_size)
    for number, line in TextFile(name, options).lines():
        format = format or ("moses" if "|||" in line else "tsv")
        phrases = PHRASE_TABLE_FORMATS[format](line)
        if isinstance(phrases, str):
            raise FormatError(phrases, name, number)
        yield phrases


def _tsv(line: str) -> tuple[str, str] | str:
    """Return the phrase pair of a line with tabs, or an error message."""
    columns = line.split("\t")
    if len(columns) not in (2, 5):
        return (
            "expected 2 tab-separated columns, source and target phrase, not "
            f"{len(columns)}; or 5, as phrases --table writes them"
        )
    return _both(*columns[:2])


def _moses(line: str) -> tuple[str, str] | str:
    """Return the phrase pair of a line of a Moses phrase table, or an error message."""
    fields = line.split("|||", 2)
    if len(fields) < 2:
        return "expected source ||| target ||| scores"
    return _both(fields[0], fields[1])


PHRASE_TABLE_FORMATS: Mapping[str, Callable[[str], tuple[str, str] | str]] = {
    "tsv": _tsv,
    "moses": _moses,
}
"""By the name of a format: the function that returns the phrase pair of a line, or an error."""


def _both(source: str, target: str) -> tuple[str, str] | str:
    """Return two phrases without spaces around them, or an error message if one is empty."""
    source = source.strip()
    target = target.strip()
    if not source:
        return "the source phrase is empty"
    if not target:
        return "the target phrase is empty"
    return source, target
