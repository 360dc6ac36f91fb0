"""Coefficients of agreement for links, labels and tables; `agree` shows them in context."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Union, overload

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_keywords, check_known, kind_of
from alignkit._support.options import takes_options
from alignkit._support.wording import how_many
from alignkit.agreement.alpha import alpha_from_units, krippendorff_alpha
from alignkit.agreement.chance.correction import correct_sets
from alignkit.agreement.chance.result import LEVELS
from alignkit.agreement.fleiss import fleiss_from_counts, fleiss_kappa
from alignkit.agreement.kappa import cell_agreement, cohen_kappa
from alignkit.agreement.options import AgreementKeywords, AgreementOptions
from alignkit.agreement.question import agree
from alignkit.agreement.result import Agreement
from alignkit.errors import ArgumentError, JoinError, OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.coercion import LinksOfPair, alignment_of
from alignkit.model.corpus import Corpus
from alignkit.model.phrase_arrays import LINKS
from alignkit.model.records import missing
from alignkit.model.roles import ROLES
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from typing_extensions import Unpack


class HasArray(Protocol):
    """A column or a table of pandas or polars."""

    def to_numpy(self) -> object:
        """Return the values as an array."""


Labels = Union[Sequence[object], NDArray[np.generic], HasArray]
"""The labels of an annotator, or a table."""

Given = Union[Corpus, LinksOfPair, Labels]
"""What the coefficients compare; a text is also a name."""

Level = Literal["words.possible", "words.sure", "phrases.possible", "phrases.sure"]


@dataclass(frozen=True)
class LinkChoices:
    """What the coefficients take for links, apart from the options of the functions they call."""

    lengths: tuple[int, int] | None = None  # all: the numbers of words of the only sentence pair
    links: Literal["possible", "sure"] = "possible"  # kappa and alpha: the links that count
    level: Level = "words.possible"  # C: the items and the links that they are made of


_DIFFERENT_WORDS = {"ignore_identical": True}
_NO_INTERVAL = {"bootstrap": "none"}
"""Defaults of the coefficients that the functions they call do not have."""


# the options as type checkers see them
class KappaKeywords(TypedDict, total=False):
    """The options of `kappa` for links."""

    links: Literal["possible", "sure"]
    ignore_identical: bool
    exact_case: bool
    universe: Literal["all", "judged"]


class AlphaKeywords(TypedDict, total=False):
    """The options of `alpha` for links."""

    links: Literal["possible", "sure"]
    distance: Literal["jaccard", "dice", "masi"]
    ignore_identical: bool
    exact_case: bool


class SetKeywords(TypedDict, total=False):
    """The options of `C` for labels."""

    samples: int
    seed: int
    normalizer: Literal["min", "max"]
    aggregate: Literal["macro", "micro"]
    confidence: float | None
    resamples: int


@overload
def kappa(corpus: Corpus, /, *annotators: str, **options: Unpack[KappaKeywords]) -> float: ...
@overload
def kappa(
    first: LinksOfPair,
    second: LinksOfPair,
    /,
    *,
    lengths: tuple[int, int],
    **options: Unpack[KappaKeywords],
) -> float: ...
@overload
def kappa(first: Labels, second: Labels, /) -> float: ...
@overload
def kappa(table: Labels, /) -> float: ...
# the decorator only sets the signature that `help` shows
@takes_options(LinkChoices, cell_agreement, without=["level"], **_DIFFERENT_WORDS)
def kappa(*given: Given, **options: Any) -> float:
    """Return Cohen's kappa of two annotators; NaN if undefined.

    Parameters
    ----------
    *given : One of these:

        - a corpus and two names (over cells of different words, as in `alignkit.agree`);
        - two alignments of one sentence pair (`Alignment`, text or set of links), with
          ``lengths=(N, M)``, the numbers of words (over all cells);
        - two lists of labels;
        - a table of Q x Q counts. A data frame of counts, such as pandas' ``crosstab``, has its
          labels in its rows and columns; labels that only one of them has count 0 in the other.
    **options : For links: ``links``, ``"possible"`` (all, the default) or ``"sure"``, and those of
        `alignkit.agreement.cell_agreement`; `ignore_identical` is True by default.

    Raises
    ------
    ArgumentError, OptionError, JoinError : If the input is none of these, lists differ in length,
        or a label is missing.

    References
    ----------
    Cohen 1960, Educational and Psychological Measurement 20:37-46.

    Examples
    --------
    >>> kappa(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"])
    0.5
    >>> round(kappa([[20, 5], [10, 15]]), 3), round(kappa("0-0 1-1", "0-0 1-2", lengths=(2, 3)), 3)
    (0.4, 0.25)
    """
    annotated = _annotated(given, options, two=True)
    if annotated is not None:
        links = options.pop("links", LINKS[0])
        check_known("choice of links", links, LINKS)
        corpus, names = annotated
        cells = cell_agreement(corpus, *names, **{**_DIFFERENT_WORDS, **options})
        return cells.sure.kappa if links == "sure" else cells.possible.kappa
    _refuse_for_labels("kappa", options)
    if len(given) != 1:
        codes, size = _coded(_items_of_lists(given, two=True))
        counts: Any = np.zeros((size, size), np.int64)
        np.add.at(counts, tuple(codes.T), 1)
        return cohen_kappa(counts)
    if _is_frame(given[0]):
        counts = _square(given[0])
    else:
        counts = _rows("a row of the table", given[0])
    return cohen_kappa(counts)


@overload
def alpha(corpus: Corpus, /, *annotators: str, **options: Unpack[AlphaKeywords]) -> float: ...
@overload
def alpha(
    first: LinksOfPair,
    second: LinksOfPair,
    /,
    *more: LinksOfPair,
    lengths: tuple[int, int],
    **options: Unpack[AlphaKeywords],
) -> float: ...
@overload
def alpha(*labels: Labels, distance: Literal["jaccard", "dice", "masi"] = ...) -> float: ...
@takes_options(LinkChoices, krippendorff_alpha, without=["level"], **_DIFFERENT_WORDS)
def alpha(*given: Given, **options: Any) -> float:
    """Return Krippendorff's alpha of two or more annotators; NaN if undefined.

    Parameters
    ----------
    *given : As for `kappa`, any number. Without names: all with the role annotator of the corpus.
        A table has labels, units x annotators, as in statsmodels and irrCAC; a table of annotators
        x units, as in the package krippendorff, is ``alpha(*table)``. A table with more columns
        than rows causes a warning. Labels may be sets; None, NaN, NA and "" are missing.
    **options : ``distance`` between sets, ``"jaccard"``, ``"dice"`` or ``"masi"``; between other
        labels it is nominal. For links also those of `alignkit.agreement.krippendorff_alpha`;
        `ignore_identical` is True by default.

    References
    ----------
    Krippendorff 2011, https://repository.upenn.edu/asc_papers/43. Errors as for `kappa`.

    Examples
    --------
    >>> round(alpha(["a", "a", "b", None], ["a", "b", "b", "b"], ["a", "a", "b", "b"]), 3)
    0.667
    """
    annotated = _annotated(given, options)
    if annotated is not None:
        corpus, names = annotated
        return krippendorff_alpha(corpus, names, **{**_DIFFERENT_WORDS, **options}).alpha
    _refuse_for_labels("alpha", options, "distance")
    if len(given) == 1:
        items: Sequence[Sequence[Any]] = _rows("a row of the table", given[0])
        _warn_if_transposed(items)
    else:
        items = _items_of_lists(given, gaps=True, sets=True)
    return alpha_from_units(_coded_sets(items), **options).alpha


@overload
def fleiss(corpus: Corpus, /, *annotators: str) -> float: ...
@overload
def fleiss(
    first: LinksOfPair, second: LinksOfPair, /, *more: LinksOfPair, lengths: tuple[int, int]
) -> float: ...
@overload
def fleiss(*labels: Labels) -> float: ...
@takes_options(LinkChoices, without=["links", "level"])
def fleiss(*given: Given, **options: Any) -> float:
    """Return Fleiss' kappa of two or more annotators; NaN if undefined.

    Parameters
    ----------
    *given : As for `alpha`, but a table has counts, items x categories. For labels, items x
        annotators, use ``fleiss(*zip(*table))``. For links see `alignkit.agreement.fleiss_kappa`.
    lengths : As for `alpha`.

    References
    ----------
    Fleiss 1971, Psychological Bulletin 76:378-382. Errors as for `kappa`.

    Examples
    --------
    >>> fleiss(["a", "b"], ["a", "b"], ["a", "b"]), fleiss([[3, 0], [0, 3]])
    (1.0, 1.0)
    """
    annotated = _annotated(given, options)
    if annotated is not None:
        corpus, names = annotated
        return fleiss_kappa(corpus, names, **options).kappa
    _refuse_for_labels("fleiss", options)
    if len(given) == 1:
        counts: Any = _rows("a row of the table", given[0])
    else:
        codes, size = _coded(_items_of_lists(given))
        counts = [np.bincount(item, minlength=size) for item in codes]
    value, _, _ = fleiss_from_counts(counts)
    return value


@overload
def C(
    corpus: Corpus, /, *annotators: str, level: Level = ..., **options: Unpack[AgreementKeywords]
) -> float: ...
@overload
def C(
    first: LinksOfPair,
    second: LinksOfPair,
    /,
    *,
    lengths: tuple[int, int],
    level: Level = ...,
    **options: Unpack[AgreementKeywords],
) -> float: ...
@overload
def C(
    first: Labels,
    second: Labels,
    /,
    *,
    choices: int | Sequence[int],
    **options: Unpack[SetKeywords],
) -> float: ...
@overload
def C(
    table: Labels, /, *, choices: int | Sequence[int], **options: Unpack[SetKeywords]
) -> float: ...
@takes_options(
    LinkChoices,
    AgreementOptions,
    correct_sets,
    without=["links", "annotators", "sample"],
    **_NO_INTERVAL,
)
def C(*given: Given, **options: Any) -> float:  # noqa: N802 - its name in the article
    """Return C of two annotators, their agreement beyond chance; NaN if undefined.

    Parameters
    ----------
    *given : As for `kappa`. Labels may be sets; a table has labels, items x 2.
    **options : For links: ``level``, ``"words.possible"`` (the default), ``"words.sure"``,
        ``"phrases.possible"`` or ``"phrases.sure"``, and those of `alignkit.agree`. The model of
        chance is an edit model if there is an initial alignment, else Kupper & Hafner. For labels
        (Kupper & Hafner): ``choices``, the number of labels to choose from, and those of
        `alignkit.agreement.correct_sets`.

    References
    ----------
    Cohn, Callison-Burch & Lapata 2008, Computational Linguistics 34(4):597-614; Kupper & Hafner
    1989, Biometrics 45:957-967. Errors as for `kappa`.

    Examples
    --------
    >>> round(C([{10}, {20, 30}, {40}], [{10, 20}, {30}, {40}], choices=4, normalizer="max"), 4)
    0.5556
    """
    annotated = _annotated(given, options, two=True)
    if annotated is not None:
        level = options.pop("level", "words.possible")
        check_known("level", level, LEVELS)
        check_keywords(C, options)
        corpus, names = annotated
        agreement: Agreement = agree(corpus, names, **{**_NO_INTERVAL, **options})
        return agreement.pairings[0].main(level).C
    if options.get("choices") is None:
        raise OptionError("C needs `choices`: give the number of labels to choose from")
    if len(given) == 1:
        items: Sequence[Sequence[Any]] = _items_of_two(given[0])
    else:
        items = _items_of_lists(given, two=True, sets=True)
    first = [_set(item[0]) for item in items]
    second = [_set(item[1]) for item in items]
    _refuse_mixed(set[Any]().union(*first, *second))
    return correct_sets(first, second, **options).C


def _refuse_for_labels(function: str, options: Iterable[str], *known: str) -> None:
    """Refuse options that a coefficient lacks for labels; name the function that has them."""
    for name in options:
        if name not in known:
            raise ArgumentError(
                f"{function} of labels takes no argument {name!r}; for ordered labels and weights "
                "use alignkit.agree_on_judgments(corpus, scheme=...)"
            )


# the forms of data
def _annotated(
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


def _items_of_lists(
    lists: Sequence[Any], *, two: bool = False, gaps: bool = False, sets: bool = False
) -> list[Sequence[Any]]:
    """Return the labels of each item, from a list of labels for each annotator."""
    of_annotators = _rows("a list of labels", lists)
    if len({len(labels) for labels in of_annotators}) > 1:
        sizes = " and ".join(str(len(labels)) for labels in of_annotators)
        raise JoinError(f"the lists have {sizes} labels; each needs one label for each item")
    _check_number(len(of_annotators), two=two)
    for labels in of_annotators:
        _check_labels(labels, gaps=gaps, sets=sets)
    return list(zip(*of_annotators, strict=True))


def _items_of_two(table: Any) -> list[list[Any]]:
    """Return the labels of each item, from a table of two columns."""
    items = _rows("a row of the table", table)
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


def _rows(name: str, values: Any) -> list[list[Any]]:
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
    _refuse_mixed(number)
    return number


def _coded(items: Sequence[Sequence[Any]]) -> tuple[NDArray[np.int64], int]:
    """Return the code of each label (items, annotators), and the number of codes."""
    number = _numbered(chain.from_iterable(items))
    size = max(len(number), _LEAST_LABELS)
    if not items:
        return np.empty((0, 2), np.int64), size
    return np.array([[number[label] for label in item] for item in items], np.int64), size


def _coded_sets(items: Sequence[Sequence[Any]]) -> list[list[frozenset[int]]]:
    """Return the labels of each item as sets of codes, without missing ones."""
    units = []
    for item in items:
        given = [label for label in item if not _empty(label)]
        units.append(list(map(_set, given)))
    number = _numbered(chain.from_iterable(chain.from_iterable(units)))
    return [[_codes(labels, number) for labels in unit] for unit in units]


def _codes(labels: Set[Any], number: Mapping[Any, int]) -> frozenset[int]:
    return frozenset(number[label] for label in labels)


def _empty(label: Any) -> bool:
    """Return whether a label is missing, as in an empty cell of a table."""
    return missing(label) or (isinstance(label, str) and not label.strip())


def _refuse_mixed(labels: Iterable[Any]) -> None:
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


def _warn_if_transposed(units: Sequence[Sequence[Any]]) -> None:
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


def _is_frame(table: Any) -> bool:
    """Return whether a table is a data frame, with names of rows and columns."""
    return all(hasattr(table, name) for name in ("index", "columns", "to_numpy"))


def _square(frame: Any) -> NDArray[Any]:
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


def _set(label: Any) -> Set[Any]:
    """Return a label as a set; raise an error for what cannot be in one, such as a list."""
    if isinstance(label, Set):
        return label
    try:
        return {label}
    except TypeError:
        raise ArgumentError(
            f"{str(label)[:40]} is not a label; give several labels of an item as a set"
        ) from None
