"""Parallel text: two files, or one of lines that hold both sentences.

A line holds the tokens of a sentence, divided by white space, in one of three dresses:

- ``tokens`` alone: the n-th line is the n-th sentence;
- ``id<TAB>tokens``, where the links have ids too;
- ``<s snum=N> tokens </s>``, as in the NAACL and WPT shared tasks.

A bitext holds both sentences in one line, ``source ||| target``; so does a line of two columns,
divided by a tab, which only plain texts have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple, NoReturn, TextIO

from alignkit.errors import AlignkitError
from alignkit.formats.textfile import BOM, TextFile
from alignkit.formats.words import split_words

BITEXT = "|||"
DIVIDERS = {"bitext": BITEXT, "tsv": "\t"}
"""What divides two sentences in a line, by the name of the form."""

_SNUM = re.compile(r"<s\s+snum\s*=\s*\"?([^\s>\"]+)\"?\s*>")


class Text(NamedTuple):
    """The words of one sentence pair."""

    line: int  # the line of the files, 1-based
    snum: str | None  # the number that <s snum=N> gives, None elsewhere
    source: str  # the lines without that dress, not split yet
    target: str


def read_texts(reading: TextFile) -> Iterator[Text] | None:
    """Yield the sentences of the files that the options name, or return None if they name none."""
    source, target = reading.options.source, reading.options.target
    if source is None:
        return None
    if target is None or target == source:
        return _bitext(reading, source)
    return _two_files(reading, source, target)


def _bitext(reading: TextFile, path: str) -> Iterator[Text]:
    for line, text in reading.lines(path):
        parts = text.split(BITEXT)
        if len(parts) != 2:
            raise reading.error(
                f"{_count(parts)}: `source` without `target` names a bitext of 'source ||| target' "
                "lines",
                line,
                path=path,
            )
        yield Text(line, None, parts[0], parts[1])


def _count(parts: list[str]) -> str:
    return f"{len(parts) - 1} dividers ' ||| ', expected one"


def _two_files(reading: TextFile, source: str, target: str) -> Iterator[Text]:
    sides = zip_longest(_numbered(reading, source), _numbered(reading, target))
    count = [0, 0]
    for first, second in sides:
        if first is None or second is None:
            more = sum(1 for _ in sides) + 1
            refuse_counts(
                reading,
                count[0] + (more if second is None else 0),
                count[1] + (more if first is None else 0),
            )
        count = [count[0] + 1, count[1] + 1]
        line, snum, text = first
        if snum != second[1]:
            raise reading.error(
                f"sentence {second[1] or 'without a number'}, but {source}:{line} has "
                f"{snum or 'none'}",
                second[0],
                path=target,
            )
        yield Text(line, snum, text, second[2])


def refuse_counts(reading: TextFile, sources: int, targets: int) -> NoReturn:
    """Refuse two files that have different numbers of sentences."""
    sides = (sources, reading.options.source or ""), (targets, reading.options.target or "")
    (fewer, shorter), (more, longer) = sorted(sides)
    raise reading.error(f"has {more} sentences, but {shorter} has {fewer}", path=longer)


def _numbered(reading: TextFile, path: str) -> Iterator[tuple[int, str | None, str]]:
    tagged = False
    for line, text in reading.lines(path):
        if line == 1:
            tagged = text.lstrip().startswith("<s snum")
        if not tagged:
            yield line, None, text
        elif text.strip():
            words = text.strip()
            match = _SNUM.match(words)
            if match is None:
                raise reading.error("expected '<s snum=N> words </s>'", line, path=path)
            yield line, match[1], words[match.end() :].removesuffix("</s>")


class TwoInLine:
    """Divide lines into source and target, by the divider that the first one has."""

    def __init__(self, reading: TextFile, form: str | None = None) -> None:
        self._reading = reading
        self._divider = DIVIDERS[form] if form else None

    def __call__(self, line: str, number: int) -> tuple[str, str]:
        """Return both sides of a line; nothing of one that is empty."""
        if line.isspace() or not line:
            return "", ""
        self._divider = self._divider or self._found(line, number)
        sides = self._halves(line, self._divider, number)
        most = self._reading.options.max_words
        for name, side in zip(("source", "target"), sides, strict=True):
            if len(side) > 2 * most:  # shorter ones have no room for more words
                words = len(split_words(side))
                if words > most:
                    raise self._reading.too_long(f"the {name} sentence", words, number)
        return sides

    def _found(self, line: str, number: int) -> str:
        divider = next((divider for divider in DIVIDERS.values() if divider in line), None)
        if divider is None:
            raise self._reading.error(
                "neither ' ||| ' nor a tab divides two sentences; name two texts, SRC and TGT, or "
                "the `format` of this one",
                number,
            )
        return divider

    def _halves(self, line: str, divider: str, number: int) -> tuple[str, str]:
        parts = line.split(divider)
        if len(parts) == 2:
            return parts[0], parts[1]
        if divider == BITEXT:
            message = f"{_count(parts)}, between source and target"
        else:
            message = (
                f"{len(parts)} columns, expected source and target, divided by one tab (`cut -f` "
                "takes two of them)"
            )
        raise self._reading.error(message, number)


class ParallelWriter:
    """Write sentences to two files, or both into the lines of one."""

    def __init__(
        self, source: TextIO | None, target: TextIO | None = None, *, form: str = "bitext"
    ) -> None:
        self._source, self._target = source, target
        self._divider = DIVIDERS[form]

    @property
    def wanted(self) -> bool:
        """Whether the words go anywhere."""
        return self._source is not None or self._target is not None

    @property
    def in_line(self) -> bool:
        """Whether both sentences go to one line."""
        return self._source is not None and self._target is None

    def write(
        self, id: str, source: str, target: str, *, before: str = "", behind: str = ""
    ) -> None:
        """Write a pair of sentences, in the dress of `before` and `behind`."""
        if self._source is not None and self._target is None:
            self._source.write(f"{before}{self._joined(id, source, target)}{behind}\n")
            return
        for stream, text in ((self._source, source), (self._target, target)):
            if stream is not None:
                stream.write(f"{before}{text}{behind}\n")

    def _joined(self, id: str, source: str, target: str) -> str:
        if self._divider != BITEXT:
            return f"{source}{self._divider}{target}"
        line = f"{source} {BITEXT} {target}"
        if not divisible((source, target)):
            raise AlignkitError(
                f"pair {id!r}: the words hold the divider '|||', which divides the sentences of a "
                "bitext; write them to two files instead"
            )
        if BOM in line:
            raise AlignkitError(
                f"pair {id!r}: the words hold a byte order mark, which reading takes away; write a "
                "format that holds words, such as alignkit-jsonl"
            )
        return line


def divisible(sentences: Iterable[str]) -> bool:
    """Return whether a bitext can hold these sentences, or words: none has its divider."""
    return not any(BITEXT in text for text in sentences)
