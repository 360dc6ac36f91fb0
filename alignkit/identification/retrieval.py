"""Retrieval: how high the other text of a pair ranks among all texts of a corpus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import how_many
from alignkit.corpora.labelled import judged_part, judges_of, judgments_of
from alignkit.errors import MissingTextError, OptionError
from alignkit.identification.similarity import Similarity, products
from alignkit.model.corpus import Corpus
from alignkit.model.labels import View, get_view
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table
from alignkit.version import __version__


@dataclass(frozen=True, eq=False)
class Retrieval(TableResult):
    """The rank of the other text of each pair, when each side is the query in turn.

    Parameters
    ----------
    ranks : (2, P): the rank of the target for the source, and of the source for the target; 1 is
        best.
    pool : N, the number of different texts.
    labels : The rows of the table, with the places of their pairs.
    at : The ranks k of the columns top-k.
    """

    ranks: NDArray[np.int64]
    pool: int
    labels: dict[str, NDArray[np.int64]]
    at: tuple[int, ...]
    skipped: int = 0
    notes: tuple[str, ...] = ()
    signature: str = ""

    def table(self) -> Table:
        """Return a row for each label: top-k, mean reciprocal rank and mean rank in percent."""
        columns = [Column("label"), Column("queries", "count")]
        columns += [Column(f"top-{k}", "decimal") for k in self.at]
        columns += [Column("MRR", "decimal"), Column("rank%", "decimal", digits=2)]
        rows: list[list[Cell]] = []
        for label, places in self.labels.items():
            ranks = self.ranks[:, places].ravel()
            shares = [float((ranks <= k).mean()) if len(ranks) else nan for k in self.at]
            percent = 100 * (ranks - 1) / (self.pool - 1)
            means = [float(x.mean()) if len(ranks) else nan for x in (1 / ranks, percent)]
            rows.append([label, len(ranks), *shares, *means])
        left = (
            f"; {self.skipped} pairs left out (no label, no words, or equal texts)"
            if self.skipped
            else ""
        )
        note = (
            f"{how_many(self.pool, 'different text')}{left}; rank% is 100 (rank - 1)/(N - 1): 0 is "
            f"first, 50 is chance\n{self.signature}"
        )
        return Table("Retrieval", columns, rows, "\n".join((*self.notes, note)))


def retrieve(
    corpus: Corpus,
    view: View,
    *,
    annotator: str | None = None,
    among: Sequence[str] = (),
    at: Sequence[int] = (1, 10, 100),
    similarity: Similarity | None = None,
    rewrites: bool = False,
) -> Retrieval:
    """Rank all texts by similarity to each text, and find where the other text of its pair is.

    A text is not a candidate for itself. A text as similar as the right one ranks before it, so
    that a system which finds all texts equally similar does not win.

    Parameters
    ----------
    view : The labels of the rows.
    annotator : The judge; needed if several judged pairs.
    among : More texts to search.
    at : The ranks k of top-k.

    References
    ----------
    Kanerva et al. 2023, Towards diverse and contextually anchored paraphrase modeling, Natural
    Language Engineering, section 8.
    """
    check_arguments(retrieve, locals(), apart=("view", "similarity", "at"))
    if not at or min(at) < 1:
        raise OptionError("the ranks of top-k are numbers from 1")
    similarity = similarity or Similarity()
    corpus, _, notes = judged_part(corpus, rewrites=rewrites)
    judges = judges_of(corpus)
    if annotator is None and len(judges) > 1:
        raise OptionError(f"{', '.join(judges)} judged pairs: choose one with `annotator`")
    chosen = judges[:1] if annotator is None else [annotator]
    values = judgments_of(corpus, chosen, view).values
    if not len(values):
        raise OptionError("no pair is judged")
    texts = [tuple(" ".join(side) for side in pair.words) for pair in corpus]
    if not any(all(pair) for pair in texts):
        raise MissingTextError("no pair has words on both sides; add the texts")
    places = {text: k for k, text in enumerate(dict.fromkeys(
        text for text in (*(text for pair in texts for text in pair), *among) if text.strip()
    ))}  # fmt: skip
    if len(places) < 2:
        raise OptionError("retrieval needs two different texts")
    labelled = values[0]
    judged = [k for k in np.nonzero(labelled >= 0)[0] if all(texts[k]) and len({*texts[k]}) > 1]
    sides = np.array([[places[text] for text in texts[k]] for k in judged], int).reshape(-1, 2)
    ranks = np.zeros((2, len(judged)), int)
    asked: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for k, pair in enumerate(sides.tolist()):
        for side in (0, 1):
            asked[pair[side]].append((side, k, pair[1 - side]))
    vectors = similarity.vectors(list(places))
    every = np.arange(len(places))
    for row, _, values in products(vectors, np.array(sorted(asked), int), every):
        for side, k, answer in asked[row]:
            ranks[side, k] = (values >= values[answer]).sum() - (values[row] >= values[answer])
    rows_of = {label: np.nonzero(labelled[judged] == k)[0] for k, label in enumerate(view.labels)}
    if "binary" in view.scheme.views and view.name != "binary":
        alike = judgments_of(corpus, chosen, get_view(view.scheme, "binary")).values
        rows_of["paraphrases"] = np.nonzero(alike[0][judged] == 1)[0]
    signature = (
        f"similarity:{similarity}|scheme:{view.scheme.name}|view:{view.name}|version:{__version__}"
    )
    return Retrieval(
        ranks, len(places), rows_of, tuple(at), len(texts) - len(judged), notes, signature
    )
