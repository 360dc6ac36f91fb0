"""Training over parts and shards gives the bytes of one machine, and goes on after any stop."""

import gzip
import json
from types import SimpleNamespace

import numpy as np
import pytest
from command import run, write
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from alignkit.align import Aligner, Settings
from alignkit.cluster import training
from alignkit.cluster.training import train
from alignkit.cluster.training_files import Arrays, sparse
from alignkit.cluster.worker_memory import WorkerMemory
from alignkit.errors import AlignkitError, OptionError
from alignkit.io.link_lines import format_lines

STEPS = (
    "merge_words",
    "index_part",
    "make_shard",
    "add_counts",
    "add_parts",
    "weigh",
    "add_shards",
    "expect",
    "remember",
    "write_model",
    "write_links",
)


def random_lines(seed, pairs, words=40, longest=12):
    rng = np.random.default_rng(seed)
    known = ["".join(rng.choice(list("abcdeé"), rng.integers(1, 7))) for _ in range(words)]
    lines = [
        [" ".join(rng.choice(known, n).tolist()) for n in rng.integers(0, longest, 2)]
        for _ in range(pairs)
    ]
    lines[pairs // 2] = list(lines[0])
    lines[pairs // 3] = [" ".join(rng.choice(known, n).tolist()) for n in (450, 410)]
    return lines


def divided(folder, lines, number, seed=0):
    rng = np.random.default_rng(seed)
    cuts = [0, *sorted(rng.integers(0, len(lines) + 1, number - 1).tolist()), len(lines)]
    for k in range(number):
        some = lines[cuts[k] : cuts[k + 1]]
        for side, name in enumerate(("fr", "en")):
            write(folder, f"{k}.{name}", "".join(f"{line[side]}\n" for line in some).encode())
    return f"{folder}/*.fr", f"{folder}/*.en"


def on_one_machine(folder, lines, **options):
    aligner = Aligner.train([tuple(line) for line in lines], threads=1, **options)
    aligner.save(folder / "one.model")
    links = aligner.align_bitext([tuple(line) for line in lines], threads=1)
    return (folder / "one.model").read_bytes(), format_lines(links.arrays)


def over_parts(folder, patterns, parts, **options):
    train(
        options.pop("client", None),
        *patterns,
        work=str(folder / "work"),
        save=str(folder / "model"),
        output=str(folder / "*.align"),
        **options,
    )
    links = b"".join((folder / f"{k}.align").read_bytes() for k in range(parts))
    return (folder / "model").read_bytes(), links


@pytest.mark.parametrize(
    ("parts", "shards", "pairs", "options"),
    [
        (1, 1, 70, {"hmm": 2}),
        (2, 2, 49, {}),
        (3, 4, 70, {"model": "ibm1", "ibm1": 2}),
        (8, 1, 60, {"stem_weight": 0.0, "identity": 1.0}),
        (8, 4, 60, {"hmm": 2, "stem": 2}),
        (3, 2, 60, {"ibm1": 2, "hmm": 3, "prune": True}),
    ],
)
def test_any_parts_and_shards_give_one_machine_s_bytes(tmp_path, parts, shards, pairs, options):
    lines = random_lines(parts, pairs)
    patterns = divided(tmp_path, lines, parts, seed=shards)
    wanted = on_one_machine(tmp_path, lines, **options)
    found = over_parts(tmp_path, patterns, parts, shards=shards, settings=Settings(**options))
    assert found == wanted


def wrap_steps(monkeypatch, names, wrap):
    """Put `wrap(step)` in the place of some steps where the training looks for them."""
    tasks = SimpleNamespace(**vars(training.training_tasks))
    monkeypatch.setattr(training, "training_tasks", tasks)
    for name in names:
        home = training if name == "merge_words" else tasks
        monkeypatch.setattr(home, name, wrap(getattr(home, name)))


class Stopped(BaseException):
    """Ends a run as Ctrl-C does."""


def test_a_run_that_was_stopped_anywhere_goes_on(tmp_path, monkeypatch):
    lines = random_lines(5, 60)
    patterns, wanted = divided(tmp_path, lines, 3), on_one_machine(tmp_path, lines, hmm=2)
    calls = dict.fromkeys(STEPS, 0)

    def stopping(function):
        name = function.__name__

        def step(*arguments):
            calls[name] += 1
            if calls[name] in (1, 4):
                raise Stopped
            found = function(*arguments)
            if calls[name] in (3, 6):  # what it wrote is there already
                raise Stopped
            return found

        return step

    wrap_steps(monkeypatch, STEPS, stopping)
    for stops in range(50):
        try:
            found = over_parts(tmp_path, patterns, 3, settings=Settings(hmm=2), shards=2)
        except Stopped:
            continue
        assert found == wanted
        assert stops > 30
        assert max(calls.values()) < 60  # no round that was whole is done again
        return
    pytest.fail("it never came to its end")


def test_what_a_run_is_of_cannot_change(tmp_path):
    patterns, work = divided(tmp_path, random_lines(6, 20), 2), str(tmp_path / "work")
    found = train(None, *patterns, work=work)
    assert train(None, *patterns, work=work) == found
    for other, told in (
        ({"settings": Settings(hmm=3)}, "settings hmm was 4, and is now 3"),
        ({"dictionary": {("a", "b"): 1.0}}, "dictionary"),
    ):
        refuses(AlignkitError, told, train, None, *patterns, work=work, **other)
    write(tmp_path, "1.fr", (tmp_path / "1.fr").read_bytes().replace(b"a", b"e"))
    refuses(AlignkitError, r"inputs .*1\.fr (was|has)", train, None, *patterns, work=work)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "ibm2"}, "ibm2 .* use ibm1 or hmm"),
        ({"best": True}, "best needs training"),
        ({"inference": "em"}, "em .* use collapsed"),
        ({"inference": "vb", "agree": False}, "vb needs training"),
    ],
)
def test_what_one_machine_alone_trains_is_refused_by_name(tmp_path, options, message):
    patterns, work = divided(tmp_path, random_lines(1, 9), 2), str(tmp_path / "work")
    refuses(
        OptionError, f"^{message}", train, None, *patterns, work=work, settings=Settings(**options)
    )
    assert not (tmp_path / "work").exists()


