"""Make the pictures of the annotation page; with ALIGNKIT_PICTURES they are kept in that folder.

Those of the other pages are made by the tests of their stories, by `annotate_browser.views`.
"""

import os
import random
import shutil
from pathlib import Path

import pytest
from annotate_browser import BROWSER, browser, enter, press, saved, serving, shrink, until
from annotation_server import served
from command import PARAPHRASES

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate.creation import create_project
from alignkit.annotate.server.child import SuggestionPlan

pytestmark = BROWSER
PICTURES = {  # width, height, colours, and the keys that lead there from the picture before
    "annotate-pair": (1280, 800, "light", "Enter Enter Shift+Digit2 Enter"),
    "annotate-dark": (1280, 800, "dark", "f"),
    "annotate-blocked": (1280, 800, "light", "f f Control+ArrowUp Shift+ArrowLeft"),
    "annotate-tablet": (768, 1024, "light", "Escape"),
}
LOOKS = """() => {
    const $ = all => [...document.querySelectorAll(all)], box = one => one.getBoundingClientRect();
    const rows = boxes => boxes.map(({left, top, right, bottom}) => [left, top, right, bottom]);
    const visible = $("header > *, #tools > *, aside > section > *, .row > *").map(box);
    const heads = $(".tops text[data-column]"), point = one => {
        const at = one.getScreenCTM().inverse();
        const [x, y] = ["x", "y"].map(name => one.getAttribute(name));
        return {at, seen: new DOMPoint(x, y).matrixTransform(one.getScreenCTM())};
    };
    const points = heads.map(point);
    const apart = points.slice(1).map(({seen}, x) => {
        const [a, b] = [seen, points[x].seen].map(one => one.matrixTransform(points[x].at));
        return Math.abs(a.y - b.y) || Math.abs(a.x - b.x) - heads[x].getBBox().width;
    });
    return {
        wide: Math.max(document.documentElement.scrollWidth, ...visible.map(one => one.right)),
        tops: rows($(".tops, .tops text").map(box)), sides: rows($(".sides, .sides text").map(box)),
        here: rows($("#matrix, .tops, .sides, #matrix .here").map(box)), apart,
        judgment: rows($("aside, #labels, #flags, #comment").map(box)),
    };
}"""
PARTS = ["ka", "lo", "mi", "ren", "tus", "va", "dor", "pel", "ni", "sha", "ru", "go", "bin", "ast"]
ENGLISH = """
in a small town near the sea lives a family that loves books and reads every evening a long
story about a journey to an island far away"""
ARABIC = """
في مدينة صغيرة قرب البحر تعيش عائلة تحب الكتب وتقرأ كل مساء قصة طويلة عن السفر إلى جزيرة بعيدة"""
CHINESE = """
在 海边 的 小城 里 住 着 一家 喜欢 读书 的 人 ， 他们 每天 晚上 读 一个 关于 远行 的 长 故事 。"""


def shapes():
    """Return pairs of many shapes and scripts, in invented words and sentences."""
    rng = random.Random(5)

    def words(count):
        return ["".join(rng.choices(PARTS, k=rng.randint(1, 4))) for _ in range(count)]

    def pair(name, source, target):
        n, m = len(source), len(target)
        links = {
            (i, min(m - 1, max(0, i * m // n + rng.choice([0, 0, 0, -1, 2])))) for i in range(n)
        }
        links |= {(i, j) for i in (n // 2, n // 2 + 1) for j in (m // 2, m // 2 + 1)}
        return SentencePair(name, source, target, {"auto": Alignment(links)})

    return [
        *(pair(f"{n} x {m}", words(n), words(m)) for n, m in ((8, 9), (30, 35), (100, 100))),
        pair("arabic", ENGLISH.split(), ARABIC.split()),
        pair("chinese", ENGLISH.split(), CHINESE.split()),
    ]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    corpus = tmp_path_factory.mktemp("pictures") / "paraphrases.jsonl"
    shutil.copy(PARAPHRASES, corpus)
    with serving(corpus, "--suggestions", "trained", annotator="mia") as server:
        yield server


def test_the_pictures_show_the_page(server, tmp_path):
    folder = Path(os.environ.get("ALIGNKIT_PICTURES") or tmp_path)
    with browser() as context:
        page = enter(context, server.url)
        page.goto(page.url.split("?")[0].split("#")[0] + "?pair=42")
        page.wait_for_selector("body[data-pair='42']")
        page.focus("#matrix .here")
        for name, (width, height, colours, keys) in PICTURES.items():
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=colours)
            press(page, keys)
            saved(page)
            page.wait_for_timeout(200)  # until all is drawn
            page.screenshot(path=folder / f"{name}.png")
            shrink(folder / f"{name}.png")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.fixture(scope="module")
def shaped(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("shapes") / "work.alignkit")
    create_project(path, Corpus(shapes()))
    with served(path, plan=SuggestionPlan("initial", "auto")) as server:
        yield server


@pytest.mark.parametrize(("width", "height", "least"), [(1280, 800, 18), (768, 1024, 28)])
def test_pairs_of_all_shapes_fit(shaped, width, height, least):
    with browser(viewport={"width": width, "height": height}, has_touch=least > 18) as context:
        page = enter(context, shaped.url)
        for k, pair in enumerate(shapes(), 1):
            page.wait_for_selector(f"body[data-pair='{k}']")
            for _ in range(2):
                _assert_fit(page, width, least, pair.id)
                press(page, "k")  # to the end of the pair
            press(page, "n")
        if least > 18:
            cell = "document.querySelector('#matrix .here')"
            page.evaluate(f"window.before = {cell}")
            page.set_viewport_size({"width": 400, "height": 800})  # a phone
            until(lambda: page.evaluate(f"{cell} !== window.before"))
            _assert_fit(page, 400, least, "phone")


def _assert_fit(page, width, least, name):
    looks = page.evaluate(LOOKS)
    assert looks["wide"] <= width, name
    # the box of a slanted word is higher than its letters
    for (_, top, _, bottom), *heads in (looks["tops"], looks["sides"]):
        assert all(head[1] >= top - 5 and head[3] <= bottom + 1 for head in heads), name
    for (left, _, right, _), *heads in (looks["tops"], looks["sides"]):
        assert all(head[0] >= left - 1 and head[2] <= right + 1 for head in heads), name
    assert min(looks["apart"]) >= 12, name  # letters are 13 pixels high
    view, tops, sides, here = looks["here"]
    assert sides[2] - 1 <= here[0] <= here[2] - least <= view[2] - least, name
    assert tops[3] - 1 <= here[1] <= here[3] <= view[3], name
    panel, labels, *rest = looks["judgment"]
    parts = [labels] if width <= 560 else [labels, *rest]  # a phone shows the labels alone
    assert all(part[1] >= panel[1] and part[3] <= panel[3] for part in parts), (name, panel, parts)
