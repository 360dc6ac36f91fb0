"""Training on two processes of a cluster gives the bytes of one machine, whoever dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_cluster_training import divided, on_one_machine, over_parts, random_lines

from alignkit.cluster import training

pytestmark = pytest.mark.slow

cloudpickle = pytest.importorskip("cloudpickle")
pytest.importorskip("distributed")


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
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize(
    "steps",
    [
        ("merge_words", "index_part", "make_shard", "remember"),
        ("add_counts", "weigh", "add_shards"),
        ("expect", "add_parts", "write_links"),
    ],
)
def test_a_worker_may_be_killed_in_any_step(tmp_path, monkeypatch, client, steps):
    lines = random_lines(7, 60)
    patterns = divided(tmp_path, lines, 3)
    wanted = on_one_machine(tmp_path, lines)
    here = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(here)
    try:
        for name in steps:
            monkeypatch.setattr(training, name, Deadly(getattr(training, name), tmp_path))
        found = over_parts(tmp_path, patterns, 3, client=client, shards=2)
    finally:
        cloudpickle.unregister_pickle_by_value(here)
    assert found == wanted
    assert len(list(tmp_path.glob("died-in-*"))) == len(steps)


RUN = """
import sys
from alignkit.cluster.training import train
if __name__ == "__main__":
    folder = sys.argv[1]
    train(sys.argv[2], f"{folder}/*.fr", f"{folder}/*.en", work=f"{folder}/work",
          save=f"{folder}/model", output=f"{folder}/*.align", shards=2)
"""


def test_client_scheduler_and_workers_may_be_killed_and_others_go_on(tmp_path):
    lines = random_lines(11, 60)
    divided(tmp_path, lines, 3)
    wanted = on_one_machine(tmp_path, lines)
    script = tmp_path / "run.py"
    script.write_text(RUN, "utf-8")
    environment = os.environ | {"PYTHONPATH": str(Path(training.__file__).parents[2])}
    for stage, workers in (("shards", "local:2"), ("round-3", "local:1"), ("", "local:3")):
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
    place = f"{tmp_path}/s.json"
    dask = [sys.executable, "-m", "dask"]
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
    assert "the scheduler is gone; begin another one" in told
    assert not any(word in told for word in ("Traceback", "distributed"))
