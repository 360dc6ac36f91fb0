"""Draw a sentence pair as a self-contained SVG image, for papers and slides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import visible
from alignkit.model.alignment import NULL, Link
from alignkit.model.sentence_pair import SentencePair
from alignkit.show.cells import EMPTY_WORD, CellMark, Grid, legend, make_grid, tally
from alignkit.tables import text_width
from alignkit.tables.colours import INK, LINKS, Colour

_LONGEST = 40  # letters of a word; longer ones are cut

# pixels
_CELL = 20  # of the matrix
_BOX = 14  # of a mark in it
_SIZE = 14  # of letters
_LINE = _SIZE + 1  # from one character to the next, if they stand below each other
_MARGIN = 12
_GAP = 8  # between words and the matrix
_BASE = 5  # from the middle of a line of text to its baseline
_SIGN_SIZE = 11  # of the letters in marks
_LEGEND = 400  # the width in which the legend is broken, if the matrix is narrower
_LEGEND_LINE = 22
_LEGEND_GAP = 16  # between entries

_COLOURS = {
    "first-surer": "mix",
    "second-surer": "mix",
    "some": "mix",
    "first-sure": "a",
    "first-possible": "a",
    "second-sure": "b",
    "second-possible": "b",
}
"""The colours of marks by their kinds; those of other marks are ink."""


def draw_svg(pair: SentencePair, annotators: Iterable[str] | None = None) -> str:
    """Draw one sentence pair: a row for each source word, a column for each target word.

    Returns an SVG document; write it in UTF-8. The widths of words are estimated without a font,
    rather too wide than too narrow.

    Parameters
    ----------
    pair : The sentence pair.
    annotators : The annotators to draw; None for all. The marks are those of `draw_text`, drawn as
        shapes.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> pair = SentencePair("1", ("they",), ("they",), {"gold": Alignment.parse("0-0")})
    >>> image = draw_svg(pair)
    >>> "<title>they ~ they: sure (gold)</title>" in image
    True
    """
    check_arguments(draw_svg, locals())
    plan = _Plan.of(make_grid(pair, annotators))
    notes, (reach, foot) = _notes(plan)
    width = max(plan.right, reach) + _MARGIN
    height = foot + _MARGIN
    title = f"pair {pair.id}"
    if names := ", ".join(plan.grid.annotators):
        title += f": {names}"
    lines = [f"M{plan.left} {y}H{plan.right}" for y in range(plan.top, plan.bottom + 1, _CELL)]
    lines += [f"M{x} {plan.top}V{plan.bottom}" for x in range(plan.left, plan.right + 1, _CELL)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" font-family="sans-serif" '
        f'font-size="{_SIZE}">',
        f"<title>{_text(title)}</title>",
        f"<style>{colour_rules(INK | LINKS)}</style>",
        f'<rect class="ak-paper" width="{width}" height="{height}"/>',
        *_words(plan),
        f'<path class="ak-line-edge" d="{"".join(lines)}"/>',
        *_marks(plan),
        *notes,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


@dataclass(frozen=True)
class _Plan:
    """The places of an image: its rows and columns, and the edges of the matrix in pixels."""

    grid: Grid
    rows: list[int]
    columns: list[int]
    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def of(cls, grid: Grid) -> _Plan:
        """Leave room for the words of both sides."""
        rows, columns = grid.places
        widths = [_length(_shown(grid.rows, i)) for i in rows]
        heights = []
        for j in columns:
            word = _shown(grid.columns, j)
            if text_width.is_wide(word):
                heights.append(_LINE * len(text_width.char_clusters(word)))
            else:
                heights.append(_length(word))
        left = _MARGIN + max(widths, default=0) + _GAP
        top = _MARGIN + max(heights, default=0) + _GAP
        right = left + len(columns) * _CELL
        bottom = top + len(rows) * _CELL
        return cls(grid, rows, columns, left, top, right, bottom)


def colour_rules(colours: Mapping[str, Colour]) -> str:
    """Return the style rules of an image: for each colour a fill class and a line class.

    They are plain classes without variables: the converters to PDF that papers need know no more.
    """
    light = [_classes(name, colour.light) for name, colour in colours.items()]
    dark = [_classes(name, colour.dark) for name, colour in colours.items()]
    return f"{''.join(light)}@media(prefers-color-scheme:dark){{{''.join(dark)}}}"


def _classes(name: str, code: str) -> str:
    """Return the fill class and the line class of a colour."""
    return f".ak-{name}{{fill:{code}}}.ak-{name}-edge{{stroke:{code};fill:none}}"


def _words(plan: _Plan) -> Iterator[str]:
    """Draw the words of both sides."""
    for row, i in enumerate(plan.rows):
        word = _shown(plan.grid.rows, i)
        y = plan.top + row * _CELL + _CELL // 2 + _BASE
        yield _label(word, f'x="{plan.left - _GAP}" y="{y}"', at_end=True, null=i == NULL)
    for column, j in enumerate(plan.columns):
        word = _shown(plan.grid.columns, j)
        middle = plan.left + column * _CELL + _CELL // 2
        foot = plan.top - _GAP
        if text_width.is_wide(word):  # one character below the other, as such columns are read
            signs = text_width.char_clusters(word)
            for k, sign in enumerate(signs):
                y = foot - (len(signs) - 1 - k) * _LINE - 2
                place = f'x="{middle}" y="{y}" text-anchor="middle"'
                yield f'<text class="ak-ink" {place}>{escape(sign)}</text>'
        else:
            place = f'transform="translate({middle + _BASE} {foot}) rotate(-90)"'
            yield _label(word, place, at_end=False, null=j == NULL)


def _label(word: str, place: str, *, at_end: bool, null: bool) -> str:
    """Draw a word that starts at a place, or ends there."""
    rtl = text_width.is_right_to_left(word)
    anchor = "end" if at_end != rtl else "start"  # the start of a right-to-left word is its right
    direction = ' direction="rtl"' if rtl else ""
    kind = "ak-soft" if null else "ak-ink"
    return f'<text class="{kind}" {place} text-anchor="{anchor}"{direction}>{escape(word)}</text>'


def _marks(plan: _Plan) -> Iterator[str]:
    """Draw the marks of all cells."""
    grid = plan.grid
    inset = (_CELL - _BOX) // 2
    for row, i in enumerate(plan.rows):
        for column, j in enumerate(plan.columns):
            if (mark := grid.mark(Link(i, j))) is not None:
                x = plan.left + column * _CELL + inset
                y = plan.top + row * _CELL + inset
                title = _text(grid.describe(Link(i, j)))
                yield f"<g><title>{title}</title>{_shape(mark, x, y)}</g>"


def _shape(mark: CellMark, x: int, y: int) -> str:
    """Draw a mark: filled is sure, outlined is possible; circles are the second annotator's."""
    colour = f"ak-{_COLOURS.get(mark.kind, 'ink')}"
    full = mark.kind in {"sure", "first-sure", "second-sure"}
    corner = ""
    if mark.kind in {"second-sure", "second-possible"}:
        corner = f' rx="{_BOX // 2}"'
    if full:
        shape = f'<rect class="{colour}" x="{x}" y="{y}" width="{_BOX}" height="{_BOX}"{corner}/>'
    else:  # a line of two pixels within the same box
        shape = (
            f'<rect class="{colour}-edge" x="{x + 1}" y="{y + 1}" width="{_BOX - 2}" '
            f'height="{_BOX - 2}" stroke-width="2"{corner}/>'
        )
    if mark.kind in {"first-surer", "second-surer"}:
        start = x if mark.kind == "first-surer" else x + _BOX // 2
        half = f'<rect class="{colour}" x="{start}" y="{y}" width="{_BOX // 2}" height="{_BOX}"/>'
        return shape + half
    if mark.kind in {"sure", "possible"}:
        return shape
    ink = "ak-paper" if full else colour
    return (
        f'{shape}<text class="{ink}" x="{x + _BOX // 2}" y="{y + _SIGN_SIZE}" '
        f'text-anchor="middle" font-size="{_SIGN_SIZE}" font-weight="bold">{mark.sign}</text>'
    )


