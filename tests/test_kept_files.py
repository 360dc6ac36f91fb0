"""Files that users keep where alignkit works stay as they are, whatever happens."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from command import PARAPHRASES, run
from refusals import refuses
from repetitions import FULL
from test_cluster_tables import corpus, whole, written

from alignkit import Aligner, Bitext, cluster
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.server_lock import ServerLock
from alignkit.annotate.server.invitations import ServerFile
from alignkit.cluster.part_facts import digest_of
from alignkit.cluster.run import FOLDER, Run, RunError, folder_beside
from alignkit.errors import OptionError

OWN = [
    "texts",
    "words",
    "parts",
    "shards",
    "memory",
    "round-0",
    "round-1",
    "round-6",
    "records",
    "aligned",
    "turned",
    "lines",
    "places",
    "shown",
    "words-0",
    "sorting-a1b2c3d4",
    "token-00112233445566ff",
    "parts.json",
    "state.json",
    "manifest.json",
    "buckets.json",
    "dictionary.json",
    "marker.json",
    "lock",
    "film.mp4.part",
    ".alignkit-0011223344556677.part",
    ".alignkit-0011aabb",
    "alignkit-run.json",
    "0.npz",
    "source.npz",
    "common.npz",
    "all.bin",
    "0.json",
    "notes.txt",
]
"""Names that runs use too."""


def tree(folder, *, without=""):
    """Return all that is in a folder: what files hold, where links go."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not (without and name.split("/")[0] == without):
            link = path.is_symlink()
            found[name] = os.readlink(path) if link else path.is_dir() or path.read_bytes()
    return found


def fill(folder, rng, elsewhere, depth=0):
    """Put files, folders and links into a folder, under names that runs have too."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in rng.sample(OWN, rng.randint(4, 9) if depth else 16):
        path, kind = folder / name, rng.random()
        if os.path.lexists(path):
            continue
        if kind < 0.1:
            path.symlink_to(elsewhere)
        elif kind < 0.2:
            path.symlink_to(elsewhere / "thesis.txt")
        elif kind < 0.6 and depth < 2:
            fill(path, rng, elsewhere, depth + 1)
        else:
            path.write_text(f"{rng.random()}\n", "utf-8")


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Return a folder of inputs, and of what commands make of them."""
    folder = tmp_path_factory.mktemp("given")
    written(folder, corpus(3, 60), [20, 45])
    lines = ((folder / f"whole.{side}").read_text("utf-8").splitlines() for side in ("fr", "en"))
    Aligner.train(Bitext.pack(list(zip(*lines, strict=True)))).save(folder / "m")
    return folder


@pytest.fixture
def table(capsys, given):
    if not (given / "t").exists():
        whole(capsys, given)
    return given / "t"


def commands(folder, out):
    texts = [f"{folder}/part*.fr", f"{folder}/part*.en"]
    sides = ["--source", texts[0], "--target", texts[1], "--format", "pharaoh", "--table"]
    return {
        "align": ["align", *texts, "-o", f"{out}/*.links", "--load", f"{folder}/m"],
        "train": ["align", *texts, "-o", f"{out}/*.learned", "--save", f"{out}/model"],
        "phrases": ["phrases", f"{folder}/part*.align", *sides, "-o", f"{out}/table"],
        "pivot": ["pivot", f"{folder}/t", "-o", f"{out}/paraphrases"],
    }


def stopped(words, kind, place, wait):
    """Run a command, and stop it some time after a path is there."""
    command = [sys.executable, "-m", "alignkit", *words]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while process.poll() is None and not place.exists():
        time.sleep(0.005)
    time.sleep(wait)
    process.send_signal(kind)
    return process.wait()


def filled(place, seed, *folders):
    rng, elsewhere = random.Random(seed), place / "elsewhere"
    for folder in ("elsewhere", *folders):
        (place / folder).mkdir()
    (elsewhere / "thesis.txt").write_text("years", "utf-8")
    fill(place / "work", rng, elsewhere)
    return rng, place / "work", elsewhere


