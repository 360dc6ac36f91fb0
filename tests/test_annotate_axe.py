"""The page and the guidelines hold what axe-core checks: names, roles, contrast, focus."""

import annotate_browser as web
import pytest

pytestmark = web.BROWSER
PAIRS = [
    {
        "id": "one",
        "source": web.SOURCE,
        "target": web.TARGET,
        "annotations": {"auto": {"sure": "1-2 3-3 4-4 5-5 6-7 7-8"}},
    },
    {"id": "two", "source": ["one", "two"], "target": ["اثنان", "واحد"]},
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    corpus = web.write_corpus(tmp_path_factory.mktemp("axe") / "corpus.jsonl", PAIRS)
    with web.serving(corpus, "--initial", "auto") as server:
        yield server


@pytest.fixture(scope="module")
def context(server):
    with web.browser(bypass_csp=True) as context:
        page = web.enter(context, server.url)
        web.press(page, "Enter Shift+Digit2 d Enter 0 ArrowDown s c")  # marks of all kinds
        page.keyboard.type("why")
        web.press(page, "Enter")
        web.saved(page)
        assert web.pair(page, 1)["state"]["comments"]
        page.close()
        yield context


@pytest.mark.parametrize(("width", "colours"), [(1280, "light"), (768, "dark")])
def test_axe_finds_nothing_serious_on_the_page_and_in_guidelines(server, context, width, colours):
    page = web.enter(context, server.url.split("#")[0])
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=colours)
    found = {"page": web.serious(page)}
    web.press(page, "f f Control+ArrowUp Shift+ArrowLeft")
    found["box"] = web.serious(page)
    for name in ("help", "find", "history", "export"):
        page.eval_on_selector(f"[data-action={name}]", "one => one.click()")
        page.wait_for_selector(f"#{name}-dialog[open]")
        page.wait_for_function(
            f"document.querySelector('#{name}-dialog li, #{name}-dialog dt, #{name}-dialog option')"
        )
        found[name] = web.serious(page)
        page.keyboard.press("Escape")
    page.goto(page.url.split("?")[0] + "?pair=2")
    page.wait_for_selector("body[data-pair='2']")
    found["right to left"] = web.serious(page)
    page.evaluate("document.body.append(document.createElement('button'))")
    planted = web.serious(page)
    page.goto(server.url.split("#")[0] + "guidelines")
    found["guidelines"] = web.serious(page)
    page.close()
    assert not any(found.values()), found
    assert [text.split(" (")[0] for text in planted] == ["critical: button-name"]


def test_axe_finds_nothing_serious_where_two_tabs_disagree(server, context):
    left = web.enter(context, server.url.split("#")[0])
    right = web.enter(context, server.url.split("#")[0])
    left.goto(left.url.split("?")[0] + "?pair=2")
    right.goto(left.url)
    for tab in (left, right):
        tab.wait_for_selector("body[data-pair='2']")
        web.saved(tab)
    context.set_offline(True)
    web.press(left, "s")
    web.press(right, "d")
    context.set_offline(False)
    web.until(lambda: left.is_visible("#conflict") or right.is_visible("#conflict"))
    asking = left if left.is_visible("#conflict") else right
    for colours in ("light", "dark"):
        asking.emulate_media(color_scheme=colours)
        assert not web.serious(asking)
    asking.click("#keep-that")
    left.close(), right.close()
