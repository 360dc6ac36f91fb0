"""Detection of a file's format by its first records, and hints when a declared format is wrong.

alignkit's own formats have a mark, and so have those of `_SIGNS`. All other formats try the first
hundred records: a format fits if it reads all of them, with any base and direction. Links out of
range do not count, because base and direction are declared, never guessed. Of several formats that
fit, those that find links come before those that find none, and a format that recognizes its own
files (`Format.surely`) before the others. If more than one is left, alignkit does not guess.

If no format fits, alignkit takes the format with the keys or headings of the file, or else the only
one that reads at least as many records as it rejects; reading then reports where it is broken.

A folder has a format that reads it, unless it contains corpus files, at any depth, that the format
would skip.
"""

from __future__ import annotations

import codecs
import io
import os
import re
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from io import BufferedReader
from itertools import islice
from logging import getLogger
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from alignkit._support.arguments import check_arguments
from alignkit.errors import AlignkitError, FileError, FormatError, OptionError, UnknownFormatError
from alignkit.io.format import Format
from alignkit.io.formats import FORMATS, check_path, get_format, prepare
from alignkit.io.opening import bounded_lines, head_of, look_ahead, open_input
from alignkit.io.options import ReadOptions
from alignkit.io.records import Reading
from alignkit.io.tagged_words import IS_TAGGED, sides_as_options, two_sides
from alignkit.io.text_files import line_encoding
from alignkit.model.labels import get_scheme
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.io.base_checks import Shift, Suspicion

T = TypeVar("T")
_LOGGER = getLogger("alignkit")

_RECORDS = 100
_HEAD = 1 << 19  # bytes that hold the first records
_SHOWN = 512  # characters
_FILES_TRIED = 30  # files of a folder that are looked at
_FILES_WALKED = 20_000  # files of which those are chosen
_SPACE = "\ufeff \t\r\n\v\f"
_NUMBER = re.compile("[0-9]+")

_BEGINS = {
    "alignkit-xml": "<",
    "ists": "<",
    "paraphrase-xml": "<",
    "etpc": "<",
    "alignkit-jsonl": "{",
    "edinburgh": "{",
    "jsonl": "{",
    "giza": "#",
    "rte": "#",
    "naacl": "0123456789",
    "blinker": "0123456789",
    "jacana": "[",
}
"""Possible first characters of a file, ignoring whitespace; formats not listed allow any."""

_WITHOUT_PAIRS = {
    "jacana": re.compile(r"\[\s*\]\s*"),
    "edinburgh": re.compile(r'\{\s*"paraphrases"\s*:\s*\[\s*\]\s*\}\s*'),
    "paraphrase-xml": re.compile(r"(<\?[^<>]*\?>)?\s*<corpus\s*(/>|>\s*</corpus\s*>)\s*"),
}
"""Patterns of a corpus without pairs that shows its format."""

_SIGNS = {
    "ugarit-xml": re.compile(r"(?=<)[^\0]*?<aligned-text[\s>]"),
    "tmx": re.compile(r"(?=<)[^\0]{,4096}?<tmx[\s>]"),
    "alpheios": re.compile(r'\{[^\0]*?"alignedText"\s*:\s*\{'),
    "ugarit-json": re.compile(r'\{[^\0]*?"tokens"\s*:\s*\{\s*"l[0-9]"\s*:\s*\['),
    "scripture": re.compile(
        r'\{[^\0]*?("records"\s*:\s*\[\s*(\]|\{\s*"(meta|source|target)")|"format"\s*:\s*'
        r'"(alignment|scripture burrito)")'
    ),
    "pud": re.compile(r'\[\s*(\{\s*\}\s*,\s*)*\{\s*"([0-9]+|X)"\s*:\s*\['),
    "conllu": IS_TAGGED,
}
"""Patterns that the start of a file has in no other format."""

