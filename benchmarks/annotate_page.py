"""Time the annotation page in Chromium, 1280 x 800: `python -m benchmarks.annotate_page`.

Tells, in milliseconds: from a key to the layout that follows and to the end of the frame that shows
it, medians and the worst, on 20 x 20 words, on 100 x 100 with 100 links and with 10,000, and where
the key fills or clears a block of 100 x 100; and the bytes of the page's own files as they are
served.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from annotate_browser import browser, enter, saved, serving, write_corpus

from alignkit.annotate.server.assets import load_assets
from benchmarks.machine import load, machine

GUIDELINES = "guidelines.css"  # of another page
BLOCKS = 7
WORDS = 40
FULL = 3  # the pair of which all cells are linked
KEYS = ["ArrowRight", "_", "ArrowDown", "s", "ArrowRight", "d", "ArrowDown", "x"]

TIMED = """async keys => {
    const layout = [], frame = [];
    for (const key of keys) {
        const start = performance.now();
        document.activeElement.dispatchEvent(
            new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        document.querySelector("#matrix .cells").getBoundingClientRect();
        document.body.offsetHeight;
        layout.push(performance.now() - start);
        await new Promise(done => requestAnimationFrame(() => {
            const channel = new MessageChannel();
            channel.port1.onmessage = done;
            channel.port2.postMessage(0);
        }));
        frame.push(performance.now() - start);
        await new Promise(done => setTimeout(done, 60));
    }
    const sum = list => [list.sort((a, b) => a - b)[list.length >> 1], list.at(-1)];
    return [...sum(layout), ...sum(frame)];
}"""


def main() -> int:
    """Print the figures."""
    print(machine(["alignkit", "playwright"]))
    assets = {name: asset.body for name, asset in load_assets().items() if name != GUIDELINES}
    for name, body in assets.items():
        print(f"{len(body):8,} {name}")
    print(f"{sum(map(len, assets.values())):8,} bytes in all\n")
    with tempfile.TemporaryDirectory() as place:
        corpus = write_corpus(Path(place) / "corpus.jsonl", _pairs())
        with serving(corpus, "--initial", "auto") as server, browser() as context:
            page = enter(context, server.url)
            page.set_viewport_size({"width": 1280, "height": 800})
            print("| key | times | to layout, median | worst | to its frame, median | worst |")
            print("| :-- | --: | --: | --: | --: | --: |")
            for k, name in enumerate(("20 x 20", "100 x 100, 100 links", "100 x 100, 10,000"), 1):
                _open(page, k)
                keys = [" " if key == "_" else key for key in KEYS] * 8
                _row(name, [page.evaluate(TIMED, [key]) for key in keys])
            _words(page)
            _blocks(page)
    print(f"\nload after: {load()}")
    return 0


def _row(name: str, times: list[list[float]]) -> None:
    layout, frame = ([one[place] for one in times] for place in (0, 2))
    told = [median(layout), max(layout), median(frame), max(frame)]
    print(f"| {name} | {len(times)} | {' | '.join(f'{one:.1f}' for one in told)} |", flush=True)


def _open(page: Any, k: int) -> None:
    page.goto(page.url.split("?")[0].split("#")[0] + f"?pair={k}")
    page.wait_for_selector(f"body[data-pair='{k}']")
    page.wait_for_timeout(300)
    if k == FULL:
        _select(page)
        page.keyboard.press("s")
        saved(page)


def _select(page: Any) -> None:
    """Select a box of 100 x 100 cells."""
    for key in ("Shift+ArrowRight", "Shift+ArrowDown"):
        for _ in range(99):
            page.keyboard.press(key)


def _words(page: Any) -> None:
    """Settle words, with the likelihoods of all others computed anew."""
    _open(page, 5)
    times: dict[str, list[list[float]]] = {"Enter": [], "j": []}
    for _ in range(WORDS):
        for key, told in times.items():
            told.append(page.evaluate(TIMED, [key]))
    for key, told in times.items():
        _row(f"120 x 120, {key}", told)


def _blocks(page: Any) -> None:
    _open(page, 4)
    _select(page)
    times: dict[str, list[list[float]]] = {"s": [], "x": []}
    for _ in range(BLOCKS):
        for key, told in times.items():
            told.append(page.evaluate(TIMED, [key]))
            saved(page)
    _row("a block of 100 x 100 is filled", times["s"])
    _row("and cleared", times["x"])


def _pairs() -> list[dict[str, Any]]:
    rng = random.Random(7)
    words = ["harbour", "of", "the", "letter", "a", "morning", "report", ",", "orchard", "in"]

    def pair(name: str, size: int, links: list[tuple[int, int]]) -> dict[str, Any]:
        sides = {side: rng.choices(words, k=size) for side in ("source", "target")}
        sure = " ".join(f"{i}-{j}" for i, j in links)
        return {"id": name, **sides, "annotations": {"auto": {"sure": sure}}}

    return [
        pair("20", 20, [(i, i) for i in range(20)]),
        pair("100", 100, [(i, i) for i in range(100)]),
        pair("10,000", 100, [(i, j) for i in range(100) for j in range(100)]),
        pair("block", 100, []),
        pair("words", 120, [(i, max(0, i - i % 3)) for i in range(120)]),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
