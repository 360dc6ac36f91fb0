"""Words of a command that hold more than the name of a file, such as ``anna=a.align:base=1``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath


def file_and_parts(text: str) -> tuple[str, list[str]]:
    """Return a file and the parts after it, as in FILE:FORMAT:base=1:transpose.

    For example, ``a.wa:naacl:base=1`` is ``a.wa`` with the parts ``naacl`` and ``base=1``. A colon
    belongs to the name of the file if a file has that name, or if what follows it has a slash or
    a dot: ``C:/a.wa`` has no parts.
    """
    path = text
    parts = list[str]()
    while ":" in path and not os.path.exists(path):
        before, _, part = path.rpartition(":")
        if not before or set("/\\.") & set(part):
            break
        path = before
        parts = [part, *parts]
    return path, parts


def evidence_files(word: str) -> list[tuple[str, list[str]]]:
    """Return the files in NAME=FILE:transpose,FILE, each with the parts after it."""
    _, _, files = word.partition("=")
    path, parts = file_and_parts(files)
    if os.path.exists(path):  # its name may have a comma
        return [(path, parts)]
    each = [file_and_parts(file) for file in files.split(",")]
    return [(path, parts) for path, parts in each if path]


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """Return the shortest unique ending of each path."""
    pure = [PurePath(path) for path in paths]
    most_parts = max((len(path.parts) for path in pure), default=0)
    for count in range(1, most_parts + 1):
        named = ["/".join(path.parts[-count:]) for path in pure]
        plain = [name.removesuffix(path.suffix) for name, path in zip(named, pure, strict=True)]
        for short in (plain, named):
            if len(set(short)) == len(paths) and all(short):
                return dict(zip(paths, short, strict=True))
    return {path: path for path in paths}
