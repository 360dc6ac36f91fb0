"""The manager pages of a lab: forms, errors, undo, keyboard, width, and what axe checks."""

import json
import re
from contextlib import contextmanager
from itertools import count
from urllib.parse import urlsplit

import annotate_browser as web
import msgspec
import pytest
from annotation import small_corpus
from lab_server import CARLA, ROLES, password, serving
from playwright.sync_api import expect
from starlette.testclient import TestClient

from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.lab import bodies as api
from alignkit.annotate.lab import passwords
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.assets import PAGE, load_assets
from alignkit.io.formats import WRITTEN
from alignkit.model.alignment import Alignment
from alignkit.model.labels import SCHEMES, get_scheme

pytestmark = web.BROWSER
SITE, ROOT = "http://lab.example", "/lab/"
PAGES = [
    "",
    "new/d",
    "p/news/people",
    "p/news/assign",
    "p/news/export",
    "p/news/settings",
    "people",
    "log",
    "account",
    "signin",
    f"join#{'t' * 43}",
]
SIDES = {"source": "ltr", "target": "rtl"}
NUMBERS = count()
PASSED = ("content-type", "x-csrf-token", "x-account")


def draft(**more):
    kinds = [("source", "Source words"), ("links", "Links")]
    choices = [("drop", "Leave out"), ("stop", "Stop")]
    values = {
        "etag": "7",
        "pairs": 600,
        "ready": True,
        "name": "News",
        "annotators": ["auto"],
        "files": [
            api.DraftFile(n, name, 48_000, 48_000, "source", kinds, "")
            for n, name in enumerate(("news.en", "auto.align"))
        ],
        "options": [api.DraftOption("base", "Counted from", "", choices)],
        "detected": "Pharaoh",
        "findings": [api.DraftFinding("outside", "2 links outside", [2, 9], choices, "drop")],
    }
    return api.Draft("d", **({"project": ""} | values | more))


def fault(status, error, message, field=""):
    return status, api.Fault(error, message, field)


class Window:
    """The browser of somebody: requests go to the lab, or get another answer instead."""

    def __init__(self, server, context, name):
        self.context, self.server = context, server
        self.client = TestClient(server.app, SITE, raise_server_exceptions=False)
        self.instead, self.asked, self.problems, self.files = {}, [], [], []
        context.set_default_timeout(30_000)
        context.route(f"{SITE}/**", self.serve)
        if name:
            sent = {"name": name, "password": password(name)}
            csrf = self.client.post(f"{ROOT}api/v1/session", json=sent).json()["csrf"]
            kept = f"localStorage.alignkit='k'; localStorage['alignkit k']='{csrf}'"
            context.add_init_script(f"if (!localStorage.alignkit) {{{kept}}}")

    def serve(self, route):
        request, url = route.request, urlsplit(route.request.url)
        name = f"{request.method} {url.path.removeprefix(f'{ROOT}api/v1/')}"
        if "/page/" in url.path:
            self.files.append(url.path.rpartition("/")[2])
        elif "/api/" in url.path:
            self.asked.append((name, request.post_data_buffer, url.query))
        value = next((x for key, x in self.instead.items() if re.fullmatch(key, name)), None)
        if value == "offline":
            return route.abort()
        if value is not None:
            status, value = value if isinstance(value, tuple) else (200, value)
            return route.fulfill(status=status, body=msgspec.json.encode(value))
        passed = {key: request.headers[key] for key in PASSED if key in request.headers}
        reply = self.client.request(
            request.method,
            request.url.partition("#")[0],
            content=request.post_data_buffer,
            headers={**passed, "accept-encoding": "identity"},
        )
        return route.fulfill(status=reply.status_code, headers=reply.headers, body=reply.content)

    def open(self, path):
        return web.opened(self.context, SITE + ROOT + path, self.problems)

    def sent(self, name):
        return [json.loads(body or b"null") for asked, body, _ in self.asked if asked == name]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "COST", (2, 1, 1))
        with serving(tmp_path_factory.mktemp("pages"), SITE + ROOT) as server:
            server.project()
            yield server


