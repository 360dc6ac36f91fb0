"""In a browser: the sentences above the matrix can be read whole, and words link by clicks."""

import annotate_browser as web
import pytest
from annotate_browser import browser, cursor, drawn, enter, eventually, links, press, saved, serious
from annotation_server import served
from playwright.sync_api import expect

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate.creation import create_project
from alignkit.annotate.server.child import SuggestionPlan

pytestmark = web.BROWSER
TEXTS = """
During the German occupation from 1941 until 1944 , the flag was accepted as the ethnic flag of \
Estonians but not the national flag .
A német megszállás ideje alatt , 1941 és 1944 között , a zászlót elfogadták az észt nemzetiségi \
zászlónak , de nem a nemzeti zászlónak .
يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق .
כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם .
"""
ENGLISH, HUNGARIAN, ARABIC, HEBREW = (line.split() for line in TEXTS.strip().split("\n"))
JAPANESE = ["私", "は", "本", "を", "読み", "、", "それから", "帰り", "まし", "た", "。"]
LONG = [f"w{at}" if at % 9 else "," for at in range(1, 121)]
LINKS = {"auto": Alignment.parse("0-4 1-0 2-1 3-2 4-3 6-4 10-12 24-24")}
PAIRS = [
    SentencePair("25", ENGLISH, HUNGARIAN, LINKS),
    SentencePair("120", LONG, LONG, {"auto": Alignment((at, at) for at in range(120))}),
    SentencePair(
        "rtl",
        HEBREW,
        ARABIC,
        {"auto": Alignment.parse("0-0 1-1 2-2")},
        attributes={"source_language": "he", "target_language": "ar"},
    ),
    SentencePair("mixed", web.SOURCE, ARABIC, {"auto": Alignment.parse("0-0 3-3 5-5")}),
    SentencePair("japanese", web.SOURCE, JAPANESE, attributes={"target_language": "ja"}),
    SentencePair("short", web.SOURCE, web.TARGET, {"auto": Alignment.parse("1-2 3-3 4-4 7-8")}),
]
WIDE = {"width": 1280, "height": 800}
SIZES = [(1280, 800), (768, 1024), (390, 844)]
SEEN = """() => {
    const box = one => one.getBoundingClientRect();
    const whole = (word, sentence) => [...word.getClientRects()].every(at =>
        at.left >= sentence.left - 4 && at.right <= sentence.right + 4 &&
        at.top >= sentence.top - 4 && at.bottom <= sentence.bottom + 4 &&
        document.elementFromPoint((at.left + at.right) / 2, (at.top + at.bottom) / 2) === word);
    return [...document.querySelectorAll(".sentence")].map(sentence =>
        [...sentence.querySelectorAll("span")].filter(word => whole(word, box(sentence))).length);
}"""
"""How many words of each sentence are in sight."""
LINES = """() => [...document.querySelectorAll(".sentence")].map(sentence => {
    const lines = new Map();
    for (const word of sentence.querySelectorAll("span")) {
        const {top} = word.getBoundingClientRect();
        lines.set(Math.round(top), [...(lines.get(Math.round(top)) ?? []), word.textContent]);
    }
    return [...lines.values()];
})"""
"""The words of each line."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("band") / "work.alignkit")
    create_project(path, Corpus(PAIRS))
    with served(path, plan=SuggestionPlan("initial", "auto")) as server:
        yield server


@pytest.fixture(scope="module")
def context(server):
    with browser(viewport=WIDE, bypass_csp=True) as context:
        enter(context, server.url).close()
        yield context


@pytest.fixture
def show(server, context):
    """Open a pair by its id, in a window of a size and colours."""
    pages = []

    def show(name, width=1280, height=800, colours="light", forced="none"):
        k = [pair.id for pair in PAIRS].index(name) + 1
        page = context.new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=colours, forced_colors=forced)
        page.goto(f"{server.url.split('#')[0]}?pair={k}")
        page.wait_for_selector(f"body[data-pair='{k}']")
        return page

    yield show
    for page in pages:
        saved(page)
        page.close()


def word(page, side, at):
    return page.locator(".sentence").nth(side).locator("span").nth(at)


def marked(page, kind):
    """Return the words that have a mark: [side, place]."""
    found = page.evaluate(
        """kind => [...document.querySelectorAll(".sentence")].flatMap((sentence, x) =>
            [...sentence.querySelectorAll("span")].flatMap((word, at) =>
                word.classList.contains(kind) ? [[x, at]] : []))""",
        kind,
    )
    return [tuple(place) for place in found]


def on_screen(page):
    return page.evaluate(SEEN)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_word_of_25_is_in_sight_and_no_mark_begins_a_line(show, width, height):
    page = show("25", width, height)
    assert on_screen(page) == [25, 25]
    lines = page.evaluate(LINES)
    assert (max(map(len, lines)) > 1) == (width < 1000)
    for sentence, words in zip(lines, (ENGLISH, HUNGARIAN), strict=True):
        assert [word for line in sentence for word in line] == words
        assert not any(line[0] in ",." for line in sentence)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.locator("#all-lines")).to_be_hidden()


def test_the_last_row_and_the_nulls_of_25_words_are_in_sight(show):
    page = show("25")
    last = page.locator("#matrix .sign").first.bounding_box()
    main = page.locator("main").bounding_box()
    assert last["y"] + last["height"] <= main["y"] + main["height"]


def test_120_words_are_whole_where_there_is_room_and_else_scroll_with_the_cursor(show):
    page = show("120")
    assert on_screen(page) == [120, 120]
    expect(page.locator("#all-lines")).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_selector("#all-lines:not([hidden])")
    high = page.eval_on_selector(".sentence", "one => parseFloat(getComputedStyle(one).lineHeight)")
    rooms = page.eval_on_selector_all(".sentence", "all => all.map(one => one.clientHeight)")
    assert [round(room / high) for room in rooms] == [3, 3]
    expect(page.locator(".sentence >> nth=0")).to_have_attribute("tabindex", "0")
    press(page, "j j j j j j j j j j")  # past the first line
    for _ in range(6):
        press(page, "j j j j j j j j j j")
        at = cursor(page)
        page.wait_for_timeout(50)  # scrolled
        for side in (0, 1):
            sentence = page.locator(".sentence").nth(side).bounding_box()
            seen = word(page, side, at[side]).bounding_box()
            assert seen["y"] >= sentence["y"] + high - 4
            assert seen["y"] + seen["height"] <= sentence["y"] + 2 * high + 8
    assert marked(page, "at") == [(0, at[0])]


def test_all_lines_open_over_the_matrix_and_a_click_on_a_word_closes_them(show):
    page = show("120", 390, 844)
    main = page.locator("main").bounding_box()
    button = page.locator("#all-lines")
    web.until(lambda: button.inner_text().startswith("all "))
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    assert on_screen(page) == [120, 120]
    assert page.locator("main").bounding_box() == main
    press(page, "Escape")
    expect(button).to_have_attribute("aria-expanded", "false")
    button.click()
    word(page, 0, 99).click()
    expect(button).to_have_attribute("aria-expanded", "false")
    assert cursor(page)[0] == 99


def test_a_click_goes_to_a_word_and_one_on_the_other_sentence_adds_or_removes_it(show):
    page = show("25")
    expect(page.locator("#route-side")).to_have_text("Words of the source")
    word(page, 0, 3).click()
    assert (cursor(page)[0], drawn(page), marked(page, "at")) == (3, [], [(0, 3)])
    expect(page.locator("#status-text")).to_contain_text("click words of the other sentence")
    web.until(lambda: page.evaluate("document.activeElement.closest('#matrix') !== null"))
    press(page, "0 k")  # no link, and back
    word(page, 0, 3).click()
    word(page, 1, 2).click()
    word(page, 1, 3).click()  # a second partner
    eventually(drawn, page, wanted=[(3, 2, 2), (3, 3, 2)])
    assert marked(page, "settled") == [(0, 3)]
    word(page, 1, 3).click()  # removes it
    eventually(drawn, page, wanted=[(3, 2, 2)])
    press(page, "Enter")
    assert cursor(page)[0] != 3
    press(page, "u u u u")
    saved(page)
    assert links(page) == drawn(page) == []


def test_a_click_beside_a_word_takes_the_nearer_and_dragging_clicks_nothing(show):
    page = show("25")
    held = cursor(page)
    left, right = (word(page, 0, at).bounding_box() for at in (2, 3))
    y = left["y"] + left["height"] / 2
    web.drag(page, (left["x"] + 3, y), (right["x"] + right["width"] - 3, y), 5)
    eventually(page.evaluate, "String(getSelection())", wanted="German occupation")
    assert cursor(page) == held
    page.mouse.click(right["x"] - 1, y)
    assert marked(page, "at") == [(0, 3)]
    page.mouse.click(left["x"] + left["width"] + 1, y)
    assert marked(page, "at") == [(0, 2)]
    press(page, "Escape")


def test_words_show_their_partners_and_the_mouse_those_of_its_word(show):
    page = show("short")
    web.reach(page, 1, 2)
    assert marked(page, "here") == [(0, 1), (1, 2)]
    assert marked(page, "likely") == [(0, 1), (1, 2)]
    press(page, "s ArrowRight d")  # talked: discussed, the
    assert marked(page, "sure") == [(1, 2)]
    assert marked(page, "possible") == [(0, 1), (1, 3)]
    assert (0, 1) not in marked(page, "bare")
    assert (0, 5) in marked(page, "bare")
    assert (0, 4) not in marked(page, "bare")  # its link is shown
    word(page, 1, 4).hover()
    page.wait_for_selector(".sentence .near")
    assert (marked(page, "near"), marked(page, "likely")) == ([(1, 4)], [(0, 4)])
    assert (marked(page, "sure"), page.locator("#matrix .hover").count()) == ([], 1)
    page.mouse.move(*web.middle(page, 5, 6))
    web.until(lambda: marked(page, "near") == [(0, 5), (1, 6)])
    assert marked(page, "possible") == [(0, 1), (1, 3)]
    press(page, "u u")


def test_curves_are_drawn_where_both_sentences_fit_in_one_line(show):
    page = show("short")
    curve = "kind => document.querySelector(`.curve.${kind}`).getAttribute('d')?.split('M').length"
    press(page, "s")
    eventually(page.evaluate, curve, "sure", wanted=2)
    assert page.locator(".curves").bounding_box()["height"] == 44
    page.set_viewport_size({"width": 390, "height": 844})
    web.until(lambda: page.locator(".curves").bounding_box()["height"] == 1)
    expect(page.locator(".curve.sure")).to_be_hidden()
    press(page, "u")


@pytest.mark.parametrize(
    ("name", "directions", "languages"),
    [
        ("rtl", ["rtl", "rtl"], ["he", "ar"]),
        ("mixed", ["ltr", "rtl"], [None, None]),
        ("japanese", ["ltr", "ltr"], [None, "ja"]),
    ],
)
def test_sentences_have_their_own_direction_and_language(show, name, directions, languages):
    page = show(name)
    sentences = page.locator(".sentence")
    assert [sentences.nth(x).get_attribute("dir") for x in (0, 1)] == directions
    assert [sentences.nth(x).get_attribute("lang") for x in (0, 1)] == languages
    main = page.locator("main").bounding_box()
    for x, direction in enumerate(directions):
        first, second = (word(page, x, at).bounding_box() for at in (0, 1))
        assert (first["x"] > second["x"]) == (direction == "rtl")
        edge = first["x"] if direction == "ltr" else 1280 - first["x"] - first["width"]
        assert edge == pytest.approx(13, abs=1)
    stage = page.locator(".stage").bounding_box()
    left = stage["x"]
    right = main["x"] + main["width"] - stage["x"] - stage["width"]
    sides = {"rtl": right, "mixed": left - right, "japanese": left}
    assert sides[name] == pytest.approx(0, abs=1)


def test_of_both_directions_only_the_curves_of_the_cursor_are_drawn(show):
    page = show("mixed")
    drawn = "document.querySelector('.curve.likely').getAttribute('d').split('M').length - 1"
    web.reach(page, 3, 3, rtl=True)
    eventually(page.evaluate, drawn, wanted=1)
    press(page, "ArrowDown")
    assert page.evaluate(drawn) <= 1


def test_words_of_a_text_without_spaces_stand_close_and_stay_whole(show):
    page = show("japanese", 390, 844)
    expect(page.locator(".sentence").nth(1)).to_have_text("".join(JAPANESE))
    first, second = (word(page, 1, at).bounding_box() for at in (0, 1))
    inner = second["x"] + 3 - (first["x"] + first["width"] - 3)
    assert inner == pytest.approx(4, abs=0.5)
    page.set_viewport_size({"width": 110, "height": 844})
    page.wait_for_timeout(200)
    lines = page.evaluate(LINES)[1]
    assert len(lines) > 1
    assert not any(line[0] in "、。" for line in lines), lines
    whole = "all => all.every(word => word.getClientRects().length === 1)"
    assert page.eval_on_selector_all(".sentence >> nth=1 >> span", whole)


def test_in_forced_colours_a_frame_and_an_underline_remain(show):
    page = show("short", forced="active")
    web.reach(page, 1, 2)
    press(page, "s")
    style = "(one, name) => getComputedStyle(one)[name]"
    here = page.locator(".sentence .here").first
    eventually(here.evaluate, style, "outlineStyle", wanted="solid")
    assert "underline" in page.locator(".sentence .sure").first.evaluate(
        style, "textDecorationLine"
    )
    press(page, "u")


def test_cells_shrink_without_a_jump_and_are_large_for_fingers(show):
    page = show("25")
    sizes = []
    for height in range(860, 660, -20):
        page.set_viewport_size({"width": 1280, "height": height})
        page.wait_for_timeout(120)
        sizes.append(float(page.get_attribute("#matrix .here", "width")))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 18
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(120)
    expect(page.locator("#matrix .here")).to_have_attribute("width", "28")


def test_on_a_phone_the_panel_is_folded_to_the_judgment_until_it_is_touched(show):
    page = show("25", 390, 844)
    panel = page.locator("aside")
    assert panel.bounding_box()["height"] == 46
    assert page.locator("#pair-id").bounding_box()["width"] > 10
    page.click("#unfold")
    assert panel.bounding_box()["height"] > 300
    page.click("#unfold")
    assert panel.bounding_box()["height"] == 46


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [SIZES[0], SIZES[2]])
def test_axe_finds_nothing_serious_in_the_sentences(show, width, height, colours):
    for name in ("short", "120", "rtl"):
        page = show(name, width, height, colours)
        press(page, "s ArrowRight d")
        word(page, 0, 2).click()
        assert not serious(page), name
        press(page, "Escape u u")
        if page.locator("#all-lines").is_visible():
            page.click("#all-lines")
            assert not serious(page), "all lines"


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_long_messages_and_ids_are_never_cut(show, width, height):
    page = show("25", width, height)
    # letters may be a little higher than their lines
    whole = """one => one.scrollWidth <= one.clientWidth &&
        one.scrollHeight <= one.clientHeight + 4"""
    tell = """([id, text, state]) => {
        document.getElementById(id).textContent = text;
        document.getElementById("saved").dataset.state = state;
    }"""
    saved(page)  # what was on its way would write over it
    page.evaluate(tell, ["pair-id", "a-long-name-of-a-pair/in-some-corpus-2026", "saved"])
    assert page.eval_on_selector("#pair-id", whole)
    page.evaluate(tell, ["saved", "Offline: 35 edits kept in this browser", "offline"])
    sizes = "one => [one.scrollWidth, one.clientWidth, one.scrollHeight, one.clientHeight]"
    assert page.eval_on_selector("#saved", whole), page.eval_on_selector("#saved", sizes)
    assert width < 1280 or page.eval_on_selector("#pair-id", whole)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    parts = page.locator("header > *:visible").all()
    boxes = [part.bounding_box() for part in parts]
    assert all(box["x"] + box["width"] <= width for box in boxes)
    page.evaluate(tell, ["saved", "Saved", "saved"])


def test_a_click_on_a_head_leads_to_the_link_of_its_word(show):
    page = show("short")
    page.locator("#matrix text[data-row='4']").click()
    eventually(cursor, page, wanted=(4, 4))  # its suggestion, not the column where the cursor was
    page.locator("#matrix text[data-column='2']").click()
    eventually(cursor, page, wanted=(1, 2))


def test_a_finger_chooses_a_word_and_scrolls_a_sentence(server, context):
    state = context.storage_state()
    size = {"width": 390, "height": 844}
    with browser(storage_state=state, viewport=size, has_touch=True, is_mobile=True) as phone:
        page = enter(phone, server.url.split("#")[0] + "?pair=2")
        word(page, 0, 1).tap()
        assert marked(page, "at") == [(0, 1)]
        sentence = page.locator(".sentence").first
        touch = phone.new_cdp_session(page)
        for kind, y in [("Start", 90), *(("Move", y) for y in range(88, 50, -3)), ("End", 0)]:
            points = [{"x": 60, "y": y}] if y else []
            touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
            page.wait_for_timeout(16)
        web.until(lambda: sentence.evaluate("one => one.scrollTop") > 20)
        assert marked(page, "at") == [(0, 1)]
        assert marked(page, "near") == []
        saved(page)


def test_without_labels_no_judgment_is_asked_or_shown(tmp_path, problems):
    path = str(tmp_path / "none.alignkit")
    create_project(path, Corpus(PAIRS[:1]), scheme="none")
    with served(path) as server, browser(viewport=WIDE) as context:
        page = enter(context, server.url, problems)
        expect(page.locator("#judgment")).to_be_hidden()
        press(page, "l")
        expect(page.locator("#status-text")).to_contain_text("not judged")
        page.set_viewport_size({"width": 390, "height": 844})
        expect(page.locator("#unfold")).to_be_visible()
