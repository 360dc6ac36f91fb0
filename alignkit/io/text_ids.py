"""Decide whether the lines of texts begin with ids, ``id<TAB>sentence``.

They do if all lines have this form, with one tab, and no id occurs twice. Two texts also have the
same ids in the same order, and a text with both sentences on a line has its divider behind the tab.
So a text with a few tabs is read as words. If only a part of this is true, the lines are read as
words too, and a warning says what does not fit. `ReadOptions.text_ids` replaces the decision.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice, zip_longest
from logging import getLogger

from alignkit.io.opening import look_ahead
from alignkit.io.text_files import TextFile

_LOGGER = getLogger("alignkit")
_LINE = re.compile(rb"[ \v\f]*(?:\xef\xbb\xbf)*([^\s]+)[ \v\f]*\t([^\t\r\n]*)[\r\n]*")
_WHOLE = re.compile(rb"[0-9]{1,9}")
_FIRST = 10  # lines after which a text without ids is not read further
_LIKELY_SHARE = 0.9  # of the lines begin with an id: the others look like a mistake
_HEAD = 1 << 16  # bytes of an input that can be read only once
_DIVIDER = b"|||"


@dataclass(frozen=True)
class TextIds:
    """Whether the lines of some texts begin with ids.

    Parameters
    ----------
    present : Whether they do.
    numbers : Whether all ids are whole numbers.
    doubt : Why the lines are read as words although many look as if they began with ids.
    """

    present: bool
    numbers: bool = False
    doubt: str = ""

    @classmethod
    def of(cls, reading: TextFile, paths: Sequence[str], *, divided: bool = False) -> TextIds:
        """Decide about texts of the same pairs; a line of a `divided` one has both sentences."""
        if reading.options.text_ids is False:
            return cls(False)
        looks = [_Look(path) for path in paths]
        with ExitStack() as stack:
            files = [stack.enter_context(closing(_lines(reading, path))) for path in paths]
            different = ""
            for number, row in enumerate(zip_longest(*files), start=1):
                heads = [look.add(line, divided) for look, line in zip(looks, row, strict=True)]
                if not different and len({*heads}) > 1 and None not in heads:
                    both = zip(map(_text, heads), paths, strict=True)
                    named = " and with ".join(f"{head!r} in {path}" for head, path in both)
                    different = f"line {number} begins with {named}"
                clearly_no_ids = number >= _FIRST and not any(look.likely for look in looks)
                if clearly_no_ids:
                    break
        numbers = all(look.numbers for look in looks)
        if reading.options.text_ids:  # reading says where that is wrong
            return cls(True, numbers=numbers)
        problems = (look.problem for look in looks)
        problem = next(filter(None, problems), different)
        if not problem:
            return cls(looks[0].lines > 0, numbers=numbers)
        worth_a_warning = looks[0].lines > 2 and any(look.likely for look in looks)
        if worth_a_warning:
            return cls(False, doubt=problem)
        return cls(False)

    def tell(self, paths: Sequence[str], *, unless: str = "") -> None:
        """Log the decision; the lines are read as words, `unless` there is a reason not to.

        With `unless` " unless the links have ids too", the end of the warning is "... but line 7 of
        b.txt does not, so they are read as words unless the links have ids too; if they are ...".
        """
        names = " and ".join(paths)
        if self.present:
            text = f"{names}: each line begins with an id and a tab; the ids are not read as words"
            _LOGGER.warning("%s", text, extra={"note": True})
        elif self.doubt:
            text = f"{names}: warning: lines begin with a word and a tab, as if these were ids"
            consequence = (
                f"so they are read as words{unless}; if they are ids, correct that, else say "
                "--text-ids no (text_ids=False)"
            )
            _LOGGER.warning("%s; but %s, %s", text, self.doubt, consequence)


class _Look:
    """The lines of a text so far."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.lines = 0
        self.formed = 0  # lines with an id
        self.numbers = True
        self._other = 0  # the first line without an id
        self._hashes = array("q")

    def add(self, line: bytes | None, divided: bool) -> bytes | None:
        """Add a line, None behind the end; return its id, None if there is none."""
        if line is None:
            return None
        self.lines += 1
        match = _LINE.fullmatch(line)
        if match is None or (divided and _DIVIDER not in match[2]) or _DIVIDER in match[1]:
            if not self._other:
                self._other = self.lines
            return None
        self.formed += 1
        head = match[1]
        self.numbers = self.numbers and _WHOLE.fullmatch(head) is not None
        self._hashes.append(hash(head))
        return head

    @property
    def likely(self) -> bool:
        """Whether most lines begin with an id."""
        return self.formed > 0 and self.formed >= _LIKELY_SHARE * self.lines

    @property
    def problem(self) -> str:
        """What does not fit; empty if all lines begin with different ids."""
        if self._other:
            return f"line {self._other} of {self._path} does not"
        import numpy as np

        if np.unique(np.frombuffer(self._hashes, np.int64)).size == self.lines:
            return ""
        first: dict[int, int] = {}
        for number, key in enumerate(self._hashes, start=1):
            if first.setdefault(key, number) != number:
                return f"lines {first[key]} and {number} of {self._path} begin with the same one"
        return ""


def _lines(reading: TextFile, path: str) -> Generator[bytes, None, None]:
    """Yield the lines of a text; of an input that can be read only once, the first ones."""
    if os.path.isfile(path):
        yield from reading.raw_lines(path)
        return
    head, more = look_ahead(path, _HEAD, reading.options.max_size, reading.options.encoding)
    lines = head.splitlines(keepends=True)
    yield from islice(lines, len(lines) - 1 if more else None)


def _text(head: bytes | None) -> str:
    """Return the beginning of an id as text."""
    return (head or b"")[:40].decode("utf-8", "replace")


def split_id(reading: TextFile, line: int, text: str, path: str) -> tuple[str, str]:
    """Return the id of a line that has one, and its sentence."""
    head, tab, sentence = text.partition("\t")
    id = head.strip()
    if not tab or len(id.split()) != 1:
        message = "expected an id and a tab before the words, as in the other lines"
        raise reading.error(message, line, path=path)
    return id, sentence
