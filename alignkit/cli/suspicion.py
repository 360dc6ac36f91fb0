"""Warn where the declared base looks wrong, in the words of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.cli.messages import say
from alignkit.formats.suspicion import BaseWatch as _BaseWatch

if TYPE_CHECKING:
    from alignkit.cli.inputs import Input

__all__ = ["BaseWatch"]


class BaseWatch(_BaseWatch):
    """Watch whether any link of an input uses the first word of either side.

    Parameters
    ----------
    source
        The input.
    option
        The option that declares its base.
    """

    def __init__(self, source: Input, option: str = "--base") -> None:
        super().__init__(source.reading)
        self._path, self._option = source.path, option

    def warn(self) -> None:
        """Warn on stderr if no link used a first word, though there are enough of them."""
        suspicion = self.suspicion(f"{self._option} 1")
        if suspicion:
            say(f"{self._path}: warning: {suspicion}")
