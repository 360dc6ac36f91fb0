"""The guidelines for annotators as one web page: Markdown in, safe HTML out.

The page has no script or style of its own and works under the content security policy
``default-src 'none'; style-src 'self'``. HTML in the Markdown is shown as text, comments are left
out, pictures are replaced by their texts. Headings have the same anchors as on GitHub, so a link
such as ``#named-entities`` works in both places. Each example ``<!-- matrix: NAME -->`` has the
anchor ``example-NAME``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from alignkit._support.arguments import check_arguments
from alignkit._support.shipped import guidelines
from alignkit.errors import AlignkitError, FormatError
from alignkit.io.reading import iterate_pairs
from alignkit.model.alignment import Alignment, Link
from alignkit.model.sentence_pair import SentencePair

STYLE = "/page/guidelines.css"
_PAGES = (
    "README.md",
    "names.md",
    "verbs.md",
    "small-words.md",
    "wording.md",
    "languages.md",
    "languages-verbs.md",
    "quick-card.md",
)
_LARGEST = 4_000_000  # characters: a page to be read by people
# up to the next -->; if another <!-- comes first, this one is no comment but text
_COMMENT = re.compile(r"<!--((?:[^<]|<(?!!--))*?)-->\s*")
_EXAMPLE = re.compile(r"matrix: ([a-z0-9-]+)")
_OUTSIDE = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_PAGE = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{title}}</title>
<link rel="stylesheet" href="{STYLE}">
</head>
<body>
<a class="skip" href="#text">To the text</a>
<nav id="contents" aria-label="Contents">
<h2>Contents</h2>
<ul>
{{contents}}</ul>
</nav>
<main id="text" tabindex="-1">
{{text}}</main>
</body>
</html>
"""


class _Heading(NamedTuple):
    """A heading: its level from 1, and its anchor and words."""

    level: int
    anchor: str
    text: str


def render_guidelines(path: str | Path | None = None) -> str:
    """Render guidelines as an HTML page."""
    check_arguments(render_guidelines, locals())
    if path is None:
        files = [guidelines() / name for name in _PAGES]
    else:
        files = [Path(path)]
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    for name, rule in _RULES.items():  # at the end of this module
        parser.add_render_rule(name, rule)
    pages: dict[str, list[Token]] = {}
    anchors = _Anchors()
    tops: dict[str, str] = {}  # the anchor at which each page begins
    headings: list[_Heading] = []
    for file in files:
        tokens = _without_comments(parser.parse(_read(file)), file.parent / "examples")
        own = _anchored(tokens, anchors)
        pages[file.name] = tokens
        tops[file.name] = own[0].anchor if own else "text"
        headings += own
    text = ""
    for tokens in pages.values():
        _mend_links(tokens, tops, anchors)
        article = parser.renderer.render(tokens, parser.options, {})
        text += f"<article>\n{article}</article>\n"
    contents = ""
    for level, anchor, title in headings:
        if level <= 3:
            link = f'<a href="#{escape(anchor)}">{escape(title)}</a>'
            contents += f'<li class="level{level}">{link}</li>\n'
    title = escape(headings[0].text if headings else files[0].name)
    return _PAGE.format(title=title, contents=contents, text=text)


def _read(file: Path) -> str:
    """Read a page; refuse what is not text, or too long for people."""
    try:
        with file.open(encoding="utf-8-sig") as stream:
            text = stream.read(_LARGEST + 1)
    except OSError as problem:
        raise AlignkitError(
            f"{file}: the guidelines cannot be read: {problem.strerror or problem}; give a "
            "Markdown file"
        ) from None
    except UnicodeDecodeError:
        wrong = "the guidelines are not text in UTF-8; save them as UTF-8"
        raise FormatError(wrong, str(file)) from None
    if len(text) > _LARGEST:
        wrong = f"the guidelines are longer than {_LARGEST:,} characters; divide them"
        raise FormatError(wrong, str(file))
    return text


def _without_comments(tokens: Sequence[Token], examples: Path) -> list[Token]:
    """Leave comments out; a comment that names an example is moved to the drawing after it.

    A paragraph is three tokens: where it opens, its text (inline), and where it closes.
    """
    kept: list[Token] = []
    name = ""  # of the example that the comment just before has named
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if token.type == "paragraph_open":
            comments = _comments_alone(tokens[place + 1].content)
            if comments:
                match = _EXAMPLE.fullmatch(comments[-1].strip())
                name = match[1] if match else ""
                place += 3
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
        place += 1
    return kept


def _comments_alone(text: str) -> list[str]:
    """Return the comments in a text that has nothing else; none if it has."""
    if _COMMENT.sub("", text).strip():
        return []
    return _COMMENT.findall(text)


def _plain(children: Iterable[Token]) -> str:
    """Return the words of a line without its markup."""
    words = ""
    for token in children:
        words += " " if token.type in ("softbreak", "hardbreak") else token.content
    return _COMMENT.sub("", words).strip()


