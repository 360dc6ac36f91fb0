"""The page and the guidelines hold what axe-core checks: names, roles, contrast, focus."""

import pytest
from annotate_browser import (
    BROWSER,
    browser,
    enter,
    pair,
    press,
    saved,
    serious,
    serving,
    write_corpus,
)

pytestmark = BROWSER
VIEWS = [(width, colours) for width in (1280, 768) for colours in ("light", "dark")]
DIALOGS = ("help", "find", "history", "export")
PAIRS = [{"id": "one", "source": ["they", "talked", "about", "the", "plan", "and", "agreed", "."],
          "target": ["both", "sides", "discussed", "the", "plan", "and", "reached", "agreement",
                     "."], "annotations": {"auto": {"sure": "1-2 3-3 4-4 5-5 6-7 7-8"}}},
         {"id": "two", "source": ["one", "two"], "target": ["اثنان", "واحد"]}]  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    corpus = write_corpus(tmp_path_factory.mktemp("axe") / "corpus.jsonl", PAIRS)
    with serving(corpus, "--initial", "auto") as server:
        yield server


@pytest.fixture(scope="module")
def context(server):
    with browser(bypass_csp=True) as context:
        page = enter(context, server.url)
        press(page, "A ArrowUp d j s Backspace c")  # marks of all kinds, and a comment
        page.keyboard.type("why")
        press(page, "Enter")
        saved(page)
        assert pair(page, 1)["state"]["comments"]
        page.close()
        yield context


@pytest.mark.parametrize(("width", "colours"), VIEWS)
def test_axe_finds_nothing_serious_on_the_page(server, context, width, colours):
    page = enter(context, server.url.split("#")[0])
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=colours)
    found = {"page": serious(page)}
    press(page, "f f Control+ArrowUp Shift+ArrowLeft")
    found["box"] = serious(page)
    for name in DIALOGS:
        page.eval_on_selector(f"[data-action={name}]", "one => one.click()")
        page.wait_for_selector(f"#{name}-dialog[open]")
        page.wait_for_function(f"document.querySelector('#{name}-dialog li, #{name}-dialog dt, "
                               f"#{name}-dialog option')")  # fmt: skip
        found[name] = serious(page)
        page.keyboard.press("Escape")
    page.goto(page.url.split("?")[0] + "?pair=2")
    page.wait_for_selector("body[data-pair='2']")
    found["right to left"] = serious(page)
    page.evaluate("document.body.append(document.createElement('button'))")
    planted = serious(page)
    page.close()
    assert not any(found.values()), found
    assert [text.split(" (")[0] for text in planted] == ["critical: button-name"]


@pytest.mark.parametrize(("width", "colours"), [VIEWS[0], VIEWS[3]])
def test_axe_finds_nothing_serious_in_the_guidelines(server, context, width, colours):
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=colours)
    page.goto(server.url.split("#")[0] + "guidelines")
    found = serious(page)
    page.close()
    assert not found


def test_axe_finds_nothing_serious_where_two_tabs_disagree(server, context):
    left = enter(context, server.url.split("#")[0])
    right = enter(context, server.url.split("#")[0])
    left.goto(left.url.split("?")[0] + "?pair=2")
    right.goto(left.url)
    for tab in (left, right):
        tab.wait_for_selector("body[data-pair='2']")
        saved(tab)
    context.set_offline(True)
    press(left, "s")
    press(right, "d")
    context.set_offline(False)
    left.wait_for_timeout(100)
    asking = None
    for _ in range(200):
        asking = next((tab for tab in (left, right) if tab.is_visible("#conflict")), None)
        if asking is not None:
            break
        left.wait_for_timeout(50)
    assert asking is not None
    for colours in ("light", "dark"):
        asking.emulate_media(color_scheme=colours)
        assert not serious(asking)
    asking.click("#keep-that")
    left.close(), right.close()