@contextmanager
def window(server, name="carla", **options):
    with web.browser(**options) as context:
        lab = Window(server, context, name)
        lab.instead["GET drafts/d"] = draft()
        preview = api.Preview(1, 600, "s1", ["a", "b"], ["c"], [(1, 0, 2)], "auto", "", SIDES)
        lab.instead["GET drafts/d/preview/.*"] = preview
        yield lab
        assert not lab.problems


@pytest.fixture
def lab(server):
    with window(server) as lab:
        lab.slug = server.project(f"Pilot {next(NUMBERS)}")
        with Store.open(server.lab.project_place(server.lab.projects.get(lab.slug).key)) as store:
            assign_pairs(store, ["anna"], double=0.0)
        lab.at = f"projects/{lab.slug}"
        yield lab


def said(page, text):
    page.wait_for_selector(f"#toast:has-text('{text}')")


def undo(page):
    page.click("#toast button")
    said(page, "Undone.")


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_small_fits_and_axe_finds_nothing(server, path):
    with window(server, bypass_csp=True) as lab:
        page = lab.open(path)
        page.wait_for_load_state("networkidle")
        assets = load_assets()
        assert sum(len(assets[name].compressed) for name in lab.files) < 95_000
        for width, colours in [(1280, "light"), (768, "dark"), (390, "light")]:
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=colours)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert not web.serious(page)


def enter(page, name):
    page.fill("#name", name)
    page.fill("#password", password(name.lower()))
    page.keyboard.press("Enter")


@pytest.mark.parametrize(
    ("to", "wanted"),
    [("/lab/log", "/lab/log"), ("//evil.example/lab/", ROOT), ("/x", ROOT), ("javascript:1", ROOT)],
)
def test_signing_in_goes_back_to_a_page_of_the_lab_only(server, to, wanted):
    with window(server, "") as lab:
        page = lab.open(to.removeprefix(ROOT)) if to == "/lab/log" else lab.open(f"signin?to={to}")
        page.wait_for_selector("#signin")
        page.click("button")
        web.eventually(page.evaluate, "document.activeElement.id", wanted="name")
        page.fill("#name", f"nobody{next(NUMBERS)}")
        page.fill("#password", "not this one")
        page.keyboard.press("Enter")
        page.wait_for_selector(".fault:text-is('Name or password is wrong.')")
        enter(page, "carla")
        page.wait_for_url(SITE + wanted)


def test_another_account_is_asked_about_and_its_tabs_are_told(lab):
    people, page = lab.open(f"p/{lab.slug}/people"), lab.open("signin")
    people.wait_for_selector("tr[data-key=anna]")
    enter(page, "anna")
    page.wait_for_selector("dialog h2:text-is('carla is signed in here. Sign carla out?')")
    page.click("dialog .main")
    page.wait_for_selector("#cards .main:text-is('Start')")
    assert lab.sent("POST session")[-1]["take_over"]
    again = lab.open("signin")
    enter(again, "ben")
    again.click("dialog .main")
    page.wait_for_selector("#stopped:has-text('ben signed in here')")


def test_a_link_is_posted_erased_and_used_once(lab, server):
    link = server.lab.links.create("invite", f"new{next(NUMBERS)}", CARLA, project=lab.slug)
    with window(server, "") as other:
        page = other.open(f"join#{link.token}")
        page.fill("#password", "a long password")
        page.fill("#again", "another password")
        assert page.url.endswith("/join")
        page.click("#go")
        page.wait_for_selector("#fault-again:text-is('The two passwords differ.')")
        page.fill("#again", "a long password")
        page.click("#go")
        page.wait_for_selector("text=Nothing to do. You will see new pairs here.")
        page = other.open(f"join#{link.token}")
        page.wait_for_selector(
            "#problem:text-is('This link was used already. Sign in with the password that was "
            "chosen then.')"
        )
        page = other.open(f"join#{'x' * 43}")
        page.wait_for_selector(
            "#problem:text-is('This link is no longer valid. Ask for a new one.')"
        )
        page = other.open("join#x")
        page.wait_for_selector("#problem:has-text('This link is not complete.')")


