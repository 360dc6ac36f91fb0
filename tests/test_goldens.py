"""Every command prints on the samples what it printed before, to the letter.

The outputs are alignkit's own: they say that nothing changed, not that it is right. Where a change
is meant, write them anew and look at what ``git diff`` says::

    PYTHONPATH=. python tests/test_goldens.py
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from adjudicated_project import two_annotators
from annotation import Tab, project, sent
from command import ROOT

from alignkit.cli import main
from alignkit.version import __version__

FOLDER = ROOT / "tests" / "goldens" / "commands"
MASKS = {
    rf"(?<![\d.]){re.escape(__version__)}(?![\d.])": "VERSION",
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(Z|\+00:00)?": "TIME",
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}": "UUID",
    r"event-\d+": "EVENT",
    r'"(loading|training|aligning|writing)": [\d.]+': r'"\1": SECONDS',
}
P, S, F = "samples/paraphrases.jsonl", "samples/structures.jsonl", "samples/french-english/"
TEXTS = f"--source {F}fr.txt --target {F}en.txt"
TREES = "--source-trees samples/{0}.source.trees --target-trees samples/{0}.target.trees"
EFLOMAL = f"{P} --hyp-annotator eflomal --ref-annotator gold"
THREE = EFLOMAL.replace("eflomal", "eflomal anna ben")
RULES = f"rules {S} {TREES.format('structures')}"
TABLE = f"phrases {F}gold.align {TEXTS} --links sure --max-length 3 --table"
LEARN = f"learn {F}gold.align {TEXTS} --format pharaoh --objective aer --prior none"
SCHEME = "--scheme paraphrase"
COMMANDS = {  # each plainly and in these forms; in this order, for some read what others wrote
    "help": "--help",
    "align": f"align {F}fr.txt {F}en.txt --save a.model",
    "align-loaded": f"align {F}fr.txt {F}en.txt --load a.model --sure 0.9",
    "align-counts": f"align {F}fr.txt {F}en.txt --load a.model -o out.align --json",
    "learn json": f"{LEARN} --save b.model",
    "convert-xml": f"convert {S} - --to alignkit-xml",
    "convert-naacl": f"convert {F}gold.align - {TEXTS} --to naacl",
    "check json": f"check {F}gold.align --base 1 {TEXTS}",
    "show": f"show {P} --id p05 --annotators anna ben",
    "show-html": f"show {P} --id p05 --html page.html",
    "phrases jsonl": f"phrases {S} --annotator gold --kind atomic --ignore-identical",
    "phrases-table": TABLE,
    "phrases-file": f"{TABLE} -o table.tsv",
    "pivot jsonl": "pivot table.tsv",
    "rules json": RULES,
    "rules-tsv": f"{RULES} --to tsv -o rules.tsv",
    "paraphrase json": "paraphrase rules.tsv --min-count 1"
    " --sentences samples/structures.source.trees",
    "score json csv": f"score {EFLOMAL} --level both --ci --resamples 200",
    "score-labels json csv": f"score-labels {P} --hyp-annotator ben --ref-annotator anna {SCHEME}",
    "score-phrases json": f"score-phrases table.tsv {F}gold.align {TEXTS}",
    "score-rules json csv": f"score-rules {EFLOMAL} {TREES.format('paraphrases')}",
    "errors json csv": f"errors {EFLOMAL} --by-link kind,word",
    "profile json csv": f"profile {THREE} --trials 100 --resamples 100",
    "symmetrize": f"symmetrize {F}eflomal.align {F}fast_align.align --method grow-diag-final",
    "pairs json": f"pairs {F}fr.txt {F}en.txt german.txt --to-source fr --to-target de",
    "merge": f"merge {F}gold.align --name gold {TEXTS} --add e={F}eflomal.align -o both.xml",
    "concat json": f"concat {S} {P} -o all.jsonl",
    "select": f"select {P} --split train=.8,dev=.1,test=.1 --stratify genre -o parts.jsonl",
    "select-few": f"select {P} --ids p01 p05 p08 p26 p40 -o few.jsonl --json",
    "agree": f"agree {P} --annotators anna ben --initial eflomal",
    "agree-few json csv": "agree few.jsonl --annotators anna ben --initial eflomal",
    "agree-three": f"agree {P} --annotators anna ben gold --by genre",
    "agree-judgments json csv": f"agree-judgments {P} {SCHEME}",
    "quality json csv": f"quality crowd.jsonl --gold anna {SCHEME}",
    "audit": f"audit phrases {P} {EFLOMAL} --n 9 --seed 1 --judges anna ben -o audit",
    "stats json": f"stats {P}",
    "stats-diversity json csv": f"stats {P} --diversity --by genre",
    "labels json csv": f"labels {P} {SCHEME}",
    "assign json": "project assign assigned --annotators anna ben --double 0.5 --control 0.5",
    "pull json": "project bias assigned",
    "yield json": "project yield extract",
    "events-check json": "project log assigned --check",
    "events": "project log work",
    "events-assigned": "project log assigned",
    "export": "project export work - --to alignkit-jsonl",
    "import": f"project import work {S} --add-pairs --json",
}
CASES = {}
for _names, _words in COMMANDS.items():
    _name, *_forms = _names.split()
    CASES |= {_name: _words} | {f"{_name}-{form}": f"{_words} --{form}" for form in _forms}


def inputs() -> None:
    """Write a project and a copy to assign, one of documents, and a corpus judged by five."""
    two_annotators("work")
    shutil.copy("work", "assigned")
    with project(Path(), name="extract", task="extract") as store:
        Tab(store).send(sent("done", before=False, after=True))
    shutil.copytree(ROOT / "samples", "samples")
    Path("german.txt").write_text("ein Satz\n\n" * 26, "utf-8")
    head, *pairs = map(json.loads, Path(P).read_text("utf-8").splitlines())
    for k, pair in enumerate(pairs):
        labels = ["paraphrase" if k % step else "partial" for step in (2, 3, 4, 5)]
        pair["annotations"] |= {f"c{n}": {"judgment": label} for n, label in enumerate(labels)}
    Path("crowd.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in [head, *pairs]), encoding="utf-8"
    )


def digests() -> dict[str, str]:
    """Return a digest of each file that commands wrote; projects have times in them."""
    files = (x for x in Path().rglob("*") if x.is_file() and x.suffix not in ("", ".alignkit"))
    return {str(path): sha256(masked(path.read_bytes())).hexdigest() for path in sorted(files)}


def masked(data: bytes) -> bytes:
    """Return what a file has, whatever the version, on which the names of audited items depend."""
    data = data.replace(__version__.encode(), b"VERSION")
    return re.sub(rb"\b[a-z]{4}(\d{3})\b", rb"item\1", data)


def outputs() -> dict[str, str]:
    """Return what each command prints in a new folder, and the digests of what it writes there."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            inputs()
            return {name: printed_by(name) for name in CASES}
        finally:
            os.chdir(before)


def printed_by(name: str) -> str:
    before, raw = digests(), io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.redirect_stdout(raw):
        code = main([*CASES[name].split(), *(["--quiet"] if name != "help" else [])])
    text = raw.buffer.getvalue().decode()
    for pattern, mask in MASKS.items():
        text = re.sub(pattern, mask, text)
    written = sorted(dict(digests().items() - before.items()).items())
    return f"{text}exit code {code}\n" + "".join(f"{path} {sha}\n" for path, sha in written)


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    return outputs()


@pytest.mark.parametrize("name", CASES)
def test_a_command_prints_what_it_printed_before(name: str, printed: dict[str, str]) -> None:
    assert rounded(printed[name]) == rounded((FOLDER / f"{name}.txt").read_text("utf-8"))


def rounded(text: str) -> str:
    """Round to 12 digits: the last ones depend on the processor's sums."""
    return re.sub(r"\d\.\d{12,}(e-?\d+)?", lambda number: f"{float(number[0]):.12g}", text)


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for _name, _text in outputs().items():
        (FOLDER / f"{_name}.txt").write_text(_text, "utf-8")
