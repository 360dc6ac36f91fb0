"""Plain renderers of tables, to be compared with those of alignkit, and random tables."""

from math import isnan
from unicodedata import combining, east_asian_width

from hypothesis import strategies as st

from alignkit.tables import Column, Table, Value

ASCII = "ab |_%&<>*`\\~-=+@#{}[]$^'\",;"
WIDE = "漢字\u0301שלΩ"
NAN = float("nan")


def width(text):
    return sum(
        0 if combining(c) or c == "\u200e" else 2 if east_asian_width(c) in "WF" else 1
        for c in text
    )


def number(value, kind):
    if isnan(value):
        return "-"
    if kind == "count":
        return str(round(value))
    text = f"{100 * value:.1f}" if kind == "percent" else f"{value:.3f}"
    return text.replace("-", "") if float(text) == 0 else text


def shown(cell, kind):
    """Return what a cell says, without the letter of its reason."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if not isinstance(cell, Value):
        return number(cell, kind)
    text = number(cell.value, kind)
    if isnan(cell.value + cell.low + cell.high):
        return text
    return f"{text} [{number(cell.low, kind)}, {number(cell.high, kind)}]"


def ruled_text(table):
    """Lay out columns without spans: headings, a rule, rows; two spaces between."""
    kinds = [column.kind for column in table.columns]
    body = [[shown(c, k) for c, k in zip(row, kinds)] for row in table.rows]  # noqa: B905
    names = [column.name for column in table.columns]
    widths = [max(width(row[k]) for row in [names, *body]) for k in range(len(names))]
    lines = []
    for row in [names, ["-" * w for w in widths], *body]:
        line = ""
        for k, cell in enumerate(row):
            space = " " * (widths[k] - width(cell))
            line += ("  " if k else "") + (cell + space if kinds[k] == "text" else space + cell)
        lines.append(line.rstrip(" "))
    return "\n\n".join(part for part in [table.title, "\n".join(lines), table.note] if part)


@st.composite
def tables(draw, *, letters=ASCII + WIDE, spans=True, reasons=True, least=1):
    words = st.text(letters, min_size=1, max_size=8).map(str.strip)
    words = words.map(lambda text: f"x{text}" if text[:1] in "\u0301" else text)
    words = words.map(lambda text: text.replace("  ", " "))
    numbers = st.floats(-2, 2) | st.just(NAN)
    values = st.builds(Value, numbers, numbers, numbers, words if reasons else st.just(""))
    cells = {
        "text": words | st.none(),
        "count": st.integers(-9, 12345) | st.none() | st.just(NAN),
        "decimal": numbers | values | st.none(),
        "percent": numbers | values | st.none(),
    }
    kinds = draw(st.lists(st.sampled_from(list(cells)), min_size=least, max_size=5))
    span, columns = "", []
    for k, kind in enumerate(kinds):
        if spans and k and draw(st.booleans()):
            span = draw(st.sampled_from(["", f"over {k}", f"a long heading number {k}"]))
        columns.append(Column(draw(words), kind, span, f"key{k}"))
    rows = draw(st.lists(st.tuples(*(cells[kind] for kind in kinds)), max_size=5))
    apart = draw(st.sets(st.integers(0, 5), max_size=2)) if spans else ()
    return Table(draw(words), columns, rows, draw(words), apart=apart)
