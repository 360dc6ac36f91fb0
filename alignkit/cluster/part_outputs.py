"""The outputs of the parts of a corpus: links and scores, or a single file for all parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from alignkit.align.settings import Symmetrization
from alignkit.cluster.parts import Part, is_pattern, named
from alignkit.cluster.run import state_of
from alignkit.errors import OptionError
from alignkit.io import atomic_files
from alignkit.io.atomic_files import WriteError, identity


def one_file(path: str) -> str:
    """Return the path of an output that is a single file for all parts."""
    if is_pattern(path):
        raise OptionError(f"{path}: is one file for all parts; give a name without *")
    return path


def refuse_replacing(outputs: Sequence[str], parts: Sequence[Part]) -> None:
    """Reject outputs that cannot be written, are the same file, or are also read."""
    atomic_files.refuse_same(outputs)
    atomic_files.refuse_unwritable(outputs)
    read: dict[Any, str] = {}
    for part in parts:
        read |= {identity(path): path for path in part.paths}
    for output in outputs:
        path = read.get(identity(output))
        if path is not None and output != "-":
            raise OptionError(
                f"{output} would be replaced, but is also read ({path}); give another file "
                "for the output; nothing was changed"
            )


@dataclass(frozen=True)
class LinkOutput:
    """The links to write; see `Aligner.align_bitext`."""

    symmetrize: Symmetrization = "posterior"
    threshold: float | None = None
    sure: float | None = None
    probabilities: bool = False


@dataclass(frozen=True)
class PartOutputs:
    """The outputs of each part: links, and scores."""

    links: str | None = None
    scores: str | None = None
    how: LinkOutput = LinkOutput()  # which links

    @property
    def some(self) -> bool:
        """Whether there is any output."""
        return self.links is not None or self.scores is not None

    def called(self, name: Callable[[str], str]) -> PartOutputs:
        """Return the outputs with `name` applied to their paths."""
        links = self.links and name(self.links)
        scores = self.scores and name(self.scores)
        return replace(self, links=links, scores=scores)

    def files(self, parts: Sequence[Part]) -> list[tuple[str | None, str | None]]:
        """Return the paths for links and scores of each part."""
        files = []
        for part in parts:
            links = self.links and named(self.links, part.name)
            scores = self.scores and named(self.scores, part.name)
            files.append((links, scores))
        return files

    def paths(self, parts: Sequence[Part]) -> list[str]:
        """Return the paths of all outputs."""
        return [path for path in chain.from_iterable(self.files(parts)) if path is not None]

    def check(self, parts: Sequence[Part], save: str | None, *read: str) -> None:
        """Reject files that cannot be written, or that would be overwritten."""
        paths = self.paths(parts)
        if save is not None:
            paths.append(one_file(save))
        refuse_replacing(paths, [*parts, Part("", read)])

    @contextmanager
    def naming_written(self, parts: Sequence[Part]) -> Iterator[None]:
        """Add the outputs that were already written to a writing error."""
        before = {path: _state(path) for path in self.paths(parts)}
        try:
            yield
        except WriteError as problem:
            paths = [path for path, state in before.items() if _state(path) != state]
            if not paths:
                raise
            more = ""
            if len(paths) > 3:
                more = f" and {len(paths) - 3:,} more"
            text = f"{problem}; already written: {', '.join(paths[:3])}{more}"
            raise WriteError(text) from None


def _state(path: str) -> tuple[int, int] | None:
    """Return the state of a file; None if there is none."""
    if not os.path.isfile(path):
        return None
    return state_of(path)
