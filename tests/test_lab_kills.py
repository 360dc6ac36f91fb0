"""The server of a lab is killed while people edit, again and again: all acknowledged is kept."""

import multiprocessing
import os
import random
import sys
import threading
from contextlib import closing
from http.client import HTTPException
from uuid import uuid4

import pytest

pytest.importorskip("starlette", reason="needs the extra [annotate]")

from annotation import small_corpus
from annotation_server import Client
from lab_server import CARLA, HOME, password
from repetitions import repetitions

from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.creation import create_project
from alignkit.annotate.lab import passwords
from alignkit.annotate.lab.lab import Lab
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store
from alignkit.cli import main

NAMES = "anna", "ben", "cleo"
PAIR = "/api/v1/projects/news/pairs/{}"
QUICK = multiprocessing.get_context("forkserver")  # has imported all that a server needs


def serve(place, told):
    """Run the command, with its messages in a file."""
    sys.stderr = open(told, "w", encoding="utf-8", buffering=1)  # noqa: SIM115 - until it is killed
    sys.argv = ["alignkit", "serve", place, "--port", "0"]
    main()


class Load(threading.Thread):
    """Draw and erase links of a pair until the server is gone; after so many edits, kill it."""

    def __init__(self, port, session, k, server, left):
        super().__init__(daemon=True)
        self.client, self.k, self.server, self.left = Client(port), k, server, left
        self.client.cookie, self.client.csrf = session
        self.kept = []
        self.start()

    def run(self):
        path = PAIR.format(self.k)
        with closing(self.client):
            try:
                while (answer := self.client.ask("GET", path)).status == 503:
                    pass  # the project is not open yet
                assert answer.status == 200, answer.body
                state = answer.json["state"]
                value = 2 * any(cell == [0, 0] for *cell, _ in state["cells"])
                seq = state["seq"]
                while True:
                    cells = {"how": "cell", "cells": [[0, 0, value, 2 - value]]}
                    event = {"id": str(uuid4()), "kind": "edit", "v": 1, "data": cells}
                    sent = {"base": seq, "rev": 1, "events": [event]}
                    answer = self.client.ask("POST", f"{path}/events", sent)
                    assert answer.status == 201, answer.body
                    self.kept.append(event["id"])
                    value, seq = 2 - value, answer.json["seq"]
                    self.left.pop()
            except IndexError:  # enough: the others are in the middle of theirs
                self.server.kill()
            except (OSError, HTTPException):
                pass  # the server was killed


@pytest.mark.slow
def test_no_acknowledged_edit_is_lost_when_the_server_of_a_lab_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(passwords, "COST", (2, 1, 1))
    place, told = str(tmp_path / "lab"), str(tmp_path / "told")
    with closing(Lab.open(place)) as lab:
        lab.links.use(lab.links.first_owner(), password("carla"), name="carla", address=HOME)
        row = lab.projects.make("News", "align", "", CARLA)
        project = lab.project_place(row.key)
        create_project(project, small_corpus(4))
        lab.projects.opened(row.key, CARLA)
        links = [lab.links.create("invite", name, CARLA, project=row.slug) for name in NAMES]
        known = [lab.links.use(link.token, password("x"), address=HOME) for link in links]
    with Store.open(project) as store:
        assign_pairs(store, NAMES, double=1)
        work = [[row.k for row in store.queue(name).pairs[:2]] for name in NAMES]
    sessions = [(f"alignkit-{lab.key}={session.cookie}", session.csrf) for session in known]
    os.mkfifo(told)
    QUICK.set_forkserver_preload(["alignkit.annotate.lab.server", "alignkit.cli.annotate.serve"])
    rng, kept = random.Random(0), []
    for _ in range(repetitions(50)):
        server = QUICK.Process(target=serve, args=(place, told))
        server.start()
        with open(told, encoding="utf-8") as lines:
            port = int(lines.readline().partition("127.0.0.1:")[2].partition("/")[0])
        left = list(range(rng.randint(1, 12)))
        both = zip(sessions, work, strict=True)
        loads = [Load(port, session, k, server, left) for session, ks in both for k in ks]
        for load in loads:
            load.join(30)
            kept += load.kept
        server.join()
    with Store.open(project) as store:
        events = list(store.log())
        assert set(kept) <= {event.id for event in events}
        assert len(kept) > repetitions(50)
        assert [event.n for event in events] == list(range(1, len(events) + 1))
        assert not replay(store).differences
