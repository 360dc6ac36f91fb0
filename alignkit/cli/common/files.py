"""Check the files that a command reads and writes, before it does either."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from alignkit.cli.parser import Options
from alignkit.errors import AlignkitError, OptionError
from alignkit.io.atomic_files import identity, refuse_same, refuse_unwritable, standard_stream

if TYPE_CHECKING:
    from alignkit.io.options import ReadOptions

_WITHOUT_FLAG = (
    "input",
    "inputs",
    "corpus",
    "project",
    "hypothesis",
    "reference",
    "forward",
    "reverse",
    "table",
    "rules",
    "second",
)
_WITH_FLAG = (
    "sentences",
    "key",
    "compare",
    "add",
    "load",
    "dictionary",
    "prior",
    "vectors",
    "target_vectors",
    "ids_from",
    "source",
    "target",
    "link_weights",
    "evidence",
    "evidence_source",
    "evidence_target",
    "source_trees",
    "target_trees",
    "both_trees",
    "predictions",
    "groups",
    "stop_words",
    "source_tags",
    "target_tags",
    "source_words",
    "target_words",
    "among",
    "recall",
)
_READ = {
    **dict.fromkeys(_WITHOUT_FLAG, ""),
    "printed": "--table ",
    **{name: f"--{name.replace('_', '-')} " for name in _WITH_FLAG},
}
"""What stands before the file in messages, for each argument that names a file to read."""

_REPLACES = {
    "output": "input",
    "fix": "inputs",
    "to_source": "source",
    "to_target": "target",
    "fix_source": "source",
    "fix_target": "target",
}
"""The input that each output may replace."""


def check_files(options: Options) -> list[str]:
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


def refuse_second_reading(options: Options) -> None:
    """Refuse to read standard input for two arguments."""
    if [path for _, path in _named(options)].count("-") > 1:
        raise OptionError("standard input (-) can be read once only; name files for the others")


def _named(options: Options) -> list[tuple[str, str]]:
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
                from alignkit.cli.common.named_files import evidence_files

                files = [file for file, _ in evidence_files(word)]
            named += [(place, file) for file in files]
    return named


def refuse_replacing(outputs: Iterable[str], options: Options) -> None:
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
        from alignkit._support.extras import missing_libraries

        raise AlignkitError(missing_libraries("this", missing, name))


OPENED: dict[str, tuple[str, ReadOptions]] = {}
"""The inputs that the running command opened: format and reading options, by path."""

DISORDER: dict[str, str] = {}
"""What is wrong with the order of the sentence numbers of inputs, by path."""
