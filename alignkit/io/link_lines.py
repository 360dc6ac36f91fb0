"""Lines of links in the format pharaoh, made from arrays without an object for each pair.

`alignkit.io.formats.pharaoh` has the specification, and writes pairs. What aligns plain texts has
arrays, and needs nothing of a format but these lines.
"""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import F4
from alignkit._support.jit import readonly
from alignkit.io.formats.pharaoh_kernel import written
from alignkit.model.arrays import LinkArrays


def format_lines(arrays: LinkArrays, *, probabilities: F4 | None = None) -> bytes:
    """Return the lines of alignments, identical to those written pair by pair.

    The probabilities of the links, from 0 to 1, are written as weights.
    """
    weights = np.empty(0, np.float32) if probabilities is None else probabilities
    links = readonly(arrays.links)
    text = written(links, readonly(arrays.sure), readonly(arrays.offsets), readonly(weights))
    return text.tobytes()
