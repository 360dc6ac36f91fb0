"""Records of three lines, the last of which holds words with positions in brackets.

GIZA++ writes them, and the RTE-2 alignments do: a header, a sentence, and the other sentence as
``NULL ({ 3 }) word ({ 1 2 }) ...``. A word may itself look like a bracket: what follows a word is
always ``({``, and what follows that, up to ``})``, are positions.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from alignkit.errors import FormatError
from alignkit.io.link_notation import Numbering
from alignkit.io.records import RawLink, Reading, Status
from alignkit.io.text_files import split_words
from alignkit.io.writing import Writing
from alignkit.model.alignment import NULL, Alignment, Link
from alignkit.model.sentence_pair import SentencePair

_Line = tuple[int, str]


class Bracketed(NamedTuple):
    """A word and what stands in the brackets behind it."""

    word: str
    items: Sequence[str]


class LineBlock(NamedTuple):
    """A record of three lines."""

    header: re.Match[str]  # the match of its first line
    line: int  # the number of that line
    plain: tuple[str, ...]  # the tokens of the second line
    words: Sequence[Bracketed]  # the words of the third line, without the leading NULL
    nulls: Sequence[str]  # what stands in the brackets of NULL


def read_blocks(
    reading: Reading,
    header: re.Pattern[str],
    shape: str,
    *,
    mend: Callable[[str, int], str] = lambda text, _: text,
) -> Iterator[LineBlock]:
    """Yield the records; a broken one is refused, and reading goes on at the next header."""
    lines = _Lines(reading.lines(), mend)
    for number, text in lines:
        match = header.fullmatch(text.strip())
        if match is None:
            if text.strip():
                reading.refuse(reading.error(f"{text.strip()[:40]!r}, expected {shape!r}", number))
                lines.skip_to(header)
            else:
                reading.note("empty line", "passed over", number)
            continue
        rest = [line for line in (next(lines, None), next(lines, None)) if line is not None]
        try:
            yield _block(match, number, rest, reading)
        except FormatError as error:
            reading.refuse(error)
            lines.push(rest)
            lines.skip_to(header)


def write_blocks(
    pairs: Iterable[SentencePair],
    writing: Writing,
    header: Callable[[SentencePair, str], str],
    *,
    bracketed: int,
    possible: str = "",
    tail: str = "",
) -> None:
    """Write pairs as records of three lines, given the header of a pair and its number.

    `bracketed` is the side, 0 or 1, whose words have brackets; `possible` stands before a position
    whose link is only possible, and `tail` ends each bracket.
    """
    numbering = Numbering(writing.lost, unique=False)
    with writing.open() as stream:
        for written in pairs:
            alignment = writing.alignment(written)
            if alignment is None:
                continue
            pair = written.transpose() if writing.options.transpose else written
            plain = writing.words(pair)[1 - bracketed]
            tokens = pair.words[bracketed]
            positions: list[list[str]] = [[] for _ in range(len(tokens) + 1)]  # NULL is last
            nulls = [(null, null in alignment.sure_nulls) for null in sorted(alignment.nulls)]
            for link, sure in [*alignment.items(), *nulls]:
                word, position = link[bracketed], link[1 - bracketed]
                if position != NULL:
                    mark = "" if sure else possible
                    positions[word].append(f"{mark}{position + writing.base}")
            if any(null[1 - bracketed] == NULL for null, _ in nulls):
                writing.lost["nulls"] += 1
            words = zip(("NULL", *tokens), (positions[-1], *positions[:-1]), strict=True)
            line = " ".join(" ".join((word, "({", *there, f"{tail}}})")) for word, there in words)
            stream.write(f"{header(pair, numbering.take(pair.id))}\n{plain}\n{line}\n")


def _block(match: re.Match[str], number: int, rest: list[_Line], reading: Reading) -> LineBlock:
    if len(rest) < 2:
        raise reading.error(
            f"the file ends inside the record {match[0][:40]!r}, which has three lines", number
        )
    words = _bracketed(rest[1][1], rest[1][0], reading)
    if not words or words[0].word != "NULL":
        raise reading.error("expected 'NULL ({ ... })' before the words", rest[1][0])
    return LineBlock(match, number, reading.tokens(rest[0][1]), words[1:], words[0].items)


def _bracketed(text: str, line: int, reading: Reading) -> list[Bracketed]:
    """Split a line into words and what stands in the brackets behind each."""
    tokens = split_words(text)
    found: list[Bracketed] = []
    at = 0
    while at < len(tokens):
        word = tokens[at]
        if tokens[at + 1 : at + 2] != ["({"]:
            raise reading.error(f"expected '({{ ... }})' behind the word {word[:40]!r}", line)
        try:
            end = tokens.index("})", at + 2)
        except ValueError:
            raise reading.error(
                f"'({{' behind the word {word[:40]!r} is not closed by '}})'", line
            ) from None
        found.append(Bracketed(word, tokens[at + 2 : end]))
        at = end + 1
    return found


class _Lines:
    """Lines of which some can be put back; the last one is mended."""

    def __init__(self, lines: Iterator[_Line], mend: Callable[[str, int], str]) -> None:
        self._lines, self._mend = lines, mend
        self._ahead: deque[_Line] = deque()

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> _Line:
        number, text = self._ahead.popleft() if self._ahead else next(self._lines)
        if not self._ahead:
            self._ahead.extend(line for line in (next(self._lines, None),) if line is not None)
        if not self._ahead:
            text = self._mend(text, number)
        return number, text

    def push(self, lines: list[_Line]) -> None:
        self._ahead.extendleft(reversed(lines))

    def skip_to(self, header: re.Pattern[str]) -> None:
        for line in self:
            if header.fullmatch(line[1].strip()):
                self.push([line])
                return


MOST_CELLS = 1 << 20
"""The most cells that the groups of one sentence pair may have, lest a broken file never ends."""

_LIST = r"((?:[0-9]{1,9}(?:,[0-9]{1,9})*)?)"
_GROUP = re.compile(rf"{_LIST}:{_LIST}:(\S+)")


class Group(NamedTuple):
    """Some source words, some target words (one of the two may be none) and their label."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    label: str


