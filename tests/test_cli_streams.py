"""Closed and broken standard streams: results are told as missing, messages are lost quietly."""

import os
import subprocess
import sys
from functools import cache
from itertools import cycle, product

import pytest
from command import COMPILING, EFLOMAL, FAST, FRENCH, GOLD, PARAPHRASES, TEXTS, write
from repetitions import FULL
from test_cli import shell

pytestmark = pytest.mark.skipif(os.name != "posix", reason="streams are closed by a POSIX shell")

BITEXT = f"{FRENCH}/fr.txt {FRENCH}/en.txt"
PRINTING = {
    "align": f"{BITEXT} --model ibm1",
    "convert": f"{PARAPHRASES} - --to alignkit-xml",
    "check": GOLD,
    "show": f"{GOLD} {' '.join(TEXTS)} --limit 2",
    "phrases": f"{GOLD} {' '.join(TEXTS)}",
    "score": f"{EFLOMAL} {GOLD}",
    "score-phrases": f"{FRENCH}/pairs.tsv {GOLD} {' '.join(TEXTS)}",
    "symmetrize": f"{EFLOMAL} {FAST} --method union",
    "pairs": BITEXT,
    "merge": f"{PARAPHRASES} --add anna={PARAPHRASES} -o -",
    "concat": f"{PARAPHRASES} -o -",
    "select": f"{PARAPHRASES} --share .5 -o -",
    "agree": PARAPHRASES,
    "stats": PARAPHRASES,
    "--help": "",
}
CLOSED = ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"]
ALIGNKIT = f"{sys.executable} -W error -m alignkit"


@cache
def as_usual(command):
    ran = shell(f"{ALIGNKIT} {command}")
    assert ran.returncode == 0, ran.stderr
    return ran


def spread(faults, turn):
    if FULL:
        return list(product(PRINTING, faults))
    return list(zip(PRINTING, cycle(faults), strict=False))[turn::2]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "closed"), spread(CLOSED, 0))
def test_every_command_runs_with_closed_streams(name, closed):
    command = f"{name} {words(name)}"
    plain = as_usual(command)
    ran = shell(f"{ALIGNKIT} {command} {closed}")
    told = ran.stderr.replace(COMPILING, "")
    if ">&-" in closed.split():
        assert (ran.returncode, ran.stdout) == (2, "")
        if "2>&-" not in closed:
            assert "standard output is closed" in told.splitlines()[-1]
    else:
        assert (ran.returncode, ran.stdout) == (plain.returncode, plain.stdout)
    assert "2>&-" not in closed or told == ""
    assert "Traceback" not in told
    assert "fault" not in told


def words(name):
    if name == "score-phrases":
        return f"<(printf 'a\\tb\\n') {GOLD} {' '.join(TEXTS)}"
    return PRINTING[name]


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_an_output_never_takes_the_number_of_a_closed_stream(closed, tmp_path):
    expected, out = tmp_path / "expected", tmp_path / "out"
    told = shell(f"{ALIGNKIT} convert {PARAPHRASES} {expected} --to rte --annotator anna").stderr
    assert "cannot represent" in told
    ran = shell(f"{ALIGNKIT} convert {PARAPHRASES} {out} --to rte --annotator anna {closed}")
    assert ran.returncode == 0
    assert out.read_bytes() == expected.read_bytes()


@pytest.mark.slow
def test_closed_stdin_is_told_where_it_is_to_be_read():
    ran = shell(f"{ALIGNKIT} score-phrases - {GOLD} {' '.join(TEXTS)} <&-")
    assert ran.returncode == 2
    assert ran.stderr.endswith("closed; name a file\n")


def without_reader(command, *, stdout=False, stderr=False):
    read, closed = os.pipe()
    os.close(read)
    out, err = (closed if broken else subprocess.PIPE for broken in (stdout, stderr))
    try:
        words = ["bash", "-c", command]
        return subprocess.run(words, text=True, check=False, stdout=out, stderr=err)
    finally:
        os.close(closed)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "broken"), spread(["stdout", "stderr", "stderr", "stdout"], 1))
def test_a_broken_pipe_is_quiet_in_every_command(name, broken):
    plain = as_usual(f"{name} {words(name)}")
    ran = without_reader(f"{ALIGNKIT} {name} {words(name)}", **{broken: True})
    assert ran.returncode == plain.returncode
    if broken == "stderr":
        assert ran.stdout == plain.stdout
    else:
        assert ran.stderr == plain.stderr or name != "align"
        assert "Error" not in ran.stderr
        assert "Broken" not in ran.stderr


@pytest.mark.slow
def test_an_error_stays_one_where_nobody_reads_anything(tmp_path):
    broken = write(tmp_path, "broken.align", "0-0\n" * 3_000 + "x\n")
    command = f"{ALIGNKIT} convert {broken} - --to pharaoh"
    assert without_reader(command, stderr=True).returncode == 2
    assert without_reader(command, stdout=True, stderr=True).returncode in (0, 2)
