"""Carry links over to another tokenization of the same sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from html import unescape
from itertools import product, starmap
from unicodedata import normalize as normal_form

from alignkit._support.arguments import check_arguments, check_known
from alignkit.model.alignment import Alignment, Link, LinkLike
from alignkit.model.texts import word_kind

NORMALIZE = ("exact", "loose")
SPREAD = ("all", "same-kind")

_MARKER = re.compile(r"^##(?=.)|^[\u2581\u0120]|(?<=.)@@$|(?<=.)</w>$", re.DOTALL)
_GLUED = re.compile(r"@(\W)@")  # how Moses marks a hyphen or the like within a word
_LEAST_EQUAL = 0.9  # of the characters of the longer text
_SHORT = 30  # characters: in texts with fewer, _EDITS may differ
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
    loose = normalize == "loose"
    sources = _shared(theirs[0], ours[0], loose=loose)
    targets = _shared(theirs[1], ours[1], loose=loose)
    if sources is None or targets is None:
        return None
    source_kinds = [word_kind(token) for token in ours[0]]
    target_kinds = [word_kind(token) for token in ours[1]]
    links = dict[Link, bool]()
    weights = dict[LinkLike, float]()
    for link, sure in alignment.items():
        cells = list(starmap(Link, product(sources[link.i], targets[link.j])))
        if spread == "same-kind":
            alike = [cell for cell in cells if source_kinds[cell.i] == target_kinds[cell.j]]
            cells = alike or cells
        weight = alignment.weights.get(link, 1.0)
        for cell in cells:
            links[cell] = links.get(cell, False) or sure
            weights[cell] = max(weights.get(cell, 0.0), weight)
    certain = [link for link, sure in links.items() if sure]
    return Alignment(certain, links, weights=weights if alignment.weights else None)


def _shared(theirs: Sequence[str], ours: Sequence[str], *, loose: bool) -> list[list[int]] | None:
    """Return for each of their tokens ours that share characters; None if too many differ.

    Both texts are compared without white space. If they differ, the characters that one has instead
    of others are spread evenly: 2 of theirs for 4 of ours share characters 0-1 and 2-3.
    """
    text, owners = _joined(theirs, loose=loose)
    our_text, our_owners = _joined(ours, loose=loose)
    if text != our_text and not loose:
        return None
    blocks: list[tuple[str, int, int, int, int]] = [("equal", 0, len(text), 0, len(text))]
    if text != our_text:
        matcher = SequenceMatcher(None, text, our_text, autojunk=False)
        blocks = list(matcher.get_opcodes())
    equal = 0
    shared: list[dict[int, None]] = [{} for _ in theirs]
    for tag, begin, end, our_begin, our_end in blocks:
        size = end - begin
        our_size = our_end - our_begin
        if tag == "equal":
            equal += size
        if not our_size:
            continue
        for k in range(size):
            # ours from k/size of the block, rounded down, to (k + 1)/size, rounded up
            first = our_begin + k * our_size // size
            last = our_begin - (-(k + 1) * our_size // size)
            for our_token in our_owners[first:last]:
                shared[owners[begin + k]][our_token] = None
    longest = max(len(text), len(our_text))
    if longest < _SHORT:
        edits = min(_EDITS, longest / 2)
    else:
        edits = longest * (1 - _LEAST_EQUAL)
    if text != our_text and longest - equal > edits:
        return None
    return list(map(list, shared))


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
        text = token
        if loose:
            plain = without_escapes(without_marker(token))
            text = normal_form("NFKC", plain).casefold()
        dense = "".join(text.split())
        letters.append(dense)
        owners += [k] * len(dense)
    return "".join(letters), owners
