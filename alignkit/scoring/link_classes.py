"""Classify links by their component, words, frequency and distance from the diagonal."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category, normalize

from alignkit._support.arguments import check_arguments
from alignkit.errors import OptionError
from alignkit.show.names import LANGUAGES

if TYPE_CHECKING:
    from alignkit.model.alignment import Alignment, Link
    from alignkit.model.sentence_pair import SentencePair

WORD_KINDS = ("identical", "punctuation", "function word", "content words")
"""The kinds, in the order of reports."""

OF_FUNCTION_WORDS = frozenset(WORD_KINDS[2:])
"""The kinds that need the function words of the languages."""

_SPELLINGS = str.maketrans({"\u2019": "'", "\u015f": "\u0219", "\u0163": "\u021b"})


class FunctionWords(NamedTuple):
    """The function words of both sides, folded by `fold`; see `function_words`."""

    source: frozenset[str]
    target: frozenset[str]


def function_words(source: str, target: str | None = None) -> FunctionWords:
    """Return the function words of two languages: determiners, pronouns, auxiliaries, ..."""
    check_arguments(function_words, locals())
    first = _read(source)
    return FunctionWords(first, first if target is None else _read(target))


def fold(word: str) -> str:
    """Return a word in lower case and in a single spelling, as in lists of function words."""
    return normalize("NFC", word).casefold().translate(_SPELLINGS)


def _read(name: str) -> frozenset[str]:
    """Return the folded function words of a language, or of a file."""
    language = LANGUAGES.get(name.lower(), name.lower())
    if language in LANGUAGES.values():
        from importlib.resources import files  # takes 10 ms, and the list of languages does without

        place = files("alignkit.show").joinpath("function_words", f"{language}.txt")
        text = place.read_text(encoding="utf-8")
    else:
        from alignkit.io.opening import open_input

        try:
            with open_input(name) as stream:
                text = stream.read().decode("utf-8-sig")
        except FileNotFoundError:
            known = ", ".join(LANGUAGES.values())
            raise OptionError(
                f"function words: {name!r} is not a file, nor a language alignkit knows ({known})"
            ) from None
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise OptionError(f"function words: {name} cannot be read: {error}") from None
    folded = set[str]()
    for line in text.splitlines():
        folded.update(map(fold, line.partition("#")[0].split()))
    if not folded:
        raise OptionError(f"function words: {name} has no words; expected one or more")
    return frozenset(folded)


def is_punctuation(word: str) -> bool:
    """Return whether a word has no letter and no digit, only punctuation and symbols."""
    return bool(word) and all(category(char)[0] in "PS" for char in word)


def word_kinds(
    source: str, target: str, known: FunctionWords | None = None, *, exact_case: bool = False
) -> tuple[str, ...]:
    """Return the kinds of a link between two words; there can be several or none."""
    kinds = []
    if source == target or (not exact_case and source.casefold() == target.casefold()):
        kinds.append("identical")
    punctuation = is_punctuation(source) or is_punctuation(target)
    if punctuation:
        kinds.append("punctuation")
    if known is not None:
        if fold(source) in known.source or fold(target) in known.target:
            kinds.append("function word")
        elif not punctuation:
            kinds.append("content words")
    return tuple(kinds)


NULL_KIND = "null"
KINDS = ("1-1", "1-n", "n-1", "block", "n-m, not full", "discontinuous", NULL_KIND)
"""The kinds of connected components, in the order of reports."""

STATUSES = ("sure", "possible")

WORDS = ("identical", "punctuation", "function words", "content words", "words", "mixed")
"""The classes of words; ``words`` is used if function words are not known."""

_BANDS = (1, 5, 50)
FREQUENCIES = ("1", "2 to 5", "6 to 50", "above 50", "not in the reference")
_EDGES = (0.05, 0.15, 0.3)
DISTANCES = ("below 0.05", "0.05 to 0.15", "0.15 to 0.3", "0.3 or more")

_KINDS_SAID = {
    "1-1": "both words have no other link",
    "1-n": "one source word with several target words",
    "n-1": "several source words with one target word",
    "block": "several words with several, each linked with each",
    "n-m, not full": "several words with several, not each linked with each",
    "discontinuous": "a word between the linked words is not linked with them",
    "sure": "sure links of all kinds",
    "possible": "links that are only possible, of all kinds",
    NULL_KIND: "words without any link",
}
_WORDS_SAID = {
    "identical": "the same word, ignoring case",
    "words": "other words; function words are not separated from content words here",
    "mixed": "a function word with a content word, or a word with punctuation",
}
_CALLED = {"frequency": "words of frequency '{}'", "distance": "links at distance '{}'"}
_SAID = {
    "frequency": "how often the rarer of the two words occurs in the reference",
    "distance": "the distance of a link from the diagonal, abs(i/N - j/M): 0 if both words are at "
    "the same place in their sentences, near 1 if one comes first and the other last",
    "tag": "the tags of both words",
    "phenomenon": "the phenomena of the pair; a link counts in each phenomenon of its pair",
}


def explained(way: str, names: Collection[str]) -> str:
    """Return the explanation of the classes of links in a table."""
    if way in _SAID:
        return f"{way}: {_SAID[way]}"
    said = _KINDS_SAID if way == "kind" else _WORDS_SAID
    return "; ".join(f"{name}: {text}" for name, text in said.items() if name in names)


def called(way: str, name: str) -> str:
    """Return the name of a class of links in a sentence."""
    text = _CALLED.get(way, "'{}'").format(name)
    said = ""
    if way == "kind":
        said = _KINDS_SAID.get(name, "")
    elif way == "word":
        said = _WORDS_SAID.get(name, "")
    return f"{text} ({said})" if said else text


def component_kinds(alignment: Alignment) -> dict[Link, str]:
    """Return the kind of the connected component of each link, including possible links."""
    kinds: dict[Link, str] = {}
    for part in alignment.components():
        links = list(part)
        kinds |= dict.fromkeys(links, _kind(links))
    return kinds


def _kind(links: Sequence[Link]) -> str:
    """Return the kind of a connected component."""
    rows = {link.i for link in links}
    columns = {link.j for link in links}
    for side in (rows, columns):
        if max(side) - min(side) >= len(side):
            return "discontinuous"
    if len(rows) == 1 and len(columns) == 1:
        return "1-1"
    if len(rows) == 1:
        return "1-n"
    if len(columns) == 1:
        return "n-1"
    if len(links) == len(rows) * len(columns):
        return "block"
    return "n-m, not full"


def word_class(source: str, target: str, known: FunctionWords | None = None) -> str:
    """Return the class of a link's words."""
    if source.casefold() == target.casefold():
        return "identical"
    source_words, target_words = known or (None, None)
    first = _class(source, source_words)
    second = _class(target, target_words)
    return first if first == second else "mixed"


