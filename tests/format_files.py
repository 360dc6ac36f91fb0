"""Small files for the tests of formats: written, read, damaged and compared."""

import random
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import strategies as st
from strategies import PLAIN

from alignkit import Alignment, Corpus, FormatError, read_corpus, write_corpus
from alignkit.io import ReadOptions, get_format, iterate_pairs, open_reading, read_pairs

NUMBERS = st.integers(0, 10**9 - 1).map(str)


def holds(format):
    return get_format(format).holds


def text(folder, content, name="x"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def put(folder, name, content):
    return str(text(folder, content, name))


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


def left_out(path, format, place, kept):
    """Check that a broken record is refused by its place, and left out, alone, when lenient."""
    with refusing(place):
        read_corpus(path, format=format)
    ids, reading = lenient(path, format)
    assert (ids, reading.refused) == (kept, 1)


@contextmanager
def refusing(*parts):
    with pytest.raises(FormatError) as caught:
        yield caught
    assert all(part in str(caught.value) for part in parts)


def realigned(corpus, change):
    def realign(pair):
        changed = {
            name: replace(value, alignment=change(value.alignment))
            for name, value in pair.annotations.items()
        }
        return replace(pair, annotations=changed)

    return corpus.map(realign)


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


def labels_of_links(alignment):
    cells = alignment.possible | alignment.nulls
    return rebuilt(alignment, labels={k: v for k, v in alignment.labels.items() if k in cells})


def round_trip(corpus, format, name="x", *, written=None, read=None):
    with tempfile.TemporaryDirectory() as folder:
        beside = {side: str(Path(folder, text)) for side, text in (written or {}).items()}
        lost = write_corpus(corpus, str(Path(folder, name)), format=format, **beside)
        return read_corpus(str(Path(folder, name)), format=format, **beside, **(read or {})), lost


def labelled(label):
    words = st.text(PLAIN, min_size=1, max_size=5).filter(lambda text: text != "unspec")
    return words if label is None else st.sampled_from(label)


def read(path, format, **options):
    """Return the corpus and the counts of what was odd."""
    chosen, reading = open_reading(str(path), format=format, options=ReadOptions(**options))
    return Corpus(read_pairs(chosen, reading)), reading.counts


def refused(path, format, message, line=None):
    with refusing(message) as caught:
        read_corpus(path, format=format)
    assert "x" in caught.value.path
    assert line in (None, caught.value.line)


def comes_back(corpus, path, format):
    assert not write_corpus(corpus, path, format=format)
    assert read_corpus(path, format=format) == corpus
    for own in ("alignkit-jsonl", "alignkit-xml"):
        assert not write_corpus(corpus, path.with_name(own), format=own)
        assert read_corpus(path.with_name(own), format=own) == corpus


def damaged(whole, count, seed=1):
    """Yield damaged variants: cut, bytes flipped, lines dropped or doubled, NULs, a long line."""
    rng = random.Random(seed)
    for k in range(count):
        kind, at = k % 6, rng.randrange(len(whole) + 1)
        lines = whole.split(b"\n")
        if kind == 0:
            yield whole[:at]
        elif kind == 1:
            changed = bytearray(whole)
            for _ in range(rng.randint(1, 5)):
                changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
            yield bytes(changed)
        elif kind == 2:
            del lines[rng.randrange(len(lines))]
            yield b"\n".join(lines)
        elif kind == 3:
            yield whole[:at] + b"\0" * rng.randint(1, 3) + whole[at:]
        elif kind == 4:
            piece = rng.choice([b"9" * 5000, b"[" * 5000, b"<a>" * 500, b"\t", b'"', b"-", b"\xff"])
            yield whole[:at] + piece + whole[at:]
        else:
            lines.insert(rng.randrange(len(lines)), lines[rng.randrange(len(lines))])
            yield b"\n".join(lines)


def survive(path, format, **options):
    """Read a file, strictly and leniently, with no other error than a FormatError.

    Returns the corpus and how many records lenient reading read and refused; None after an error.
    """
    strict = counts = None
    with suppress(FormatError):
        strict = Corpus(read_pairs(*open_reading(str(path), format=format)))
    chosen, reading = open_reading(
        str(path), format=format, options=ReadOptions(lenient=True, **options)
    )
    with suppress(FormatError):
        assert len(list(read_pairs(chosen, reading))) == reading.read
        counts = reading.read, reading.refused
    if strict is not None:
        assert counts == (len(strict), 0)
    return strict, counts
