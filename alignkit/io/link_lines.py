"""Lines of links in the format pharaoh, made from arrays without an object for each pair.

`alignkit.io.formats.pharaoh` has the specification, and writes pairs. What aligns plain texts has
arrays, and needs nothing of a format but these lines.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit._support.jit import readonly
from alignkit.errors import AlignmentError, OptionError
from alignkit.io.formats.pharaoh_kernel import written
from alignkit.model.arrays import LinkArrays


def format_lines(
    arrays: LinkArrays,
    *,
    probabilities: NDArray[np.float32] | None = None,
    base: int = 0,
    transpose: bool = False,
) -> bytes:
    """Return the lines of alignments, identical to those written pair by pair."""
    if base not in (0, 1):
        raise OptionError(f"`base` must be 0 or 1, not {base}")
    links = arrays.links
    sure = arrays.sure
    weights = np.empty(0, np.float32)
    if probabilities is not None:
        weights = probabilities
        if weights.dtype != np.float32 or weights.shape != sure.shape:
            message = f"probabilities are a {weights.shape} array of {weights.dtype}"
            raise AlignmentError(f"{message}; expected ({len(links)},) of float32")
        within = (weights >= 0) & (weights <= 1)
        if not within.all():
            wrong = int(within.argmin())
            message = f"the probability of link {wrong} (counted from 0) is {weights[wrong]}"
            raise AlignmentError(f"{message}; expected a number from 0 to 1")
    if transpose:
        order = np.lexsort((links[:, 0], links[:, 1], arrays.pair_of))
        links = links[order, ::-1]
        sure = sure[order]
        if len(weights):
            weights = weights[order]
    text = written(
        readonly(links), readonly(sure), readonly(arrays.offsets), readonly(weights), base
    )
    return text.tobytes()
