"""Import numba without the packages that it only asks for.

numba imports coverage, SciPy and yaml where they are installed: to report lines to a running
coverage, to compare a version, and to read a file of settings. That takes a quarter of the time
that numba does, and hardly a process needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from threading import get_ident
from types import ModuleType

_SETTINGS = ".numba_config.yaml"
"""The file of settings that numba reads in the current folder."""


class Hiding(MetaPathFinder):
    """Hides packages from the imports of this thread; those that were imported before stay."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._thread = get_ident()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise ModuleNotFoundError for a hidden package; leave others to the next finder."""
        if fullname in self._names and get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None

    def end(self) -> None:
        """Hide nothing any more.

        The finder stays where it is: without it in the list, an import by another thread, which
        may be walking through the list, would pass over the next finder.
        """
        self._names = ()


def import_numba() -> None:
    """Import numba, unless it was imported."""
    if "numba" in sys.modules:
        return
    names = ["coverage", "scipy"]
    if not Path(_SETTINGS).exists():
        names.append("yaml")
    hiding = Hiding(names)
    sys.meta_path.insert(0, hiding)
    try:
        import numba  # noqa: F401
    finally:
        hiding.end()
