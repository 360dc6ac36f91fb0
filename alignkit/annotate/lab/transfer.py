"""Routes for what leaves and enters a project: exports, its log, backups and imports."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from alignkit._support.wording import how_many
from alignkit.annotate.adjudication.provenance import Record, provenance
from alignkit.annotate.adjudication.voters import all_in, voters
from alignkit.annotate.exporting import exported_work
from alignkit.annotate.lab import bodies, draft_records, drafting, managing
from alignkit.annotate.lab.drafts import Drafts
from alignkit.annotate.lab.routes import MANAGE, MEMBER, LabEntry, LabVisit, abilities, unknown
from alignkit.annotate.made_pairs import ORIGIN
from alignkit.annotate.project import copies, queries
from alignkit.annotate.server.answers import Download, file_name, pack, packed, text_name
from alignkit.annotate.server.desk import ANNOTATE, DECIDE, LOOK, sent_file
from alignkit.annotate.server.routing import Routes
from alignkit.annotate.server.security import RefusedError, json_reply, taking
from alignkit.io.format import losses, losses_in_words
from alignkit.io.formats import WRITTEN, get_format
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair

ROUTES = Routes(LabEntry)
_EXPORTS = threading.BoundedSemaphore(2)  # downloads at once
_LOOKS = threading.BoundedSemaphore(4)  # dry runs at once
_MOST_EVENTS = 5000  # in an answer
_MOST_BYTES = 16 << 20  # of the events in an answer
_BUSY = "The server is making other downloads."
_MAKERS = ("rewritten_by", "extracted_by")
"""The attributes of made pairs with the names of their makers."""


class _Whose(Enum):
    """Whose work somebody wants to download."""

    OWN = "one's own"
    GOLD = "the gold standard"
    ALL = "everybody's"
    OTHER = "another annotator's"


def _whose(visit: LabVisit, what: str) -> _Whose:
    """Return whose work the query of an export means: gold, all, or a name."""
    if what == visit.name and ANNOTATE in abilities(visit.role):
        return _Whose.OWN
    if what == "gold":
        return _Whose.GOLD
    if what == "all":
        return _Whose.ALL
    return _Whose.OTHER


class _Export:
    """The work that somebody wants to download, and may."""

    def __init__(self, visit: LabVisit, query: bodies.ExportQuery) -> None:
        """Read what is wanted, and refuse it if the visitor's role does not allow it."""
        self.visit = visit
        self.what = query.what
        self.whose = _whose(visit, query.what)
        self.format = query.format
        self.done = query.done
        self.provenance = query.provenance
        if self.format not in WRITTEN:
            raise RefusedError(422, f"The formats are {', '.join(WRITTEN)}.", field="format")
        can = abilities(visit.role)
        if self.has_votes and DECIDE not in can:
            raise unknown()
        if self.whose is _Whose.GOLD and LOOK not in can:
            raise unknown()
        self.store = visit.store
        info = self.store.project()
        self.annotator: str | None = self.what  # None: all
        if self.whose is _Whose.ALL:
            self.annotator = None
        elif self.whose is _Whose.GOLD:
            self.annotator = info.gold
        self.is_empty = self.annotator is not None and self.annotator not in info.annotators
        if self.is_empty and self.whose is _Whose.OTHER:
            raise unknown()
        blind = False
        ready = None
        if self.whose is not _Whose.OWN:
            blind, ready = _limits(visit)
        if blind and self.whose is _Whose.OTHER:
            raise RefusedError(403, "This project hides names. Export the work of everyone.")
        self.numbers = ready if self.has_votes else None
        self.hidden = query.hidden or blind
        self._names = _HiddenNames(visit) if self.hidden else None

    @property
    def has_votes(self) -> bool:
        """Whether it has the votes of others."""
        return self.whose in (_Whose.ALL, _Whose.OTHER)

    def check_format(self) -> None:
        """Refuse a format for the work of one annotator if everybody's is wanted."""
        if self.whose is _Whose.ALL and "annotators" not in get_format(self.format).holds:
            text = "This format holds the links of one annotator. Choose whose, or another format."
            raise RefusedError(422, text, field="format")

    def pairs(self, unfinished: Counter[str]) -> Iterator[SentencePair]:
        """Yield the pairs on which there is any work, also those that annotators made."""
        if self.is_empty:
            return
        pairs = exported_work(
            self.store,
            annotator=self.annotator,
            done=self.done,
            unfinished=unfinished,
            assigned=self.whose is _Whose.OWN,
            numbers=self.numbers,
        )
        for pair in pairs:
            was_made = any(name in pair.attributes for name in ORIGIN.values())
            if pair.annotations or was_made:
                yield pair if self._names is None else self._names.renamed(pair)

    def origins(self) -> Iterator[str]:
        """Yield the decisions behind the gold standard, as lines of JSON."""
        if not self.provenance or self.whose not in (_Whose.ALL, _Whose.GOLD):
            return
        for record in provenance(self.store, done=self.done):
            if self._names is not None:
                self._names.rename(record)
            yield json.dumps(record, ensure_ascii=False) + "\n"

    def nothing(self) -> str:
        """Return why there is nothing to download."""
        if self.whose is not _Whose.GOLD or self.visit.project.task == "extract":
            return "Nothing is done yet."
        ready = how_many(self.visit.desk.pairs_to_decide().count_ready(), "pair", commas=True)
        return f"No gold yet: {ready} can be adjudicated."

    def made(self) -> Download:
        """Write the files."""
        pairs = self.pairs(Counter())
        first = next(pairs, None)
        if first is None:
            raise RefusedError(422, self.nothing())
        stem = self.visit.project.slug
        origins = list(self.origins())
        more = {}
        if origins:
            more[f"{file_name(stem, self.format)}.provenance.jsonl"] = origins
        return packed(chain([first], pairs), self.format, stem, more)


