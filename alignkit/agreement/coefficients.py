"""Coefficients of agreement for links, labels and tables; `agree` shows them in context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Union, overload

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_keywords, check_known
from alignkit._support.keywords import takes_options
from alignkit.agreement.alpha import alpha_from_units, krippendorff_alpha
from alignkit.agreement.chance.correction import correct_sets
from alignkit.agreement.chance.result import LEVELS
from alignkit.agreement.data_forms import (
    annotated_links,
    as_set,
    coded,
    coded_sets,
    is_frame,
    items_of_lists,
    items_of_two,
    refuse_mixed,
    rows_of,
    square_counts,
    warn_if_transposed,
)
from alignkit.agreement.fleiss import fleiss_from_counts, fleiss_kappa
from alignkit.agreement.kappa import cell_agreement, cohen_kappa
from alignkit.agreement.options import AgreementKeywords, AgreementOptions
from alignkit.agreement.question import agree
from alignkit.agreement.result import Agreement
from alignkit.errors import ArgumentError, OptionError
from alignkit.model.coercion import LinksOfPair
from alignkit.model.corpus import Corpus
from alignkit.model.phrase_arrays import LINKS

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
    annotated = annotated_links(given, options, two=True)
    if annotated is not None:
        links = options.pop("links", LINKS[0])
        check_known("choice of links", links, LINKS)
        corpus, names = annotated
        cells = cell_agreement(corpus, *names, **{**_DIFFERENT_WORDS, **options})
        return cells.sure.kappa if links == "sure" else cells.possible.kappa
    _refuse_for_labels("kappa", options)
    if len(given) != 1:
        codes, size = coded(items_of_lists(given, two=True))
        counts: Any = np.zeros((size, size), np.int64)
        np.add.at(counts, tuple(codes.T), 1)
        return cohen_kappa(counts)
    if is_frame(given[0]):
        counts = square_counts(given[0])
    else:
        counts = rows_of("a row of the table", given[0])
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
    annotated = annotated_links(given, options)
    if annotated is not None:
        corpus, names = annotated
        return krippendorff_alpha(corpus, names, **{**_DIFFERENT_WORDS, **options}).alpha
    _refuse_for_labels("alpha", options, "distance")
    if len(given) == 1:
        items: Sequence[Sequence[Any]] = rows_of("a row of the table", given[0])
        warn_if_transposed(items)
    else:
        items = items_of_lists(given, gaps=True, sets=True)
    return alpha_from_units(coded_sets(items), **options).alpha


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
    annotated = annotated_links(given, options)
    if annotated is not None:
        corpus, names = annotated
        return fleiss_kappa(corpus, names, **options).kappa
    _refuse_for_labels("fleiss", options)
    if len(given) == 1:
        counts: Any = rows_of("a row of the table", given[0])
    else:
        codes, size = coded(items_of_lists(given))
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
    annotated = annotated_links(given, options, two=True)
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
        items: Sequence[Sequence[Any]] = items_of_two(given[0])
    else:
        items = items_of_lists(given, two=True, sets=True)
    first = [as_set(item[0]) for item in items]
    second = [as_set(item[1]) for item in items]
    refuse_mixed(set[Any]().union(*first, *second))
    return correct_sets(first, second, **options).C


def _refuse_for_labels(function: str, options: Iterable[str], *known: str) -> None:
    """Refuse options that a coefficient lacks for labels; name the function that has them."""
    for name in options:
        if name not in known:
            raise ArgumentError(
                f"{function} of labels takes no argument {name!r}; for ordered labels and weights "
                "use alignkit.agree_on_judgments(corpus, scheme=...)"
            )
