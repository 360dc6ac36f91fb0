"""Where locks of files do not work nothing is served, and network file systems are reported."""

import threading
from contextlib import nullcontext

import pytest

pytest.importorskip("sqlalchemy")

from annotation import project
from annotation_server import make
from command import run

from alignkit.annotate.project import file_systems
from alignkit.annotate.project.file_systems import (
    check_locks,
    network_type,
    network_warning,
    unlocked,
)
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.server.child import Job, SuggestionPlan
from alignkit.annotate.server.opening import Opening

MOUNTS = """\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 22 0:40 / /home rw,relatime shared:2 - nfs4 server:/home rw,vers=4.2
31 30 0:41 / /home/anna/lo\\040cal rw - xfs /dev/sdb1 rw
32 22 0:42 / /mnt/box rw - fuse.sshfs anna@box: rw
33 22 0:43 / /mnt/stick rw - fuse.ntfs-3g /dev/sdc1 rw
34 22 0:44 / /mnt/twice rw - cifs //server/share rw
35 22 0:45 / /mnt/twice rw - tmpfs tmpfs rw
"""


@pytest.fixture
def mounts(tmp_path, monkeypatch):
    file = tmp_path / "mountinfo"
    file.write_text(MOUNTS)
    monkeypatch.setattr(file_systems, "_MOUNTS", file)
    monkeypatch.setattr(file_systems.os.path, "realpath", lambda path: path)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/p.alignkit", ""),
        ("/home/ben/p.alignkit", "nfs4"),
        ("/home", "nfs4"),
        ("/homes/p.alignkit", ""),
        ("/home/anna/lo cal/p.alignkit", ""),
        ("/mnt/box/p.alignkit", "fuse.sshfs"),
        ("/mnt/stick/p.alignkit", ""),
        ("/mnt/twice/p.alignkit", ""),
    ],
)
def test_the_file_system_is_that_of_the_deepest_and_latest_mount(path, kind, mounts):
    assert network_type(path) == kind
    assert (kind in network_warning(path)) if kind else not network_warning(path)
    assert ("network file system" in unlocked(path)) == bool(kind)


def test_without_linux_nothing_is_said_of_the_network(tmp_path, monkeypatch):
    monkeypatch.setattr(file_systems, "_MOUNTS", tmp_path / "none")
    assert network_warning("/home/ben/p.alignkit") == ""


def test_a_second_writer_is_kept_out_here(tmp_path):
    with project(tmp_path) as store:
        check_locks(store.path, store.database.writing())


def test_a_second_writer_that_is_not_kept_out_is_seen(tmp_path):
    """The check fails if nobody holds a lock, as on a file system that ignores locks."""
    with project(tmp_path) as store, pytest.raises(ProjectError, match="on a local disk"):
        check_locks(store.path, nullcontext())


def test_annotate_serves_no_project_where_locks_do_not_work(tmp_path, monkeypatch):
    monkeypatch.setattr(file_systems, "_SECOND_WRITER", "pass")  # it wrote
    none = SuggestionPlan("none")
    ended = threading.Event()
    opening = Opening(Job(make(tmp_path), annotator="anna"), none, fallback=none, note=print)
    opening.start(ended.set)
    assert ended.wait(300)
    opening.stop()
    assert "do not work here" in str(opening.problem)


def test_serve_warns_of_a_network_file_system(tmp_path, capsys, monkeypatch):
    pytest.importorskip("uvicorn")
    from alignkit.annotate.server import serving

    monkeypatch.setattr(file_systems, "network_type", lambda path: "nfs4")
    monkeypatch.setattr(serving.Server, "serve_until_stopped", lambda _, listener: listener.close())
    ran = run(capsys, "serve", tmp_path / "lab", "--port", 0, "--quiet")
    assert ran.code == 0
    assert "network file system (nfs4)" in ran.err
