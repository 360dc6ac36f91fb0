"""A lab in this process for tests: people of all roles, each with a browser."""

import time
from contextlib import contextmanager

from annotation import small_corpus
from starlette.testclient import TestClient

from alignkit.annotate.creation import create_project
from alignkit.annotate.lab.lab import Lab
from alignkit.annotate.lab.server import Address, LabServer
from alignkit.annotate.lab.values import Actor

CARLA, HOME, API = Actor("carla"), "192.0.2.1", "/api/v1/"
ROLES = {
    "olga": "owner",
    "adam": "adjudicator",
    "anna": "annotator",
    "ben": "annotator",
    "rita": "reader",
}


def password(name):
    return f"the password of {name}"


class Person(TestClient):
    """A browser, or a program with a token."""

    def __init__(self, server, name="", token=""):
        super().__init__(server.app, "http://lab.example", raise_server_exceptions=False)
        self.name, self.csrf, self.token = name, "", token
        if name and not token:
            self.enter()

    def enter(self):
        sent = {"name": self.name, "password": password(self.name)}
        answer = self.ask("POST", "session", sent)
        assert answer.status_code == 201, answer.text
        self.csrf = answer.json()["csrf"]

    def ask(self, method, path, body=None, **headers):
        known = {"x-csrf-token": self.csrf, "authorization": self.token and f"Bearer {self.token}"}
        known |= {name.replace("_", "-"): value for name, value in headers.items()}
        known = {name: value for name, value in known.items() if value}
        given = {"content": body} if isinstance(body, bytes) else {"json": body}
        given = given if body is not None else {}
        return self.request(method, API + path, headers=known, **given)

    def got(self, method, path, body=None, status=200, **headers):
        answer = self.ask(method, path, body, **headers)
        assert answer.status_code == status, answer.text
        return answer.json() if status != 204 else None


class Served(LabServer):
    """A server with its people; `of` gives the browser of one."""

    def of(self, name):
        if name not in self.people:
            self.people[name] = Person(self, name)
        return self.people[name]

    def project(self, name="News", corpus=None, **more):
        """Make a project with all roles."""
        row = self.lab.projects.make(name, "align", "en-de", CARLA)
        create_project(self.lab.project_place(row.key), corpus or small_corpus(6), **more)
        self.lab.projects.opened(row.key, CARLA)
        for who, role in ROLES.items():
            self.lab.projects.add_existing(row.slug, who, role, False, CARLA)
        return row.slug


@contextmanager
def serving(folder, url="http://lab.example/"):
    lab = Lab.open(str(folder / "lab"), serve=True)
    token = lab.links.first_owner()
    lab.links.use(token, password("carla"), name="carla", address=HOME)
    for name in (*ROLES, "zoe", "max", "clem"):
        link = lab.links.create("invite", name, CARLA)
        lab.links.use(link.token, password(name), address=HOME)
    lab.accounts.change("max", CARLA, may_create=True)
    server = Served(lab, Address.of(url))
    server.people = {}
    try:
        yield server
    finally:
        server.close()
        lab.close()


def until(true, seconds=30):
    end = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return value
