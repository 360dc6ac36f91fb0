"""Draw two trees with the links between their words as lines, for terminals and plain files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import visible
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair
from alignkit.rules.drawings.outline import (
    Outline,
    OutlineItem,
    TreePair,
    children,
    make_tree_pair,
)
from alignkit.tables.text_width import char_width, cut_text, kept_in_place

_LONGEST = 40  # a label or word that takes more cells is cut
_WIDEST = 120  # of a line of labels, where there is no limit
_PAINT = re.compile(r"\x1b\[[0-9;]*m")
_HUES = (33, 208, 170, 35, 198, 142, 37)  # as those of images, in a terminal


@dataclass(frozen=True, slots=True)
class _Signs:
    """The signs of a drawing."""

    branch: str  # before a child that others follow
    last: str  # before the last child
    through: str  # beside the lines below a child that others follow
    only: str  # between a node and its only child
    sure: str
    possible: str
    end: str  # of a text that is cut


_UNICODE = _Signs("├─ ", "└─ ", "│  ", " ─ ", "■", "□", "…")
_ASCII = _Signs("|- ", "`- ", "|  ", " - ", "S", "P", "...")


def draw_tree_text(
    pair: SentencePair,
    annotator: str | None = None,
    *,
    links: str = "sure",
    source_tree: str | None = None,
    target_tree: str | None = None,
    colour: bool = False,
    width: int | None = None,
    ascii: bool = False,
) -> str:
    """Draw the trees of a sentence pair as lines: the source tree, then the target tree.

    A line is a node with the chain of single nodes below it. A line that ends in a word has the
    word's position before it, and the linked words of the other side after it. Matched nodes have
    the same number on both sides, in brackets.

    Parameters
    ----------
    pair : The sentence pair, with words and trees; a side without a tree is a column of words.
    annotator : The annotator whose links are drawn; None if only one annotator aligned the pair.
    links : The links used to match nodes: ``"sure"``, or ``"possible"`` for all.
    source_tree, target_tree : The name of the tree to draw; None for the only tree of that side.
    colour : Colour matched nodes by ANSI sequences; the texts of the pair cannot add other
        sequences.
    width : The width of a line in cells, if an indent, a label and a word fit; None for no limit.
        Levels that do not fit are counted: ``+7`` stands for 7 levels.
    ascii : Use only ASCII; all other characters are escaped.

    Raises
    ------
    MissingTextError : If the words are unknown.
    OptionError : If there are several annotators or trees, and no name is given.
    UnknownNameError : If an annotator, a tree or `links` has an unknown name.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair
    >>> from alignkit.model.trees import Tree
    >>> pair = SentencePair("1", ["he", "left"], ["he", "went", "off"],
    ...                     {"gold": Alignment.parse("0-0 1-1 1-2")})
    >>> pair = pair.with_trees("gold", source=Tree.parse("(S (PRP he) (VP (VBD left)))"),
    ...                        target=Tree.parse("(S (PRP he) (VP (VBD went) (RP off)))"))
    >>> print(draw_tree_text(pair))
    1  gold: 3 sure, 0 possible
    <BLANKLINE>
    source
         S[1]
      0  ├─ PRP[2] ─ he         ■ 0 he
      1  └─ VP[3] ─ VBD ─ left  ■ 1 went  ■ 2 off
    <BLANKLINE>
    target
         S[1]
      0  ├─ PRP[2] ─ he    ■ 0 he
         └─ VP[3]
      1     ├─ VBD ─ went  ■ 1 left
      2     └─ RP ─ off    ■ 1 left
    <BLANKLINE>
      ■ sure (3)  [1] to [3] nodes matched by sure links
    """
    check_arguments(draw_tree_text, locals())
    shown = make_tree_pair(
        pair, annotator, links=links, source_tree=source_tree, target_tree=target_tree
    )
    return pair_text(shown, colour=colour, width=width, unicode=not ascii)


def pair_text(
    shown: TreePair, *, colour: bool = False, width: int | None = None, unicode: bool = True
) -> str:
    """Draw the collected content of a pair; see `draw_tree_text`."""
    drawing = _Drawing(shown, colour, width, _UNICODE if unicode else _ASCII)
    return "\n".join(line.rstrip() for line in drawing.lines())


def _width(text: str) -> int:
    """Return the cells that a text takes, with its colours."""
    return char_width(_PAINT.sub("", text))


@dataclass
class _Drawing:
    """A drawing of a pair as lines; `width` is in cells."""

    shown: TreePair
    colour: bool
    width: int | None
    signs: _Signs
    hidden: bool = False  # whether some indent was left out

    def lines(self) -> Iterator[str]:
        """Yield all lines: the heading, each side, and the legend."""
        shown = self.shown
        head = [self.text(shown.id, None)]
        if shown.annotator:
            sure, possible = shown.counts()
            head.append(f"{self.text(shown.annotator, None)}: {sure} sure, {possible} possible")
        yield from self.flow(head)
        for side, outline in enumerate(shown.outlines()):
            yield ""
            if shown.trees[side] is None:
                yield f"{SIDES[side]} (no tree)"
            else:
                yield SIDES[side]
            yield from self.side(side, outline)
        legend = list(self.legend())
        if legend or self.hidden:
            yield ""
        if legend:
            yield from self.flow(legend, "  ")
        if self.hidden:
            yield "  +N: N levels further in"

    def legend(self) -> Iterator[str]:
        """Yield the meaning of the signs that are used."""
        sure, possible = self.shown.counts()
        if sure:
            yield f"{self.paint(self.signs.sure, '1')} sure ({sure})"
        if possible:
            yield f"{self.signs.possible} possible ({possible})"
        if self.shown.matched:
            kind = "sure links" if self.shown.links == "sure" else "all links"
            number = len(self.shown.matched)
            numbers = "[1]" if number == 1 else f"[1] to [{number}]"
            yield f"{numbers} nodes matched by {kind}"

    def side(self, side: int, outline: Outline) -> Iterator[str]:
        """Yield the lines of a side: positions of words, the tree, the links of each word."""
        drawn = list(self.tree(outline))
        margin = len(str(max(len(self.shown.words[side]) - 1, 0))) + 2
        room = _WIDEST if self.width is None else self.width
        # the links start behind the longest line that takes at most 60% of the width
        longest = 0
        for text, place in drawn:
            size = _width(text)
            if place >= 0 and size + margin <= room * 6 // 10:
                longest = max(longest, size)
        start = longest + 2
        linked = self.linked(side)
        for text, place in drawn:
            number = place if place >= 0 else ""
            begin = f"{number:>{margin}}  {text}"
            yield from self.beside(begin, margin + 2, start, linked.get(place, []))

    def beside(self, begin: str, margin: int, start: int, links: list[str]) -> Iterator[str]:
        """Yield a line followed by the links of its word; long lists continue on further lines."""
        line = begin
        reach = _width(begin)
        place = margin + start
        for k, text in enumerate(links):
            wide = _width(text)
            gap = 2 if k else max(place - reach, 2)
            if self.width is not None and reach + gap + wide > self.width and reach > margin:
                yield line
                line = ""
                reach = 0
                gap = max(min(place, self.width - wide), margin)
            line += " " * gap + text
            reach += gap + wide
        yield line

    def linked(self, side: int) -> dict[int, list[str]]:
        """Return the links after each word."""
        links: dict[int, list[str]] = {}
        others = self.shown.words[1 - side]
        for link, sure in sorted(self.shown.alignment.items()):
            other = link[1 - side]
            sign = self.paint(self.signs.sure, "1") if sure else self.signs.possible
            text = f"{sign} {other} {self.text(others[other])}"
            links.setdefault(link[side], []).append(text)
        return links

    def tree(self, outline: Outline) -> Iterator[tuple[str, int]]:
        """Yield the lines of a tree, each with the place of the word at its end (-1 for none).

        A single child is on the line of its parent.
        """
        below = children(outline)
        roots = [k for k, item in enumerate(outline) if item.parent < 0]
        stack = [(k, "", 0, "") for k in reversed(roots)]  # item, indent, its levels, branch
        while stack:
            k, indent, levels, branch = stack.pop()
            line = self.indent(indent, levels) + branch + self.label(outline[k])
            while len(below[k]) == 1 and _width(line) <= (self.width or _WIDEST) - 10:
                (k,) = below[k]
                line += self.signs.only + self.label(outline[k])
            yield line, outline[k].place if outline[k].kind == "word" else -1
            if branch:
                indent += "   " if branch == self.signs.last else self.signs.through
                levels += 1
            # of a deep indent, the last levels that take half of the width
            most = (self.width or _WIDEST) // 2 // 3 * 3
            indent = indent[-most:] if most else ""
            branch = self.signs.last
            for child in reversed(below[k]):
                stack.append((child, indent, levels, branch))
                branch = self.signs.branch

    def indent(self, indent: str, levels: int) -> str:
        """Return an indent; if it is too deep, the number of levels left out."""
        left = levels - len(indent) // 3
        if left <= 0:
            return indent
        self.hidden = True
        return f"+{left} {indent}"

    def label(self, item: OutlineItem) -> str:
        """Return the text of an item, with its number in brackets."""
        shown = self.text(item.text)
        if item.number < 0:
            return shown
        hue = _HUES[item.number % len(_HUES)]
        return self.paint(f"{shown}[{item.number}]", f"38;5;{hue}")

    def flow(self, parts: list[str], indent: str = "") -> Iterator[str]:
        """Yield lines of parts with two spaces between them, as many as fit in a line."""
        line = indent
        for part in parts:
            if line.strip():
                longer = f"{line}  {part}"
            else:
                longer = line + part
            if self.width is not None and line.strip() and char_width(longer) > self.width:
                yield line
                longer = indent + part
            line = longer
        yield line

    def paint(self, text: str, code: str) -> str:
        """Return a text in a colour, by its code of ANSI."""
        if self.colour and code:
            return f"\x1b[{code}m{text}\x1b[0m"
        return text

    def text(self, text: str, longest: int | None = _LONGEST) -> str:
        """Return a text without control characters; a label or word is cut, without spaces."""
        if longest is not None:
            text = text.replace(" ", "_")
        shown = visible(text, only_ascii=self.signs is _ASCII)
        if longest is not None:
            shown = cut_text(shown, longest, end=self.signs.end)
        return kept_in_place(shown)
