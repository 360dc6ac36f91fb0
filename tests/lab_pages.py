"""The pages of a lab against canned answers, made of the Structs of the API."""

import json
import re
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlsplit

import annotate_browser as web
import msgspec
from starlette.requests import Request

from alignkit.annotate.lab import bodies as api
from alignkit.annotate.server.assets import Assets
from alignkit.annotate.server.security import _HEADERS

SITE = "http://lab.example"
ROOT = "/lab/"
SHELLS = {"": "projects", "people": "accounts"}
LATE = "2026-11-20T14:02:00Z"
SHARE = api.AssignShare("anna", 360, 0, 205, 210, 0, 88, 180, 180, 88)
BODIES = {
    "POST session": api.SignIn, "POST join/look": api.JoinLook, "POST join": api.Join,
    "POST prove": api.Prove, "PATCH me": api.ChangePassword, "POST me/tokens": api.NewToken,
    "PATCH accounts/.*": api.ChangeAccount, "PATCH projects/[^/]*": api.ChangeProject,
    "DELETE projects/[^/]*": api.DeleteProject, "POST projects": api.NewProject,
    "POST drafts": api.NewDraft, "POST drafts/d1/files": api.NewFile,
    "PATCH drafts/d1": api.ChangeDraft, "POST projects/news/import": api.NewImport,
    "PUT projects/news/people/[^/]*": api.ChangePerson, "POST projects/news/links": api.NewLink,
    "POST projects/news/assign": api.NewAssignment, "POST projects/news/move": api.Move,
}  # fmt: skip


def fault(status, error, message, field=""):
    return status, api.Fault(error, message, field)


def card(slug="news", **more):
    values = {
        "slug": slug, "name": slug.title(), "task": "align", "languages": "en-de", "state": "open",
        "pairs": 600, "done": 309, "mine": (0, 0), "reopened": [], "left": None, "role": "owner",
        "annotates": False, "needs": api.Need("adjudicate", "37 to adjudicate"),
        "annotators": ["anna", "ben"], "last": LATE, "made": LATE, "etag": "p1"}  # fmt: skip
    settings = api.ProjectSettings("Be careful.", True, False, False, "gold", "from auto", None)
    return api.ProjectDetail(**(values | more), settings=settings)


def person(name, role="annotator", **more):
    values = {"annotates": False, "state": "open", "pairs": 360, "done": 205, "seen": LATE,
              "link": "", "expires": "", "etag": f"{name} 1"}  # fmt: skip
    return api.Person(name, role, **(values | more))


def draft(**more):
    kinds = [("source", "Source words"), ("target", "Target words"), ("links", "Links: Pharaoh")]
    names = ("news.en", "news.de", "auto.align")
    choices = [api.DraftChoice("drop", "Leave out"), api.DraftChoice("stop", "Stop")]
    values = {
        "id": "d1", "etag": "d 1", "project": "", "task": "align", "reading": False,
        "files": [api.DraftFile(n, name, 48_000, 48_000, kinds[n][0], kinds, "")
                  for n, name in enumerate(names)],
        "progress": "", "detected": "Pharaoh links, counted from 0, source first",
        "options": [api.DraftOption("base", "Counted from", "0",
                                    [api.DraftChoice("0", "0"), api.DraftChoice("1", "1")])],
        "pairs": 600, "languages": "en-de", "annotators": ["auto.align"], "models": [],
        "findings": [api.DraftFinding("outside", "2 links point outside their sentence", [217, 430],
                                 choices, "drop")],
        "ready": True, "problem": "", "name": "News"}  # fmt: skip
    return api.Draft(**(values | more))


def preview(k):
    links = [(0, 2, 2), (1, 2, 1), (3, 3, 2)]
    sides = {"source": "ltr", "target": "ltr"}
    return api.Preview(k, 600, f"s{k}", web.SOURCE, web.TARGET, links, "auto.align", "", sides)


