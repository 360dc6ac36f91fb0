"""Words of texts: split texts into words, compare them, and find stems."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING
from unicodedata import normalize

from alignkit._support.arguments import check_known
from alignkit.errors import OptionError

if TYPE_CHECKING:
    from nltk.tokenize.api import TokenizerI


def compared(text: str, *, ignore_case: bool = False) -> str:
    """Return the form of a text for comparison: canonically equivalent texts are equal."""
    return normalize("NFC", normalize("NFD", text).casefold() if ignore_case else text)


TOKENIZERS = {
    "treebank": "English as in the Penn Treebank: do n't, it 's, p.m.",
    "wordpunct": "any language: runs of letters and digits, and runs of other signs",
}
"""The ways to split text into words, with descriptions."""


def tokenizer(name: str) -> Callable[[str], list[str]]:
    """Return a function that splits a sentence into words."""
    chosen = _tokenizer(name)

    def divided(text: str) -> list[str]:
        try:
            spans: Iterable[tuple[int, int]] = chosen.span_tokenize(text)
            return [text[begin:end] for begin, end in spans]
        except ValueError:  # a token that NLTK changed and does not find again
            return [word for token in chosen.tokenize(text) for word in token.split()]

    return divided


def describe_tokenizer(name: str) -> str:
    """Return a description of a tokenizer: its name, and the version of NLTK."""
    from nltk import __version__

    _tokenizer(name)
    return f"{name} (nltk {__version__})"


def _tokenizer(name: str) -> TokenizerI:
    from nltk.tokenize import NLTKWordTokenizer, WordPunctTokenizer

    kinds = {"treebank": NLTKWordTokenizer, "wordpunct": WordPunctTokenizer}
    check_known("tokenizer", name, kinds)
    return kinds[name]()


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the characters of each sentence, by NLTK's punkt for English."""
    from nltk.tokenize.punkt import PunktTokenizer

    try:
        return list(PunktTokenizer("english").span_tokenize(text))
    except LookupError:
        missing = "NLTK's data punkt_tab are not installed, and nothing is downloaded"
        raise OptionError(f"{missing}: put one sentence on each line instead") from None


def porter_stem() -> Callable[[str], str]:
    """Return a function that returns Porter's stem of an English word."""
    from nltk.stem.porter import PorterStemmer  # takes a second to import

    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


def word_kind(word: str) -> int:
    """Return 0 for a word, 1 for punctuation, and 2 if there are digits."""
    if word.isalpha():
        return 0
    if any(letter.isdigit() for letter in word):
        return 2
    return int(not any(letter.isalnum() for letter in word))
