"""The options of the search for candidates, with defaults, limits and help.

The command line is made from the fields, so this module imports nothing slow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Any, TypedDict, cast

from alignkit._support.arguments import check_attributes, check_known
from alignkit.errors import OptionError
from alignkit.model.labels import View
from alignkit.version import __version__

if TYPE_CHECKING:
    from alignkit.align.encoder.functions import EncoderLike
    from alignkit.identification.encoded_texts import TextEncoder

Matrix = Any  # (n, d): a scipy sparse matrix or a numpy array
Encoder = Callable[[Sequence[str]], Matrix]
Texts = tuple[str, str]
PairEncoder = Callable[[Sequence[Texts]], Matrix]
FEATURES = ("cosine", "overlap", "align", "bow", "vectors", "encoder", "pairs")
"""The feature sets: similarity of letters, shared words, alignment, bags of words, vectors of the
texts, what an encoder of words says, and vectors of the pairs."""
AUTO = "auto"
ALONE = "none"
CHOICES = {
    "undated": ("error", "drop", "all"),
    "decide": ("accuracy", "f1"),
    "classifier": ("logistic", "forest"),
    "features": (AUTO, *FEATURES),
}
"""The values of options that have few."""
_SHARES = ("min_similarity", "max_similarity", "near_diagonal", "max_alike")
LIMITS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(_SHARES, (0, 1)),
    "days": (0, inf),
    "seed": (0, inf),
    "grid": (0, 100),
    "ngrams": (1, 10),
    "bins": (1, 100),
    "strengths": (1e-9, inf),
}
"""The least and largest values of numbers; others are 1 or more."""
_RANGES = ("ngrams", "lines")
_NEEDS = {
    "days": ("date", 7.0),
    "undated": ("date", "error"),
    "show": ("grid", 3),
    "bins": ("sample", 20),
}
"""The options that need another one, and their defaults then."""


class CheckedOptions:
    """A dataclass of options whose values are checked, and which can be printed."""

    encoder: EncoderLike | TextEncoder | None

    @property
    def text_encoder(self) -> TextEncoder | None:
        """What compares texts by the encoder, if it is given."""
        return cast("TextEncoder | None", self.encoder)

    def __post_init__(self) -> None:
        """Set the defaults of options whose other option is given, and check all values."""
        check_attributes(self)
        if self.encoder is not None:
            object.__setattr__(self, "encoder", text_encoder_of(self.encoder))
        for name in _NEEDS.keys() & vars(self).keys():
            needed, default = _NEEDS[name]
            if getattr(self, needed) and getattr(self, name) is None:
                object.__setattr__(self, name, default)
            if getattr(self, name) is not None and not getattr(self, needed):
                raise OptionError(f"`{name}` needs `{needed}`: add it, or leave `{name}` out")
        for name, value in vars(self).items():
            values = value if isinstance(value, (tuple, list)) else [value]
            for single in values:
                _check_value(name, single)
            if name in _RANGES and list(values) != sorted(values):
                raise OptionError(f"`{name}` is {_shown(value)}; put the smaller number first")

    def settings(self, **more: object) -> str:
        """Return all settings, and more, in one line."""
        whole = vars(self) | more | {"version": __version__}
        return "|".join(f"{name.replace('_', '-')}:{_shown(whole[name])}" for name in whole)


def _check_value(name: str, value: Any) -> None:
    """Check one value of an option: a choice, or a number within its limits."""
    if name in CHOICES and value is not None:
        check_known(f"value of {name}", value, CHOICES[name])
    least, most = LIMITS.get(name, (1, inf))
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and not least <= value <= most:
        expected = f"{least} or more" if most == inf else f"a number {least} to {most}"
        raise OptionError(f"`{name}` is {value}; expected {expected}")


def text_encoder_of(given: Any) -> TextEncoder:
    """Return what compares texts by an encoder, its folder or name, a function, or itself."""
    from alignkit.identification.encoded_texts import TextEncoder  # slow, and few need it

    return given if isinstance(given, TextEncoder) else TextEncoder(given)


def name_of(encode: Encoder) -> str:
    """Return the name of a user's function."""
    return getattr(encode, "__qualname__", type(encode).__name__)


