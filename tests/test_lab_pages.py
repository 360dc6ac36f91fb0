"""The manager pages of a lab, against canned answers: forms, errors, undo, keyboard, width, axe."""

import re

import annotate_browser as web
import lab_pages
import pytest
from lab_pages import LATE, SHARE, card, draft, fault, person
from msgspec.structs import replace

from alignkit.annotate.lab import bodies as api
from alignkit.annotate.server.assets import PAGE
from alignkit.io.formats import WRITTEN
from alignkit.model.labels import SCHEMES

pytestmark = web.BROWSER
PAGES = ["", "new/d1", "p/news/people", "p/news/assign", "p/news/export", "p/news/settings",
         "people", "log", "account", "signin", f"join#{'t' * 43}"]  # fmt: skip
LOOK = {"POST join/look": api.JoinInfo("invite", "anna")}


@pytest.fixture(scope="module")
def server():
    with lab_pages.lab() as server:
        yield server


@pytest.fixture
def lab(server):
    server.anew()
    server.answers |= LOOK
    yield server
    for page in server.context.pages:
        page.close()
    assert not server.problems


def undo(page):
    page.click("#toast button")


def said(page, text):
    page.wait_for_selector(f"#toast:has-text('{text}')")


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_small_fits_and_axe_finds_nothing(path):
    with lab_pages.lab(bypass_csp=True) as lab:
        lab.answers |= LOOK
        page = lab.open(path)
        page.wait_for_load_state("networkidle")
        assert lab.bytes < 100_000
        for width, colours in [(1280, "light"), (768, "dark"), (390, "light")]:
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=colours)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert not web.serious(page)
        assert not lab.problems


def test_signing_in_goes_back_to_a_page_of_the_lab_only(lab):
    lab.answers["POST session"] = 201, api.Entered("c2", "carla", "k1")
    for to, wanted in [("/lab/log", "/lab/log"), ("//evil.example/lab/", "/lab/"), ("/x", "/lab/")]:
        page = lab.open(f"signin?to={to}")
        page.fill("#name", "carla")
        page.fill("#password", "a password")
        page.keyboard.press("Enter")
        page.wait_for_url(lab_pages.SITE + wanted)
        assert page.evaluate("localStorage['alignkit k1']")


def test_a_wrong_password_is_said_under_its_field_and_another_account_is_asked_about(lab):
    anna = lab.open("p/news/people")
    page = lab.open("signin")
    page.click("button")
    assert page.evaluate("document.activeElement.id") == "name"
    lab.answers["POST session"] = fault(401, "wrong", "Name or password is wrong.", "password")
    page.fill("#name", "ben")
    page.fill("#password", "a password")
    page.keyboard.press("Enter")
    page.wait_for_selector("#password[aria-describedby=fault-password]:focus")
    assert page.inner_text("#fault-password") == "Name or password is wrong."
    lab.answers["POST session"] = fault(409, "taken", "carla is signed in here. Sign carla out?")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog h2:text-is('carla is signed in here. Sign carla out?')")
    lab.answers["POST session"] = 201, api.Entered("c2", "ben", "k1")
    page.click("dialog .main")
    page.wait_for_url("**/lab/")
    assert lab.sent("POST session")[-1]["take_over"]
    assert "ben signed in here" in anna.inner_text("#stopped")


def test_a_link_is_posted_erased_and_used_once(lab):
    lab.answers["POST join"] = 201, api.Entered("c2", "anna", "k1")
    page = lab.open(f"join#{'t' * 43}")
    page.fill("#password", "a long password")
    page.fill("#again", "another password")
    assert page.url.endswith("/join")
    page.click("#go")
    assert page.inner_text("#fault-again") == "The two passwords differ."
    page.fill("#again", "a long password")
    page.click("#go")
    page.wait_for_url("**/lab/")
    assert lab.sent("POST join") == [{"token": "t" * 43, "password": "a long password"}]
    lab.answers["POST join/look"] = fault(410, "gone", "gone")
    page = lab.open(f"join#{'t' * 43}")
    page.wait_for_selector("#problem:text-is('This link is no longer valid. Ask for a new one.')")