def test_a_person_has_any_name_and_an_account_that_is_proposed_from_it(lab, server):
    page = lab.open(f"p/{lab.slug}/people")
    page.wait_for_selector("tr[data-key=anna]")
    account = page.locator("#name")
    for typed, proposed in {
        "Anna Kiss": "anna-kiss",
        "J\xfcrgen": "jurgen",
        "Stra\xdfe \xd8 \u0141ukasz": "strasse-o-lukasz",
        "O\u2019Neil, Jr.": "o-neil-jr.",
        "\u674e": "",
        "--Zo\xeb--": "zoe",
    }.items():
        page.fill("#display", "")
        page.type("#display", typed)
        expect(account).to_have_value(proposed)
    page.fill("#display", "\u674e")
    page.click("text=Create link")
    page.wait_for_selector("#fault-name:has-text('Type a name for the account')")
    name = f"<img src=x onerror=alert(1)> Anna {next(NUMBERS)}"
    page.fill("#display", name)
    account.fill(f"img{next(NUMBERS)}")
    page.click("text=Create link")
    page.wait_for_selector(f"#link:has-text('Send this to {name}')")
    expect(page.locator("#people img, #link img")).to_have_count(0)
    row = page.locator("#people tr", has_text=name)
    expect(row.locator("small")).to_have_text(re.compile(r"img\d+"))
    link = page.locator("#link input").input_value()
    with window(server, "") as other:
        joining = other.open(link.removeprefix(SITE + ROOT))
        expect(joining.locator("#display")).to_have_value(name)
        expect(joining.locator("#name")).not_to_be_editable()
        joining.fill("#display", "J\xfcrgen Kiss")
        joining.fill("#password", "a long password")
        joining.fill("#again", "a long password")
        joining.click("#go")
        joining.wait_for_selector("header button:has-text('J\xfcrgen Kiss')")


def test_no_message_of_a_library_reaches_a_person(lab):
    page = lab.open(f"p/{lab.slug}/people")
    page.wait_for_selector("tr[data-key=anna]")
    page.fill("#name", "Anna Kiss!")
    page.click("text=Create link")
    page.wait_for_selector("#fault-name:has-text('cannot be the name of an account. Use 1 to 40')")


def test_who_types_the_name_that_others_see_can_sign_in(server):
    with window(server, "") as lab:
        page = lab.open("signin")
        page.wait_for_selector("#signin")
        enter(page, "Anna")
        page.wait_for_url(SITE + ROOT)
        assert lab.sent("POST session")[0]["name"] == "anna"
        account = lab.open("account")
        account.fill("#display", "Anna M\xfcller")
        account.click("text=Change name")
        said(account, "Your name is changed.")
        account.reload()
        account.wait_for_selector("header button:has-text('Anna M\xfcller')")
        account.fill("#display", "")
        account.click("text=Change name")
        said(account, "Your name is changed.")


def test_a_project_is_made_of_files_with_choices_for_findings(lab):
    lab.instead |= {
        "GET drafts/d": draft(files=[], pairs=0, findings=[], ready=False),
        "POST drafts/d/files": {"n": 3},
        "PUT drafts/d/files/3": {},
    }
    page = lab.open("new/d")
    page.wait_for_selector("#drop")
    expect(page.locator("#project")).to_be_hidden()
    expect(page.locator("text=Create project")).to_be_hidden()
    lab.instead |= {"GET drafts/d": draft(ready=False), "PATCH drafts/d": draft()}
    page.set_input_files("#file", [{"name": "news.en", "mimeType": "", "buffer": b"a b\n"}])
    note = page.locator("#ways-note")
    expect(note).to_contain_text("Annotators do not see links of these files.")
    expect(page.locator("[name=suggestions][value=trained]")).to_be_checked()
    expect(page.locator("#pair-note")).to_contain_text("annotators do not see these links")
    expect(page.locator("#matrix .ring")).to_have_count(0)
    page.get_by_label("the links of auto").check()
    page.wait_for_selector("#matrix .ring")
    assert ("PUT drafts/d/files/3", b"a b\n", "") in lab.asked
    expect(page.locator("footer .if-new")).to_be_disabled()
    lab.instead["GET drafts/d"] = draft()
    page.select_option("#findings select", "stop")
    page.wait_for_selector("footer .if-new:enabled")
    assert lab.sent("PATCH drafts/d") == [{"choices": {"outside": "stop"}}]
    page.fill("#name", "News 2026")
    lab.instead["POST projects"] = "offline"
    page.click("text=Create project")
    page.wait_for_selector("text=Offline. Nothing was changed.")
    page.reload()  # what was typed is kept, and these links are not suggested unless chosen
    page.wait_for_selector("[name=suggestions][value=trained]:checked")
    page.get_by_label("the links of auto").check()
    lab.instead |= {"POST projects": (202, {"slug": "x"}), "GET projects/x": fault(503, "x", "y")}
    page.click("text=Create project")
    page.wait_for_selector("text=Creating …")
    lab.instead["GET projects/x"] = {"state": "open"}
    page.wait_for_url("**/p/x/assign")
    made = msgspec.convert(lab.sent("POST projects")[-1], api.NewProject)
    assert (made.name, made.etag) == ("News 2026", "7")
    assert made.suggestions == api.Suggestions("initial", "auto")


