"""Build sentence pairs from the records of any format, by the same rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from alignkit.errors import AlignkitError, FormatError
from alignkit.io.languages import fitting_places, language_places, listed, only_read
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import Finding, TextFile
from alignkit.model.alignment import NULL, Alignment, Link, LinkLike
from alignkit.model.annotation import Annotation
from alignkit.model.labels import Scheme
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import code_points, spaces_beyond_ascii, split_unicode

if TYPE_CHECKING:
    from alignkit.model.trees import Tree

Status = Literal["sure", "possible", "none"]

DIFFERING = "link from a block of texts that differ"
"""The note on links of blocks between different words: each word is linked with each."""


class RawLink(NamedTuple):
    """A link as written: before base, direction and range are checked."""

    i: int | None  # the positions as the file numbers them; None stands for the empty word
    j: int | None
    status: Status = "sure"  # "none" is a cell judged to be no link, which keeps its label
    line: int | None = None  # the line of the file, where it is not the record's own
    weight: float | None = None
    label: str | None = None
    unseen: bool = False  # whether the annotator kept it without looking at it


@dataclass(slots=True)
class RawAnnotation:
    """One annotator's links as written, if `aligned`, and the other data of the annotation."""

    links: list[RawLink] = field(default_factory=list)
    comment: str = ""
    flags: Sequence[str] = ()
    judgment: str = ""
    provenance: str = ""
    when: str = ""
    path: str = ""
    aligned: bool = True
    role: str = ""
    start: str | None = None  # "" is a start without links
    learned: str = ""


@dataclass(slots=True)
class Record:
    """One sentence pair as written in its file."""

    id: str  # the pair's id: the file's own, or the 1-based number of the line or record
    line: int  # the line at which the record starts
    source: Sequence[str] | None = None  # the tokens; None where no file holds the text
    target: Sequence[str] | None = None
    annotations: dict[str, RawAnnotation] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    path: str = ""  # the file, where a reading has several
    source_trees: dict[str, str] = field(default_factory=dict)  # penn brackets, by name
    target_trees: dict[str, str] = field(default_factory=dict)

    def put(self, side: str, words: Sequence[str], ids: Sequence[str] = (), **facts: str) -> None:
        """Set the words of a side, the column of their ids, and facts about its text."""
        setattr(self, side, words)
        if ids:
            facts["id"] = "\t".join(ids)
        self.attributes |= {f"{side}.{name}": text for name, text in facts.items()}


_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_NULL = re.compile(r"([0-9]{1,9})-|-([0-9]{1,9})")
_RANKS = {"none": 0, "possible": 1, "sure": 2}  # of two labels of one cell, the surer is kept
_BLOCK = 100_000  # links of one block: more is an attack on memory

_Cell = tuple["int | None", "int | None"]
V = TypeVar("V", str, float)


def block(
    sources: Sequence[int | None],
    targets: Sequence[int | None],
    status: Status = "sure",
    line: int | None = None,
    label: str | None = None,
) -> list[RawLink]:
    """Link each of some source words to each of some target words."""
    if len(sources) * len(targets) > _BLOCK:
        raise FormatError(f"a block of {len(sources)} x {len(targets)} words", line=line)
    return [RawLink(i, j, status, line, label=label) for i in sources for j in targets]


def parse_links(text: str, status: Status = "sure", line: int | None = None) -> list[RawLink]:
    """Read `i-j` links separated by whitespace."""
    cells = _matches(text, _LINK, "link; expected i-j")
    return [RawLink(int(i), int(j), status, line) for i, j in cells]


def parse_nulls(text: str, status: Status = "sure", line: int | None = None) -> list[RawLink]:
    """Read `i-` and `-j` nulls separated by whitespace."""
    cells = _matches(text, _NULL, "null; expected i- or -j")
    return [RawLink(_position(i), _position(j), status, line) for i, j in cells]


