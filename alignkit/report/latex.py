"""Lay tables out for LaTeX: plain `tabular`, without packages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from alignkit.visible import visible

__all__ = ["escape", "latex_table"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"$\sim$",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def escape(text: str) -> str:
    r"""Return a text as LaTeX prints it.

    Examples
    --------
    >>> print(escape("50% of A_1 ~ B"))
    50\% of A\_1 $\sim$ B
    """
    return "".join(_SPECIAL.get(sign, sign) for sign in visible(" ".join(text.split())))


def latex_table(
    headings: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[str]],
    *,
    texts: int = 1,
    title: str = "",
) -> str:
    r"""Return a `tabular` with two lines of headings.

    Parameters
    ----------
    headings
        Of each column the span that it belongs to, which may be empty, and its own name.
    rows
        The cells; ``-`` becomes a dash.
    texts
        How many of the columns, from the first, are texts and not numbers.
    title
        Stands in a comment above.

    Examples
    --------
    >>> print(latex_table([("", "x"), ("sure", "P"), ("sure", "R")], [["a_b", "1.0", "-"]]))
    \begin{tabular}{lrr}
    \hline
     & \multicolumn{2}{c}{sure} \\
    x & P & R \\
    \hline
    a\_b & 1.0 & -- \\
    \hline
    \end{tabular}
    """
    lines = [f"% {escape(title)}"] if title else []
    lines += [rf"\begin{{tabular}}{{{'l' * texts}{'r' * (len(headings) - texts)}}}", r"\hline"]
    if any(span for span, _ in headings):
        lines.append(_line(_spans([span for span, _ in headings])))
    lines += [_line([escape(name) for _, name in headings]), r"\hline"]
    lines += [_line(["--" if cell == "-" else escape(cell) for cell in row]) for row in rows]
    return "\n".join([*lines, r"\hline", r"\end{tabular}"])


def _spans(spans: Sequence[str]) -> list[str]:
    cells = []
    for span, places in groupby(spans):
        width = len(list(places))
        if span:
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(span)}}}")
        else:
            cells += [""] * width
    return cells


def _line(cells: Sequence[str]) -> str:
    # a bracket or star after \\ would be taken for its argument
    return " & ".join("{}" + cell if cell[:1] in ("[", "*") else cell for cell in cells) + r" \\"
