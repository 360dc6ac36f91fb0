"""Write small files for the tests of formats, and read them."""

import pytest

from alignkit.corpus import Corpus
from alignkit.errors import FormatError
from alignkit.formats import (
    ReadOptions,
    get_format,
    open_reading,
    read_corpus,
    read_pairs,
    write_corpus,
)


def holds(format):
    return get_format(format).holds


def text(tmp_path, content, name="x"):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def read(path, format, **options):
    """Return the corpus and the counts of what was odd."""
    chosen, reading = open_reading(str(path), format=format, options=ReadOptions(**options))
    return Corpus(read_pairs(chosen, reading)), reading.counts


def refused(path, format, message, line=None):
    with pytest.raises(FormatError) as caught:
        read_corpus(path, format=format)
    assert message in str(caught.value)
    assert "x" in caught.value.path
    if line is not None:
        assert caught.value.line == line


def comes_back(corpus, path, format):
    assert not write_corpus(corpus, path, format=format)
    assert read_corpus(path, format=format) == corpus
    for own in ("alignkit-jsonl", "alignkit-xml"):
        assert not write_corpus(corpus, path.with_name(own), format=own)
        assert read_corpus(path.with_name(own), format=own) == corpus