def _position(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _matches(text: str, pattern: re.Pattern[str], expected: str) -> Iterator[tuple[str, str]]:
    """Yield both parts of each token."""
    for token in text.split():
        match = pattern.fullmatch(token)
        if match is None:
            raise FormatError(f"{token[:40]!r} is not a {expected}")
        yield match[1], match[2]


def raw_links(
    links: list[RawLink],
    weights: Mapping[str, float],
    labels: Mapping[str, str],
    line: int,
    unseen: str = "",
) -> list[RawLink]:
    """Add weights and labels to links and nulls, and mark the links that were not looked at.

    A label without a link marks a non-link.
    """
    if not weights and not labels and not unseen:
        return links
    numbers = _by_cell(weights)
    names = _by_cell(labels)
    known = {link[:2] for link in links}
    kept = _unseen_cells(unseen, known)
    for cell, key in zip(numbers, weights, strict=True):
        if cell not in known:
            raise FormatError(f"there is a weight for {key!r}, which is not a link")
    complete = []
    for link in links:
        cell = link[:2]
        added = link._replace(weight=numbers.get(cell), label=names.get(cell), unseen=cell in kept)
        complete.append(added)
    for cell, name in names.items():
        if cell not in known:
            complete.append(RawLink(*cell, "none", line, None, name))
    return complete


def _unseen_cells(text: str, known: Collection[_Cell]) -> set[_Cell]:
    """Read the links that were not looked at; each must be one of the known links, once."""
    cells: set[_Cell] = set()
    for link in parse_links(text):
        cell = link[:2]
        if cell not in known:
            raise FormatError(f"{link.i}-{link.j} is unseen, but is not a link")
        if cell in cells:
            raise FormatError(f"{link.i}-{link.j} occurs twice among the unseen links")
        cells.add(cell)
    return cells


def _by_cell(values: Mapping[str, V]) -> dict[_Cell, V]:
    """Return values by links or nulls, which are the keys as texts."""
    cells = {}
    for key, value in values.items():
        match = _LINK.fullmatch(key) or _NULL.fullmatch(key)
        if match is None:
            raise FormatError(f"{key[:40]!r} is not a link or null; expected i-j, i- or -j")
        i, j = map(_position, match.groups())
        cells[i, j] = value
    if len(cells) < len(values):
        raise FormatError("two keys of the weights or labels are the same link")
    return cells


class Reading(TextFile):
    """One input of a format, and the sentence pairs of its records.

    Returned by `open_reading`.

    Parameters
    ----------
    path, options, observe : As of `TextFile`.
    base : The number of the first word in the format, unless the options have another.
    format : The name of the format.

    Examples
    --------
    >>> from alignkit.io import open_reading, read_pairs
    >>> chosen, reading = open_reading("samples/paraphrases.jsonl")
    >>> first = next(read_pairs(chosen, reading))
    >>> first.id, reading.read, reading.refused
    ('p01', 1, 0)
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
        super().__init__(path, options, observe=observe)
        self.base = base if options.base is None else options.base
        self.format = format
        self.read = 0  # good records
        self.refused = 0  # broken ones
        self.place = (path, 0)  # the file and line of the last record
        self.shift = ""  # where texts are shifted against the links
        self.unread = ""  # languages that were not read
        self.disorder = ""  # numbers of sentence pairs that are out of order or missing

    @property
    def cautions(self) -> list[str]:
        """Cautions, after reading: links are shifted or dropped, languages left out."""
        texts = [self.shift]
        dropped = self.counts["link out of range"]
        if dropped:
            texts.append(f"{dropped} links out of range were dropped")
        texts.append(self.unread)
        return [f"{self.path}: {text}" for text in texts if text]

    @property
    def name(self) -> str:
        """The annotator, for formats without names."""
        return self.options.name or "alignment"

    def choose(self, *names: Sequence[str], line: int | None = None) -> tuple[int, int]:
        """Return the places of the two languages to read, given the `names` of each in the file."""
        wanted = self.options.languages
        places = language_places(names, wanted) if wanted else (0, 1)
        if len(names) < 2 or places is None:
            missing = "two languages" if wanted is None else " and ".join(wanted)
            raise self.error(f"does not have {missing[:80]}; it has {listed(names)}", line)
        if wanted is not None:
            self.note_alike(names, places, line)
        elif len(names) > 2:
            self.unread = only_read(listed(names[:2]), listed(names[2:]))
            self.note("language left out", self.unread, line, times=len(names) - 2)
        return places

    def note_alike(
        self, names: Sequence[Sequence[str]], places: Sequence[int], line: int | None
    ) -> None:
        """Note the languages that the wanted names fit as well as those that were chosen."""
        for name in self.options.languages or ():
            alike = fitting_places(names, name)
            rest = [names[k] for k in alike if k not in places]
            if rest:
                self.unread = (
                    f"{name} is also {listed(rest)}; name one of them in the option languages"
                )
                self.note("language left out", self.unread, line, times=len(rest))

    def by_unit(
        self,
        ids: Sequence[Sequence[str]],
        places: Sequence[Mapping[str, tuple[str, int]]],
        across: str,
    ) -> dict[str, tuple[list[int], list[int]]]:
        """Return the words of a group on both sides, by unit, such as a segment or a verse.

        Parameters
        ----------
        ids : The ids of the group's words, for each side.
        places : The unit of every word and its number in the unit, by id, for each side.
        across : The kind of finding that is noted if the group has words of several units.
        """
        units: dict[str, tuple[list[int], list[int]]] = {}
        for side, places_of_side in enumerate(places):
            for id in dict.fromkeys(ids[side]):  # each once, in order
                place = places_of_side.get(id)
                if place is None:
                    self.note("id of no word", repr(id[:40]))
                else:
                    unit, number = place
                    words_of_unit = units.setdefault(unit, ([], []))
                    words_of_unit[side].append(number)
        if len(units) > 1:
            self.note(across, f"{', '.join(units)}; only words of the same one are linked")
        elif not any(first and second for first, second in units.values()):
            self.note("group of one side only", "left out")
        return units

    def refuse(self, error: FormatError) -> None:
        """Raise the error of a broken record; if lenient, count it and continue."""
        if not self.options.lenient:
            raise error
        self.refused += 1
        self.note("broken record", error.message, error.line, error.path)

    def reject(self, message: str, line: int | None = None, path: str = "") -> None:
        """Refuse a broken record with this message and place."""
        self.refuse(self.error(message, line, path=path))

    @contextmanager
    def refusing(self, line: int | None = None, path: str = "") -> Iterator[None]:
        """Handle errors of the record read inside; `line` and `path` are its place."""
        try:
            yield
        except FormatError as error:
            if not error.path:
                error = self.error(error.message, error.line or line, error.column, path)
            self.refuse(error)

    def build(self, record: Record) -> SentencePair | None:
        """Return the sentence pair of a record; this applies base, direction and range."""
        self.place = (record.path or self.path, record.line)
        sides = (("source", record.source), ("target", record.target))
        try:
            for side, tokens in sides:
                if tokens is not None and len(tokens) > self.options.max_words:
                    name = f"pair {record.id[:40]!r}: the {side}"
                    raise self.too_long(name, len(tokens), record.line, record.path)
            source = None if record.source is None else self.shared(record.source)
            target = None if record.target is None else self.shared(record.target)
            given = record.annotations.items()
            annotations = {name: self._annotation(raw, record) for name, raw in given}
            trees = (
                self._trees("source", record.source_trees, source, record),
                self._trees("target", record.target_trees, target, record),
            )
            pair = SentencePair(record.id, source, target, annotations, record.attributes, *trees)
        except AlignkitError as error:
            if not isinstance(error, FormatError):
                error = self.error(str(error), record.line, path=record.path)
            self.refuse(error)
            return None
        self.read += 1
        return pair

    def pairs(self, records: Iterator[Record]) -> Generator[SentencePair, None, None]:
        """Yield the sentence pair of each good record."""
        try:
            for record in records:
                pair = self.build(record)
                if pair is not None:
                    yield pair
        except BaseException:  # an error, or nobody wants the rest: parsers may hold open files
            self.close()
            raise

    def judged(self, scheme: Scheme, label: str, line: int) -> RawAnnotation | None:
        """Return the annotation of a pair with only a judgment; None without a label."""
        try:
            scheme.parse(label)
        except FormatError as problem:
            if not self.options.lenient_labels:
                raise FormatError(
                    f"{problem.message}; keep such labels with `lenient_labels=True`"
                ) from None
            self.note("label of no scheme", problem.message, line)
        if label:
            return RawAnnotation(judgment=label, aligned=False)
        return None

    def _trees(
        self, side: str, texts: dict[str, str], words: tuple[str, ...] | None, record: Record
    ) -> dict[str, Tree]:
        """Return the trees of a side; if lenient, those that do not fit are left out."""
        trees: dict[str, Tree] = {}
        if not texts:
            return trees
        from alignkit.model.trees import Tree

        for name, text in texts.items():
            try:
                trees[name] = Tree.parse(text, words or ())
            except FormatError as problem:
                place = f", character {problem.column}" if problem.column else ""
                message = (
                    f"pair {record.id[:40]!r}: {side} tree {name[:40]!r}{place}: {problem.message}"
                )
                if not self.options.lenient:
                    raise self.error(message, record.line, path=record.path) from None
                self.note("tree that does not fit", message, record.line, record.path)
        return trees

    def _annotation(self, raw: RawAnnotation, record: Record) -> Annotation:
        """Return an annotation, with its links checked and read once each."""
        links = _DistinctLinks(self, raw.path or record.path)
        for written in raw.links:
            link = self._link(written, raw.path or record.path, record)
            if link is not None:
                links.add(link, written, written.line or record.line)
        alignment = links.alignment()
        return Annotation(
            alignment if raw.aligned else None,
            comment=raw.comment,
            flags=frozenset(raw.flags),
            judgment=raw.judgment,
            provenance=raw.provenance,
            when=raw.when or None,
            role=raw.role,
            start=raw.start,
            learned=raw.learned,
            unseen=frozenset(links.unseen),
        )

    def _link(self, written: RawLink, path: str, record: Record) -> Link | None:
        """Return a link from base 0, source first; None if one out of range is dropped."""
        i = written.i
        j = written.j
        if self.options.transpose:
            i, j = j, i
        if self._is_inside(i, record.source) and self._is_inside(j, record.target):
            source = NULL if i is None else i - self.base
            target = NULL if j is None else j - self.base
            return Link(source, target)
        sides = (record.source, record.target)
        n, m = ("?" if words is None else len(words) for words in sides)
        turned = " and written target first" if self.options.transpose else ""
        # as in the file: a null has nothing on the side of the empty word, `3-` or `-3`
        first = "" if written.i is None else written.i
        second = "" if written.j is None else written.j
        message = (
            f"link {first}-{second} lies outside the pair {record.id!r} of {n} x {m} words, "
            f"counted from {self.base}{turned}"
        )
        line = written.line or record.line
        if not self.options.drop_out_of_range:
            advice = "check `base` and `transpose`, or drop them with `drop_out_of_range=True`"
            spaces = self._other_spaces((i, j), sides)
            if spaces:
                advice = (
                    f"the words contain {spaces}; tools that use Python's split() divide "
                    "there too: for links of such tools, use `token_separators=unicode`"
                )
            raise self.error(message, line, path=path, advice=advice)
        self.note("link out of range", message + "; dropped", line, path)
        return None

    def _is_inside(self, index: int | None, words: Sequence[str] | None) -> bool:
        """Return whether a position is that of a word, as far as the words are known."""
        if index is None:
            return True
        place = index - self.base
        return place >= 0 and (words is None or place < len(words))

    def _other_spaces(
        self, cell: Sequence[int | None], sides: Sequence[Sequence[str] | None]
    ) -> str:
        """Name the white space at which the words must be divided for a link to lie inside.

        The result is empty if the link lies outside even then, or if no words are known.
        """
        spaces: dict[str, None] = {}
        for index, words in zip(cell, sides, strict=True):
            if words is None:
                return ""
            parts = []
            for word in words:
                parts.extend(split_unicode(word))
            if not self._is_inside(index, parts):
                return ""
            if not self._is_inside(index, words):
                spaces |= dict.fromkeys(spaces_beyond_ascii("".join(words)))
        return code_points(spaces)


class _DistinctLinks:
    """The links of an annotation, each once, although a file may repeat them.

    A link that is sure as well as possible is sure. If it has two labels, that of the surer one is
    kept, or else the first; two weights, the last. What is repeated is noted.
    """

    def __init__(self, reading: Reading, path: str) -> None:
        self._reading = reading
        self._path = path
        self._weights: dict[LinkLike, float] = {}
        self._labelled: dict[Link, RawLink] = {}  # for each cell the link whose label is kept
        self._statuses: dict[Link, str] = {}  # "both": sure as well as possible
        self.unseen: list[Link] = []

    def add(self, link: Link, written: RawLink, line: int) -> None:
        """Add a link, as written in this line; one with the status "none" has only its label."""
        if written.label is not None:
            self._add_label(link, written, line)
        if written.status == "none":
            return
        if link in self._statuses:
            self._note_repetition(link, written, line)
        else:
            self._statuses[link] = written.status
        if written.weight is not None:
            self._weights[link] = written.weight
        if written.unseen:
            self.unseen.append(link)

    def _add_label(self, link: Link, written: RawLink, line: int) -> None:
        """Keep the label of a link, unless the cell has that of a surer link."""
        before = self._labelled.setdefault(link, written)
        if _RANKS[written.status] > _RANKS[before.status]:
            self._labelled[link] = written
        if before.label != written.label:
            kept = self._labelled[link].label
            message = f"{before.label} and {written.label} for one cell; {kept} is kept"
            self._reading.note("two labels", message, line, self._path)

    def _note_repetition(self, link: Link, written: RawLink, line: int) -> None:
        """Note a link that was there before, with the same or the other status."""
        if self._statuses[link] in (written.status, "both"):
            message = f"{link.i}-{link.j} occurs again"
            self._reading.note("duplicate link", message, line, self._path)
        else:
            self._statuses[link] = "both"
            message = f"{link.i}-{link.j} is read as sure"
            self._reading.note("both sure and possible", message, line, self._path)

    def alignment(self) -> Alignment:
        """Return the alignment with these links."""
        possible = [link for link, status in self._statuses.items() if status == "possible"]
        sure = self._statuses.keys() - possible
        return Alignment(
            [link for link in sure if NULL not in link],
            [link for link in possible if NULL not in link],
            nulls=[link for link in sure if NULL in link],
            possible_nulls=[link for link in possible if NULL in link],
            weights=self._weights,
            labels={link: written.label or "" for link, written in self._labelled.items()},
        )
