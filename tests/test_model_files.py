"""Files of models give back what was saved, or are refused by an error that names the damage."""

import json
import math
import os
import zipfile
from time import process_time
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from refusals import refuses

from alignkit.align import Aligner, model_files
from alignkit.errors import FormatError, MissingFileError
from alignkit.io.atomic_files import WriteError

pytestmark = pytest.mark.usefixtures("no_collection")  # some texts are nested deeply

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
    model_files.write_model(path, header=header, arrays=arrays, words=words)
    return path


def same(model, header, arrays, words):
    """Check that a model is what was written, to the bit."""
    assert model.header == json.loads(json.dumps(header))
    assert list(model.arrays) == sorted(arrays)
    for name, array in arrays.items():
        found = model.arrays[name]
        assert (found.dtype, found.shape) == (array.dtype.newbyteorder("="), array.shape)
        assert found.tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes()
        flags = found.flags
        assert (flags.aligned, flags.c_contiguous, flags.writeable) == (True, True, False)
    assert model.words == {name: tuple(words[name]) for name in sorted(words)}


def test_what_is_written_is_read_and_equal_models_make_equal_files(tmp_path):
    same(model_files.read_model(written(tmp_path / "m")), HEADER, ARRAYS, WORDS)
    bare = written(tmp_path / "m", header={}, arrays={}, words={})
    same(model_files.read_model(bare), {}, {}, {})
    one = written(tmp_path / "one").read_bytes()
    other = {
        name: dict(reversed(list(part.items())))
        for name, part in {"header": HEADER, "arrays": ARRAYS, "words": WORDS}.items()
    }
    other["arrays"]["jumps"] = np.asfortranarray(ARRAYS["jumps"]).astype(">i8", order="F")
    assert written(tmp_path / "two", **other).read_bytes() == one
    assert "two" not in one.decode("latin-1")


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
TEXTS = st.text(st.characters(), max_size=4)  # halves of surrogate pairs too
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    PLAIN | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
TABLES = arrays_of.arrays(
    st.sampled_from([*model_files.DTYPES.values(), np.dtype(">f4"), np.dtype(">i8")]),
    arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@given(
    header=st.dictionaries(TEXTS, JSON, max_size=3),
    arrays=st.dictionaries(NAMES, TABLES | TABLES.map(np.transpose), max_size=3),
    words=st.dictionaries(NAMES, st.lists(TEXTS, max_size=4), max_size=3),
)
def test_any_model_is_read_back(tmp_path_factory, header, arrays, words):
    model = {"header": header, "arrays": arrays, "words": words}
    same(model_files.read_model(written(tmp_path_factory.mktemp("model") / "m", **model)), **model)


def test_the_file_is_as_the_specification_says(tmp_path):
    path = written(tmp_path / "m")
    with zipfile.ZipFile(path) as packed:
        assert packed.testzip() is None
        assert packed.namelist() == [
            "header.json",
            "arrays/forward.npy",
            "arrays/jumps.npy",
            "arrays/none.npy",
            "words/none.txt",
            "words/source.txt",
            "words/target.txt",
        ]
        assert {one.compress_type for one in packed.infolist()} == {zipfile.ZIP_STORED}
        assert {one.external_attr >> 16 for one in packed.infolist()} == {0o100644}
        content = json.loads(packed.read("header.json"))
        assert packed.read("words/source.txt").decode() == "la\nl'été\n\n日本\n"
        assert packed.read("words/target.txt") == b"the\\n\nback\\\\slash\n\\\\n\n"
    assert content == {
        "alignkit": "model",
        "version": model_files.VERSION,
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
    members = [model_files.Member("a", 5 * 2**30, 1), model_files.Member("b", 7, crc32(b"content"))]
    with open(tmp_path / "m", "wb") as out:
        out.write(model_files.member_head(members[0]))
        out.seek(members[0].size, os.SEEK_CUR)
        out.write(model_files.member_head(members[1]) + b"content" + model_files.directory(members))
        assert out.tell() == model_files.total([("a", members[0].size), ("b", 7)])
    with zipfile.ZipFile(tmp_path / "m") as packed:
        assert [one.file_size for one in packed.infolist()] == [5 * 2**30, 7]
        assert packed.read("b") == b"content"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"arrays": {"x": np.array([None, {}])}}, "has type object"),
        ({"arrays": {"x": np.array(["a"])}}, "has type str"),
        ({"arrays": {"x": np.zeros(2, bool)}}, "has type bool"),
        ({"arrays": {"../x": np.zeros(2)}}, r"invalid name '../x'; expected lower-case letters"),
        ({"arrays": {"x\n": np.zeros(2)}}, "invalid name"),
        ({"words": {"": ["a"]}}, "invalid name ''"),
        ({"header": {"x": math.nan}}, "not JSON compliant"),
        ({"header": {"x": np.float32(1)}}, "float32 is not JSON serializable"),
        ({"header": {"x": 10**5000}}, "integer string conversion"),
        ({"header": {"x": "y" * (1 << 26)}}, "the header has"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_before_it_is_written(tmp_path, changed, said):
    path = written(tmp_path / "m")
    old = path.read_bytes()
    refuses(WriteError, f"^{path}: cannot store this model: .*{said}", written, path, **changed)
    assert (path.read_bytes(), len(list(tmp_path.iterdir()))) == (old, 1)


def test_a_large_model_is_read_fast(tmp_path):
    rng = np.random.default_rng(1)
    tables = {name: rng.random(2_500_000, np.float32) for name in ("forward", "reverse")}
    words = {"source": [f"word{k}" for k in range(40_000)]}
    times = []
    for _ in range(5):
        start = process_time()
        model_files.read_model(written(tmp_path / "m", arrays=tables, words=words))
        times.append(process_time() - start)
    assert min(times) < 0.2


@pytest.mark.parametrize(
    "content", [b"", b"P", b"\x80\4\x95", b"0-0 1-1\n" * 20, b"\0" * 500, b"PK\5\6" + b"\0" * 18]
)
def test_other_files_are_no_models(tmp_path, content):
    path = tmp_path / "m"
    path.write_bytes(content)
    refuses(FormatError, r"m: is (not a|a damaged) model", model_files.read_model, path)


def test_another_zip_file_is_no_model(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros(3))
    with pytest.raises(FormatError, match="it begins with b'PK"):
        model_files.read_model(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "b", "w") as packed:
        packed.writestr("header.json", json.dumps({"alignkit": "model", "version": 1}))
    refuses(FormatError, r"the record before header\.json", model_files.read_model, tmp_path / "b")


def test_places_without_a_file_are_named(tmp_path):
    with pytest.raises(MissingFileError, match="nowhere: cannot be read"):
        model_files.read_model(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError) as caught:
        Aligner.load(tmp_path / "nowhere")
    assert isinstance(caught.value, FormatError)
    assert caught.value.filename == str(tmp_path / "nowhere")
    refuses(IsADirectoryError, "is a folder", Aligner.load, tmp_path)
    refuses(FormatError, r"cannot be read: .*embedded null", model_files.read_model, "a\0b")
    refuses(WriteError, "standard output", written, "-")
    if not hasattr(os, "mkfifo"):
        return
    os.mkfifo(tmp_path / "pipe")  # which would be waited for
    refuses(FormatError, "is a device or a pipe", model_files.read_model, tmp_path / "pipe")


def refused(path, content):
    """Return what reading these bytes complains of; it must be our own error, with the path."""
    path.unlink(missing_ok=True)  # some disks take their time to write over a file
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        model_files.read_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < len(str(path)) + 400
    return str(caught.value)


def test_a_change_of_any_byte_and_a_cut_anywhere_are_found(tmp_path):
    whole = written(tmp_path / "m").read_bytes()
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        refused(tmp_path / "m", changed)
    for length in range(len(whole)):
        said = refused(tmp_path / "m", whole[:length])
        assert "cut off" in said or "empty" in said
    assert "bytes, expected" in refused(tmp_path / "m", whole + b"\0")
    assert "bytes, expected" in refused(tmp_path / "m", whole + whole)


def test_the_damaged_part_is_named(tmp_path):
    whole = written(tmp_path / "m").read_bytes()
    for at, said in {
        whole.index(b'"hmm"'): "the checksum of header.json is wrong; copy",
        whole.index(ARRAYS["jumps"].tobytes()): "the checksum of arrays/jumps.npy is wrong; copy",
        whole.index("l'été".encode()): "the checksum of words/source.txt is wrong; copy",
        whole.index(b"words/source.txt"): "the record before words/source.txt",
        whole.index(b"\x93NUMPY"): "arrays/forward.npy does not have the declared type",
        whole.rindex(b"words/source.txt"): "the directory at its end",
    }.items():
        changed = bytearray(whole)
        changed[at] ^= 1
        assert said in refused(tmp_path / "m", changed)


def forged(path, content, *parts):
    """Write a zip file of a header and other members, with all records in order."""
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    members, data = [], b""
    for name, part in [("header.json", content), *parts]:
        members.append(model_files.Member(name, len(part), crc32(part)))
        data += model_files.member_head(members[-1]) + part
    path.write_bytes(data + model_files.directory(members))
    return path


def model(**changed):
    return {
        "alignkit": "model",
        "version": model_files.VERSION,
        "header": {},
        "arrays": {},
        "words": {},
        **changed,
    }


def table(dtype="float32", shape=(2,)):
    return {"x": {"dtype": dtype, "shape": shape}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "does not declare"),
        *((one, "is not a model") for one in (b"[" * 100_000, b"1" * 5000, {})),
        ({"alignkit": "corpus", "version": 1}, "is not a model"),
        ({"alignkit": "model"}, "version is 'None'"),
        (model(version=0), "its version is '0'"),
        (model(version="1"), "its version is '1'"),
        (model(version=7), r"file version 7, made by a newer .* reads version 6: install a newer"),
        (model(version=5), r"file version 5, made by an older .* reads version 6: train it again"),
        (model(more=1), "alignkit, arrays, header, more, version, words"),
        ({"alignkit": "model", "version": 6}, "it has the entries"),
        (model(header=[]), "must be an object"),
        (model(header={"p0": math.nan}), "contains NaN"),
        (model(header={"p0": -math.inf}), "contains -Infinity"),
        (model(arrays={"../../x": {}}), "invalid name '../../x'"),
        (model(arrays={"x": 3}), "'x' must have .* dtype and shape"),
        (model(arrays={"x": {"dtype": "float32"}}), "entries dtype and shape"),
        (model(arrays=table("object")), "has type 'object', not"),
        (model(arrays=table({})), "array 'x' has type"),
        (model(arrays=table(shape=3)), "has the shape 3"),
        (model(arrays=table(shape=[-1])), r"has the shape \[-1\]"),
        (model(arrays=table(shape=[True])), "has the shape"),
        *(
            (model(arrays=table(shape=shape)), "impossible shape")
            for shape in ([1] * 33, [2**62], [0, 10**4000])
        ),
        (model(arrays=table(shape=[2**58])), "cut off"),
        (model(words={"x": {"count": 1}}), "entries count and bytes"),
        (model(words={"x": {"count": 1, "bytes": -1}}), "invalid numbers"),
        (model(words={"x": {"count": 1, "bytes": 10**400}}), "cut off"),
        (model(words={f"x{k}": {"count": 1, "bytes": 10**18} for k in range(99)}), "cut off"),
    ],
)
def test_a_false_header_is_refused(tmp_path, content, said):
    start = process_time()
    refuses(FormatError, said, model_files.read_model, forged(tmp_path / "m", content))
    assert process_time() - start < 2


