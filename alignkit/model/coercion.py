"""Take sentences and links as people hold them: texts, lists of words, sets of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, Union
from unicodedata import normalize

from alignkit._support.arguments import kind_of, words
from alignkit.errors import (
    AlignmentError,
    ArgumentError,
    JoinError,
    MissingTextError,
    NotAlignedError,
    OptionError,
    UnknownNameError,
)
from alignkit.model.alignment import Alignment
from alignkit.model.annotation import Annotation
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from nltk.tokenize.api import TokenizerI


T = TypeVar("T")

LinksOfPair = Union[Alignment, str, Iterable[tuple[Any, ...]]]
"""The links of one sentence pair: an alignment, its text (``0-0 1?1``), or tuples: ``(i, j)``,
``(i, j, "S")`` or ``(i, j, "P")``."""

LinksLike = Union[LinksOfPair, Annotation, None]
"""The links of a sentence pair, an annotation, or None where there is none."""

_MARKS = {"S": True, "P": False}
_LONGEST_SHOWN = 60


def compared(text: str, *, ignore_case: bool = False) -> str:
    """Return the form in which texts are compared: canonically equivalent ones are equal."""
    return normalize("NFC", normalize("NFD", text).casefold() if ignore_case else text)


def alignment_of(name: str, links: LinksOfPair) -> Alignment:
    """Return an alignment of what holds the links of one sentence pair."""
    if isinstance(links, Alignment):
        return links
    if isinstance(links, str):
        try:
            return Alignment.parse(links)
        except AlignmentError as error:
            raise AlignmentError(f"{name}: {error}") from None
    if isinstance(links, (bytes, Mapping)) or not isinstance(links, Iterable):
        raise ArgumentError(
            f"{name} is {kind_of(links)}; it must hold the links of a sentence pair, such as "
            f"{{(0, 0), (1, 1)}} or '0-0 1-1'{_if_number(links)}"
        )
    sides: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for i, j, sure in _checked(name, links):
        sides[sure].append((i, j))
    try:
        return Alignment(sides[True], sides[False])
    except (AlignmentError, ArgumentError) as error:
        raise type(error)(f"{name}: {error}") from None


def _checked(name: str, links: Iterable[Any]) -> Iterator[tuple[int, int, bool]]:
    for link in links:
        plain = hasattr(link, "__len__") and not isinstance(link, (str, bytes, Set, Mapping))
        if not plain or len(link) not in (2, 3):
            shown = repr(link)[:_LONGEST_SHOWN]
            raise ArgumentError(
                f"{name} holds {shown}, which is no link; give (i, j), (i, j, 'S') or (i, j, 'P')"
                f"{_if_number(link)}"
            )
        i, j, *mark = link
        if mark and (not isinstance(mark[0], str) or mark[0] not in _MARKS):
            raise ArgumentError(
                f"{name} holds {repr(link)[:_LONGEST_SHOWN]}; the third part of a link must be "
                "'S', sure, or 'P', possible"
            )
        if i is not None and j is not None:
            yield i, j, _MARKS[mark[0]] if mark else True


def _if_number(value: object) -> str:
    """Return what is meant where one alignment was given in place of a list of them."""
    if not hasattr(value, "__index__"):
        return ""
    return "; the links of one sentence pair stand in a list too: [{(0, 0), (1, 1)}]"


def rows_of(
    source: Iterable[str | Iterable[str]],
    target: Iterable[str | Iterable[str]],
    ids: Iterable[str] | None,
    annotations: Mapping[str, Iterable[LinksLike]],
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], dict[str, Annotation]]]:
    """Return id, source, target and annotations of each sentence pair; see `Corpus.from_texts`."""
    sides = _sentences("source", source), _sentences("target", target)
    named = {name: _links(name, values) for name, values in annotations.items()}
    names = range(1, len(sides[0]) + 1) if ids is None else words("ids", ids)
    columns: list[tuple[str, Sequence[object]]] = [("target", sides[1]), ("ids", names)]
    for name, column in [*columns, *named.items()]:
        if len(column) != len(sides[0]):
            raise JoinError(
                f"{name} has {len(column)} entries, but source has {len(sides[0])}; give as many "
                "of each"
            )
    return (
        (str(id), sides[0][k], sides[1][k], _annotations(named, k)) for k, id in enumerate(names)
    )


def _annotations(
    columns: Mapping[str, Sequence[Annotation | None]], k: int
) -> dict[str, Annotation]:
    found = ((name, column[k]) for name, column in columns.items())
    return {name: annotation for name, annotation in found if annotation is not None}


def _sentences(name: str, values: Iterable[str | Iterable[str]]) -> list[tuple[str, ...]]:
    return [
        tuple(value.split()) if isinstance(value, str) else words(f"{name}[{k}]", value)
        for k, value in enumerate(_several(name, values, "sentences"))
    ]


def _links(name: str, values: Iterable[LinksLike]) -> list[Annotation | None]:
    found: list[Annotation | None] = []
    for k, value in enumerate(_several(name, values, "alignments")):
        if value is None or isinstance(value, Annotation):
            found.append(value)
            continue
        found.append(Annotation(alignment_of(f"{name}[{k}]", value)))
    return found


def _several(name: str, values: Iterable[T], what: str) -> Iterable[T]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} must be a list of {what}, one a pair")
    return values


class Choice:
    """Choose the named annotator of an input, or the only one."""

    def __init__(
        self, path: str, name: str | None, option: str = "annotator", *, judged: bool = False
    ) -> None:
        self._path, self._name, self._option = path, name, option
        self._judged_will_do = judged
        self._seen: dict[str, None] = {}
        self._judged: set[str] = set()

    def of(self, pair: SentencePair) -> Alignment | None:
        """Return the alignment of a pair, None where there is none."""
        if self._name is not None:
            self._seen.update(dict.fromkeys(pair.alignments))
            self._judged.update(pair.annotations.keys() - pair.alignments.keys())
            return pair.alignments.get(self._name)
        if len(pair.alignments) > 1:
            names = ", ".join(pair.alignments)
            raise OptionError(
                f"{self._path}: pair {pair.id!r} has the alignments of {names}: choose by "
                f"`{self._option}`"
            )
        return next(iter(pair.alignments.values()), None)

    def check(self) -> None:
        """Check, when all is read, that the named annotator aligned something."""
        if self._name is None or self._name in self._seen:
            return
        if self._name not in self._judged:
            known = self._seen | dict.fromkeys(sorted(self._judged))
            if known:
                raise UnknownNameError(f"annotator of {self._path}:", self._name, known)
        elif not self._judged_will_do:
            raise NotAlignedError(f"pairs of {self._path}", self._name, self._seen)

    def annotated(self, pairs: Iterable[SentencePair]) -> Iterator[tuple[SentencePair, Alignment]]:
        """Yield the pairs that are aligned, each with the chosen alignment; then `check`."""
        for pair in pairs:
            alignment = self.of(pair)
            if alignment is not None:
                yield pair, alignment
        self.check()


@contextmanager
def naming(*paths: str) -> Iterator[None]:
    """Put the inputs' names before errors about pairs and words, which do not know them."""
    try:
        yield
    except (JoinError, MissingTextError) as error:
        if any(path in str(error) for path in paths):
            raise
        raise type(error)(f"{' and '.join(paths)}: {error}") from None