def test_a_project_has_labels_of_ones_own(lab):
    judging = draft(task="judge")
    lab.instead |= {"GET drafts/d": judging, "PATCH drafts/d": judging}
    page = lab.open("new/d")
    page.wait_for_selector("#project:not([hidden])")
    expect(page.locator("#own")).to_be_hidden()
    page.select_option("#scheme", "own")
    expect(page.locator("#own")).to_be_visible()
    page.fill("#labels", "no, partly, yes")
    page.fill("#name", "Ours")
    lab.instead |= {"POST projects": (202, {"slug": "x"}), "GET projects/x": {"state": "open"}}
    page.check("[name=nominal]")
    page.click("text=Create project")
    page.wait_for_url("**/p/x/assign")
    made = msgspec.convert(lab.sent("POST projects")[-1], api.NewProject)
    assert get_scheme(made.scheme).values == ("no", "partly", "yes")
    assert get_scheme(made.scheme).order is None


def test_an_import_shows_first_what_it_would_do(lab):
    lab.instead["GET drafts/d"] = draft(project=lab.slug)
    lab.instead[f"POST {lab.at}/import"] = api.ImportDone([("pairs added", 40)], [], True)
    page = lab.open("new/d")
    page.wait_for_selector("#counts:has-text('pairs added: 40')")
    page.check("[value=words]", force=True)
    page.click("footer :text-is('Correct texts')")
    page.wait_for_url("**/settings")
    ways = [(one["words_only"], one["dry_run"]) for one in lab.sent(f"POST {lab.at}/import")]
    assert ways == [(False, True), (True, True), (True, False)]


def test_a_role_acts_at_once_and_undo_is_the_opposite(lab):
    page, role = lab.open(f"p/{lab.slug}/people"), "[aria-label='Role of adam']"
    page.select_option(role, "reader")
    said(page, "adam is now a reader.")
    undo(page)
    expect(page.locator(role)).to_have_value("adjudicator")
    put = f"PUT {lab.at}/people/adam"
    assert [one["role"] for one in lab.sent(put)] == ["reader", "adjudicator"]
    lab.instead[put] = fault(409, "changed", "ben changed this at 14:02.")
    page.select_option(role, "annotator")
    said(page, "ben changed this at 14:02.")
    page.wait_for_selector(f"{role}:enabled")
    expect(page.locator(role)).to_have_value("adjudicator")


def test_what_matters_asks_for_the_password_and_goes_on(lab):
    page, put = lab.open(f"p/{lab.slug}/people"), f"PUT {lab.at}/people/ben"
    lab.instead[put] = fault(403, "prove", "Give your password again.")
    page.select_option("[aria-label='Role of ben']", "owner")
    page.fill("#answer", "not this one")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog .fault")
    del lab.instead[put]
    page.fill("#answer", password("carla"))
    page.keyboard.press("Enter")
    said(page, "ben is now an owner.")


def test_links_are_shown_once_and_removing_can_be_undone_by_keyboard(lab):
    page, name = lab.open(f"p/{lab.slug}/people"), f"eva{next(NUMBERS)}"
    page.wait_for_selector("tr[data-key=anna]")  # before, the form has no script yet
    page.fill("#name", name.title())
    page.keyboard.press("Enter")
    page.wait_for_selector("#link button:focus")
    assert f"{ROOT}join#" in page.input_value("#link input")
    page.click(f"tr[data-key={name}] >> text=Withdraw")
    said(page, f"The link for {name} is withdrawn.")
    page.focus("[aria-label='More about anna']")
    web.press(page, "ArrowDown Escape ArrowDown End Enter")
    said(page, "anna was removed. 6 pairs not begun return to nobody.")
    page.focus("#toast button")
    page.keyboard.press("Enter")
    page.wait_for_selector("tr[data-key=anna]:has-text('0 of 6')")