def test_annotators_get_cards_and_others_a_table_with_what_needs_them(lab):
    making = card("wip", state="making")
    lab.answers["GET projects"] = {"projects": [card(), making, card("old", state="archived")]}
    page = lab.open("")
    page.wait_for_selector("tr[data-key=wip] progress")
    assert page.get_attribute("a.needs", "href") == "/lab/p/news/adjudicate"
    lab.answers["GET projects"] = {"projects": [card(), card("wip")]}
    page.wait_for_selector("tr[data-key=wip] a.needs")
    lab.answers["GET me"] = api.Me("anna", "member", False, "k1", [])
    mine = card(mine=(205, 360), left=120.0, role="annotator", reopened=[(31, "corrected")])
    lab.answers["GET projects"] = {"projects": [mine, card("b", mine=(5, 5), role="annotator")]}
    page = lab.open("")
    page.wait_for_selector("#cards .main:text-is('Continue')")
    assert "155 to go, about 2 h" in page.inner_text("#cards")
    assert page.inner_text("#finished-count") == "Finished, 1"
    assert page.is_visible("text=News, pair 31") and page.is_hidden("#manage")
    lab.answers["GET projects"] = {"projects": []}
    page = lab.open("")
    page.wait_for_selector("text=Nothing to do. You will see new pairs here.")


def test_a_project_is_made_of_files_with_choices_for_findings(lab):
    empty = draft(files=[], pairs=0, findings=[], detected="", ready=False)
    lab.answers |= {"GET drafts/d1": empty, "GET drafts/d1/preview/.*": lab_pages.preview(1)}
    page = lab.open("new/d1")
    page.wait_for_selector("#drop")
    assert page.is_hidden("#project") and page.is_hidden("text=Create project")
    lab.answers["GET drafts/d1"] = draft()
    page.set_input_files("#file", [{"name": "news.en", "mimeType": "", "buffer": b"a b\n"}])
    page.wait_for_selector("#matrix .ring")
    (put,) = [ask for ask in lab.asked if ask.name == "PUT drafts/d1/files/3"]
    assert put.bytes == b"a b\n" and put.headers["x-csrf-token"] == "c"
    lab.answers["GET drafts/d1"] = draft(ready=False)
    page.select_option("#findings select", "stop")
    page.wait_for_selector("footer .main:disabled")
    assert lab.sent("PATCH drafts/d1") == [{"choices": {"outside": "stop"}}]
    lab.answers["GET drafts/d1"] = draft()
    page.select_option("#findings select", "drop")
    page.fill("#name", "News 2026")
    lab.answers["POST projects"] = "offline"
    page.click("text=Create project")
    page.wait_for_selector("text=Offline. Nothing was changed.")
    page.reload()  # what was typed is kept
    page.wait_for_selector("#matrix .ring")
    lab.answers |= {"POST projects": (202, card()), "GET projects/news": fault(503, "x", "making")}
    page.click("text=Create project")
    page.wait_for_selector("text=Creating …")
    lab.answers["GET projects/news"] = card()
    page.wait_for_url("**/p/news/assign")
    made = lab.sent("POST projects")[-1]
    assert (made["name"], made["etag"]) == ("News 2026", "d 1")
    assert made["suggestions"] == {"kind": "initial", "name": "auto.align"}


def test_an_import_shows_first_what_it_would_do(lab):
    lab.answers["GET drafts/d1"] = draft(project="news")
    lab.answers["POST projects/news/import"] = api.ImportDone([("new pairs", 40)], [], True)
    page = lab.open("new/d1")
    page.wait_for_selector("#counts:has-text('new pairs: 40')")
    page.check("[value=words]", force=True)
    page.click("footer :text-is('Correct texts')")
    page.wait_for_url("**/p/news/settings")
    ways = [(one["words_only"], one["dry_run"]) for one in lab.sent("POST projects/news/import")]
    assert ways == [(False, True), (True, True), (True, False)]