def _class(word: str, known: frozenset[str] | None) -> str:
    """Return the class of a word, with the function words of its language if known."""
    if is_punctuation(word):
        return "punctuation"
    if known is None:
        return "words"
    if fold(word) in known:
        return "function words"
    return "content words"


class Frequencies:
    """Counts of the words of each side, after casefold."""

    def __init__(self) -> None:
        self._source: Counter[str] = Counter()
        self._target: Counter[str] = Counter()

    def seen(self, pair: SentencePair) -> SentencePair:
        """Count the words of a pair, if it has them, and return the pair."""
        self._source.update(word.casefold() for word in pair.source or ())
        self._target.update(word.casefold() for word in pair.target or ())
        return pair

    def __bool__(self) -> bool:
        return bool(self._source)

    def band(self, source: str, target: str) -> str:
        """Return the band of the frequency of the rarer of two words."""
        count = min(self._source[source.casefold()], self._target[target.casefold()])
        if count:
            return FREQUENCIES[bisect_left(_BANDS, count)]
        return FREQUENCIES[-1]


def distance_band(link: Link, lengths: tuple[int, int]) -> str:
    """Return the band of a link's distance from the diagonal, abs(i/N - j/M)."""
    n, m = lengths
    # one division, so that 3/10 is not below 0.3
    return DISTANCES[bisect_right(_EDGES, abs(link.i * m - link.j * n) / (n * m))]
