"""Merge the alignments of the two directions of a system into one."""

from __future__ import annotations

from typing import NamedTuple, overload

import numpy as np

from alignkit._support.arguments import check_arguments, check_count, check_known, naming_keywords
from alignkit._support.jit import readonly
from alignkit.errors import JoinError, OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.symmetrize_kernel import merge


class Method(NamedTuple):
    """How two directions are merged: where to begin, whether to grow, how to end."""

    everything: bool = False  # begin with the union (and be done), else with the intersection
    growing: bool = False  # add neighbours in the union that align a word, until none is left
    final: int = 0  # add further links of the union: 1 with either, 2 with both words unaligned


METHODS = {
    "intersection": Method(),
    "union": Method(everything=True),
    "grow-diag": Method(growing=True),
    "grow-diag-final": Method(growing=True, final=1),
    "grow-diag-final-and": Method(growing=True, final=2),
}
"""The methods of merging, by name."""


@overload
def symmetrize(forward: Alignment, reverse: Alignment, method: str = ...) -> Alignment: ...
@overload
def symmetrize(forward: LinkArrays, reverse: LinkArrays, method: str = ...) -> LinkArrays: ...
@naming_keywords
def symmetrize(
    forward: Alignment | LinkArrays,
    reverse: Alignment | LinkArrays,
    method: str = "grow-diag-final-and",
) -> Alignment | LinkArrays:
    """Merge a forward and a reverse alignment of the same sentence pairs.

    Parameters
    ----------
    forward, reverse
        The links that a system found in the two directions, **both as source-target**: transpose
        what was written target-source. All links count, possible ones too.
    method
        One of `METHODS`.

    Returns
    -------
    Alignment or LinkArrays
        As given. All links are sure. Sentence lengths are the greater of the two.

    Raises
    ------
    UnknownNameError
        If `method` names nothing.
    JoinError
        If the two hold different numbers of sentence pairs.
    OptionError
        If one is an alignment and the other arrays.

    Notes
    -----
    Grow-diag, final and final-and follow `printgrow` of symal.cpp in Moses [1]_:

    1. Begin with the intersection. Scan its links by target word, then source word. At each,
       look at the eight neighbours, in (target, source) steps (-1, 0), (0, -1), (1, 0), (0, 1),
       (-1, -1), (-1, 1), (1, -1), (1, 1); add a neighbour that is in the union when its source or
       its target word is not aligned so far. A link added ahead of the scan is met in this same
       scan, one added behind it in the next. Scan until nothing is added.
    2. Final: go through the links of one direction only, the forward ones, then the reverse ones,
       each by target word, then source word; add a link when either (final) or each (final-and)
       of its words is not aligned so far.

    Forward is the direction that symal calls inverse and that its final step takes first: where a
    target word has at most one source word, as fast_align and eflomal have it without ``-r``.

    References
    ----------
    .. [1] Koehn, Och & Marcu 2003, Statistical phrase-based translation, NAACL; the code:
       https://github.com/moses-smt/mosesdecoder/blob/master/symal/symal.cpp

    Examples
    --------
    >>> forward = Alignment.parse("0-0 1-1 1-2 4-4")
    >>> reverse = Alignment.parse("0-0 1-1 3-0")
    >>> for name in METHODS:
    ...     print(name, ":", symmetrize(forward, reverse, name))
    intersection : 0-0 1-1
    union : 0-0 1-1 1-2 3-0 4-4
    grow-diag : 0-0 1-1 1-2
    grow-diag-final : 0-0 1-1 1-2 3-0 4-4
    grow-diag-final-and : 0-0 1-1 1-2 4-4
    """
    check_arguments(symmetrize, locals())
    check_known("method of symmetrization", method, METHODS)
    if isinstance(forward, Alignment) and isinstance(reverse, Alignment):
        arrays = LinkArrays.pack([forward]), LinkArrays.pack([reverse])
        return _merge(*arrays, METHODS[method]).alignment(0)
    if isinstance(forward, LinkArrays) and isinstance(reverse, LinkArrays):
        return _merge(forward, reverse, METHODS[method])
    raise OptionError("forward and reverse must be two alignments, or two arrays of them")


def _merge(forward: LinkArrays, reverse: LinkArrays, method: Method) -> LinkArrays:
    if len(forward) != len(reverse):
        raise JoinError(
            f"forward has {len(forward)} sentence pairs and reverse {len(reverse)}; both must "
            f"hold the same ones, an empty alignment where nothing is aligned"
        )
    most = len(forward.links) + len(reverse.links)
    check_count("links of both directions", most)
    lengths = np.maximum(forward.lengths, reverse.lengths)
    out = np.empty((most, 2), np.int32)
    offsets = np.zeros(len(forward) + 1, np.int64)
    merge(
        *(readonly(forward.links), readonly(forward.offsets)),
        *(readonly(reverse.links), readonly(reverse.offsets)),
        readonly(lengths),
        method.everything,
        method.growing,
        method.final,
        out,
        offsets,
    )
    out.resize((int(offsets[-1]), 2), refcheck=False)
    return LinkArrays.trusted(out, np.ones(len(out), np.uint8), offsets, lengths)
