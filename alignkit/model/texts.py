"""Words of texts: split texts into words, compare them, and find stems.

All that reads or writes words uses the functions here, which know what a byte order mark is:
U+FEFF at the beginning of a token (so also of a file or a line), however often it is repeated. With
<M> for this character:

    <M>he <M><M>left    the words are he, left: the marks are no part of them
    he le<M>ft          he, le<M>ft: behind the beginning it is a character like others
    he <M>              he, <M>: a token that is nothing but U+FEFF is a word
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING
from unicodedata import normalize

from alignkit._support.arguments import check_known
from alignkit.errors import OptionError

if TYPE_CHECKING:
    from nltk.tokenize.api import TokenizerI


BOM = "\ufeff"
BOM_BYTES = BOM.encode()

# A token ends at a space or at one of the controls from TAB to CR. Marks: no character of a token
# comes before them, and one that is no mark comes behind them.
_MARKS = re.compile(r"(?<![^ \t-\r])\ufeff+(?=[^ \t-\r\ufeff])")
_OTHER_SPACE = re.compile(r"[\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_WORD = re.compile(r"[^ \t-\r]+")
_WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")


SEPARATORS = ("ascii", "unicode")
"""White space between words: that of ASCII, or all that Python's `str.split` divides at."""


def spaces_beyond_ascii(text: str) -> list[str]:
    """Return the white space in a text, or a word, that is not ASCII."""
    return _OTHER_SPACE.findall(text)


def code_point(character: str) -> str:
    """Return the name of a character: U+00A0."""
    return f"U+{ord(character):04X}"


def code_points(characters: Iterable[str]) -> str:
    """Return the names of characters: U+00A0 and U+3000."""
    names = [code_point(character) for character in sorted(characters)]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def with_plain_spaces(text: str) -> str:
    """Return a text with a plain space for each white space that is not ASCII."""
    return _OTHER_SPACE.sub(" ", text)


def without_marks(text: str) -> str:
    """Return a text, or a word, without byte order marks at the beginnings of its tokens."""
    return _MARKS.sub("", text) if BOM in text else text


def without_first_marks(text: str) -> str:
    """Return a text that is kept character by character without the marks at its beginning."""
    match = _MARKS.match(text)
    return text if match is None else text[match.end() :]


def split_words(text: str) -> list[str]:
    """Return the words of a text that is split at ASCII white space."""
    text = without_marks(text)
    if _OTHER_SPACE.search(text):
        return _WORD.findall(text)
    return text.split()  # the same words, faster


def split_unicode(text: str) -> list[str]:
    """Return the words of a text that is split at all white space, as Python's `str.split` does."""
    return [without_marks(word) for word in text.split()]


def words_and_signs(text: str) -> list[str]:
    """Return runs of letters and digits, and all other characters but white space."""
    return _WORD_OR_SIGN.findall(text)


def compared(text: str, *, ignore_case: bool = False) -> str:
    """Return the form of a text for comparison: canonically equivalent texts are equal."""
    if ignore_case:
        # Unicode's caseless matching: some characters fold rightly only if they are decomposed
        text = normalize("NFD", text).casefold()
    return normalize("NFC", text)


TOKENIZERS = {
    "treebank": "English as in the Penn Treebank: do n't, it 's, p.m.",
    "wordpunct": "any language: runs of letters and digits, and runs of other signs",
}
"""The ways to split text into words, with descriptions."""


def tokenizer(name: str) -> Callable[[str], list[str]]:
    """Return a function that splits a sentence into words."""
    chosen = _tokenizer(name)

    def divided(text: str) -> list[str]:
        text = without_marks(text)
        try:
            # not the tokens: treebank changes some, such as quotation marks
            spans: Iterable[tuple[int, int]] = chosen.span_tokenize(text)
            words = [text[begin:end] for begin, end in spans]
        except ValueError:  # a changed token that NLTK does not find again in the text
            words = []
            for token in chosen.tokenize(text):
                words.extend(token.split())
        return [without_marks(word) for word in words]

    return divided


def describe_tokenizer(name: str) -> str:
    """Return a description of a tokenizer: its name, and the version of NLTK."""
    from nltk import __version__

    _tokenizer(name)
    return f"{name} (nltk {__version__})"


def _tokenizer(name: str) -> TokenizerI:
    """Return the tokenizer of NLTK."""
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
        raise OptionError(
            "NLTK's data punkt_tab are not installed, and nothing is downloaded: put one "
            "sentence on each line instead"
        ) from None


def porter_stem() -> Callable[[str], str]:
    """Return a function that returns Porter's stem of an English word."""
    from nltk.stem.porter import PorterStemmer  # takes a second to import

    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


WORD = 0
PUNCTUATION = 1
WITH_DIGITS = 2


def word_kind(word: str) -> int:
    """Return the kind of a word: `WORD` (it has a letter, as "don't"), or one of the others."""
    if word.isalpha():
        return WORD
    if any(letter.isdigit() for letter in word):
        return WITH_DIGITS
    if any(letter.isalnum() for letter in word):
        return WORD
    return PUNCTUATION
