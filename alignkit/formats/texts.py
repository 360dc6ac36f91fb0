"""Read the words that stand beside the links: two files, or one bitext.

A line holds the tokens of a sentence, divided by white space, in one of three dresses:

- ``tokens`` alone: the n-th line is the n-th sentence;
- ``id<TAB>tokens``, where the links have ids too;
- ``<s snum=N> tokens </s>``, as in the NAACL and WPT shared tasks.

A bitext holds both sentences in one line, ``source ||| target``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from alignkit.errors import AlignkitError
from alignkit.formats.reading import BOM, Reading

__all__ = ["Text", "bitext_line", "read_texts"]

_SNUM = re.compile(r"<s\s+snum\s*=\s*\"?([^\s>\"]+)\"?\s*>")


class Text(NamedTuple):
    """The words of one sentence pair.

    Parameters
    ----------
    line
        The line of the files, 1-based.
    snum
        The number that ``<s snum=N>`` gives, None elsewhere.
    source, target
        The lines without that dress, not split yet.
    """

    line: int
    snum: str | None
    source: str
    target: str


def read_texts(reading: Reading) -> Iterator[Text] | None:
    """Yield the sentences of the files that the options name, or return None if they name none.

    Raises
    ------
    FormatError
        If the files have different numbers of lines, a line of a bitext has no divider, or the
        two files number a sentence differently.
    """
    source, target = reading.options.source, reading.options.target
    if source is None:
        return None
    if target is None or target == source:
        return _bitext(reading, source)
    return _two_files(reading, source, target)


def _bitext(reading: Reading, path: str) -> Iterator[Text]:
    for line, text in reading.lines(path):
        parts = text.split("|||")
        if len(parts) != 2:
            raise reading.error(
                f"{len(parts) - 1} dividers ' ||| ', expected one: --source without --target "
                "names a bitext of 'source ||| target' lines",
                line,
                path=path,
            )
        yield Text(line, None, parts[0], parts[1])


def bitext_line(id: str, source: str, target: str) -> str:
    """Return the line of a bitext that holds both sentences.

    Raises
    ------
    AlignkitError
        If a sentence holds the divider, or a byte order mark, and would not be read back.
    """
    line = f"{source} ||| {target}\n"
    if line.count("|||") != 1:
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


def _two_files(reading: Reading, source: str, target: str) -> Iterator[Text]:
    sides = zip_longest(_numbered(reading, source), _numbered(reading, target))
    count = [0, 0]
    for first, second in sides:
        if first is None or second is None:
            longer, shorter = (target, source) if first is None else (source, target)
            lines = sum(1 for _ in sides) + 1 + max(count)
            raise reading.error(
                f"has {lines} sentences, but {shorter} has {max(count)}", path=longer
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


def _numbered(reading: Reading, path: str) -> Iterator[tuple[int, str | None, str]]:
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
