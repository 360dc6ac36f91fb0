"""Read the files of a draft: what each is, what `check` finds in them, and their pairs.

The files are laid out in the folder `view` under their stored names (`file_names`), and are known
by these here. Then each is looked at, the formats of links and the sides of texts are found, and
the pairs are written. What is not clear becomes a finding (`draft_findings`) or the problem of a
file.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import shutil
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from msgspec import json

from alignkit._support.wording import how_many
from alignkit.annotate.documents import read_documents
from alignkit.annotate.exporting import exported
from alignkit.annotate.lab.bodies import DraftOption, Preview
from alignkit.annotate.lab.draft_findings import (
    NO_LINKS,
    STOP,
    DraftFindings,
    problem_text,
    same,
)
from alignkit.annotate.lab.draft_records import MB, MOST, DraftJob, DraftRecord
from alignkit.annotate.lab.file_names import stem_of, stored_names, with_own_names
from alignkit.annotate.project.copies import check_seal
from alignkit.annotate.project.database import is_project
from alignkit.annotate.project.names import GOLD, ProjectError, check_name
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.store import Store
from alignkit.corpora.validation import Examination, examine
from alignkit.errors import AlignkitError, FormatError, OptionError, UnknownFormatError
from alignkit.io.base_checks import Suspicion
from alignkit.io.bitext_lines import BITEXT
from alignkit.io.detection import find_format
from alignkit.io.format import prepare
from alignkit.io.formats import FORMATS, get_format
from alignkit.io.opening import head_of, open_input, wide_encoding
from alignkit.io.options import ReadOptions
from alignkit.io.reading import write_corpus
from alignkit.io.text_files import TextFile
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import TOKENIZERS

_PAIRS = 200_000  # at most
_ANNOTATORS = 1000  # at most
_KINDS = [
    ("source", "Source words"),
    ("target", "Target words"),
    ("both", "Source and target words"),
    ("corpus", "Links or corpus"),
    ("none", "Not used"),
]
_ENCODINGS = same(
    (
        "utf-8",
        "utf-16",
        "windows-1250",
        "windows-1251",
        "windows-1252",
        "windows-1253",
        "windows-1254",
        "windows-1255",
        "windows-1256",
        "iso-8859-2",
        "iso-8859-15",
        "koi8-r",
        "gb18030",
        "big5",
        "shift_jis",
        "euc-jp",
        "euc-kr",
    )
)
_OPTIONS = {
    "format": ("Format", same(FORMATS)),
    "base": ("First word", same("01")),
    "direction": ("Links begin with", same(SIDES)),
    "encoding": ("Encoding", _ENCODINGS),
    "tokenizer": ("Tokenizer", same(TOKENIZERS)),
}
_ARCHIVES = b"PK", b"7z\xbc\xaf", b"Rar!"
_SIDE = re.compile(r"(?:^|[/._-])(?:(src|source)|(tgt|trg|target))(?:[/._-]|$)", re.IGNORECASE)
_LANGUAGE = re.compile(r"\.([a-z]{2})(?:\.txt)?(?:\.(?:gz|xz|bz2|zst))?$")
_STEMS = {"yawat"}, {"transread"}  # formats of several files with one name
_WRONG = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)


class DraftReader:
    """Reads the files of a draft, in a folder where they have stored names (see `file_names`)."""

    def __init__(self, job: DraftJob, tell: Callable[[str, float | None], None]) -> None:
        self._record = job.record
        self._path = job.pairs
        self._tell = tell
        self._draft = job.record.draft
        self._options = job.record.options
        draft = self._draft
        self._stored = stored_names(file.name for file in draft.files)  # by the files' own names
        self._files = {self._stored[file.name]: file for file in draft.files}
        self._formats: dict[str, str] = {}  # of corpora: files or folders
        self._lines = True  # whether each line of the words is a sentence
        self._unpacked = 0
        self._numbers: dict[int, int] = {}  # of the pairs as read: their numbers when written
        self._findings = DraftFindings(job.record.choices)
        job.record.format = ""
        draft.detected = ""
        draft.languages = ""
        draft.problem = ""
        draft.findings = []
        draft.annotators = []
        draft.pairs = 0

    def read(self) -> DraftRecord:
        """Read everything, and return the record with what there is."""
        draft = self._draft
        try:
            self._lay_out()
            self._attempt(self._look, self._files)
            if not self._findings.stops:
                self._detect()
                self._write(self._pairs())
        except AlignkitError as error:
            self._refuse(error)
        os.chdir(self._path.parent)
        shutil.rmtree("view", ignore_errors=True)
        draft.findings = self._findings.finish(self._numbers)
        wrong = draft.problem or any(file.problem for file in draft.files) or self._findings.stops
        draft.ready = draft.pairs > 0 and not wrong
        draft.models = [self._files[name].name for name in self._files_of("model")]
        draft.options = []
        for name, (label, choices) in _OPTIONS.items():
            if name != "tokenizer" or draft.task == "extract":
                chosen = self._options.get(name, "")
                rows = [("", "as detected"), *choices]
                draft.options.append(DraftOption(name, label, chosen, rows))
        draft.name = self._suggested_name()
        self._name_as_sent()
        return self._record

    def _name_as_sent(self) -> None:
        """Put the own names of files into all that was noted about them."""
        draft = self._draft
        draft.problem = with_own_names(draft.problem, self._stored)
        for file in draft.files:
            file.problem = with_own_names(file.problem, self._stored)
        for finding in draft.findings:
            finding.text = with_own_names(finding.text, self._stored)

    def _suggested_name(self) -> str:
        """Return a name for the project: the beginning of the name of its first file."""
        for file in self._draft.files:
            if file.kind not in ("model", "none"):
                first_part, _, _ = file.name.partition("/")
                return stem_of(first_part).replace("_", " ").strip()
        return ""

    def _attempt(self, step: Callable[[str], None], names: Iterable[str]) -> None:
        """Take a step for each file; a file with an error is not used."""
        for name in names:
            try:
                step(name)
            except AlignkitError as error:
                self._refuse(error, name)
                self._files[name].kind = "none"

    def _refuse(self, error: AlignkitError, name: str = "") -> None:
        """Note an error, at its file if it has one."""
        message = str(error)
        path = name
        line = None
        if isinstance(error, FormatError):
            message = error.message
            path = name or error.path
            line = error.line
        file = self._files.get(path)
        if file is not None:
            file.problem = problem_text(message, "", line)
        else:
            self._draft.problem = problem_text(message, path, line)

    def _files_of(self, kind: str) -> list[str]:
        """Return the names of the files of a kind."""
        return [name for name, file in self._files.items() if file.kind == kind]

    def _lay_out(self) -> None:
        """Give the files their stored names in the folder `view`, and go there."""
        view = self._path.with_name("view")
        shutil.rmtree(view, ignore_errors=True)
        for path in view.parent.glob("pairs-*"):
            if not path.name.startswith(f"pairs-{self._record.read_etag}."):
                path.unlink()
        view.mkdir()
        for name, file in self._files.items():
            (view / name).parent.mkdir(exist_ok=True)
            stored = view.with_name(str(file.n))
            try:
                os.link(stored, view / name)
            except OSError:  # a file system without links
                shutil.copyfile(stored, view / name)
        os.chdir(view)

    def _look(self, name: str) -> None:
        """Find whether a file is a project, a model or text; make all text UTF-8."""
        file = self._files[name]
        begin = head_of(name)
        with open(name, "rb") as stream:
            head = stream.read(512)
        file.problem = ""
        file.kind = "text"
        file.kinds = _KINDS
        if is_project(name):
            file.kind = "project"
            file.kinds = [("project", "Project")]
        elif head.startswith(b"PK") and head[30:41] == b"header.json":
            from alignkit.align.aligner import Aligner

            Aligner.load(name)
            file.kind = "model"
            file.kinds = [("model", "Model")]
        elif head.startswith(_ARCHIVES) or begin[257:262] == b"ustar":
            raise FormatError("Archives are not opened. Unpack it and drop the folder.", name)
        elif not head:
            raise FormatError("is empty", name)
        elif b"\0" in begin and not wide_encoding(begin):
            raise FormatError("is not text", name)
        else:
            self._decode(name, begin)
            chosen = self._record.kinds.get(str(file.n), "")
            if chosen in dict(_KINDS):
                file.kind = chosen

    def _decode(self, name: str, begin: bytes) -> None:
        """Write a text that is not UTF-8 anew; XML says itself what it is."""
        is_utf8 = self._read_through(name)
        encoding = self._options.get("encoding") or wide_encoding(begin)
        if not (encoding or is_utf8 or begin.lstrip().startswith(b"<?xml")):
            notice = f"{name} is not UTF-8; choose"
            encoding = self._findings.add("encoding", notice, (STOP, *_ENCODINGS))
        if encoding in ("", "stop", "utf-8"):
            return
        try:
            with open_input(name) as raw, open("../new", "wb") as out:
                text = io.TextIOWrapper(raw, encoding, newline="")
                for part in iter(partial(text.read, MB), ""):
                    out.write(part.encode())
            os.replace("../new", name)
        except UnicodeDecodeError as problem:
            raise FormatError(f"is not {encoding} from byte {problem.start + 1:,}", name) from None
        except (ValueError, LookupError):
            raise FormatError(f"is not {encoding}", name) from None

    def _read_through(self, name: str) -> bool:
        """Return whether a file is UTF-8; refuse it if the unpacked files become too large."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        is_utf8 = True
        with open_input(name) as stream:
            for chunk in iter(partial(stream.read, MB), b""):
                self._unpacked += len(chunk)
                if self._unpacked > MOST:
                    raise FormatError("unpacked, the files have more than 512 MB", name)
                if is_utf8:
                    try:
                        decoder.decode(chunk)
                    except UnicodeDecodeError:
                        is_utf8 = False
        return is_utf8

    def _detect(self) -> None:
        """Find the format of each corpus, a folder or a file; take the other texts as words."""
        undecided = [*self._files_of("text"), *self._files_of("corpus")]
        folders = [os.path.dirname(name) for name in undecided]
        for folder in dict.fromkeys([".", *filter(None, folders)]):
            names = [name for name in undecided if folder in (".", os.path.dirname(name))]
            if len(names) > 1:
                for name in self._detect_folder(folder, names):
                    self._files[name].kind = "corpus"
                    undecided.remove(name)
        self._attempt(self._detect_file, undecided)
        self._choose_sides()

    def _detect_folder(self, folder: str, names: list[str]) -> list[str]:
        """Find the format of a folder; return which of its files belong to the corpus."""
        try:
            format = find_format(folder)
        except AlignkitError:
            return []
        if not format:
            return []
        self._formats[folder] = self._options.get("format") or format
        kind, reading = prepare(folder, format, ReadOptions())
        if kind.members is None:
            return names
        members = {str(member) for member in kind.members(reading)}
        return [name for name in names if name in members]

    def _detect_file(self, name: str) -> None:
        """Find the format of a file, which stays a text if it has the words of a side."""
        declared = self._options.get("format", "")
        file = self._files[name]
        try:
            format = find_format(name)
        except UnknownFormatError as error:
            is_text = file.kind == "text" and not error.fitting
            if is_text and (self._draft.task == "extract" or _looks_plain(name, error)):
                return
            if not (declared or error.fitting):
                raise
            format = declared or self._choose_format(name, error.fitting)
        if format == "conllu" and not declared:
            self._lines = False  # words of a side
        else:
            file.kind = "corpus"
            self._formats[name] = declared or format

    def _choose_format(self, name: str, fitting: Sequence[str]) -> str:
        """Let one of the formats that fit a file be chosen; until then it has the first."""
        text = f"{name} fits several formats"
        chosen = self._findings.add("format", text, (STOP, *same(fitting)))
        return chosen if chosen in fitting else fitting[0]

    def _choose_sides(self) -> None:
        """Take texts as source and target, in the order of their names or numbers."""
        texts = self._files_of("text")
        sides = [side for side in SIDES if not self._files_of(side)]
        if self._draft.task == "extract":
            self._choose_sides_of_documents(texts, sides)
        else:
            for name in texts:
                first_line, _, _ = head_of(name).partition(b"\n")
                if BITEXT.encode() in first_line:
                    self._files[name].kind = "both"
        rest = sorted(self._files_of("text"), key=_place)
        for k, name in enumerate(rest):
            self._files[name].kind = sides[k] if k < len(sides) else "none"
        if len(rest) > len(sides):
            names = ", ".join(rest)
            raise OptionError(f"{len(rest)} files seem to have words: {names}. Say what each is.")

    def _choose_sides_of_documents(self, texts: list[str], sides: list[str]) -> None:
        """Take a lone document as both sides, and two folders of documents as a side each."""
        if len(sides) < 2:
            return
        if len(texts) == 1:
            self._files[texts[0]].kind = "both"
            return
        folders = list(dict.fromkeys(map(os.path.dirname, texts)))
        if len(folders) == 2 and all(folders):
            for name in texts:
                self._files[name].kind = sides[folders.index(os.path.dirname(name))]

    def _pairs(self) -> Iterable[SentencePair]:
        """Return the pairs of all files together; refuse files that do not belong together."""
        source = self._files_of("source")
        target = self._files_of("target")
        both = self._files_of("both")
        words = [*source, *target, *both]
        names = ", ".join(words)
        projects = self._files_of("project")
        if projects:
            if words or self._formats or len(projects) > 1:
                raise OptionError("A project holds everything. Remove the other files.")
            return self._project(projects[0])
        if not (words or self._formats):
            raise OptionError("Add the files with the sentence pairs.")
        if bool(source) != bool(target):
            raise OptionError(f"{names} has the words of one side. Add those of the other.")
        if self._draft.task == "extract" and not self._formats:
            if source and not both:
                return self._documents([source, target])
            if len(both) == 1 and not source:
                return self._documents([both])
        else:
            most = 2 if source else 1
            if len(words) <= most:
                return self._corpus(words)
        raise OptionError(f"Too many files have words: {names}. Remove some.")

    def _corpus(self, words: list[str]) -> Iterable[SentencePair]:
        """Read the corpus of the files with links, or with words alone; note what is detected."""
        formats = self._formats
        options = self._options
        if len(formats) > 1 and {*formats.values()} not in _STEMS:
            raise OptionError(
                f"Several files have pairs: {', '.join(formats)}. Keep one of them, or "
                "combine them with `alignkit merge`."
            )
        # texts alone are read in the format naacl, with an empty file of links
        path, format = next(iter(formats.items()), (NO_LINKS, "naacl"))
        kind = get_format(format)
        if not formats:
            Path(NO_LINKS).touch()
        elif words and not kind.text_beside:
            raise OptionError(f"{path} has its own words. Remove {' and '.join(words)}.")
        elif not words and kind.text_beside and not self._draft.project:
            raise OptionError(f"{path} has links alone. Add the files with their words.")
        if self._lines and not kind.by_id:
            self._even_out([*words, path] if format == "pharaoh" else words)
        stem = stem_of(self._own_name(path))
        base = None
        if options.get("base") in ("0", "1"):
            base = int(options["base"])
        reading = ReadOptions(
            base=base,
            transpose=options.get("direction") == "target",
            partial=not formats,
            name=None if stem == GOLD else stem,
            source=words[0] if words else None,
            target=words[1] if len(words) > 1 else None,
        )
        seen = self._examine(path, format, reading)
        if formats:
            self._record.format = format
            self._draft.detected = _description(format, seen)
        else:
            self._draft.detected = "Texts, one sentence a line"
        matches = [_LANGUAGE.search(name) for name in words]
        languages = [match[1] for match in matches if match is not None]
        if len(languages) == 2:
            self._draft.languages = "-".join(languages)
        return self._choose_pairs(list(seen.corpus))

    def _even_out(self, names: list[str]) -> None:
        """Cut files of lines to the same length, if they differ."""
        if any(head_of(name).startswith(b"<s snum") for name in names):
            return
        files = {name: TextFile(name, ReadOptions(lenient=True)) for name in names}
        counts = {}
        for name, file in files.items():
            counts[name] = sum(chunk.count(b"\n") for chunk in file.chunks())
        if len(set(counts.values())) < 2:
            return
        fewest = min(counts.values())
        text = ", ".join(f"{name} has {count:,} lines" for name, count in counts.items())
        self._findings.add("unequal counts", text, (STOP, ("first", f"Take the first {fewest:,}")))
        for name, file in files.items():  # also before this is chosen, so that all can be shown
            with open("../new", "wb") as out:
                out.writelines(islice(file.raw_lines(), fewest))
            os.replace("../new", name)  # the uploaded file stays

    def _examine(self, path: str, format: str, options: ReadOptions) -> Examination:
        """Read a corpus, and add what `check` finds; turn its links round if that is chosen."""
        seen = examine(path, format=format, options=options, tell=self._count)
        better = seen.suspicion
        if better is not None:
            text = better.message.capitalize()
            keep = ("keep", "As declared")
            turn = ("turn", _turning(better, seen, options))
            if self._findings.add(better.kind, text, (keep, turn)) == "turn":
                options = replace(options, base=better.base, transpose=better.transposed)
                seen = examine(path, format=format, options=options, tell=self._count)
        if seen.refused and not seen.corpus:
            broken = [finding for finding in seen.findings if finding.kind == "broken record"]
            raise FormatError(broken[0].message, broken[0].path, broken[0].line)
        self._findings.add_checked(seen)
        return seen

    def _count(self, pairs: int) -> None:
        """Report how many pairs were read; refuse too many."""
        if pairs > _PAIRS:
            raise OptionError(f"The files have more than {_PAIRS:,} pairs. Split them.")
        self._tell(f"Reading {pairs:,} pairs", None)

    def _choose_pairs(self, pairs: Sequence[SentencePair]) -> Iterator[SentencePair]:
        """Yield the pairs without those that are left out, and with ids that are unique."""
        left_out = self._left_out(pairs)
        known = {pair.id for pair in pairs}
        used = set[str]()
        for k, pair in enumerate(pairs, 1):
            if k in left_out:
                continue
            id = pair.id
            repeated = pair.id in used
            while repeated and id in known:
                id = f"{id}-{k}"
            used.add(id)
            self._numbers[k] = len(self._numbers) + 1
            yield pair if id == pair.id else replace(pair, id=id)

    def _left_out(self, pairs: Sequence[SentencePair]) -> set[int]:
        """Return the numbers of pairs that repeat the words of another and are left out."""
        first: dict[object, int] = {}
        repeated: set[int] = set()
        at = []
        for k, pair in enumerate(pairs, 1):
            same = first.setdefault((pair.source, pair.target), k)
            if same != k and pair.source is not None:
                repeated.add(k)
                at += [same, k]
        if not repeated:
            return repeated
        text = f"{how_many(len(repeated), 'pair', commas=True)} with the words of another"
        choices = ("keep", "Keep both"), ("first", "Keep first")
        chosen = self._findings.add("repeated pairs", text, choices, at=at)
        return set() if chosen == "keep" else repeated

    def _documents(self, sides: list[list[str]]) -> Iterable[SentencePair]:
        """Read pairs of documents: a side is a file, or a folder of files."""
        paths = [_file_or_folder(names) for names in sides]
        tokenizer = self._options.get("tokenizer") or None
        notes: list[str] = []
        documents = read_documents(paths, tokenize=tokenizer, note=notes.append)
        pairs = [self._from_own_files(pair) for pair in documents]
        for note in notes:
            self._findings.add("no counterpart", note)
        self._draft.detected = f"{how_many(len(pairs), 'pair')} of documents"
        return pairs

    def _own_name(self, path: str) -> str:
        """Return the own name of a file; that of a folder is its stored one."""
        file = self._files.get(path)
        return path if file is None else file.name

    def _from_own_files(self, pair: SentencePair) -> SentencePair:
        """Return a pair of documents that names its files as they were sent, not as stored."""
        attributes = dict(pair.attributes)
        id = pair.id
        for side in SIDES:
            path = attributes.get(f"{side}_document", "")
            own = self._own_name(path)
            attributes[f"{side}_document"] = own
            if own != path and id == Path(path).stem:
                id = Path(own).stem
        return replace(pair, id=id, attributes=attributes)

    def _project(self, name: str) -> Iterable[SentencePair]:
        """Read a project: it is built anew from its log, for nobody knows who made the file."""
        path = str(self._path.with_suffix(".alignkit"))
        try:
            with Store.open(name, readonly=True, log=True) as store:
                check_seal(store)
                build_project(path, store.log())
        except _WRONG:
            raise ProjectError(f"{name}: its log is damaged and cannot be read") from None
        with Store.open(path, readonly=True) as store:
            info = store.project()
            self._draft.task = info.task  # type: ignore[assignment]
            people = how_many(len(info.annotators), "annotator")
            self._draft.detected = f"A project of alignkit, task {info.task}, {people}"
            return list(exported(store))

    def _write(self, pairs: Iterable[SentencePair]) -> None:
        """Write the pairs, and a preview of each with an index."""
        offsets = array("q", [0])
        annotators: dict[str, None] = {}  # in the order in which they come

        def shown() -> Iterator[SentencePair]:
            for k, pair in enumerate(pairs, 1):
                self._count(k)
                if None in (pair.source, pair.target) and not self._draft.project:
                    raise OptionError(f"Pair {pair.id[:40]!r} has no words.")
                annotators.update(dict.fromkeys(pair.alignments))
                if len(annotators) > _ANNOTATORS:
                    raise OptionError(f"The files have more than {_ANNOTATORS:,} annotators.")
                written = previews.write(json.encode(_preview(k, pair)) + b"\n")
                offsets.append(offsets[-1] + written)
                yield pair

        with self._path.with_suffix(".preview").open("wb") as previews:
            write_corpus(shown(), self._path, format="alignkit-jsonl")
        self._path.with_suffix(".index").write_bytes(offsets.tobytes())
        if len(offsets) == 1:
            raise OptionError("The files have no sentence pairs.")
        self._draft.annotators = list(map(check_name, annotators))
        self._draft.pairs = len(offsets) - 1


