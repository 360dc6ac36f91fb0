"""Names of a package that are imported when they are first used, so that importing it is quick."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module

_IMPORT = re.compile(r"^    from (\S+) import (\([^)]*\)|.*)$", re.MULTILINE)


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that imports its names for type checkers.

    The imports below ``if TYPE_CHECKING:`` say where each name of ``__all__`` is.
    """
    module = sys.modules[package]

    @cache
    def homes() -> dict[str, str]:
        source = module.__spec__.loader.get_source(package)  # type: ignore[union-attr]
        return {
            name: home
            for home, names in _IMPORT.findall(source)
            for name in re.findall(r"\w+", names)
        }

    def load(name: str) -> object:
        if name not in module.__all__ or name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(module, name, value := getattr(import_module(homes()[name]), name))
        return value

    return load, lambda: sorted(module.__all__)