@pytest.mark.parametrize("seed", range(25 if FULL else 1))
@pytest.mark.parametrize(
    "name",
    [
        "train",
        "phrases",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("align", "pivot")),
    ],
)
@pytest.mark.usefixtures("table")
def test_a_work_folder_may_hold_anything_and_loses_nothing(capsys, given, tmp_path, name, seed):
    """Whatever stops a command: the next one makes what a new folder gives."""
    rng, work, elsewhere = filled(tmp_path, f"{name} {seed}", "out", "wanted")
    fill(work / "corpus", rng, elsewhere)
    for path in given.iterdir():
        (work / "corpus" / path.name).unlink(missing_ok=True)
        (work / "corpus" / path.name).write_bytes(path.read_bytes())
    words = [*commands(given, tmp_path / "wanted")[name], "--work", str(tmp_path / "fresh")]
    assert run(capsys, *words).code == 0
    before = tree(work), tree(elsewhere)
    words = [*commands(work / "corpus", tmp_path / "out")[name], "--work", str(work)]
    for kind in rng.sample([signal.SIGKILL, signal.SIGTERM], 2 if seed else 1):
        code = stopped(words, kind, work / FOLDER / rng.choice(["", "manifest.json"]), rng.random())
        assert code in (0, -signal.SIGKILL, 128 + signal.SIGTERM, -signal.SIGTERM)
        assert (tree(work, without=FOLDER), tree(elsewhere)) == before
    mine = work / FOLDER / "notes" / "mine.part"  # and in the folder itself
    mine.parent.mkdir()
    mine.write_text("mine", "utf-8")
    assert run(capsys, *words).code == 0
    assert mine.read_text("utf-8") == "mine"
    made = tree(tmp_path / "out").items()  # a kill may leave what it was writing
    assert {name: data for name, data in made if name[0] != "."} == tree(tmp_path / "wanted")
    part = work / "corpus" / ("t" if name == "pivot" else "part1.fr")
    old = part.read_bytes()
    part.write_bytes(b"\xff\n" + old)
    run(capsys, *words).failed()
    part.write_bytes(old)
    assert (tree(work, without=FOLDER), tree(elsewhere)) == before


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("file", "align"),
        ("empty", "train"),
        ("folder", "phrases"),
        ("link", "pivot"),
        ("marker", "align"),
        ("link to a run", "phrases"),
    ],
)
@pytest.mark.usefixtures("table")
def test_a_folder_without_the_marker_is_refused_as_it_is(capsys, given, tmp_path, kind, name):
    work, other = tmp_path / "work", tmp_path / "other"
    work.mkdir()
    place = work / FOLDER
    if kind == "file":
        place.write_text("mine", "utf-8")
    elif kind == "link to a run":
        Run(other).close()
        place.symlink_to(other)
    elif kind == "link":
        fill(other, random.Random(1), tmp_path)
        place.symlink_to(other)
    elif kind == "empty":
        place.mkdir()
    else:
        fill(place, random.Random(1), tmp_path)
        (place / "marker.json").unlink(missing_ok=True)
        if kind == "marker":
            (place / "marker.json").write_text('["mine"]', "utf-8")
    before = tree(tmp_path)
    ran = run(capsys, *commands(given, tmp_path)[name], "--work", work)
    ran.failed(f"{place}: already exists", "--work")
    assert "remove" not in ran.err
    assert tree(tmp_path) == before


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_a_file_that_the_run_did_not_make_is_not_replaced(given, tmp_path, kind):
    words = {"source": f"{given}/part*.fr", "target": f"{given}/part*.en"}
    options = {"model": f"{given}/m", "work": str(tmp_path / "work")}
    Run(tmp_path / "work" / FOLDER).close()
    (tmp_path / "mine").mkdir()
    if kind == "folder":  # for one of the run
        (tmp_path / "work" / FOLDER / "aligned").symlink_to(tmp_path / "mine")
    else:
        place = tmp_path / "work" / FOLDER / ("manifest.json" if kind == "file" else "parts.json")
        (tmp_path / "mine" / "x").write_text("mine", "utf-8")
        place.write_text("mine") if kind == "file" else place.symlink_to(tmp_path / "mine" / "x")
    before = tree(tmp_path / "mine")
    with pytest.raises(RunError, match="which needs that name"):
        cluster.align(None, **words, output=f"{tmp_path}/*.align", **options)
    assert tree(tmp_path / "mine") == before
    assert kind != "file" or place.read_text() == "mine"