class _HiddenNames:
    """What replaces the names of people: annotator1, annotator2 and so on, adjudicator1 ..."""

    def __init__(self, visit: LabVisit) -> None:
        with visit.store.reading() as conn:
            self._kept = {queries.gold_name(conn), *queries.sources(conn), *queries.roles(conn)}
            self._annotators = queries.annotators(conn)  # people and systems
        self._last = Counter[str]()  # the last number of each kind
        self._shown = {name: name for name in self._kept}
        for name in self._annotators:
            if name not in self._kept:
                self._shown[name] = self._new("annotator")

    def hide(self, name: str) -> str:
        """Return what is shown for a name; who is no annotator adjudicates."""
        if name not in self._shown:
            self._shown[name] = self._new("adjudicator")
        return self._shown[name]

    def _new(self, kind: str) -> str:
        """Return the next name of a kind that is not the name of a system."""
        self._last[kind] += 1
        while f"{kind}{self._last[kind]}" in self._kept:
            self._last[kind] += 1
        return f"{kind}{self._last[kind]}"

    def renamed(self, pair: SentencePair) -> SentencePair:
        """Return a pair with other names of annotators, in its annotations and its attributes."""
        annotations = {}
        for name, annotation in pair.annotations.items():
            start = annotation.start
            if start in self._annotators:  # an alignment, not a set of suggestions
                start = self.hide(start)
            annotations[self.hide(name)] = replace(annotation, start=start)
        attributes = dict(pair.attributes)
        for key in _MAKERS:
            if key in attributes:
                makers = attributes[key].split(",")
                attributes[key] = ",".join(map(self.hide, makers))
        return replace(pair, annotations=annotations, attributes=attributes)

    def rename(self, record: Record) -> None:
        """Put other names into the record of a decision."""
        record["votes"] = {self.hide(name): vote for name, vote in record["votes"].items()}
        for key in ("as", "adjudicator"):
            if record[key]:
                record[key] = self.hide(record[key])


def _limits(visit: LabVisit) -> tuple[bool, set[int] | None]:
    """Return whether names are hidden, and the pairs whose votes may be seen (None: all)."""
    if MANAGE in abilities(visit.role):
        return False, None
    with visit.store.reading() as conn:
        ready = {k for k, those in voters(conn).items() if all_in(those)}
        blind = bool(queries.settings(conn).blind)
    return blind, ready


@ROUTES.add(
    "GET",
    "projects/{slug}/export",
    MEMBER,
    gives=bodies.ExportPlan,
    files=("application/octet-stream", "application/zip"),
    also=(413, 507),
)
def export(visit: LabVisit, query: bodies.ExportQuery) -> Response:
    """Download work, or say what would be downloaded."""
    wanted = _Export(visit, query)
    if query.dry_run:
        with taking(_LOOKS, busy=_BUSY):
            return json_reply(_plan(wanted))
    wanted.check_format()
    if wanted.whose is _Whose.ALL:
        visit.check_proved()
    with taking(_EXPORTS, busy=_BUSY):
        reply = sent_file(wanted.made)
    after = {name: getattr(wanted, name) for name in ("format", "done", "provenance", "hidden")}
    if wanted.has_votes and not wanted.done:
        after["own_open_pairs"] = _open_pairs(visit)
    visit.log("export", wanted.what, after)
    return reply


def _plan(wanted: _Export) -> bodies.ExportPlan:
    """Return what a download would have: its files, losses, and what is not finished."""
    plan = bodies.ExportPlan([], [], 0, message="")
    try:
        wanted.check_format()
        _count(wanted, plan)
    except RefusedError as refused:
        plan.message = refused.message
    if not plan.files:
        plan.message = plan.message or wanted.nothing()
    if MANAGE in abilities(wanted.visit.role):
        _add_backup(wanted.visit, plan)
    return plan


