"""In Chromium: between two pairs nothing typed or clicked acts, however slow the server is."""

from itertools import product
from typing import Any, NamedTuple

import pytest
from annotate_browser import BROWSER, Server, ask, browser, enter, press, ready, saved
from annotation import Tab, cell, done
from playwright.sync_api import expect

from alignkit import Corpus, SentencePair
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.creation import create_project
from alignkit.annotate.project.store import Store

pytestmark = BROWSER
PAIRS = 20
LATENCIES, GAPS = (0, 100, 300), (0, 40, 300)  # milliseconds
LOG = """const keys = window.keys = []
addEventListener("keydown", ({key}) => keys.push([key, document.body.dataset.pair]), true)"""


class Kind(NamedTuple):
    """A page: the keys of two values, where the server has what is set, what is clicked."""

    task: str
    values: dict[str, Any]
    path: str
    target: str
    options: tuple[str, ...] = ("--annotator", "anna", "--suggestions", "none")


KINDS = {
    "align": Kind("align", {"s": 2, "d": 1}, "pairs", "#matrix .here"),
    "judge": Kind("judge", {"1": "paraphrase", "2": "partial"}, "pairs", "#labels label"),
    "adjudicate": Kind(
        "align",
        {"1": 2, "2": 1},
        "gold",
        "#votes button >> nth=1",
        ("--annotator", "carla", "--adjudicate", "--suggestions", "none"),
    ),
}


@pytest.fixture(scope="module", params=KINDS)
def opened(request, tmp_path_factory):
    kind = KINDS[request.param]
    path = str(tmp_path_factory.mktemp(request.param) / "work.alignkit")
    pairs = (SentencePair(f"p{k}", ("the", "house"), ("das", "haus")) for k in range(PAIRS))
    create_project(path, Corpus(pairs), task=kind.task)
    if kind.path == "gold":
        with Store.open(path) as store:
            assign_pairs(store, ["anna", "ben"], control=0)
            for k, (name, value) in product(range(1, PAIRS + 1), (("anna", 2), ("ben", 1))):
                Tab(store, k, name).send(cell(0, 0, 0, value), done())
    problems = []
    with Server(path, *kind.options) as server, browser() as context:
        context.add_init_script(LOG)
        page = enter(context, server.url, problems)
        yield kind, page, Network(context.new_cdp_session(page))
    assert problems == []


class Network:
    def __init__(self, session):
        self._session = session
        session.send("Network.enable")

    def slow(self, latency):
        rates = dict.fromkeys(("downloadThroughput", "uploadThroughput"), -1)
        how = {"offline": False, "latency": latency, **rates}
        self._session.send("Network.emulateNetworkConditions", how)


def on(page):
    return int(page.get_attribute("body", "data-pair"))


def held(page, kind, k):
    """Return the judgment of a pair, or the value of its first cell: there is no other link."""
    state = ask(page, f"/api/{kind.path}/{k}")["state"]
    cells = {(i, j): value for i, j, value in state["cells"]}
    assert set(cells) <= {(0, 0)}
    return state["judgment"] if kind.task == "judge" else cells.get((0, 0), 0)


def meant(kind, keys):
    """Return the value that the keys give to each pair: those typed after it was left give none."""
    found, left = {}, set()
    for key, pair in keys:
        if key in ("Enter", "n"):
            left.add(pair)
        elif key in kind.values and pair not in left:
            value = kind.values[key]
            again = kind.task == "judge" and found.get(int(pair)) == value
            found[int(pair)] = "" if again else value
    return found


def test_no_key_acts_on_another_pair_than_the_one_it_was_typed_for(opened):
    kind, page, network = opened
    first, second = kind.values
    page.evaluate("keys.length = 0")
    for latency in LATENCIES:
        network.slow(latency)
        for at, gap in enumerate(GAPS):
            before = on(page)
            press(page, first)
            press(page, "n" if at % 2 else "Control+Enter")
            for _ in range(2):
                page.wait_for_timeout(gap)
                press(page, second)
            page.wait_for_selector(f"body:not([data-pair='{before}'])")
            ready(page)
            assert on(page) == before + 1
    network.slow(0)
    saved(page)
    keys = page.evaluate("keys")
    assert sum(key == second for key, _ in keys) == 2 * len(LATENCIES) * len(GAPS)
    for k, value in meant(kind, keys).items():
        assert held(page, kind, k) == value, k


def test_what_is_ignored_is_seen_and_a_click_is_too(opened):
    kind, page, network = opened
    first, second = kind.values
    network.slow(700)
    for early in (0, 1, 2):
        before = on(page)
        press(page, first)
        box = page.locator(kind.target).first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        if early == 2:  # the button goes down while the pair is there, and up on another one
            page.mouse.down()
            page.eval_on_selector("#next", "next => next.click()")
        else:
            press(page, "Control+Enter")
            expect(page.locator("main")).to_have_attribute("aria-busy", "true")
            page.mouse.down()
        if early == 0:
            page.mouse.up()
            press(page, second)
            expect(page.locator("#status-text")).to_contain_text("2 inputs ignored")
        ready(page)
        page.mouse.up()
        assert on(page) == before + 1
        for place in ("#status-text", "#live"):
            assert "page was not ready" in page.inner_text(place), early
        saved(page)
        assert held(page, kind, before) == kind.values[first]
        assert not held(page, kind, before + 1)
    network.slow(0)


def test_without_a_server_keys_come_back_to_the_pair_that_is_shown(opened):
    kind, page, _ = opened
    first, second = kind.values
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    for _ in range(3):  # the next pairs may be at hand
        press(page, "n")
        ready(page)
    expect(page.locator("#status-text")).to_contain_text("cannot be reached")
    press(page, f"{first} {second}")
    page.context.set_offline(False)
    saved(page)
    assert held(page, kind, on(page)) == kind.values[second]
