"""Options of writing a file; functions and docs are generated from them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TypedDict

from alignkit.io.options import check_file_options


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How to write a file.

    `write_corpus` takes the fields as keywords.

    Parameters
    ----------
    base : number of the first word (default: the format's custom)
    transpose : write the links target first
    source : file for the source words, if the format holds links only
    target : file for the target words, likewise
    ids : write ids too, in formats that can do without (pharaoh, one-line)
    weights : write weights too, in formats that can do without (pharaoh, one-line)
    annotator : annotator to write, if the format allows only one; required if there are several

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.Corpus.from_texts(["he left"], ["he went"], gold=["0-0 1-1"])
    >>> lost = alignkit.write_corpus(corpus, "-", format="pharaoh", base=1, transpose=True)
    1-1 2-2
    """

    base: int | None = None
    transpose: bool = False
    source: str | None = None
    target: str | None = None
    ids: bool = False
    weights: bool = False
    annotator: str | None = None

    def __post_init__(self) -> None:
        check_file_options(self, "source", "target")


class WriteKeywords(TypedDict, total=False):
    """The options of `WriteOptions`."""

    base: int | None
    transpose: bool
    source: str | PathLike[str] | None
    target: str | PathLike[str] | None
    ids: bool
    weights: bool
    annotator: str | None
