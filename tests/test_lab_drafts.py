"""Drafts keep to their limits, belong to one person, and become projects and imports."""

import re
import shutil
import stat
import subprocess
import sys
import threading
import time
from collections import namedtuple
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra [annotate]")

from adjudicated_project import two_annotators
from draft_jobs import do_jobs_here
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json, structs

from alignkit import Aligner
from alignkit.annotate.lab import draft_children
from alignkit.annotate.lab.bodies import ChangeDraft, NewImport, NewProject, Suggestions
from alignkit.annotate.lab.draft_child import _create
from alignkit.annotate.lab.draft_records import DraftJob, MakeProject
from alignkit.annotate.lab.drafts import Drafts
from alignkit.annotate.lab.file_names import check_shown_name, stored_names
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import ChildKilledError, ChildProcess, Job
from alignkit.annotate.server.security import RefusedError
from alignkit.annotate.server.sessions import Sessions
from alignkit.errors import AlignkitError

EN, DE, LINKS = b"the house\na b\n", b"das haus\nx y\n", b"0-0 1-1\n0-0\n"
FILES, MB = {"news.en": EN, "news.de": DE, "auto.align": LINKS}, 1 << 20


class Child:
    """Stands for a child process: it works until it is let go."""

    def __init__(self, job, *_, **__):
        self.job, self.result, self._stopped = job, b"", False
        Child.made.append(self)

    def run(self):
        while not (Child.wait.is_set() or self._stopped):
            time.sleep(0.002)
        if self._stopped:
            raise ChildKilledError("the child process was killed")
        self.job.record.draft.pairs, self.job.record.draft.ready = 2, True
        self.result = json.encode(self.job.record)

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
    monkeypatch.setattr(draft_children, "ChildProcess", Child)
    return Child


class Own:
    """A draft of somebody, with its files."""

    def __init__(self, drafts, files=None, project="", who="anna"):
        self.drafts, self.who, self.id = drafts, who, drafts.create(who, project).id
        self.path, files = drafts.path(self.id), files or {}
        numbers = [self.add(name, len(data)) for name, data in files.items()]
        for n, data in zip(numbers, files.values(), strict=True):
            with self.receive(n) as write:
                for at in range(0, len(data), 5):
                    write(data[at : at + 5])

    def __getattr__(self, name):
        return partial(getattr(self.drafts, name), self.who, self.id)

    def read(self):
        return until(lambda: not (draft := self.get()).reading and draft)

    def make(self, place, etag=None, model="", **how):
        new = NewProject(self.id, etag or self.read().etag, **{"name": "News", **how})
        self.drafts.make(self.who, new, place, model)

    def bring(self, place, **how):
        new = NewImport(self.id, self.read().etag, **how)
        done = self.drafts.bring_in(self.who, new, place)
        assert done.dry_run == new.dry_run
        return dict(done.counts)


def until(true):
    end = time.monotonic() + 60
    while not (value := true()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return value


def refuses(status, call, *args):
    with pytest.raises(RefusedError) as caught:
        call(*args)
    assert caught.value.status == status
    return str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../x",
        "/etc/passwd",
        "a/../b",
        "a/b/c",
        ".hidden",
        "..",
        "x\0",
        "x\n",
        "x\ud800",
        "a//b",
        " ",
        *("x" * 201, "dir/.git"),
        "news.EN",
        "NEWS.en",
        "news.en/x",
        "cafe\u0301.TXT",
        "dir",
        "a\u202eb",
    ],
)
def test_names_that_could_harm_or_collide_are_refused(drafts, name):
    draft = Own(drafts)
    for known in ("news.en", "caf\xe9.txt", "dir/x"):
        draft.add(known, 1)
    refuses(422, draft.add, name, 1)
    assert draft.add("dir/y \xe9.+-_", 1) == 4


LONG = "\u5b57" * 190 + ".tsv.gz"


