"""Routes for what leaves and enters a project: exports, its log, backups and imports."""

from __future__ import annotations

import json
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import NamedTuple

import msgspec
from sqlalchemy import select
from starlette.responses import Response

from alignkit.annotate.adjudication.comparison import all_in, voters
from alignkit.annotate.adjudication.provenance import provenance
from alignkit.annotate.exporting import ORIGIN, exported_work
from alignkit.annotate.lab import bodies
from alignkit.annotate.lab.assigning import refusing
from alignkit.annotate.lab.routes import MANAGE, MEMBER, Entry, LabVisit, abilities, unknown
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.copying import back_up
from alignkit.annotate.server.answers import Download, file_name, pack, packed
from alignkit.annotate.server.desk import ANNOTATE, DECIDE, LOOK, sent_file
from alignkit.annotate.server.security import RefusedError
from alignkit.io.format import losses
from alignkit.io.formats import WRITTEN, get_format
from alignkit.model.sentence_pair import SentencePair

_EXPORTS = threading.BoundedSemaphore(2)
_MOST_EVENTS, _MOST_BYTES, _FREE = 5000, 16 << 20, 1 << 30
_MAKERS = "rewritten_by", "extracted_by"


class _Export(NamedTuple):
    """What somebody wants and may have."""

    what: str
    format: str
    done: bool
    provenance: bool
    hidden: bool
    own: bool
    numbers: set[int] | None  # the only pairs whose votes they may see
    gold: str

    def pairs(self, visit: LabVisit, unfinished: Counter[str]) -> Iterator[SentencePair]:
        """Yield the pairs on which there is any work."""
        known = visit.store.project().annotators
        name = {"all": None, "gold": self.gold}.get("" if self.own else self.what, self.what)
        if name is not None and name not in known:
            if self.what == "gold":
                return
            raise unknown()
        hide = _hider(visit) if self.hidden else None
        for pair in exported_work(
            visit.store, annotator=name, done=self.done, unfinished=unfinished, assigned=self.own,
            numbers=self.numbers,
        ):  # fmt: skip
            if pair.annotations or pair.attributes.keys() & ORIGIN.values():
                yield pair if hide is None else _renamed(pair, hide)

    def origins(self, visit: LabVisit) -> Iterator[str]:
        """Yield the decisions behind the gold standard, as lines of JSON."""
        if not self.provenance or self.own or self.what not in ("gold", "all"):
            return
        hide = _hider(visit) if self.hidden else str
        for record in provenance(visit.store, done=self.done):
            record["votes"] = {hide(name): vote for name, vote in record["votes"].items()}
            for key in ("as", "adjudicator"):
                record[key] = record[key] and hide(record[key])
            yield json.dumps(record, ensure_ascii=False) + "\n"


def _hider(visit: LabVisit) -> Callable[[str], str]:
    """Return what replaces the names of people by annotator1, annotator2 and so on."""
    with visit.store.database.reading() as conn:
        kept = {queries.gold_name(conn), *queries.sources(conn), *queries.roles(conn)}
        people = [name for name in queries.annotators(conn) if name not in kept]
    shown = {name: name for name in kept}
    shown |= {name: f"annotator{n}" for n, name in enumerate(people, 1)}
    others = len(shown) - 1
    return lambda name: shown.setdefault(name, f"adjudicator{len(shown) - others}")


def _renamed(pair: SentencePair, hide: Callable[[str], str]) -> SentencePair:
    annotations = {hide(name): x for name, x in pair.annotations.items()}
    made = {name: pair.attributes[name] for name in _MAKERS if name in pair.attributes}
    made = {name: ",".join(map(hide, by.split(","))) for name, by in made.items()}
    return replace(pair, annotations=annotations, attributes={**pair.attributes, **made})


def _ready(visit: LabVisit) -> set[int]:
    """Return the pairs that all have done, whose votes adjudicators may see."""
    with visit.store.database.reading() as conn:
        return {k for k, those in voters(conn).items() if all_in(those)}


