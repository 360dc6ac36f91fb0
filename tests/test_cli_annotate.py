"""The command makes a project, prints the URL, ends at a signal and loses nothing."""

from __future__ import annotations

import random
import signal
import socket
import sqlite3
import threading
import time
from pathlib import Path
from uuid import uuid4

import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")

from annotation_server import Client, Process, corpus
from command import PARAPHRASES, process, run, write
from repetitions import repetitions

from alignkit import Corpus, read_corpus, write_corpus
from alignkit.annotate.creation import create_project, open_pairs
from alignkit.annotate.documents import read_documents
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.server_lock import ServerLock
from alignkit.annotate.project.store import Store
from alignkit.annotate.server import listening
from alignkit.cli.annotate import annotate
from alignkit.cli.common import files
from alignkit.io.options import ReadOptions

VOTE = "--suggestions", "vote"


@pytest.fixture
def file(tmp_path):
    path = str(tmp_path / "corpus.jsonl")
    write_corpus(corpus(20), path, format="alignkit-jsonl")
    return path


def test_wrong_words_are_told_before_anything_is_done(capsys, tmp_path, file) -> None:
    links = write(tmp_path, "auto.align", "0-0\n")
    for words, told in [
        ((str(tmp_path / "missing"),), "no such file"),
        (("-",), "standard input"),
        ((file, "--host", "0.0.0.0"), "only on this machine"),
        ((file, "--allow-host", "a/b"), "--allow-host"),
        ((file, "--port", "65536"), "expected a whole number, 0 to 65535, not '65536'"),
        ((file, "--annotator", ""), "'' is not a name; expected 1 to 200 letters"),
        ((file, "--annotator", "a\nb"), "is not a name"),
        ((file, "--model", "missing.model"), "no such file"),
        ((file, "--guidelines", "missing.md"), "no such file"),
        ((file, "--scheme", "nonsense"), "known: paraphrase"),
        ((file, "--initial", "a", "--suggestions", "none"), "not allowed with"),
        ((links,), "format pharaoh has no words; add --source FILE --target FILE"),
        ((file, str(tmp_path / "missing")), "name two texts with a sentence on each line"),
        ((file, links, "--initial", "auto"), "plain texts have no links: leave out --initial"),
        ((file, "--evidence", "auto"), "--evidence needs --suggestions vote"),
        ((file, *VOTE), "needs --evidence NAME"),
        ((file, *VOTE, "--evidence", "a", "--evidence", "a"), "a name twice"),
        ((file, *VOTE, "--evidence", "a=b.align"), "`alignkit merge CORPUS --add NAME=FILE"),
        ((file, *VOTE, "--evidence", "a", "--task", "judge"), "--task judge has none"),
    ]:
        run(capsys, "annotate", *words, "--no-browser").failed(told)
    assert {path.name for path in tmp_path.iterdir()} == {"corpus.jsonl", "auto.align"}


@pytest.mark.parametrize("divider", ["", "\t", " ||| "])
def test_sentences_without_links_are_read_from_texts(
    capsys, tmp_path, monkeypatch, divider
) -> None:
    source = ["the house is small", "I see"]
    target = ["das Haus ist klein", "ich sehe"]
    if divider:
        rows = (f"{first}{divider}{second}\n" for first, second in zip(source, target, strict=True))
        words = [write(tmp_path, "both", "".join(rows))]
    else:
        texts = {"source": source, "target": target}
        words = [write(tmp_path, name, "\n".join(text)) for name, text in texts.items()]
    jobs = []
    monkeypatch.setattr(annotate, "_serve", lambda options, opening, _: jobs.append(opening.job))
    run(capsys, "annotate", *words, "--no-browser")
    (job,) = jobs
    _, pairs = open_pairs(job.corpus, job.format, ReadOptions(**job.reading))
    assert [(pair.id, pair.source, pair.target) for pair in pairs] == [
        (str(number), tuple(first.split()), tuple(second.split()))
        for number, (first, second) in enumerate(zip(source, target, strict=True), start=1)
    ]
    write(tmp_path, "short", "one\n")
    if divider:
        broken = write(tmp_path, "broken", f"a{divider}b\na{divider}b{divider}c\n")
        run(capsys, "annotate", broken, "--no-browser").failed("broken:2")
    else:
        run(capsys, "annotate", words[0], str(tmp_path / "short"), "--no-browser").failed("has 1")