def test_any_name_that_can_be_shown_is_stored_under_one_that_is_safe():
    plain = ["news.en", "dir/x.txt", "a_b.tsv", "sp ace+1-2.x"]
    odd = [
        "corpus (1).tsv",
        "anna's links.tsv",
        "a&b.tsv",
        "a|b.tsv",
        "-",
        "~",
        "$(rm).x",
        "C:\\x",
        "CON",
        "nul.txt",
        "d&e/aux.en",
        "d'e/aux.en",
        "trailing.",
        "trailing ",
        "p.alignkit-wal",
        "\u0645\u06cc\u200c\u062e.tsv",
        "\U0001d49c.en",
        LONG,
        "https:/evil.example",
        "#p_KEY",
        "--output=x",
    ]
    stored = stored_names([*odd, *plain])
    assert [stored[name] for name in plain] == plain
    assert len({name.casefold() for name in stored.values()}) == len(stored)
    for name in stored.values():
        for part in name.split("/"):
            assert re.fullmatch(r"\w[\w.+ -]*(?<![ .])", part), name
            assert len(part.encode()) <= 255
            assert not re.match(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)", part)
    assert stored["a&b.tsv"] == "2-a_b.tsv"
    assert stored["a|b.tsv"] == "3-a_b.tsv"
    assert stored["d&e/aux.en"].split("/")[0] != stored["d'e/aux.en"].split("/")[0]
    assert stored[LONG].endswith(".tsv.gz")


@pytest.mark.parametrize("size", [1, 34, 50, 100, 150])
@pytest.mark.parametrize("letter", ["a", "\u00e9", "\u8a9e", "\U0001d49c"])
def test_long_names_keep_their_ends_and_no_letter_is_stored_twice(letter, size):
    name = f"<{letter * size}.tsv"
    (stored,) = stored_names([name]).values()
    assert stored.endswith(".tsv")
    assert stored.count(letter) <= size
    assert len(stored.encode()) <= 210
    if len(name) <= 100 and len(name.encode()) <= 200:
        assert stored.endswith(name[1:])


@given(st.lists(st.text(min_size=1, max_size=9), max_size=8, unique=True))
def test_stored_names_are_safe_and_distinct(names):
    shown = []
    for name in names:
        with suppress(RefusedError):
            check_shown_name(name, shown)
            shown.append(name)
    stored = stored_names(shown)
    assert len({name.casefold() for name in stored.values()}) == len(shown)
    for name in stored.values():
        assert all(re.fullmatch(r"\w[\w.+ -]*(?<![ .])", part) for part in name.split("/"))


def test_files_are_stored_under_numbers_for_the_owner_alone(drafts, tmp_path):
    (outside := tmp_path / "outside").write_text("mine")
    draft = Own(drafts)
    (stored := draft.path / "1").symlink_to(outside)
    draft.add("news.en", 1)
    with draft.receive(1) as write:
        write(b"a")
    assert (stored.is_symlink(), stored.read_bytes(), outside.read_text()) == (False, b"a", "mine")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (stored, draft.path)] == [0o600, 0o700]


def test_limits_of_files_drafts_and_the_disk(drafts, monkeypatch):
    draft = Own(drafts)
    assert "larger than 256 MB" in refuses(413, draft.add, "big", 1 << 30)
    for name in ("one", "two"):
        draft.add(name, 256 * MB)
    refuses(413, draft.add, "three", 1)
    draft.remove_file(2)
    assert [draft.add(f"f{k}", 1) for k in range(19)] == list(range(3, 22))
    refuses(409, draft.add, "more", 1)
    drafts.create("anna"), drafts.create("anna")
    refuses(409, drafts.create, "anna")
    other = Own(drafts, who="ben")
    n = other.add("x", 9)
    usage = namedtuple("Usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(9, 9, (1 << 30) + 5))
    refuses(507, other.add, "y", 6)
    for data, status in ((b"a" * 6, 507), (b"a" * 5, 409), (b"a" * 10, 413)):
        with pytest.raises(RefusedError) as caught, other.receive(n) as write:
            write(data)
        assert caught.value.status == status
    with pytest.raises(RefusedError, match="completely"), other.receive(n):
        refuses(409, other.receive(n).__enter__)  # a second time at once
    refuses(413, other.add, "empty", 0)
    assert [path.name for path in other.path.iterdir()] == ["draft.json"]
    assert other.get().files[0].received == 0


def test_a_draft_is_that_of_its_maker_for_a_day(drafts, monkeypatch, held):
    draft = Own(drafts, {"x": b"1"})
    for ask in (drafts.get, drafts.remove, lambda *who: drafts.receive(*who, 1).__enter__()):
        for who, id in (("ben", draft.id), ("anna", "0" * 32), ("anna", f"../{draft.id}")):
            refuses(404, ask, who, id)
    assert ([each.id for each in drafts.drafts("anna")], drafts.drafts("ben")) == ([draft.id], [])
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 24 * 3600 + 1)
    refuses(404, draft.get)
    drafts.create("ben")
    assert not draft.path.exists()


