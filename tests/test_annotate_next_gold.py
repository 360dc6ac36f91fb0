"""In a browser: the next pair of an adjudicator is fetched beforehand, and is as it is now."""

import pytest
from adjudicated_project import two_annotators
from adjudicating import Bench
from annotate_browser import BROWSER, ask, browser, enter, press, until
from annotation import Tab, cell
from annotation_server import served
from playwright.sync_api import expect

from alignkit.annotate.project.names import ADJUDICATOR, Visitor
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.sessions import admit

pytestmark = BROWSER


@pytest.fixture
def desk(tmp_path):
    """The page of an adjudicator with six pairs, and the project."""
    path = str(tmp_path / "talks.alignkit")
    two_annotators(path, pairs=6)
    problems = []
    with served(path) as server, browser() as context:
        token = server.invite("carla", ADJUDICATOR)
        page = enter(context, f"http://127.0.0.1:{server.port}/adjudicate#{token}", problems)
        yield page, path
    assert not [text for text in problems if "net::ERR_FAILED" not in text]


def settle(page):
    """Take the first vote on each difference."""
    while page.get_attribute("body", "data-left") != "0":
        press(page, "1")


def pair_of(page):
    return int(page.get_attribute("body", "data-pair"))


def next_of(page):
    """Wait until the neighbours of the open pair are known; return the next one to settle."""
    with page.expect_response(lambda reply: "/api/gold/changes" in reply.url):
        pass
    return ask(page, f"/api/gold/{pair_of(page)}")["next_open"]


def test_the_next_pair_needs_no_request_of_its_own(desk):
    page, _ = desk
    seen = [pair_of(page)]
    for _ in range(2):
        settle(page)
        following = next_of(page)
        page.route(
            "**/api/gold/[0-9]*", lambda route: route.abort() if asks(route) else route.continue_()
        )
        press(page, "Control+Enter", to=following)
        page.unroute("**/api/gold/[0-9]*")
        seen.append(pair_of(page))
        page.reload()  # what was aborted is asked for
        page.wait_for_selector("body[data-state=ready][data-pair]")
    assert len(set(seen)) == 3
    expect(page.locator("#progress-text")).to_have_text("2 / 6 pairs")


def asks(route):
    return route.request.method == "GET"


def cells_of(store, k, name):
    return {(i, j): value for i, j, value in store.pair(k, name).state.cells}


def test_a_pair_that_another_adjudicator_has_done_meanwhile_is_passed_over(desk):
    page, path = desk
    settle(page)
    following = next_of(page)
    with Store.open(path) as store:
        admit(store, Visitor("dora", ADJUDICATOR))
        bench = Bench(store, following, "dora")
        bench.open()
        anna, ben = (cells_of(store, following, name) for name in ("anna", "ben"))
        for place in sorted(anna | ben):
            if anna.get(place) != ben.get(place):
                bench.take(place, "anna")
        bench.done()
    next_of(page)  # the page has heard of it
    press(page, "Control+Enter")
    until(
        lambda: (
            pair_of(page) != following and page.get_attribute("#done", "aria-pressed") == "false"
        )
    )
    until(lambda: page.inner_text("#progress-text").endswith("/ 6 pairs"))


def test_a_vote_that_has_changed_since_is_shown(desk):
    page, path = desk
    next_of(page)
    following = ask(page, f"/api/gold/{pair_of(page)}")["next"]
    with Store.open(path) as store:
        before = cells_of(store, following, "ben").get((1, 1), 0)
        Tab(store, following, "ben").send(cell(1, 1, before, 1 if before == 2 else 2))
    next_of(page)  # the page has heard of it
    press(page, "n", to=following)
    names = page.locator("#open-list b").all_inner_texts()
    source, target = (ask(page, f"/api/gold/{following}")[side][1] for side in ("source", "target"))
    assert f"{source} ~ {target}" in names, names


def test_after_the_last_pair_nothing_is_left(desk):
    page, _ = desk
    for _ in range(6):
        settle(page)
        before = pair_of(page)
        press(page, "Control+Enter")
        until(
            lambda before=before: (
                pair_of(page) != before or "all 6" in page.inner_text("#status-text")
            )
        )
    until(lambda: page.inner_text("#status-text").endswith("6 ready pairs are settled"))
    expect(page.locator("#progress-text")).to_have_text("6 / 6 pairs")
