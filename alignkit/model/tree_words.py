"""The leaves of a tree and the words of its sentence, which treebanks write differently.

Brackets in words are escaped in trees, ``-LRB-`` for ``(``, and quotes and dashes may differ. A
tree fits a sentence if each leaf can mean the word in its place. Some parsers do not escape
brackets: ``(JJ ()`` is then read with the help of the words, see `alignkit.model.brackets`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from alignkit._support.wording import how_many
from alignkit.errors import FormatError
from alignkit.model.brackets import Brackets, place_of, read_brackets, unescaped

_SAME = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
    "\u201c": '"',
    "\u201d": '"',
    "\u201e": '"',
    "`": "'",
    "\u2018": "'",
    "\u2019": "'",
    "\u2026": "...",
    "\u2013": "--",
    "\u2014": "--",
    "\xa0": " ",
}
_PARTS = re.compile("|".join(map(re.escape, _SAME)))


def same_word(leaf: str, token: str) -> bool:
    """Return whether a written leaf can mean a word."""
    return leaf == token or _plain(unescaped(leaf)) == _plain(token)


def _plain(word: str) -> str:
    """Return a word with quotes, dashes and brackets in one of their ways of writing."""
    return _PARTS.sub(lambda match: _SAME[match[0]], word)


def read_fitting(
    text: str,
    tokens: Sequence[str] | None,
    *,
    strict: bool = False,
    drop_function_tags: bool = False,
    drop_traces: bool = False,
) -> Brackets | None:
    """Read brackets with words that may be known; None without a tree.

    If reading them as they are fails, or gives other leaves than the words, and words have
    brackets, they are read again with the help of the words; `strict` refuses this.
    """
    read_as = partial(read_brackets, drop_function_tags=drop_function_tags, drop_traces=drop_traces)
    misfit: FormatError | None = None
    try:
        read = read_as(text)
    except FormatError:
        if tokens is None or not _have_marks(tokens):
            raise
    else:
        if read is None or tokens is None or _fits(read.words, tokens):
            return read
        misfit = _misfit(text, read, tokens)
        if not _have_marks(tokens):
            raise misfit
    try:
        resolved = read_as(text, tokens=tokens)
        assert resolved is not None  # a text without a tree was returned above
        if not _fits(resolved.words, tokens):
            raise _misfit(text, resolved, tokens)
    except FormatError:
        if misfit is None:
            raise
        raise misfit from None  # of the tree as it is written
    if strict:
        place = next(k for k, leaf in enumerate(resolved.words) if "(" in leaf or ")" in leaf)
        message = (
            f"word {place}, {tokens[place][:40]!r}, is not escaped among the brackets of "
            "the tree; write -LRB- and -RRB-, or do not read strictly"
        )
        raise FormatError(message, "", *place_of(text, resolved.offsets[place]))
    return resolved


def _have_marks(tokens: Sequence[str]) -> bool:
    """Return whether some word has what must be escaped among brackets."""
    return any("(" in token or ")" in token or "\\" in token for token in tokens)


def _fits(leaves: Sequence[str], tokens: Sequence[str]) -> bool:
    """Return whether the leaves of a tree can mean the words."""
    return len(leaves) == len(tokens) and all(map(same_word, leaves, tokens))


def _misfit(text: str, read: Brackets, tokens: Sequence[str]) -> FormatError:
    """Return the error for a tree with other leaves than the words."""
    leaves = read.words
    place = _first_difference(leaves, tokens, same_word)
    hint = ""
    if read.traces:
        hint = "; traces (-NONE-) are words unless `drop_traces`"
    if place < len(leaves):
        at = read.offsets[place]
    else:
        at = len(text.rstrip()) - 1
    return FormatError(difference(leaves, tokens, same_word) + hint, "", *place_of(text, at))


_Same = Callable[[str, str], bool]


def _first_difference(leaves: Sequence[str], tokens: Sequence[str], same: _Same) -> int:
    """Return the first place where leaves and words differ, or the end of the shorter ones."""
    for k, (leaf, token) in enumerate(zip(leaves, tokens, strict=False)):
        if not same(leaf, token):
            return k
    return min(len(leaves), len(tokens))


def difference(leaves: Sequence[str], tokens: Sequence[str], same: _Same = str.__eq__) -> str:
    """Describe the first difference between the leaves of a tree and the expected words."""
    place = _first_difference(leaves, tokens, same)
    counts = ""
    if len(leaves) != len(tokens):
        counts = f"{how_many(len(leaves), 'leaf', 'leaves')} for {how_many(len(tokens), 'word')}; "
    if place < len(leaves):
        leaf = f"leaf {place} is {leaves[place][:40]!r}"
    else:
        leaf = "no leaf is left"
    if place < len(tokens):
        word = f"word {place} is {tokens[place][:40]!r}"
    else:
        word = "no word is left"
    return f"{counts}{leaf}, but {word}"