def _is_blind(visit: LabVisit) -> bool:
    with visit.store.database.reading() as conn:
        return bool(conn.execute(select(schema.project.c.blind)).scalar())


def _wanted(visit: LabVisit) -> _Export:
    what, format = visit.word("what", "gold"), visit.word("format", "alignkit-jsonl")
    if format not in WRITTEN:
        raise RefusedError(422, f"The formats are {', '.join(WRITTEN)}.", field="format")
    can = abilities(visit.role)
    own = what == visit.name and ANNOTATE in can
    if not own and (LOOK if what == "gold" else DECIDE) not in can:
        raise unknown()
    visit.opened()
    others = not own and what != "gold"
    hides = MANAGE not in can and not own and _is_blind(visit)
    if hides and others and what != "all":
        raise RefusedError(403, "This project hides names. Export the work of everyone.")
    numbers = _ready(visit) if others and MANAGE not in can else None
    return _Export(
        what, format, visit.flag("done"), visit.flag("provenance"), visit.flag("hidden") or hides,
        own, numbers, visit.store.project().gold,
    )  # fmt: skip


def _holds(wanted: _Export) -> frozenset[str]:
    holds = get_format(wanted.format).holds
    if wanted.what == "all" and not wanted.own and "annotators" not in holds:
        text = "This format holds the links of one annotator. Choose whose, or another format."
        raise RefusedError(422, text, field="format")
    return holds


def export(visit: LabVisit) -> object:
    """Download work, or say what would be downloaded."""
    wanted = _wanted(visit)
    if visit.flag("dry_run"):
        return _plan(visit, wanted)
    _holds(wanted)
    everything = wanted.what == "all" and not wanted.own
    if everything:
        visit.check_proved()
    with _exporting():
        reply = sent_file(lambda: _made(visit, wanted))
    names = ("format", "done", "provenance", "hidden")
    after = {name: getattr(wanted, name) for name in names}
    if everything and not wanted.done:
        after["own_open_pairs"] = _open_pairs(visit)
    _log(visit, "export", wanted.what, after)
    return reply


@contextmanager
def _exporting() -> Iterator[None]:
    if not _EXPORTS.acquire(blocking=False):
        raise RefusedError(429, "Two downloads are being made. Try again in a minute.")
    try:
        yield
    finally:
        _EXPORTS.release()


def _made(visit: LabVisit, wanted: _Export) -> Download:
    pairs = wanted.pairs(visit, Counter())
    first = next(pairs, None)
    if first is None:
        raise RefusedError(422, _nothing(visit, wanted))

    def every() -> Iterator[SentencePair]:
        yield first
        yield from pairs

    stem, origins = visit.project.slug, list(wanted.origins(visit))
    beside = {f"{file_name(stem, wanted.format)}.provenance.jsonl": origins} if origins else {}
    return packed(every(), wanted.format, stem, beside)


def _plan(visit: LabVisit, wanted: _Export) -> bodies.ExportPlan:
    unfinished, lost = Counter[str](), Counter[str]()
    pairs = links = 0
    files, message, name = [], "", file_name(visit.project.slug, wanted.format)
    try:
        holds = _holds(wanted)
        for pair in wanted.pairs(visit, unfinished):
            pairs += 1
            links += sum(len(x.possible) for x in pair.alignments.values())
            lost.update(losses(pair, holds))
    except RefusedError as refused:
        if refused.status != 422:
            raise
        message = refused.message
    if pairs:
        files.append((name, f"{pairs:,} pairs, {links:,} links"))
        if get_format(wanted.format).text_beside:
            files += [(f"{visit.project.slug}.{side}", "words") for side in ("source", "target")]
        if count := sum(1 for _ in wanted.origins(visit)):
            files.append((f"{name}.provenance.jsonl", f"{count:,} decisions"))
    plan = bodies.ExportPlan(files, list(lost), unfinished.total(), message)
    if not pairs:
        plan.message = message or _nothing(visit, wanted)
    if MANAGE in abilities(visit.role):
        place = Path(visit.store.path)
        plan.backup = place.stat().st_size if place.exists() else None
        rows = visit.lab.audit.rows(limit=1000, project=visit.project.slug)
        plan.last = next(((row.at, row.actor) for row in rows if row.action == "backup"), None)
    return plan