def test_a_role_acts_at_once_and_undo_is_the_opposite(lab):
    page = lab.open("p/news/people")
    cleo = person("cleo", "reader", etag="cleo 2")
    lab.answers["PUT projects/news/people/cleo"] = cleo
    page.select_option("[aria-label='Role of cleo']", "reader")
    said(page, "cleo is now a reader.")
    undo(page)
    said(page, "Undone.")
    keys = [(one["role"], one["etag"]) for one in lab.sent("PUT projects/news/people/cleo")]
    assert keys == [("reader", "cleo 1"), ("adjudicator", "cleo 2")]
    late = fault(409, "changed", "ben changed this at 14:02.")
    lab.answers["PUT projects/news/people/cleo"] = late
    page.select_option("[aria-label='Role of cleo']", "annotator")
    said(page, "ben changed this at 14:02.")
    assert page.input_value("[aria-label='Role of cleo']") == "adjudicator"


def test_what_matters_asks_for_the_password_and_goes_on(lab):
    page = lab.open("p/news/people")
    wants = fault(403, "prove", "Give your password again.")
    lab.answers |= {"PUT projects/news/people/ben": wants, "POST prove": fault(401, "wrong", "No.")}
    page.select_option("[aria-label='Role of ben']", "owner")
    page.fill("#answer", "wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog .fault:text-is('No.')")
    lab.answers |= {"PUT projects/news/people/ben": person("ben", "owner"), "POST prove": (204, 0)}
    page.keyboard.press("Enter")
    said(page, "ben is now an owner.")


def test_links_are_shown_once_and_removing_can_be_undone_by_keyboard(lab):
    lab.answers |= {
        "POST projects/news/links": (201, api.LinkMade("l2", "http://x/join#t", "eva", LATE)),
        "DELETE projects/news/people/ben": {"pairs": [8, 9]},
        "PUT projects/news/people/ben": person("ben")}  # fmt: skip
    page = lab.open("p/news/people")
    page.fill("#name", "Eva")
    page.keyboard.press("Enter")
    page.wait_for_selector("#link button:focus")
    assert lab.sent("POST projects/news/links")[0]["name"] == "eva"
    assert page.input_value("#link input") == "http://x/join#t"
    page.focus("[aria-label='More about ben']")
    web.press(page, "ArrowDown Escape ArrowDown End Enter")
    said(page, "ben was removed. 2 pairs not begun return to nobody.")
    page.focus("#toast button")
    page.keyboard.press("Enter")
    said(page, "Undone.")
    assert lab.sent("POST projects/news/move") == [
        {"from": "", "to": "ben", "count": 2, "pairs": [8, 9]}]  # fmt: skip


def test_a_toast_stays_ten_seconds_and_longer_with_the_focus(lab):
    page = lab.context.new_page()
    page.clock.install()
    page.goto(f"{lab_pages.SITE}/lab/p/news/people")
    lab.answers["PUT projects/news/people/ben"] = person("ben", "reader")
    page.select_option("[aria-label='Role of ben']", "reader")
    page.focus("#toast button")
    page.clock.run_for(30_000)
    assert page.is_visible("#toast button")
    page.focus("#name")
    page.clock.run_for(12_000)
    assert page.locator("#toast button").count() == 0


