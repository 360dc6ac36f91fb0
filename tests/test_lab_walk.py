"""A lab in fifteen minutes: from an empty folder to gold, each person in a browser of their own."""

import json
import os
import re
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytest.importorskip("starlette", reason="needs the extra [annotate]")
from annotate_browser import BROWSER, chromium, serious, shrink, until
from lab_site import PASSWORD, Person, rows_of, site, write_corpus
from playwright.sync_api import expect

from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store

expect.set_options(timeout=20_000)
pytestmark = [*BROWSER, pytest.mark.timeout(300)]
PROJECT = "projects/news"
PICTURES = os.environ.get("ALIGNKIT_PICTURES")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def picture(person, name):
    if PICTURES:
        person.page.screenshot(path=f"{PICTURES}/lab-{name}.png")
        shrink(f"{PICTURES}/lab-{name}.png")


def silent(person):
    """Axe finds nothing on the page, and no script failed."""
    assert serious(person.page) == []
    assert person.faults == []


def named_by_browsers(files):
    """Give files the names that browsers and people write."""
    names = ["news (1).en", "news (1).de", "auto (1).align"]
    return [
        str(Path(file).rename(Path(file).with_name(name)))
        for file, name in zip(files, names, strict=True)
    ]


def links(carla, name):
    """Invite somebody; return the link that is shown once."""
    page = carla.page
    account, role, display = name
    page.locator("#display").fill(display)
    page.locator("#name").fill(account)
    page.locator("#role").select_option(role)
    page.get_by_role("button", name="Create link").click()
    shown = page.locator("#link")
    expect(shown).to_contain_text(f"Send this to {display}")
    return re.search(
        r"https://\S+#[\w-]+",
        shown.inner_text()
        + " "
        + " ".join(page.locator("#link input").evaluate_all("all => all.map(each => each.value)")),
    )[0]


def open_pair(person, k=None):
    """Open the page for annotating; wait until a pair is drawn."""
    person.go("p/news/align" + (f"?pair={k}" if k else ""))
    ready(person)


def ready(person):
    """Wait until a pair is drawn and keys act."""
    expect(person.page.locator("body")).to_have_attribute("data-state", "ready")
    expect(person.page.locator("main:not([aria-busy]) .cells .mark").first).to_be_attached()


def finish(person, k, keys=""):
    """Change something, mark the pair done, and go to the next."""
    for key in (*keys.split(), "Control+Enter"):
        person.page.keyboard.press(key)
    until(lambda: person.api(f"{PROJECT}/pairs/{k}?prefetch=1")[1]["state"]["done"])


def saved(person):
    expect(person.page.locator("#saved")).to_have_text("Saved", timeout=20000)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    with site(folder, free_port) as (lab, link):
        names = ("carla", "anna", "ben", "cleo")
        yield lab, link, {name: Person(chromium()[1], lab, name) for name in names}


