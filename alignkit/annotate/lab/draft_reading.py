"""Read the files of a draft: what each is, what `check` finds in them, and their pairs."""

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
from alignkit.annotate.creation import read_documents
from alignkit.annotate.exporting import exported
from alignkit.annotate.lab.bodies import DraftFinding, DraftOption, Preview
from alignkit.annotate.lab.drafts import MB, MOST, DraftJob, DraftRecord
from alignkit.annotate.project.database import is_project
from alignkit.annotate.project.names import GOLD, ProjectError, check_name
from alignkit.annotate.project.replay import build_project
from alignkit.annotate.project.store import Store
from alignkit.corpora.validation import Examination, examine
from alignkit.errors import AlignkitError, FormatError, OptionError, UnknownFormatError
from alignkit.io.detection import find_format
from alignkit.io.formats import FORMATS, get_format, prepare
from alignkit.io.opening import head_of, open_input, wide_encoding
from alignkit.io.options import ReadOptions
from alignkit.io.parallel_text import BITEXT
from alignkit.io.reading import write_corpus
from alignkit.io.text_files import TextFile
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import TOKENIZERS

Choices = Sequence[tuple[str, str]]


def _same(values: Iterable[str]) -> Choices:
    return [(value, value) for value in values]


_PAIRS = 200_000
_ANNOTATORS = 1000
_KINDS = [
    ("source", "Source words"),
    ("target", "Target words"),
    ("both", "Source and target words"),
    ("corpus", "Links or corpus"),
    ("none", "Not used"),
]
_ENCODINGS = _same(
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
    "format": ("Format", _same(FORMATS)),
    "base": ("First word", _same("01")),
    "direction": ("Links begin with", _same(SIDES)),
    "encoding": ("Encoding", _ENCODINGS),
    "tokenizer": ("Tokenizer", _same(TOKENIZERS)),
}
_STOP = ("stop", "Stop")
_LEAVE = ("leave", "Leave out")
_CHOICES: dict[str, tuple[str, str, Choices]] = {
    "link out of range": ("link", "outside the sentence", (_LEAVE, _STOP)),
    "repeated id": ("pair", "with the id of another", (("number", "Number them"), _STOP)),
    "broken record": ("record", "cannot be read", (_STOP, _LEAVE)),
}
"""The texts and the choices of findings of `check`, the safe choice first."""
_ARCHIVES = b"PK", b"7z\xbc\xaf", b"Rar!"
_SIDE = re.compile(r"(?:^|[/._-])(?:(src|source)|(tgt|trg|target))(?:[/._-]|$)", re.IGNORECASE)
_LANGUAGE = re.compile(r"\.([a-z]{2})(?:\.txt)?(?:\.(?:gz|xz|bz2|zst))?$")
_STEMS = {"yawat"}, {"transread"}  # formats of several files with one name
_NO_LINKS = ".no-links"
_WRONG = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)