def _nothing(visit: LabVisit, wanted: _Export) -> str:
    if wanted.what != "gold" or wanted.own or visit.project.task == "extract":
        return "Nothing is done yet."
    ready = sum(row.state != "done" for row in visit.desk.pairs_to_decide().rows())
    return f"No gold yet: {ready:,} pairs can be adjudicated."


def _open_pairs(visit: LabVisit) -> int:
    """Return how many pairs somebody still has to do, who sees the others' work now."""
    progress = {row.annotator: row.pairs - row.done for row in visit.store.progress_of_all()}
    return progress.get(visit.name, 0) if ANNOTATE in abilities(visit.role) else 0


def backup(visit: LabVisit) -> Response:
    """Download the whole project as a file."""
    store, slug = visit.opened().store, visit.project.slug
    if shutil.disk_usage(gettempdir()).free < _FREE:
        raise RefusedError(507, "The lab's disk is full. Ask its owner to free some space.")

    def made() -> Download:
        with TemporaryDirectory() as folder:
            back_up(store, str(Path(folder) / f"{slug}.alignkit"))
            return pack(Path(folder), slug)

    with _exporting():
        reply = sent_file(made)
    _log(visit, "backup", slug, {"own_open_pairs": _open_pairs(visit)})
    return reply


def _log(visit: LabVisit, action: str, target: str, after: Mapping[str, object]) -> None:
    visit.lab.audit.write(visit.actor, action, target, project=visit.project.slug, after=after)


def events(visit: LabVisit) -> Response:
    """Return events after a number, as lines of JSON; the last number stands in a header."""
    after, limit = visit.number("after", 0), min(visit.number("limit", 1000), _MOST_EVENTS)
    visit.opened()
    numbers = None
    if MANAGE not in abilities(visit.role):
        if _is_blind(visit):
            raise RefusedError(403, "This project hides names.")
        numbers = _ready(visit)
    lines, size = [], 0
    with visit.store.database.reading() as conn:
        for count, event in enumerate(queries.log_events(conn, after)):
            if count >= limit or size > _MOST_BYTES:
                break
            after = event.n
            if numbers is None or event.k in numbers:
                lines.append(msgspec.json.encode(event) + b"\n")
                size += len(lines[-1])
    headers = {"X-Last-N": str(after)}
    return Response(b"".join(lines), headers=headers, media_type="application/jsonl")


def bring_in(visit: LabVisit) -> object:
    """Import a draft into the project."""
    sent, drafts = visit.sent, visit.server.drafts
    if drafts.get(visit.name, sent.draft).project != visit.project.slug:
        raise RefusedError(422, "This draft is not for this project.", field="draft")
    with refusing():
        done = drafts.bring_in(visit.name, sent, visit.lab.project_place(visit.project.key))
    if not sent.dry_run:
        _log(visit, "import", visit.project.slug, dict(done.counts))
    return done


_PROJECT = "projects/{slug}"
ENTRIES = [
    Entry("GET", f"{_PROJECT}/export", MEMBER, export, gives=bodies.ExportPlan),
    Entry("GET", f"{_PROJECT}/events", DECIDE, events, gives=bytes),
    Entry("GET", f"{_PROJECT}/backup", MANAGE, backup, gives=bytes, sealed=True, proved=True),
    Entry("POST", f"{_PROJECT}/import", MANAGE, bring_in, bodies.NewImport, bodies.ImportDone),
]
