"""Show in a short table what a corpus holds: pairs, words, and who aligned how much."""

from __future__ import annotations

from alignkit.corpus import Corpus
from alignkit.report.columns import Cell, Column
from alignkit.report.table import Table

_ROWS = 20


def overview(corpus: Corpus) -> Table:
    """Return a table with a row for each annotator, of whom the first twenty are shown."""
    counts: dict[str, list[int]] = {}
    judged = 0
    for pair in corpus:
        for name, annotation in pair.annotations.items():
            row = counts.setdefault(name, [0, 0, 0, 0])
            if annotation.alignment is None:
                row[3] += 1
                judged += 1
                continue
            sure = sum(annotation.alignment.packed()[1])
            row[0] += 1
            row[1] += sure
            row[2] += len(annotation.alignment) - sure
    names = ["pairs", "sure", "possible", *(["judged only"] if judged else [])]
    columns = [Column("annotator"), *(Column(name, "count") for name in names)]
    rows: list[list[Cell]] = [
        [name, *row[: len(names)]] for name, row in list(counts.items())[:_ROWS]
    ]
    left = len(counts) - len(rows)
    note = f"and {left} more; alignkit.count_corpus counts all" if left > 0 else ""
    return Table(_title(corpus), columns, rows, note)


def _title(corpus: Corpus) -> str:
    title = "1 sentence pair" if len(corpus) == 1 else f"{len(corpus)} sentence pairs"
    bare = sum(not pair.has_text for pair in corpus)
    if bare == len(corpus):
        return f"{title}, words unknown" if bare else title
    sides = (sum(len(side) for pair in corpus if (side := pair.source)),
             sum(len(side) for pair in corpus if (side := pair.target)))  # fmt: skip
    title += f", {sides[0]} source and {sides[1]} target words"
    return f"{title} ({bare} pairs without words)" if bare else title