class DraftReader:
    """Reads the files of a draft, in a folder where they have their own names."""

    def __init__(self, job: DraftJob, tell: Callable[[str, float | None], None]) -> None:
        self._record = job.record
        self._path = job.pairs
        self._tell = tell
        self._draft = job.record.draft
        self._options = job.record.options
        draft = self._draft
        self._files = {file.name: file for file in draft.files}
        self._formats: dict[str, str] = {}  # of corpora: files or folders
        self._lines = True  # whether each line of the words is a sentence
        self._unpacked = 0
        self._numbers: dict[int, int] = {}  # of the pairs as read: their numbers when written
        draft.detected = draft.languages = draft.problem = job.record.format = ""
        draft.findings = []
        draft.annotators = []
        draft.pairs = 0

    def read(self) -> DraftRecord:
        """Read everything, and return the record with what there is."""
        draft = self._draft
        try:
            self._lay_out()
            self._attempt(self._look, self._files)
            if not self._stops():
                self._detect()
                self._write(self._pairs())
        except AlignkitError as error:
            self._refuse(error)
        os.chdir(self._path.parent)
        shutil.rmtree("view", ignore_errors=True)
        for finding in draft.findings:
            known = (self._numbers.get(k, 0) for k in finding.pairs)
            finding.pairs = list(dict.fromkeys(filter(None, known)))[:10]
        draft.findings.sort(key=lambda finding: not finding.choices)
        wrong = draft.problem or any(file.problem for file in draft.files) or self._stops()
        draft.ready, draft.models = draft.pairs > 0 and not wrong, self._of("model")
        draft.options = [
            DraftOption(name, label, self._options.get(name, ""), [("", "as detected"), *rows])
            for name, (label, rows) in _OPTIONS.items()
            if name != "tokenizer" or draft.task == "extract"
        ]
        names = (file.name for file in draft.files if file.kind not in ("model", "none"))
        draft.name = re.split(r"[./]", next(names, ""))[0].replace("_", " ").strip()
        return self._record

    def _attempt(self, step: Callable[[str], None], names: Iterable[str]) -> None:
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
        (file or self._draft).problem = _said(message, "" if file else path, line)

    def _find(self, kind: str, text: str, *choices: tuple[str, str], at: Iterable[int] = ()) -> str:
        """Add a finding, and return what is chosen for it."""
        code = kind.replace(" ", "-")
        values = [value for value, _ in choices] or [""]
        chosen = self._record.choices.get(code, "")
        chosen = chosen if chosen in values else values[0]
        if same := [finding for finding in self._draft.findings if finding.code == code]:
            same[0].text += f"; {text}"
        else:
            self._draft.findings.append(DraftFinding(code, text, [*at], [*choices], chosen))
        return chosen

    def _stops(self) -> bool:
        return any(finding.chosen == "stop" for finding in self._draft.findings)

    def _of(self, kind: str) -> list[str]:
        return [name for name, file in self._files.items() if file.kind == kind]

    def _lay_out(self) -> None:
        view = self._path.with_name("view")
        shutil.rmtree(view, ignore_errors=True)
        for path in view.parent.glob("pairs-*"):
            if not path.name.startswith(f"pairs-{self._record.read}."):
                path.unlink()
        view.mkdir()
        for name, file in self._files.items():
            (view / name).parent.mkdir(exist_ok=True)
            try:
                os.link(view.with_name(str(file.n)), view / name)
            except OSError:  # a file system without links
                shutil.copyfile(view.with_name(str(file.n)), view / name)
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
        elif not head or (b"\0" in begin and not wide_encoding(begin)):
            raise FormatError("is not text" if head else "is empty", name)
        else:
            self._decode(name, begin)
            said = self._record.kinds.get(str(file.n), "")
            file.kind = said if said in dict(_KINDS) else "text"

    def _decode(self, name: str, begin: bytes) -> None:
        """Write a text that is not UTF-8 anew; XML says itself what it is."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        utf8 = True
        with open_input(name) as stream:
            for chunk in iter(partial(stream.read, MB), b""):
                self._unpacked += len(chunk)
                if self._unpacked > MOST:
                    raise FormatError("unpacked, the files have more than 512 MB", name)
                try:
                    decoder.decode(chunk if utf8 else b"")
                except UnicodeDecodeError:
                    utf8 = False
        encoding = self._options.get("encoding") or wide_encoding(begin)
        if not (encoding or utf8 or begin.lstrip().startswith(b"<?xml")):
            encoding = self._find("encoding", f"{name} is not UTF-8; choose", _STOP, *_ENCODINGS)
        if encoding in ("", "stop", "utf-8"):
            return
        try:
            with open_input(name) as raw, open("../new", "wb") as out:
                text = io.TextIOWrapper(raw, encoding, newline="")
                for part in iter(partial(text.read, MB), ""):
                    out.write(part.encode())
            os.replace("../new", name)
        except (ValueError, LookupError) as problem:
            raise FormatError(f"is not {encoding}: {problem}", name) from None

    def _detect(self) -> None:
        undecided = [*self._of("text"), *self._of("corpus")]
        for folder in dict.fromkeys([".", *filter(None, map(os.path.dirname, undecided))]):
            names = [name for name in undecided if folder in (".", os.path.dirname(name))]
            try:
                format = find_format(folder) if len(names) > 1 else ""
            except AlignkitError:
                continue
            if format:
                self._formats[folder] = self._options.get("format") or format
                kind, reading = prepare(folder, format, ReadOptions())
                own = names if kind.members is None else {*map(str, kind.members(reading))}
                for name in [name for name in names if name in own]:
                    self._files[name].kind = "corpus"
                    undecided.remove(name)
        self._attempt(self._detect_file, undecided)
        self._choose_sides()

    def _detect_file(self, name: str) -> None:
        declared = self._options.get("format", "")
        file = self._files[name]
        try:
            format = find_format(name)
        except UnknownFormatError as error:
            begin = head_of(name).lstrip(b"\xef\xbb\xbf \t\r\n")
            fitting = error.fitting
            plain = begin.startswith(b"<s snum") or begin[:1] not in (b"<", b"[", b"{")
            plain = self._draft.task == "extract" or (plain and "looks like" not in error.message)
            if file.kind == "text" and not fitting and plain:
                return
            if not (declared or fitting):
                raise
            if not (format := declared):
                text = f"{name} fits several formats"
                choices = _same(fitting)
                format = dict(choices).get(self._find("format", text, _STOP, *choices), fitting[0])
        if format == "conllu" and not declared:
            self._lines = False  # words of a side
        else:
            file.kind, self._formats[name] = "corpus", declared or format

    def _choose_sides(self) -> None:
        """Take texts as source and target, in the order of their names or numbers."""
        texts = self._of("text")
        extract = self._draft.task == "extract"
        folders = list(dict.fromkeys(map(os.path.dirname, texts)))
        sides = [side for side in SIDES if not self._of(side)]
        by_folder = extract and len(folders) == len(sides) == 2 and all(folders)
        for name in texts:
            in_line = BITEXT.encode() in head_of(name).partition(b"\n")[0]
            if len(texts) == 1 and len(sides) == 2 if extract else in_line:
                self._files[name].kind = "both"
            elif by_folder:
                self._files[name].kind = sides[folders.index(os.path.dirname(name))]
        rest = sorted(self._of("text"), key=_place)
        for name, side in zip(rest, [*sides, *["none"] * len(rest)], strict=False):
            self._files[name].kind = side
        if len(rest) > len(sides):
            names = ", ".join(rest)
            raise OptionError(f"{len(rest)} files seem to have words: {names}. Say what each is.")

    def _pairs(self) -> Iterable[SentencePair]:
        source, target, both = map(self._of, (*SIDES, "both"))
        words = [*source, *target, *both]
        projects = self._of("project")
        wrong = "Too many files have words: {}. Remove some."
        if projects and not (words or self._formats or projects[1:]):
            return self._project(projects[0])
        if projects:
            wrong = "A project holds everything. Remove the other files."
        elif not (words or self._formats):
            wrong = "Add the files with the sentence pairs."
        elif bool(source) != bool(target):
            wrong = "{} has the words of one side. Add those of the other."
        elif self._draft.task == "extract" and not self._formats:
            if len(both) + (len(source) > 0) < 2:
                return self._documents([source, target] if source else [both])
        elif len(words) == len(source[:1] + target[:1] or both[:1]):
            return self._corpus(words)
        raise OptionError(wrong.format(", ".join(words)))

    def _corpus(self, words: list[str]) -> Iterable[SentencePair]:
        formats = self._formats
        options = self._options
        about = "Texts, one sentence a line"
        if len(formats) > 1 and {*formats.values()} not in _STEMS:
            raise OptionError(
                f"Several files have pairs: {', '.join(formats)}. Keep one of them, or "
                "combine them with `alignkit merge`."
            )
        path, format = next(iter(formats.items()), (_NO_LINKS, "naacl"))
        kind = get_format(format)
        if not formats:  # naacl reads texts without links
            Path(_NO_LINKS).touch()
        elif words and not kind.text_beside:
            raise OptionError(f"{path} has its own words. Remove {' and '.join(words)}.")
        elif not words and kind.text_beside and not self._draft.project:
            raise OptionError(f"{path} has links alone. Add the files with their words.")
        if self._lines and not kind.by_id:
            self._even_out([*words, *[path] * (format == "pharaoh")])
        base = int(options["base"]) if options.get("base") in ("0", "1") else None
        source, target = (*words, None, None)[:2]
        stem = os.path.basename(path).split(".")[0]
        seen = self._examined(
            path,
            format,
            ReadOptions(
                base=base,
                transpose=options.get("direction") == "target",
                partial=not formats,
                name=None if stem == GOLD else stem,
                source=source,
                target=target,
            ),
        )
        if formats:
            self._record.format, about = format, re.split("[:;,(]", FORMATS[format])[0].strip()
            if not (kind.scheme or about.startswith("alignkit")):
                about = "Pharaoh links" if format == "pharaoh" else about[:1].upper() + about[1:]
                about += f", counted from {seen.base}, {SIDES[seen.transposed]} first"
        self._draft.detected = about
        languages = [match[1] for name in words if (match := _LANGUAGE.search(name))]
        self._draft.languages = "-".join(languages) if len(languages) == 2 else ""
        return self._chosen(list(seen.corpus))

    def _even_out(self, names: list[str]) -> None:
        """Cut files of lines to the same length, if they differ."""
        if any(head_of(name).startswith(b"<s snum") for name in names):
            return
        files = {name: TextFile(name, ReadOptions(lenient=True)) for name in names}
        counts = [sum(part.count(b"\n") for part in file.chunks()) for file in files.values()]
        if len({*counts}) > 1:
            fewest = min(counts)
            each = zip(names, counts, strict=True)
            text = ", ".join(f"{name} has {count:,} lines" for name, count in each)
            self._find("unequal counts", text, _STOP, ("first", f"Take the first {fewest:,}"))
            for name, file in files.items():
                with open("../new", "wb") as out:
                    out.writelines(islice(file.raw_lines(), fewest))
                os.replace("../new", name)  # what is stored stays

    def _examined(self, path: str, format: str, options: ReadOptions) -> Examination:
        seen = examine(path, format=format, options=options, tell=self._count)
        if (better := seen.suspicion) is not None:
            name = f"Count from {better.base}"
            keep = ("keep", "As declared")
            if better.transposed != options.transpose:
                name = "Turn round" + f", {name.lower()}" * (better.base != seen.base)
            text = better.message.capitalize()
            if self._find(better.kind, text, keep, ("turn", name)) == "turn":
                options = replace(options, base=better.base, transpose=better.transposed)
                seen = examine(path, format=format, options=options, tell=self._count)
        firsts = {finding.kind: finding for finding in reversed(seen.findings)}
        if seen.refused and not seen.corpus:
            error = firsts["broken record"]
            raise FormatError(error.message, error.path, error.line)
        for kind, first in firsts.items():
            noun, rest, choices = _CHOICES.get(kind, ("", kind.capitalize(), ()))
            count = seen.counts[kind]
            at = seen.pairs.get(kind, ())
            if noun:
                text = f"{how_many(count, noun, commas=True)} {rest}"
            else:
                text = f"{rest} ({count:,})"
            if kind not in ("link out of range", "repeated id"):
                text += f"; {_said(first.message, first.path, first.line)}"
            if not kind.startswith("suspicious"):
                self._find(kind, text, *choices, at=at)
        return seen

    def _count(self, pairs: int) -> None:
        if pairs > _PAIRS:
            raise OptionError(f"The files have more than {_PAIRS:,} pairs. Split them.")
        self._tell(f"Reading {pairs:,} pairs", None)

    def _chosen(self, pairs: Sequence[SentencePair]) -> Iterator[SentencePair]:
        """Yield the pairs without those that are left out, and with ids that are unique."""
        first: dict[object, int] = {}
        again = dict[int, int]()
        keep = "keep"
        for k, pair in enumerate(pairs, 1):
            same = first.setdefault((pair.source, pair.target), k)
            if same != k and pair.source is not None:
                again[k] = same
        if again:
            text = f"{how_many(len(again), 'pair', commas=True)} with the words of another"
            choices = ("keep", "Keep both"), ("first", "Keep first")
            at = (k for both in again.items() for k in reversed(both))
            keep = self._find("repeated pairs", text, *choices, at=at)
        known = {pair.id for pair in pairs}
        used = set[str]()
        for k, pair in enumerate(pairs, 1):
            if k in again and keep != "keep":
                continue
            id = pair.id
            repeated = pair.id in used
            while repeated and id in known:
                id = f"{id}-{k}"
            used.add(id)
            self._numbers[k] = len(self._numbers) + 1
            yield pair if id == pair.id else replace(pair, id=id)

    def _documents(self, sides: list[list[str]]) -> Iterable[SentencePair]:
        paths = [side[0] if len(side) == 1 else os.path.dirname(side[0]) for side in sides]
        how = self._options.get("tokenizer") or None
        notes = list[str]()
        pairs = list(read_documents(paths, tokenize=how, note=notes.append))
        for note in notes:
            self._find("no counterpart", note)
        self._draft.detected = f"{how_many(len(pairs), 'pair')} of documents"
        return pairs

    def _project(self, name: str) -> Iterable[SentencePair]:
        path = str(self._path.with_suffix(".alignkit"))
        try:
            with Store.open(name, readonly=True) as store:
                build_project(path, store.log())
        except _WRONG as fault:
            raise ProjectError(f"{name}: its log cannot be read: {fault}") from None
        with Store.open(path, readonly=True) as store:
            info = store.project()
            self._draft.task = info.task  # type: ignore[assignment]
            people = how_many(len(info.annotators), "annotator")
            self._draft.detected = f"A project of alignkit, task {info.task}, {people}"
            return list(exported(store))

    def _write(self, pairs: Iterable[SentencePair]) -> None:
        """Write the pairs, and a preview of each with an index."""
        offsets = array("q", [0])
        annotators = dict[str, None]()

        def shown() -> Iterator[SentencePair]:
            for k, pair in enumerate(pairs, 1):
                self._count(k)
                if None in (pair.source, pair.target) and not self._draft.project:
                    raise OptionError(f"Pair {pair.id[:40]!r} has no words.")
                annotators.update(dict.fromkeys(pair.alignments))
                if len(annotators) > _ANNOTATORS:
                    raise OptionError(f"The files have more than {_ANNOTATORS:,} annotators.")
                offsets.append(offsets[-1] + previews.write(json.encode(_preview(k, pair)) + b"\n"))
                yield pair

        with self._path.with_suffix(".preview").open("wb") as previews:
            write_corpus(shown(), self._path, format="alignkit-jsonl")
        self._path.with_suffix(".index").write_bytes(offsets.tobytes())
        if len(offsets) == 1:
            raise OptionError("The files have no sentence pairs.")
        self._draft.annotators = list(map(check_name, annotators))
        self._draft.pairs = len(offsets) - 1


def _said(message: str, path: str, line: int | None) -> str:
    """Return a message with its place, without advice about arguments of functions."""
    message = "; ".join(part for part in message.split("; ") if "`" not in part) or message
    place = [path] * (path not in ("", _NO_LINKS)) + [f"line {line}"] * bool(line)
    return ": ".join(filter(None, (", ".join(place), message)))


def _place(name: str) -> int:
    """Return where a name comes in order, if it says that it is the source or the target."""
    said = _SIDE.search(name)
    if said is None:
        return 0
    if said[2]:
        return 1
    return -1


def _preview(k: int, pair: SentencePair) -> Preview:
    words = list(pair.source or ()), list(pair.target or ())
    for by, drawn in pair.annotations.items():
        cells = () if drawn.alignment is None else drawn.alignment.items()
        links = [(*link, 1 + sure) for link, sure in cells]
        return Preview(k, 0, pair.id, *words, links, by, drawn.judgment, {})
    return Preview(k, 0, pair.id, *words, [], "", "", {})
