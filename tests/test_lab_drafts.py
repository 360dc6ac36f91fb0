"""Drafts keep to their limits, belong to one person, and become projects and imports."""

import os
import stat
import subprocess
import sys
import threading
import time
from collections import namedtuple
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra [annotate]")

from adjudicated_project import two_annotators

from alignkit import Aligner
from alignkit.annotate.lab import drafts as module
from alignkit.annotate.lab.bodies import ChangeDraft, NewImport, NewProject, Suggestions
from alignkit.annotate.lab.draft_child import _create
from alignkit.annotate.lab.drafts import DraftJob, Drafts
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.security import RefusedError
from alignkit.annotate.server.sessions import Sessions
from alignkit.errors import AlignkitError

EN, DE, LINKS = b"the house\na b\n", b"das haus\nx y\n", b"0-0 1-1\n0-0\n"
FILES = {"news.en": EN, "news.de": DE, "auto.align": LINKS}


class Child:
    """Stands for a child process: it works until it is let go."""

    made: list
    wait = threading.Event()

    def __init__(self, job, *_, **__):
        self.job, self.result = job, b""
        self._stopped = False
        Child.made.append(self)

    def run(self):
        self.began = time.monotonic()
        while not (Child.wait.is_set() or self._stopped):
            time.sleep(0.002)
        if self._stopped:
            raise ProjectError("the child process was killed")
        self.job.record.draft.pairs, self.job.record.draft.ready = 2, True
        self.result = module.json.encode(self.job.record)

    def stop(self):
        self._stopped = True

    def close(self):
        pass


@pytest.fixture
def drafts(tmp_path):
    made = Drafts(tmp_path / "drafts")
    yield made
    made.close()


@pytest.fixture
def held(monkeypatch):
    Child.made, Child.wait = [], threading.Event()
    monkeypatch.setattr(module, "ChildProcess", Child)
    return Child


def upload(drafts, account, id, files):
    numbers = [drafts.add(account, id, name, len(data)) for name, data in files.items()]
    for n, data in zip(numbers, files.values(), strict=True):
        with drafts.receive(account, id, n) as write:
            for at in range(0, len(data), 5):
                write(data[at : at + 5])
    return numbers


def until(true):
    end = time.monotonic() + 60
    while not (value := true()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return value


def read(drafts, account, id):
    return until(lambda: not (draft := drafts.get(account, id)).reading and draft)


def refuses(status, call, *args, **options):
    with pytest.raises(RefusedError) as caught:
        call(*args, **options)
    assert caught.value.status == status
    return str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        *("", "../x", "/etc/passwd", "a/../b", "a/b/c", ".hidden", "x\0", "x\n", "C:\\x", "a//b"),
        *("CON", "nul.txt", "Com1", "d/aux.en", "x" * 300, "trailing.", "trailing ", "-", "~"),
        *("news.EN", "NEWS.en", "news.en/x", "cafe\u0301.TXT", "dir", "a\u202eb"),
    ],
)
def test_names_that_could_harm_or_collide_are_refused(drafts, name):
    id = drafts.create("anna").id
    for known in ("news.en", "caf\xe9.txt", "dir/x"):
        drafts.add("anna", id, known, 1)
    refuses(422, drafts.add, "anna", id, name, 1)
    assert drafts.add("anna", id, "dir/y \xe9.+-_", 1) == 4


def test_files_are_stored_under_numbers_for_the_owner_alone(drafts, tmp_path):
    id = drafts.create("anna").id
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (drafts.path(id) / "1").symlink_to(outside)
    upload(drafts, "anna", id, {"news.en": EN})
    stored = drafts.path(id) / "1"
    assert (stored.is_symlink(), stored.read_bytes(), outside.read_text()) == (False, EN, "mine")
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    assert stat.S_IMODE(drafts.path(id).stat().st_mode) == 0o700