def test_what_cannot_be_opened_is_told_before_the_url(capsys, tmp_path, file, monkeypatch) -> None:
    monkeypatch.setattr(listening, "listen", None)
    project = str(tmp_path / "good.alignkit")
    create_project(project, corpus(3))
    whole = Path(project).read_bytes()
    places = {name: str(tmp_path / name) for name in ("bad.jsonl", "cut", "other", "none/x")}
    write(tmp_path, "bad.jsonl", '{"alignkit": "corpus", "version": 1}\n{"id": 7}\n')
    write(tmp_path, "cut", whole[: len(whole) // 2])
    sqlite3.connect(places["other"]).execute("CREATE TABLE a (b)").connection.close()
    for words, told in [
        ((places["bad.jsonl"],), "bad.jsonl:2"),
        ((file, "--initial", "otto"), "known: auto"),
        ((project, "--initial", "otto"), "known: auto"),
        ((file, *VOTE, "--evidence", "otto"), "known: auto"),
        ((project, *VOTE, "--evidence", "auto", "--annotator", "auto"), "under another name"),
        ((project, "--initial", "auto", "--annotator", "auto"), "annotate under another name"),
        ((file, "--project", places["none/x"]), "there is no folder"),
        ((file, "--project", file), "is not an alignkit project"),
        ((places["other"],), "not an alignkit project"),
        ((places["cut"],), "the project file is damaged"),
        ((project, "--model", file), "is not a model of alignkit"),
        ((file, "--model", file), "is not a model of alignkit"),
    ]:
        assert not run(capsys, "annotate", *words, "--no-browser").failed(told).out
    lock = ServerLock(project)
    run(capsys, "annotate", project, "--no-browser").failed("another server has this")
    lock.release()
    assert not list(tmp_path.glob("*-lock"))


def test_who_cannot_adjudicate_is_told_before_the_url(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(listening, "listen", None)
    project, documents = (str(tmp_path / name) for name in ("p", "d"))
    create_project(project, read_corpus(PARAPHRASES))  # of eflomal, anna, ben and gold
    texts = write(tmp_path, "t.jsonl", '{"source": "a b", "target": "c"}\n')
    create_project(documents, Corpus(read_documents([texts])), task="extract")
    no_gold = "'gold' is an annotator of these pairs; give the gold standard another name"
    for words, told in [
        ((project,), no_gold),
        ((PARAPHRASES,), no_gold),
        ((PARAPHRASES, "--gold", "anna"), "'anna' is an annotator"),
        ((PARAPHRASES, "--gold", "x", "--annotator", "x"), "name the adjudicator by --annotator"),
        ((documents,), "are not adjudicated: leave out --adjudicate; `alignkit project yield"),
        ((texts, "--task", "extract"), "are not adjudicated"),
    ]:
        place = () if words[0] in (project, documents) else ("--project", str(tmp_path / "new"))
        given = ["annotate", *words, *place, "--adjudicate", "--no-browser"]
        assert not run(capsys, *given).failed(told).out
    assert {path.name for path in tmp_path.iterdir()} == {"p", "d", "t.jsonl"}


@pytest.mark.slow
def test_the_samples_tell_whose_finished_work_they_hold(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    told = Process("--annotator", "anna").end(signal.SIGINT)[1]
    assert "eflomal, anna, ben, gold" in told
    assert "alignkit annotate --annotator anna2" in told
    assert "finished" not in Process("--annotator", "zoe").end(signal.SIGINT)[1]


def test_a_missing_library_is_named_with_what_to_type(capsys, monkeypatch, file) -> None:
    monkeypatch.setattr(files, "find_spec", lambda name: None if name == "uvicorn" else name)
    run(capsys, "annotate", file).failed("(uvicorn)", '[annotate]"')


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.slow
def test_a_signal_ends_it_and_it_goes_on_where_it_was(tmp_path, file, kind) -> None:
    first = Process(file, "--annotator", "anna", "--initial", "auto")
    until_suggested(first)
    link = first.client.link(3, 0, 0, 0, 2)
    code, told = first.end(kind)
    assert code == 128 + kind
    assert f"the work is in {file}.alignkit; to continue: alignkit annotate" in told
    assert "Traceback" not in told
    again = Process(f"{file}.alignkit", "--annotator", "anna", entered=False)
    assert again.url.partition("/#")[0] == first.url.partition("/#")[0]
    assert again.token != first.token
    again.client.cookie, again.client.csrf = first.client.cookie, first.client.csrf
    pair = again.client.ask("GET", "/api/pairs/3").json
    assert (pair["undo"], pair["suggestions"]["set"]) == (link.json["events"], "auto")
    assert again.end(signal.SIGINT)[0] == 130
    assert {path.name for path in tmp_path.iterdir()} == {"corpus.jsonl", "corpus.jsonl.alignkit"}


@pytest.mark.slow
def test_alone_it_opens_the_samples(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    served = Process()
    project = served.client.ask("GET", "/api/project").json
    assert (project["name"], project["pairs"]) == ("paraphrases.jsonl", 64)
    until_suggested(served)
    suggested = served.client.ask("GET", "/api/pairs/1").json["suggestions"]
    assert suggested["set"] == "eflomal"
    assert suggested["cells"]
    served.end(signal.SIGINT)
    assert (tmp_path / "alignkit" / "paraphrases.alignkit").is_file()


def until_suggested(served: Process) -> None:
    while served.client.ask("GET", "/api/project").json["preparing"]:
        time.sleep(0.1)


@pytest.mark.slow
def test_an_aligner_is_trained_on_the_pairs(file) -> None:
    served = Process(file, "--annotator", "anna")
    until_suggested(served)
    found = served.client.ask("GET", "/api/pairs/1").json["suggestions"]
    served.end(signal.SIGINT)
    assert found["set"] == "trained"
    assert all(0.05 <= p <= 1 and strength == 2 for _, _, p, strength in found["cells"])
    assert [0, 0] in [cell[:2] for cell in found["cells"]]


class Load:
    """Make links as fast as the server takes them, and know which were acknowledged."""

    def __init__(self, served: Process, k: int) -> None:
        self.acknowledged: list[str] = []
        self._served, self._k = served, k
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        client = Client(self._served.client.port)
        client.cookie, client.csrf = self._served.client.cookie, self._served.client.csrf
        try:
            state = dict.fromkeys(((i, j) for i in range(4) for j in range(3)), 0)
            for i, j, value in client.ask("GET", f"/api/pairs/{self._k}").json["state"]["cells"]:
                state[i, j] = value
            while True:
                for (i, j), before in state.items():
                    id = str(uuid4())
                    answer = client.link(self._k, i, j, before, (before + 1) % 3, id=id)
                    assert answer.status == 201, answer.body
                    self.acknowledged.append(id)
                    state[i, j] = (before + 1) % 3
        except OSError:
            pass  # the server was killed
        except Exception as error:
            if type(error).__module__ != "http.client":
                raise
        finally:
            client.close()

    def end(self) -> list[str]:
        self._thread.join(30)
        return self.acknowledged


@pytest.mark.slow
def test_no_acknowledged_edit_is_lost_when_the_server_is_killed(file) -> None:
    rng = random.Random(0)
    kept: list[str] = []
    for _ in range(repetitions(50)):
        served = Process(file, "--annotator", "anna", "--suggestions", "none")
        loads = [Load(served, k) for k in (1, 2)]
        time.sleep(rng.uniform(0, 0.6))
        served.end(signal.SIGKILL)
        kept += [id for load in loads for id in load.end()]
    with Store.open(f"{file}.alignkit") as store:
        ids = [event.id for event in store.log()]
        assert len(ids) == len(set(ids))
        assert set(kept) <= set(ids)
        assert kept
        assert not replay(store).differences


@pytest.mark.slow
def test_a_project_can_be_used_as_soon_as_the_url_is_printed(tmp_path) -> None:
    write_corpus(corpus(6000), str(tmp_path / "c.jsonl"), format="alignkit-jsonl")
    served = Process(tmp_path / "c.jsonl", "--suggestions", "none", entered=False)
    project = f"{tmp_path}/c.jsonl.alignkit"
    ran = process("project", "assign", project, "--annotators", "anna", "ben")
    _, told = served.end(signal.SIGINT)
    assert ran.code == 0, ran.err
    assert told.startswith(f"alignkit: {project}: the project is being made; the")


@pytest.mark.slow
def test_a_port_that_is_taken_and_another_than_the_project_s_own_are_told(file) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process("annotate", file, "--port", port, "--no-browser").failed(f"--port {port}")
    port = listening.own_port(f"{file}.alignkit")
    with socket.create_server(("127.0.0.1", port)):
        served = Process(file, "--suggestions", "none")
        _, told = served.end(signal.SIGINT)
    assert served.client.port != port
    assert f"port {port} of this project is taken, so the server uses {served.client.port}" in told
    assert f"belong to port {port}" in told
