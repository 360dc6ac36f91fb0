"""Read and write files of any format."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from logging import getLogger
from os.path import splitext
from threading import Lock
from typing import TYPE_CHECKING

from alignkit._support.arguments import check_arguments, check_keywords, keywords_of
from alignkit._support.keywords import options_given, takes_options
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_same, together
from alignkit.io.compression import plain_name
from alignkit.io.detection import find_format
from alignkit.io.format import AnyPath, Format, losses, prepare
from alignkit.io.formats import WRITTEN, get_format
from alignkit.io.hints import hinted, suspicions
from alignkit.io.options import ReadKeywords, ReadOptions
from alignkit.io.records import Reading
from alignkit.io.text_files import Finding
from alignkit.io.write_options import WriteKeywords, WriteOptions
from alignkit.io.writing import Writing
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LOGGER = getLogger("alignkit")
_NEW_OBJECTS = 200_000  # after which the garbage collector runs while a corpus is read


class _SeldomCollecting:
    """Run the garbage collector rarely: it finds nothing among millions of words."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._readers = 0
        self._before: tuple[int, int, int] | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._readers += 1
            if self._before is None and gc.get_threshold()[0]:  # else it never collects
                self._before = gc.get_threshold()
                gc.set_threshold(max(self._before[0], _NEW_OBJECTS), *self._before[1:])

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers and self._before is not None:
                gc.set_threshold(*self._before)
                self._before = None


_seldom_collecting = _SeldomCollecting()


def open_reading(
    path: AnyPath,
    *,
    format: str | None = None,
    options: ReadOptions | None = None,
    observe: Callable[[Finding], None] | None = None,
) -> tuple[Format, Reading]:
    """Prepare to read a file: return its format, and a reading for counts and findings.

    Parameters
    ----------
    path : The file or folder; ``-`` is standard input.
    format : A name of `FORMATS`; None: detect it, see `find_format`.
    options : Facts that the file does not state; None: none.
    observe : Called with a `Finding` for each problem that reading tolerates.

    Raises
    ------
    UnknownFormatError : If the format is to be detected and none fits, or several do.
    UnknownNameError : If there is no format with that name.
    OptionError : If an option does not apply to the format.

    Examples
    --------
    >>> chosen, reading = open_reading("samples/paraphrases.jsonl")
    >>> pairs = list(read_pairs(chosen, reading))
    >>> len(pairs), reading.read, reading.refused
    (64, 64, 0)
    """
    check_arguments(open_reading, locals())
    options = options or ReadOptions()
    if format is None:
        format = find_format(path, encoding=options.encoding, base=options.base)
        _LOGGER.info("%s: read as %s", path, format)
        for suspicion in suspicions(str(path), format, options):
            _LOGGER.warning("%s: %s", path, suspicion)
    return prepare(path, format, options, observe)


def read_pairs(chosen: Format, reading: Reading) -> Generator[SentencePair, None, None]:
    """Yield the sentence pairs of a reading; a `FormatError` suggests another format if it fits.

    Parameters
    ----------
    chosen, reading : The format and the reading that `open_reading` returned.

    Raises
    ------
    FormatError : If the file does not follow its format; the message gives file and line.

    Examples
    --------
    >>> first = next(read_pairs(*open_reading("samples/paraphrases.jsonl")))
    >>> first.id, first.source[:3]
    ('p01', ('A', 'fire', 'broke'))
    """
    check_arguments(read_pairs, locals())
    if chosen.pairs:
        pairs = chosen.pairs(reading)
    else:
        pairs = reading.pairs(chosen.parse(reading))
    return hinted(pairs, reading)


@takes_options(ReadOptions)
def iterate_pairs(
    path: AnyPath, *, format: str | None = None, **options: Unpack[ReadKeywords]
) -> Iterator[SentencePair]:
    """Yield the sentence pairs of a file one by one, in constant memory.

    Parameters
    ----------
    path : The file or folder; ``-`` is standard input.
    format : A name of `FORMATS`; None: detect it, see `find_format`.
    **options : Facts that the file does not state: the fields of `ReadOptions`. Base and direction
        are never guessed.

    Raises
    ------
    FormatError : If the file does not follow its format; the message gives file and line. A
        `FileError` (also an `OSError`) if it cannot be read. An `UnknownFormatError` if the format
        is to be detected and none fits, or several do.

    Examples
    --------
    >>> pairs = iterate_pairs("samples/paraphrases.jsonl")
    >>> pair = next(pairs)
    >>> pair.id, list(pair.annotations)
    ('p01', ['eflomal', 'anna', 'ben', 'gold'])
    """
    check_arguments(iterate_pairs, locals())
    declared = options_given(ReadOptions, iterate_pairs, options)
    return read_pairs(*open_reading(path, format=format, options=declared))


