"""Detection of a file's format by its beginning.

Each format says how much a file looks like it (`Format.sniff`). Only formats that a file with these
first characters can have are asked, until one is sure. If none is, the only likely one is taken,
and its parser says what is wrong; if there is none either, parsers try the first hundred records.

A folder has a format that reads it, unless it contains corpus files, at any depth, that the format
would skip.
"""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from io import BufferedReader
from itertools import islice
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import NamedTuple, cast

from alignkit._support.arguments import check_arguments
from alignkit.errors import FormatError, OptionError, UnknownFormatError
from alignkit.io.format import check_path, prepare
from alignkit.io.formats import FORMATS, formats_by_beginning, formats_of_folders, get_format
from alignkit.io.opening import open_input
from alignkit.io.options import ReadOptions
from alignkit.io.records import Reading
from alignkit.io.sniffing import FIRST, Head, Likeness, read_head
from alignkit.io.tagged_words import sides_as_options, two_sides
from alignkit.io.text_files import line_encoding
from alignkit.model.texts import BOM_BYTES

_BEGINNING = 4096  # characters of which the first says what a file can be
_FILES_TRIED = 30  # files of a folder that are looked at
_FILES_WALKED = 20_000  # files of which those are chosen
_DIGITS = re.compile("[0-9]+")
_LETTERS = re.compile(r"[^\W\d_]{2}")

_AS_JSON_LINES = (
    "; its annotations are no links of words: write each pair as a line "
    '{"src_words": [...], "tgt_words": [...], "alignment": [[i, j], ...]}'
)


class _Unread(NamedTuple):
    """A kind of file that alignkit recognizes, but does not read."""

    name: str
    # matches from the beginning of the file on: first a lookahead for its first character, so that
    # others are not searched; [^\0] is any character, also the end of a line
    sign: re.Pattern[str]
    advice: str = ""  # what its users can do


_UNREAD = (
    _Unread(
        "USFM without alignments (\\zaln-s)",
        re.compile(r"\\id\s"),
        "; if it is the original text of an aligned translation, give it as `source`",
    ),
    _Unread("XLIFF, a format of translated texts", re.compile(r"(?=<)[^\0]{,4096}?<xliff[\s>]")),
    _Unread(
        "CzEnAli's XML (.wa)",
        re.compile(r"(?=<)(?=[^\0]*?<s id=)[^\0]*?<(sure|possible|phrasal)[\s/>]"),
    ),
    _Unread("Parquet, a format of tables", re.compile("PAR1")),
    _Unread(
        "PROIEL XML, a treebank",
        re.compile(r"(?=<)[^\0]{,4096}?<proiel[\s>]"),
        "; its links are the alignment-id of tokens: write a line of i-j links for each pair, "
        "and the words as CoNLL-U or as lines",
    ),
    _Unread(
        "Alibi XML",
        re.compile(r"(?=<)(?i:[^\0]{,4096}?\balibi)"),
        "; the same corpus has its links as lines (ali_w2w_*.txt): read these with the sentences "
        "(*_sents.txt) as `source` and `target`",
    ),
    _Unread(
        "WebAnno TSV, which INCEpTION writes too",
        re.compile(r"#\s*FORMAT\s*=\s*WebAnno|# webanno\.custom\."),
        _AS_JSON_LINES,
    ),
    _Unread(
        "an export of Label Studio",
        re.compile(r'(?=[\[{])[^\0]*?"(?:from_name|completed_by|lead_time)"\s*:'),
        _AS_JSON_LINES,
    ),
    _Unread(
        "an export of doccano",
        re.compile(
            r'(?=[\[{])(?![^\0]*?"(?:source|src_words)"\s*:)(?=[^\0]*?"text"\s*:)'
            r'[^\0]*?"(?:labels?|entities|cats)"\s*:\s*[\[{]'
        ),
        _AS_JSON_LINES,
    ),
)


class Detection(NamedTuple):
    """The format of an input, and how much the input looks like it."""

    format: str
    likeness: Likeness


def find_format(
    path: str | PathLike[str], *, encoding: str = "utf-8", base: int | None = None
) -> str:
    """Return the name of the one format that fits a file.

    Parameters
    ----------
    path : The file or folder; ``-`` is standard input, which can be read afterwards.
    encoding, base : What is known about the file; see `ReadOptions`. Neither is guessed.

    Raises
    ------
    UnknownFormatError : If no format fits, or several do: `fitting` lists them.
    FileError : If the file cannot be read.

    Examples
    --------
    >>> find_format("samples/paraphrases.jsonl")
    'alignkit-jsonl'
    """
    check_arguments(find_format, locals())
    check_path(path)
    return detect(str(path), ReadOptions(encoding=encoding, base=base)).format


