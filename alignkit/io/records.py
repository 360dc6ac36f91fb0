"""The reading of a file: records of any format become sentence pairs by the same rules."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple

from alignkit.errors import AlignkitError, FormatError, OptionError
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import Finding, TextFile
from alignkit.model.alignment import NULL, Alignment, Link
from alignkit.model.annotation import Annotation
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.model.trees import Tree


Status = Literal["sure", "possible", "none"]

DIFFERING = "link from a block of texts that differ"
"""The note on links that join each word of one text to each of another, of other words."""


class RawLink(NamedTuple):
    """A link as written: not yet moved to base 0, transposed or checked."""

    i: int | None  # the positions as the file numbers them; None stands for the empty word
    j: int | None
    status: Status = "sure"  # "none" is a cell judged to be no link, which keeps its label
    line: int | None = None  # the line of the file, where it is not the record's own
    weight: float | None = None
    label: str | None = None


@dataclass(slots=True)
class RawAnnotation:
    """One annotator's links as written, and what else the file says about them.

    `aligned` is false where the pair was judged, but not aligned: then there are no links.
    """

    links: list[RawLink] = field(default_factory=list)
    comment: str = ""
    flags: Sequence[str] = ()
    judgment: str = ""
    provenance: str = ""
    when: str = ""
    path: str = ""
    aligned: bool = True


@dataclass(slots=True)
class Record:
    """One sentence pair as its file writes it."""

    id: str  # the pair's id: the file's own, or the 1-based number of the line or record
    line: int  # the line at which the record starts
    source: Sequence[str] | None  # the tokens; None where the file and its companions hold no text
    target: Sequence[str] | None
    annotations: dict[str, RawAnnotation] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    path: str = ""  # the file, where a reading has several
    source_trees: dict[str, str] = field(default_factory=dict)  # penn brackets, by name
    target_trees: dict[str, str] = field(default_factory=dict)


_OBJECTS = 200_000


class _Seldom:
    """Fewer walks of the collector over millions of words, none of which is in a cycle."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._readers = 0
        self._before: tuple[int, int, int] | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._readers += 1
            if self._before is None and gc.get_threshold()[0]:  # else it never collects
                self._before = gc.get_threshold()
                gc.set_threshold(max(self._before[0], _OBJECTS), *self._before[1:])

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers and self._before is not None:
                gc.set_threshold(*self._before)
                self._before = None


seldom_collecting = _Seldom()

_RANKS = {"none": 0, "possible": 1, "sure": 2}  # of two labels of one cell, the surer is kept


