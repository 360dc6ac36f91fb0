"""Start `alignkit annotate` and a real browser, for the tests of the page and its benchmarks."""

import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytest.importorskip("starlette", reason="needs the extra [annotate]")
from playwright.sync_api import TimeoutError  # not of Python's own kind

from alignkit.annotate.server.assets import load_assets

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(not os.path.exists(CHROMIUM), reason="needs chromium"),
]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP lab.example 127.0.0.1",
]
EXPECTED = re.compile("Failed to load resource")
"""What browsers say of a server that is busy or away."""
_ASK = """async path => {
    const csrf = localStorage[`alignkit ${localStorage.alignkit}`];
    return (await fetch(path, {headers: {"X-CSRF-Token": csrf}})).json();
}"""
_DRAWN = """() => [...document.querySelectorAll("#matrix .mark[data-i]")].map(mark => {
    const has = kind => mark.classList.contains(kind), label = mark.getAttribute("aria-label");
    const value = has("sure") ? 2 : has("possible") ? 1 : has("null") ? (has("maybe") ? 1 : 2) : 0;
    const place = (name, none) => (label.includes(none) ? -1 : Number(mark.dataset[name]));
    return [place("i", "no source word"), place("j", "no target word"), value];
})"""
_NEXT_FRAMES = """() => new Promise(done => {
    requestAnimationFrame(() => requestAnimationFrame(done));
    setTimeout(done, 1000);
})"""  # a page behind others has no frames
SOURCE = ["they", "talked", "about", "the", "plan", "and", "agreed", "."]
TARGET = ["both", "sides", "discussed", "the", "plan", "and", "reached", "agreement", "."]
VIEWS = {"": (1280, 800, "light"), "-tablet": (768, 1024, "dark")}
"""Endings of pictures' names: width, height, colours."""
FOUND = """async () => {
    const {violations} = await axe.run({resultTypes: ["violations"]});
    return violations.map(({id, impact, help, nodes}) =>
        [impact, `${impact}: ${id} (${help}): ${nodes.slice(0, 3).map(one => one.html).join()}`]);
}"""