def _notes(plan: _Plan) -> tuple[list[str], tuple[int, int]]:
    """Return the legend, and its extent to the right and down."""
    x = _MARGIN
    y = plan.bottom + 14
    reach = plan.right
    parts: list[str] = []
    edge = max(plan.right, _LEGEND)
    entries = legend(*tally([plan.grid]))
    for mark, text in entries:
        start = _CELL if mark else 0
        wide = _length(visible(text)) + start
        if x > _MARGIN and x + wide > edge:
            x = _MARGIN
            y += _LEGEND_LINE
        if mark:
            parts.append(f'<g aria-hidden="true">{_shape(mark, x, y)}</g>')
        parts.append(f'<text class="ak-ink" x="{x + start}" y="{y + 12}">{_text(text)}</text>')
        reach = max(reach, x + wide)
        x += wide + _LEGEND_GAP
    return parts, (reach, y + 18 if entries else plan.bottom)


def _shown(words: tuple[str, ...], index: int) -> str:
    """Return a word as it is drawn."""
    if index == NULL:
        return EMPTY_WORD
    return text_width.cut_text(visible(words[index]), _LONGEST)


def _length(text: str) -> int:
    """Return the width of a text in pixels."""
    return text_width.text_length(text, _SIZE)


def _text(text: str) -> str:
    """Return a text for an image, without hidden characters."""
    return escape(visible(text))
