"""Draw sentence pairs as matrices of characters, for terminals and plain files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import visible
from alignkit.model.alignment import NULL, Link
from alignkit.model.sentence_pair import SentencePair
from alignkit.show.cells import EMPTY_WORD, CellMark, Grid, legend, make_grid, tally
from alignkit.tables.text_width import char_clusters, char_width, cut_text, kept_in_place

_LONGEST = 40  # terminal cells; longer words are cut
_LONGEST_ATTRIBUTE = 60
# colours that colour-blind readers can distinguish
_BLUE = "38;5;33"
_ORANGE = "38;5;208"
_PURPLE = "38;5;170"
_SEQUENCE = re.compile(r"\x1b\[[\d;]*m")
_COLOURS = {
    "sure": "1",
    "none": "2",
    "first-sure": f"1;{_BLUE}",
    "first-possible": _BLUE,
    "second-sure": f"1;{_ORANGE}",
    "second-possible": _ORANGE,
    "first-surer": _PURPLE,
    "second-surer": _PURPLE,
    "some": _PURPLE,
}
"""The ANSI colours of marks, by their kinds."""


def draw_text(
    pair: SentencePair,
    annotators: Iterable[str] | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
    ascii: bool = False,
) -> str:
    """Draw a sentence pair: a row for each source word, a column for each target word.

    Target words are written above their columns from top to bottom, whatever their direction.
    Below the matrix are the meaning of each mark with the number of its cells, and comments, flags,
    judgments and labels, if any. Lines do not end in spaces, and there is no newline at the end.
    Control characters are escaped.

    Parameters
    ----------
    pair : The sentence pair.
    annotators : The annotators to draw; None for all. With two, agreement and each kind of
        difference have their own marks; with more, a digit counts who has the link.
    colour : Colour the marks with ANSI sequences (blue: only the first, orange: only the second).
    width : Maximum width in terminal cells; wider matrices are split into blocks of columns, and
        long tokens are cut. None for no limit.
    ascii : Use only ASCII, with all other characters escaped.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> pair = SentencePair("1", ("they", "left"), ("they", "went"),
    ...                     {"gold": Alignment.parse("0-0 1?1")}, {"genre": "news"})
    >>> print(draw_text(pair))
    1  genre=news  gold: 1 sure, 1 possible
    <BLANKLINE>
            t w
            h e
            e n
            y t
      they  ■ ·
      left  · □
    <BLANKLINE>
      ■ sure (1)  □ possible (1)
    """
    check_arguments(draw_text, locals())
    grid = make_grid(pair, annotators)
    drawing = _Drawing(grid, colour, width, not ascii)
    lines = [*drawing.header(), *drawing.matrix(), *drawing.legend(), *drawing.remarks()]
    return "\n".join(line.rstrip() for line in lines)


@dataclass(frozen=True)
class _Column:
    """A column of the matrix: its target word, or `NULL`, and the letters above it."""

    j: int
    letters: list[str]

    @property
    def width(self) -> int:
        """The number of terminal cells."""
        return max(map(char_width, self.letters), default=1)


@dataclass(frozen=True)
class _Drawing:
    """The lines of a drawing, part by part."""

    grid: Grid
    colour: bool
    width: int | None
    unicode: bool

    def header(self) -> Iterator[str]:
        """Yield the id, the attributes, and the numbers of links of each annotator."""
        parts = [self.text(self.grid.id)]
        for name, value in self.grid.attributes.items():
            parts.append(self.text(f"{name}={value}", _LONGEST_ATTRIBUTE))
        parts += self.grid.who(self.text)
        yield from self.flow(parts, "", "  ")

    def matrix(self) -> Iterator[str]:
        """Yield the matrix, in blocks of columns if it is too wide."""
        places, _ = self.grid.places
        longest = _LONGEST
        if self.width is not None:
            longest = min(_LONGEST, max(8, self.width // 3))
        rows = [(i, self.word(self.grid.rows, i, longest)) for i in places]
        margin = 4 + max((char_width(word) for _, word in rows), default=0)
        blocks = self.blocks(margin)
        for block in blocks:
            yield ""
            if len(blocks) > 1:
                shown = [column.j for column in block if column.j != NULL]
                place = self.null
                if shown:
                    place = f"words {shown[0]} to {shown[-1]} of {len(self.grid.columns)}"
                yield f"  target {place}"
            height = max((len(column.letters) for column in block), default=0)
            # the words stand on the matrix
            raised = [[""] * (height - len(column.letters)) + column.letters for column in block]
            widths = [column.width for column in block]
            for line in zip(*raised, strict=True):
                yield " " * margin + " ".join(map(_padded, line, widths))
            for i, word in rows:
                signs = (self.sign(i, column.j) + " " * (column.width - 1) for column in block)
                yield _padded(f"  {word}", margin) + " ".join(signs)

    def blocks(self, margin: int) -> list[list[_Column]]:
        """Return the columns, divided so that each part fits next to a margin."""
        _, places = self.grid.places
        blocks: list[list[_Column]] = [[]]
        used = margin - 1
        for j in places:
            if j == NULL:
                column = _Column(j, char_clusters(self.null))
            else:
                column = _Column(j, self.letters(self.grid.columns[j]))
            if blocks[-1] and self.width is not None and used + 1 + column.width > self.width:
                blocks.append([])
                used = margin - 1
            blocks[-1].append(column)
            used += 1 + column.width
        return blocks

    def sign(self, i: int, j: int) -> str:
        """Return what a cell shows."""
        if i == j == NULL:
            return " "
        mark = self.grid.mark(Link(i, j))
        if mark is None:
            return self.paint("·" if self.unicode else ".", "none")
        return self.mark(mark)

    def mark(self, mark: CellMark) -> str:
        """Return a mark."""
        return self.paint(mark.sign if self.unicode else mark.ascii_sign, mark.kind)

    def paint(self, sign: str, kind: str) -> str:
        """Return a sign in the colour of its kind."""
        if self.colour and kind in _COLOURS:
            return f"\x1b[{_COLOURS[kind]}m{sign}\x1b[0m"
        return sign

    def legend(self) -> Iterator[str]:
        """Yield the meaning of the marks."""
        parts = []
        for mark, text in legend(*tally([self.grid]), self.null):
            parts.append(f"{self.mark(mark)} {self.text(text)}" if mark else text)
        if parts:
            yield ""
            yield from self.flow(parts, "  ", "  ")

    def remarks(self) -> Iterator[str]:
        """Yield the judgments, flags, comments and labels."""
        for name, kind, text in self.grid.remarks():
            if kind not in ("provenance", "when"):
                words = f"{name}, {kind}: {text}".split()
                shown = [visible(word, only_ascii=not self.unicode) for word in words]
                yield from map(kept_in_place, self.flow(shown, "  ", " "))

    def flow(self, parts: list[str], indent: str, gap: str) -> Iterator[str]:
        """Yield the parts in lines that are not too long."""
        line = ""
        used = 0
        for part in parts:
            wide = char_width(_SEQUENCE.sub("", part))
            if line and self.width is not None and used + len(gap) + wide > self.width:
                yield indent + line
                line = ""
            if line:
                used += len(gap) + wide
                line += gap + part
            else:
                used = len(indent) + wide
                line = part
        yield indent + line

    @property
    def null(self) -> str:
        """The name of the empty word."""
        return EMPTY_WORD if self.unicode else "NULL"

    def text(self, text: str, longest: int | None = None) -> str:
        """Return a text without hidden characters, cut if it is longer."""
        shown = visible(text, only_ascii=not self.unicode)
        if longest is not None:
            shown = cut_text(shown, longest, end="…" if self.unicode else "...")
        return kept_in_place(shown)

    def word(self, words: Sequence[str], i: int, longest: int) -> str:
        """Return a word next to its row."""
        if i == NULL:
            return self.null
        return self.text(_spaces_shown(words[i]), longest)

    def letters(self, token: str) -> list[str]:
        """Return the letters of a word above its column, at most `_LONGEST`."""
        letters = char_clusters(visible(_spaces_shown(token), only_ascii=not self.unicode))
        if len(letters) > _LONGEST:
            letters = [*letters[: _LONGEST - 1], "⋮" if self.unicode else ":"]
        return [kept_in_place(letter) for letter in letters]


def _padded(text: str, width: int) -> str:
    """Return a text with spaces behind it, up to a width in terminal cells."""
    return text + " " * (width - char_width(text))


def _spaces_shown(token: str) -> str:
    """Return a word with underscores for spaces, which nobody sees in a column or at an edge."""
    return token.replace(" ", "_")