class Reading(TextFile):
    """One input of a format, and the sentence pairs that its records make.

    `base` is the format's own number of the first word. `read` and `refused` count whole and broken
    records, `place` is the file and line of the last, `shift` says how texts are shifted.
    """

    def __init__(
        self,
        path: str,
        options: ReadOptions,
        *,
        base: int = 0,
        observe: Callable[[Finding], None] | None = None,
        format: str = "",
    ) -> None:
        if options.base not in (None, 0, 1):
            raise OptionError(f"base must be 0 or 1, not {options.base}")
        super().__init__(path, options, observe=observe)
        self.base = base if options.base is None else options.base
        self.format = format
        self.read = 0
        self.refused = 0
        self.place = (path, 0)
        self.shift = ""

    @property
    def cautions(self) -> list[str]:
        """What to know of the links, when all is read: that they are shifted, or were dropped."""
        dropped = self.counts["link out of range"]
        told = [self.shift, f"{dropped} links out of range were dropped" if dropped else ""]
        return [f"{self.path}: {text}" for text in told if text]

    @property
    def name(self) -> str:
        """The annotator, for formats that name none."""
        return self.options.name or "alignment"

    def refuse(self, error: FormatError) -> None:
        """Raise the error of a broken record; when lenient, count it and go on."""
        if not self.options.lenient:
            raise error
        self.refused += 1
        self.counts["broken record"] += 1
        if self._observe is not None:
            self._observe(
                Finding("broken record", error.message, error.path or self.path, error.line)
            )

    @contextmanager
    def refusing(self, line: int | None = None, path: str = "") -> Iterator[None]:
        """Refuse the record that is read inside if it is broken; `line` and `path` place it."""
        try:
            yield
        except FormatError as error:
            if error.path:
                self.refuse(error)
            else:
                self.refuse(self.error(error.message, error.line or line, error.column, path))

    def build(self, record: Record) -> SentencePair | None:
        """Make a sentence pair of a record; base, direction and range are settled here."""
        self.place = (record.path or self.path, record.line)
        try:
            self._refuse_long(record)
            source, target = (
                None if tokens is None else self.shared(tokens)
                for tokens in (record.source, record.target)
            )
            pair = SentencePair(
                record.id,
                source,
                target,
                {name: self._annotate(raw, record) for name, raw in record.annotations.items()},
                record.attributes,
                self._trees("source", record.source_trees, source, record),
                self._trees("target", record.target_trees, target, record),
            )
        except FormatError as error:
            self.refuse(error)
            return None
        except AlignkitError as error:
            self.refuse(self.error(str(error), record.line, path=record.path))
            return None
        self.read += 1
        return pair

    def _refuse_long(self, record: Record) -> None:
        for side, words in (("source", record.source), ("target", record.target)):
            if words is not None and len(words) > self.options.max_words:
                name = f"pair {record.id[:40]!r}: the {side}"
                raise self.too_long(name, len(words), record.line, record.path)

    def pairs(self, records: Iterator[Record]) -> Generator[SentencePair, None, None]:
        """Yield the sentence pair of each record that is whole."""
        try:
            for record in records:
                pair = self.build(record)
                if pair is not None:
                    yield pair
        except BaseException:  # an error, or nobody wants the rest: parsers may hold open files
            self.close()
            raise

    def _trees(
        self, side: str, texts: dict[str, str], words: tuple[str, ...] | None, record: Record
    ) -> dict[str, Tree]:
        from alignkit.model.trees import Tree

        found: dict[str, Tree] = {}
        for name, text in texts.items():
            try:
                found[name] = Tree.parse(text, words or ())
            except FormatError as problem:
                place = f", character {problem.column}" if problem.column else ""
                about = f"pair {record.id[:40]!r}: {side} tree {name[:40]!r}{place}"
                message = f"{about}: {problem.message}"
                if not self.options.lenient:
                    raise self.error(message, record.line, path=record.path) from None
                self.note("tree that does not fit", message, record.line, record.path)
        return found

    def _annotate(self, raw: RawAnnotation, record: Record) -> Annotation:
        links: dict[bool, list[Link]] = {True: [], False: []}
        nulls: dict[bool, list[Link]] = {True: [], False: []}
        weights: dict[Link, float] = {}
        labels: dict[Link, RawLink] = {}
        seen: dict[Link, str] = {}
        for written in raw.links:
            link = self._link(written, raw, record)
            if link is None:
                continue
            if written.label is not None:
                before = labels.get(link)
                if before is None or _RANKS[written.status] > _RANKS[before.status]:
                    labels[link] = written
                if before is not None and before.label != written.label:
                    kept = labels[link].label
                    self.note(
                        "two labels",
                        f"{before.label} and {written.label} for one cell; {kept} is kept",
                        written.line or record.line,
                        raw.path or record.path,
                    )
            if written.status == "none":
                continue
            self._note_repetition(link, written, seen, raw.path or record.path, record.line)
            side = nulls if NULL in link else links
            side[written.status == "sure"].append(link)
            if written.weight is not None:
                weights[link] = written.weight
        alignment = Alignment(
            links[True],
            links[False],
            nulls=nulls[True],
            possible_nulls=nulls[False],
            weights=weights,  # type: ignore[arg-type]
            labels={link: written.label or "" for link, written in labels.items()},
        )
        return Annotation(
            alignment if raw.aligned else None,
            raw.comment,
            frozenset(raw.flags),
            raw.judgment,
            raw.provenance,
            raw.when or None,
        )

    def _note_repetition(
        self, link: Link, written: RawLink, seen: dict[Link, str], path: str, line: int
    ) -> None:
        before = seen.get(link)
        if before is None:
            seen[link] = written.status
            return
        if before in (written.status, "both"):
            kind, message = "duplicate link", f"{link.i}-{link.j} occurs again"
        else:
            kind, message = "both sure and possible", f"{link.i}-{link.j} is read as sure"
            seen[link] = "both"
        self.note(kind, message, written.line or line, path)

    def _link(self, written: RawLink, raw: RawAnnotation, record: Record) -> Link | None:
        """Return a link counted from 0, source first; None after one out of range is dropped."""
        cell = (written.j, written.i) if self.options.transpose else written[:2]
        inside = (
            index is None
            or (index >= self.base and (words is None or index - self.base < len(words)))
            for index, words in zip(cell, (record.source, record.target), strict=True)
        )
        if all(inside):
            return Link(*(NULL if index is None else index - self.base for index in cell))
        n = "?" if record.source is None else len(record.source)
        m = "?" if record.target is None else len(record.target)
        message = (
            f"link {'' if written.i is None else written.i}-"
            f"{'' if written.j is None else written.j} lies outside the pair {record.id!r} of "
            f"{n} x {m} words, counted from {self.base}"
            f"{' and written target first' if self.options.transpose else ''}"
        )
        line = written.line or record.line
        path = raw.path or record.path
        if not self.options.drop_out_of_range:
            raise self.error(
                message + "; check `base` and `transpose`, or drop such links by "
                "`drop_out_of_range=True`",
                line,
                path=path,
            )
        self.note("link out of range", message + "; dropped", line, path)
        return None
