r"""Write tables in each medium: text, Markdown, LaTeX, HTML, and CSV.

CSV follows RFC 4180 and is safe to open in a spreadsheet. A spreadsheet runs a text that begins
with ``=``, ``+``, ``-``, ``@`` (or a wide form of these), a tab or a line end as a formula. Such a
text gets an apostrophe in front; so does a text that has apostrophes before one of these.
To restore the texts, remove one apostrophe from each cell that begins like
``'+[=+\-@\t\r\n＝＋－＠]``. Numbers, including negative ones, stay numbers with all their digits.
Lines end in a line feed only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from math import isnan
from numbers import Real
from textwrap import TextWrapper, fill

from alignkit._support.arguments import check_known
from alignkit._support.wording import visible
from alignkit.tables.colours import SHEETS, variables
from alignkit.tables.columns import Column, ShownCell
from alignkit.tables.text_width import char_width, isolated_text, kept_in_place, safe_text

CARE = "Read with care"  # the heading of the cautions of a report


@dataclass(frozen=True)
class Sheet:
    """A table with texts as cells, the input of a medium; see `Table` for the fields."""

    columns: Sequence[Column]  # K columns, and rows of K cells
    rows: Sequence[Sequence[ShownCell]]
    title: str = ""
    note: str = ""
    anchor: str = ""
    apart: Collection[int] = ()
    stub: int = 1
    ruled: bool = True
    reasons: Sequence[tuple[str, str]] = ()  # letters, and what each stands for


@dataclass(frozen=True)
class Report:
    """Several tables with the texts around them."""

    head: Sequence[str]  # lines above the tables
    tables: Sequence[Sheet]
    cautions: Sequence[str]  # what stands below them, under a heading
    signature: str  # the last line: the settings behind the numbers
    care: str = CARE  # the heading of the cautions


@dataclass(frozen=True)
class Medium:
    """The functions that write tables and reports in one medium, without a final line end."""

    table: Callable[[Sheet], str]
    report: Callable[[Report], str]


def get_medium(name: str) -> Medium:
    """Return a medium of `MEDIA`."""
    check_known("medium", name, MEDIA)
    return MEDIA[name]


def _spans(columns: Sequence[Column]) -> list[tuple[str, list[int]]]:
    """Return each span with the numbers of its columns; ``""`` for no span."""
    runs = groupby(range(len(columns)), key=lambda k: columns[k].span)
    return [(span, list(places)) for span, places in runs]


# plain text, for a terminal
_WIDTH = 100  # of what stands around the tables of a report
_LEAST = 4  # the width of a number where columns have no rule above them


def _text_table(sheet: Sheet) -> str:
    """Return a table with its title above it, and the reasons and the note below."""
    notes = [f"({mark}) {visible(why)}" for mark, why in sheet.reasons]
    if sheet.note:
        notes += map(visible, sheet.note.split("\n"))
    parts = ["\n".join(map(visible, sheet.title.split("\n")))]
    if sheet.columns:
        parts.append(_aligned(sheet))
    parts.append("\n".join(notes))
    between = "\n\n" if sheet.ruled else "\n"
    return between.join(filter(None, parts))


def _marked(cell: ShownCell) -> str:
    """Return the letter of a reason as it stands behind a cell."""
    return f" ({cell.mark})" if cell.mark else ""


def _aligned(sheet: Sheet) -> str:
    """Align the columns by their width on a terminal."""
    columns = sheet.columns
    cells = [[visible(cell.text) + _marked(cell) for cell in row] for row in sheet.rows]
    names = [visible(column.name) for column in columns]
    widths = [max(map(char_width, column)) for column in zip(names, *cells, strict=True)]
    if not sheet.ruled:
        for k, column in enumerate(columns):
            if column.kind != "text":
                widths[k] = max(widths[k], _LEAST)
    gaps = _gaps(sheet)
    spans = [(visible(span), places) for span, places in _spans(columns) if span]
    for span, places in spans:
        room = sum(widths[k] for k in places) + sum(len(gaps[k]) for k in places[1:])
        widths[places[0]] += max(0, char_width(span) - room)

    def line(texts: Sequence[str]) -> str:
        """Return a line with a text in each column."""
        written = ""
        for text, width, gap, column in zip(texts, widths, gaps, columns, strict=True):
            space = " " * (width - char_width(text))
            kept = kept_in_place(text)
            written += gap
            written += space + kept if column.right else kept + space
        return written.rstrip(" ")

    lines = []
    if spans:
        lines.append(_line_of_spans(spans, widths, gaps))
    lines.append(line(names))
    if sheet.ruled:
        lines.append(line(["-" * width for width in widths]))
    for place, row in enumerate(cells):
        if place in sheet.apart:
            lines.append("")
        lines.append(line(row))
    return "\n".join(lines)


def _gaps(sheet: Sheet) -> list[str]:
    """Return the space before each column, wider where spans begin if there are no rules."""
    gaps = [""]
    for k in range(1, len(sheet.columns)):
        after_stub = k == sheet.stub > 1
        other_span = sheet.columns[k].span != sheet.columns[k - 1].span
        begins = after_stub or (k > sheet.stub and other_span)
        gaps.append("   " if begins and not sheet.ruled else "  ")
    return gaps


def _line_of_spans(
    spans: Sequence[tuple[str, list[int]]], widths: Sequence[int], gaps: Sequence[str]
) -> str:
    """Return a line with each span above its first column."""
    line = ""
    reached = 0
    for span, (first, *_) in spans:
        start = sum(widths[:first]) + sum(map(len, gaps[: first + 1]))
        line += " " * (start - reached) + kept_in_place(span)
        reached = start + char_width(span)
    return line


def _text_report(report: Report) -> str:
    """Return the tables of a report one below the other."""

    def filled(text: str) -> str:
        """Return a text with its lines broken at the width."""
        lines = [fill(line, _WIDTH, break_on_hyphens=False) for line in text.split("\n")]
        return "\n".join(lines)

    blocks = ["\n".join(map(visible, report.head))]
    for sheet in report.tables:
        wrapped = replace(sheet, title=filled(sheet.title), note=filled(sheet.note))
        blocks.append(_text_table(wrapped))
    if report.cautions:
        wrapper = TextWrapper(
            _WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
        )
        lines = (wrapper.fill(f"- {visible(caution)}") for caution in report.cautions)
        blocks.append("\n".join([report.care, *lines]))
    return "\n\n".join([*blocks, visible(report.signature)])


# Markdown, with the pipes of GitHub's dialect
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|&]|~(?=\S)|(?<=\S)~)")
_BLOCK = re.compile(r"(?m)^(\s*)(?=[-+#])")  # would begin a list or a heading


def _markdown_escape(text: str) -> str:
    """Escape a text within a line of Markdown."""
    return _MARKDOWN.sub(r"\\\1", visible(text))


def _paragraph(text: str) -> str:
    """Escape lines of text for Markdown."""
    lines = map(_markdown_escape, text.split("\n"))
    return "\n".join(_BLOCK.sub(r"\1\\", line) for line in lines)


def _one_line(text: str) -> str:
    """Escape a text for Markdown, in one line."""
    return _paragraph(" ".join(text.split()))


def _markdown_table(sheet: Sheet) -> str:
    """Return a table with one line of headings; each name follows its span."""
    parts = []
    if sheet.title:
        parts.append(f"**{_one_line(sheet.title)}**")
    if sheet.columns:
        lines = [
            [_markdown_escape(column.heading) for column in sheet.columns],
            ["--:" if column.right else ":--" for column in sheet.columns],
        ]
        lines += [list(map(_markdown_cell, row)) for row in sheet.rows]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    notes = [f"({mark}) {_paragraph(why)}" for mark, why in sheet.reasons]
    parts += ["  \n".join(notes), _paragraph(sheet.note)]
    return "\n\n".join(filter(None, parts))


def _markdown_cell(cell: ShownCell) -> str:
    """Return a cell for Markdown."""
    text = _markdown_escape(cell.text) if cell.words else cell.text
    return text + _marked(cell)


def _markdown_report(report: Report) -> str:
    """Return the tables of a report one below the other."""
    blocks = ["  \n".join(map(_one_line, report.head)), *map(_markdown_table, report.tables)]
    if report.cautions:
        lines = (f"- {_one_line(caution)}" for caution in report.cautions)
        blocks.append("\n".join([f"**{report.care}**", "", *lines]))
    return "\n\n".join([*blocks, _one_line(report.signature)])


# LaTeX, with the rules of the package booktabs
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"$\sim$",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_MINUS = re.compile(r"(?<!-)-(?=[\di])")


def latex_escape(text: str) -> str:
    r"""Escape a text for LaTeX."""
    safe = "".join(_LATEX.get(sign, sign) for sign in visible(" ".join(text.split())))
    return re.sub("-(?=-)", "-{}", safe)  # two hyphens would become one dash


def _comment(text: str) -> str:
    """Return lines of text as comments of LaTeX."""
    if text:
        return "\n".join(f"% {visible(line)}".rstrip() for line in text.split("\n"))
    return ""


def _latex_table(sheet: Sheet) -> str:
    """Return a table, with its title and note as comments."""
    parts = [_comment(sheet.title)]
    if sheet.columns:
        parts.append(_tabular(sheet))
    parts.append(_comment(sheet.note))
    return "\n".join(filter(None, parts))


def _tabular(sheet: Sheet) -> str:
    """Return the environment of a table, with its spans above rules of their own."""
    columns = sheet.columns
    sides = "".join("r" if column.right else "l" for column in columns)
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    if any(column.span for column in columns):
        cells = []
        rules = []
        for span, places in _spans(columns):
            if span:
                cells.append(rf"\multicolumn{{{len(places)}}}{{c}}{{{latex_escape(span)}}}")
                rules.append(rf"\cmidrule(lr){{{places[0] + 1}-{places[-1] + 1}}}")
            else:
                cells += [""] * len(places)
        lines += [_latex_line(cells), " ".join(rules)]
    names = [column.latex or latex_escape(column.name) for column in columns]
    lines += [_latex_line(names), r"\midrule"]
    for place, row in enumerate(sheet.rows):
        if place in sheet.apart:
            lines.append(r"\addlinespace")
        lines.append(_latex_line(list(map(_latex_cell, row))))
    lines.append(r"\bottomrule")
    for mark, reason in sheet.reasons:
        text = rf"\textsuperscript{{{mark}}} {latex_escape(reason)}"
        lines.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{{text}}} \\")
    lines.append(r"\end{tabular}")
    return "\n".join(lines)


def _latex_cell(cell: ShownCell) -> str:
    """Return a cell for LaTeX, with the minus of numbers and the letter of a reason."""
    text = "--" if cell.text == "-" else latex_escape(cell.text)
    if not cell.words:
        text = _MINUS.sub("$-$", text)
    if cell.mark:
        text += rf"\textsuperscript{{{cell.mark}}}"
    return text


def _latex_line(cells: Sequence[str]) -> str:
    """Return a row; a bracket or star after the end of a row would be taken for its argument."""
    safe = ["{}" + cell if cell[:1] in ("[", "*") else cell for cell in cells]
    return " & ".join(safe) + r" \\"


def _latex_report(report: Report) -> str:
    """Return the tables of a report one below the other."""

    def comments(lines: Sequence[str]) -> str:
        """Return lines as comments."""
        return _comment("\n".join(map(visible, lines)))

    blocks = [r"% needs \usepackage{booktabs}", comments(report.head)]
    blocks += map(_latex_table, report.tables)
    if report.cautions:
        blocks.append(comments([report.care, *(f"- {caution}" for caution in report.cautions)]))
    return "\n\n".join([*blocks, _comment(report.signature)])


# HTML: a table scrolls where it is too wide, and shows that it does
_NARROW = 14


@cache
def style_sheet(name: str) -> str:
    """Return a style sheet by the name of its file in `alignkit/show`, with its colours."""
    from importlib.resources import files  # takes 10 ms, and plain text does without

    rules = files("alignkit.show").joinpath(f"{name}.css").read_text(encoding="utf-8")
    if name in SHEETS:
        return variables(*SHEETS[name]) + rules
    return rules


def _html_table(sheet: Sheet) -> str:
    """Return a table in a frame that the keyboard can scroll, with its note below."""
    name = safe_text(" ".join(sheet.title.split()) or "table")
    identity = ""
    if sheet.anchor:
        identity = f' id="{safe_text(sheet.anchor)}"'
    caption = ""
    if sheet.title:
        caption = f"<caption><span>{_html_lines(sheet.title)}</span></caption>\n"
    notes = [f"<sup>{mark}</sup> {safe_text(reason)}" for mark, reason in sheet.reasons]
    if sheet.note:
        notes.append(_html_lines(sheet.note))
    below = "".join(f'<p class="note">{note}</p>\n' for note in notes)
    frame = ""
    if sheet.columns or sheet.title:
        content = f"{caption}{_html_head(sheet.columns)}{''.join(_html_bodies(sheet))}"
        frame = (
            f'<div class="frame" tabindex="0" role="region" aria-label="{name}">'
            f"<table>{content}</table></div>\n"
        )
    return f'<div class="alignkit-table"{_pinned(sheet)}{identity}>\n{frame}{below}</div>\n'


def _pinned(sheet: Sheet) -> str:
    """Keep both columns that name the rows visible, if the first is narrow."""
    if sheet.stub < 2 or len(sheet.columns) < 2 or not sheet.rows:
        return ""
    width = max(char_width(row[0].text) for row in sheet.rows)
    if width > _NARROW or sheet.columns[0].name or sheet.columns[1].kind != "text":
        return ""
    return f' data-pinned style="--first:{width}ch"'


def _html_lines(text: str) -> str:
    """Return lines of text as HTML."""
    return "<br>".join(map(safe_text, text.split("\n")))


def _html_head(columns: Sequence[Column]) -> str:
    """Return the headings, with a line of spans above the names if there are any."""
    if not columns:
        return ""
    groups = spans = names = ""
    if any(column.span for column in columns):
        for span, places in _spans(columns):
            width = f'span="{len(places)}"'
            groups += f"<colgroup {width}></colgroup>"
            head = f'<th scope="colgroup" col{width}>{isolated_text(span)}</th>'
            spans += head if span else f"<td col{width}></td>"
        spans = f"<tr>{spans}</tr>\n"
    for column in columns:
        head = f'<th scope="col"{_side(column)}>{isolated_text(column.name)}</th>'
        names += head if column.name else "<td></td>"
    return f"{groups}<thead>\n{spans}<tr>{names}</tr>\n</thead>\n"


def _html_bodies(sheet: Sheet) -> Iterator[str]:
    """Yield the rows, in a body for each group."""
    yield "<tbody>\n"
    for place, row in enumerate(sheet.rows):
        if place and place in sheet.apart:
            yield "</tbody>\n<tbody>\n"
        cells = ""
        for k, (column, cell) in enumerate(zip(sheet.columns, row, strict=True)):
            text = isolated_text(cell.text) if cell.words else safe_text(cell.text)
            if cell.mark:
                text += f"<sup>{cell.mark}</sup>"
            names_row = k < sheet.stub and column.kind == "text" and cell.text
            if names_row:
                cells += f'<th scope="row"{_side(column)}>{text}</th>'
            else:
                cells += f"<td{_side(column)}>{text}</td>"
        yield f"<tr>{cells}</tr>\n"
    yield "</tbody>"


def _side(column: Column) -> str:
    """Return the class of a cell by the side that it is aligned to."""
    return ' class="number"' if column.right else ""


def _html_report(report: Report) -> str:
    """Return the tables of a report with their style sheet."""
    head = "".join(f"<p>{safe_text(line.strip())}</p>\n" for line in report.head)
    tables = "".join(map(_html_table, report.tables))
    cautions = "".join(f"<li>{safe_text(caution)}</li>\n" for caution in report.cautions)
    care = ""
    if cautions:
        care = f"<p><strong>{report.care}</strong></p>\n<ul>\n{cautions}</ul>\n"
    body = f"{head}{tables}{care}{signed(report.signature)}"
    return f"<style>{style_sheet('table')}</style>\n<div>\n{body}</div>\n"


def html_cautions(items: Iterable[str]) -> str:
    """Return the region of a page with cautions (each is HTML), or ""."""
    listed = "".join(f"<li>{item}</li>\n" for item in items)
    if not listed:
        return ""
    return (
        '<div class="cautions" role="region" aria-labelledby="cautions">\n'
        f'<h2 id="cautions">{CARE}</h2>\n<ul>\n{listed}</ul>\n</div>\n'
    )


def signed(signature: str) -> str:
    """Return an HTML paragraph with the settings, with line breaks allowed between them."""
    settings = safe_text(signature).replace("|", "|<wbr>")
    return f'<p class="alignkit-signature"><code>{settings}</code></p>\n'


MEDIA: Mapping[str, Medium] = {
    "text": Medium(_text_table, _text_report),
    "markdown": Medium(_markdown_table, _markdown_report),
    "latex": Medium(_latex_table, _latex_report),
    "html": Medium(_html_table, _html_report),
}
"""The media for tables."""

# CSV
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_QUOTED = re.compile(r"[,;\"\t\r\n]")  # some take a semicolon or a tab for the divider


def csv_lines(rows: Iterable[Iterable[object]], *, divider: str = ",") -> str:
    """Return a line for each row, without a final line end; None and NaN are empty."""

    def written(value: object) -> str:
        """Return a cell as it is written."""
        if value is None or (isinstance(value, Real) and isnan(value)):
            return ""
        text = str(value)
        if isinstance(value, str) and _FORMULA.match(text):
            text = f"'{text}"
        if _QUOTED.search(text):
            return '"{}"'.format(text.replace('"', '""'))
        return text

    lines = []
    for row in rows:
        cells = list(map(written, row))
        lines.append('""' if cells == [""] else divider.join(cells))
    return "\n".join(lines)


def unguarded(text: str) -> str:
    """Return a text without the apostrophe that protects it from a spreadsheet."""
    if text[:1] == "'" and _FORMULA.match(text):
        return text[1:]
    return text
