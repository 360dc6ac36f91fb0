"""Workers in processes of their own give the bytes of this process, whatever dies on the way."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from refusals import refuses
from test_cluster_tables import corpus, whole, written
from test_cluster_training import divided, on_one_machine, over_parts, random_lines, wrap_steps

from alignkit.align import Aligner, Bitext, Settings
from alignkit.cluster import connecting as sessions
from alignkit.cluster import training
from alignkit.cluster.aligning import align
from alignkit.cluster.canary import canary
from alignkit.cluster.dask_session import DaskSession
from alignkit.cluster.parts import Part, find_parts
from alignkit.cluster.phrase_tables import phrases, pivot
from alignkit.cluster.session import ClusterError, Task
from alignkit.cluster.training import train
from alignkit.errors import AlignkitError

FEW_ROUNDS = {"ibm1": 2, "hmm": 2}
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no other

pytest.importorskip("distributed")
cloudpickle = pytest.importorskip("cloudpickle")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
RUN = """
import sys
from alignkit.align import Settings
from alignkit.cluster.training import train
if __name__ == "__main__":
    folder = sys.argv[1]
    train(sys.argv[2], f"{folder}/*.fr", f"{folder}/*.en", work=f"{folder}/work",
          save=f"{folder}/model", output=f"{folder}/*.align", shards=2,
          settings=Settings(ibm1=2, hmm=2))