def _looks_plain(name: str, error: UnknownFormatError) -> bool:
    """Return whether a file of no known format begins like a text."""
    begin = head_of(name).lstrip(b"\xef\xbb\xbf \t\r\n")
    has_markup = begin[:1] in (b"<", b"[", b"{") and not begin.startswith(b"<s snum")
    return not has_markup and "looks like" not in error.message


def _file_or_folder(names: list[str]) -> str:
    """Return the file of a side, or the folder of its files."""
    return names[0] if len(names) == 1 else os.path.dirname(names[0])


def _description(format: str, seen: Examination) -> str:
    """Return what the files with links are, in words."""
    about, *_ = re.split("[:;,(]", FORMATS[format])
    about = about.strip()
    if get_format(format).scheme or about.startswith("alignkit"):
        return about
    if format == "pharaoh":
        about = "Pharaoh links"
    else:
        about = about[:1].upper() + about[1:]
    first = "target" if seen.transposed else "source"
    return f"{about}, counted from {seen.base}, {first} first"


def _turning(better: Suspicion, seen: Examination, options: ReadOptions) -> str:
    """Return what is to be done with the links of a corpus, if a suspicion is right."""
    counting = f"Count from {better.base}"
    if better.transposed == options.transpose:
        return counting
    if better.base == seen.base:
        return "Turn round"
    return f"Turn round, {counting.lower()}"


def _place(name: str) -> int:
    """Return where a name comes in order, if it says that it is the source or the target."""
    match = _SIDE.search(name)
    if match is None:
        return 0
    return 1 if match[2] else -1


def _preview(k: int, pair: SentencePair) -> Preview:
    """Return a pair as the page shows it, with the work of its first annotator."""
    by = ""
    judgment = ""
    links = []
    if pair.annotations:
        by, annotation = next(iter(pair.annotations.items()))
        judgment = annotation.judgment
        if annotation.alignment is not None:
            links = [(*link, 1 + sure) for link, sure in annotation.alignment.items()]
    source = list(pair.source or ())
    target = list(pair.target or ())
    return Preview(k, 0, pair.id, source, target, links, by, judgment, {})