@takes_options(ReadOptions)
def read_corpus(
    path: AnyPath, *, format: str | None = None, **options: Unpack[ReadKeywords]
) -> Corpus:
    """Read a whole file; see `iterate_pairs`.

    Parameters
    ----------
    path : The file or folder; ``-`` is standard input.
    format : A name of `FORMATS`; None: detect it, see `find_format`.
    **options : Facts that the file does not state: the fields of `ReadOptions`.

    Raises
    ------
    FormatError, FileError, UnknownFormatError : As in `iterate_pairs`.

    Examples
    --------
    >>> corpus = read_corpus("samples/paraphrases.jsonl")
    >>> len(corpus), corpus["p01"].target[:3]
    (64, ('At', 'least', 'forty'))
    """
    check_arguments(read_corpus, locals())
    check_keywords(read_corpus, options, keywords_of(ReadOptions))
    with _seldom_collecting:
        return Corpus(iterate_pairs(path, format=format, **options))


ENDINGS = {
    ".jsonl": "alignkit-jsonl",
    "-": "alignkit-jsonl",
    ".xml": "alignkit-xml",
    ".align": "pharaoh",
}
"""The default format for writing, by file extension; - is standard output."""


def format_of_name(path: AnyPath, default: str | None = None) -> str:
    """Return the format for a file extension, compressed or not; None raises an error."""
    name = plain_name(str(path))
    format = ENDINGS.get(splitext(name)[1] or name, default)
    if format is not None:
        return format
    known = ", ".join(f"{format} for {ending}" for ending, format in ENDINGS.items())
    raise OptionError(f"{path}: the file extension is not known; give a format or use {known}")


@takes_options(WriteOptions)
def write_corpus(
    pairs: Iterable[SentencePair],
    path: AnyPath,
    *,
    format: str | None = None,
    **options: Unpack[WriteKeywords],
) -> Counter[str]:
    """Write sentence pairs; the output is put in place when it is complete.

    Parameters
    ----------
    pairs : A `Corpus` or any sentence pairs.
    path : The file or folder; ``-`` is standard output.
    format : A name of `FORMATS`; None: use the file extension, see `ENDINGS`.
    **options : How to write: the fields of `WriteOptions`.

    Returns
    -------
    Counter
        The number of pairs with data that the format cannot represent, by kind (an attribute is
        a kind of its own, such as ``"attribute genre"``); empty if nothing was lost.

    Raises
    ------
    OptionError : If the format is not known from the name, or needs an option, such as `annotator`.
    WriteError : If the file cannot be written; then none is changed.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["he left", "rain"], ["he went", "rain"], gold=["0-0", "0-0"])
    >>> lost = write_corpus(corpus, "-", format="pharaoh")
    0-0
    0-0
    >>> dict(lost)
    {}
    """
    check_arguments(write_corpus, locals())
    format = format_of_name(path) if format is None else format
    chosen = get_format(format)
    declared = options_given(WriteOptions, write_corpus, options)
    if (declared.source or declared.target) and not chosen.text_beside:
        raise OptionError(f"format {format} contains the words: give no files for them")
    if chosen.by_id and (declared.base is not None or declared.transpose):
        raise OptionError(f"format {format} names words by ids: leave out `base` and `transpose`")
    refuse_same([str(path), *filter(None, (declared.source, declared.target))])
    writing = Writing(str(path), declared, base=chosen.base)
    if chosen.write is None:
        raise OptionError(
            f"format {format} is read-only; write one of {', '.join(WRITTEN)}; "
            "alignkit-jsonl and alignkit-xml lose nothing"
        )
    holds = chosen.holds | {kind for kind in chosen.asked if getattr(declared, kind)}

    def counted() -> Iterator[SentencePair]:
        for pair in pairs:
            kept = pair
            if declared.annotator is not None and "annotators" not in chosen.holds:
                others = set(pair.annotations) - {declared.annotator}
                kept = pair.without_annotations(*others)
            writing.lost.update(losses(kept, holds))
            writing.written += 1
            yield kept

    writing.pairs = counted()
    with together():
        chosen.write(writing)
    return writing.lost