def _shown(value: object) -> str:
    """Return a value as the line of settings has it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ",".join(map(_shown, value)) or "none"
    if callable(value):
        return name_of(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, kw_only=True)
class SearchOptions(CheckedOptions):
    r"""How texts are compared, by the cosine of their vectors, and the seed of random draws.

    Parameters
    ----------
    ngrams : least and most letters of the n-grams within words; one in df of n texts has the weight
        tf (ln((1 + n)/(1 + df)) + 1)
    words : compare words instead of n-grams of letters
    similarity : A function that returns a vector for each text, (n, d), sparse or dense, to use
        instead; not for the command line.
    encoder : What gives words their vectors, to use instead: the vector of a text is their mean.
        The command line has --encoder.
    seed : seed of random draws (default: 0)
    """

    ngrams: tuple[int, int] = (2, 4)
    words: bool = False
    similarity: Encoder | None = None
    encoder: EncoderLike | TextEncoder | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.encoder is not None and self.similarity is not None:
            raise OptionError("vectors and an encoder do the same: give one of them")

    @property
    def text_vectors(self) -> Encoder | None:
        """What makes the vectors of texts, if it is given."""
        return self.similarity if self.text_encoder is None else self.text_encoder.means


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

    `candidate_documents` takes the fields as keywords.

    Parameters
    ----------
    key : attributes that must be equal in both documents, such as the film or the topic
    date : attribute with the date or time, in ISO 8601
    days : largest difference of the dates in days (default: 7)
    undated : documents without a date are an error, dropped, or paired with all of their key
        (default: error)
    per_document : the most similar documents that each document keeps (default: all; 10 without key
        and date)
    farthest : keep only the least similar pair of each key
    near : text that is compared
    far : text that should differ: the pairs have this text, and the least similar ones come first
    grid : show candidates from so many equal bins of similarity (default: none)
    show : candidates of each bin that the grid shows (default: 3)

    Examples
    --------
    >>> from alignkit.identification import TextRecord, candidate_documents
    >>> texts = {"a": "A fire broke out on Monday.", "b": "On Monday a fire broke out in Lund."}
    >>> documents = [TextRecord(id, {"text": text, "topic": "fire"}) for id, text in texts.items()]
    >>> [pair.id for pair in candidate_documents(documents, key=["topic"], per_document=1).pairs]
    ['a~b']
    """

    key: Sequence[str] = ()
    date: str | None = None
    days: float | None = None
    undated: str | None = None
    per_document: int | None = None
    farthest: bool = False
    near: str = "text"
    far: str | None = None
    grid: int = 0
    show: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.farthest and not self.key:
            raise OptionError("`farthest` chooses a pair of each key: give a `key`")


@dataclass(frozen=True, kw_only=True)
class SentenceOptions(BandOptions):
    r"""Which windows of lines are compared, and which pairs are kept.

    `candidate_sentences` takes the fields as keywords.

    Parameters
    ----------
    lines : least and most lines of a window; blank lines do not count
    sentences : divide texts into English sentences, by NLTK's punkt, instead of lines
    per_window : the most similar target windows that each source window keeps
    near_diagonal : largest difference of the relative positions in the two documents, 0 to 1
    sample : draw so many candidates, as many from each bin of similarity (default: all)
    bins : equal bins of similarity from 0 to 1 for the sample (default: 20)

    Examples
    --------
    >>> from alignkit.identification import TextPair, candidate_sentences
    >>> pair = TextPair("d", "Hello.\nA fire broke out.", "There was a fire. It broke out.", {})
    >>> candidates = candidate_sentences([pair], lines=(1, 1), near_diagonal=1.0)
    >>> [(each.id, each.source) for each in candidates.pairs]
    [('d/c1', 'A fire broke out.')]
    """

    lines: tuple[int, int] = (1, 3)
    sentences: bool = False
    per_window: int = 5
    min_similarity: float | None = 0.1
    max_similarity: float | None = 0.9
    near_diagonal: float | None = None
    sample: int | None = None
    bins: int | None = None


@dataclass(frozen=True, kw_only=True)
class GroupOptions(SearchOptions):
    """Which texts of a group become pairs.

    `candidate_groups` takes the fields as keywords.

    Parameters
    ----------
    group : name of the group
    text : name of the text
    clusters : clusters that k-means makes of each group (default: half, which is half as many as
        texts)
    min_group : groups with fewer different texts are dropped
    max_alike : pairs that are this alike letter by letter (the ratio of difflib) are dropped
    all_pairs : pair all texts of a group, without clusters

    Examples
    --------
    >>> from alignkit.identification import TextRecord, candidate_groups
    >>> texts = ["a list of items", "items in a list", "a kind of tree"]
    >>> records = [TextRecord(str(k), {"topic": "t", "gloss": x}) for k, x in enumerate(texts)]
    >>> found = candidate_groups(records, group="topic", text="gloss", min_group=3, all_pairs=True)
    >>> [pair.id for pair in found.pairs]
    ['0~1', '0~2', '1~2']
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

    `retrieve` takes the fields as keywords.

    Parameters
    ----------
    annotator : annotator with the judgments; needed if several judged
    at : ranks k of the columns top-k (default: 1 10 100)

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.identification import retrieve
    >>> from alignkit.model.labels import get_view
    >>> texts = ["a fire broke out", "it rained"], ["fire broke out", "it rained a lot"]
    >>> corpus = Corpus.from_texts(*texts, judgments={"ann": ["1", "1"], "ben": ["0", "1"]})
    >>> retrieve(corpus, get_view("binary"), annotator="ben", at=(1, 2)).at
    (1, 2)
    """

    annotator: str | None = None
    at: Sequence[int] = (1, 10, 100)


