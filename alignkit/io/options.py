"""Options of reading and writing a file; functions, commands and docs are generated from them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from os import PathLike, fspath
from typing import Any, TypeVar

from alignkit._support.arguments import check_attributes
from alignkit.errors import OptionError
from alignkit.io.opening import MAX_MEGABYTES, MAX_WORDS

T = TypeVar("T")


def _option(default: Any, help: str, **argument: Any) -> Any:
    """Return a field with its help and, if needed, its `metavar` and `choices`."""
    return field(default=default, metadata={"help": help, **argument})


def _documented(kind: type[T]) -> type[T]:
    """Add the fields to the docstring of their class."""
    lines = [f"{each.name}\n    {each.metadata['help']}" for each in fields(kind)]  # type: ignore[arg-type]
    kind.__doc__ = "\n".join((f"{kind.__doc__}\n\nParameters\n----------", *lines))
    return kind


@_documented
@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Facts that a file does not state about itself; nothing is guessed."""

    base: int | None = _option(
        None,
        "number of the first word (default: as the format has it, 0 for pharaoh, 1 for naacl)",
        choices=(0, 1),
    )
    transpose: bool = _option(False, "links are written target first")
    source: str | None = _option(
        None,
        "source sentences, if the format has no words (as pharaoh); alone: source ||| target",
        metavar="FILE",
    )
    target: str | None = _option(
        None, "target sentences, if the format has no words (as pharaoh)", metavar="FILE"
    )
    languages: tuple[str, str] | None = _option(
        None,
        "languages of source and target, if the file has several (default: its first two)",
        nargs=2,
        metavar=("A", "B"),
    )
    encoding: str = _option("utf-8", "encoding of all input (default: utf-8)", metavar="E")
    drop_out_of_range: bool = _option(
        False, "drop and count links outside their sentence (default: an error)"
    )
    partial: bool = _option(
        False,
        "accept files with fewer pairs or alignments than others; the rest is not annotated there "
        "(default: an error)",
    )
    unescape: bool = _option(
        False, "turn &quot; and similar escapes into characters (default: keep them)"
    )
    name: str | None = _option(
        None,
        "name of the annotator, for formats without names (default: alignment)",
        metavar="NAME",
    )
    lenient: bool = _option(
        False,
        "leave out and count broken records; control characters become U+FFFD (default: both are "
        "errors)",
    )
    lenient_labels: bool = _option(
        False, "keep and count labels that are not in the scheme (default: an error)"
    )
    unquote: bool = _option(
        False, "remove quotation marks around whole texts (turku; default: keep them)"
    )
    no_text: bool = _option(
        False,
        "if there are no texts, take the words that annotations quote, and '_' for others (etpc; "
        "default: no words)",
    )
    max_size: int = _option(
        MAX_MEGABYTES,
        "refuse longer lines, larger XML elements, and larger files that must be read as a whole "
        f"(default: {MAX_MEGABYTES})",
        metavar="MB",
    )
    max_words: int = _option(
        MAX_WORDS, f"refuse longer sentences (default: {MAX_WORDS})", metavar="N"
    )

    def __post_init__(self) -> None:
        _check(self)


@_documented
@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How to write a file."""

    base: int | None = _option(None, "number of the first word (default: the format's custom)")
    transpose: bool = _option(False, "write the links target first")
    source: str | None = _option(None, "file for the source words, if the format holds links only")
    target: str | None = _option(None, "file for the target words, likewise")
    ids: bool = _option(False, "write ids too, in formats that can do without (pharaoh)")
    weights: bool = _option(False, "write weights too, in formats that can do without (pharaoh)")
    annotator: str | None = _option(
        None, "annotator to write, if the format allows only one; required if there are several"
    )

    def __post_init__(self) -> None:
        _check(self)


def _check(options: ReadOptions | WriteOptions) -> None:
    for name in ("source", "target"):
        path = getattr(options, name)
        if isinstance(path, PathLike):
            object.__setattr__(options, name, fspath(path))
    check_attributes(options)
    languages = getattr(options, "languages", None)
    if languages is not None:
        if len(languages) != 2:
            raise OptionError(f"`languages` must name two languages, not {len(languages)}")
        object.__setattr__(options, "languages", tuple(languages))
