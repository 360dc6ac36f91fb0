"""Check the files that a command reads and writes, before it does either."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING

from alignkit._support.extras import missing_libraries
from alignkit.cli.parser import add_options, number
from alignkit.errors import AlignkitError, OptionError
from alignkit.io.atomic_files import identity, refuse_same, refuse_unwritable, standard_stream

if TYPE_CHECKING:
    from alignkit.io.options import ReadOptions

_PLACES = "input inputs corpus project hypothesis reference forward reverse table rules second"
_OPTIONS = (
    "sentences key compare add load dictionary prior vectors target_vectors ids_from source target "
    "link_weights "
    "evidence evidence_source evidence_target "
    "source_trees target_trees both_trees predictions groups stop_words source_tags target_tags "
    "source_words target_words among recall"
)
_READ = dict.fromkeys(_PLACES.split(), "") | {"printed": "--table "}
_READ |= {name: f"--{name.replace('_', '-')} " for name in _OPTIONS.split()}
"""The arguments that name files to read, and their names in messages."""

_REPLACES = {
    "output": "input",
    "fix": "inputs",
    "to_source": "source",
    "to_target": "target",
    "fix_source": "source",
    "fix_target": "target",
}
"""The input that each output may replace."""


def check_files(options: argparse.Namespace) -> list[str]:
    """Return the files to write, after checking them: different, writable, and not read as well."""
    outputs: dict[str, str] = options.parser.outputs(options)
    refuse_same(outputs.values())
    refuse_unwritable(outputs.values(), in_new_folders=True)
    for place, path in _named(options):
        file = "/dev/stdin" if path == "-" else path
        if os.path.isfile(file) and standard_stream(file) is not None:
            raise OptionError(
                f"{path} is an input, but standard output goes there too; redirect it to "
                "another file"
            )
        others = []
        for name, output in outputs.items():
            may_replace = options.parser.replaces and place == _REPLACES.get(name)
            if not may_replace:
                others.append(output)
        _refuse_replaced(place, path, others)
    return list(outputs.values())


def refuse_second_reading(options: argparse.Namespace) -> None:
    """Refuse to read standard input for two arguments."""
    if [path for _, path in _named(options)].count("-") > 1:
        raise OptionError("standard input (-) can be read once only; name files for the others")


def _named(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the arguments that name files to read, with the files."""
    named = []
    for place in _READ:
        value = getattr(options, place, None)
        if isinstance(value, str):
            words = [value]
        elif isinstance(value, list):
            words = value
        else:
            continue
        for word in words:
            files = [word]
            if place == "add" or place.startswith("evidence"):
                files = [file for file, _ in evidence_files(word)]
            named += [(place, file) for file in files]
    return named


def evidence_files(word: str) -> list[tuple[str, list[str]]]:
    """Return the files in NAME=FILE:transpose,FILE, each with the parts after it."""
    _, _, files = word.partition("=")
    path, parts = added(f"={files}")
    if os.path.exists(path):  # its name may have a comma
        return [(path, parts)]
    each = [added(f"={file}") for file in files.split(",")]
    return [(path, parts) for path, parts in each if path]


def added(word: str) -> tuple[str, list[str]]:
    """Return the file in NAME=FILE:FORMAT:base=1:transpose, and the parts after it."""
    _, _, path = word.partition("=")
    parts = list[str]()
    while ":" in path and not os.path.exists(path):
        before, _, part = path.rpartition(":")
        if not before or set("/\\.") & set(part):
            break
        path = before
        parts = [part, *parts]
    return path, parts


def refuse_replacing(outputs: Iterable[str], options: argparse.Namespace) -> None:
    """Refuse outputs that are also read, if no option names them (except standard output)."""
    files = [output for output in outputs if output != "-"]
    for place, path in _named(options):
        _refuse_replaced(place, path, files)


def _refuse_replaced(place: str, path: str, outputs: Iterable[str]) -> None:
    """Refuse outputs that are the same file as an input."""
    file = "/dev/stdin" if path == "-" else path
    if not (os.path.isfile(file) or os.path.isdir(file)):
        return
    known = identity(file)
    for output in outputs:
        if known is not None and identity(output) == known:
            raise OptionError(
                f"{output} would be replaced, but is also read ({_READ[place]}{path}); name "
                "another file for the output; nothing was changed"
            )


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


_NEEDS = {
    "annotate": ("sqlalchemy", "msgspec"),
    "completion": ("shtab",),
    "identify": ("sklearn",),
}
"""The packages that every command of an extra needs."""


def require_extra(name: str, *more: str) -> None:
    """Raise an error if packages of an extra are missing; `more` names those of one command."""
    missing = [package for package in (*_NEEDS[name], *more) if find_spec(package) is None]
    if missing:
        raise AlignkitError(missing_libraries("this", missing, name))


_MEGABYTES = 128


def add_memory(group: argparse._ActionsContainer, what: str) -> None:
    """Add the option for the memory that sorting takes."""
    table = f"""
        --memory MB  memory for sorting {what}; the rest is sorted on disk, with the same result
            (default: {_MEGABYTES})
        """
    add_options(group, table, memory={"type": number(1, 1 << 20)})


def room(options: argparse.Namespace) -> int:
    """Return the maximum number of bytes for sorting."""
    return (options.memory or _MEGABYTES) << 20


OPENED: dict[str, tuple[str, ReadOptions]] = {}
"""The inputs that the running command opened: format and reading options, by path."""

DISORDER: dict[str, str] = {}
"""What is wrong with the order of the sentence numbers of inputs, by path."""
