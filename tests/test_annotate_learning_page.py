"""In a browser: what is done is learned for the next pairs, an open pair stays as it is."""

import os
import time
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import annotate_browser as web
from annotation_server import entered
from command import PARAPHRASES
from playwright.sync_api import expect

from alignkit import Alignment, read_corpus
from alignkit.annotate.project.names import ADJUDICATOR, Visitor
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.invitations import invited

pytestmark = web.BROWSER
SAMPLES = list(read_corpus(PARAPHRASES))
PICTURES = os.environ.get("ALIGNKIT_PICTURES")


def finish(client, k):
    doc, links = client.ask("GET", f"/api/pairs/{k}").json, _links(SAMPLES[k - 1])
    cells = [[i, j, 0, 2 if (i, j) in links.sure else 1] for i, j in links]
    shown = str(doc["suggestions"]["set"])
    events = [
        ("open", {"rev": 1, "suggestions": True, "set": shown}),
        ("edit", {"how": "cell", "cells": cells}),
        ("done", {"before": False, "after": True}),
    ]
    sent = [{"id": str(uuid4()), "kind": kind, "data": data} for kind, data in events]
    body = {"base": doc["state"]["seq"], "rev": 1, "events": sent}
    assert client.ask("POST", f"/api/pairs/{k}/events", body).status == 201
    return shown


def _links(one):
    """Return those of equal words, which are learned soon; for pictures, those of the samples."""
    if PICTURES:
        return one.alignment("anna")
    source, target = one.words
    return Alignment(
        (i, j)
        for i, word in enumerate(source)
        for j, other in enumerate(target)
        if word.casefold() == other.casefold()
    )


def shown(page, k):
    return str(web.pair(page, k)["suggestions"]["set"])


def test_what_is_done_is_learned_for_pairs_that_nobody_has_opened(tmp_path):
    rows = [{"id": one.id, "source": one.words[0], "target": one.words[1]} for one in SAMPLES]
    corpus = web.write_corpus(tmp_path / "corpus.jsonl", rows)
    project, problems = f"{corpus}.alignkit", []
    with web.serving(corpus, "--suggestions", "trained", annotator="ben") as server:
        with web.browser() as context, closing(entered(server, project, "anna")) as anna:
            page = web.enter(context, server.url, problems)
            page.goto(page.url.split("?")[0].split("#")[0] + "?pair=12")
            page.wait_for_selector("body[data-pair='12']")
            web.saved(page)
            assert all(finish(anna, k).startswith(("trained", "learned-")) for k in range(1, 9))
            store = Store.open(project, readonly=True)
            with closing(store):
                web.until(lambda: _set(store, 14).startswith("learned-"), 150)
                before = web.pair(page, 12)["suggestions"]
                assert before["set"] == "trained"
                web.press(page, "Control+Enter", to=13)
                web.saved(page)
                first = _set(store, 13)  # what was fetched ahead is not shown any more
                assert first.startswith("learned-")
                finish(anna, 9)
                web.until(lambda: _set(store, 14) != first, 150)
                assert _set(store, 13) == first
                page.reload()
                page.wait_for_selector("body[data-pair='13']")
                assert (shown(page, 13), web.pair(page, 12)["suggestions"]) == (first, before)
                opens = [event for event in store.history(13, "ben") if event.kind == "open"]
                assert all(f'"set":"{first}"'.encode() in bytes(event.data) for event in opens)
                assert opens
                assert not replay(store).differences
        _see_corrections(server, project)
    assert not problems


def _set(store, k):
    found = store.pair(k, "anna").suggestions
    return "" if found is None else found.set


def _see_corrections(server, project):
    if PICTURES:  # more of them, and in time
        with closing(entered(server, project, "anna")) as anna:
            for k in (*range(10, 12), *range(14, 60)):
                finish(anna, k)
                time.sleep(1)
    url = invited(project, Visitor("carla", ADJUDICATOR))
    assert url is not None
    problems = []
    with web.browser() as context:
        page = web.opened(context, url.replace("/adjudicate#", "/dashboard#"), problems)
        page.wait_for_selector("#corrections:not([hidden]) figure path.mean", timeout=60_000)
        web.until(lambda: page.locator("#corrections circle").count() >= 10)
        web.until(lambda: page.locator("#corrected-parts tr").count() >= 2)
        expect(page.locator("#corrected-parts")).to_contain_text("learned from")
        expect(page.locator("#learning")).to_contain_text("done pairs")
        label = page.get_attribute("#corrections svg", "aria-label")
        assert label.startswith("Corrections per pair over 1" if not PICTURES else "Corrections")
        assert all(not web.serious(page) for _ in web.views(page))
        if PICTURES:
            picture = Path(PICTURES, "corrections.png")
            page.locator("#corrections").screenshot(path=picture)
            web.shrink(picture)
    assert not problems