_UNREAD = {
    "USFM with alignments (\\zaln-s)": re.compile(r"(?=\\)[^\0]*\\zaln-s"),
    "XLIFF, a format of translated texts": re.compile(r"(?=<)[^\0]{,4096}?<xliff[\s>]"),
    "CzEnAli's XML (.wa)": re.compile(
        r"(?=<)(?=[^\0]*?<s id=)[^\0]*?<(sure|possible|phrasal)[\s/>]"
    ),
    "Parquet, a format of tables": re.compile("PAR1"),
}
"""What alignkit recognizes, but does not read."""

_BY_STEM = ("yawat", "transread", "conllu")
"""Formats for which the name of several files without their endings will do."""

_KEYS = {
    "alignkit-jsonl": {"source", "target", "attributes", "annotations", "sure"},
    "jacana": {"source", "target", "sureAlign", "possibleAlign"},
    "edinburgh": {"paraphrases", "S", "T", "string"},
    "jsonl": {"src_words", "tgt_words", "alignment"},
    "turku": {"label", "txt1", "txt2"},
}
_HEADINGS = {
    "turku": {"label", "txt1", "txt2"},
    "parade": {"four-class labels", "binary labels", "entity", "definition1", "definition2"},
}
_ELEMENTS = {"etpc": {"relation", "pair_id", "type_name", "s1_scope", "s2_scope"}}
_KEY = re.compile(r'"(\w+)"\s*:')
_ELEMENT = re.compile(r"<(\w+)\s*/?>")

_MARKS = (
    ("[", '"label"', "turku"),
    ("[", '"txt', "turku"),
    ("[", "", "jacana"),
    ("{", '"paraphrases"', "edinburgh"),
    ("{", "", "jsonl"),
    ("<", "<paraphrase", "paraphrase-xml"),
    ("<", "<sentence", "ists"),
    ("#", "# Sentence pair", "giza"),
    ("#", "# sentence pair", "rte"),
)
"""Start of a file, text among its first characters, and the format that it looks like."""

_TRIED = [name for name in FORMATS if name not in _SIGNS]