FLOATS, NUMBERS = (model_files.TableHeader(kind, (2,)).prefix for kind in ("float32", "int32"))


@pytest.mark.parametrize(
    ("changed", "part", "said"),
    [
        ({"arrays": table()}, ("arrays/x.npy", NUMBERS + b"\0" * 8), "the declared type"),
        ({"arrays": table()}, ("arrays/y.npy", FLOATS + b"\0" * 8), "record before arrays/x.npy"),
        ({"arrays": table()}, ("arrays/x.npy", FLOATS + b"\0" * 9), "bytes, expected"),
        ({"arrays": table()}, ("arrays/x.npy", FLOATS + b"\0" * 7), "cut off"),
        ({"words": {"x": {"count": 2, "bytes": 2}}}, ("words/x.txt", b"a\n"), "not have the 2"),
        ({"words": {"x": {"count": 2, "bytes": 3}}}, ("words/x.txt", b"a\nb"), "not have the 2"),
        ({"words": {"x": {"count": 1, "bytes": 2}}}, ("words/x.txt", b"\xff\n"), "is not UTF-8"),
        ({"words": {"x": {"count": 1, "bytes": 3}}}, ("words/x.txt", b"\\a\n"), "backslash"),
        ({"words": {"x": {"count": 1, "bytes": 2}}}, ("words/x.txt", b"\\\n"), "backslash"),
        ({}, ("words/x.txt", b"a\n"), "bytes, expected"),
    ],
)
def test_members_other_than_declared_are_refused(tmp_path, changed, part, said):
    path = forged(tmp_path / "m", model(**changed), part)
    refuses(FormatError, said, model_files.read_model, path)


def test_a_pickle_is_never_loaded(tmp_path):
    place = tmp_path / "x.npy"
    np.save(place, np.array([Trap()], object), allow_pickle=True)
    part = ("arrays/x.npy", place.read_bytes())
    for kind in ("object", "float64"):
        with pytest.raises(FormatError):
            model_files.read_model(forged(tmp_path / "m", model(arrays=table(kind, [1])), part))


class Trap:
    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)
