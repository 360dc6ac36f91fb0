"""Damaged files beside judged pairs: a clear error or an answer of each command, never a fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from audit_sheets import filled
from command import run
from format_files import damaged
from repetitions import repetitions
from test_audit_pairs import PEOPLE, draw, judged_binary
from test_label_scores import judged

from alignkit import write_corpus

pytestmark = pytest.mark.usefixtures("no_collection")  # some texts are nested deeply

TIMES = repetitions(200)
LABELS = [("1", "1", "0"), ("0", "1", "0"), ("1", "1", "1"), ("0", "0", "0"), ("1", "0", "1")]
BY_ID = "".join(f"{k}\t{gold}\n" for k, (gold, *_) in enumerate(LABELS))
IN_ORDER = "".join(f"{gold}\n" for gold, *_ in LABELS)
GROUPS = "anna\texperts\nben\texperts\n\ncleo\tlay people\n"
TABLE = "phenomenon\tS1\tS2\tS3\nidentity\t.74\t.5\t-\nnegation\t34%\t.2\t.9\nspelling\t1\t.3\t.4\n"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    write_corpus(judged(LABELS, ("anna", "ben", "cleo")), path, format="alignkit-jsonl")
    return path


def endure(capsys, path: Path, whole: str, *commands: list) -> None:
    for raw in damaged(whole.encode(), TIMES):
        path.write_bytes(raw)
        for words in commands:
            ran = run(capsys, *words)
            if ran.code == 2:
                assert str(path.parent) in ran.failed().err, ran.err
            else:
                assert ran.code in (0, 1)
    path.write_text(whole, "utf-8")


@pytest.mark.parametrize("whole", [BY_ID, IN_ORDER], ids=["id", "order"])
def test_predictions(tmp_path, capsys, gold, whole):
    path = tmp_path / "p.tsv"
    given = ["score-labels", gold, "--ref-annotator", "ben", "--scheme", "binary"]
    endure(capsys, path, whole, [*given, "--predictions", path, "--csv"])


def test_groups_and_a_printed_table(tmp_path, capsys, gold):
    path = tmp_path / "groups.tsv"
    given = ["agree-judgments", gold, "--scheme", "binary", "--permutations", "10"]
    endure(capsys, path, GROUPS, [*given, "--resamples", "10", "--groups", path, "--csv"])
    path = tmp_path / "table.tsv"
    endure(capsys, path, TABLE, ["profile", "--table", path, "--csv"])


def test_sheets_and_key_of_an_audit(tmp_path, capsys):
    audit = draw(n=6, judges=PEOPLE[:3])
    sheets, key = filled(tmp_path, audit, judged_binary(audit, PEOPLE[:3], 1, 0))
    for path in (Path(sheets[0]), Path(key)):
        read = ["audit", "read", *sheets, "--key", key, "--csv"]
        endure(capsys, path, path.read_text("utf-8"), read)