def fitting_formats(path: str | PathLike[str], *, encoding: str = "utf-8") -> list[str]:
    """Return the names of the formats that fit a file; empty if it cannot be read."""
    try:
        return [find_format(path, encoding=encoding)]
    except UnknownFormatError as error:
        return error.fitting
    except (FormatError, OptionError):
        return []


def detect(path: str, options: ReadOptions) -> Detection:
    """Return the format of an input; see `find_format`."""
    head = read_head(path, options)
    if head.raw is not None and not head.raw.replace(BOM_BYTES, b""):
        return Detection("pharaoh", Likeness.LIKELY)  # with no lines, a file of no pairs
    likenesses = _likenesses(head)
    best = max(likenesses.values(), default=Likeness.NO)
    names = [name for name, likeness in likenesses.items() if likeness is best]
    if best is Likeness.SURE:
        (name,) = names  # no format is asked after one that is sure
        _refuse_others(head, name)
        return Detection(name, best)
    unread = _unread(head)
    if unread:
        raise UnknownFormatError(unread, path)
    complaints = dict[str, str]()
    if best is Likeness.MAYBE:
        complaints = {name: _complaint(name, head, options) for name in names}
        names = [name for name, complaint in complaints.items() if not complaint]
    if best is Likeness.NO or not names:
        raise _unknown(head, complaints, options)
    if len(names) > 1:
        message = f"fits several formats: {_listed(names)}; use {_declared(names)}"
        raise UnknownFormatError(message, path, names)
    return Detection(names[0], best)


def _likenesses(head: Head) -> dict[str, Likeness]:
    """Ask the formats how much an input looks like them, until one is sure."""
    likenesses = dict[str, Likeness]()
    if head.is_file:
        names = formats_by_beginning(head.text[:_BEGINNING])
    else:
        names = iter(formats_of_folders())
    for name in names:
        likenesses[name] = get_format(name).sniff(head)
        if likenesses[name] is Likeness.SURE:
            break
    return likenesses


def _unread(head: Head) -> str:
    """Say what the file is, if alignkit recognizes it but does not read it; "" for others."""
    for unread in _UNREAD:
        if unread.sign.match(head.text):
            return f"is {unread.name}, which alignkit does not read{unread.advice}"
    if head.raw and _looks_like_utf16(head.raw, head.encoding):
        return "seems to be UTF-16; declare it with `encoding`, such as utf-16-le"
    return ""


def _looks_like_utf16(raw: bytes, encoding: str) -> bool:
    """Return whether bytes look like UTF-16, unless that is their declared encoding.

    In UTF-16, every second byte is the high one of a character, which is below 32 for letters of
    most alphabets; in other encodings only control characters are. Files with other letters too are
    recognized by their ends of lines, if the declared encoding is one that takes any bytes.
    """
    _, is_recoded = line_encoding(encoding)
    if is_recoded:
        return False
    for first in (0, 1):
        letters = raw[first::2].translate(None, b"\t\n\r")
        if letters and max(letters) < 32:
            return True
    return encoding == "latin-1" and (b"\n\0" in raw or b"\0\n" in raw)


class _Beginning(Reading):
    """A reading of only the beginning of an input."""

    def __init__(self, head: Head, options: ReadOptions, base: int) -> None:
        super().__init__(head.path, options, base=base)
        self._raw = head.raw
        self.is_cut = head.more

    @contextmanager
    def open(self, path: str | None = None) -> Iterator[BufferedReader]:
        """Open the beginning of the input itself; open other files as usual."""
        if path not in (None, self.path) or self._raw is None:
            with super().open(path) as stream:
                yield stream
        else:
            yield cast("BufferedReader", io.BytesIO(self._raw))


def _complaint(name: str, head: Head, options: ReadOptions) -> str:
    """Return what the parser of a format refuses in the first records; empty if it reads them."""
    kind = get_format(name)
    # the texts may be those of more pairs, and other ones: both say nothing about the format
    declared = replace(options, drop_out_of_range=True, partial=True, encoding=head.encoding)
    reading = _Beginning(head, declared, kind.base)
    try:
        with closing(reading.pairs(kind.parse(reading))) as pairs:
            for _ in islice(pairs, FIRST):
                pass
    except FormatError as error:
        line = "" if error.line is None else f"line {error.line}: "
        return f"{line}{error.message}"
    except OptionError as error:
        return str(error)
    return "" if reading.read else "it has no sentence pairs"


