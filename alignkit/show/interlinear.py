"""Draw sentence pairs as running text on a page: a word that is pointed at lights its links."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from itertools import chain, islice

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import how_many, visible, visible_data
from alignkit.model.sentence_pair import SentencePair
from alignkit.show.cells import make_grid
from alignkit.show.html import start_page
from alignkit.tables.media import style_sheet
from alignkit.tables.text_width import isolated_text, safe_text

_TOP = """\
<p class="facts">{facts}</p>
<p class="facts key">Point at a word, tap it, or move with the arrow keys: its counterparts on the
other side are marked. Shift and an arrow key chooses several words; Enter keeps the marks.</p>
<p class="facts key text">Marks: <span class="here">chosen</span> <span class="sure">sure</span>
<span class="possible">possible</span> <span class="unlinked">no link</span></p>
<p class="facts paper">A source word has its number, a target word the numbers of the source words
it is linked to; ? means possible.</p>
<div id="controls" hidden><label id="chosen">links of <select id="annotator"></select></label>
<span id="pages"><button id="previous">previous</button> <button id="next">next</button>
<label>page <input id="page" type="number" min="1"></label></span> <span id="place"></span></div>
</header>
<main>
"""
_END = """\
</main>
<p id="said" role="status"></p>
<script type="application/json" id="data">
"""


def draw_interlinear(
    pairs: Iterable[SentencePair],
    annotators: Iterable[str] | None = None,
    *,
    title: str = "Alignments",
    pairs_a_page: int = 50,
) -> Iterator[str]:
    """Draw sentence pairs as running text, on one page in one file, without network.

    Pointing at a word marks its counterparts, by mouse, touch or keyboard. Without script, the
    first pairs can be read. On paper, numbers show the links.

    Parameters
    ----------
    pairs : The sentence pairs. They are iterated several times; an iterator is first stored.
    annotators : The annotators to choose from; None for all.
    title : The heading.
    pairs_a_page : The pairs that are shown at a time.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> pair = SentencePair("1", ("they",), ("ils",), {"gold": Alignment.parse("0?0")})
    >>> page = "".join(draw_interlinear([pair]))
    >>> '["1",[["they"],["ils"]],["0?0"],[]]' in page
    True
    """
    check_arguments(draw_interlinear, locals())
    kept = tuple(pairs) if iter(pairs) is pairs else pairs
    if annotators is None:
        annotators = chain.from_iterable(pair.alignments for pair in kept)
    names = tuple(dict.fromkeys(annotators))
    script = files("alignkit.show").joinpath("interlinear.js").read_text(encoding="utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    yield start_page(title, style_sheet("interlinear"), f"; script-src 'sha256-{digest}'")
    yield _TOP.format(facts=how_many(sum(1 for _ in kept), "sentence pair", commas=True))
    for pair in islice(kept, pairs_a_page):
        grid = make_grid(pair, ())
        source = _sentence(grid.rows)
        target = _sentence(grid.columns)
        yield f"<article><h2>{isolated_text(pair.id)}</h2>{source}{target}</article>\n"
    yield _END
    yield f'{{"size":{pairs_a_page},"names":{_data(list(map(visible, names)))},"pairs":['
    for number, pair in enumerate(kept):
        if number:
            yield ",\n"
        yield _data(_record(pair, names))
    yield f"]}}</script>\n<script>{script}</script>\n</body>\n</html>\n"


def _sentence(words: tuple[str, ...]) -> str:
    """Return a sentence as a paragraph."""
    return f'<p class="text" dir="auto">{safe_text(" ".join(words))}</p>'


def _record(pair: SentencePair, names: tuple[str, ...]) -> list[object]:
    """Return the id, the words of both sides, the links of each annotator, and the remarks."""
    given = pair.annotations.items()
    annotations = {name: annotation for name, annotation in given if name in names}
    # a grid of no annotators: only words and remarks are needed, and cells would take long
    grid = replace(make_grid(pair, ()), annotations=annotations)
    words = [list(map(visible, grid.rows)), list(map(visible, grid.columns))]
    alignments = pair.alignments
    links = [str(alignments.get(name, "")) for name in names]
    remarks = []
    for name, kind, text in grid.remarks():
        if kind not in ("provenance", "when"):
            remarks.append([names.index(name), kind, visible_data(text)])
    return [visible(pair.id), words, links or [""], remarks]


def _data(value: object) -> str:
    """Return a value as JSON that may stand in a script."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
