r"""Label spans of words as syntax-augmented rules do: by the constituents of one side's tree.

A span is labelled by the first of these that exists: the highest of the constituents that span just
it (A); two constituents side by side, the first the shortest (A+B); a constituent A that lacks a
constituent B at its right end (A/B) or at its left end (A\B), the shortest B; three constituents
side by side, the first and then the second the shortest (A+B+C); else X [1]_.

References
----------
.. [1] Zollmann & Venugopal 2006, Syntax augmented machine translation via chart parsing, WMT. What
   is first where several forms exist is decided here, as Thrax does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments
from alignkit._support.jit import readonly
from alignkit.errors import OptionError
from alignkit.model.trees import Tree
from alignkit.rules.hiero.counts_kernel import BESIDE, CONSTITUENT, LEFT, RIGHT, THREE, chart

_MOST = 2**19


class Labels:
    """Number labels of spans; number 0 is ``X``."""

    def __init__(self) -> None:
        self.texts = ["X"]
        self._numbers = {"X": 0}
        self._nodes: dict[str, int] = {}  # labels of nodes, which have numbers of their own
        self._node_labels: list[str] = []
        self._coded: dict[int, int] = {0: 0}

    def chart(self, trees: Sequence[Tree], longest: int) -> NDArray[np.int32]:
        """Return the labels of the spans of some sentences."""
        sizes = [len(tree.words) for tree in trees]
        codes = np.zeros(sum(sizes) * longest, np.int64)
        at = 0
        for tree, size in zip(trees, sizes, strict=True):
            if not size:
                continue
            part = codes[at * longest : (at + size) * longest]
            chart(
                readonly(np.array([self._node(label) for label in tree.labels], np.int32)),
                readonly(tree.parents),
                readonly(tree.starts),
                readonly(tree.ends),
                size,
                longest,
                part,
            )
            at += size
        different, inverse = np.unique(codes, return_inverse=True)
        numbers = np.array([self._number(code) for code in different.tolist()], np.int32)
        return numbers[inverse.reshape(-1)] if len(different) else np.zeros(0, np.int32)

    def number(self, text: str) -> int:
        """Return the number of the text of a label."""
        return self._numbers[text]

    def _node(self, label: str) -> int:
        number = self._nodes.setdefault(label, len(self._nodes))
        if number == len(self._node_labels):
            if number == _MOST:
                raise OptionError(f"the trees have more than {_MOST} labels")
            self._node_labels.append(label)
        return number

    def _number(self, code: int) -> int:
        number = self._coded.get(code)
        if number is None:
            text = self._text(code)
            number = self._numbers.setdefault(text, len(self.texts))
            if number == len(self.texts):
                self.texts.append(text)
            self._coded[code] = number
        return number

    def _text(self, code: int) -> str:
        form = code >> 57
        a, b, c = (self._node_labels[code >> shift & (_MOST - 1)] for shift in (38, 19, 0))
        return {
            CONSTITUENT: a,
            BESIDE: f"{a}+{b}",
            RIGHT: f"{a}/{b}",
            LEFT: f"{a}\\{b}",
            THREE: f"{a}+{b}+{c}",
        }[form]


def span_label(tree: Tree, start: int, end: int) -> str:
    """Return the label of one span of words."""
    check_arguments(span_label, locals())
    if not 0 <= start < end <= len(tree.words):
        raise OptionError(f"span {start} to {end} is none of {len(tree.words)} words")
    longest = end - start
    labels = Labels()
    number = int(labels.chart([tree], longest)[start * longest + longest - 1])
    return labels.texts[number]