_LINK = re.compile(r"[0-9]+[^\sA-Za-z]*[-?pP_:,./][^\sA-Za-z]*[0-9]+\S{0,2}")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_LABELS_OF_PARADE = re.compile(r"[0-3]\t[01]")


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
    """
    check_arguments(find_format, locals())
    check_path(path)
    options = ReadOptions(encoding=encoding, base=base)
    sample = _Sample.of(str(path), options)
    if sample.mark is not None:
        return sample.mark
    if sample.unread:
        raise UnknownFormatError(sample.unread, sample.path)
    if sample.empty:
        return "pharaoh"  # a file without lines is one
    trials = [_best_trial(name, sample, options) for name in sample.candidates()]
    fitting = [trial for trial in trials if trial.fits]
    fitting = [trial for trial in fitting if trial.links] or fitting
    sure = [trial for trial in fitting if trial.surely]
    fitting = sure if len(sure) == 1 else fitting
    if len(fitting) == 1:
        _refuse_others(sample.path, fitting[0])
        return fitting[0].name
    if names := [trial.name for trial in fitting]:
        message = f"fits several formats: {_listed(names)}; use {_declared(names)}"
        raise UnknownFormatError(message, sample.path, names)
    if sample.head is None and not os.path.isdir(sample.path):
        without_pairs = [trial for trial in trials if not (trial.pairs or trial.refused)]
        if len(without_pairs) == 1:
            return without_pairs[0].name
    if (name := _likeness(sample)) is not None:
        return name
    broken = [trial for trial in trials if trial.links and len(trial.pairs) >= trial.refused]
    if len(broken) == 1:
        return broken[0].name
    raise _unknown(sample, trials, options)


def fitting_formats(path: str | PathLike[str], *, encoding: str = "utf-8") -> list[str]:
    """Return the names of the formats that fit a file; empty if it cannot be read."""
    try:
        return [find_format(path, encoding=encoding)]
    except UnknownFormatError as error:
        return error.fitting
    except (FormatError, OptionError):
        return []


@dataclass(frozen=True)
class _Sample:
    """The beginning of an input; `head` is None for folders and missing files."""

    path: str
    head: bytes | None
    more: bool  # whether the file goes on
    first: str  # the first characters
    encoding: str

    @classmethod
    def of(cls, path: str, options: ReadOptions) -> _Sample:
        """Sample an input; a pipe or standard input can still be read afterwards."""
        encoding = options.encoding
        if path != "-" and (Path(path).is_dir() or not Path(path).exists()):
            return cls(path, None, False, "", encoding)
        head, more = look_ahead(path, _HEAD, options.max_size, encoding)
        line_encoding(encoding)  # refuses unknown ones
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(head, final=not more)
        except UnicodeError:  # of UTF-16 without its mark, not of decoding
            encoding = "latin-1"  # whatever it is, the format shows
            text = head.decode(encoding)
        if more and "\n" in text:
            text = text[: text.rindex("\n") + 1]
            head = text.encode(encoding, "surrogatepass")
        return cls(path, head, more, text[:4096].lstrip(_SPACE)[:_SHOWN], encoding)

    @property
    def empty(self) -> bool:
        return self.head is not None and not self.head.strip(b"\xef\xbb\xbf")

    @property
    def mark(self) -> str | None:
        """The format of alignkit that marked the file, or of a corpus without pairs."""
        if self.first.startswith('{"alignkit"'):
            return "alignkit-jsonl"
        if self.first.startswith("<") and "urn:alignkit:" in self.first:
            return "alignkit-xml"
        if (name := self._signed(_SIGNS)) is not None:
            return name
        if self.more or len(self.head or "") > _SHOWN:
            return None
        names = (name for name, text in _WITHOUT_PAIRS.items() if text.fullmatch(self.first))
        return next(names, None)

    @property
    def unread(self) -> str:
        """Say what the file is, if alignkit recognizes it but does not read it."""
        name = self._signed(_UNREAD)
        if not name and (head := self.head or b"") and not line_encoding(self.encoding)[1]:
            halves = (head[k::2].translate(None, b"\t\n\r") for k in (0, 1))
            high = any(max(half, default=32) < 32 for half in halves)  # bytes of UTF-16
            broken = self.encoding == "latin-1" and (b"\n\0" in head or b"\0\n" in head)
            if high or broken:
                return "seems to be UTF-16; declare it with `encoding`, such as utf-16-le"
        if name:
            return f"is {name}, which alignkit does not read"
        return ""

    def _signed(self, signs: Mapping[str, re.Pattern[str]]) -> str | None:
        text = (self.head or b"").decode(self.encoding, "replace").lstrip(_SPACE)
        return next((name for name, sign in signs.items() if sign.match(text)), None)

    def candidates(self) -> Iterable[str]:
        """Return the names of the formats to try."""
        if self.head is None:
            return _TRIED if Path(self.path).exists() else _BY_STEM
        return [name for name in _TRIED if self.first[:1] in _BEGINS.get(name, self.first[:1])]


class _Head(Reading):
    """A reading of only the head of an input."""

    def __init__(self, sample: _Sample, options: ReadOptions, base: int) -> None:
        super().__init__(sample.path, options, base=base)
        self._head = sample.head
        self.cut = sample.more
        self.complaint = ""

    @contextmanager
    def open(self, path: str | None = None) -> Iterator[BufferedReader]:
        """Open the head for the input itself; open other files as usual."""
        if path not in (None, self.path) or self._head is None:
            with super().open(path) as stream:
                yield stream
        else:
            yield cast("BufferedReader", io.BytesIO(self._head))

    def complain(self, error: FormatError) -> None:
        """Keep the first error as text: a traceback would keep files open."""
        line = "" if error.line is None else f"line {error.line}: "
        self.complaint = self.complaint or f"{line}{error.message}"

    def refuse(self, error: FormatError) -> None:
        """Count a broken record; too many mean that this is not the format."""
        super().refuse(error)
        self.complain(error)
        if self.refused > _RECORDS:
            raise error


@dataclass
class _Trial:
    """The pairs that one format reads from the first records of an input."""

    name: str
    kind: Format
    reading: _Head
    pairs: list[SentencePair] = field(default_factory=list)
    failed: bool = False

    @property
    def refused(self) -> int:
        return self.reading.refused + self.failed

    @property
    def links(self) -> bool:
        """Whether there is a link, a null or a labelled cell, even one out of range."""
        alignments = (a for pair in self.pairs for a in pair.alignments.values())
        dropped = self.reading.counts["link out of range"]
        return bool(dropped) or any(len(a) or a.nulls or a.labels for a in alignments)

    @property
    def fits(self) -> bool:
        return bool(self.pairs) and not self.refused and self.surely is not False

    @property
    def surely(self) -> bool | None:
        if self.kind.surely is None:
            return None
        return self.kind.surely(self.reading, self.pairs)


def _best_trial(name: str, sample: _Sample, options: ReadOptions) -> _Trial:
    """Try a format with the declared base, or with each base."""
    trial = _trial(name, sample, options)
    if trial.failed and name in _BY_STEM:  # its other files may be encoded otherwise
        trial = _trial(name, replace(sample, encoding="latin-1"), options)
    for base in (0, 1) if options.base is None else ():
        if trial.fits:
            break
        other = _trial(name, sample, replace(options, base=base))
        if len(other.pairs) - other.refused > len(trial.pairs) - trial.refused:
            trial = other
    return trial


def _trial(name: str, sample: _Sample, options: ReadOptions) -> _Trial:
    kind = get_format(name)
    limits = {name: getattr(options, name) for name in ("base", "max_size", "max_words")}
    lenient = ReadOptions(
        drop_out_of_range=True, partial=True, lenient=True, encoding=sample.encoding, **limits
    )
    trial = _Trial(name, kind, _Head(sample, lenient, kind.base))
    reading = trial.reading
    try:
        with closing(reading.pairs(kind.parse(reading))) as pairs:
            trial.pairs.extend(islice(pairs, _RECORDS))
    except (FormatError, OptionError) as problem:
        if isinstance(problem, FormatError):
            reading.complain(problem)
        within = sample.more and trial.pairs and name in _BEGINS and not reading.refused
        trial.failed = not within  # the head may end within a record
    return trial


def _refuse_others(path: str, trial: _Trial) -> None:
    """Reject a folder if the fitting format would skip corpus files in it."""
    if not os.path.isdir(path):
        return
    members = trial.kind.members
    others = _corpora(path, () if members is None else set(members(trial.reading)))
    if others:
        names = _listed([trial.name, *_examples(path, others)])
        advice = f"give one of them, or use {_declared([trial.name])}"
        fitting = list(dict.fromkeys((trial.name, *others)))
        raise UnknownFormatError(f"contains files of {names}; {advice}", path, fitting)


def _corpora(folder: str, known: Collection[Path] = ()) -> dict[str, str]:
    """Return the formats of files in a folder and its subfolders, each with one example."""
    seen: Counter[tuple[str, str]] = Counter()
    ranked: list[tuple[int, int, str]] = []
    for path in islice((path for path in _walk(folder) if Path(path) not in known), _FILES_WALKED):
        kind = os.path.dirname(path), _NUMBER.sub("", Path(path).suffix)
        seen[kind] += 1
        ranked.append((seen[kind], len(ranked), path))
    examples: dict[str, str] = {}
    for _, _, path in sorted(ranked)[:_FILES_TRIED]:
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


def _likeness(sample: _Sample) -> str | None:
    """Return the format with most keys, headings or elements in a sample, at least two."""
    if sample.head is None:
        files = sorted(Path(sample.path).glob("*.xml"))[:5]
        text = b"\n".join(head_of(str(file), 1 << 16) for file in files).decode("utf-8", "replace")
        names = _ELEMENTS
        present = _ELEMENT.findall(text)
    else:
        text = sample.head.decode(sample.encoding, "replace")
        first = text.lstrip("\ufeff\r\n").split("\n", 1)[0]
        start = text.lstrip("\ufeff \t\r\n")[:1]
        names = _KEYS
        present = _KEY.findall(text)
        if start == "<":
            names = _ELEMENTS
            present = _ELEMENT.findall(text)
        elif "\t" in first and start not in "[{":
            names = _HEADINGS
            present = [name.strip().casefold() for name in first.split("\t")]
    counts = {format: len(own.intersection(present)) for format, own in names.items()}
    best = max(counts.values())
    most = [name for name, count in counts.items() if count == best]
    return most[0] if best > 1 and len(most) == 1 else None


def _unknown(sample: _Sample, trials: list[_Trial], options: ReadOptions) -> FormatError:
    """Return the error of a file that no format fits."""
    if sample.head is not None:
        for _ in _Head(sample, options, 0).lines():
            pass  # what is no text is refused as such
    elif not os.path.isdir(sample.path):
        with open_input(sample.path):  # raises: there is no such file
            pass
    elif corpora := _corpora(sample.path):
        names = _listed(_examples(sample.path, corpora))
        message = f"contains files of {names}; give one of them{_words_beside(corpora)}"
        return UnknownFormatError(message, sample.path)
    return UnknownFormatError(_cause(sample, trials), sample.path)


def _cause(sample: _Sample, trials: Sequence[_Trial]) -> str:
    """Explain why none of the formats that were tried fits."""
    names = f"give its format by `format`: {', '.join(FORMATS)}"
    if sample.head is None:
        return f"no format fits this folder; {names}"
    none = "no format fits this file's first records"
    line = sample.first.split("\n")[0].rstrip("\r")
    name = _looks_like(sample.first, line)
    complaints = {trial.name: trial.reading.complaint for trial in trials}
    if complaints.get(name):
        return f"{none}; it looks like {name}, but {complaints[name]}"
    if name or line[:1] in ("<", "[", "{"):
        return f"{none}; {names}"
    if " ||| " in line:
        return f"{none}: it is text, 'source ||| target'; give it by `source`, with a file of links"
    if _LETTERS.search(line):
        return f"{none}: it is text without links; give it by `source` or `target`"
    return f"{none}; {names}"


def _looks_like(first: str, line: str) -> str:
    """Return the format that a file looks like, from its first characters and first line."""
    for start, mark, name in _MARKS:
        if first.startswith(start) and mark in first:
            return name
    columns = line.split("\t")
    if len(columns) > 1:
        heading = columns[0].casefold()
        labels = _LABELS_OF_PARADE.fullmatch("\t".join(columns[:2]))
        if heading == "four-class labels" or (labels and len(columns) == 5):
            return "parade"
        if heading == "label" or (len(columns) > 2 and columns[0] in get_scheme("turku").judgments):
            return "turku"
        if 5 < len(columns) < 13:
            return "multimwa"
        if len(columns) == 2 and _are_links(columns[1]):
            return "pharaoh"
        return "xlwa"
    if _are_links(line):
        return "pharaoh"
    words = line.split()
    if words and all(map(_NUMBER.fullmatch, words[:2])):
        return "blinker" if len(words) < 3 else "naacl"
    return ""


def _are_links(text: str) -> bool:
    words = text.split()
    return sum(map(bool, map(_LINK.fullmatch, words))) * 2 > len(words)


def _listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1]) if len(names) > 1 else names)


def _declared(names: Sequence[str]) -> str:
    return " or ".join(f'`format="{name}"`' for name in names)


def hinted(items: Iterator[T], reading: Reading) -> Generator[T, None, None]:
    """Pass items on; errors mention another format that fits, or shifted texts."""
    path = reading.path
    format = reading.format
    options = reading.options
    try:
        yield from items
        if reading.unread:
            _LOGGER.warning("%s: %s", path, reading.unread)
        # links out of range that were dropped on request may tell of shifted texts too
        dropped = reading.counts["link out of range"] and not options.lenient
        if dropped and (shift := _shift(path, format, options)) is not None:
            reading.shift = str(shift)
            _LOGGER.warning("%s: warning: %s", path, shift)
    except FormatError as error:
        reading.close()  # the traceback may hold parsers that wait with open files
        shifted = with_shift(error, path, format, options)
        if shifted is not error:
            raise shifted from None
        hint = hint_of(path, format, options, named=error.path != path)
        if not hint or hint in error.message:
            raise
        if isinstance(error, FileError):
            raise type(error)(error.path, error.errno, f"{error.strerror}; {hint}") from None
        message = f"{error.message}; {hint}"
        raise FormatError(message, error.path, error.line, error.column) from None


def with_shift(error: FormatError, path: str, format: str, options: ReadOptions) -> FormatError:
    """Return an error about shifted texts, or the given error if they are not shifted."""
    if isinstance(error, FileError) or (shift := _shift(path, format, options)) is None:
        return error
    message = f"{error.message.partition('; ')[0]}; {shift}"
    return FormatError(message, error.path, error.line, error.column)


def _shift(path: str, format: str, options: ReadOptions) -> Shift | None:
    if options.source is None:
        return None
    from alignkit.io.base_checks import shift_of  # NumPy

    return shift_of(path, format, options)


def hint_of(path: str, format: str, options: ReadOptions, *, named: bool = False) -> str:
    """Describe another format that fits, with the path if `named`; empty if there is none."""
    if not format or not (os.path.isdir(path) or os.path.isfile(path)):
        return ""  # what can be read only once was read
    what = "the folder" if os.path.isdir(path) else "the file"
    if named:
        what += f" {path}"
    try:
        name = find_format(path, encoding=options.encoding)
        if name == format:
            return ""
        sample = _Sample.of(path, options)
        fits = sample.mark is not None or _best_trial(name, sample, options).fits
        if fits and not sample.empty:
            return f"{what} reads as {name}: {_declared([name])}"
        return ""
    except UnknownFormatError as error:
        useful = error.fitting and format not in error.fitting
        return f"{what} {error.message}" if useful else ""
    except (FormatError, OptionError):
        return ""


def suspicions(path: str, format: str, options: ReadOptions) -> list[str]:
    """Report whether the links of a detected file suggest another base or direction.

    If the first records do, all records are counted, as `check` does: both say the same.
    """
    paths = [file for file in (path, options.source, options.target) if file is not None]
    declared = options.base is not None or options.transpose or format.startswith("alignkit-")
    again = "-" not in paths and (os.path.isdir(path) or all(map(os.path.isfile, paths)))
    if declared or not again or _suspicion(path, format, options, _RECORDS) is None:
        return []
    suspicion = _suspicion(path, format, options, None)
    if suspicion is None:
        return []
    if suspicion.kind == "suspicious base":
        advice = [f"base {suspicion.base}"]
    else:
        advice = []
    if suspicion.transposed:
        advice += ["that links are written target first"]
    return [
        f"{suspicion.kind}: {suspicion.message}; if so, declare {' and '.join(advice)} "
        "('alignkit check' gives details)"
    ]


def _suspicion(path: str, format: str, options: ReadOptions, most: int | None) -> Suspicion | None:
    """Return what is suspicious in the first `most` records, None for all."""
    from alignkit.io.base_checks import Fits  # NumPy, which most formats do without

    chosen, reading = prepare(path, format, replace(options, lenient=True))
    if most is not None and chosen.blocks is not None and reading.plain_bytes:
        reading = _FirstLines(path, reading.options, base=chosen.base)
    reading.silent = True
    fits = Fits(reading.base, options.transpose)
    with suppress(AlignkitError), closing(reading), closing(chosen.parse(reading)) as records:  # type: ignore[type-var]
        for record in islice(records, most):  # reading in earnest reports what is wrong
            fits.record(record)
    return fits.suspicion()


class _FirstLines(Reading):
    """A reading of the first lines of each file, if a line is a pair; more would take time."""

    @contextmanager
    def open(self, path: str | None = None) -> Iterator[BufferedReader]:
        """Open the first lines of a file."""
        with super().open(path) as stream:
            lines = bounded_lines(stream, path or self.path, self.options.max_size)
            yield cast("BufferedReader", io.BytesIO(b"".join(islice(lines, _RECORDS))))
