"""The guidelines for annotators as one web page: Markdown in, safe HTML out.

The page needs no script and no style of its own: it works under the content security policy
``default-src 'none'; style-src 'self'``. HTML in the Markdown is shown as text, comments are left
out, pictures are replaced by their words. Headings have the anchors that GitHub gives them, so a
link such as ``#named-entities`` works in both places, and each example ``<!-- matrix: NAME -->``
has the anchor ``example-NAME``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from alignkit._support.arguments import check_arguments
from alignkit.annotate.project.names import guidelines
from alignkit.errors import AlignkitError, FormatError
from alignkit.io.reading import iterate_pairs
from alignkit.model.alignment import Alignment, Link
from alignkit.model.sentence_pair import SentencePair


def read_example(path: Path) -> SentencePair | None:
    """Return the pair of an example; None if the file is missing, or has no aligned pair."""
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


STYLE = "/page/guidelines.css"
_PAGES = ("README.md", "quick-card.md")
_LARGEST = 4_000_000  # characters: a page to be read by people
_POLICY = "default-src 'none'; style-src 'self'"
_COMMENT = re.compile(r"<!--(.*?)-->\s*", re.DOTALL)
_EXAMPLE = re.compile(r"matrix: ([a-z0-9-]+)")
_OUTSIDE = re.compile(r"(?:https?|mailto):", re.IGNORECASE)


class _Heading(NamedTuple):
    level: int
    anchor: str
    text: str


def render_guidelines(path: str | Path | None = None) -> str:
    """Render guidelines as an HTML page.

    Examples
    --------
    >>> page = render_guidelines()
    >>> '<h3 id="named-entities">Named entities</h3>' in page, "<script" in page
    (True, False)
    """
    check_arguments(render_guidelines, locals())
    files = [guidelines() / name for name in _PAGES] if path is None else [Path(path)]
    parser = _parser()
    pages = {
        file.name: _without_comments(parser.parse(_read(file)), file.parent / "examples")
        for file in files
    }
    anchors = _Anchors()
    headings = {name: list(anchors.give(tokens)) for name, tokens in pages.items()}
    tops = {name: some[0].anchor if some else "text" for name, some in headings.items()}
    listed = [heading for some in headings.values() for heading in some]
    parts = []
    for tokens in pages.values():
        _mend_links(tokens, tops, anchors.used)
        text = parser.renderer.render(tokens, parser.options, {})
        parts.append(f"<article>\n{text}</article>\n")
    title = listed[0].text if listed else files[0].name
    return _page(title, _contents(listed), "".join(parts))


def _read(file: Path) -> str:
    try:
        with file.open(encoding="utf-8-sig") as stream:
            text = stream.read(_LARGEST + 1)
    except OSError as problem:
        raise AlignkitError(
            f"{file}: the guidelines cannot be read: {problem.strerror or problem}; "
            "name a Markdown file"
        ) from None
    except UnicodeDecodeError:
        raise FormatError(
            "the guidelines are no text in UTF-8; save them as such", str(file)
        ) from None
    if len(text) > _LARGEST:
        raise FormatError(
            f"the guidelines are longer than {_LARGEST:,} characters; divide them", str(file)
        )
    return text


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


class _Anchors:
    """Give headings the anchors that GitHub gives them; what comes twice is numbered."""

    def __init__(self) -> None:
        self.used = {"text", "contents"}

    def give(self, tokens: list[Token]) -> Iterator[_Heading]:
        for token, inline in pairwise(tokens):
            if token.type == "heading_open":
                text = _plain(inline.children or ())
                anchor = self._unused(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-"))
                token.attrSet("id", anchor)
                yield _Heading(int(token.tag[1]), anchor, text)
        for token in tokens:
            if "example" in token.meta:
                token.meta["anchor"] = self._unused(f"example-{token.meta['example']}")

    def _unused(self, wanted: str) -> str:
        anchor, count = wanted or "section", 0
        while anchor in self.used:
            count += 1
            anchor = f"{wanted or 'section'}-{count}"
        self.used.add(anchor)
        return anchor


def _plain(children: Iterable[Token]) -> str:
    """Return the words of a line without its marks."""
    words = "".join(
        " " if child.type in ("softbreak", "hardbreak") else child.content for child in children
    )
    return _COMMENT.sub("", words).strip()


def _without_comments(tokens: Sequence[Token], examples: Path) -> list[Token]:
    """Leave comments out; one that names an example goes to the drawing that follows it."""
    kept: list[Token] = []
    name, within = "", False
    for token in tokens:
        if token.type == "inline" and kept[-1].type == "paragraph_open":
            comments = _COMMENT.findall(token.content)
            if comments and not _COMMENT.sub("", token.content).strip():
                kept.pop()
                match = _EXAMPLE.fullmatch(comments[-1].strip())
                name, within = match[1] if match else "", True
                continue
        if within:  # the end of a paragraph that was a comment
            within = False
            continue
        if token.type == "inline":
            for child in token.children or ():
                if child.type == "text":
                    child.content = _COMMENT.sub("", child.content)
        if token.type == "fence" and name:
            token.meta["example"] = name
            token.meta["pair"] = read_example(examples / f"{name}.jsonl")
        name = ""
        kept.append(token)
    return kept


def _mend_links(tokens: Iterable[Token], tops: dict[str, str], known: set[str]) -> None:
    """Let links between the pages lead to their place; those to other files stay words."""
    for token in tokens:
        opened = []
        for child in token.children or ():
            if child.type == "link_open":
                _mend_link(child, tops, known)
                opened.append(child)
            elif child.type == "link_close":
                child.tag = opened.pop().tag


def _mend_link(link: Token, tops: dict[str, str], known: set[str]) -> None:
    target = str(link.attrs.get("href", ""))
    if _OUTSIDE.match(target):
        link.attrSet("target", "_blank")
        link.attrSet("rel", "noopener noreferrer")
        return
    name, _, part = unquote(target).partition("#")
    name = name.removeprefix("./")
    if part in known and (not name or name in tops):
        link.attrSet("href", f"#{part}")
    elif name in tops:
        link.attrSet("href", f"#{tops[name]}")
    else:
        link.tag = "span"
        link.attrs = {"class": "file", "title": unquote(target)}


def _contents(headings: Sequence[_Heading]) -> str:
    items = [
        f'<li class="level{heading.level}"><a href="#{escape(heading.anchor)}">'
        f"{escape(heading.text)}</a></li>\n"
        for heading in headings
        if heading.level <= 3
    ]
    return f"<ul>\n{''.join(items)}</ul>\n"


def _page(title: str, contents: str, text: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<title>{escape(title)}</title>\n<link rel="stylesheet" href="{STYLE}">\n</head>\n'
        '<body>\n<a class="skip" href="#text">To the text</a>\n'
        f'<nav id="contents" aria-label="Contents">\n<h2>Contents</h2>\n{contents}</nav>\n'
        f'<main id="text" tabindex="-1">\n{text}</main>\n</body>\n</html>\n'
    )


# how markdown-it calls a rule: itself, all tokens, the place of this one, options, environment
def _fence(self: RendererHTML, tokens: Sequence[Token], k: int, *_: Any) -> str:
    token = tokens[k]
    anchor = f' id="{token.meta["anchor"]}"' if "anchor" in token.meta else ""
    pair = token.meta.get("pair")
    drawn = draw_example(pair) if pair else f"<pre>{escape(token.content)}</pre>\n"
    return f'<div class="scroll" tabindex="0"{anchor}>{drawn}</div>\n'


def _image(self: RendererHTML, tokens: Sequence[Token], k: int, *_: Any) -> str:
    return f'<span class="picture">{escape(tokens[k].content)}</span>'


def _table(self: RendererHTML, tokens: Sequence[Token], k: int, *_: Any) -> str:
    return '<div class="scroll" tabindex="0"><table>\n'


def _table_end(self: RendererHTML, tokens: Sequence[Token], k: int, *_: Any) -> str:
    return "</table></div>\n"


def _cell_guidelines_page(self: RendererHTML, tokens: Sequence[Token], k: int, *_: Any) -> str:
    """Open a cell: the side to which its text goes is a class, for no style may stand inline."""
    style = str(tokens[k].attrs.get("style", ""))
    side = style.partition(":")[2]
    return f'<{tokens[k].tag} class="{escape(side)}">' if side else f"<{tokens[k].tag}>"


_RULES = {
    "fence": _fence,
    "code_block": _fence,
    "image": _image,
    "table_open": _table,
    "table_close": _table_end,
    "th_open": _cell_guidelines_page,
    "td_open": _cell_guidelines_page,
}