class _Anchors:
    """The anchors of a page; if one is wanted again, it gets a number, as on GitHub."""

    def __init__(self) -> None:
        # how many more were made of each; the first two are those of the page itself
        self._more = {"text": 0, "contents": 0}

    def new(self, wanted: str) -> str:
        """Add an anchor, and return it."""
        anchor = wanted
        while anchor in self._more:
            self._more[wanted] += 1
            anchor = f"{wanted}-{self._more[wanted]}"
        self._more[anchor] = 0
        return anchor

    def __contains__(self, anchor: str) -> bool:
        return anchor in self._more


def _anchored(tokens: Sequence[Token], anchors: _Anchors) -> list[_Heading]:
    """Give headings and examples the same anchors as on GitHub; return the headings."""
    headings = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            text = _plain(inline.children or ())
            name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            heading = _Heading(int(token.tag[1]), anchors.new(name or "section"), text)
            token.attrSet("id", heading.anchor)
            headings.append(heading)
    for token in tokens:
        if "example" in token.meta:
            token.meta["anchor"] = anchors.new(f"example-{token.meta['example']}")
    return headings


def _mend_links(tokens: Iterable[Token], tops: dict[str, str], anchors: _Anchors) -> None:
    """Point links between the pages to their place; links to other files become plain words."""
    opened: list[Token] = []
    for link in chain.from_iterable(token.children or () for token in tokens):
        if link.type == "link_close":
            link.tag = opened.pop().tag
        if link.type != "link_open":
            continue
        opened.append(link)
        target = str(link.attrs.get("href", ""))
        name, _, part = unquote(target).partition("#")
        name = name.removeprefix("./")
        if _OUTSIDE.match(target):
            link.attrs |= {"target": "_blank", "rel": "noopener noreferrer"}
        elif part in anchors and (not name or name in tops):
            link.attrSet("href", f"#{part}")
        elif name in tops:
            link.attrSet("href", f"#{tops[name]}")
        else:
            link.tag = "span"
            link.attrs = {"class": "file", "title": unquote(target)}


# Examples


def read_example(path: Path) -> SentencePair | None:
    """Return the pair of an example; None if the file is missing, or has no aligned pair."""
    if not path.is_file():
        return None
    try:
        pair = next(iter(iterate_pairs(path, format="alignkit-jsonl")), None)
    except AlignkitError:
        return None
    if pair and pair.has_text and pair.alignments:
        return pair
    return None


def draw_example(pair: SentencePair) -> str:
    """Draw a pair with its first alignment: rows are source words, columns target words."""
    source = pair.source or ()
    target = pair.target or ()
    alignment = pair.alignment(next(iter(pair.alignments)))
    heads = ""
    for word in target:
        heads += f'<th scope="col"><span dir="auto">{escape(word)}</span></th>'
    rows = ""
    for i, word in enumerate(source):
        cells = "".join(_cell(alignment, Link(i, j)) for j in range(len(target)))
        rows += f'<tr><th scope="row" dir="auto">{escape(word)}</th>{cells}</tr>\n'
    name = escape(f"{' '.join(source)} ~ {' '.join(target)}")
    return (
        f'<table class="matrix" aria-label="{name}">\n'
        f"<thead><tr><td></td>{heads}</tr></thead>\n"
        f"<tbody>\n{rows}</tbody></table>"
    )


def _cell(alignment: Alignment, link: Link) -> str:
    """Return a cell of the table of an example."""
    if link in alignment.sure:
        return '<td class="sure"><span>sure</span></td>'
    if link in alignment.possible:
        return '<td class="possible"><span>possible</span></td>'
    return "<td></td>"


# Rules of markdown-it: they get the renderer, all tokens, and the place of this one


def _fence(self: RendererHTML, tokens: Sequence[Token], k: int, *_: Any) -> str:
    """Return a block of text, or the drawing of an example in its place."""
    token = tokens[k]
    anchor = ""
    if "anchor" in token.meta:
        anchor = f' id="{token.meta["anchor"]}"'
    pair = token.meta.get("pair")
    if pair:
        drawn = draw_example(pair)
    else:
        drawn = f"<pre>{escape(token.content)}</pre>\n"
    return f'<div class="scroll" tabindex="0"{anchor}>{drawn}</div>\n'


def _cell_tag(self: RendererHTML, tokens: Sequence[Token], k: int, *_: Any) -> str:
    """Open a cell; its alignment is a class because inline styles are not allowed."""
    token = tokens[k]
    side = str(token.attrs.get("style", "")).partition(":")[2]
    if side:
        return f'<{token.tag} class="{escape(side)}">'
    return f"<{token.tag}>"


def _image(self: RendererHTML, tokens: Sequence[Token], k: int, *_: Any) -> str:
    return f'<span class="picture">{escape(tokens[k].content)}</span>'


def _table_open(*_: Any) -> str:
    return '<div class="scroll" tabindex="0"><table>\n'


def _table_close(*_: Any) -> str:
    return "</table></div>\n"


_RULES = {
    "fence": _fence,
    "code_block": _fence,
    "image": _image,
    "table_open": _table_open,
    "table_close": _table_close,
    "th_open": _cell_tag,
    "td_open": _cell_tag,
}
