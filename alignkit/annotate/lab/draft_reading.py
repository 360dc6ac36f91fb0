"""Read the files of a draft: what each is, what `check` finds in them, and their pairs."""

from __future__ import annotations

import codecs
import io
import os
import re
import shutil
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from alignkit._support.wording import how_many
from alignkit.annotate.creation import read_documents
from alignkit.annotate.exporting import exported
from alignkit.annotate.lab.bodies import DraftChoice, DraftFinding
from alignkit.annotate.lab.drafts import (
    ENCODINGS,
    MB,
    MOST_PAIRS,
    MOST_UNPACKED,
    STOP,
    TEXT_KINDS,
    DraftJob,
    DraftReport,
    pairs_file,
)
from alignkit.annotate.project.database import is_project
from alignkit.annotate.project.names import ProjectError, check_name
from alignkit.annotate.project.replay import build_project
from alignkit.annotate.project.store import Store
from alignkit.corpora.validation import Examination, examine
from alignkit.errors import AlignkitError, FormatError, OptionError, UnknownFormatError
from alignkit.io.detection import find_format
from alignkit.io.formats import FORMATS, get_format
from alignkit.io.opening import head_of, open_input, wide_encoding
from alignkit.io.options import ReadOptions
from alignkit.io.parallel_text import BITEXT
from alignkit.io.reading import write_corpus
from alignkit.io.text_files import TextFile
from alignkit.model.sentence_pair import SentencePair

_ARCHIVES = b"PK", b"7z\xbc\xaf", b"Rar!"
_SIDE = re.compile(r"(?:^|[/._-])(?:(src|source)|(tgt|trg|target))(?:[._-]|$)", re.IGNORECASE)
_LANGUAGE = re.compile(r"\.([a-z]{2})(?:\.txt)?(?:\.gz)?$")
_STEMS = ("yawat", "transread")  # formats of several files with one name
_NO_LINKS = ".no-links"

_STOP, _LEAVE, _KEEP = (STOP, "Stop"), ("leave", "Leave out"), ("keep", "As declared")
_CHOICES = {
    "link out of range": ("link", "outside the sentence", (_LEAVE, _STOP)),
    "repeated id": ("pair", "with the id of another", (("number", "Number them"), _STOP)),
    "broken record": ("record", "cannot be read", (_STOP, _LEAVE)),
}
"""The text and the choices of findings of `check`, the safe choice first."""


def _place(name: str) -> int:
    """Return where a name comes in order, if it says that it is the source or the target."""
    said = _SIDE.search(name)
    return 0 if said is None else 1 if said[2] else -1