def _refuse_others(head: Head, name: str) -> None:
    """Reject a folder if its format would skip corpus files in it."""
    if head.folder is None:
        return
    chosen, reading = prepare(head.path, name, ReadOptions())
    known = set(chosen.members(reading)) if chosen.members else set()
    others = _example_of_each_format(head.path, known)
    if others:
        names = _listed([name, *_examples(head.path, others)])
        advice = f"give one of them, or use {_declared([name])}"
        fitting = list(dict.fromkeys((name, *others)))
        raise UnknownFormatError(f"contains files of {names}; {advice}", head.path, fitting)


def _example_of_each_format(folder: str, known: Collection[Path] = ()) -> dict[str, str]:
    """Return the formats of files in a folder and its subfolders, each with one example.

    A few files are tried: the first of each kind (subfolder and ending), then the second of each.
    """
    seen: Counter[tuple[str, str]] = Counter()
    ranked: list[tuple[int, str]] = []
    others = (path for path in _walk(folder) if Path(path) not in known)
    for path in islice(others, _FILES_WALKED):
        kind = os.path.dirname(path), _DIGITS.sub("", Path(path).suffix)
        ranked.append((seen[kind], path))
        seen[kind] += 1
    ranked.sort(key=itemgetter(0))
    examples: dict[str, str] = {}
    for _, path in ranked[:_FILES_TRIED]:
        if os.path.getsize(path):
            for name in fitting_formats(path):
                examples.setdefault(name, path)
    return examples


def _walk(folder: str) -> Iterator[str]:
    """Yield the files of a folder, then those of its subfolders; skip hidden ones."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = os.path.join(here, name)
            if not name.startswith(".") and os.path.isfile(path):
                yield path


def _examples(folder: str, examples: dict[str, str]) -> list[str]:
    return [f"{name} ({os.path.relpath(path, folder)})" for name, path in examples.items()]


def _words_beside(examples: dict[str, str]) -> str:
    """Return how the links of a folder are read with the words of its two CoNLL-U files."""
    if "conllu" not in examples:
        return ""
    files = sorted(Path(examples["conllu"]).parent.glob("*.conllu*"))
    sides = two_sides(map(str, files))
    if sides is None:
        return ""
    links = next((path for name, path in examples.items() if name != "conllu"), "LINKS")
    return f"; for links with their words: {links} {sides_as_options(sides)}"


def _unknown(head: Head, complaints: Mapping[str, str], options: ReadOptions) -> FormatError:
    """Return the error of an input that no format fits."""
    if head.folder is not None:
        examples = _example_of_each_format(head.path)
        if examples:
            names = _listed(_examples(head.path, examples))
            message = f"contains files of {names}; give one of them{_words_beside(examples)}"
            return UnknownFormatError(message, head.path)
    elif head.is_file:
        for _ in _Beginning(head, options, 0).lines():
            pass  # raises the error of a file that is no text
    else:
        with open_input(head.path):
            pass  # raises the error of a file that is missing
    return UnknownFormatError(_cause(head, complaints), head.path)


def _cause(head: Head, complaints: Mapping[str, str]) -> str:
    """Explain why no format fits."""
    names = f"give its format by `format`: {', '.join(FORMATS)}"
    if not head.is_file:
        return f"no format fits this folder; {names}"
    none = "no format fits this file's first records"
    line = head.text.partition("\n")[0]
    if complaints:
        name, complaint = next(iter(complaints.items()))
        return f"{none}; it looks like {name}, but {complaint}"
    if line[:1] in ("<", "[", "{"):
        return f"{none}; {names}"
    if " ||| " in line:
        return f"{none}: it is text, 'source ||| target'; give it by `source`, with a file of links"
    if _LETTERS.search(line):
        return f"{none}: it is text without links; give it by `source` or `target`"
    return f"{none}; {names}"


def _listed(names: Sequence[str]) -> str:
    """Return names as text: a, b and c."""
    *others, last = names
    if not others:
        return last
    return f"{', '.join(others)} and {last}"


def _declared(names: Sequence[str]) -> str:
    return " or ".join(f'`format="{name}"`' for name in names)
