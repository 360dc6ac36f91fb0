"""Carry links over to another tokenization of the same sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from html import unescape
from unicodedata import normalize as normal_form

from alignkit._support.arguments import check_arguments, check_known
from alignkit.model.alignment import Alignment, Link, LinkLike
from alignkit.model.texts import word_kind

NORMALIZE = ("exact", "loose")
SPREAD = ("all", "same-kind")

_MARKER = re.compile(r"^##(?=.)|^[\u2581\u0120]|(?<=.)@@$|(?<=.)</w>$", re.DOTALL)
_GLUED = re.compile(r"@(\W)@")  # how Moses marks a hyphen or the like within a word
_LEAST_EQUAL = 0.9  # of the characters of the longer side
# below so many characters, so many may differ
_SHORT = 30
_EDITS = 3

Sides = tuple[Sequence[str], Sequence[str]]


def remap(
    alignment: Alignment,
    theirs: Sides,
    ours: Sides,
    *,
    normalize: str = "loose",
    spread: str = "same-kind",
) -> Alignment | None:
    """Return an alignment of other tokens of a sentence pair as one of our tokens.

    Tokens correspond if they share characters of the sentence. A link goes to all pairs of
    corresponding tokens, with its weight; if several links reach a pair, it gets the largest.
    Return None if the sentences differ too much.

    Parameters
    ----------
    alignment : Links between their tokens.
    theirs, ours : The source and target tokens, in both tokenizations.
    normalize : ``exact``: the characters must be equal; ``loose``: case, escapes such as ``&apos;``
        and markers of subwords (``##``, ``@@``, ``</w>``, U+2581, U+0120) are ignored, and one
        character in ten (of short sentences, three) may differ.
    spread : If a link reaches several pairs of tokens: ``all`` of them, or only those of the
        ``same-kind`` (words, punctuation, with digits), if there are any.

    Examples
    --------
    >>> glued, ours = (["Hi!"], ["Hallo!"]), (["Hi", "!"], ["Hallo", "!"])
    >>> remap(Alignment([(0, 0)]), glued, ours)
    Alignment('0-0 1-1')
    """
    check_arguments(remap, locals())
    check_known("normalize", normalize, NORMALIZE)
    check_known("spread", spread, SPREAD)
    sides = zip(theirs, ours, strict=True)
    sources, targets = (_shared(*both, loose=normalize == "loose") for both in sides)
    if sources is None or targets is None:
        return None
    links = dict[Link, bool]()
    weights = dict[LinkLike, float]()
    for link, sure in alignment.items():
        cells = [Link(i, j) for i in sources[link.i] for j in targets[link.j]]
        if spread == "same-kind" and len(cells) > 1:
            alike = (c for c in cells if word_kind(ours[0][c.i]) == word_kind(ours[1][c.j]))
            cells = list(alike) or cells
        for cell in cells:
            links[cell] = links.get(cell, False) or sure
            weights[cell] = max(weights.get(cell, 0.0), alignment.weights.get(link, 1.0))
    certain = [link for link, sure in links.items() if sure]
    return Alignment(certain, links, weights=weights if alignment.weights else None)


def _shared(theirs: Sequence[str], ours: Sequence[str], *, loose: bool) -> list[list[int]] | None:
    """Return for each of their tokens ours that share characters; None if too many differ."""
    (text, tokens), (own_text, own_tokens) = (_joined(side, loose=loose) for side in (theirs, ours))
    shared: list[dict[int, None]] = [{} for _ in theirs]
    blocks: list[tuple[str, int, int, int, int]] = [("equal", 0, len(text), 0, len(text))]
    equal = 0
    if text != own_text:
        blocks = list(SequenceMatcher(None, text, own_text, autojunk=False).get_opcodes())
    for tag, begin, end, own_begin, own_end in blocks:
        size = end - begin
        own_size = own_end - own_begin
        if tag == "equal":
            equal += size
        for k in range(size if own_size else 0):  # character k of n is like those at k/n of ours
            first = k * own_size // size
            last = -(-(k + 1) * own_size // size)
            for own in own_tokens[own_begin + first : own_begin + last]:
                shared[tokens[begin + k]][own] = None
    longest = max(len(text), len(own_text))
    if longest < _SHORT:
        edits = min(_EDITS, longest / 2)
    else:
        edits = longest * (1 - _LEAST_EQUAL)
    same = text == own_text or (loose and longest - equal <= edits)
    return list(map(list, shared)) if same else None


def without_marker(token: str) -> str:
    """Return a token without the marker of a subword (``##``, ``@@``, ``</w>``, U+2581, U+0120)."""
    return _MARKER.sub("", token)


def without_escapes(token: str) -> str:
    """Return a token without escapes: ``&quot;`` of HTML and Moses, ``@-@`` of Moses."""
    glued = _GLUED.fullmatch(token)
    return glued[1] if glued else unescape(token)


def _joined(tokens: Sequence[str], *, loose: bool) -> tuple[str, list[int]]:
    """Return the characters of tokens without white space, and the token of each."""
    letters = []
    owners = []
    for k, token in enumerate(tokens):
        if loose:
            plain = without_escapes(without_marker(token))
        else:
            plain = token
        own = "".join((normal_form("NFKC", plain).casefold() if loose else plain).split())
        letters.append(own)
        owners += [k] * len(own)
    return "".join(letters), owners