def test_a_child_that_ends_before_it_reads_its_job_was_killed(monkeypatch):
    class Ended(subprocess.Popen):
        def kill(self):
            super().kill()
            self.wait()

    monkeypatch.setattr(subprocess, "Popen", Ended)
    child = ChildProcess(Job("project"), lambda *_: None, print)
    child.stop()
    with closing(child), pytest.raises(ChildKilledError):
        child.run()


def test_one_child_a_person_and_two_in_all(drafts, held):
    own = [Own(drafts, {"x": b"1"}, who=who) for who in ("anna", "anna", "ben", "cleo")]
    until(lambda: len(held.made) == 2)
    time.sleep(0.05)
    assert len({child.job.record.account for child in held.made}) == len(held.made) == 2
    held.wait.set()
    assert all(draft.read().ready for draft in own)
    assert len(held.made) == 4


def test_changes_and_removal_stop_the_child_and_nothing_is_left(drafts, held):
    own = Own(drafts, {"x": b"1", "y": b"2"})
    until(lambda: len(held.made) == 1)
    draft = own.get()
    assert (draft.reading, draft.ready, draft.etag) == (True, False, "4")
    changed = own.change(ChangeDraft(task="judge", kinds={"1": "source"}))
    assert (changed.task, changed.etag) == ("judge", "5")
    until(lambda: len(held.made) == 2)
    assert held.made[1].job.record.kinds == {"1": "source"}
    own.remove()
    until(lambda: not own.path.exists() and not drafts._children._progress)
    refuses(422, Own(drafts).change, ChangeDraft(options={"x" * 41: ""}))


def test_files_are_read_when_all_have_come_even_if_one_is_added_during_the_reading(drafts, held):
    own = Own(drafts, {"x": b"1"})
    until(lambda: len(held.made) == 1)
    n = own.add("y", 1)
    until(lambda: not drafts._children._progress)
    draft = own.get()
    assert (draft.reading, draft.problem, len(held.made)) == (True, "", 1)
    with own.receive(n) as write:
        write(b"2")
    held.wait.set()
    assert own.read().ready
    assert len(held.made) == 2


def test_a_draft_survives_a_restart_and_a_killed_child_is_a_problem_in_words(drafts, held):
    own = Own(drafts, {"x": b"1"})
    until(lambda: held.made)
    drafts.close()
    until(lambda: not drafts._children._progress)
    (part := own.path / "1.part").touch()
    own.drafts = Drafts(drafts._store.folder)
    assert not part.exists()
    own.get()
    until(lambda: len(held.made) == 2 and held.made).pop().stop()
    assert "time or memory" in own.read().problem
    held.wait.set()
    own.change(ChangeDraft())
    assert own.read().ready