class DraftReader:
    """Reads the files of a draft, in a folder where they have their own names."""

    def __init__(self, job: DraftJob, tell: Callable[[str, float | None], None]) -> None:
        self._draft, self._folder, self._tell = job.draft, Path(job.folder), tell
        self._files = {file.name: file for file in job.draft.files}
        self._kinds: dict[str, str] = {}  # of files; text: not decided
        self._formats: dict[str, str] = {}  # of corpora: files or folders
        self._report = DraftReport(job.draft.revision)
        self._unpacked = 0
        self._numbers: dict[int, int] = {}  # of the pairs as read: their numbers when written

    def report(self) -> DraftReport:
        """Read everything, and say what there is."""
        report = self._report
        try:
            self._lay_out()
            for name in self._files:
                self._look(name)
            if not any(finding.code == "encoding" for finding in self._stopping()):
                self._detect()
                self._write(self._pairs())
        except AlignkitError as error:
            self._refuse(error)
        report.kinds = {file.n: self._kinds.get(name, "") for name, file in self._files.items()}
        for finding in report.findings:
            known = (self._numbers.get(k, 0) for k in finding.pairs)
            finding.pairs = list(dict.fromkeys(filter(None, known)))[:10]
        report.findings.sort(key=lambda finding: not finding.choices)
        wrong = report.problem or report.problems or any(self._stopping())
        report.ready = report.pairs > 0 and not wrong
        return report

    def _stopping(self) -> Iterator[DraftFinding]:
        return (finding for finding in self._report.findings if finding.chosen == STOP)

    def _refuse(self, error: AlignkitError, name: str = "") -> None:
        """Note an error, at its file if it has one."""
        message, path, line = str(error), name, None
        if isinstance(error, FormatError):
            message, path, line = error.message, name or error.path, error.line
        # advice about options of functions is of no use here
        message = "; ".join(part for part in message.split("; ") if "`" not in part) or message
        message = f"line {line}: {message}" if line else message
        if path in self._files:
            self._report.problems[self._files[path].n] = message
        else:
            self._report.problem = f"{path}: {message}" if path else message

    def _find(
        self, kind: str, text: str, pairs: Iterable[int] = (),
        choices: Sequence[tuple[str, str]] = (),
    ) -> str:  # fmt: skip
        """Add a finding, and return what is chosen for it."""
        code = kind.replace(" ", "-")
        values = [value for value, _ in choices] or [""]
        chosen = self._draft.choices.get(code, "")
        chosen = chosen if chosen in values else values[0]
        listed = [DraftChoice(*choice) for choice in choices]
        text = text[:1].upper() + text[1:]
        self._report.findings.append(DraftFinding(code, text, [*pairs], listed, chosen))
        return chosen

    # What the files are

    def _lay_out(self) -> None:
        view = self._folder / "view"
        shutil.rmtree(view, ignore_errors=True)
        for path in self._folder.glob("pairs-*"):
            if not path.name.startswith(f"pairs-{self._draft.report.revision}."):
                path.unlink()
        view.mkdir()
        for name, file in self._files.items():
            (view / name).parent.mkdir(exist_ok=True)
            os.link(self._folder / str(file.n), view / name)
        os.chdir(view)

    def _look(self, name: str) -> None:
        try:
            kind = self._kind_of(name)
        except AlignkitError as error:
            self._refuse(error, name)
            kind = "none"
        said = self._files[name].kind
        self._kinds[name] = said if kind == "text" and said in TEXT_KINDS else kind

    def _kind_of(self, name: str) -> str:
        with open(name, "rb") as file:
            head = file.read(512)
        if is_project(name):
            return "project"
        if head.startswith(b"PK") and head[30:41] == b"header.json":
            from alignkit.align.aligner import Aligner

            Aligner.load(name)
            return "model"
        begin = head_of(name)
        if head.startswith(_ARCHIVES) or begin[257:262] == b"ustar":
            raise FormatError("Archives are not opened. Unpack it and drop the folder.", name)
        if not head:
            raise FormatError("is empty", name)
        wide = wide_encoding(begin)
        if b"\0" in begin and not wide:
            raise FormatError("is not text", name)
        self._decode(name, wide, xml=begin.lstrip().startswith(b"<?xml"))
        return "text"

    def _decode(self, name: str, wide: str, *, xml: bool) -> None:
        """Write a text that is not UTF-8 anew; XML says itself what it is."""
        decoder, utf8 = codecs.getincrementaldecoder("utf-8")(), True
        with open_input(name) as stream:
            for chunk in iter(partial(stream.read, MB), b""):
                self._unpacked += len(chunk)
                if self._unpacked > MOST_UNPACKED:
                    raise FormatError("unpacked, the files have more than 512 MB", name)
                try:
                    utf8 = utf8 and bool(decoder.decode(chunk) or True)
                except UnicodeDecodeError:
                    utf8 = False
        encoding = self._draft.options.get("encoding") or wide
        if not (encoding or utf8 or xml):
            text = f"{name} is not UTF-8. What is its encoding?"
            encoding = self._find("encoding", text, choices=(_STOP, *ENCODINGS.items()))
        if encoding not in ("", STOP, "utf-8"):
            self._recode(name, encoding)

    def _recode(self, name: str, encoding: str) -> None:
        try:
            with open_input(name) as raw, open("../recoded", "w", encoding="utf-8") as out:
                shutil.copyfileobj(io.TextIOWrapper(raw, encoding, newline=""), out, MB)
        except UnicodeError as problem:
            raise FormatError(f"is not {encoding}: {problem}", name) from None
        os.replace("../recoded", name)

    def _detect(self) -> None:
        undecided = [name for name, kind in self._kinds.items() if kind in ("text", "corpus")]
        for folder in dict.fromkeys(map(os.path.dirname, undecided)):
            names = [name for name in undecided if os.path.dirname(name) == folder]
            try:
                format = find_format(folder or ".") if len(names) > 1 else ""
            except AlignkitError:
                format = ""
            if format:
                self._formats[folder or "."] = self._draft.options.get("format") or format
                self._kinds.update(dict.fromkeys(names, "corpus"))
                undecided = [name for name in undecided if name not in names]
        for name in undecided:
            try:
                self._detect_file(name)
            except AlignkitError as error:
                self._refuse(error, name)
                self._kinds[name] = "none"
        self._choose_sides()

    def _detect_file(self, name: str) -> None:
        declared = self._draft.options.get("format", "")
        try:
            format = find_format(name)
        except UnknownFormatError as error:
            if self._kinds[name] == "text" and not error.fitting and self._is_text(name, error):
                return
            if not (declared or error.fitting):
                raise
            format = declared
            if not declared:
                choices = (_STOP, *((format, format) for format in error.fitting))
                text = f"{name} can have several formats"
                format = self._find("format", text, choices=choices).replace(STOP, error.fitting[0])
        self._kinds[name] = "corpus"
        self._formats[name] = declared or format

    def _is_text(self, name: str, error: FormatError) -> bool:
        begin = head_of(name).lstrip(codecs.BOM_UTF8 + b" \t\r\n")
        plain = begin.startswith(b"<s snum") or begin[:1] not in (b"<", b"[", b"{")
        return self._draft.task == "extract" or (plain and "looks like" not in error.message)

    def _choose_sides(self) -> None:
        """Take texts as source and target, in the order of their names or numbers."""
        texts = [name for name, kind in self._kinds.items() if kind == "text"]
        extract = self._draft.task == "extract"
        folders = list(dict.fromkeys(map(os.path.dirname, texts)))
        sides = [side for side in ("source", "target") if side not in self._kinds.values()]
        if extract and len(folders) == len(sides) == 2 and all(folders):
            where = dict(zip(folders, sides, strict=True))
            self._kinds.update({name: where[os.path.dirname(name)] for name in texts})
            return
        for name in texts:
            in_line = BITEXT.encode() in head_of(name).partition(b"\n")[0]
            if len(texts) == 1 and len(sides) == 2 if extract else in_line:
                self._kinds[name] = "both"
        rest = [name for name in texts if self._kinds[name] == "text"]
        rest.sort(key=_place)
        self._kinds.update(dict.fromkeys(rest, "none"), **dict(zip(rest, sides, strict=False)))
        if len(rest) > len(sides):
            names = ", ".join(rest)
            raise OptionError(f"{len(rest)} files seem to have words: {names}. Say what each is.")

    # Their pairs

    def _of(self, kind: str) -> list[str]:
        return [name for name, own in self._kinds.items() if own == kind]

    def _pairs(self) -> Iterable[SentencePair]:
        source, target, both = map(self._of, ("source", "target", "both"))
        words, projects = [*source, *target, *both], self._of("project")
        if projects:
            if words or self._formats or len(projects) > 1:
                raise OptionError("A project holds everything. Remove the other files.")
            return self._project(projects[0])
        if self._draft.task == "extract" and not self._formats and words:
            return self._documents(source, target, both)
        if not (words or self._formats):
            raise OptionError("Add the files with the sentence pairs.")
        if max(map(len, (source, target, both))) > 1 or (both and source + target):
            raise OptionError(f"Too many files have words: {', '.join(words)}. Remove some.")
        if len(source) != len(target):
            raise OptionError(f"{words[0]} has the words of one side. Add those of the other.")
        return self._corpus(source + both, target)

    def _corpus(self, source: list[str], target: list[str]) -> Iterable[SentencePair]:
        formats, options, words = self._formats, self._draft.options, source + target
        if len(set(formats.values()) & set(_STEMS)) < len(formats) and len(formats) > 1:
            names = ", ".join(formats)
            advice = "Keep one of them, or combine them with `alignkit merge`"
            raise OptionError(f"several files have links or pairs: {names}. {advice}.")
        path, format = next(iter(formats.items()), (_NO_LINKS, "naacl"))
        kind = get_format(format)
        if not formats:  # naacl reads texts without links
            Path(_NO_LINKS).touch()
        elif words and not kind.text_beside:
            raise OptionError(f"{path} has its own words. Remove {' and '.join(words)}.")
        elif not words and kind.text_beside and not self._draft.project:
            raise OptionError(f"{path} has links alone. Add the files with their words.")
        self._even_out([*words, *([path] if format == "pharaoh" else [])])
        declared = ReadOptions(
            base=int(options["base"]) if options.get("base") else None,
            transpose=options.get("direction") == "target", partial=not formats,
            name=os.path.basename(path).split(".")[0] if formats else None,
            **dict(zip(("source", "target"), words, strict=False)),
        )  # fmt: skip
        seen = self._examined(path, format, declared)
        self._report.detected = "Texts, one sentence a line"
        if formats:
            self._report.format = format
            about = re.split("[:;,(]", FORMATS[format])[0].strip()
            about = "Pharaoh links" if format == "pharaoh" else about[:1].upper() + about[1:]
            if not (kind.scheme or format.startswith("alignkit-")):
                about += f", counted from {seen.base}, "
                about += "target first" if seen.transposed else "source first"
            self._report.detected = about
        languages = [match[1] for name in words if (match := _LANGUAGE.search(name))]
        self._report.languages = "-".join(languages) if len(languages) == 2 else ""
        self._report.in_order = "ids" not in kind.holds
        return self._chosen(list(seen.corpus))

    def _even_out(self, names: list[str]) -> None:
        """Cut files of lines to the same length, if they differ and that is chosen."""
        if any(head_of(name).startswith(b"<s snum") for name in names):
            return
        files = {name: TextFile(name, ReadOptions(lenient=True)) for name in names}
        counts = {
            name: sum(chunk.count(b"\n") for chunk in file.chunks()) for name, file in files.items()
        }
        fewest = min(counts.values(), default=0)
        if fewest == max(counts.values(), default=0):
            return
        text = ", ".join(f"{name} has {count:,} lines" for name, count in counts.items())
        self._find("unequal counts", text, choices=(_STOP, ("first", f"Take the first {fewest:,}")))
        for name, file in files.items():
            with open("../cut", "wb") as out:
                out.writelines(islice(file.raw_lines(), fewest))
            os.replace("../cut", name)

    def _examined(self, path: str, format: str, options: ReadOptions) -> Examination:
        seen = examine(path, format=format, options=options, tell=self._count)
        if (better := seen.suspicion) is not None:
            name = f"Count from {better.base}"
            if better.transposed != options.transpose:
                name = "Turn round" + f", {name.lower()}" * (better.base != seen.base)
            if self._find(better.kind, better.message, choices=(_KEEP, ("turn", name))) == "turn":
                options = replace(options, base=better.base, transpose=better.transposed)
                seen = examine(path, format=format, options=options, tell=self._count)
        if seen.refused and not seen.corpus:
            error = next(each for each in seen.findings if each.kind == "broken record")
            raise FormatError(error.message, error.path, error.line)
        for kind, count in seen.counts.items():
            first = next(each for each in seen.findings if each.kind == kind)
            place = f"{first.path}, line {first.line}: " if first.line else ""
            noun, rest, choices = _CHOICES.get(kind, ("", "", ()))
            text = f"{how_many(count, noun, commas=True)} {rest}" if noun else f"{count:,} × {kind}"
            if kind not in _CHOICES or kind == "broken record":
                text += f"; {place}{first.message}"
            if not kind.startswith("suspicious"):
                self._find(kind, text, seen.pairs.get(kind, ()), choices)
        return seen

    def _count(self, pairs: int) -> None:
        if pairs > MOST_PAIRS:
            raise OptionError(f"The files have more than {MOST_PAIRS:,} pairs. Split them.")
        self._tell(f"Reading {pairs:,} pairs", None)

    def _chosen(self, pairs: Sequence[SentencePair]) -> Iterator[SentencePair]:
        """Yield the pairs without those that are left out, and with ids that are unique."""
        first: dict[object, int] = {}
        again = {
            k: first[pair.source, pair.target]
            for k, pair in enumerate(pairs, 1)
            if first.setdefault((pair.source, pair.target), k) != k and pair.source is not None
        }
        keep = True
        if again:
            text = f"{how_many(len(again), 'pair', commas=True)} with the words of another"
            places = (place for both in again.items() for place in reversed(both))
            choices = ("keep", "Keep both"), ("first", "Keep first")
            keep = self._find("repeated pairs", text, places, choices) == "keep"
        known, times = {pair.id for pair in pairs}, Counter[str]()
        for k, pair in enumerate(pairs, 1):
            if k in again and not keep:
                continue
            times[pair.id] += 1
            id = pair.id
            while times[pair.id] > 1 and id in known:
                id = f"{pair.id}-{times[pair.id]}"
                times[pair.id] += id in known
            known.add(id)
            self._numbers[k] = len(self._numbers) + 1
            yield pair if id == pair.id else replace(pair, id=id)

    def _documents(
        self, source: list[str], target: list[str], both: list[str]
    ) -> Iterable[SentencePair]:
        sides = [both] if both else [source, target]
        if len(both) > 1 or (both and source + target) or not all(sides):
            raise OptionError("Give documents of both sides, or one file of JSON lines.")
        paths = [side[0] if len(side) == 1 else os.path.dirname(side[0]) for side in sides]
        notes: list[str] = []
        tokenize = self._draft.options.get("tokenizer") or None
        pairs = list(read_documents(paths, tokenize=tokenize, note=notes.append))
        for note in notes:
            self._find("no counterpart", note)
        self._report.detected = f"{how_many(len(pairs), 'pair')} of documents"
        return pairs

    def _project(self, name: str) -> Iterable[SentencePair]:
        path = str(pairs_file(self._folder, self._draft.revision).with_suffix(".alignkit"))
        try:
            with Store.open(name, readonly=True) as store:
                build_project(path, store.log())
        except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as fault:
            raise ProjectError(f"{name}: its log cannot be read: {fault}") from None
        with Store.open(path, readonly=True) as store:
            info = store.project()
            people = how_many(len(info.annotators), "annotator")
            self._report.detected = f"A project of alignkit, task {info.task}, {people}"
            return list(exported(store))

    def _write(self, pairs: Iterable[SentencePair]) -> None:
        """Write the pairs, and an index of their lines."""
        annotators: dict[str, None] = {}

        def checked() -> Iterator[SentencePair]:
            for count, pair in enumerate(pairs, 1):
                self._count(count)
                if None in (pair.source, pair.target) and not self._draft.project:
                    raise OptionError(f"Pair {pair.id[:40]!r} has no words.")
                annotators.update(dict.fromkeys(pair.alignments))
                yield pair

        path = pairs_file(self._folder, self._draft.revision)
        write_corpus(checked(), path, format="alignkit-jsonl")
        offsets = array("q")
        with path.open("rb") as lines:
            lines.readline()
            offsets.append(lines.tell())
            for line in lines:
                offsets.append(offsets[-1] + len(line))
        path.with_suffix(".index").write_bytes(offsets.tobytes())
        if len(offsets) == 1:
            raise OptionError("The files have no sentence pairs.")
        self._report.annotators = list(map(check_name, annotators))
        self._report.pairs = len(offsets) - 1
