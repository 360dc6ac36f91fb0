"""Break a score down by sentence pair or by group, as records for a table or a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from alignkit.arguments import check_arguments
from alignkit.corpus import Corpus
from alignkit.errors import JoinError
from alignkit.scoring.counts import Rows
from alignkit.scoring.measures import LEVEL_COLUMNS, LEVELS
from alignkit.scoring.scores import score

__all__ = ["group_records", "pair_records", "score_records"]


def pair_records(rows: Mapping[str, Rows], ids: Sequence[str]) -> list[dict[str, object]]:
    """Return the score of each sentence pair.

    Parameters
    ----------
    rows
        The `rows` of a `Score`: for each level (P, C) counts.
    ids
        The P ids.

    Returns
    -------
    list of dict
        For each pair and level: id, level, the measures (NaN where undefined) and the counts.

    Raises
    ------
    JoinError
        If the numbers of ids and rows differ.
    """
    check_arguments(pair_records, locals())
    _check_names(rows, ids, "ids")
    return [{"id": ids[k], "level": level, **record} for k, level, record in _records(rows)]


def group_records(
    rows: Mapping[str, Rows], groups: Sequence[str], *, name: str = "group"
) -> list[dict[str, object]]:
    """Return the score of each group: the measures of the sum of its rows.

    Parameters
    ----------
    rows
        The `rows` of a `Score`: for each level (P, C) counts.
    groups
        The group of each of the P pairs.
    name
        The key of the group in the records.

    Returns
    -------
    list of dict
        For each group, in the order of first use, and level: the group, pairs (how many), level,
        the measures (NaN where undefined) and the counts.

    Raises
    ------
    JoinError
        If the numbers of groups and rows differ.

    Examples
    --------
    >>> rows = {"links": np.array([[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0, 0]])}
    >>> [(record["genre"], record["pairs"], record["aer"])
    ...  for record in group_records(rows, ["news", "news"], name="genre")]
    [('news', 2, 0.5)]
    """
    check_arguments(group_records, locals())
    _check_names(rows, groups, "groups")
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    member = np.array([numbers[group] for group in groups], np.int64)
    sizes = np.bincount(member, minlength=len(numbers)).tolist()
    sums: dict[str, Rows] = {}
    for level, counts in rows.items():
        sums[level] = np.zeros((len(numbers), counts.shape[1]), np.int64)
        np.add.at(sums[level], member, counts)
    names = list(numbers)
    return [
        {name: names[k], "pairs": sizes[k], "level": level, **record}
        for k, level, record in _records(sums)
    ]


def score_records(
    corpus: Corpus,
    hypothesis: str = "system",
    reference: str = "gold",
    *,
    by: str | None = None,
    level: str = "links",
    ignore_identical: bool = False,
    exact_case: bool = False,
    loose: bool = False,
    max_length: int | None = None,
    links: str = "given",
) -> list[dict[str, object]]:
    """Score each sentence pair of a corpus, or each group of pairs.

    Parameters
    ----------
    corpus, hypothesis, reference, level, ignore_identical, exact_case, loose, max_length, links
        As in `score`.
    by
        An attribute of the pairs, such as the document; None gives one record a pair.

    Returns
    -------
    list of dict
        As `pair_records` or `group_records`; pairs that either has not annotated are left out, and
        pairs without the attribute come under ``""``.

    Raises
    ------
    UnknownNameError
        If no pair has the attribute; and as `score`.
    """
    check_arguments(score_records, locals())
    if by is not None:
        corpus.groups(by)  # refuses an unknown attribute
    shared = corpus.annotated_by(hypothesis, reference)
    rows = score(
        shared,
        hypothesis,
        reference,
        level=level,
        ignore_identical=ignore_identical,
        exact_case=exact_case,
        loose=loose,
        max_length=max_length,
        links=links,
        keep_rows=True,
    ).rows
    if by is None:
        return pair_records(rows, shared.ids)
    return group_records(rows, [pair.attributes.get(by, "") for pair in shared], name=by)


def _records(rows: Mapping[str, Rows]) -> Iterator[tuple[int, str, dict[str, object]]]:
    """Yield (number of the row, level, measures and counts), all levels of a row together."""
    ratios = {level: LEVELS[level](counts) for level, counts in rows.items()}
    for k in range(max(map(len, rows.values()), default=0)):
        for level, counts in rows.items():
            columns = LEVEL_COLUMNS[level]
            values = {name: float(value[k]) for name, value in ratios[level].items()}
            yield k, level, {**values, **dict(zip(columns, counts[k].tolist(), strict=True))}


def _check_names(rows: Mapping[str, Rows], names: Sequence[str], what: str) -> None:
    for level, counts in rows.items():
        if len(counts) != len(names):
            raise JoinError(f"{len(names)} {what} for {len(counts)} rows of {level}")
