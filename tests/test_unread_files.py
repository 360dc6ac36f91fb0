"""Files that alignkit does not read: in a wide encoding."""

import pytest
from command import feed, run
from refusals import refuses

from alignkit import FormatError, read_corpus, read_trees
from alignkit.align.vectors import read_vectors
from alignkit.scoring import read_phrase_table

TEXT = b"0-0 1-1\n" * 40
WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")


def _readers(path):
    return {
        "found": lambda: read_corpus(path),
        "pharaoh": lambda: read_corpus(path, format="pharaoh"),
        "phrases": lambda: list(read_phrase_table(path, format="moses")),
        "vectors": lambda: read_vectors(path, {"a"}),
        "trees": lambda: list(read_trees(path)),
    }


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("reader", ["found", "pharaoh", "phrases", "vectors", "trees"])
def test_each_reader_names_a_wide_encoding(tmp_path, encoding, reader):
    path = tmp_path / "links"
    path.write_bytes(TEXT.decode().encode(encoding))
    named = encoding.upper().replace("-LE", "LE").replace("-BE", "BE")
    refuses(FormatError, f"iconv -f {named} -t UTF-8 {path}", _readers(str(path))[reader])


def test_texts_of_another_encoding_are_no_fault(tmp_path, capsys):
    for name, raw in (("a", TEXT), ("s", "a b\n".encode("utf-16")), ("t", b"c d\n")):
        (tmp_path / name).write_bytes(raw)
    texts = ["--source", str(tmp_path / "s"), "--target", str(tmp_path / "t")]
    run(capsys, "stats", tmp_path / "a", *texts, "--encoding", "utf-16").failed()
    for name, raw in (("a", TEXT), ("s", b"a b\n" * 40), ("t", ("c d\n" * 40).encode("utf-16"))):
        (tmp_path / name).write_bytes(raw)
    with pytest.raises(FormatError, match=r"UTF-16.*or declare it"):
        read_corpus(tmp_path / "a", format="pharaoh", source=tmp_path / "s", target=tmp_path / "t")


@pytest.mark.parametrize("format", [[], ["--format", "pharaoh"]])
def test_standard_input_is_looked_at_too(monkeypatch, capsys, format):
    feed(monkeypatch, TEXT.decode().encode("utf-16"))
    run(capsys, "stats", "-", *format).failed("iconv -f UTF-16 -t UTF-8 FILE")