def test_an_imported_annotator_is_the_same_person_or_renamed(lab, server):
    drawn = {name: Alignment.parse("0-0") for name in ("max", "zoe")}
    lab.slug = server.project(f"Brought {next(NUMBERS)}", small_corpus(2, drawn))
    page = lab.open(f"p/{lab.slug}/people")
    page.click("tr[data-key=max] >> text=Same person")
    said(page, "max is asked whether the imported work is theirs.")
    page.wait_for_selector("tr[data-key=max]:has-text('asked')")
    with window(server, "max") as other:
        asked = other.open("")
        asked.wait_for_selector(
            "#claims:has-text('carla has brought work by an annotator called max')"
        )
        assert not web.serious(asked)
        asked.click("text=It is mine")
        asked.wait_for_selector("#claims", state="hidden")
    page.reload()
    page.wait_for_selector("tr[data-key=max]:has-text('2 of 2')")
    page.click("tr[data-key=zoe] >> text=Rename the imported one")
    page.fill("#answer", "max")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog >> text=max is the name of an account.")
    page.fill("#answer", "Zoe.2")
    page.keyboard.press("Enter")
    said(page, "The imported zoe is now zoe.2.")
    page.wait_for_selector("tr[data-key='zoe.2'] >> text=Invite")


def test_a_toast_stays_ten_seconds_and_longer_with_the_focus(lab):
    page = lab.context.new_page()
    page.clock.install()
    page.goto(f"{SITE}{ROOT}p/{lab.slug}/people")
    page.select_option("[aria-label='Role of ben']", "reader")
    page.focus("#toast button")
    page.clock.run_for(30_000)
    expect(page.locator("#toast button")).to_be_visible()
    page.focus("#name")
    page.clock.run_for(12_000)
    expect(page.locator("#toast button")).to_have_count(0)


def test_assigning_shows_what_changes_and_a_move_can_be_undone(lab):
    page, path = lab.open(f"p/{lab.slug}/assign"), f"POST {lab.at}/assign"
    page.wait_for_selector("#assign:disabled")
    page.wait_for_selector("#note:text-is('Everything is assigned.')")
    before = len(lab.sent(path))
    page.check("[value=two]", force=True)
    page.fill("#control", "20")
    page.wait_for_selector("#assign:text-is('Assign 6 pairs'):enabled")
    (last,) = lab.sent(path)[before:]
    assert (last["dry_run"], last["double"], last["control"]) == (True, 1, 0.2)
    page.check("[value=each]", force=True)
    page.fill("#each", "1")
    page.wait_for_selector("#note:text-is('Everything is assigned.')")
    assert [lab.sent(path)[-1][name] for name in ("double", "each")] == [None, 1]
    page.check("[value=two]", force=True)
    page.wait_for_selector("#assign:text-is('Assign 6 pairs'):enabled")
    page.click("#assign")
    said(page, "6 pairs assigned.")
    page.fill("#count", "2")
    page.click("#go")
    said(page, "2 pairs moved.")
    undo(page)
    there, back = lab.sent(f"POST {lab.at}/move")
    assert (there["from"], there["to"]) == (back["to"], back["from"] or None)
    page.wait_for_selector("#shares tr[data-key=anna] td:text-is('6')")


def test_a_small_project_is_asked_for_its_control_sample(lab):
    slug = lab.server.project("Small", corpus=small_corpus(24, {}))
    page = lab.open(f"p/{slug}/assign")
    page.wait_for_selector("#note:text-is('Choose whether there is a control sample.')")
    expect(page.locator("#assign")).to_be_disabled()
    expect(page.locator("#numbers")).to_be_hidden()
    page.get_by_label("10 % of the pairs").check(force=True)
    page.wait_for_selector("#assign:enabled")
    expect(page.locator("#hiding")).to_contain_text("2 of 24 pairs are in the control sample.")
    page.get_by_label("none", exact=True).check(force=True)
    expect(page.locator("#hiding")).to_have_text("")
    page.wait_for_selector("#assign:enabled")
    page.click("#assign")
    said(page, "24 pairs assigned.")
    expect(page.locator("#ask")).to_be_hidden()
    assert lab.sent(f"POST projects/{slug}/assign")[-1]["control"] == 0