"""


@pytest.fixture(scope="module")
def client():
    with sessions.connected("local:2") as client:
        yield client


@pytest.fixture
def killing(client):
    seen = set()

    def told(done, total, text):
        kind = text.lstrip("0123456789 of")  # once a step: a task may die three times
        if kind not in seen:
            seen.add(kind)
            pids = sorted(client.run(os.getpid, on_error="ignore").values())
            os.kill(random.Random(done).choice(pids), KILL)

    told.seen = seen
    return told


def test_aligned_parts_are_equal_though_workers_die(client, killing, capsys, tmp_path):
    _, *patterns = written(tmp_path, corpus(1, 300), [10, 100, 170, 171])
    lines = ((tmp_path / f"whole.{side}").read_text("utf-8").splitlines() for side in ("fr", "en"))
    Aligner.train(Bitext.pack(list(zip(*lines, strict=True)))).save(tmp_path / "m")
    options = {"model": str(tmp_path / "m"), "probabilities": True}
    align(None, *patterns, f"{tmp_path}/one*.gz", **options)
    align(client, *patterns, f"{tmp_path}/two*.gz", **options, progress=killing)
    assert killing.seen == {"parts are read", "parts aligned"}
    for k in range(5):
        one, two = (tmp_path / f"{name}{k}.gz" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_paths_are_those_of_the_folder_of_who_asks(client, capsys, monkeypatch, tmp_path):
    assert str(tmp_path) not in client.run(os.getcwd).values()
    written(tmp_path, corpus(4, 80), [30])
    monkeypatch.chdir(tmp_path)
    texts, expected = ["part*.fr", "part*.en"], whole(capsys, tmp_path)
    train(client, *texts, work="run", save="m", output="trained*")
    align(client, *texts, "aligned*", model="m")
    phrases(client, "part*.align", "t", source=texts[0], target=texts[1], format="pharaoh")
    pivot(client, "t", "paraphrases")
    assert Path("t").read_bytes() == expected
    assert Path("paraphrases").exists()
    for k in range(2):
        assert Path(f"aligned{k}").read_bytes() == Path(f"trained{k}").read_bytes()
    Path("part1.fr").write_bytes(b"\xff\n")
    with pytest.raises(AlignkitError, match=re.escape(f"{tmp_path}/part1.fr")):
        align(client, *texts, "aligned*", model="m")


def test_tables_are_equal_though_workers_die(client, killing, capsys, tmp_path):
    links, source, target = written(tmp_path, corpus(2, 200), [30, 60, 61, 150])
    expected = whole(capsys, tmp_path, "--max-length", "3", "--min-count", "2")
    given = {"source": source, "target": target, "format": "pharaoh", "progress": killing}
    out = tmp_path / "parts"
    phrases(client, links, str(out), max_length=3, min_count=2, **given)
    assert (out.read_bytes(), len(killing.seen)) == (expected, 3)
    killing.seen.update(("tables are read", "paraphrases are written"))
    pivot(None, f"{tmp_path}/t", f"{tmp_path}/one", min_p=0.0)
    pivot(client, f"{tmp_path}/t", f"{tmp_path}/two", min_p=0.0, progress=killing)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() != b""
    assert "pivots are joined" in killing.seen


def test_a_part_that_kills_its_workers_is_named_with_what_it_needs(client, monkeypatch):
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 1)
    session = DaskSession(client)
    tasks = Task("part 17 (in/17.fr)", (1,), 10**8), Task("b 3", (1,), smaller="read less")
    told = r"part 17 \(in/17.fr\): 2 workers died.*100 MB, and a worker has .* or divide it into"
    refuses(ClusterError, told, list, session.each(os._exit, tasks[:1]))
    told = r"b 3: 2 workers died from this task: .* or read less$"
    refuses(ClusterError, told, list, session.each(os._exit, tasks[1:]))


def other_bits():
    return replace(canary(), bits=str(os.getpid()))


def test_workers_with_other_bits_are_refused_by_name(client):
    with pytest.raises(ClusterError, match=r"worker tcp://\S+: aligns"):
        DaskSession(client, check=other_bits)


def later_bits():
    try:
        from distributed import get_worker

        get_worker()
    except ValueError:
        return canary()
    return other_bits()


def test_a_worker_that_comes_later_is_refused_too(client, monkeypatch):
    monkeypatch.setattr(DaskSession, "_refuse_others", lambda self: None)
    session = DaskSession(client, check=later_bits)
    with pytest.raises(ClusterError, match=r"worker tcp://\S+: aligns"):
        list(session.each(len, [Task("a", ("four",))]))


def test_errors_of_parts_arrive_whole(client, tmp_path):
    tasks = [Task(f"{k}", (f"{tmp_path}/{k}*",)) for k in range(3)]
    with pytest.raises(AlignkitError, match=r"(.*: cannot be read: no file matches\n?){3}"):
        list(DaskSession(client).each(find_parts, tasks, errors=10))
    files = Part("", (str(tmp_path / "bad"), str(tmp_path / "good")))
    Path(files.paths[0]).write_bytes(b"a\n\xff\n")
    Path(files.paths[1]).write_bytes(b"a\nb\n")
    Aligner.train(Bitext.pack([("a b", "c d")])).save(tmp_path / "model")
    with pytest.raises(AlignkitError, match=r"bad:2:1: not utf-8"):
        align(client, *files.paths, f"{tmp_path}/out", model=f"{tmp_path}/model")
    (tmp_path / "full").symlink_to("/dev/full")
    with pytest.raises(AlignkitError, match="No space left"):
        align(client, *files.paths[1:] * 2, f"{tmp_path}/full", model=f"{tmp_path}/model")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "tcp://127.0.0.1:9: no scheduler answers"),
        ("{", r"s\.json: no scheduler"),
        ("[]", "no address"),
        ('{"id": 1}', "no address"),
    ],
)
def test_what_no_scheduler_answers_is_told(monkeypatch, tmp_path, text, told):
    monkeypatch.setattr("alignkit.cluster.connecting.PATIENCE", 1 if text is None else 0)
    path = tmp_path / "s.json"
    if text is not None:
        path.write_text(text, "utf-8")
    address = "tcp://127.0.0.1:9" if text is None else str(path)
    with pytest.raises(ClusterError, match=told), sessions.open_session(address):
        pass


class Deadly:
    def __init__(self, step, folder):
        self.step, self.mark = step, str(folder / f"died-in-{step.__name__}")
        self.__name__ = step.__name__

    def __call__(self, *arguments):
        found = self.step(*arguments)
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return found
        os.kill(os.getpid(), KILL)


def test_workers_may_be_killed_in_steps_of_parts_and_of_shards(tmp_path, monkeypatch, client):
    lines = random_lines(7, 60)
    patterns, wanted = divided(tmp_path, lines, 3), on_one_machine(tmp_path, lines, **FEW_ROUNDS)
    steps = "index_part", "add_parts", "weigh", "write_links"
    here = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(here)
    try:
        wrap_steps(monkeypatch, steps, lambda step: Deadly(step, tmp_path))
        settings = Settings(**FEW_ROUNDS)
        found = over_parts(tmp_path, patterns, 3, client=client, shards=2, settings=settings)
    finally:
        cloudpickle.unregister_pickle_by_value(here)
    assert (found, len(list(tmp_path.glob("died-in-*")))) == (wanted, len(steps))


def test_client_scheduler_and_workers_may_be_killed_and_others_go_on(tmp_path):
    lines = random_lines(11, 60)
    divided(tmp_path, lines, 3)
    wanted, script = on_one_machine(tmp_path, lines, **FEW_ROUNDS), tmp_path / "run.py"
    script.write_text(RUN, "utf-8")
    environment = os.environ | {"PYTHONPATH": str(Path(training.__file__).parents[2])}
    for stage, workers in (("round-3", "local:2"), ("", "local:1")):
        command = [sys.executable, str(script), str(tmp_path), workers]
        process = subprocess.Popen(command, env=environment, start_new_session=True)
        try:
            place = tmp_path / "work" / "alignkit-run" / stage
            while process.poll() is None and not (stage and place.exists()):
                time.sleep(0.01)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            assert process.wait() == (-signal.SIGKILL if stage else 0)
    links = b"".join((tmp_path / f"{k}.align").read_bytes() for k in range(3))
    assert ((tmp_path / "model").read_bytes(), links) == wanted


def test_a_scheduler_that_goes_away_is_told_in_one_line(tmp_path):
    divided(tmp_path, random_lines(11, 60), 3)
    place, dask = f"{tmp_path}/s.json", [sys.executable, "-m", "dask"]
    python = {"env": os.environ | {"PYTHONPATH": str(Path(training.__file__).parents[2])}}
    quiet = {**python, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--port", "0", "--dashboard-address", ":0", "--host", "127.0.0.1"]
    scheduler = subprocess.Popen([*dask, "scheduler", "--scheduler-file", place, *options], **quiet)
    worker = subprocess.Popen([*dask, "worker", "--scheduler-file", place, "--no-nanny"], **quiet)
    texts = [f"{tmp_path}/*.{side}" for side in ("fr", "en")]
    command = ["align", *texts, "--save", f"{tmp_path}/m", "--work", f"{tmp_path}/work"]
    try:
        asked = subprocess.Popen(
            [sys.executable, "-m", "alignkit", *command, "--hmm", "500", "--cluster", place],
            stderr=subprocess.PIPE,
            text=True,
            **python,
        )
        while asked.poll() is None and not (tmp_path / "work/alignkit-run/round-1").exists():
            time.sleep(0.01)
        scheduler.kill()
        told = asked.communicate(timeout=90)[1]
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    assert asked.returncode == 2
    assert "scheduler is gone" in told
    assert not any(word in told for word in ("Traceback", "distributed"))