@dataclass(frozen=True, kw_only=True)
class IdentifierOptions(CheckedOptions):
    """How a system is trained.

    `Identifier.train` takes the fields as keywords.

    Parameters
    ----------
    features : feature sets: cosine of letters, overlap of words, align, bow (bag of words),
        vectors, encoder, pairs (Python only), or auto, which chooses cosine, overlap, or overlap
        and align, with --encoder also those with encoder; a larger set must gain more than a
        standard error (default: overlap align)
    group : attribute of pairs that belong together, such as goeswith or entity; none if there is
        none
    encode : For `vectors`: a function that returns a vector for each text, (n, d).
    encode_pairs : For `pairs`: a function that returns features for pairs of texts, (n, d).
    encoder : For `encoder`: what gives words their vectors; the command line has --encoder.
    decide : what the threshold of cosine makes as high as possible
    strengths : values of C to choose from; a smaller one shrinks the weights more (default: 0.01
        0.1 1)
    classifier : logistic, or forest: 500 random trees, which cannot be saved
    function_words : Words that are not content words.
    seed : seed of folds and trees (default: 0)

    Examples
    --------
    >>> from alignkit import Corpus
    >>> from alignkit.identification import Identifier
    >>> from alignkit.model.labels import get_view
    >>> texts = [f"the {k} cats sat down" for k in range(40)]
    >>> others = [f"the {k} cats sat" if k % 2 else f"rain in {k} towns" for k in range(40)]
    >>> corpus = Corpus.from_texts(texts, others, judgments={"ann": ["0", "1"] * 20})
    >>> identifier = Identifier.train(corpus, get_view("binary"), features=["cosine"], seed=7)
    >>> identifier.options.features, identifier.options.seed
    (('cosine',), 7)
    """

    features: Sequence[str] = ("overlap", "align")
    group: str | None = None
    encode: Encoder | None = None
    encode_pairs: PairEncoder | None = None
    encoder: EncoderLike | TextEncoder | None = None
    decide: str = "accuracy"
    strengths: Sequence[float] = (0.01, 0.1, 1.0)
    classifier: str = "logistic"
    function_words: Collection[str] = frozenset()
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        kinds = {"features": tuple, "strengths": tuple, "function_words": frozenset}
        for name, kind in kinds.items():
            object.__setattr__(self, name, kind(getattr(self, name)))
        if len(set(self.features)) < max(1, len(self.features)):
            raise OptionError("name one feature set or more, each once")
        if AUTO in self.features and len(self.features) > 1:
            raise OptionError("auto chooses the feature set: leave the others out")
        for name, encode in (("vectors", self.encode), ("pairs", self.encode_pairs)):
            if name in self.features and encode is None:
                raise OptionError(f"the feature set {name!r} needs vectors: give what makes them")
        if "encoder" in self.features and self.encoder is None:
            raise OptionError("the feature set 'encoder' needs an encoder: give its folder or name")
        if not self.strengths:
            raise OptionError("name one value of C (`strengths`) or more")

    @property
    def name(self) -> str:
        """The feature sets."""
        return "+".join(self.features)

    @property
    def aligns(self) -> bool:
        """Whether an aligner is needed."""
        return bool({"align", AUTO} & set(self.features))

    def of_system(self, view: View, aligned: str, more: Mapping[str, object]) -> str:
        """Return the settings of a system, in one line."""
        names = {"scheme": view.scheme.name, "view": view.name, "aligner": aligned}
        return self.settings(**names, function_words=len(self.function_words), **more)


# the same options as type checkers see them
class SearchKeywords(TypedDict, total=False):
    """The options of `SearchOptions`."""

    ngrams: tuple[int, int]
    words: bool
    similarity: Encoder | None
    encoder: EncoderLike | TextEncoder | None
    seed: int


class BandKeywords(SearchKeywords, total=False):
    """The options of `BandOptions`."""

    min_similarity: float | None
    max_similarity: float | None


class DocumentKeywords(BandKeywords, total=False):
    """The options of `DocumentOptions`."""

    key: Sequence[str]
    date: str | None
    days: float | None
    undated: str | None
    per_document: int | None
    farthest: bool
    near: str
    far: str | None
    grid: int
    show: int | None


class SentenceKeywords(BandKeywords, total=False):
    """The options of `SentenceOptions`."""

    lines: tuple[int, int]
    sentences: bool
    per_window: int
    near_diagonal: float | None
    sample: int | None
    bins: int | None


class RetrievalKeywords(SearchKeywords, total=False):
    """The options of `RetrievalOptions`."""

    annotator: str | None
    at: Sequence[int]


class TrainKeywords(TypedDict, total=False):
    """The options of `IdentifierOptions` besides the features."""

    group: str | None
    encode: Encoder | None
    encode_pairs: PairEncoder | None
    encoder: EncoderLike | TextEncoder | None
    decide: str
    strengths: Sequence[float]
    classifier: str
    function_words: Collection[str]
    seed: int


class IdentifierKeywords(TrainKeywords, total=False):
    """The options of `IdentifierOptions`."""

    features: Sequence[str]