def test_limits_of_files_drafts_and_the_disk(drafts, monkeypatch):
    id = drafts.create("anna").id
    mb = 1 << 20
    assert "larger than 256 MB" in refuses(413, drafts.add, "anna", id, "big", 1 << 30)
    drafts.add("anna", id, "one", 256 * mb)
    drafts.add("anna", id, "two", 256 * mb)
    refuses(413, drafts.add, "anna", id, "three", 1)
    drafts.remove_file("anna", id, 2)
    for k in range(19):
        assert drafts.add("anna", id, f"f{k}", 1) == k + 3
    refuses(409, drafts.add, "anna", id, "more", 1)
    for _ in range(2):
        drafts.create("anna")
    refuses(409, drafts.create, "anna")
    other = drafts.create("ben").id
    n = drafts.add("ben", other, "x", 9)
    usage = namedtuple("Usage", "total used free")
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: usage(9, 9, (1 << 30) + 5))
    refuses(507, drafts.add, "ben", other, "y", 6)
    for data, status in ((b"a" * 6, 507), (b"a" * 5, 409), (b"a" * 10, 413)):
        with pytest.raises(RefusedError) as caught, drafts.receive("ben", other, n) as write:
            write(data)
        assert caught.value.status == status
    with pytest.raises(RefusedError, match="completely"), drafts.receive("ben", other, n):
        refuses(409, drafts.receive("ben", other, n).__enter__)
    refuses(413, drafts.add, "ben", other, "empty", 0)
    assert [path.name for path in drafts.path(other).iterdir()] == ["draft.json"]
    assert drafts.get("ben", other).files[0].received == 0


def test_a_draft_is_that_of_its_maker_for_a_day(drafts, monkeypatch, held):
    id = drafts.create("anna").id
    upload(drafts, "anna", id, {"x": b"1"})
    for ask in (drafts.get, drafts.remove, lambda *who: drafts.receive(*who, 1).__enter__()):
        refuses(404, ask, "ben", id)
        refuses(404, ask, "anna", "0" * 32)
        refuses(404, ask, "anna", "../" + id)
    assert [draft.id for draft in drafts.drafts("anna")] == [id]
    assert drafts.drafts("ben") == []
    now = time.time()
    monkeypatch.setattr(module.time, "time", lambda: now + 24 * 3600 + 1)
    refuses(404, drafts.get, "anna", id)
    drafts.create("ben")
    assert not drafts.path(id).exists()


def test_one_child_a_person_and_two_in_all(drafts, held):
    ids = [(who, drafts.create(who).id) for who in ("anna", "anna", "ben", "cleo")]
    for who, id in ids:
        upload(drafts, who, id, {"x": b"1"})
    until(lambda: len(held.made) == 2)
    time.sleep(0.05)
    assert len({child.job.record.account for child in held.made}) == len(held.made) == 2
    held.wait.set()
    assert all(read(drafts, *each).ready for each in ids)
    assert len(held.made) == 4


def test_changes_and_removal_stop_the_child_and_nothing_is_left(drafts, held):
    id = drafts.create("anna").id
    upload(drafts, "anna", id, {"x": b"1", "y": b"2"})
    until(lambda: len(held.made) == 1)
    draft = drafts.get("anna", id)
    assert (draft.reading, draft.ready, draft.etag) == (True, False, "4")
    changed = drafts.change("anna", id, ChangeDraft(task="judge", kinds={"1": "source"}))
    assert (changed.task, changed.etag) == ("judge", "5")
    until(lambda: len(held.made) == 2)
    assert held.made[1].job.record.kinds == {"1": "source"}
    drafts.remove("anna", id)
    until(lambda: not drafts.path(id).exists() and not drafts._progress)
    refuses(422, drafts.change, "anna", drafts.create("anna").id,
            ChangeDraft(options={"x" * 41: ""}))  # fmt: skip


def test_a_draft_survives_a_restart(drafts, tmp_path, held):
    id = drafts.create("anna").id
    upload(drafts, "anna", id, {"x": b"1"})
    until(lambda: held.made)
    drafts.close()
    until(lambda: not drafts._progress)
    assert drafts.path(id).exists()
    held.wait.set()
    again = Drafts(tmp_path / "drafts")
    assert read(again, "anna", id).ready
    assert again.get("anna", id).problem == ""


def test_a_killed_child_is_a_problem_in_words(drafts, held):
    id = drafts.create("anna").id
    upload(drafts, "anna", id, {"x": b"1"})
    until(lambda: held.made).pop().stop()
    assert "too much time or memory" in read(drafts, "anna", id).problem


