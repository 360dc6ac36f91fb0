"""The guidelines as a page: nothing in a file acts, and every link leads somewhere."""

import re
from html.parser import HTMLParser

import pytest
from refusals import refuses

pytest.importorskip("markdown_it", reason="needs markdown-it-py (extra: annotate)")

from hypothesis import given
from hypothesis import strategies as st

from alignkit._support.shipped import guidelines
from alignkit.annotate.server.guidelines_page import STYLE, render_guidelines
from alignkit.errors import AlignkitError, ArgumentError

# that other pages link to: a heading may change, its anchor must not without a thought
ANCHORS = set(
    """
1-the-ideas how-to-read-the-drawings 2-how-to-decide 3-cases-within-one-language-and-in-general
named-entities definite-descriptions tenses noun-phrases-with-mismatching-determiners
verb-complexes phrasal-verbs genitives pronouns repetitions typographic-errors
approximate-correspondences identical-words-that-do-not-correspond punctuation function-words
idioms radically-different-wording new-information discontinuous-links same-meaning-other-syntax
nominalization coordination relative-pronouns converses ellipsis 4-cases-between-two-languages
articles-on-one-side-only negation clitics reflexive-verbs dropped-pronouns compounds
auxiliaries-and-compound-tenses contractions separable-verbs word-order 5-before-you-move-on
reference quick-card
""".split()  # noqa: SIM905
)
VOID = {"meta", "link", "hr", "br", "img"}


class Page(HTMLParser):
    """What a browser would find."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    @property
    def ids(self):
        return [attrs["id"] or "" for _, attrs in self.elements if "id" in attrs]

    @property
    def links(self):
        return [attrs["href"] or "" for tag, attrs in self.elements if tag == "a"]


def page_of(folder, text):
    path = folder / "mine.md"
    path.write_text(text, encoding="utf-8")
    made = render_guidelines(path)
    return made, Page(made)


def check_safe(page):
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "style", "img", "iframe", "object", "form", "base", "svg"}
    for tag, attrs in page.elements:
        assert not any(name.startswith("on") or name in ("style", "src") for name in attrs)
        if tag == "link":
            assert attrs == {"rel": "stylesheet", "href": STYLE}
    assert all(re.match(r"#|https?:|mailto:", link, re.IGNORECASE) for link in page.links)


def test_our_guidelines_are_safe_linked_and_drawn_as_their_data_say():
    text = render_guidelines()
    page = Page(text)
    check_safe(page)
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert {"#quick-card", "#guidelines-for-word-and-phrase-alignment"} <= set(page.links)
    assert set(page.ids) >= ANCHORS
    cases = {path.stem for path in (guidelines() / "examples").glob("*.jsonl")}
    assert {name[8:] for name in page.ids if name.startswith("example-")} == cases
    start = text.index('id="example-converses"')
    table = text[start : text.index("</table>", start)]
    assert (table.count('class="sure"'), table.count('class="possible"')) == (5, 3)
    assert "matrix:" not in text


HOSTILE = """# <script>alert(1)</script> & "mine"

<script>alert(2)</script>
<img src=x onerror=alert(3)> <b onclick="alert(4)">bold</b>

[a](javascript:alert(5)) [b](data:text/html,x) [c](data:image/png;base64,xx) [d](//evil.example/x)
[e](<../../etc/passwd>) [f](file:///etc/passwd) [g](/api/export?to=pharaoh) [h](vbscript:x)
<javascript:alert(6)> ![picture](https://evil.example/x.png "t") ![p](x.png)

| a | b |
|--:|:-:|
| `<i>` | <i>x</i> |

```html" onmouseover="alert(7)
<script>alert(8)</script>
```

<!-- matrix: ../../secret -->
```text
x
```
<!-- left
out --> [ref]: javascript:alert(9)
"""


def test_nothing_in_a_file_acts(tmp_path):
    text, page = page_of(tmp_path, HOSTILE)
    check_safe(page)
    assert "&lt;script&gt;alert(2)&lt;/script&gt;" in text
    assert '<td class="right"><code>&lt;i&gt;</code></td>' in text
    assert '<span class="picture">picture</span>' in text
    assert not [link for link in page.links if not link.startswith("#")]


@given(st.text("<>\"'&#[]()!`|-:\n *_=/xa", max_size=60))
def test_any_text_makes_a_safe_page(tmp_path_factory, text):
    check_safe(page_of(tmp_path_factory.getbasetemp(), text)[1])


def test_links_of_a_file_of_ones_own(tmp_path):
    text, page = page_of(
        tmp_path,
        "# Ours\n\n## One\n\n## One\n\n## Café, *très* `x`!\n\n"
        "[a](#one-1) [b](mine.md#one) [c](mine.md) [d](other.md#one) "
        "[e](https://example.org/x) [f](#nowhere)\n",
    )
    assert page.ids[-4:] == ["ours", "one", "one-1", "café-très-x"]
    own = text.partition("<main")[2]
    for target in ('<a href="#one-1">a</a>', '<a href="#one">b</a>', '<a href="#ours">c</a>'):
        assert target in own
    assert '<a href="#one">d</a>' not in own
    assert '<span class="file" title="other.md#one">d</span>' in own
    assert 'href="https://example.org/x" target="_blank" rel="noopener noreferrer"' in own
    assert '<span class="file" title="#nowhere">f</span>' in own


def test_comments_are_left_out_and_a_page_without_headings_has_a_title(tmp_path):
    assert "<title>mine.md</title>" in page_of(tmp_path, "just text")[0]
    assert "just text" not in page_of(tmp_path, "")[0]
    text, _ = page_of(tmp_path, "<!-- one -->\n\nSeen <!-- two --> text\n\n<!-- three\nfour -->\n")
    assert "<p>Seen text</p>" in text
    assert not re.search("one|two|three|four|--", text.partition("<main")[2])
    assert "&lt;!--" in page_of(tmp_path, "`<!-- shown -->`")[0]


def test_an_example_without_data_stays_as_it_is_written(tmp_path):
    text, page = page_of(tmp_path, "<!-- matrix: mine -->\n```text\n  a <b\n```\n")
    assert "<pre>  a &lt;b\n</pre>" in text
    assert "example-mine" in page.ids
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "mine.jsonl").write_text(
        '{"id": "1", "source": ["<b"], "target": ["\\u05d0"], '
        '"annotations": {"x": {"sure": "0-0"}}}\n'
    )
    text, _ = page_of(tmp_path, "<!-- matrix: mine -->\n```text\n  a <b\n```\n")
    assert '<th scope="row" dir="auto">&lt;b</th><td class="sure"><span>sure</span></td>' in text


def test_what_cannot_be_read_is_told(tmp_path):
    with pytest.raises(AlignkitError, match=r"nothing\.md: the guidelines"):
        render_guidelines(tmp_path / "nothing.md")
    refuses(AlignkitError, "cannot be read", render_guidelines, tmp_path)
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    refuses(AlignkitError, "UTF-8", render_guidelines, str(tmp_path / "latin.md"))
    with pytest.raises(ArgumentError, match="path is 3"):
        render_guidelines(3)  # type: ignore[arg-type]