def write_corpus(path, pairs):
    """Write pairs as an alignkit corpus; each has id, source, target, and may have annotations."""
    rows = [{"alignkit": "corpus", "version": 1}, *pairs]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Server:
    def __init__(self, *arguments, folder=None):
        command = [sys.executable, "-m", "alignkit", "annotate", *arguments, "--no-browser"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url, "the server did not start"
        self.port = int(self.url.split(":")[2].split("/")[0])

    def stop(self):
        """End it as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(20)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def serving(corpus, *more, annotator="anna"):
    given = [str(corpus), "--annotator", annotator, *more]
    if corpus.suffix == ".jsonl":
        given += ["--format", "alignkit-jsonl"]
    return Server(*given)


@cache
def chromium():
    """Start playwright and a browser, once for the tests of a module."""
    from playwright.sync_api import sync_playwright

    playwright = sync_playwright().start()
    atexit.register(quit_chromium)  # for benchmarks, which no module's end quits
    return playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


def quit_chromium():
    if chromium.cache_info().currsize:
        playwright, window = chromium()
        chromium.cache_clear()
        window.close()
        playwright.stop()


@contextmanager
def browser(**options):
    context = chromium()[1].new_context(**options)
    try:
        yield context
    finally:
        context.close()


@contextmanager
def modules():
    """Open an empty page that may import the modules of the page, without a server."""
    assets, site = load_assets(), "http://page.example"

    def answer(route):
        asset = assets.get(route.request.url.removeprefix(f"{site}/page/"))
        body, kind = (asset.body, asset.kind) if asset else ("<!doctype html>", "text/html")
        route.fulfill(body=body, content_type=kind)

    with browser() as context:
        context.route(f"{site}/**", answer)
        page = context.new_page()
        page.goto(f"{site}/")
        yield page


def opened(context, url, problems=None):
    """Open a page; its errors and dialogs go into `problems`.

    A server that makes its project, or is away, is no error.
    """
    page = context.new_page()
    if problems is not None:
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(dialog.message))

        def said(message):
            if message.type == "error" and not EXPECTED.search(message.text):
                problems.append(message.text)

        page.on("console", said)
    page.goto(url)
    return page


def enter(context, url, problems=None):
    page = opened(context, url, problems)
    try:
        page.wait_for_selector("body[data-pair]", timeout=120_000)
    except TimeoutError:
        raise AssertionError((page.url, page.inner_text("#start-text"), problems)) from None
    return page


def saved(page):
    page.wait_for_selector("#saved:text-is('Saved')")


def ready(page):
    """Wait until keys act: not while another pair is being opened."""
    page.wait_for_selector("main:not([aria-busy])")


def ask(page, path):
    """Ask the server as the page does."""
    return page.evaluate(_ASK, path)


def pair(page, k):
    return ask(page, f"/api/pairs/{k}")


def links(page, k=1):
    return sorted((i, j, value) for i, j, value in pair(page, k)["state"]["cells"])


def painted(page):
    """Wait until the page has drawn what was asked for: it draws in the next frame."""
    page.evaluate(_NEXT_FRAMES)


def drawn(page):
    painted(page)
    return sorted((i, j, value) for i, j, value in page.evaluate(_DRAWN) if value)


def press(page, keys, to=None):
    """Press keys, divided by spaces; perhaps they lead to another pair."""
    for key in keys.split():
        page.keyboard.press("Space" if key == "_" else key)
    if to is not None:
        page.wait_for_selector(f"body[data-pair='{to}']")


def drag(page, begin, end, steps):
    page.mouse.move(*begin)
    page.mouse.down()
    page.mouse.move(*end, steps=steps)
    page.mouse.up()


def on_pair(page):
    """Let the next comment be on the pair: with the focus there, what is drawn leaves it so."""
    page.focus("#comment-on")
    page.select_option("#comment-on", "")


def cursor(page):
    painted(page)
    row, column = page.get_attribute("#matrix .cells", "data-cursor").split(",")
    return int(row), int(column)


def reach(page, i, j, *, rtl=False):
    """Move the cursor to a cell by arrows."""
    row, column = cursor(page)
    down = ["ArrowDown"] * (i - row) + ["ArrowUp"] * (row - i)
    on, back = ("ArrowLeft", "ArrowRight") if rtl else ("ArrowRight", "ArrowLeft")
    along = [on] * (j - column) + [back] * (column - j)
    press(page, " ".join(down + along) or "ArrowDown ArrowUp")
    eventually(cursor, page, wanted=(i, j))


def settle(page):
    """Keep what all doubtful words show."""
    while page.locator("#matrix circle.stop").count():
        press(page, "Enter")


def settle_all(page):
    """Keep what all words show, also those that are not doubtful."""
    settle(page)
    mark = page.locator("#matrix .mark.likely").first
    while mark.count():
        reach(page, int(mark.get_attribute("data-i")), int(mark.get_attribute("data-j")))
        press(page, "Escape Enter")


def views(page, name=""):
    """Show the page wide and light, then narrow and dark: yield the width of each.

    Nothing may be wider. If it has a name, pictures are kept in the folder that ALIGNKIT_PICTURES
    names.
    """
    folder = os.environ.get("ALIGNKIT_PICTURES") if name else None
    for ending, (width, height, colours) in VIEWS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=colours)
        page.wait_for_timeout(200)  # until all is drawn
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
        if folder:
            kept = Path(folder, f"{name}{ending}.png")
            page.screenshot(path=kept)
            shrink(kept)
        yield width
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(color_scheme="light")


def shrink(picture):
    from PIL import Image

    with Image.open(picture) as image:
        fewer = image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=0)
    fewer.save(picture, optimize=True)


def middle(page, i, j):
    row, column = cursor(page)
    box = page.locator("#matrix .here").bounding_box()
    x = box["x"] + (j - column + 0.5) * box["width"]
    return x, box["y"] + (i - row + 0.5) * box["height"]


def eventually(read, *arguments, wanted, seconds=60):
    """Wait until reading gives what is wanted: a page draws a little after it is asked to."""
    end = time.monotonic() + seconds
    value = read(*arguments)
    while value != wanted and time.monotonic() < end:
        time.sleep(0.05)
        value = read(*arguments)
    assert value == wanted


def until(condition, seconds=60):  # other tests run beside these
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def serious(page):
    """Return what axe finds on the page as it is now, but for what is minor or moderate."""
    if page.evaluate("typeof axe") == "undefined":
        spec = find_spec("axe_playwright_python")
        if spec is None:
            pytest.skip("needs axe-playwright-python")
        page.evaluate(Path(spec.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    page.evaluate("Promise.all(document.getAnimations().map(one => one.finished))")
    return [text for impact, text in page.evaluate(FOUND) if impact in ("serious", "critical")]
