"""Many sentence pairs are drawn on several pages, which lead to each other."""

import json
import re
import tracemalloc
from urllib.parse import unquote

import pytest
from command import PARAPHRASES, run, write
from lxml import html

from alignkit import Alignment, SentencePair
from alignkit.show.html import draw_html, draw_pages, matrices


def corpus(pairs):
    pair = {"source": ["a"], "target": ["b"], "annotations": {"anna": {"sure": "0-0"}}}
    return "".join(json.dumps({"id": f"p{k}", **pair}) + "\n" for k in range(pairs))


def pages(folder):
    return {path.name: html.fromstring(path.read_bytes()) for path in folder.glob("*.html")}


def ids(tree):
    return [heading.text_content() for heading in tree.iter("h2")]


def show(capsys, tmp_path, pairs, *given):
    path, page = write(tmp_path, "c.jsonl", corpus(pairs)), tmp_path / "a b#.html"
    return run(capsys, "show", path, "--format", "alignkit-jsonl", "--html", page, *given)


def test_all_pairs_are_drawn_once_and_pages_lead_to_each_other(capsys, tmp_path):
    ran = show(capsys, tmp_path, 7, "--pairs-a-page", "3")
    assert ran.code == 0
    assert "7 pairs on 3 pages" in ran.err
    found = pages(tmp_path)
    names = ["a b#.html", "a b#-page-2.html", "a b#-page-3.html"]
    assert sorted(found) == sorted(names)
    assert [id for name in names for id in ids(found[name])] == [f"p{k}" for k in range(7)]
    for name, tree in found.items():
        links = tree.xpath("//nav//a")
        assert {unquote(link.get("href")) for link in links} == {f"./{one}" for one in names}
        by_name = {link.text_content(): unquote(link.get("href"))[2:] for link in links}
        assert (by_name["p3 to p5"], by_name["p6 to p6"]) == (names[1], names[2])
        place = names.index(name)
        assert by_name.get("next") == (names[place + 1] if place < 2 else None)
        assert by_name.get("previous") == (names[place - 1] if place else None)
        assert len(tree.xpath("//a[@aria-current='page']")) == 1
        assert f"page {place + 1} of 3" in tree.xpath("string(//h1)")
    assert "7 sentence pairs" in found[names[0]].text_content()  # the first page counts them all


def test_few_pairs_are_one_page_as_before(capsys, tmp_path):
    ran = show(capsys, tmp_path, 3, "--pairs-a-page", "3")
    assert (ran.code, ran.err) == (0, "")
    (tree,) = pages(tmp_path).values()
    assert not tree.xpath("//nav")
    pair = SentencePair("1", ("a",), ("b",), {"anna": Alignment.parse("0-0")})
    content = matrices([pair], None)
    ((path, pieces),) = draw_pages([pair], content, title="t", path="x", pairs_a_page=1)
    assert (path, "".join(pieces)) == ("x", "".join(draw_html([pair], title="t")))


def test_200_pairs_are_a_page_unless_said(capsys, tmp_path):
    assert show(capsys, tmp_path, 201).code == 0
    assert sorted(len(ids(tree)) for tree in pages(tmp_path).values()) == [1, 200]


def test_what_takes_one_page_gets_one(capsys):
    assert len(re.findall("<article>", run(capsys, "show", PARAPHRASES, "--html", "-").out)) == 64
    for given, told in (["--html", "-"], "can only be one page"), ([], "add --html"):
        run(capsys, "show", PARAPHRASES, *given, "--pairs-a-page", "9").failed(told)


def test_no_page_replaces_what_is_read(capsys, tmp_path):
    path = write(tmp_path, "x-page-2.html", corpus(3))
    given = ("show", path, "--format", "alignkit-jsonl", "--html", tmp_path / "x.html")
    run(capsys, *given, "--pairs-a-page", "2").failed("would replace")
    assert not (tmp_path / "x.html").exists()
    assert (tmp_path / "x-page-2.html").read_text() == corpus(3)


class Made:
    """Sentence pairs that are made when they are asked for."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __contains__(self, pair):
        return False

    def __iter__(self):
        links = {"anna": Alignment.parse("0-0")}
        return (SentencePair(str(k), ("a",) * 9, ("b",) * 9, links) for k in range(self.count))


def drawn(count):
    tracemalloc.start()
    try:
        made = Made(count)
        content = matrices(made, None)
        for _, pieces in draw_pages(made, content, title="t", path="x", pairs_a_page=20):
            for _ in pieces:
                pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_pairs():
    drawn(20)
    assert drawn(400) < drawn(40) + 100_000  # a list of them would take some 400 kB more


@pytest.mark.parametrize("names", [None, ["ben"]])
def test_annotators_of_all_pages_are_the_same(names):
    links = Alignment.parse("0-0")
    pairs = [SentencePair(who, ("a",), ("b",), {who: links}) for who in ("anna", "ben")]
    made = draw_pages(pairs, matrices(pairs, names), title="t", path="x", pairs_a_page=1)
    found = {path: "".join(pieces) for path, pieces in made}
    text = html.fromstring(found["x-page-2"]).text_content()
    assert ("anna: not annotated" in text) == (names is None)