def _count(wanted: _Export, plan: bodies.ExportPlan) -> None:
    """Add the files of a download to its plan, if there are any pairs, with counts and losses."""
    unfinished = Counter[str]()
    lost = Counter[str]()
    kind = get_format(wanted.format)
    pairs = 0
    links = 0
    for pair in wanted.pairs(unfinished):
        pairs += 1
        for alignment in pair.alignments.values():
            links += len(alignment.possible)
        lost.update(losses(pair, kind.holds))
    plan.lost = losses_in_words(lost)
    plan.unfinished = unfinished.total()
    if not pairs:
        return
    stem = wanted.visit.project.slug
    name = file_name(stem, wanted.format)
    shown = name if "." in name else f"{name}.zip"  # a format of several files
    plan.files.append((shown, f"{how_many(pairs, 'pair', commas=True)}, {links:,} links"))
    if kind.text_beside:
        plan.files += [(text_name(stem, side), "words") for side in SIDES]
    decisions = sum(1 for _ in wanted.origins())
    if decisions:
        plan.files.append((f"{name}.provenance.jsonl", f"{decisions:,} decisions"))


def _add_backup(visit: LabVisit, plan: bodies.ExportPlan) -> None:
    """Add to a plan how large a backup is, and when the last was made."""
    place = Path(visit.store.path)
    plan.backup = place.stat().st_size if place.exists() else None
    for row in visit.lab.audit.rows(limit=1000, project=visit.project.slug):
        if row.action == "backup":
            plan.last = row.at, row.actor
            return


def _open_pairs(visit: LabVisit) -> int:
    """Return how many pairs a visitor who annotates has not done, but now sees others' work on."""
    if ANNOTATE not in abilities(visit.role):
        return 0
    for row in visit.store.progress_of_all():
        if row.annotator == visit.name:
            return row.pairs - row.done
    return 0


@ROUTES.add(
    "GET",
    "projects/{slug}/backup",
    MANAGE,
    files=("application/octet-stream",),
    also=(413, 507),
    sealed=True,
    proved=True,
)
def backup(visit: LabVisit) -> Response:
    """Download the whole project as a file."""
    store = visit.store
    slug = visit.project.slug
    draft_records.check_space(gettempdir())

    def made() -> Download:
        with TemporaryDirectory() as folder:
            file = Path(folder) / f"{slug}.alignkit"
            root = Path(folder) / "out"
            copies.back_up(store, str(file))
            root.mkdir()
            file.rename(root / file.name)  # alone, if anything was left beside it
            return pack(root, slug)

    with taking(_EXPORTS, busy=_BUSY):
        reply = sent_file(made)
    visit.log("backup", slug, {"own_open_pairs": _open_pairs(visit)})
    return reply


@ROUTES.add("GET", "projects/{slug}/events", DECIDE, files=("application/jsonl",))
def events(visit: LabVisit, query: bodies.EventsQuery) -> Response:
    """Return events after a number, as lines of JSON; the last number stands in a header."""
    after = query.after
    limit = min(query.limit, _MOST_EVENTS)
    blind, numbers = _limits(visit)
    if blind:
        raise RefusedError(403, "This project hides names.")
    lines = []
    size = 0
    with visit.store.reading() as conn:
        open_pairs = _own_open_pairs(conn, visit)
        for seen, event in enumerate(queries.log_events(conn, after)):
            if seen >= limit or size > _MOST_BYTES:
                break
            after = event.n
            if event.k in open_pairs and event.annotator != visit.name:
                continue  # until they are done: a program that reads all events again gets these
            if numbers is None or event.k in numbers:
                lines.append(msgspec.json.encode(event) + b"\n")
                size += len(lines[-1])
    headers = {"X-Last-N": str(after)}
    return Response(b"".join(lines), headers=headers, media_type="application/jsonl")


def _own_open_pairs(conn: Connection, visit: LabVisit) -> set[int]:
    """Return the pairs that a person who annotates has not done yet."""
    pairs: set[int] = set()
    if ANNOTATE not in abilities(visit.role):
        return pairs
    for k, those in voters(conn).items():
        for voter in those:
            if voter.name == visit.name and not voter.done:
                pairs.add(k)
    return pairs


@ROUTES.add("POST", "projects/{slug}/import", MANAGE, also=(413, 507))
def bring_in(visit: LabVisit, sent: bodies.NewImport) -> bodies.ImportDone:
    """Import a draft into the project."""
    drafts: Drafts = visit.server.drafts
    if drafts.get(visit.name, sent.draft).project != visit.project.slug:
        raise RefusedError(422, "This draft is not for this project.", field="draft")
    with drafting.alone(sent.draft), managing.refusing():
        done = drafts.bring_in(visit.name, sent, visit.lab.project_place(visit.project.key))
    if not sent.dry_run:
        visit.log("import", visit.project.slug, dict(done.counts))
    return done
