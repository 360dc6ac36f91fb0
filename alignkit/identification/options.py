"""The options of the search for candidates, with defaults, limits and help.

The command line is made from the fields, so this module imports nothing slow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any

from alignkit._support.arguments import check_attributes, check_known
from alignkit.errors import OptionError
from alignkit.version import __version__

Matrix = Any  # (n, d): a scipy sparse matrix or a numpy array
Encoder = Callable[[Sequence[str]], Matrix]
UNDATED = ("error", "drop", "all")
_SHARES = ("min_similarity", "max_similarity", "near_diagonal", "max_alike")
LIMITS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(_SHARES, (0, 1)), "days": (0, inf), "seed": (0, inf), "grid": (0, 100),
    "ngrams": (1, 10),
}  # fmt: skip
"""The least and largest values of numbers; others are 1 or more."""
RANGES = ("ngrams", "lines")


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    r"""How texts are compared, by the cosine of their vectors, and the seed of random draws.

    Parameters
    ----------
    ngrams : least and most letters of the n-grams within words; one in df of n texts has the weight
        tf (ln((1 + n)/(1 + df)) + 1)
    words : compare words instead of n-grams of letters
    similarity : A function that returns a vector for each text, (n, d), sparse or dense, to use
        instead; not for the command line.
    seed : seed of random draws
    """

    ngrams: tuple[int, int] = (2, 4)
    words: bool = False
    similarity: Encoder | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_attributes(self)
        for name, value in vars(self).items():
            values = value if isinstance(value, (tuple, list)) else [value]
            least, most = LIMITS.get(name, (1, inf))
            for number in values:
                is_number = isinstance(number, Real) and not isinstance(number, bool)
                if is_number and not least <= number <= most:
                    expected = f"{least} or more" if most == inf else f"a number {least} to {most}"
                    raise OptionError(f"`{name}` is {number}; expected {expected}")
            if name in RANGES and list(values) != sorted(values):
                raise OptionError(f"`{name}` is {_shown(value)}; put the smaller number first")

    def settings(self, **more: object) -> str:
        """Return all settings, and more, in one line."""
        whole = vars(self) | more | {"version": __version__}
        return "|".join(f"{name.replace('_', '-')}:{_shown(whole[name])}" for name in whole)


def name_of(encode: Encoder) -> str:
    """Return the name of a user's function."""
    return getattr(encode, "__qualname__", type(encode).__name__)


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value)) or "none"
    if callable(value):
        return name_of(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, kw_only=True)
class BandOptions(SearchOptions):
    """The band of similarity.

    Parameters
    ----------
    min_similarity : least similarity, 0 to 1
    max_similarity : largest similarity, 0 to 1; equal texts are kept only with 1
    """

    min_similarity: float | None = None
    max_similarity: float | None = None

    @property
    def band(self) -> tuple[float, float]:
        """The band; a missing end is open."""
        low = -1.0 if self.min_similarity is None else self.min_similarity
        high = 1.0 if self.max_similarity is None else self.max_similarity
        if low > high:
            raise OptionError(f"`min_similarity` {low:g} is above `max_similarity` {high:g}")
        return low, high


@dataclass(frozen=True, kw_only=True)
class DocumentOptions(BandOptions):
    """Which documents are compared, and which pairs are kept.

    Parameters
    ----------
    key : attributes that must be equal in both documents, such as the film or the topic
    date : attribute with the date or time, in ISO 8601
    days : largest difference of the dates in days
    undated : documents without a date are an error, dropped, or paired with all of their key
    per_document : the most similar documents that each document keeps (default: all; 10 without key
        and date)
    farthest : keep only the least similar pair of each key
    near : text that is compared
    far : text that should differ: the pairs have this text, and the least similar ones come first
    grid : show candidates from so many equal bins of similarity (default: none)
    show : candidates of each bin that the grid shows
    """

    key: Sequence[str] = ()
    date: str | None = None
    days: float = 7.0
    undated: str = "error"
    per_document: int | None = None
    farthest: bool = False
    near: str = "text"
    far: str | None = None
    grid: int = 0
    show: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_known("value of undated", self.undated, UNDATED)
        if self.farthest and not self.key:
            raise OptionError("`farthest` chooses a pair of each key: give a `key`")


@dataclass(frozen=True, kw_only=True)
class SentenceOptions(BandOptions):
    """Which windows of lines are compared, and which pairs are kept.

    Parameters
    ----------
    lines : least and most lines of a window; blank lines do not count
    per_window : the most similar target windows that each source window keeps
    near_diagonal : largest difference of the relative positions in the two documents, 0 to 1
    sample : draw so many candidates, as many from each bin of 0.05 of similarity (default: all)
    """

    lines: tuple[int, int] = (1, 3)
    per_window: int = 5
    min_similarity: float | None = 0.1
    max_similarity: float | None = 0.9
    near_diagonal: float | None = None
    sample: int | None = None


@dataclass(frozen=True, kw_only=True)
class GroupOptions(SearchOptions):
    """Which texts of a group become pairs.

    Parameters
    ----------
    group : name of the group
    text : name of the text
    clusters : clusters that k-means makes of each group (default: half, which is half as many as
        texts)
    min_group : groups with fewer different texts are dropped
    max_alike : pairs that are this alike letter by letter (the ratio of difflib) are dropped
    all_pairs : pair all texts of a group, without clusters
    """

    group: str = "group"
    text: str = "text"
    clusters: int | None = None
    min_group: int = 5
    max_alike: float = 0.9
    all_pairs: bool = False


@dataclass(frozen=True, kw_only=True)
class RetrievalOptions(SearchOptions):
    """Whose judgments count, and which ranks are shown.

    Parameters
    ----------
    annotator : annotator with the judgments; needed if several judged
    at : ranks k of the columns top-k (default: 1 10 100)
    """

    annotator: str | None = None
    at: Sequence[int] = (1, 10, 100)