def answers():
    me = api.Me("carla", "owner", True, "k1", [api.MyRole("news", "News", "owner", False)])
    session = api.SessionRow("s1", "Firefox on Linux", "10.0.0.7", LATE, LATE, True)
    token = api.TokenRow("t1", "backup", "ak_12345", "", True, LATE, LATE)
    audit = api.AuditRow(7, LATE, "carla", "page", "10.0.0.7", "news", "role", "cleo",
                         "annotator", "adjudicator")  # fmt: skip
    people = [person("anna"), person("ben"), person("carla", "owner", pairs=0),
              person("cleo", "adjudicator", pairs=0, done=61),
              person("dora", state="invited", link="l1", expires=LATE)]  # fmt: skip
    plan = api.NewAssignment(["anna"], double=0.4, control=0.1)
    shares = [SHARE, msgspec.structs.replace(SHARE, annotator="ben", pairs=120, new=120, begun=0)]
    files = [("gold.jsonl", "61 pairs, 1,263 links"), ("gold.jsonl.provenance.jsonl", "274")]
    return {
        "GET me": me, "GET projects": {"projects": [card()]}, "GET projects/news": card(),
        "GET projects/news/people": api.People(people, ["old"]),
        "(GET|POST) projects/news/assign": api.AssignTable("plan 1", 120, 120, shares, [], plan),
        "POST projects/news/move": api.Moved(2, [8, 9], ""),
        "GET projects/news/export": api.ExportPlan(files, ["labels"], 37, "", 3_200_000,
                                                   (LATE, "carla")),
        "GET me/sessions": {"sessions": [session]}, "GET me/tokens": {"tokens": [token]},
        "GET audit": {"rows": [audit]}, "GET drafts": {"drafts": []}, "POST drafts": draft(),
        "GET drafts/d1": draft(), "PATCH drafts/d1": draft(),
        "GET drafts/d1/preview/(.*)": lambda ask: preview(int(ask.path.split("/")[-1])),
        "POST drafts/d1/files": {"n": 3}, "PUT drafts/d1/files/3": (204, None),
        "GET accounts": {"accounts": [
            api.AccountRow("carla", "owner", True, "open", LATE, LATE, 2, "a1"),
            api.AccountRow("dora", "member", False, "open", LATE, LATE, 0, "a2")]},
    }  # fmt: skip


class Asked:
    """A request as the lab gets it; its body has been checked."""

    def __init__(self, request):
        url = urlsplit(request.url)
        self.path = url.path.removeprefix(f"{ROOT}api/v1/")
        self.name = f"{request.method} {self.path}"
        self.query, self.headers = dict(parse_qsl(url.query)), request.headers
        self.bytes, self.body = request.post_data_buffer, None
        kind = next((kind for name, kind in BODIES.items() if re.fullmatch(name, self.name)), None)
        if kind is not None:
            self.body = msgspec.json.decode(self.bytes or b"{}", type=kind)


class FakeLab:
    """Serve the shells as the lab does; answer from a table, and keep what was asked."""

    def __init__(self, context):
        self.context, self.files = context, Assets(ROOT)
        self.anew()
        context.route(f"{SITE}/**", self.serve)

    def anew(self):
        """Forget what was asked and answered."""
        self.answers, self.asked, self.problems, self.bytes = answers(), [], [], 0

    def serve(self, route):
        path = urlsplit(route.request.url).path.removeprefix(ROOT)
        if path.startswith("api/v1/"):
            return self.answer(route)
        first, *rest = path.split("/")
        name, slug = (rest[1], rest[0]) if first == "p" else (SHELLS.get(first, first), "")
        name = rest[0] if first == "page" else f"{name}.html"
        request = Request({"type": "http", "headers": [(b"accept-encoding", b"gzip")]})
        self.bytes += len(self.files.reply(request, name, slug).body)
        reply = self.files.reply(Request({"type": "http", "headers": []}), name, slug)
        return route.fulfill(body=bytes(reply.body), headers={**reply.headers, **_HEADERS})

    def answer(self, route):
        try:
            asked = Asked(route.request)
        except msgspec.MsgspecError as error:
            self.problems.append(f"{route.request.url}: {error}")
            return route.fulfill(status=422, body="{}")
        self.asked.append(asked)
        reply = next((value for name, value in self.answers.items()
                      if re.fullmatch(name, asked.name)), fault(404, "unknown", "Not found."))  # fmt: skip
        reply = reply(asked) if callable(reply) else reply
        if reply == "offline":
            return route.abort()
        status, value = reply if isinstance(reply, tuple) else (200, reply)
        body = b"" if status == 204 else msgspec.json.encode(value)
        headers = {"Content-Disposition": 'attachment; filename="news.jsonl"'}
        return route.fulfill(status=status, body=body, headers=headers)

    def sent(self, name):
        """Return the bodies of all requests of a name, as they were sent."""
        return [json.loads(ask.bytes or b"null") for ask in self.asked if ask.name == name]

    def open(self, path):
        """Open a page; its errors are kept."""
        return web.opened(self.context, SITE + ROOT + path, self.problems)


@contextmanager
def lab(**options):
    with web.browser(**options) as context:
        context.add_init_script("localStorage.alignkit = 'k1'; localStorage['alignkit k1'] = 'c'")
        context.set_default_timeout(5000)
        yield FakeLab(context)
