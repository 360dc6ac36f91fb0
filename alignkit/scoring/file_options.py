"""Options for reading two files: shared ones, and those of one side alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

from alignkit.arguments import check_attributes
from alignkit.errors import OptionError, UnknownNameError
from alignkit.formats import ReadOptions, get_format


class ReadingOptions(TypedDict, total=False):
    """Name what `score` takes of two files beside its own options."""

    format: str | None
    base: int | None
    transpose: bool
    source: Any
    target: Any
    encoding: str
    drop_out_of_range: bool
    partial: bool
    unescape: bool
    name: str | None
    lenient: bool
    max_size: int
    max_words: int
    hyp_format: str | None
    hyp_base: int | None
    hyp_transpose: bool | None
    hyp_annotator: str | None
    ref_format: str | None
    ref_base: int | None
    ref_transpose: bool | None
    ref_annotator: str | None
    in_order: bool


@dataclass(frozen=True)
class FileOptions:
    """Declare what two files do not say of themselves."""

    reading: ReadOptions  # what holds for both: the fields of ReadOptions
    format: str | None = None  # the format of both; None finds it
    hyp_format: str | None = None  # what holds for one of the two alone; None: as said for both
    hyp_base: int | None = None
    hyp_transpose: bool | None = None
    hyp_annotator: str | None = None
    ref_format: str | None = None
    ref_base: int | None = None
    ref_transpose: bool | None = None
    ref_annotator: str | None = None
    in_order: bool = False  # the n-th pairs of both belong together, whatever their ids

    def __post_init__(self) -> None:
        check_attributes(self)
        for name in (self.format, self.hyp_format, self.ref_format):
            if name is not None:
                get_format(name)  # refuses what is none
        for side in ("hyp", "ref"):
            self.of(side)  # refuses a wrong base

    @classmethod
    def of_words(cls, given: Mapping[str, Any]) -> FileOptions:
        """Make the options of what was given by name."""
        known = [field.name for field in fields(ReadOptions)]
        mine = [field.name for field in fields(cls)[1:]]
        for name in given:
            if name not in (*known, *mine):
                raise UnknownNameError("option of two files:", name, [*mine, *known])
        reading = {name: value for name, value in given.items() if name in known}
        return cls(ReadOptions(**reading), **{k: v for k, v in given.items() if k in mine})

    def of(self, side: str) -> tuple[str | None, ReadOptions]:
        """Return the format, if it is known, and the options of ``"hyp"`` or of ``"ref"``."""
        format, base, transpose = (
            getattr(self, f"{side}_{name}") for name in ("format", "base", "transpose")
        )
        own = {"base": base, "transpose": transpose}
        changed = {name: value for name, value in own.items() if value is not None}
        return self.format if format is None else format, replace(self.reading, **changed)

    def settled(
        self, paths: Sequence[str], find: Callable[[str, str | None, ReadOptions], str]
    ) -> list[tuple[str, ReadOptions]]:
        """Return the format and the options of each file: of both, or of one that holds both."""
        declared = [self.of(side) for side in ("hyp", "ref")[: len(paths)]]
        formats = [find(path, *one) for path, one in zip(paths, declared, strict=True)]
        readings = _texts_for(paths, formats, [reading for _, reading in declared])
        return list(zip(formats, readings, strict=True))


def _texts_for(
    paths: Sequence[str], formats: Sequence[str], options: Sequence[ReadOptions]
) -> list[ReadOptions]:
    bare = [get_format(format).text_beside for format in formats]
    if not any(bare) and any(one.source or one.target for one in options):
        raise OptionError(
            f"{' and '.join(paths)} hold their own words: leave out `source` and `target`"
        )
    return [
        one if without else replace(one, source=None, target=None)
        for one, without in zip(options, bare, strict=True)
    ]
