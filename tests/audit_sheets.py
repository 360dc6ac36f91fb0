"""Fill sheets of an audit, as a judge with a spreadsheet does."""

import csv
from pathlib import Path
from random import Random

from command import PARAPHRASES

from alignkit import Alignment, Corpus, SentencePair, read_corpus
from alignkit.audit import draw_phrases, write_audit

NAMES = ("correct", "uncertain", "incorrect")
SAMPLE = read_corpus(PARAPHRASES)
ODD = (
    "=1+1",
    "-5",
    "+3",
    "@here",
    "'=x",
    '"',
    "a,b",
    "tab\there",
    "line\nend",
    "＝x",
    "''",
    "שלום",
)


def sample_audit(n=40, **options):
    return draw_phrases(SAMPLE, "eflomal", "gold", n=n, **({"seed": 1} | options))


def odd_audit():
    """Draw phrase pairs whose words a spreadsheet would run, or take for something else."""
    pairs = [
        SentencePair(
            str(k),
            (word, "the"),
            ("so", other),
            {"A": Alignment.parse("0-1"), "B": Alignment.parse("1-0")},
        )
        for k, (word, other) in enumerate(zip(ODD, ODD[::-1], strict=True))
    ]
    return draw_phrases(Corpus(pairs), "A", "B", n=100)


def read(path, divider="\t"):
    with Path(path).open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream, delimiter=divider))


def save(path, rows, *, divider="\t", encoding="utf-8", names=None, end="\r\n"):
    with Path(path).open("w", encoding=encoding, newline="") as stream:
        table = csv.DictWriter(
            stream,
            names or list(rows[0]),
            delimiter=divider,
            lineterminator=end,
            extrasaction="ignore",
            quoting=csv.QUOTE_ALL,
        )
        table.writeheader()
        table.writerows(rows)
    return str(path)


def filled(folder, audit, said, **options):
    """Write an audit and fill its sheets; `said` holds for each judge judgments by item."""
    *sheets, key = write_audit(audit, folder, judges=list(said))
    for path, judge in zip(sheets, said, strict=True):
        rows = read(path)
        for row in rows:
            row["judgment"] = said[judge].get(row["item"]) or ""
        save(path, rows, **options)
    return sheets, key


def judged(audit, judges, seed=1, missing=0.1):
    """Judge at random; judges agree more than by chance."""
    chance, said = Random(seed), {judge: {} for judge in judges}
    for item in audit.items:
        truth = chance.choice(NAMES)
        for judge in judges:
            name = truth if chance.random() < 0.7 else chance.choice(NAMES)
            said[judge][item.id] = None if chance.random() < missing else name
    return said
