"""Measure how similar the two texts of each pair are worded: means and histograms, also by group.

The measures: Jaccard (shared tokens), cosines of character n-grams, the ratio of the lengths, and
whether both texts are identical. Groups are the judgments of pairs, or the values of an attribute.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import ceil, log, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, check_known, naming_keywords
from alignkit._support.array_types import B1, F8, I8
from alignkit._support.wording import how_many, overlapping
from alignkit.corpora.labelled import judged_part, judges_of, pair_judgments
from alignkit.errors import MissingTextError, OptionError
from alignkit.model.corpus import JUDGMENT, Corpus, group_text, no_group, places_by_value
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import compared, porter_stem
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

TOKEN = r"\w+"
"""The default token: consecutive letters, digits and underscores."""

_SIZES = (2, 3, 4)  # of character n-grams


def token_types(
    text: str,
    *,
    token: str = TOKEN,
    stop_words: Collection[str] = (),
    stem: Callable[[str], str] | None = None,
) -> frozenset[str]:
    """Return the different tokens of a text in lower case; stop words must be in lower case."""
    types = set(re.findall(token, text.lower())) - set(stop_words)
    return frozenset(types if stem is None else map(stem, types))


def jaccard(first: Collection[str], second: Collection[str]) -> float:
    """Return the share of all types that both have; NaN if neither has any."""
    of_first = frozenset(first)
    of_second = frozenset(second)
    either = len(of_first | of_second)
    return len(of_first & of_second) / either if either else nan


def ngrams(text: str) -> Counter[str]:
    """Count the character n-grams of 2 to 4 within words, in lower case."""
    grams = []
    for word in text.lower().split():
        padded = f" {word} "
        for size in _SIZES:
            grams += [padded[k : k + size] for k in range(len(padded) - size + 1)]
    return Counter(grams)


def idf_of(texts: Iterable[str]) -> dict[str, float]:
    """Return ln((1 + n) / (1 + df)) + 1 for each n-gram: of n texts, df contain it."""
    texts_with: Counter[str] = Counter()
    n = 0
    for text in texts:
        n += 1
        texts_with.update(ngrams(text).keys())
    return {gram: log((1 + n) / (1 + df)) + 1 for gram, df in texts_with.items()}


def cosine(
    first: Mapping[str, int], second: Mapping[str, int], weights: Mapping[str, float] | None = None
) -> float:
    """Return the cosine of two counts; NaN if either is empty.

    Each count is first multiplied by its weight, if weights are given: all need one.
    """
    if not first or not second:
        return nan
    if first == second:
        return 1.0  # rounding would miss it
    weighted_first = _weighted(first, weights)
    weighted_second = _weighted(second, weights)
    small, large = sorted((weighted_first, weighted_second), key=len)
    dot = sum(value * large[gram] for gram, value in small.items() if gram in large)
    return min(1.0, dot / (_length(weighted_first) * _length(weighted_second)))


def _weighted(
    counts: Mapping[str, int], weights: Mapping[str, float] | None
) -> Mapping[str, float]:
    """Return each count times the weight of what is counted."""
    if weights is None:
        return counts
    return {gram: count * weights[gram] for gram, count in counts.items()}


def _length(vector: Mapping[str, float]) -> float:
    """Return the Euclidean length."""
    return sqrt(sum(value * value for value in vector.values()))


def length_ratio(first: str, second: str, *, token: str = TOKEN) -> float:
    """Return the length ratio, shorter to longer text, in tokens; NaN if both are empty."""
    low, high = sorted(len(re.findall(token, text)) for text in (first, second))
    return low / high if high else nan


BINS = 20
"""The bars of a histogram, of equal width from 0 to 1; 1 is in the last bar."""

MEASURES = {
    "jaccard": "Jaccard",
    "cosine": "cosine, tf",
    "cosine_idf": "cosine, tf-idf",
    "length_ratio": "length ratio",
}
"""The measures, with their names in tables."""

_WITH_HISTOGRAM = ("jaccard", "cosine")
_BAR_WIDTH = 24  # characters of the longest bar


@dataclass(frozen=True, eq=False)
class Diversity(Result):
    """The similarity in wording of the texts of pairs.

    Returned by `diversity`.

    Parameters
    ----------
    ids : The ids of the P pairs.
    values : (P, 4): `MEASURES` of each pair; NaN if undefined.
    identical : (P,): whether both texts are equal word by word, after casefold.
    groups : The places of the pairs of each label or value.
    by : The attribute of the groups; empty for none.
    skipped : The number of pairs without text.
    notes : Notes for the reader.
    signature : The settings in one line.
    rewrites_left_out : The number of rewrites that were left out; None if pairs were not grouped by
        judgment.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.corpora import diversity
    >>> result = diversity(Corpus.from_texts(["a dog", "a dog"], ["a dog", "one dog barks"]))
    >>> result.mean("jaccard"), result.values.shape, result.identical.tolist()
    (0.625, (2, 4), [True, False])
    """

    ids: tuple[str, ...]
    values: F8
    identical: B1
    groups: Mapping[str, I8]
    by: str = ""
    skipped: int = 0
    notes: tuple[str, ...] = ()
    signature: str = ""
    rewrites_left_out: int | None = None

    @property
    def head(self) -> Sequence[str]:
        """A line with the number of pairs."""
        if self.skipped:
            left = f", {self.skipped} left out (no text)"
        else:
            left = ""
        return (f"wording of {how_many(len(self.ids), 'sentence pair')}{left}",)

    def mean(self, measure: str, group: str | None = None) -> float:
        """Return the mean of a measure over the pairs with a value; NaN if there are none.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.corpora import diversity
        >>> result = diversity(Corpus.from_texts(["a dog", "a dog"], ["a dog", "one dog barks"]))
        >>> result.mean("jaccard")
        0.625
        """
        defined = self._defined(measure, group)
        return float(defined.mean()) if len(defined) else nan

    def histogram(self, measure: str, group: str | None = None) -> list[int]:
        """Return the number of pairs in each of the `BINS` of a measure.

        Examples
        --------
        >>> from alignkit import Corpus
        >>> from alignkit.corpora import diversity
        >>> result = diversity(Corpus.from_texts(["a dog", "a dog"], ["a dog", "one dog barks"]))
        >>> result.histogram("jaccard")[5]
        1
        """
        counts, _ = np.histogram(self._defined(measure, group), BINS, (0.0, 1.0))
        return list(map(int, counts))

    def _defined(self, measure: str, group: str | None) -> F8:
        """Return the defined values of a measure in a group, or in all pairs."""
        check_known("measure", measure, MEASURES)
        values: F8
        values = self._of_group(self.values[:, list(MEASURES).index(measure)], group)
        return values[~np.isnan(values)]

    def _of_group(self, values: NDArray[Any], group: str | None) -> NDArray[Any]:
        """Return the values of the pairs of a group, or of all pairs."""
        return values if group is None else values[self.groups[group]]

    def _parts(self) -> Iterator[tuple[str, str | None]]:
        """Yield what tables call all pairs and each group, with the group."""
        yield "all pairs", None
        for group in self.groups:
            yield (group or f"(no {self.by})", group)

    def tables(self, *, bars: bool = False) -> Sequence[Table]:
        """Return the means, and the histograms of all pairs and of each group."""
        histograms = [self._histogram(measure, bars) for measure in _WITH_HISTOGRAM]
        return [self._means(), *histograms]

    def _means(self) -> Table:
        """Return the means of all pairs and of each group."""
        columns = [Column(self.by or "pairs of", key="group"), Column("pairs", "count")]
        columns += [Column(name, "decimal", key=key) for key, name in MEASURES.items()]
        columns.append(Column("identical", "percent", unit="%"))
        rows: list[list[Cell]] = []
        for name, group in self._parts():
            same = self._of_group(self.identical, group)
            means = [self.mean(measure, group) for measure in MEASURES]
            share = float(same.mean()) if len(same) else nan
            rows.append([name, len(same), *means, share])
        note = "means over pairs; 1 means the same wording"
        return Table("", columns, rows, note, "means", apart=[1])

    def shown_tables(self) -> Sequence[Table]:
        """Return the tables, with bars in the histograms."""
        return self.tables(bars=True)

    def _histogram(self, measure: str, bars: bool) -> Table:
        """Return a table with a row for each of the `BINS`, with bars for all pairs if asked."""
        columns = [Column("from", "decimal", digits=2), Column("to", "decimal", digits=2)]
        counts = []
        for name, group in self._parts():
            columns.append(Column(name, "count", key=f"group {name}"))
            counts.append(self.histogram(measure, group))
        rows: list[list[Cell]] = []
        for k, row_counts in enumerate(zip(*counts, strict=True)):
            rows.append([k / BINS, (k + 1) / BINS, *row_counts])
        if bars:  # after the counts of all pairs
            columns.insert(3, Column("", key="bar"))
            of_all_pairs = counts[0]
            most = max(of_all_pairs)
            for row, count in zip(rows, of_all_pairs, strict=True):
                row.insert(3, "#" * ceil(_BAR_WIDTH * count / max(most, 1)))
        return Table(f"Histogram: {MEASURES[measure]}", columns, rows, "", measure, stub=2)


@naming_keywords
def diversity(
    corpus: Corpus,
    *,
    by: str | None = None,
    annotator: str | None = None,
    split: str | None = None,
    rewrites: bool = False,
    stop_words: Collection[str] = (),
    stem: bool = False,
    token: str = TOKEN,
) -> Diversity:
    r"""Measure how similar the wording of the two texts of each pair is.

    Jaccard is the share of all token types that both texts have. The cosine compares frequencies
    of character n-grams of 2 to 4 within words, once unweighted and once weighted by
    ln((1 + n) / (1 + df)) + 1: of all n texts of both sides, df contain the n-gram. The length
    ratio is that of the shorter to the longer text, in tokens. Case does not count.

    Parameters
    ----------
    corpus : The sentence pairs, with words.
    by : Also measure groups: ``"judgment"``, or an attribute.
    annotator : The annotator with the judgments; needed if several judged a pair.
    split : The separator of several values of the attribute.
    rewrites : Whether rewrites, which nobody judged, count in groups by judgment, with the labels
        that their writers intended.
    stop_words : Words to leave out of Jaccard, in any case.
    stem : Use Porter's stems (English) of the other words for Jaccard.
    token : The regular expression of a token.

    Raises
    ------
    OptionError : If `token` is not a regular expression, or several judged a pair and none is
        named.

    References
    ----------
    Kanerva et al. 2021, Finnish Paraphrase Corpus, NoDaLiDa: the cosine. He et al. 2020, PARADE,
    EMNLP: Jaccard by label. Porter 1980, Program 14(3):130-137.

    Examples
    --------
    >>> pairs = [SentencePair("1", ("a", "dog"), ("a", "dog")),
    ...          SentencePair("2", ("a", "dog"), ("one", "dog", "barks"))]
    >>> result = diversity(Corpus(pairs))
    >>> result.mean("jaccard"), result.identical.tolist(), result.histogram("jaccard")[5]
    (0.625, [True, False], 1)
    """
    check_arguments(diversity, locals())
    if annotator is not None and by != JUDGMENT:
        raise OptionError("`annotator` chooses judgments for groups: give `by='judgment'` too")
    if annotator is not None:
        check_known("annotator who judged pairs", annotator, judges_of(corpus))
    try:
        re.compile(token)
    except re.error as error:
        raise OptionError(f"token {token!r} is not a regular expression: {error}") from None
    # an attribute of this name comes first: its values may be anything
    by_judgment = by == JUDGMENT and not any(JUDGMENT in pair.attributes for pair in corpus)
    # rewrites, which nobody judged, are only left out of groups by judgment
    corpus, left_out, notes = judged_part(corpus, rewrites=rewrites or not by_judgment)
    places = [k for k, pair in enumerate(corpus) if pair.has_text]
    if len(corpus) and not places:
        raise MissingTextError("no pair has words; add the texts")
    pairs = [corpus[k] for k in places]
    texts = [(" ".join(pair.source or ()), " ".join(pair.target or ())) for pair in pairs]
    groups, several = _groups(pairs, by, annotator, split, by_judgment=by_judgment)
    stops = frozenset(word.lower() for word in stop_words)
    stemmer = porter_stem() if stem else None
    weights = idf_of(chain.from_iterable(texts))
    types = partial(token_types, token=token, stop_words=stops, stem=stemmer)
    values = np.empty((len(texts), len(MEASURES)))
    identical = np.empty(len(texts), bool)
    for k, (source, target) in enumerate(texts):
        source_grams = ngrams(source)
        target_grams = ngrams(target)
        values[k] = (
            jaccard(types(source), types(target)),
            cosine(source_grams, target_grams),
            cosine(source_grams, target_grams, weights),
            length_ratio(source, target, token=token),
        )
        folded_source = compared(source, ignore_case=True)
        identical[k] = folded_source == compared(target, ignore_case=True)
    if several:
        notes += (overlapping(several, len(pairs), by or ""),)
    settings = (
        f"tokens:{token}",
        "case:folded",
        f"stop-words:{len(stops)}",
        f"stem:{'porter' if stem else 'no'}",
        f"version:{__version__}",
    )
    return Diversity(
        ids=tuple(pair.id for pair in pairs),
        values=values,
        identical=identical,
        groups=groups,
        by=by or "",
        skipped=len(corpus) - len(places),
        notes=notes,
        signature="|".join(settings),
        rewrites_left_out=left_out if by_judgment else None,
    )


def _groups(
    pairs: Sequence[SentencePair],
    by: str | None,
    annotator: str | None,
    split: str | None,
    *,
    by_judgment: bool,
) -> tuple[dict[str, I8], int]:
    """Return the places of the pairs of each group, and how many pairs are in several groups.

    Groups are in the order of their first pairs, judgments are sorted.
    """
    if by is None:
        return {}, 0
    if by_judgment:
        split = None  # a judgment is one value
        texts = [_judgment(pair, annotator) for pair in pairs]
    else:
        texts = [group_text(pair, by) or "" for pair in pairs]
    places, several = places_by_value(texts, split)
    has_values = any(places)
    if pairs and not has_values:
        if by_judgment:
            who = f"by {annotator!r}" if annotator else "by anybody"
            raise OptionError(f"no pair was judged {who}; name an annotator, or an attribute")
        attributes = chain.from_iterable(pair.attributes for pair in pairs)
        raise no_group(by, dict.fromkeys(attributes))
    if by_judgment:
        places = dict(sorted(places.items()))
    return {value: np.array(members, np.int64) for value, members in places.items()}, several


def _judgment(pair: SentencePair, annotator: str | None) -> str:
    """Return the judgment of an annotator, or that of all who judged the pair; "" for none."""
    judged = pair_judgments(pair)
    if annotator is not None:
        return judged.get(annotator, "")
    if len(set(judged.values())) > 1:
        raise OptionError(
            f"pair {pair.id!r} was judged by {', '.join(judged)}, with different labels: "
            "choose one with `annotator`"
        )
    return next(iter(judged.values()), "")
