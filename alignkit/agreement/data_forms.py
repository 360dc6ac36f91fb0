"""The forms of data that coefficients take: a corpus, alignments of a pair, labels, tables.

Links become a corpus and the names to compare (`annotated_links`). Labels become the labels of each
item (`items_of_lists`, `items_of_two`, `rows_of`), then numbers (`coded`, `coded_sets`). What is
none of these, or lacks a label, is refused with a message that says what to give instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import kind_of
from alignkit._support.array_types import I8
from alignkit._support.wording import how_many
from alignkit.errors import ArgumentError, JoinError, OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.coercion import alignment_of
from alignkit.model.corpus import Corpus
from alignkit.model.records import missing
from alignkit.model.roles import ROLES
from alignkit.model.sentence_pair import SentencePair


def annotated_links(
    given: Sequence[Any], options: dict[str, Any], *, two: bool = False
) -> tuple[Corpus, list[str]] | None:
    """Return a corpus and the names to compare, of links; None if labels are given.

    Alignments of one sentence pair become a corpus; their `lengths` are taken out of the options.
    """
    if given and isinstance(given[0], Corpus):
        corpus, names = _corpus_and_names(given[0], given[1:])
    elif given and all(isinstance(value, (Alignment, str, Set)) for value in given):
        corpus, names = _corpus_of_pair(given, options.pop("lengths", None))
    else:
        return None
    _check_number(len(names), two=two)
    return corpus, names


def _corpus_and_names(corpus: Corpus, names: Sequence[Any]) -> tuple[Corpus, list[str]]:
    """Return a corpus and the names, or all of its annotators if none is given."""
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(
                f"annotators is {kind_of(name)}; give each name as an argument: corpus, "
                "'anna', 'ben'"
            )
    if names:
        return corpus, list(names)
    roles = corpus.roles
    return corpus, [name for name in corpus.aligners if roles[name] == ROLES[0]]


def _corpus_of_pair(
    alignments: Sequence[Any], lengths: tuple[int, int] | None
) -> tuple[Corpus, list[str]]:
    """Return a corpus of one pair with some alignments, and their names."""
    if lengths is None:
        raise OptionError("chance depends on the numbers of words; give lengths=(N, M)")
    # made-up words, each different from all others: no link is one of identical words
    source = [f"0 {k}" for k in range(lengths[0])]
    target = [f"1 {k}" for k in range(lengths[1])]
    links = {str(k): alignment_of(f"alignment {k}", x) for k, x in enumerate(alignments, 1)}
    return Corpus([SentencePair("1", source, target, links)]), list(links)


def _check_number(annotators: int, *, two: bool) -> None:
    """Raise an error for fewer than two annotators, or for more if there must be two."""
    if annotators < 2 or (two and annotators > 2):
        several = "two" if two else "two or more"
        raise OptionError(f"give {several} annotators, not {annotators}")


def items_of_lists(
    lists: Sequence[Any], *, two: bool = False, gaps: bool = False, sets: bool = False
) -> list[Sequence[Any]]:
    """Return the labels of each item, from a list of labels for each annotator."""
    of_annotators = rows_of("a list of labels", lists)
    if len({len(labels) for labels in of_annotators}) > 1:
        sizes = " and ".join(str(len(labels)) for labels in of_annotators)
        raise JoinError(f"the lists have {sizes} labels; each needs one label for each item")
    _check_number(len(of_annotators), two=two)
    for labels in of_annotators:
        _check_labels(labels, gaps=gaps, sets=sets)
    return list(zip(*of_annotators, strict=True))


def items_of_two(table: Any) -> list[list[Any]]:
    """Return the labels of each item, from a table of two columns."""
    items = rows_of("a row of the table", table)
    for k, item in enumerate(items):
        if len(item) != 2:
            raise OptionError(
                f"row [{k}] of the table has {how_many(len(item), 'label')}; C compares two "
                "annotators: give two labels for each item"
            )
    for labels in zip(*items, strict=True):
        _refuse_missing(labels)
    return items


def _refuse_missing(labels: Iterable[Any]) -> None:
    """Raise an error for a missing label."""
    for k, label in enumerate(labels):
        if _empty(label):
            raise OptionError(f"a label [{k}] is missing: leave out the item, or use alpha")


def _check_labels(labels: Sequence[Any], *, gaps: bool, sets: bool) -> None:
    """Raise an error for missing labels unless `gaps`, and for what is not a label."""
    if not gaps:
        _refuse_missing(labels)
    for label in labels:
        if isinstance(label, (tuple, list, Alignment)) or (isinstance(label, Set) and not sets):
            raise ArgumentError(
                f"a list contains {str(label)[:40]}, which is not a label; give links of one pair "
                "as an Alignment, a text or a set, and links of many pairs in a Corpus"
            )


def rows_of(name: str, values: Any) -> list[list[Any]]:
    """Return the rows of a table, or the only row; raise an error if they are not rows."""
    if hasattr(values, "to_numpy"):
        plain = values.to_numpy()
    else:
        plain = values
    rows = list(plain) if isinstance(plain, Iterable) else [plain]
    for row in rows:
        if isinstance(row, (str, Mapping, Alignment, Corpus)) or not isinstance(row, Iterable):
            raise ArgumentError(
                f"{name} is {kind_of(row)}; give a list of rows, or a list of labels for each "
                "annotator, or a corpus and names"
            )
    return [list(row) for row in rows]


_LEAST_LABELS = 2  # a table of counts has two rows or more, even if all labels are equal


def _numbered(labels: Iterable[Any]) -> dict[Any, int]:
    """Give labels numbers in the order in which they occur; refuse 1 beside '1'."""
    number: dict[Any, int] = {}
    for label in labels:
        number.setdefault(label, len(number))
    refuse_mixed(number)
    return number


def coded(items: Sequence[Sequence[Any]]) -> tuple[I8, int]:
    """Return the code of each label (items, annotators), and the number of codes."""
    number = _numbered(chain.from_iterable(items))
    size = max(len(number), _LEAST_LABELS)
    if not items:
        return np.empty((0, 2), np.int64), size
    return np.array([[number[label] for label in item] for item in items], np.int64), size


def coded_sets(items: Sequence[Sequence[Any]]) -> list[list[frozenset[int]]]:
    """Return the labels of each item as sets of codes, without missing ones."""
    units = []
    for item in items:
        given = [label for label in item if not _empty(label)]
        units.append(list(map(as_set, given)))
    number = _numbered(chain.from_iterable(chain.from_iterable(units)))
    return [[_codes(labels, number) for labels in unit] for unit in units]


def _codes(labels: Set[Any], number: Mapping[Any, int]) -> frozenset[int]:
    """Return the codes of a set of labels."""
    return frozenset(number[label] for label in labels)


def _empty(label: Any) -> bool:
    """Return whether a label is missing, as in an empty cell of a table."""
    return missing(label) or (isinstance(label, str) and not label.strip())


def refuse_mixed(labels: Iterable[Any]) -> None:
    """Refuse numbers beside texts of the same numbers: 1 and '1' would be different labels."""
    texts: dict[float, str] = {}
    numbers: dict[float, Any] = {}
    for label in labels:
        if isinstance(label, str):
            try:
                texts[float(label)] = label
            except ValueError:
                continue
        elif isinstance(label, Real):
            numbers[float(label)] = label
    for value, text in texts.items():
        if value in numbers:
            raise OptionError(
                f"the labels {numbers[value]} (a number) and {text!r} (a text) would be different: "
                "make all labels numbers, or all texts"
            )


def warn_if_transposed(units: Sequence[Sequence[Any]]) -> None:
    """Warn about a table of units x annotators that has fewer units than annotators."""
    annotators = max(map(len, units), default=0)
    if annotators > len(units):
        warnings.warn(
            f"alpha: the table has more annotators (columns: {annotators}) than units (rows: "
            f"{len(units)}); if its rows are annotators, as in the package krippendorff, use "
            "alpha(*table)",
            stacklevel=3,
        )


_MARGINS = ("all", "total", "totals", "sum", "margin", "margins")


def is_frame(table: Any) -> bool:
    """Return whether a table is a data frame, with names of rows and columns."""
    return all(hasattr(table, name) for name in ("index", "columns", "to_numpy"))


def square_counts(frame: Any) -> NDArray[Any]:
    """Return the counts of a data frame, with the labels of both its rows and its columns."""
    rows = list(frame.index)
    columns = list(frame.columns)
    counts = np.asarray(frame.to_numpy())
    _refuse_margins("row", rows, counts)
    _refuse_margins("column", columns, counts.T)
    number = _numbered(rows + columns)
    # a table without any cell has no labels to share
    if len(rows) + len(columns) > 1 and set(rows).isdisjoint(columns):
        raise OptionError(
            "the rows and the columns of the data frame share no label; give a table of counts "
            "with the labels of one annotator in its rows and of the other in its columns, such as "
            "pd.crosstab(frame.anna, frame.ben), or two lists of labels"
        )
    if len(set(rows)) < len(rows) or len(set(columns)) < len(columns):
        raise OptionError("the data frame has a label twice in its rows or columns")
    size = max(len(number), _LEAST_LABELS)
    square = np.zeros((size, size), counts.dtype)
    places = np.ix_([number[label] for label in rows], [number[label] for label in columns])
    square[places] = counts
    return square


def _refuse_margins(what: str, labels: Sequence[Any], counts: NDArray[Any]) -> None:
    """Refuse a row (or column) that adds up the others, as pandas' `margins` gives it."""
    for place, label in enumerate(labels):
        if not isinstance(label, str) or label.casefold() not in _MARGINS or len(labels) < 2:
            continue
        others = np.delete(counts, place, axis=0)
        if (others.sum(axis=0) == counts[place]).all():
            raise OptionError(
                f"the {what} {label!r} of the table is the sum of the others: leave the margins out"
            )


def as_set(label: Any) -> Set[Any]:
    """Return a label as a set; raise an error for what cannot be in one, such as a list."""
    if isinstance(label, Set):
        return label
    try:
        return {label}
    except TypeError:
        raise ArgumentError(
            f"{str(label)[:40]} is not a label; give several labels of an item as a set"
        ) from None
