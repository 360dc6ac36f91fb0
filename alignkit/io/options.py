"""Options of reading and writing a file."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath

from alignkit._support.arguments import check_attributes
from alignkit.io.opening import MAX_MEGABYTES, MAX_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What a file does not say of itself; nothing is guessed.

    Parameters
    ----------
    base
        The number of the first word, 0 or 1; None takes the format's own custom.
    transpose
        The links are written target first.
    source, target
        Files with the words, if the format holds links only; see `alignkit.io.parallel_text`.
        `source` alone names a bitext of ``source ||| target`` lines.
    encoding
        The encoding of all files read.
    drop_out_of_range
        Drop and count links beyond the sentence; otherwise they are an error.
    partial
        There may be fewer alignments than texts: the rest is not annotated.
    unescape
        Turn entities such as ``&quot;`` in words into the characters they stand for.
    name
        The annotator, for formats that name none; None: the format's custom, mostly ``alignment``.
    lenient
        Leave out and count broken records; control characters become U+FFFD. Otherwise both are
        errors.
    max_size
        The most megabytes held as one piece: a line, an XML element, a whole file of JSON or
        UTF-16. A packed file that swells more than a hundredfold is refused from a sixteenth of it.
    max_words
        The most words of a sentence.
    lenient_labels
        Keep and count judgments that are not of a format's scheme; otherwise they are an error.
    unquote
        Take off the quotation marks around a text, and halve doubled ones within it (turku).
    no_text
        Without texts, take the words that the annotations quote; the others are ``_`` (etpc).
    """

    base: int | None = None
    transpose: bool = False
    source: str | None = None
    target: str | None = None
    encoding: str = "utf-8"
    drop_out_of_range: bool = False
    partial: bool = False
    unescape: bool = False
    name: str | None = None
    lenient: bool = False
    max_size: int = MAX_MEGABYTES
    max_words: int = MAX_WORDS
    lenient_labels: bool = False
    unquote: bool = False
    no_text: bool = False

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How a file is to be written.

    Parameters
    ----------
    base
        The number of the first word, 0 or 1; None takes the format's own custom.
    transpose
        Write the links target first.
    source, target
        Files to write the words to, where the format holds links only.
    ids
        Write the ids of the pairs too, in formats that can do without (pharaoh).
    weights
        Write the weights of the links too, in formats that can do without (pharaoh).
    annotator
        Whose alignments to write, where the format holds those of one; needed when there are more.
    """

    base: int | None = None
    transpose: bool = False
    source: str | None = None
    target: str | None = None
    ids: bool = False
    weights: bool = False
    annotator: str | None = None

    def __post_init__(self) -> None:
        _check(self)


def _check(options: ReadOptions | WriteOptions) -> None:
    for name in ("source", "target"):
        path = getattr(options, name)
        if isinstance(path, PathLike):
            object.__setattr__(options, name, fspath(path))
    check_attributes(options)
