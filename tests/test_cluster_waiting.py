"""A cluster says why nothing happens, waits as long as it is told, and refuses what cannot work."""

import asyncio
import logging
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from command import run, write
from refusals import refuses

from alignkit import Aligner, Bitext, cluster
from alignkit.cluster import aligning, connecting, worker_watch
from alignkit.cluster.canary import Canary
from alignkit.cluster.connecting import open_session
from alignkit.cluster.dask_session import DaskSession
from alignkit.cluster.session import ClusterError, Task
from alignkit.errors import ArgumentError

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
NEVER = 1e4  # the process that runs the tests may hold more than the worker's 1 GB


def same():
    return Canary(*[""] * 7)


@pytest.fixture
def workers(monkeypatch):
    monkeypatch.setattr(worker_watch, "LOOK", 0.05)
    options = {"dashboard_address": ":0", "silence_logs": "CRITICAL", "memory_limit": "1GB"}
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.worker.memory.pause": NEVER}),
        distributed.LocalCluster(1, 1, processes=False, protocol="tcp://", **options) as made,
    ):
        yield made


@pytest.fixture
def client(workers):
    with distributed.Client(workers) as found:
        yield found


class Reports(logging.Handler):
    def __init__(self, words, act):
        super().__init__()
        self.words, self.act, self.texts = words, act, []

    def emit(self, record):
        self.texts.append(re.sub(r"(tcp://)[\d.]+:\d+", r"\1", record.getMessage()))
        if self.words in self.texts[-1]:
            self.act()

    def __enter__(self):
        logging.getLogger("alignkit").addHandler(self)
        return self

    def __exit__(self, *_):
        logging.getLogger("alignkit").removeHandler(self)


def until(met):
    while not met():
        time.sleep(0.01)


def without_workers(workers):
    workers.scale(0)
    until(lambda: not workers.scheduler.workers)


def paused(workers, fraction):
    (worker,) = workers.workers.values()
    worker.memory_manager.memory_pause_fraction = fraction
    return worker


def test_workers_that_are_gone_and_come_back_are_reported_once(workers, client):
    with open_session(client, check=same) as opened:
        without_workers(workers)
        with Reports("no workers are left", lambda: workers.scale(1)) as reports:
            done = sorted(opened.each(len, [Task("a", ("a",)), Task("b", ("bb",))]))
    assert done == [(0, 1), (1, 2)]
    assert reports.texts == [
        "tcp://: no workers are left, waiting",
        "tcp://: workers are available: 1",
    ]


def test_a_paused_worker_is_reported_with_what_a_part_needs_and_has(workers, client):
    with open_session(client, check=same) as opened:
        until(lambda: paused(workers, 1e-4).status.name == "paused")
        with Reports("paused", lambda: paused(workers, NEVER)) as reports:
            list(opened.each(len, [Task("part 3 (in/3.fr)", ("a",), 876_000_000)]))
    first, last = reports.texts
    assert re.fullmatch(
        r"worker tcp://: Dask has paused it: part 3 \(in/3.fr\) needs about 876 MB, it has 1 GB, "
        r"and uses [\d.]+ [MG]B; give workers more memory, or divide it into smaller parts",
        first,
    )
    assert last == "worker tcp://: working again"


def texts_of(tmp_path):
    Aligner.train(Bitext.pack([("a b", "c d")])).save(tmp_path / "m")
    for k in range(2):
        write(tmp_path, f"{k}.fr", "a b\n")
        write(tmp_path, f"{k}.en", "c d\n")
    return f"{tmp_path}/*.fr", f"{tmp_path}/*.en", f"{tmp_path}/*.align"


def test_what_no_worker_can_hold_is_refused_at_once(client, monkeypatch, tmp_path, workers):
    monkeypatch.setattr(aligning, "_PROGRAM", 2 * 10**9)
    with pytest.raises(ClusterError, match=r"part 0 .* 2 GB .* no worker has more than 1 GB"):
        cluster.align(client, *texts_of(tmp_path), model=f"{tmp_path}/m")
    assert not list(tmp_path.glob("*.align"))


