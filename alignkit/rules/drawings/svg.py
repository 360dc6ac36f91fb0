"""Draw two trees with the links between their words as an SVG image; draw rule fragments."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import how_many, visible
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair
from alignkit.rules.drawings.outline import (
    Outline,
    OutlineItem,
    TreeLayout,
    TreePair,
    children,
    lay_out,
    make_tree_pair,
)
from alignkit.show.html import PageContent, draw_page
from alignkit.show.svg import colour_rules
from alignkit.tables import text_width
from alignkit.tables.colours import HUES, INK, LINKS
from alignkit.tables.media import style_sheet
from alignkit.tables.text_width import cut_text, isolated_text, safe_text, text_length

_LONGEST = 40  # letters of a label or word; longer ones are cut
_STRETCH = 2.0  # the most by which the narrower tree is widened

# pixels
_SIZE = 14  # of letters
_SMALL = 10  # of the numbers at nodes
_MARGIN = 12
_ROW = 30  # from one level of a tree to the next
_BETWEEN = 96  # from the source words to the target words
_GAP = 8  # between two columns
# from the baseline of a text, down
_BASELINE = 18  # of a row: this far below its top
_ABOVE = -14  # where lines end that come from above
_BELOW = 5  # where lines begin that go down
_BAR_ABOVE = -18  # the bar from which the items of a node hang, if these are above
_BAR_BELOW = 9  # and if they are below
_LINK_ABOVE = -15  # the end of a link at a target word
_LINK_BELOW = 6  # the end of a link at a source word
_BOX_ABOVE = -15  # the upper edge of the box of a variable
_BOX_HEIGHT = 20
_LINE = 'stroke-width="1.5"'
_BROKEN_LINE = 'stroke-width="1.2" stroke-dasharray="5 4"'


def draw_tree_svg(
    pair: SentencePair,
    annotator: str | None = None,
    *,
    links: str = "sure",
    source_tree: str | None = None,
    target_tree: str | None = None,
) -> str:
    """Draw the trees of a sentence pair: the source tree above, the target tree below.

    The target tree is upside down, so the words of both trees face each other with their links
    between them. Matched nodes have the same number and colour on both sides.

    Parameters
    ----------
    pair, annotator, links, source_tree, target_tree : As for `draw_tree_text`. Possible links are
        always drawn, as broken lines.

    Returns
    -------
    str
        An SVG document to be written in UTF-8; its size is linear in that of the trees. Text widths
        are estimated, as in `draw_svg`.

    Raises
    ------
    MissingTextError, OptionError, UnknownNameError : As for `draw_tree_text`.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair
    >>> from alignkit.model.trees import Tree
    >>> pair = SentencePair("1", ["rain"], ["showers"], {"gold": Alignment.parse("0-0")})
    >>> pair = pair.with_trees(
    ...     "gold", source=Tree.parse("(NP (NN rain))"), target=Tree.parse("(NP (NNS showers))"))
    >>> "<title>rain ~ showers: sure</title>" in draw_tree_svg(pair)
    True
    """
    check_arguments(draw_tree_svg, locals())
    shown = make_tree_pair(
        pair, annotator, links=links, source_tree=source_tree, target_tree=target_tree
    )
    return standalone_image(shown)


def standalone_image(shown: TreePair) -> str:
    """Draw the trees of a pair as a separate image, with its colours and legend."""
    drawing = _Drawing.of(shown)
    legend, reach, bottom = _legend(shown, drawing.height)
    width = max(drawing.width, reach + _MARGIN)
    height = bottom + _MARGIN
    parts = [
        _start(shown, width, height, f' font-family="sans-serif" font-size="{_SIZE}"'),
        f"<style>{colour_rules(INK | LINKS | HUES)}</style>",
        f'<rect class="ak-paper" width="{_px(width)}" height="{_px(height)}"/>',
    ]
    return "\n".join([*parts, *drawing.parts(), *legend, "</svg>\n"])


def pair_image(shown: TreePair) -> str:
    """Draw the trees of a pair as an image for a page that has the style sheet."""
    drawing = _Drawing.of(shown)
    start = _start(shown, drawing.width, drawing.height, ' class="trees"')
    return "\n".join([start, *drawing.parts(), "</svg>\n"])


def side_image(side: Outline, name: str) -> str:
    """Draw one side of a rule as an image for a page that has the style sheet."""
    layout = lay_out(side, _width, _GAP)
    width = layout.width + _GAP
    height = (layout.height + 1) * _ROW
    tree = _Tree(side, layout, _GAP / 2, 0, down=True)
    start = (
        f'<svg class="trees" viewBox="0 0 {_px(width)} {height}" width="{_px(width)}" '
        f'height="{height}" role="img" aria-label="{safe_text(name)}">'
    )
    return "".join([start, tree.edges(), *tree.items({}), "</svg>"])


def _start(shown: TreePair, width: float, height: float, more: str) -> str:
    """Return the start tag of an image, its title and its description for screen readers."""
    title = f"trees of pair {shown.id}"
    if shown.annotator:
        title += f": {shown.annotator}"
    parts = [f"{side}: {' '.join(words)}" for side, words in zip(SIDES, shown.words, strict=True)]
    links = shown.link_texts().values()
    if links:
        parts.append("links: " + "; ".join(links))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_px(width)} {_px(height)}" '
        f'width="{_px(width)}" height="{_px(height)}" role="img"{more}>\n'
        f"<title>{safe_text(title)}</title>\n<desc>{safe_text('. '.join(parts))}</desc>"
    )


@dataclass(frozen=True)
class _Drawing:
    """Both trees of a pair with their places in the image; sizes are in pixels."""

    shown: TreePair
    source: _Tree
    target: _Tree
    width: float
    height: float

    @classmethod
    def of(cls, shown: TreePair) -> _Drawing:
        """Lay out both trees: the narrower one is widened and centred."""
        source_outline, target_outline = shown.outlines()
        above = lay_out(source_outline, _width, _GAP)
        below = lay_out(target_outline, _width, _GAP)
        wide = max(above.width, below.width)
        above = above.stretched(min(wide, above.width * _STRETCH))
        below = below.stretched(min(wide, below.width * _STRETCH))
        source_left = _MARGIN + (wide - above.width) / 2
        target_left = _MARGIN + (wide - below.width) / 2
        middle = _MARGIN + above.height * _ROW + _BETWEEN
        source = _Tree(source_outline, above, source_left, _MARGIN, down=True)
        target = _Tree(target_outline, below, target_left, middle, down=False)
        height = middle + (below.height + 1) * _ROW
        return cls(shown, source, target, wide + 2 * _MARGIN, height)

    def parts(self) -> Iterator[str]:
        """Yield the edges of both trees, then the links, then the nodes and words."""
        yield self.source.edges()
        yield self.target.edges()
        above = self.source.words()
        below = self.target.words()
        link_texts = self.shown.link_texts()
        for link, sure in self.shown.alignment.items():
            x, y = above[link.i]
            end_x, end_y = below[link.j]
            start = f"{_px(x)} {_px(y + _LINK_BELOW)}"
            end = f"{_px(end_x)} {_px(end_y + _LINK_ABOVE)}"
            yield (
                f'<path class="ak-ink-edge" d="M{start}L{end}" {_LINE if sure else _BROKEN_LINE}>'
                f"<title>{safe_text(link_texts[link])}</title></path>"
            )
        for side, tree in enumerate((self.source, self.target)):
            linked = {link[side] for link in self.shown.alignment}
            yield from tree.items(self.shown.node_texts(side), linked)


@dataclass(frozen=True)
class _Tree:
    """Draw an outline with its root at the top (`down`) or at the bottom."""

    outline: Outline
    layout: TreeLayout
    left: float
    top: float
    down: bool

    def x(self, k: int) -> float:
        """Return the horizontal middle of item k."""
        return self.left + self.layout.middles[k]

    def y(self, k: int) -> float:
        """Return the baseline of the text of item k."""
        rows = self.layout.levels[k]
        if self.down:
            rows = self.layout.height - rows
        return self.top + _BASELINE + _ROW * rows

    def words(self) -> dict[int, tuple[float, float]]:
        """Return the position of each word, by its index."""
        positions = {}
        for k, item in enumerate(self.outline):
            if item.kind == "word":
                positions[item.place] = (self.x(k), self.y(k))
        return positions

    def edges(self) -> str:
        """Draw a bar at each node, and lines from it to the items below; no two lines cross."""
        # from a baseline: where the line of a node begins, where the bar is, and where the lines
        # to the items end
        if self.down:
            begin, bar, end = _BELOW, _BAR_BELOW, _ABOVE
        else:
            begin, bar, end = _ABOVE, _BAR_ABOVE, _BELOW
        drawn = []
        for node, below in enumerate(children(self.outline)):
            if not below:
                continue
            x = self.x(node)
            y = self.y(node)
            level = y + bar
            xs = [self.x(item) for item in below]
            low = min(x, *xs)
            high = max(x, *xs)
            drawn.append(f"M{_px(x)} {_px(y + begin)}V{_px(level)}")
            if high > low:
                drawn.append(f"M{_px(low)} {_px(level)}H{_px(high)}")
            drawn += [
                f"M{_px(self.x(item))} {_px(level)}V{_px(self.y(item) + end)}" for item in below
            ]
        if drawn:
            return f'<path class="ak-soft-edge" d="{"".join(drawn)}"/>'
        return ""

    def items(
        self, remarks: Mapping[int, str], linked: Container[int] | None = None
    ) -> Iterator[str]:
        """Yield the texts of words, variables (in boxes) and nodes.

        remarks: The tooltip of each node. linked: The words with links; None: all look linked.
        """
        for k, item in enumerate(self.outline):
            colour = "ak-soft" if item.number < 0 else f"ak-hue{item.number % len(HUES)}"
            x = self.x(k)
            y = self.y(k)
            if item.kind == "word":
                soft = linked is not None and item.place not in linked
                yield _label(item.text, x, y, "ak-soft" if soft else "ak-ink")
            elif item.kind == "node":
                remark = remarks.get(item.place, "")
                number = "" if item.number < 0 else str(item.number)
                yield _label(item.text, x, y, colour, remark=remark, number=number)
            else:
                broken = ' stroke-dasharray="3 3"' if item.kind == "unpaired" else ""
                wide = _length(item.text) + 12
                corner = f'x="{_px(x - wide / 2)}" y="{_px(y + _BOX_ABOVE)}"'
                size = f'width="{_px(wide)}" height="{_BOX_HEIGHT}" rx="5"'
                edge = f'<rect class="{colour}-edge" {corner} {size}{broken}/>'
                yield edge + _label(item.text, x, y, colour)


def _label(
    text: str, x: float, y: float, colour: str, *, remark: str = "", number: str = ""
) -> str:
    """Return a text centred at x, with a remark as its tooltip and a small number behind it.

    The remark on a text that is cut is the whole text, if it has no other. `colour` is a CSS class.
    """
    shown = cut_text(visible(text), _LONGEST)
    direction = ""
    if text_width.is_right_to_left(shown):
        direction = ' direction="rtl"'
    if not remark and shown != text:
        remark = text
    title = ""
    if remark:
        title = f"<title>{safe_text(remark)}</title>"
    raised = ""
    if number:
        raised = f'<tspan dx="1" dy="-5" font-size="{_SMALL}">{number}</tspan>'
    return (
        f'<text class="{colour}" x="{_px(x)}" y="{_px(y)}" text-anchor="middle"{direction}>'
        f"{title}{escape(shown)}{raised}</text>"
    )


def _legend(shown: TreePair, top: float) -> tuple[list[str], float, float]:
    """Return the legend as elements, and how far they reach to the right and down."""
    parts: list[str] = []
    x = float(_MARGIN)
    y = top + 12
    reach = 0.0
    for text, broken in legend_entries(shown):
        if broken is not None:
            dashes = ' stroke-dasharray="5 4"' if broken else ""
            line = f"M{_px(x)} {_px(y - 5)}h24"
            parts.append(f'<path class="ak-ink-edge" d="{line}" stroke-width="1.5"{dashes}/>')
            x += 30
        parts.append(f'<text class="ak-ink" x="{_px(x)}" y="{_px(y)}">{safe_text(text)}</text>')
        x += text_length(text, _SIZE) + 18
        reach = max(reach, x)
    return parts, reach, y + 6


def legend_entries(shown: TreePair) -> Sequence[tuple[str, bool | None]]:
    """Return the entries of the legend, each with whether its line is broken (None: no line)."""
    sure, possible = shown.counts()
    entries: list[tuple[str, bool | None]] = []
    if sure:
        entries.append((f"sure ({sure})", False))
    if possible:
        entries.append((f"possible ({possible})", True))
    if shown.matched:
        kind = "sure links" if shown.links == "sure" else "sure and possible links"
        entries.append((f"a number on both sides: matched by {kind} ({len(shown.matched)})", None))
    return entries


def _width(item: OutlineItem) -> float:
    """Return the width of an item in pixels, with its box or number."""
    more = 14 if item.kind in {"variable", "unpaired"} else 6
    if item.kind == "node" and item.number >= 0:
        more += text_length(str(item.number), _SMALL)
    return _length(item.text) + more


def _length(text: str) -> int:
    return text_length(cut_text(visible(text), _LONGEST), _SIZE)


def _px(value: float) -> str:
    """Return a number of pixels as text, rounded to tenths."""
    return f"{value:.1f}".removesuffix(".0")


def draw_tree_html(
    pairs: Iterable[SentencePair],
    annotator: str | None = None,
    *,
    links: str = "sure",
    source_tree: str | None = None,
    target_tree: str | None = None,
    title: str = "Trees",
) -> Iterator[str]:
    """Draw sentence pairs with their trees, as `draw_tree_svg` does, on one self-contained page.

    The page needs no network and no script. It follows the reader's choice of light or dark.

    Parameters
    ----------
    pairs : The sentence pairs, with words and trees; read twice, so an iterator is stored as a
        tuple.
    annotator, links, source_tree, target_tree : As for `draw_tree_text`.
    title : The heading.

    Yields
    ------
    str
        The page in pieces, one sentence pair at most, to be written in UTF-8.

    Raises
    ------
    MissingTextError, OptionError, UnknownNameError : As for `draw_tree_text`.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair
    >>> from alignkit.model.trees import Tree
    >>> pair = SentencePair("1", ["rain"], ["showers"], {"gold": Alignment.parse("0-0")})
    >>> trees = {"source": Tree.parse("(NN rain)"), "target": Tree.parse("(NNS showers)")}
    >>> page = "".join(draw_tree_html([pair.with_trees("gold", **trees)], title="Rain"))
    >>> "<title>Rain</title>" in page
    True
    """
    check_arguments(draw_tree_html, locals())
    kept = tuple(pairs) if iter(pairs) is pairs else pairs
    content = tree_content(
        annotator=annotator, links=links, source_tree=source_tree, target_tree=target_tree
    )
    yield from draw_page(kept, content, title=title)


def tree_content(**options: Any) -> PageContent:
    """Return the content of pages of trees; options as for `make_tree_pair`."""

    def make(pair: SentencePair) -> TreePair:
        return make_tree_pair(pair, **options)

    return PageContent(
        totals=lambda pairs: _totals(map(make, pairs)),
        articles=lambda pairs: (_article(make(pair)) for pair in pairs),
        style=style_sheet("trees"),
    )


def _totals(shown: Iterable[TreePair]) -> str:
    """Return the counts of all pairs as a paragraph."""
    pairs = both = sure = possible = matched = 0
    for drawing in shown:
        pairs += 1
        both += None not in drawing.trees
        sure_links, possible_links = drawing.counts()
        sure += sure_links
        possible += possible_links
        matched += len(drawing.matched)
    counted = how_many(pairs, "sentence pair", commas=True)
    return (
        f'<p class="facts">{counted}, {both:,} with both trees; {sure:,} sure and '
        f"{possible:,} possible links; {matched:,} pairs of matched nodes (same number and colour "
        "on both sides)</p>\n"
    )


def _article(shown: TreePair) -> str:
    """Return the section of a page for one pair: its sentences, the image and the legend."""
    parts = [f"<article>\n<h2>{isolated_text(shown.id)}</h2>\n"]
    for words, tree in zip(shown.words, shown.trees, strict=True):
        note = ""
        if tree is None:
            note = ' <span class="empty-word">(no tree)</span>'
        parts.append(f'<p class="sentence" dir="auto">{safe_text(" ".join(words))}{note}</p>\n')
    if shown.annotator:
        sure, possible = shown.counts()
        name = isolated_text(shown.annotator)
        parts.append(f'<p class="facts">{name}: {sure} sure, {possible} possible</p>\n')
    name = safe_text(f"trees of pair {shown.id}")
    parts.append(
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">\n'
        f"{pair_image(shown)}</div>\n"
    )
    marks = {
        None: "",
        True: '<span class="line broken"></span>',
        False: '<span class="line"></span>',
    }
    items = [f"<li>{marks[kind]}{safe_text(text)}</li>" for text, kind in legend_entries(shown)]
    if items:
        parts.append(f'<ul class="legend">{"".join(items)}</ul>\n')
    return "".join([*parts, "</article>\n"])