def parse_groups(
    text: str, line: int, path: str, reading: Reading, known: Mapping[str, Status] | None
) -> Iterator[RawLink]:
    """Yield the links of a line of groups, each with the label of its group."""
    count = 0
    for token in text.split():
        match = _GROUP.fullmatch(token)
        if match is None or not (match[1] or match[2]):
            raise reading.error(
                f"{token[:40]!r} is no group; expected 'i,i:j,j:label'", line, path=path
            )
        sources, targets, label = _numbers(match[1]), _numbers(match[2]), match[3]
        if known is not None and label not in known:
            names = ", ".join(known)
            raise reading.error(
                f"unknown label {label[:40]!r}; expected one of {names}", line, path=path
            )
        status: Status = "sure" if known is None else known[label]
        count += len(sources) * len(targets)
        if count > MOST_CELLS:
            raise reading.error(
                f"groups of more than {MOST_CELLS} cells in one sentence pair", line, path=path
            )
        for cell in ((i, j) for i in sources for j in targets):
            yield RawLink(*cell, status, line, label=label)


def _numbers(text: str) -> list[int | None]:
    return [int(number) for number in text.split(",")] if text else [None]


def write_groups(cells: Iterable[tuple[Link, str]], base: int) -> Iterator[str]:
    """Yield labelled cells as groups in the notation; see `group_cells`."""
    for group in group_cells(cells):
        sides = (",".join(str(k + base) for k in side) for side in group[:2])
        yield ":".join((*sides, group.label))


def group_cells(cells: Iterable[tuple[Link, str]]) -> list[Group]:
    """Return the fewest groups that restore labelled cells.

    Connected cells of one label are a group if they fill their block, else one group a source word.
    A null is a group of its own.

    Examples
    --------
    >>> group_cells([(Link(0, 0), "a"), (Link(0, 1), "a"), (Link(1, 1), "b"), (Link(2, NULL), "a")])
    [Group(sources=(0,), targets=(0, 1), label='a'), Group(sources=(1,), targets=(1,), label='b'), \
Group(sources=(2,), targets=(), label='a')]
    """
    by_label: dict[str, list[Link]] = {}
    groups: list[Group] = []
    for link, label in cells:
        if NULL in link:
            words = [(index,) if index != NULL else () for index in link]
            groups.append(Group(words[0], words[1], label))
        else:
            by_label.setdefault(label, []).append(link)
    for label, links in by_label.items():
        for part in Alignment(links).components():
            sources, targets = (tuple(sorted({*side})) for side in zip(*part, strict=True))
            if len(part) == len(sources) * len(targets):
                groups.append(Group(sources, targets, label))
                continue
            by_source: dict[int, list[int]] = {}
            for i, j in sorted(part):
                by_source.setdefault(i, []).append(j)
            groups += (Group((i,), tuple(js), label) for i, js in by_source.items())
    return sorted(groups)
