"""Fit the leaves of a tree to known words, which parsers write in their own ways."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from alignkit.brief import how_many
from alignkit.errors import FormatError
from alignkit.trees.brackets import Brackets, place_of, read_brackets, unescaped

_SAME = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"', "\u201c": '"', "\u201d": '"', "\u201e": '"',
    "`": "'", "\u2018": "'", "\u2019": "'",
    "\u2026": "...", "\u2013": "--", "\u2014": "--", "\xa0": " ",
}  # fmt: skip
_PARTS = re.compile("|".join(map(re.escape, _SAME)))


def same_word(leaf: str, token: str) -> bool:
    """Return whether a leaf as written may stand for a word."""
    return leaf == token or _plain(unescaped(leaf)) == _plain(token)


def _plain(word: str) -> str:
    return _PARTS.sub(lambda match: _SAME[match[0]], word)


def read_fitting(
    text: str,
    tokens: Sequence[str],
    *,
    strict: bool = False,
    drop_function_tags: bool = False,
    drop_traces: bool = False,
) -> Brackets | None:
    """Read brackets whose words are known; None where they hold no tree."""
    reader = partial(
        read_brackets, text, drop_function_tags=drop_function_tags, drop_traces=drop_traces
    )
    read = None
    try:
        read = reader()
    except FormatError as error:
        problem = error
    else:
        if read is None or _fits(read.words, tokens):
            return read
        problem = _misfit(text, read, tokens)
    if not any("(" in token or ")" in token or "\\" in token for token in tokens):
        raise problem
    try:
        resolved = reader(tokens=tokens)
    except FormatError as error:
        raise (error if read is None else problem) from None
    if resolved is None or not _fits(resolved.words, tokens):
        raise problem if read or not resolved else _misfit(text, resolved, tokens)
    if strict:
        raise _bare(text, resolved, tokens)
    return resolved


def _fits(leaves: Sequence[str], tokens: Sequence[str]) -> bool:
    return len(leaves) == len(tokens) and all(map(same_word, leaves, tokens))


def _misfit(text: str, read: Brackets, tokens: Sequence[str]) -> FormatError:
    leaves = read.words
    place = _first(leaves, tokens, same_word)
    hint = "; traces (-NONE-) are words unless `drop_traces`" if read.traces else ""
    at = read.offsets[place] if place < len(leaves) else len(text.rstrip()) - 1
    return FormatError(_told(leaves, tokens, place) + hint, "", *place_of(text, at))


def difference(leaves: Sequence[str], tokens: Sequence[str]) -> str:
    """Report where the leaves of a tree and the words that they should be differ first."""
    return _told(leaves, tokens, _first(leaves, tokens, str.__eq__))


def _first(leaves: Sequence[str], tokens: Sequence[str], same: Callable[[str, str], bool]) -> int:
    sides = enumerate(zip(leaves, tokens, strict=False))
    return next((k for k, sides in sides if not same(*sides)), min(len(leaves), len(tokens)))


def _told(leaves: Sequence[str], tokens: Sequence[str], place: int) -> str:
    counts = f"{how_many(len(leaves), 'leaf', 'leaves')} for {how_many(len(tokens), 'word')}; "
    leaf = f"leaf {place} is {leaves[place][:40]!r}" if place < len(leaves) else "no leaf is left"
    word = f"word {place} is {tokens[place][:40]!r}" if place < len(tokens) else "no word is left"
    return f"{counts if len(leaves) != len(tokens) else ''}{leaf}, but {word}"


def _bare(text: str, read: Brackets, tokens: Sequence[str]) -> FormatError:
    place = next(k for k, leaf in enumerate(read.words) if "(" in leaf or ")" in leaf)
    return FormatError(
        f"word {place}, {tokens[place][:40]!r}, stands unescaped among the brackets of the tree; "
        "write -LRB- and -RRB-, or do not be strict",
        "",
        *place_of(text, read.offsets[place]),
    )
