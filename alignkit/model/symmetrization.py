"""Merge alignments of the two directions of a system."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np

from alignkit._support.arguments import check_arguments, check_count, check_known, naming_keywords
from alignkit._support.jit import readonly
from alignkit.errors import JoinError, OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.phrase_arrays import pair_links
from alignkit.model.symmetrize_kernel import IF_BOTH_ARE_FREE, IF_ONE_IS_FREE, Method, merge

METHODS = {
    "intersection": Method(),
    "union": Method(everything=True),
    "grow-diag": Method(growing=True),
    "grow-diag-final": Method(growing=True, final=IF_ONE_IS_FREE),
    "grow-diag-final-and": Method(growing=True, final=IF_BOTH_ARE_FREE),
}
"""The methods of merging, by name."""

MethodName = Literal["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]


@overload
def symmetrize(forward: Alignment, reverse: Alignment, method: MethodName = ...) -> Alignment: ...
@overload
def symmetrize(
    forward: LinkArrays, reverse: LinkArrays, method: MethodName = ...
) -> LinkArrays: ...
@naming_keywords
def symmetrize(
    forward: Alignment | LinkArrays,
    reverse: Alignment | LinkArrays,
    method: Literal[
        "intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"
    ] = "grow-diag-final-and",
) -> Alignment | LinkArrays:
    """Merge a forward and a reverse alignment of the same sentence pairs.

    Parameters
    ----------
    forward, reverse : The links that a system found in the two directions, **both as
        source-target**: transpose links that were written target-source. All links count, including
        possible ones.
    method : One of `METHODS`.

    Returns
    -------
    Alignment or LinkArrays
        The same type as the input. All links are sure. Sentence lengths are the larger of the two.

    Raises
    ------
    UnknownNameError : If `method` is not a known name.
    JoinError : If the two have different numbers of sentence pairs.
    OptionError : If one is an alignment and the other is arrays.

    Notes
    -----
    Grow-diag, final and final-and follow `printgrow` of symal.cpp in Moses [1]_:

    1. Begin with the intersection. Scan its links by target word, then source word. For each link,
       check the eight neighbours, in (target, source) steps (-1, 0), (0, -1), (1, 0), (0, 1),
       (-1, -1), (-1, 1), (1, -1), (1, 1); add a neighbour from the union if its source or target
       word is not aligned yet. A link added ahead of the scan is visited in the same scan, a link
       added behind it in the next one. Scan until nothing is added.
    2. Final: go through the links that only one direction has, first forward, then reverse, each by
       target word, then source word. Add a link if one (final) or both (final-and) of its words are
       not aligned yet.

    Forward is the direction that symal calls inverse and that its final step uses first: each
    target word has at most one source word, as in fast_align and eflomal without ``-r``.

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
        merged = _merge(LinkArrays.pack([forward]), LinkArrays.pack([reverse]), METHODS[method])
        return merged.alignment(0)
    if isinstance(forward, LinkArrays) and isinstance(reverse, LinkArrays):
        return _merge(forward, reverse, METHODS[method])
    raise OptionError("forward and reverse must be two alignments, or two arrays of them")


def _merge(forward: LinkArrays, reverse: LinkArrays, method: Method) -> LinkArrays:
    """Run the kernel; the links of both directions together are the most there can be."""
    if len(forward) != len(reverse):
        raise JoinError(
            f"forward has {len(forward)} sentence pairs and reverse {len(reverse)}; both must "
            "have the same pairs, with an empty alignment if nothing is aligned"
        )
    most = len(forward.links) + len(reverse.links)
    check_count("links of both directions", most)
    lengths = np.maximum(forward.lengths, reverse.lengths)
    links = np.empty((most, 2), np.int32)
    offsets = np.zeros(len(forward) + 1, np.int64)
    merge(
        pair_links(forward),
        pair_links(reverse),
        readonly(lengths),
        method,
        links,
        offsets,
    )
    links.resize((int(offsets[-1]), 2), refcheck=False)
    return LinkArrays.trusted(links, np.ones(len(links), np.uint8), offsets, lengths)