def test_assigning_shows_what_changes_and_a_move_can_be_undone(lab):
    page = lab.open("p/news/assign")
    page.wait_for_selector("#assign:text-is('Assign 120 pairs'):enabled")
    before = len(lab.sent("POST projects/news/assign"))
    page.check("[value=two]", force=True)
    page.fill("#control", "20")
    page.wait_for_selector("#assign:enabled")
    (last,) = lab.sent("POST projects/news/assign")[before:]
    assert last["dry_run"] and (last["double"], last["control"]) == (1, 0.2)
    page.click("#assign")
    said(page, "120 pairs assigned.")
    assert [one["plan"] for one in lab.sent("POST projects/news/assign") if "plan" in one] == ["plan 1"]
    page.fill("#count", "2")
    page.click("#go")
    said(page, "2 pairs moved.")
    undo(page)
    said(page, "Undone.")
    there, back = lab.sent("POST projects/news/move")
    assert (there["from"], back["to"], back["pairs"]) == (back["to"], "anna", [8, 9])
    none = api.AssignTable("p", 0, 0, [replace(SHARE)], [], None)
    lab.answers["(GET|POST) projects/news/assign"] = none
    page.fill("#control", "30")
    page.wait_for_selector("#note:text-is('Everything is assigned.')")
    assert page.is_disabled("#assign")


def test_an_export_is_described_before_the_download_and_archiving_can_be_undone(lab):
    lab.answers["GET projects/news"] = card(annotates=True, mine=(3, 5))
    page = lab.open("p/news/export")
    page.wait_for_selector("#files:has-text('61 pairs, 1,263 links')")
    page.select_option("#what", "all")
    page.check("[name=unfinished]")
    page.click("#go")
    page.wait_for_selector("dialog h2:text-is('You have 2 pairs to do')")
    with page.expect_download() as loaded:
        page.click("dialog .main")
    assert loaded.value.suggested_filename == "news.jsonl"
    asked = [ask.query for ask in lab.asked if ask.name == "GET projects/news/export"]
    assert (asked[-1]["what"], asked[-1]["done"]) == ("all", "false") and "dry_run" not in asked[-1]
    lab.answers["PATCH projects/news"] = card(state="archived", etag="p2")
    page.click("#archive")
    said(page, "News is archived.")
    undo(page)
    web.until(lambda: len(lab.sent("PATCH projects/news")) == 2)
    assert lab.sent("PATCH projects/news")[1] == {"etag": "p2", "state": "open"}


def test_settings_send_what_changed_and_deleting_takes_the_name(lab):
    page = lab.open("p/news/settings")
    lab.answers["PATCH projects/news"] = card(etag="p2")
    page.check("[name=blind]")
    page.click("text=Save")
    said(page, "Saved.")
    undo(page)
    said(page, "Undone.")
    assert [one["blind"] for one in lab.sent("PATCH projects/news")] == [True, False]
    lab.answers["GET projects/news"] = card(state="archived")
    lab.answers["DELETE projects/news"] = 204, None
    page = lab.open("p/news/settings")
    page.click("#delete")
    page.keyboard.type("New")
    assert page.is_disabled("dialog .danger")
    web.press(page, "s Enter")
    page.wait_for_url("**/lab/")
    assert lab.sent("DELETE projects/news") == [{"name": "News"}]


def test_closing_an_account_is_asked_and_unknown_pages_are_not_found(lab):
    page = lab.open("people")
    closed = api.AccountRow("dora", "member", False, "closed", LATE, LATE, 0, "a3")
    lab.answers["PATCH accounts/dora"] = closed
    page.click("[aria-label='More about dora']")
    page.click("text=Close account")
    page.click("dialog button:text-is('Close account')")
    said(page, "The account of dora is closed.")
    page = lab.open("p/secret/people")
    page.wait_for_selector("h1:text-is('Not found.')")


def test_a_session_that_ended_leads_to_sign_in_and_back(lab):
    lab.answers["GET me"] = fault(401, "signin", "Sign in.")
    page = lab.open("p/news/people?a=1")
    page.wait_for_url("**/lab/signin?to=%2Flab%2Fp%2Fnews%2Fpeople%3Fa%3D1")


def test_shells_list_all_formats_and_schemes():
    def options(page, name):
        part = (PAGE / page).read_text().partition(f'<select id="{name}"')[2].split("</select>")[0]
        return set(re.findall(r'<option value="([^"]+)"', part))

    assert options("export.html", "format") == set(WRITTEN)
    assert options("new.html", "scheme") == set(SCHEMES)
