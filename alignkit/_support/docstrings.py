"""Docstrings, from which the help of commands is made."""

from __future__ import annotations

import sys
from types import ModuleType


def docstring(owner: ModuleType | type) -> str:
    """Return the docstring of a module or class, also where PYTHONOPTIMIZE=2 left it out."""
    if sys.flags.optimize < 2:
        return owner.__doc__ or ""
    import ast  # the two take as long as the whole help
    import inspect

    node = ast.parse(inspect.getsource(owner))
    if isinstance(owner, ModuleType):
        return ast.get_docstring(node, clean=False) or ""
    (definition,) = node.body
    assert isinstance(definition, ast.ClassDef)
    return ast.get_docstring(definition, clean=False) or ""
