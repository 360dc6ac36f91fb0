"""What kind of words a link joins: identical, punctuation, function words."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from unicodedata import category, normalize

from alignkit.arguments import check_arguments
from alignkit.errors import OptionError

WORD_KINDS = ("identical", "punctuation", "function word", "content words")
"""The kinds, in the order in which reports show them."""

OF_FUNCTION_WORDS = frozenset(WORD_KINDS[2:])
"""The kinds that only those can tell who know the languages."""

LANGUAGES = {
    "nl": "dutch",
    "en": "english",
    "fr": "french",
    "de": "german",
    "it": "italian",
    "pt": "portuguese",
    "ro": "romanian",
    "es": "spanish",
}
"""The languages whose function words are known, by their codes (ISO 639-1)."""

_SPELLINGS = str.maketrans({"\u2019": "'", "\u015f": "\u0219", "\u0163": "\u021b"})


class FunctionWords(NamedTuple):
    """The function words of both sides, as `fold` writes them; see `function_words`."""

    source: frozenset[str]
    target: frozenset[str]


def function_words(source: str, target: str | None = None) -> FunctionWords:
    """Return the function words of two languages: determiners, pronouns, auxiliaries, ..."""
    check_arguments(function_words, locals())
    first = _read(source)
    return FunctionWords(first, first if target is None else _read(target))


def fold(word: str) -> str:
    """Return a word as lists of function words have it: in small letters, in one spelling."""
    return normalize("NFC", word).casefold().translate(_SPELLINGS)


def _read(name: str) -> frozenset[str]:
    language = LANGUAGES.get(name.lower(), name.lower())
    if language in LANGUAGES.values():
        from importlib.resources import files  # takes 10 ms, and the list of languages does without

        place = files("alignkit.report").joinpath("function_words", f"{language}.txt")
        text = place.read_text(encoding="utf-8")
    else:
        try:
            text = Path(name).read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            known = ", ".join(LANGUAGES.values())
            raise OptionError(
                f"function words: {name!r} is no file and no language that alignkit knows ({known})"
            ) from None
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise OptionError(f"function words: {name} cannot be read: {error}") from None
    lines = (line.partition("#")[0] for line in text.splitlines())
    folded = frozenset(fold(word) for line in lines for word in line.split())
    if not folded:
        raise OptionError(f"function words: {name} holds no word")
    return folded


def is_punctuation(word: str) -> bool:
    """Return whether a word has no letter and no digit, only punctuation and symbols."""
    return bool(word) and all(category(char)[0] in "PS" for char in word)


def word_kinds(
    source: str, target: str, known: FunctionWords | None = None, *, exact_case: bool = False
) -> tuple[str, ...]:
    """Return the kinds of a link that joins two words; it can be of several, or of none."""
    is_kind = {
        "identical": source == target
        or (not exact_case and source.casefold() == target.casefold()),
        "punctuation": is_punctuation(source) or is_punctuation(target),
    }
    if known is not None:
        is_kind["function word"] = fold(source) in known.source or fold(target) in known.target
        is_kind["content words"] = not (is_kind["punctuation"] or is_kind["function word"])
    return tuple(kind for kind in WORD_KINDS if is_kind.get(kind))
