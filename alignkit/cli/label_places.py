"""Find where a judgment stands that is none of its scheme: a corpus does not know its lines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace

from alignkit.cli.opened import Opened, opened
from alignkit.errors import AlignkitError, JudgmentError
from alignkit.formats import open_reading


def placed(error: JudgmentError) -> str:
    """Return the message of an error with the file, and the line where it is known.

    The inputs of the command are read again; one that can be read only once gives its name alone.
    """
    inputs = opened()
    places = list(_places(inputs, error.judgment))
    of_pair = [place for id, place in places if id == error.pair]
    place = (of_pair or [place for _, place in places] or [""])[0]
    place = place or " and ".join(item.path for item in inputs)
    return f"{place}: {error.message}; pass over such labels by --lenient-labels"


def _places(inputs: list[Opened], judgment: str) -> Iterator[tuple[str, str]]:
    """Yield the id of each pair with a judgment, and where it stands."""
    for path, format, options in inputs:
        if not (os.path.isfile(path) or os.path.isdir(path)):
            continue
        lenient = replace(options, lenient=True, lenient_labels=True)
        kind, reading = open_reading(path, format=format, options=lenient)
        with suppress(AlignkitError), closing(reading):
            for record in kind.parse(reading):
                for raw in record.annotations.values():
                    if raw.judgment == judgment:
                        yield record.id, f"{raw.path or record.path or path}:{record.line}"
