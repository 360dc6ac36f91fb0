"""The concordance of a word over an annotator's own pairs, from the folded state."""

from __future__ import annotations

from typing import Any

from alignkit.annotate.project import queries
from alignkit.annotate.project.conversion import annotation_of
from alignkit.annotate.project.store import Store
from alignkit.corpora.concordance import concordance
from alignkit.model.alignment import Alignment
from alignkit.model.sentence_pair import SentencePair

_MOST_PAIRS, _MOST_WORDS, _MOST_LINES = 2000, 100_000, 100  # that are searched, and sent


def own_concordance(store: Store, name: str, word: str, side: str) -> dict[str, Any]:
    """Return the counterparts of a word, lines with their pairs, and how many are left out."""
    with store.database.reading() as conn:
        account = queries.account_of(conn, name)
        searched = queries.PairList(conn, account).queue(0, _MOST_PAIRS, word)
        ids = {row.k: row.id for row in searched.pairs}
        pairs = [SentencePair("0", (), (), {name: Alignment()})]  # who is known without links too
        words = 0
        for k in ids:
            _, row, stream, *_ = queries.own_pair(conn, k, name)
            words += len(row.source) + len(row.target)
            if words > _MOST_WORDS:
                break
            annotation = annotation_of(stream.state)
            own = {} if annotation is None else {name: annotation}
            pairs.append(SentencePair(str(k), row.source, row.target, own))
    result = concordance(pairs, word, side=side, ignore_case=True, context=4)
    counterparts, lines = (table.to_records() for table in result.tables())
    for line in lines:
        line["k"] = k = int(str(line["id"]))
        line["id"] = ids[k]
    return {
        "counterparts": counterparts, "lines": lines[:_MOST_LINES], "total": len(lines),
        "not_annotated": sum(result.left_out.values()),
        "not_searched": searched.total - len(pairs) + 1,
    }  # fmt: skip