def test_a_draft_becomes_a_project_and_is_gone(drafts, tmp_path):
    id, place = drafts.create("anna").id, str(tmp_path / "p.alignkit")
    upload(drafts, "anna", id, FILES)
    draft = read(drafts, "anna", id)
    pair = drafts.preview("anna", id, 2)
    assert (pair.k, pair.pairs, pair.id, pair.by) == (2, 2, "2", "auto")
    assert (pair.source, pair.target, pair.links) == (["a", "b"], ["x", "y"], [(0, 0, 2)])
    assert pair.direction == {"source": "ltr", "target": "ltr"}
    refuses(404, drafts.preview, "anna", id, 3)
    auto = Suggestions("initial", "auto")
    new = NewProject(id, draft.etag, "News", suggestions=auto, blind=True)
    refuses(409, drafts.make, "anna", module.structs.replace(new, etag="0"), place)
    for odd, said in (({"suggestions": Suggestions("initial", "ben")}, "ben cannot"),
                      ({"gold": "auto"}, "another name for gold"), ({"scheme": "x"}, "known: "),
                      ({"task": "extract"}, "read for the task align"),
                      ({"suggestions": Suggestions("model", "x")}, "x cannot")):  # fmt: skip
        job = DraftJob(str(drafts.path(id)), drafts._load("anna", id), place)
        with pytest.raises(AlignkitError, match=said):
            _create(job, module.structs.replace(new, **odd))
        assert not os.path.exists(place)
    drafts.make("anna", new, place)
    with Store.open(place) as store:
        info, plan = store.project(), Sessions(store.database).plan
    assert (info.name, info.pairs, info.annotators, info.task) == ("News", 2, ["auto"], "align")
    assert (plan.kind, plan.name, plan.pending, plan.learning) == ("initial", "auto", True, True)
    refuses(404, drafts.get, "anna", id)
    assert list(drafts._folder.iterdir()) == []


def test_a_model_of_the_draft_is_copied_for_the_project(drafts, tmp_path):
    Aligner.train([(["a"], ["b"])]).save(tmp_path / "m")
    id, place, model = drafts.create("anna").id, str(tmp_path / "p"), str(tmp_path / "kept.model")
    files = {"x.en": EN, "x.de": DE, "my.model": (tmp_path / "m").read_bytes()}
    upload(drafts, "anna", id, files)
    draft = read(drafts, "anna", id)
    new = NewProject(id, draft.etag, "x", suggestions=Suggestions("model", "my.model"))
    drafts.make("anna", new, place, model)
    with Store.open(place) as store:
        assert Sessions(store.database).plan.name == model
    Aligner.load(model)


def test_a_project_is_adopted_and_its_work_merged(drafts, tmp_path):
    two_annotators(path := str(tmp_path / "old"), 2)
    with Store.open(path) as store:
        log = list(store.log())
    place = str(tmp_path / "p")
    for project in ("", "p"):
        id = drafts.create("anna", project).id
        upload(drafts, "anna", id, {"old.alignkit": Path(path).read_bytes()})
        draft = read(drafts, "anna", id)
        if project:
            done = drafts.bring_in("anna", NewImport(id, draft.etag), place)
            assert dict(done.counts)["annotations unchanged"] == 4
            continue
        none = Suggestions("none")
        drafts.make("anna", NewProject(id, draft.etag, "New", suggestions=none), place)
        with Store.open(place) as store:
            assert list(store.log())[: len(log)] == log
            assert store.project().name == "New"


def test_imports_are_tried_first_and_counted_as_by_the_command(drafts, tmp_path):
    place = str(tmp_path / "p")
    line = '{"id": "%s", "source": ["%s"], "target": ["b"], "annotations": {"ben": {"sure": ""}}}\n'
    steps = [("", "1 a", {}), ("p", "1 c", {"words_only": True}), ("p", "2 a", {"add_pairs": True})]
    for project, pair, how in steps:
        id = drafts.create("anna", project).id
        upload(drafts, "anna", id, {"x.jsonl": (line % tuple(pair.split())).encode()})
        draft = read(drafts, "anna", id)
        if not project:
            drafts.make("anna", NewProject(id, draft.etag, "x"), place)
            continue
        for dry in (True, False):
            new = NewImport(id, draft.etag, **how, dry_run=dry)
            done = drafts.bring_in("anna", new, place)
            counts = dict(done.counts)
            assert done.dry_run == dry
            assert counts["pairs of the project"] == (how == {"words_only": True})
            assert counts["pairs with corrected words"] == ("words_only" in how)
            assert counts["pairs added"] == counts["annotations new"] == ("add_pairs" in how)
            with Store.open(place) as store:
                assert store.project().pairs == 1 + (not dry and "add_pairs" in how)
        refuses(404, drafts.get, "anna", id)
    with Store.open(place) as store:
        assert store.pair(1, "ben").source == ["c"]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize(
    ("code", "said"),
    [("bytearray(600 << 20)", "MemoryError"), ("while True: pass", "takes too much time"),
     ("open('x', 'wb').write(bytes(9 << 20))", "File too large")],
)  # fmt: skip
def test_the_child_has_limits(tmp_path, code, said):
    start = "from alignkit.annotate.lab.draft_child import _limit as x; x(500 << 20, 2, 8 << 20)\n"
    ran = subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True,
                         check=False, cwd=tmp_path)  # fmt: skip
    assert ran.returncode == 1
    assert said in ran.stderr