def test_a_lab_in_fifteen_minutes(lab, tmp_path):
    lab, first, people = lab
    carla, anna, ben, cleo = people.values()

    # 1. the first owner
    carla.join(first, "carla")
    expect(carla.page.get_by_text("No projects yet.")).to_be_visible()
    assert anna.page.goto(first)
    expect(anna.page.locator("#problem")).to_contain_text("was used already")

    # 2. a project from three files, one link of which is bad
    carla.go("")
    carla.page.get_by_role("button", name="New project").click()
    carla.page.wait_for_url("**/new/*", wait_until="networkidle")
    carla.page.locator("#file").set_input_files(named_by_browsers(write_corpus(tmp_path)))
    expect(carla.page.locator("#files")).to_contain_text("auto (1).align")
    expect(carla.page.locator("#detected-text")).to_contain_text("Pharaoh", timeout=30000)
    expect(carla.page.locator("#findings")).to_contain_text("outside")
    expect(carla.page.locator("#pairs")).to_contain_text("24")
    carla.page.get_by_label("Name", exact=True).fill("News")
    expect(carla.page.locator("#pair-note")).to_contain_text("annotators do not see these links")
    carla.page.get_by_label("the links of auto").check()
    expect(carla.page.locator("#pair-note")).to_have_text("○ suggested by auto")
    picture(carla, "new")
    carla.page.get_by_role("button", name="Create project").click()
    carla.page.wait_for_url("**/p/news/assign", timeout=30000)

    # 3. people
    carla.go("p/news/people")
    roles = (
        ("anna", "annotator", "Anna Kiss"),
        ("ben", "annotator", "Ben J\xfcrgens"),
        ("cleo", "adjudicator", "Cleo"),
    )
    invited = {row[0]: links(carla, row) for row in roles}
    picture(carla, "people")
    for name, link in invited.items():
        people[name].join(link)
    ben.page.goto(invited["anna"])
    expect(ben.page.locator("#problem")).to_contain_text("was used already")
    anna.go("")
    expect(anna.page.get_by_text("Nothing to do.")).to_be_visible()

    # 4. assignment: all to both, without a control sample; a move and back
    carla.go("p/news/assign")
    carla.page.locator("[name=by][value=two]").check()
    carla.page.locator("[name=sample][value='0']").check()
    expect(carla.page.locator("#shares")).to_contain_text("24")
    picture(carla, "assign")
    carla.page.locator("#assign").click()
    expect(carla.page.get_by_text(re.compile("pairs assigned"))).to_be_visible()
    status, shares = carla.api(f"{PROJECT}/assign", "POST", {"dry_run": True, "double": 1.0})
    assert status == 200, shares
    assert {row["annotator"]: row["pairs"] for row in shares["shares"]} == {"anna": 24, "ben": 24}
    carla.page.locator("#from").select_option("ben")
    carla.page.locator("#to").select_option("")
    carla.page.locator("#count").fill("2")
    carla.page.locator("#go").click()
    expect(carla.page.get_by_text("2 pairs moved")).to_be_visible()
    carla.page.get_by_role("button", name="Undo").click()
    expect(carla.page.get_by_text("Undone.")).to_be_visible()

    # 5. annotation; ben is offline for a while
    for person in (anna, ben):
        person.go("")
        if person is anna:
            picture(person, "anna-card")
        person.page.get_by_role("link", name=re.compile("Start")).click()
        expect(person.page.locator("body")).to_have_attribute("data-state", "ready")
    order = anna.api(f"{PROJECT}/queue?limit=4")[1]["pairs"]
    both = [row["k"] for row in order]
    for k in both:
        open_pair(anna, k)
        finish(anna, k, "A")
    for k in both[:3]:
        open_pair(ben, k)
        finish(ben, k, "A")
    open_pair(ben, both[3])
    ben.network(offline=True)
    for key in ("A", "ArrowDown", "s", "ArrowDown", "s"):
        ben.page.keyboard.press(key)
    expect(ben.page.locator("#saved")).to_contain_text("kept in this browser", timeout=20000)
    ben.network()
    ben.page.reload()
    ready(ben)
    saved(ben)
    finish(ben, both[3])
    assert anna.api(f"{PROJECT}/gold")[0] == 404
    assert anna.api(f"{PROJECT}/gold/{both[0]}")[0] == 404
    assert anna.api(f"{PROJECT}/agreement")[0] == 404
    assert carla.api(f"{PROJECT}/pairs/{both[0]}")[0] == 404

    # 6. anna signs in in ben's profile; ben's tab says so, and his edit goes out once he is back
    open_pair(ben, both[3])
    other = ben.context.new_page()
    ben.take_over(other, "anna", "ben")
    ben.page.keyboard.press("ArrowUp")
    ben.page.keyboard.press("d")
    expect(ben.page.locator("#saved")).to_contain_text("anna signed in here", timeout=20000)
    expect(ben.page.locator("#saved")).to_contain_text("kept in this browser")
    picture(ben, "taken-over")
    before = edits(carla)
    ben.take_over(other, "ben", "anna")
    open_pair(ben, both[3])
    saved(ben)
    assert edits(carla) == before + 1

    # 7. adjudication
    cleo.go("")
    until(lambda: "adjudicate" in cleo.page.inner_text("main") or cleo.go("") is None)
    cleo.go("p/news/adjudicate")
    expect(cleo.page.locator("body")).to_have_attribute("data-state", "ready")
    for k in both:
        cleo.go(f"p/news/adjudicate?pair={k}")
        expect(cleo.page.locator("body")).to_have_attribute("data-state", "ready")
        for key in ("1", "1", "1", "2", "s", "Control+Enter"):
            cleo.page.keyboard.press(key)
        saved(cleo)
        until(lambda k=k: cleo.api(f"{PROJECT}/gold/{k}")[1]["state"]["done"])
    until(lambda: cleo.api(f"{PROJECT}/gold")[1]["done"] == 4)
    carla.go("p/news/dashboard")
    expect(carla.page.locator("main")).to_contain_text("F1", timeout=30000)
    anna.go("p/news/dashboard")
    expect(anna.page.locator("body")).to_contain_text("Not found")

    # 8. gold and a backup
    carla.go("p/news/export")
    with carla.page.expect_download(timeout=60_000) as download:
        carla.page.get_by_role("button", name="Download", exact=True).click()
    gold = tmp_path / "gold.jsonl"
    unpack(download.value.path(), gold)
    assert len(rows_of(gold)) == 4
    score = subprocess.run(
        [
            sys.executable,
            "-m",
            "alignkit",
            "score",
            str(gold),
            "--hyp-annotator",
            "gold",
            "--ref-annotator",
            "gold",
            "--json",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"f1": 1.0' in score.stdout
    assert all("gold" in row["annotations"] for row in rows_of(gold))
    with carla.page.expect_download(timeout=60_000) as download:
        carla.page.get_by_role("button", name=re.compile("Download backup")).click()
    backup = tmp_path / "news.alignkit"
    backup.write_bytes(download.value.path().read_bytes())
    with Store.open(str(backup), readonly=True) as store:
        assert not replay(store).differences
        assert [event.id for event in store.log()] == [row["id"] for row in list_events(carla)]

    # 9. closing, archiving, deleting
    carla.go("people")
    for person in (carla, anna, cleo):
        silent(person)
    status, accounts = carla.api("accounts")
    etag = next(row["etag"] for row in accounts["accounts"] if row["name"] == "ben")
    assert carla.api("prove", "POST", {"password": PASSWORD})[0] == 204
    assert carla.api("accounts/ben", "PATCH", {"etag": etag, "state": "closed"})[0] == 200
    ben.page.keyboard.press("s")
    expect(ben.page.locator("#saved")).to_contain_text("closed", timeout=20000)
    carla.go("p/news/export")
    carla.page.get_by_role("button", name="Archive project").click()
    until(lambda: carla.api(PROJECT)[1]["state"] == "archived")
    edit = {"base": 0, "rev": 1, "events": []}
    assert anna.api(f"{PROJECT}/pairs/{both[0]}/events", "POST", edit)[0] == 423
    assert carla.api(PROJECT, "DELETE", {"name": "News"})[0] == 204
    assert carla.api(PROJECT)[0] == 404
    actions = [row["action"] for row in carla.api("audit?limit=1000")[1]["rows"]]
    for action in ("joined", "project made", "link made", "role set", "project deleted"):
        assert action in actions
    text = str(carla.api("audit?limit=1000"))
    assert PASSWORD not in text
    assert "haus" not in text


def list_events(person):
    status, text = person.api(f"{PROJECT}/events?after=0")
    assert status == 200, text
    return [json.loads(line) for line in text.splitlines() if '"id"' in line]


def edits(person):
    return sum(event["kind"] == "edit" for event in list_events(person))


def unpack(source, target):
    """Take the corpus out of a download, which is a zip if there is provenance."""
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            name = next(name for name in archive.namelist() if "provenance" not in name)
            target.write_bytes(archive.read(name))
    else:
        target.write_bytes(source.read_bytes())