def test_an_annotator_reads_why_pairs_have_no_suggestions(server):
    with window(server, "anna") as lab:
        card = api.ProjectCard(
            slug="news",
            name="News",
            task="align",
            languages="en-de",
            state="open",
            pairs=6,
            done=0,
            decided=None,
            mine=(0, 6),
            reopened=[],
            left=None,
            hidden=2,
            role="annotator",
            annotates=True,
            needs=None,
            annotators=[],
            last="",
            made="",
            etag="1",
        )
        lab.instead["GET projects"] = api.ProjectList([card])
        page = lab.open("")
        page.wait_for_selector("#cards :text('2 of your 6 pairs have no suggestions, to measure')")


def test_an_export_is_described_before_the_download_and_archiving_can_be_undone(lab):
    projects = lab.server.lab.projects
    page = lab.open(f"p/{lab.slug}/export")
    page.select_option("#what", "all")
    page.check("[name=unfinished]")
    page.wait_for_selector("#files b")
    with page.expect_download() as loaded:
        page.click("#go")
    assert loaded.value.suggested_filename.startswith(lab.slug)
    assert [query for *_, query in lab.asked if "what=all&done=false" in query]
    page.click("#archive")
    said(page, "is archived.")
    assert projects.get(lab.slug).state == "archived"
    undo(page)
    assert projects.get(lab.slug).state == "open"


def test_settings_send_what_changed_and_deleting_takes_the_name(lab):
    page = lab.open(f"p/{lab.slug}/settings")
    page.check("[name=blind]")
    page.select_option("[name=doubt]", "0")
    page.click("text=Save")
    said(page, "Saved.")
    undo(page)
    assert [one["blind"] for one in lab.sent(f"PATCH {lab.at}")] == [True, False]
    assert [one["doubt"] for one in lab.sent(f"PATCH {lab.at}")] == [0, 0.1]
    row = lab.server.lab.projects.change(lab.slug, CARLA, state="archived")
    page.reload()
    page.click("#delete")
    page.keyboard.type(row.name[:-1])
    expect(page.locator("dialog .danger")).to_be_disabled()
    web.press(page, f"{row.name[-1]} Enter")
    page.wait_for_url(SITE + ROOT)
    assert lab.sent(f"DELETE {lab.at}") == [{"name": row.name}]


def test_closing_an_account_is_asked_and_unknown_pages_are_not_found(lab):
    page = lab.open("people")
    page.click("[aria-label='More about zoe']")
    page.click("[role=menu]:not([hidden]) >> text=Close account")
    page.click("dialog button:text-is('Close account')")
    said(page, "The account of zoe is closed.")
    assert lab.open("p/secret/people").wait_for_selector("h1:text-is('Not found.')")


def test_pages_of_work_have_the_tabs_of_the_role(lab, server):
    for name, role in ROLES.items():
        with window(server, name) as own:
            page = own.open(f"p/{lab.slug}/{'align' if role == 'annotator' else 'dashboard'}")
            page.wait_for_selector("header [aria-haspopup]")
            ours = f":is(header nav, [role=menu]) [href^='{ROOT}p/']"
            tabs = page.eval_on_selector_all(ours, "all => all.map(one => one.textContent)")
            assert tabs[-1] == ("Settings" if role == "owner" else "Export")
            assert len(tabs) == {"owner": 6, "adjudicator": 3, "annotator": 1, "reader": 2}[role]


def test_shells_list_all_formats_and_schemes():
    def options(page, name):
        part = (PAGE / page).read_text().partition(f'<select id="{name}"')[2].split("</select>")[0]
        return set(re.findall(r'<option value="([^"]+)"', part))

    assert options("export.html", "format") == set(WRITTEN)
    assert options("new.html", "scheme") == {*SCHEMES, "own", "none"}
