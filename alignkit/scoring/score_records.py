"""Break a score down by sentence pair or by group, as records for a table or a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from alignkit.arguments import check_arguments, kind_of
from alignkit.corpus import Corpus, values_of
from alignkit.errors import ArgumentError, JoinError, OptionError, UnknownNameError
from alignkit.scoring.counts import Rows
from alignkit.scoring.macro import AGGREGATES, aggregated
from alignkit.scoring.measures import LEVEL_COLUMNS, LEVELS, Counts, Ratios
from alignkit.scoring.scores import score

__all__ = ["group_records", "overlap", "pair_records", "score_records"]


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
    plain = {level: (counts, LEVELS[level]) for level, counts in rows.items()}
    return [{"id": ids[k], "level": level, **record} for k, level, record in _records(plain)]


def group_records(
    rows: Mapping[str, Rows],
    groups: Sequence[str] | Sequence[Sequence[str]],
    *,
    name: str = "group",
    aggregate: str = "micro",
) -> list[dict[str, object]]:
    """Return the score of each group: the measures of the sum of its rows.

    Parameters
    ----------
    rows
        The `rows` of a `Score`: for each level (P, C) counts.
    groups
        The group of each of the P pairs; or the groups of each, which then overlap.
    name
        The key of the group in the records.
    aggregate
        ``"micro"``, ``"macro"`` or ``"both"``, as in `score`.

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
    check_arguments(group_records, locals(), apart=["groups"])
    if aggregate not in AGGREGATES:
        raise UnknownNameError("aggregate", aggregate, AGGREGATES)
    memberships = _memberships(groups)
    _check_names(rows, memberships, "groups")
    found = dict.fromkeys(group for several in memberships for group in several)
    numbers = {group: number for number, group in enumerate(found)}
    sizes = [0] * len(numbers)
    pair, member = list[int](), list[int]()
    for k, several in enumerate(memberships):
        for group in several:
            sizes[numbers[group]] += 1
            pair.append(k)
            member.append(numbers[group])
    sums: dict[str, tuple[Counts, Ratios]] = {}
    for level, counts in rows.items():
        more, ratios = aggregated(counts, level, aggregate)
        total = np.zeros((len(numbers), more.shape[1]))
        np.add.at(total, member, more[pair])
        sums[level] = total, ratios
    names = list(numbers)
    return [
        {name: names[k], "pairs": sizes[k], "level": level, **record}
        for k, level, record in _records(sums)
    ]


def overlap(groups: Sequence[Sequence[str]], name: str) -> str:
    """Say how many pairs are in several groups; nothing where none is."""
    several = sum(len(one) > 1 for one in groups)
    if not several:
        return ""
    return (
        f"groups overlap: {several} of {len(groups)} sentence pairs have several values of {name} "
        "and count in each"
    )


def _memberships(groups: Sequence[str] | Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the different groups of each pair."""
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Sequence):
        raise ArgumentError(f"groups is {kind_of(groups)}; it must be a sequence, one a pair")
    found = []
    for k, given in enumerate(groups):
        several = (given,) if isinstance(given, str) else given
        if not isinstance(several, Sequence) or not all(isinstance(one, str) for one in several):
            raise ArgumentError(
                f"groups[{k}] is {kind_of(given)}; it must be a text, or a sequence of texts"
            )
        found.append(tuple(dict.fromkeys(several)))
    return found


def score_records(
    corpus: Corpus,
    hypothesis: str = "system",
    reference: str = "gold",
    *,
    by: str | None = None,
    split: str | None = None,
    level: str = "links",
    ignore_identical: bool = False,
    exact_case: bool = False,
    loose: bool = False,
    max_length: int | None = None,
    links: str = "given",
    aggregate: str = "micro",
) -> list[dict[str, object]]:
    """Score each sentence pair of a corpus, or each group of pairs.

    Parameters
    ----------
    corpus, hypothesis, reference, level, ignore_identical, exact_case, loose, max_length, links
        As in `score`.
    by
        An attribute of the pairs, such as the document; None gives one record a pair.
    split
        What stands between several values in that attribute, such as ``","``; see `Corpus.groups`.
    aggregate
        ``"micro"``, ``"macro"`` or ``"both"``, for groups.

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
        corpus.groups(by, split=split)  # refuses an unknown attribute
    elif split is not None:
        raise OptionError("split divides the values of the attribute that by names; give by too")
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
    groups = [values_of(pair.attributes.get(by, ""), split) for pair in shared]
    return group_records(rows, groups, name=by, aggregate=aggregate)


def _records(
    rows: Mapping[str, tuple[Counts, Ratios]],
) -> Iterator[tuple[int, str, dict[str, object]]]:
    """Yield (number of the row, level, measures and counts), all levels of a row together."""
    ratios = {level: measure(counts) for level, (counts, measure) in rows.items()}
    for k in range(max((len(counts) for counts, _ in rows.values()), default=0)):
        for level, (counts, _) in rows.items():
            columns = LEVEL_COLUMNS[level]
            values = {name: float(value[k]) for name, value in ratios[level].items()}
            numbers = map(int, counts[k, : len(columns)].tolist())
            yield k, level, {**values, **dict(zip(columns, numbers, strict=True))}


def _check_names(rows: Mapping[str, Rows], names: Sequence[object], what: str) -> None:
    for level, counts in rows.items():
        if len(counts) != len(names):
            raise JoinError(f"{len(names)} {what} for {len(counts)} rows of {level}")