def test_links_are_not_followed_when_files_go(tmp_path):
    with closing(Run(tmp_path / "run")) as made:
        Path(made.path("a", "1")).write_text("of the run", "utf-8")
        Path(made.path("b", "1")).write_text("of the run", "utf-8")
        (tmp_path / "run" / "a").rename(tmp_path / "mine")
        (tmp_path / "run" / "a").symlink_to(tmp_path / "mine")
        (tmp_path / "run" / "b" / "mine").write_text("mine", "utf-8")
        made.remove()
    assert (tmp_path / "mine" / "1").exists()
    assert [path.name for path in (tmp_path / "run" / "b").iterdir()] == ["mine"]


def test_what_else_is_in_the_folder_beside_an_output_stays(given, tmp_path):
    links, *sides = (f"{given}/part*.{name}" for name in ("align", "fr", "en"))
    out = str(tmp_path / "table")
    place = Path(folder_beside(out))
    words = dict(zip(("source", "target"), sides, strict=True), format="pharaoh")

    def stop(done, total, text):
        if "brought together" in text:
            raise KeyboardInterrupt

    refuses(KeyboardInterrupt, None, cluster.phrases, None, links, out, **words, progress=stop)
    for name in ("notes", "records/mine", "records/x.part"):
        (place / name).write_text("mine", "utf-8")
    cluster.phrases(None, links, out, **words)
    assert [*tree(place)] == [
        "lock",
        "marker.json",
        "notes",
        "records",
        "records/mine",
        "records/x.part",
    ]
    (place / "marker.json").unlink()
    refuses(RunError, "without the marker", cluster.phrases, None, links, out, **words)
    assert (place / "notes").read_text() == "mine"


HOLD = """
import sys
from alignkit.cluster.run import Run
run = Run(sys.argv[1])
print("has it", flush=True)
input()
"""


def test_a_second_command_says_who_has_the_folder(capsys, given, tmp_path):
    words = [*commands(given, tmp_path)["align"], "--work", str(tmp_path)]
    place = tmp_path / FOLDER
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLD, str(place)], **pipes) as process:
        assert process.stdout.readline() == b"has it\n"
        ran = run(capsys, *words).failed(f"process {process.pid} on ", " since 20")
        assert "folder with --work" in ran.err
        assert "remove" not in ran.err
        process.kill()
    assert (place / "lock").read_text()
    assert run(capsys, *words).code == 0  # what died has nothing
    with closing(Run(place)), pytest.raises(RunError, match="has a run there"):
        Run(place)


def test_a_lock_of_another_machine_says_how_to_go_on(capsys, given, tmp_path):
    words = [*commands(given, tmp_path)["align"], "--work", str(tmp_path)]
    Run(tmp_path / FOLDER).close()
    lock = tmp_path / FOLDER / "lock"
    lock.write_text('{"process": 7, "host": "node-9", "since": "2031-02-03"}', "utf-8")
    ran = run(capsys, *words).failed("process 7 on node-9 since 2031-02-03")
    assert f"remove the file {lock}" in ran.err
    lock.unlink()
    assert run(capsys, *words).code == 0
    lock.write_text("mine", "utf-8")
    run(capsys, *words).failed("not from this run")
    assert lock.read_text() == "mine"


def test_without_locks_of_the_system_a_process_that_lives_has_the_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("alignkit.cluster.run.lock_alone", lambda file: None)
    host = Run(tmp_path / "run")
    text = (tmp_path / "run" / "lock").read_text()
    host.close()
    (tmp_path / "run" / "lock").write_text(text)
    refuses(RunError, f"process {os.getpid()} on", Run, tmp_path / "run")
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / "run" / "lock").write_text(text.replace(str(os.getpid()), str(dead.pid)))
    Run(tmp_path / "run").close()