def test_a_queue_is_waited_for_as_long_as_it_takes(workers, client):
    without_workers(workers)
    with (
        Reports("no workers yet", lambda: workers.scale(1)) as reports,
        open_session(client, check=same) as opened,
    ):
        assert opened.workers == 2  # threads
    assert reports.texts == ["tcp://: no workers yet, waiting", "tcp://: workers are available: 1"]


def test_waiting_ends_when_it_was_to_and_is_no_secret_when_quiet(capsys, workers, tmp_path):
    without_workers(workers)
    source, target, output = texts_of(tmp_path)
    command = ["align", source, target, "-o", output, "--load", f"{tmp_path}/m", "--quiet"]
    ran = run(capsys, *command, "--cluster", workers.scheduler_address, "--wait", "1")
    ran.failed("no worker came", "with --wait,")
    assert ran.err.count("no workers yet") == 1
    run(capsys, *command, "--wait", "1").failed("--wait needs a cluster")


def test_workers_of_this_machine_are_waited_for_30_seconds(monkeypatch):
    waits = []
    monkeypatch.setattr(connecting, "connected", lambda *given: ThreadPoolExecutor())
    monkeypatch.setattr(connecting, "DaskSession", lambda *_, wait, **given: waits.append(wait))
    for address, wait in (("local:2", None), ("local", 5.0), ("tcp://a:1", None)):
        with open_session(address, wait=wait):
            pass
    assert waits == [30, 5.0, None]
    for wrong in (-1, float("nan"), "5"):
        with pytest.raises(ArgumentError, match="wait is"), open_session(None, wait=wrong):
            pass


def test_an_adaptive_cluster_begins_with_no_workers(workers, client, tmp_path):
    given = *texts_of(tmp_path)[:2], f"{tmp_path}/*.one"
    cluster.align(None, *given, model=f"{tmp_path}/m")
    without_workers(workers)
    workers.adapt(minimum=0, maximum=2, interval="50ms", wait_count=1)
    cluster.align(client, *given[:2], f"{tmp_path}/*.two", model=f"{tmp_path}/m", wait=60)
    for k in range(2):
        one, two = (tmp_path / f"{k}.{name}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes() != b""


def test_workers_that_leave_while_they_are_asked_are_not_asked_again(client, monkeypatch):
    opened, faults = DaskSession(client, check=same), [OSError("closed"), OSError("closed")]

    def leaving(*given, **options):
        if faults:
            raise faults.pop()
        return {"tcp://a": 3}

    monkeypatch.setattr(client, "run", leaving)
    assert opened.everywhere(len, "abc") == {"tcp://a": 3}
    faults += [OSError("closed")] * 3
    refuses(ClusterError, "a worker has disappeared", opened.everywhere, len, "abc")


def test_a_scheduler_that_does_not_answer_is_gone(client, monkeypatch):
    opened = DaskSession(client, check=same)
    gone = pytest.raises(ClusterError, match="scheduler is gone")
    with monkeypatch.context() as patched, gone:
        patched.setattr(client, "scheduler_info", lambda **_: {"type": "Scheduler"})
        patched.setattr(client, "status", "connecting")
        opened.everywhere(len, "abc")


def test_a_client_that_cannot_be_used_is_refused_with_the_reason(workers):
    def refused(client, what):
        with pytest.raises(ArgumentError, match=f"client is {what}"), open_session(client):
            pass

    client = distributed.Client(workers)
    client.close()
    refused(client, "closed; open another one")
    refused(workers, "a LocalCluster; give a Dask Client")
    with distributed.Client(workers) as client:
        refused(client.get_executor(), "a ClientExecutor; give a Dask Client")

    async def asynchronous():
        async with distributed.Client(workers.scheduler_address, asynchronous=True) as client:
            refused(client, r"asynchronous; open it with Client\(...,")

    asyncio.run(asynchronous())
