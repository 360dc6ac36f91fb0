"""Help to test the formats of others: write, read back, compare."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from strategies import PLAIN

from alignkit.alignment import Alignment
from alignkit.errors import FormatError
from alignkit.formats import (
    ReadOptions,
    get_format,
    iterate_pairs,
    open_reading,
    read_corpus,
    read_pairs,
    write_corpus,
)

NUMBERS = st.integers(0, 10**9 - 1).map(str)
MANY = settings(max_examples=60)


def put(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def holds(format):
    return get_format(format).holds


def alignments(path, format, **options):
    return {
        pair.id: str(pair.alignment(name))
        for pair in iterate_pairs(path, format=format, **options)
        for name in pair.annotations
    }


def lenient(path, format, **options):
    chosen, reading = open_reading(
        path, format=format, options=ReadOptions(lenient=True, **options)
    )
    return [pair.id for pair in read_pairs(chosen, reading)], reading


@contextmanager
def refused(*parts):
    with pytest.raises(FormatError) as caught:
        yield
    for part in parts:
        assert part in str(caught.value)


def realigned(corpus, change):
    """Change each alignment of a corpus."""
    return corpus.map(
        lambda pair: replace(
            pair,
            annotations={
                name: replace(value, alignment=change(value.alignment))
                for name, value in pair.annotations.items()
            },
        )
    )


def rebuilt(old, *, nulls=None, labels=None):
    """Copy an alignment with some of its nulls, and with other labels."""
    kept = old.nulls if nulls is None else {null for null in old.nulls if nulls(null)}
    return Alignment(
        old.sure,
        old.possible,
        nulls=kept & old.sure_nulls,
        possible_nulls=kept,
        weights=old.weights,
        labels=old.labels if labels is None else labels,
    )


def round_trip(corpus, format, name="x", *, written=None, read=None):
    with tempfile.TemporaryDirectory() as folder:
        beside = {side: str(Path(folder, text)) for side, text in (written or {}).items()}
        lost = write_corpus(corpus, str(Path(folder, name)), format=format, **beside)
        return read_corpus(str(Path(folder, name)), format=format, **beside, **(read or {})), lost


def labelled(label):
    words = st.text(PLAIN, min_size=1, max_size=5).filter(lambda text: text != "unspec")
    return words if label is None else st.sampled_from(label)
