"""Write the links of many pairs as Pharaoh lines at once, from arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alignkit.arrays import LinkArrays
from alignkit.errors import AlignmentError, OptionError
from alignkit.formats.pharaoh_kernel import written
from alignkit.jit import readonly


def format_lines(
    arrays: LinkArrays,
    *,
    probabilities: NDArray[np.float32] | None = None,
    base: int = 0,
    transpose: bool = False,
) -> bytes:
    r"""Return the lines of some alignments, as writing them pair by pair makes them.

    Examples
    --------
    >>> from alignkit import Alignment
    >>> arrays = LinkArrays.pack([Alignment.parse("0-0 1?2"), Alignment(), Alignment.parse("1-0")])
    >>> format_lines(arrays)
    b'0-0 1?2\n\n1-0\n'
    >>> format_lines(arrays, probabilities=np.array([1, 0.51239, 0.9], np.float32), base=1)
    b'1-1:1.0 2?3:0.5124\n\n2-1:0.9\n'
    """
    if base not in (0, 1):
        raise OptionError(f"base must be 0 or 1, not {base}")
    links, sure, weights = arrays.links, arrays.sure, _checked(probabilities, len(arrays.links))
    if transpose:
        pair = np.repeat(np.arange(len(arrays)), np.diff(arrays.offsets))
        order = np.lexsort((links[:, 0], links[:, 1], pair))
        links, sure = links[order, ::-1], sure[order]
        weights = weights[order] if len(weights) else weights
    text = written(
        readonly(links), readonly(sure), readonly(arrays.offsets), readonly(weights), base
    )
    return text.tobytes()


def _checked(probabilities: NDArray[np.float32] | None, count: int) -> NDArray[np.float32]:
    if probabilities is None:
        return np.empty(0, np.float32)
    if probabilities.dtype != np.float32 or probabilities.shape != (count,):
        raise AlignmentError(
            f"probabilities are a {probabilities.shape} array of {probabilities.dtype}; expected "
            f"({count},) of float32"
        )
    if count and not (probabilities.min() >= 0 and probabilities.max() <= 1):
        k = int(np.argmin((probabilities >= 0) & (probabilities <= 1)))
        raise AlignmentError(
            f"the probability of link {k} (counted from 0) is {probabilities[k]}; expected a "
            "number from 0 to 1"
        )
    return probabilities