@pytest.mark.parametrize("url", ["s3:/b/w", "abfs+x://a@b/c"])
def test_a_url_is_no_folder(capsys, given, monkeypatch, tmp_path, url):
    monkeypatch.chdir(tmp_path)
    for words in commands(given, tmp_path).values():
        run(capsys, *words, "--work", url).failed(f"{url}: is a URL")
    texts = [f"{given}/part*.fr", f"{given}/part*.en"]
    load = ["--load", f"{given}/m"]
    for more in (["-o", f"{url}/*.x"], ["-o", "*.x", "--scores", f"{url}/*.y"]):
        run(capsys, "align", *texts, *load, *more).failed("is a URL")
    run(capsys, "align", f"{url}/*.fr", texts[1], *load, "-o", "*.x").failed("is a URL")
    run(capsys, "align", *texts, "--work", "w", "--save", f"{url}/m").failed("is a URL")
    draw = ["audit", "pairs", PARAPHRASES, "--n", "3", "--mix", "0"]
    run(capsys, *draw, "-o", url).failed("is a URL")  # which makes a folder
    refuses(OptionError, "is a URL", cluster.train, None, *texts, work=url, save="m")
    assert not list(tmp_path.iterdir())


def test_what_is_read_is_not_replaced_by_links(given, tmp_path, capsys):
    model = tmp_path / "1.x"
    model.write_bytes((given / "m").read_bytes())
    texts = [f"{given}/part*.fr", f"{given}/part*.en"]
    with pytest.raises(OptionError, match=r"1\.x would be replaced"):
        cluster.align(None, *texts, f"{tmp_path}/*.x", model=str(model))
    assert model.read_bytes() == (given / "m").read_bytes()
    (tmp_path / "1.tsv").write_text("le\tthe\n", "utf-8")
    words = [*commands(given, tmp_path)["train"], "--dictionary", f"{tmp_path}/1.tsv"]
    words[words.index("-o") + 1] = f"{tmp_path}/*.tsv"
    run(capsys, *words, "--work", tmp_path).failed("is also read")
    assert (tmp_path / "1.tsv").read_text() == "le\tthe\n"


def test_an_input_of_equal_size_and_time_is_another_one(given, tmp_path):
    for name in ("part1.fr", "part1.en"):
        (tmp_path / name).write_bytes((given / name).read_bytes())
    texts, out = [f"{tmp_path}/part*.fr", f"{tmp_path}/part*.en"], f"{tmp_path}/*.align"
    options = {"model": f"{given}/m", "work": str(tmp_path)}
    cluster.align(None, *texts, out, **options)
    path = tmp_path / "part1.fr"
    status, text = path.stat(), path.read_bytes()
    path.write_bytes(text.replace(b"maison", b"saison"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    with pytest.raises(RunError, match=re.escape(f"inputs {path} has changed")):
        cluster.align(None, *texts, out, **options)


@pytest.mark.parametrize("size", [1, 100_000, 1 << 20, 5_000_000])
def test_a_digest_of_some_blocks_has_head_tail_and_middle(tmp_path, size):
    path, data = tmp_path / "x", bytearray(size)
    path.write_bytes(data)
    first = digest_of(str(path), sample=True)
    last, block = max(size - (1 << 16), 0), min(size, 1 << 16) - 1
    for at in (0, block, last * 7 // 15 + block // 2, size - 1):
        data[at] ^= 1
        path.write_bytes(data)
        assert digest_of(str(path), sample=True) != first
        data[at] ^= 1


def test_files_of_the_user_beside_a_project_stay(tmp_path):
    for name in ("p-lock", "p-server"):
        (tmp_path / name).write_text("mine", "utf-8")
    refuses(ProjectError, "p-lock is not a lock", ServerLock, str(tmp_path / "p"))
    with pytest.raises(ProjectError, match="alignkit needs this name"):
        ServerFile("127.0.0.1:1", "x").write(str(tmp_path / "p"))
    assert {path.read_text() for path in tmp_path.iterdir()} == {"mine"}