def alignment_of_pair(pair: SentencePair, annotator: str | None) -> Alignment:
    """Return the alignment of the named annotator, or the only one."""
    if annotator is not None:
        return pair.alignment(annotator)
    found = pair.alignments
    if not found:
        raise OptionError(f"pair {pair.id!r} was aligned by nobody")
    if len(found) > 1:
        names = ", ".join(found)
        raise OptionError(f"pair {pair.id!r} was aligned by {names}; name one as annotator")
    return next(iter(found.values()))


TOKENIZERS = {
    "treebank": "English as in the Penn Treebank: do n't, it 's, p.m.",
    "wordpunct": "any language: runs of letters and digits, and runs of other signs",
}
"""The ways to divide text into words, and what they are for."""


def tokenizer(name: str) -> Callable[[str], list[str]]:
    r"""Return a function that divides a sentence into words.

    Examples
    --------
    >>> tokenizer("treebank")('They didn\'t say "no".')
    ['They', 'did', "n't", 'say', '"', 'no', '"', '.']
    >>> tokenizer("wordpunct")("L'homme, n'est-ce pas?")
    ['L', "'", 'homme', ',', 'n', "'", 'est', '-', 'ce', 'pas', '?']
    """
    found = _tokenizer(name)

    def divided(text: str) -> list[str]:
        try:
            spans: Iterable[tuple[int, int]] = found.span_tokenize(text)
            return [text[begin:end] for begin, end in spans]
        except ValueError:  # a token that NLTK changed and does not find again
            return [word for token in found.tokenize(text) for word in token.split()]

    return divided


def describe_tokenizer(name: str) -> str:
    """Return what to write down of a tokenizer: its name, and the version of NLTK."""
    from nltk import __version__

    _tokenizer(name)
    return f"{name} (nltk {__version__})"


def _tokenizer(name: str) -> TokenizerI:
    from nltk.tokenize import NLTKWordTokenizer, WordPunctTokenizer

    kinds: dict[str, Callable[[], TokenizerI]] = {
        "treebank": NLTKWordTokenizer,
        "wordpunct": WordPunctTokenizer,
    }
    if name not in kinds:
        raise UnknownNameError("tokenizer", name, kinds)
    return kinds[name]()


def porter_stem() -> Callable[[str], str]:
    """Return a function that makes Porter's stem of an English word.

    Examples
    --------
    >>> porter_stem()("alignments")
    'align'
    """
    from nltk.stem.porter import PorterStemmer  # takes a second to import

    stem: Callable[[str], str] = PorterStemmer().stem
    return stem
