"""Files of models give back what was saved, and are written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import stat
import zipfile
from time import process_time
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from alignkit.align.model_files import (
    DTYPES,
    VERSION,
    Member,
    directory,
    member_head,
    read_model,
    total,
    write_model,
)
from alignkit.io.atomic_files import WriteError

HEADER = {
    "model": "hmm",
    "p0": 0.07,
    "history": [["ibm1", 1, -3.5, None], ["hmm", 1, -2e-300, True]],
}
ARRAYS = {
    "forward": np.array([0.5, 0.25, math.nan, -0.0], np.float32),
    "jumps": np.arange(6, dtype=np.int64).reshape(2, 3),
    "none": np.zeros((0, 3), np.uint8),
}
WORDS = {
    "source": ["la", "l'été", "", "日本"],
    "target": ["the\n", "back\\slash", "\\n"],
    "none": [],
}


def written(path, *, header=HEADER, arrays=ARRAYS, words=WORDS):
    write_model(path, header=header, arrays=arrays, words=words)
    return path


def same(model, header, arrays, words):
    """Check that a model is what was written, to the bit."""
    assert model.header == json.loads(json.dumps(header))
    assert list(model.arrays) == sorted(arrays)
    for name, array in arrays.items():
        found = model.arrays[name]
        assert (found.dtype, found.shape) == (array.dtype.newbyteorder("="), array.shape)
        assert found.dtype.isnative
        assert found.tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes()
        assert found.flags.aligned
        assert found.flags.c_contiguous
        assert not found.flags.writeable
    assert model.words == {name: tuple(words[name]) for name in sorted(words)}


def test_what_is_written_is_read(tmp_path):
    same(read_model(written(tmp_path / "m")), HEADER, ARRAYS, WORDS)
    same(read_model(written(tmp_path / "m", header={}, arrays={}, words={})), {}, {}, {})


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
TEXTS = st.text(st.characters(), max_size=4)  # halves of surrogate pairs too
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
TABLES = arrays_of.arrays(
    st.sampled_from([*DTYPES.values(), np.dtype(">f4"), np.dtype(">i8")]),
    arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@given(
    header=st.dictionaries(TEXTS, JSON, max_size=3),
    arrays=st.dictionaries(NAMES, TABLES | TABLES.map(np.transpose), max_size=3),
    words=st.dictionaries(NAMES, st.lists(TEXTS, max_size=4), max_size=3),
)
def test_any_model_is_read_back(tmp_path_factory, header, arrays, words):
    model = {"header": header, "arrays": arrays, "words": words}
    path = written(tmp_path_factory.mktemp("model") / "m", **model)
    same(read_model(path), **model)


def test_equal_models_make_equal_files(tmp_path):
    one = written(tmp_path / "one").read_bytes()
    other = {name: dict(reversed(list(part.items()))) for name, part in
             {"header": HEADER, "arrays": ARRAYS, "words": WORDS}.items()}  # fmt: skip
    other["arrays"]["jumps"] = np.asfortranarray(ARRAYS["jumps"]).astype(">i8", order="F")
    assert written(tmp_path / "two", **other).read_bytes() == one
    assert "two" not in one.decode("latin-1")


def test_the_file_is_as_the_specification_says(tmp_path):
    path = written(tmp_path / "m")
    with zipfile.ZipFile(path) as packed:
        assert packed.testzip() is None
        assert packed.namelist() == [
            "header.json", "arrays/forward.npy", "arrays/jumps.npy", "arrays/none.npy",
            "words/none.txt", "words/source.txt", "words/target.txt",
        ]  # fmt: skip
        assert {one.compress_type for one in packed.infolist()} == {zipfile.ZIP_STORED}
        assert {one.external_attr >> 16 for one in packed.infolist()} == {0o100644}
        content = json.loads(packed.read("header.json"))
        assert packed.read("words/source.txt").decode() == "la\nl'été\n\n日本\n"
        assert packed.read("words/target.txt") == b"the\\n\nback\\\\slash\n\\\\n\n"
    assert content == {
        "alignkit": "model",
        "version": VERSION,
        "header": HEADER,
        "arrays": {
            "forward": {"dtype": "float32", "shape": [4]},
            "jumps": {"dtype": "int64", "shape": [2, 3]},
            "none": {"dtype": "uint8", "shape": [0, 3]},
        },
        "words": {
            "none": {"bytes": 0, "count": 0},
            "source": {"bytes": 19, "count": 4},
            "target": {"bytes": 22, "count": 3},
        },
    }
    with np.load(path, allow_pickle=False) as loaded:
        assert loaded["arrays/jumps"].tolist() == [[0, 1, 2], [3, 4, 5]]
        assert loaded["arrays/none"].shape == (0, 3)


def test_a_member_beyond_4_gigabytes_is_found_by_others(tmp_path):
    members = [Member("a", 5 * 2**30, 1), Member("b", 7, crc32(b"content"))]
    with open(tmp_path / "m", "wb") as out:
        out.write(member_head(members[0]))
        out.seek(members[0].size, os.SEEK_CUR)
        out.write(member_head(members[1]) + b"content" + directory(members))
        assert out.tell() == total([("a", members[0].size), ("b", 7)])
    with zipfile.ZipFile(tmp_path / "m") as packed:
        assert [one.file_size for one in packed.infolist()] == [5 * 2**30, 7]
        assert packed.read("b") == b"content"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"arrays": {"x": np.array([None, {}])}}, "is of object; expected one of float32"),
        ({"arrays": {"x": np.array(["a"])}}, "array 'x' is of str"),
        ({"arrays": {"x": np.zeros(2, bool)}}, "array 'x' is of bool"),
        ({"arrays": {"x": [1, 2]}}, "array 'x' is of list"),
        ({"arrays": {"../x": np.zeros(2)}}, r"'../x' is no name; expected lower-case letters"),
        ({"arrays": {"x\n": np.zeros(2)}}, "is no name"),
        ({"words": {"": ["a"]}}, "'' is no name"),
        ({"words": {"x": "abc"}}, "words 'x' must be a list of texts"),
        ({"words": {"x": ["a", 3]}}, "words 'x' must be a list of texts"),
        ({"header": {"x": math.nan}}, "not JSON compliant"),
        ({"header": {"x": np.float32(1)}}, "float32 is not JSON serializable"),
        ({"header": {"x": {1: 2}}}, "the name 1 in the header is no text"),
        ({"header": {"x": 10**5000}}, "integer string conversion"),
        ({"header": {"x": "y" * (1 << 26)}}, "the header takes"),
    ],
)  # fmt: skip
def test_what_a_file_cannot_hold_is_refused_before_it_is_written(tmp_path, changed, said):
    path = written(tmp_path / "m")
    old = path.read_bytes()
    with pytest.raises(WriteError, match=f"^{path}: cannot hold this model: .*{said}"):
        written(path, **changed)
    assert path.read_bytes() == old
    assert len(list(tmp_path.iterdir())) == 1


def test_a_model_takes_its_place_only_when_it_is_whole(tmp_path, monkeypatch):
    path = written(tmp_path / "m", header={})
    path.chmod(0o640)
    old = path.read_bytes()
    monkeypatch.setattr("alignkit.align.model_files.directory", interrupted)
    with pytest.raises(KeyboardInterrupt):
        written(path)
    assert path.read_bytes() == old
    monkeypatch.undo()
    written(path)
    assert path.read_bytes() != old
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def interrupted(members):
    raise KeyboardInterrupt


def test_places_where_no_file_can_be_are_named(tmp_path):
    with pytest.raises(WriteError, match="is a folder"):
        written(tmp_path)
    with pytest.raises(WriteError, match="cannot be written: No such file"):
        written(tmp_path / "no" / "m")
    with pytest.raises(WriteError, match="standard output"):
        written("-")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
def test_a_full_disk_is_an_error():
    with pytest.raises(WriteError, match="/dev/full: cannot be written: No space left"):
        written("/dev/full")


def test_a_large_model_is_read_fast(tmp_path):
    rng = np.random.default_rng(1)
    tables = {name: rng.random(2_500_000, np.float32) for name in ("forward", "reverse")}
    words = {"source": [f"word{k}" for k in range(40_000)]}
    path = written(tmp_path / "m", arrays=tables, words=words)
    times = []
    for _ in range(5):
        start = process_time()
        read_model(path)
        times.append(process_time() - start)
    assert min(times) < 0.2
