"""Serve a project for tests: in a thread of this process, or by the command in one of its own."""

import atexit
import http.client
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

pytest.importorskip("starlette", reason="needs the extra [annotate]")
pytest.importorskip("sqlalchemy", reason="needs the extra [annotate]")

from command import start

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate.creation import create_project
from alignkit.annotate.project.names import Visitor
from alignkit.annotate.server.child import Job, SuggestionPlan
from alignkit.annotate.server.invitations import invited
from alignkit.annotate.server.listening import allowed_hosts, listen
from alignkit.annotate.server.opening import Opening
from alignkit.annotate.server.security import Entrance
from alignkit.annotate.server.server import AnnotationServer
from alignkit.annotate.server.serving import Server
from alignkit.annotate.server.sessions import admit

NASTY = "<script>alert(1)</script>"


def corpus(pairs=3):
    source, target = ("the", "old", "house", NASTY), ("das", "alte", "haus")
    initial = {"auto": Alignment.parse("0-0 1?1")}
    return Corpus(SentencePair(f"p{k}", source, target, initial) for k in range(1, pairs + 1))


class Client:
    """Ask a server, as a browser that has entered or as anybody else."""

    def __init__(self, port, host="127.0.0.1"):
        self.port, self.host = port, f"{host}:{port}"
        self.cookie = self.csrf = ""
        self._connection = None

    def ask(self, method, path, body=None, **changes):
        """Send a request; None takes a header out, as in ``Origin=None``."""
        headers = {"Host": self.host, "Cookie": self.cookie, "X-CSRF-Token": self.csrf}
        if method == "POST":
            headers |= {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        headers |= {name.replace("_", "-"): value for name, value in changes.items()}
        headers = {name: value for name, value in headers.items() if value}
        if body is not None and not isinstance(body, (bytes, Iterator)):
            body = json.dumps(body).encode()
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            self._connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            return self._answer(self._connection, headers, body)
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def _answer(self, connection, headers, body):
        chunked = isinstance(body, Iterator)
        if chunked:
            headers["Transfer-Encoding"] = "chunked"
        elif body is not None and "Content-Length" not in headers:
            headers["Content-Length"] = str(len(body))
        for name, value in headers.items():
            connection.putheader(name, value)
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before all was read
            connection.endheaders(body, encode_chunked=chunked)
        reply = connection.getresponse()
        answer = Answer(reply.status, dict(reply.getheaders()), reply.read())
        if reply.will_close:
            self.close()
        return answer

    def close(self):
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def enter(self, token):
        answer = self.ask("POST", "/enter", {"token": token})
        if answer.status == 200:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
            self.csrf = answer.json["csrf"]
        return answer

    def link(self, k, i, j, before, after, **more):
        data = {"how": "cell", "cells": [[i, j, before, after]]}
        event = {"id": str(uuid4()), "kind": "edit", "v": 1, "client_at": "", "data": data} | more
        return self.ask("POST", f"/api/pairs/{k}/events", {"base": 0, "rev": 1, "events": [event]})


def entered(server, project, name, role="annotator"):
    """Return a client of somebody who was given a link to enter by."""
    url = invited(project, Visitor(name, role))
    assert url is not None
    client = Client(server.port)
    assert client.enter(urlsplit(url).fragment).status == 200
    return client


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {name.lower(): value for name, value in headers.items()}

    @property
    def json(self):
        return json.loads(self.body)


class Served:
    def __init__(self, opening, entrance, port):
        self.opening, self.entrance, self.port = opening, entrance, port
        self.clients = []

    @property
    def url(self):
        """The address by which a browser may enter; each is for one."""
        return f"http://127.0.0.1:{self.port}/#{self.entrance.token}"

    def invite(self, name, role="annotator"):
        visitor = Visitor(name, role)
        admit(self.opening.opened.store, visitor)
        return self.entrance.invite(visitor)

    def visitor(self, name, role="annotator"):
        client = self.client(enter=False)
        assert client.enter(self.invite(name, role)).status == 200
        return client

    def client(self, *, enter=True, host="127.0.0.1"):
        client = Client(self.port, host)
        self.clients.append(client)
        if enter:
            assert client.enter(self.entrance.token).status == 200
        return client


@contextmanager
def served(project, *, plan=None, goes_on=False, annotator="anna", names=(), port=0, **more):
    notes = []
    job, none = Job(project, annotator=annotator), SuggestionPlan("none")
    given = None if goes_on else plan or none
    opening = Opening(job, given, fallback=none, note=notes.append)
    entrance, listener = Entrance(opening.visitor), listen("127.0.0.1", port, project)
    port = listener.getsockname()[1]
    hosts, ready = allowed_hosts("127.0.0.1", port, names), threading.Event()
    app = AnnotationServer(opening, entrance, hosts, lambda: "<p>guidelines</p>", **more).app
    server = Server(app, ready.set)
    thread = threading.Thread(target=server.serve_until_stopped, args=[listener])
    thread.start()
    opening.start(server.end)
    try:
        until_ready(opening)  # a problem may end the server before it begins
        assert ready.wait(30)
        running = Served(opening, entrance, port)
        yield running
        for client in running.clients:
            client.close()
    finally:
        server.end()
        thread.join(30)
        opening.stop()
        assert not notes or plan is not None, notes


def until_ready(opening):
    while opening.progress is not None and opening.problem is None:
        time.sleep(0.01)
    assert opening.problem is None, opening.problem


def make(folder, pairs=3):
    path = str(folder / "work.alignkit")
    create_project(path, corpus(pairs))
    return path


class Process:
    def __init__(self, *words, entered=True):
        self.process = start("annotate", *words, "--no-browser", stdout=subprocess.PIPE)
        atexit.register(self.process.kill)  # where a test failed before its end
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://"), self.process.stderr.read()
        address, _, self.token = self.url.partition("/#")
        self.client = Client(int(address.rpartition(":")[2]))
        if entered:
            assert self.client.enter(self.token).status == 200

    def end(self, signal):
        self.client.close()
        self.process.send_signal(signal)
        _, err = self.process.communicate(timeout=30)
        return self.process.returncode, err
