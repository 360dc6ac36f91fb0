"""Warn where the declared base looks wrong: a wrong one often reads without an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.cli.messages import say

if TYPE_CHECKING:
    from alignkit.arrays import LinkArrays
    from alignkit.cli.inputs import Input

__all__ = ["BaseWatch"]

_ENOUGH = 20  # links; fewer may well leave out the first words


class BaseWatch:
    """Watch whether any link of an input uses the first word of either side.

    Parameters
    ----------
    source
        The input.
    option
        The option that declares its base.
    """

    def __init__(self, source: Input, option: str = "--base") -> None:
        self._source, self._option = source, option
        self._links = 0
        self._first = False

    def add(self, links: LinkArrays) -> None:
        """Look at the links of some pairs; once a first word is seen, at no more."""
        if not self._first and len(links.links):
            self._links += len(links.links)
            self._first = bool((links.links == 0).any())

    def warn(self) -> None:
        """Warn on stderr if no link used a first word, though there are enough of them."""
        base = self._source.reading.base
        if self._first or self._links < _ENOUGH or base != 0:
            return
        say(
            f"{self._source.path}: warning: no link uses word 0 on either side; if words "
            f"are counted from 1, say so by {self._option} 1"
        )