def test_bad_parts_are_told_before_anything_is_trained(tmp_path):
    patterns, work = divided(tmp_path, [["a", "b"]] * 4, 2), str(tmp_path / "work")
    write(tmp_path, "1.en", b"x\ny\n")
    for text, message in (
        (b"a b\n\xff\n", r"1\.fr:2:1: not utf-8"),
        (b"a b\nc\nd\n", r"1\.fr: has 3 lines, but .*1\.en has 2"),
    ):
        write(tmp_path, "1.fr", text)
        refuses(AlignkitError, message, train, None, *patterns, work=work)
    assert not (tmp_path / "work" / "alignkit-run" / "state.json").exists()
    patterns = divided(tmp_path, [["a", ""], ["", "b"]], 2)
    message = "nothing to learn from: no pair has words on both"
    refuses(AlignkitError, message, train, None, *patterns, work=str(tmp_path / "other"))


def test_a_dictionary_is_heeded_and_its_entries_are_counted(tmp_path):
    lines = random_lines(8, 55)
    word, other = (line.split()[0].upper() for line in next(x for x in lines if all(x)))
    dictionary = {(word, other): 7.5, ("none", "such"): 2.0}
    patterns = divided(tmp_path, lines, 3)
    wanted = on_one_machine(tmp_path, lines, dictionary=dictionary)
    options = {"shards": 2, "dictionary": dictionary}
    assert over_parts(tmp_path, patterns, 3, **options) == wanted
    assert train(None, *patterns, work=str(tmp_path / "work"), **options).entries_met == 1


def test_a_damaged_file_of_the_run_is_named(tmp_path):
    patterns, work = divided(tmp_path, random_lines(9, 55), 2), tmp_path / "work"
    train(None, *patterns, work=str(work))
    path = work / "alignkit-run" / "round-5" / "part-1.npz"
    data = bytearray(path.read_bytes())
    data[data.index(b"\x93NUMPY") + 130] ^= 1
    path.write_bytes(data)
    with pytest.raises(AlignkitError, match=r"part-1\.npz: a file"):
        train(None, *patterns, work=str(work), save=str(tmp_path / "m"))


def test_what_is_kept_has_a_limit_and_is_of_one_run():
    kept, made = WorkerMemory(), []

    def make(name):
        def one():
            made.append(name)
            return name, 10

        return one

    for name in "ababcacb":
        assert kept.get("run", name, 80, make(name)) == name
    assert "".join(made) == "abcc"  # a quarter of the memory holds two of them
    assert kept.get("other", "a", 80, make("A")) == "A"


@given(st.lists(st.sampled_from([0, 0, 0, 1, 7])), st.sampled_from([np.uint8, np.int64]))
def test_sparse_arrays_come_back(values, kind):
    array = np.array(values, kind)
    found = Arrays("x", sparse("a", array)).dense("a", len(array))
    assert (found.tolist(), found.dtype) == (values, kind)


def test_the_command_trains_on_parts_as_on_one_text(tmp_path, capsys):
    lines = random_lines(12, 60)
    patterns = divided(tmp_path, lines, 3)
    texts = [
        write(tmp_path, name, "".join(f"{line[side]}\n" for line in lines).encode())
        for side, name in enumerate(("whole-fr", "whole-en"))
    ]
    options = ["--hmm", "2", "--null", "0.1"]
    one = run(
        capsys,
        "align",
        *texts,
        *options,
        "--probs",
        "--scores",
        tmp_path / "scores",
        "--save",
        tmp_path / "one",
    )
    found = run(
        capsys,
        "align",
        *patterns,
        *options,
        "--work",
        tmp_path / "work",
        "--probs",
        "--json",
        "--save",
        tmp_path / "model",
        "-o",
        tmp_path / "*.links.gz",
        "--scores",
        tmp_path / "*.ll",
    )
    links = [gzip.decompress((tmp_path / f"{k}.links.gz").read_bytes()) for k in range(3)]
    assert b"".join(links).decode() == one.out
    assert (tmp_path / "model").read_bytes() == (tmp_path / "one").read_bytes()
    scores = b"".join((tmp_path / f"{k}.ll").read_bytes() for k in range(3))
    assert (scores, json.loads(found.out)["parts"]) == ((tmp_path / "scores").read_bytes(), 3)
    rounds = [line for line in found.err.splitlines() if "log-likelihood" in line]
    assert len(rounds) == 2
    assert all(line in one.err for line in rounds)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "x*"], "name it with --work"),
        (["--work", "w"], "name the files for"),
        (["--work", "w", "-o", "x*", "--model", "ibm4"], "ibm4 needs training"),
        (["--work", "w", "-o", "x"], "an output with one"),
    ],
)
def test_the_command_says_what_parts_need(tmp_path, capsys, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    divided(tmp_path, [["a", "b"]] * 4, 2)
    run(capsys, "align", "*.fr", "*.en", *options).failed(message)
