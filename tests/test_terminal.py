"""Nothing that a file holds acts on a terminal, breaks a line of a report, or runs in a sheet."""

import csv
import io
import json
import os
import re
from contextlib import suppress
from threading import Thread

import pytest
from command import process, run, write
from hypothesis import given
from hypothesis import strategies as st
from test_cli import posix

from alignkit.cli.common.messages import json_text
from alignkit.tables.table import Table

ACTING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
EVIL = ("\x1b[2J\x1b]0;title\x07\x9b31m\r\x7f\x08\u202e\u2066", "a\nb\x85")


def evil(name, k=0):
    return name + EVIL[k] + "x"


def corpus(tmp_path, k=0):
    lines = [{"alignkit": "corpus", "version": 1}]
    for number in (1, 2):
        texts = {name: evil(name, k) for name in ("comment", "judgment")}
        marks = {"sure": "0-0 1-1", "labels": {"0-0": evil("label", k)}, "flags": [evil("flag", k)]}
        annotations = {evil(who, k): {**marks, **texts} for who in ("anna", "ben", "auto")}
        sides = {"source": [evil("s", k), "b"], "target": [evil("t", k), "b"]}
        attributes = {evil("key", k): evil("value", k), "genre": evil("news", k)}
        more = {"attributes": attributes, "annotations": annotations}
        lines.append({"id": evil(f"p{number}", k), **sides, **more})
    return write(tmp_path, evil("corpus", k), "".join(json.dumps(line) + "\n" for line in lines))


def reports(path, k):
    first, second, auto = (evil(who, k) for who in ("anna", "ben", "auto"))
    agree = ["agree", path, "--resamples", 5]
    genre, sampled = ["--by", "genre"], ["--initial", auto, "--samples", 10]
    scored = ["score", path, path, "--hyp-annotator", first, "--ref-annotator", second]
    return (
        ["stats", path],
        ["check", path],
        ["check", path, path],
        ["show", path],
        ["show", path, "--annotators", first, second],
        agree,
        [*agree, *genre],
        [*agree, *sampled, *genre],
        [*agree, *sampled, "--latex"],
        [*scored, *genre],
        [*scored, "--per-pair"],
    )


def wrong_calls(path, k):
    return (
        ["show", path, "--annotators", "nobody"],
        ["show", path, "--id", "none"],
        ["convert", path, "-", "--to", "pharaoh"],
        ["convert", path, "-", "--to", "pharaoh", "--annotator", "nobody"],
        ["phrases", path],
        ["agree", path, "--initial", "nobody"],
        ["agree", path, "--by", "nothing"],
        ["stats", path, "--format", "rte"],
        ["stats", path + "none"],
        ["stats", path, EVIL[k]],
        ["stats", path, "--" + EVIL[k]],
        [EVIL[k], path],
        ["stats", path, "--format", EVIL[k]],
    )


@pytest.mark.parametrize("k", range(len(EVIL)), ids=ascii)
def test_no_report_and_no_error_acts_on_the_terminal(capsys, tmp_path, k):
    path = corpus(tmp_path, k)
    for words in [*reports(path, k), *wrong_calls(path, k)]:
        ran = run(capsys, *words)
        assert (ran.code == 2) == (words in wrong_calls(path, k)), (words, ran.err)
        assert "fault in alignkit" not in ran.err, ran.err
        assert not ACTING.search(ran.out + ran.err), words


def test_a_line_end_in_a_name_breaks_no_line(capsys, tmp_path):
    paths = []
    for k, name in enumerate(("plain", "broken")):
        (tmp_path / name).mkdir()
        paths.append(corpus(tmp_path / name, k))
    agree = ["agree", "--resamples", 5, "--by", "genre"]
    for command, *more in (["stats"], ["check"], [*agree, "--latex"], [*agree, "--markdown"]):
        plain, broken = (run(capsys, command, path, *more).out.splitlines() for path in paths)
        broken = [line for line in broken if not line.startswith("white space in words")]
        assert len(plain) == len(broken), (command, more)


def strings(value):
    if isinstance(value, dict):
        return {*value, *strings([*value.values()])}
    if isinstance(value, list):
        return set().union(*map(strings, value))
    return {value} if isinstance(value, str) else set()


@pytest.mark.parametrize("k", range(len(EVIL)), ids=ascii)
def test_json_is_exact_and_acts_on_nothing(capsys, tmp_path, k):
    path = corpus(tmp_path, k)
    for words in (["stats"], ["check"], ["agree"]):
        ran = run(capsys, *words, path, "--json")
        assert not ACTING.search(ran.out)
        names = evil("anna", k), repr(evil("anna", k))
        assert words == ["check"] or any(name in str(ran.json) for name in names)


@given(st.text())
def test_json_escapes_what_it_must_and_means_the_same(text):
    written = json_text({text: text}, indent=None)
    assert json.loads(written) == {text: text}
    assert not ACTING.search(written)


def undone(cell):
    return cell[1:] if re.match(r"'+[=+\-@\t\r\n＝＋－＠]", cell) else cell


def read_back(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


@given(st.text(st.sampled_from("=+-@\t\r\n'\",; a1＝"), max_size=5))
def test_every_text_comes_back(text):
    rows = read_back(Table.from_records([{"name": text, "n": -1}]).csv())
    assert [(undone(row["name"]), row["n"]) for row in rows] == [(text, "-1")]
    assert not re.match(r"[=+\-@\t\r\n＝]", rows[0]["name"])


@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["agree", "--csv"],
        ["phrases", "--annotator", evil("anna")],
        ["convert", "-", "--to", "alignkit-jsonl"],
    ],
    ids=" ".join,
)
def test_data_is_exact_in_a_file_and_harmless_on_a_terminal(tmp_path, words):
    import pty

    path = corpus(tmp_path)
    command, more = words[0], words[1:]
    assert "\u202e" in process(command, path, *more).out
    leader, follower = pty.openpty()
    shown = b""

    def read():
        nonlocal shown
        with os.fdopen(leader, "rb") as reading, suppress(OSError):  # how a terminal ends
            while some := reading.read1():
                shown += some

    reader = Thread(target=read)  # a terminal holds a few lines until they are read
    reader.start()
    assert process(command, path, *more, stdout=follower).code == 0
    os.close(follower)
    reader.join()
    assert ACTING.findall(shown.decode().replace("\r\n", "\n").replace("\t", " ")) == []
    assert "202e" in shown.decode()
