"""Retrieval: how high the other text of a pair ranks among all texts of a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments
from alignkit._support.keywords import options_given, takes_options
from alignkit.corpora.labelled import judged_part, judgments_of
from alignkit.errors import MissingTextError, OptionError
from alignkit.identification.labelled_pairs import the_judge
from alignkit.identification.options import RetrievalKeywords, RetrievalOptions
from alignkit.identification.similarity import Places, fit, products
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View, get_view
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True, eq=False)
class Retrieval(TableResult):
    """The rank of the other text of each pair, when each side is the query in turn.

    Returned by `retrieve`.

    Parameters
    ----------
    ranks : For each label, (n,): the rank of the other text of the pair for each of n queries, two
        for each pair; 1 is best.
    pool : The number of different texts.
    at : The ranks k of the columns top-k.
    notes : Warnings, and what was left out.
    signature : All settings in one line.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.identification import retrieve
    >>> from alignkit.model.labels import get_view
    >>> texts = ["a fire broke out", "it rained"], ["fire broke out", "it rained a lot"]
    >>> corpus = Corpus.from_texts(*texts, judgments={"ann": ["1", "1"]})
    >>> retrieval = retrieve(corpus, get_view("binary"), at=(1, 2))
    >>> retrieval.pool, retrieval.ranks["1"].tolist()
    (4, [1, 1, 1, 1])
    """

    ranks: Mapping[str, Places]
    pool: int
    at: Sequence[int]
    notes: tuple[str, ...] = ()
    signature: str = ""

    def table(self) -> Table:
        """Return a row for each label: top-k, mean reciprocal rank and mean rank in percent."""
        columns = [Column("label"), Column("queries", "count")]
        columns += [Column(f"top-{k}", "decimal") for k in self.at]
        columns += [Column("MRR", "decimal"), Column("rank%", "decimal", digits=2)]
        rows: list[list[Cell]] = []
        for label, ranks in self.ranks.items():
            values: list[NDArray[Any]] = [ranks <= k for k in self.at]
            values += [1 / ranks, 100 * (ranks - 1) / (self.pool - 1)]
            means: list[Cell] = [nan] * len(values)
            if len(ranks):
                means = [value.mean() for value in values]
            rows.append([label, len(ranks), *means])
        about = f"{self.pool} different texts; rank% is 100 (rank - 1)/(N - 1): 0 is first"
        note = "\n".join((*self.notes, about, self.signature))
        return Table("Retrieval", columns, rows, note, "retrieval")


@takes_options(RetrievalOptions)
def retrieve(
    corpus: Corpus,
    view: View,
    among: Sequence[str] = (),
    **options: Unpack[RetrievalKeywords],
) -> Retrieval:
    """Rank all texts by similarity to each text, and find where the other text of its pair is.

    A text is not a candidate for itself. A text as similar as the right one ranks before it, so
    that a system which finds all texts equally similar does not win.

    Parameters
    ----------
    corpus : The judged pairs.
    view : The labels of the rows. If there are more than two, a further row has all paraphrases.
    among : More texts to search.
    **options : The fields of `RetrievalOptions`.

    Raises
    ------
    OptionError : If an argument is out of range, no pair is judged, or all texts are equal.
    MissingTextError : If no pair has words on both sides.

    References
    ----------
    Kanerva et al. 2023, Towards diverse and contextually anchored paraphrase modeling, Natural
    Language Engineering, section 8.

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.model.labels import get_view
    >>> texts = ["a fire broke out", "it rained"], ["fire broke out", "it rained a lot"]
    >>> corpus = Corpus.from_texts(*texts, judgments={"ann": ["1", "1"]})
    >>> retrieve(corpus, get_view("binary"), at=(1, 2)).ranks["1"].tolist()
    [1, 1, 1, 1]
    """
    check_arguments(retrieve, locals())
    chosen = options_given(RetrievalOptions, retrieve, options)
    judged_corpus, _, notes = judged_part(corpus, rewrites=False)
    judge = the_judge(judged_corpus, chosen.annotator)
    labels = judgments_of(judged_corpus, [judge], view).values[0]
    texts = []
    for pair in judged_corpus:
        source, target = map(" ".join, pair.words)
        texts.append((source, target))
    if not any(map(all, texts)):
        raise MissingTextError("no pair has words on both sides; add the texts")
    all_texts = chain(chain.from_iterable(texts), among)
    pool = list(dict.fromkeys(text for text in all_texts if text.strip()))  # each text once
    if len(pool) < 2:
        raise OptionError("retrieval needs two different texts")
    judged = []
    for k, (source, target) in enumerate(texts):
        has_label = labels[k] >= 0
        if has_label and source and target and source != target:
            judged.append(k)
    ranks = _ranks([texts[k] for k in judged], pool, chosen)
    by_label = {label: ranks[labels[judged] == k].ravel() for k, label in enumerate(view.labels)}
    if "binary" in view.scheme.views and len(view.labels) > 2:
        binary = judgments_of(judged_corpus, [judge], get_view(view.scheme, "binary")).values[0]
        by_label["paraphrases"] = ranks[binary[judged] == 1].ravel()
    left = len(texts) - len(judged)
    if left:
        notes += (f"{left} pairs are left out: no label, no words, or equal texts",)
    settings = chosen.settings(
        scheme=view.scheme.name, view=view.name, annotator=judge, among=len(among)
    )
    return Retrieval(by_label, len(pool), chosen.at, notes, settings)


def _ranks(pairs: Sequence[tuple[str, str]], pool: list[str], options: RetrievalOptions) -> Places:
    """Return the rank of the other text for both texts of each pair, (P, 2)."""
    places = {text: k for k, text in enumerate(pool)}
    queries: list[int] = []
    answers: list[int] = []
    for source, target in pairs:
        queries += [places[source], places[target]]
        answers += [places[target], places[source]]
    vectors = fit(pool, options)(pool)
    rows = products(vectors, np.array(queries, int), np.arange(len(pool)))
    ranks = []
    for answer, (_, columns, values) in zip(answers, rows, strict=True):
        # the answer counts itself, so the best rank is 1; texts as similar as it rank before it
        ranks.append((values >= values[columns == answer]).sum())
    return np.array(ranks, np.int64).reshape(-1, 2)
