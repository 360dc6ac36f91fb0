"""Draw an example of the guidelines as a table without a style of its own."""

from __future__ import annotations

from html import escape
from pathlib import Path

from alignkit.alignment import Alignment, Link
from alignkit.errors import AlignkitError
from alignkit.formats import iterate_pairs
from alignkit.sentence_pair import SentencePair


def read_example(path: Path) -> SentencePair | None:
    """Return the pair of an example; None where there is no such file, or no aligned pair in it."""
    if not path.is_file():
        return None
    try:
        pair = next(iter(iterate_pairs(path, format="alignkit-jsonl")), None)
    except AlignkitError:
        return None
    return pair if pair and pair.has_text and pair.alignments else None


def draw_example(pair: SentencePair) -> str:
    """Draw a pair with its first alignment: rows are source words, columns target words."""
    source, target = pair.source or (), pair.target or ()
    alignment = pair.alignment(next(iter(pair.alignments)))
    columns = "".join(
        f'<th scope="col"><span dir="auto">{escape(word)}</span></th>' for word in target
    )
    rows = [
        f'<tr><th scope="row" dir="auto">{escape(word)}</th>'
        + "".join(_cell(alignment, Link(i, j)) for j in range(len(target)))
        + "</tr>\n"
        for i, word in enumerate(source)
    ]
    name = escape(f"{' '.join(source)} ~ {' '.join(target)}")
    return (
        f'<table class="matrix" aria-label="{name}">\n<thead><tr><td></td>{columns}</tr></thead>\n'
        f"<tbody>\n{''.join(rows)}</tbody></table>"
    )


def _cell(alignment: Alignment, link: Link) -> str:
    kind = "sure" if link in alignment.sure else "possible" if link in alignment.possible else ""
    return f'<td class="{kind}"><span>{kind}</span></td>' if kind else "<td></td>"