def test_a_draft_becomes_a_project_and_is_gone(drafts, tmp_path):
    own, place = Own(drafts, FILES), str(tmp_path / "p.alignkit")
    own.read()
    pair = own.preview(2)
    assert (pair.k, pair.pairs, pair.id, pair.by) == (2, 2, "2", "auto")
    assert (pair.source, pair.target, pair.links) == (["a", "b"], ["x", "y"], [(0, 0, 2)])
    assert pair.direction == {"source": "ltr", "target": "ltr"}
    refuses(404, own.preview, 3)
    refuses(409, own.make, place, "0")
    job = DraftJob(str(own.path), drafts._store.load("anna", own.id))
    for odd, said in (
        ({"suggestions": Suggestions("initial", "ben")}, "ben cannot"),
        ({"scheme": "x"}, "known:"),
        ({"scheme": "none", "task": "judge"}, "needs labels"),
        ({"gold": "auto"}, "another name for gold"),
        ({"task": "extract"}, "for the task align"),
        ({"doubt": 0.15}, "unknown doubt 0.15"),
        ({"suggestions": Suggestions("model", "x")}, "x cannot"),
    ):
        with pytest.raises(AlignkitError, match=said):
            _create(job, MakeProject(structs.replace(NewProject("", "", ""), **odd), place))
        assert not Path(place).exists()
    own.make(place, suggestions=Suggestions("initial", "auto"), blind=True, doubt=0.2)
    with Store.open(place) as store:
        info, plan = store.project(), Sessions(store.database).plan
    assert (info.name, info.pairs, info.annotators, info.task) == ("News", 2, ["auto"], "align")
    assert info.doubt == 0.2
    assert (plan.kind, plan.name, plan.pending, plan.learning) == ("initial", "auto", True, True)
    refuses(404, own.get)
    assert list(drafts._store.folder.iterdir()) == []


def test_a_model_of_the_draft_is_copied_for_the_project(drafts, tmp_path, monkeypatch):
    do_jobs_here(monkeypatch, tmp_path)
    Aligner.train([(["a"], ["b"])]).save(tmp_path / "m")
    place, model = str(tmp_path / "p"), str(tmp_path / "kept.model")
    own = Own(drafts, {"x.en": EN, "x.de": DE, "my.model": (tmp_path / "m").read_bytes()})
    own.make(place, model=model, suggestions=Suggestions("model", "my.model"))
    with Store.open(place) as store:
        assert Sessions(store.database).plan.name == model
    Aligner.load(model)


def test_a_project_is_adopted_and_its_work_merged(drafts, tmp_path, monkeypatch):
    do_jobs_here(monkeypatch, tmp_path)
    two_annotators(path := str(tmp_path / "old"), 2)
    with Store.open(path) as store:
        log = list(store.log())
    files, place = {"old.alignkit": Path(path).read_bytes()}, str(tmp_path / "p")
    Own(drafts, files).make(place, suggestions=Suggestions("none"))
    with Store.open(place) as store:
        assert (list(store.log())[: len(log)], store.project().name) == (log, "News")
    assert Own(drafts, files, "p").bring(place)["annotations unchanged"] == 4


def test_imports_are_tried_first_and_counted_as_by_the_command(drafts, tmp_path, monkeypatch):
    do_jobs_here(monkeypatch, tmp_path)
    place = str(tmp_path / "p")
    line = '{"id": "%s", "source": ["%s"], "target": ["b"], "annotations": {"ben": {"sure": ""}}}\n'
    Own(drafts, {"x.jsonl": (line % ("1", "a")).encode()}).make(place)
    for how, words, adds in (("words_only", ("1", "c"), 0), ("add_pairs", ("2", "a"), 1)):
        own = Own(drafts, {"x.jsonl": (line % words).encode()}, "p")
        for dry in (True, False):
            counts = own.bring(place, dry_run=dry, **{how: True})
            same = [counts["pairs of the project"], counts["pairs with corrected words"]]
            assert same == [1 - adds] * 2
            assert counts["pairs added"] == counts["annotations new"] == adds
            with Store.open(place) as store:
                assert store.project().pairs == 1 + (adds and not dry)
                assert (store.pair(1, "ben").source == ["c"]) == (adds or not dry)
        refuses(404, own.get)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("bytearray(600 << 20)", "MemoryError"),
        ("while True: pass", "takes too much time"),
        ("open('x', 'wb').write(bytes(9 << 20))", "File too large"),
    ],
)
def test_the_child_has_limits(tmp_path, code, said):
    start = "from alignkit.annotate.lab.draft_child import _limit as x; x(500 << 20, 2, 8 << 20)\n"
    command = [sys.executable, "-c", start + code]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (ran.returncode, said in ran.stderr) == (1, True)
