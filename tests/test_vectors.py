"""Vectors of words are read from each format, and asked for by words and by sentences."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from refusals import refuses

from alignkit.align.vectors import WordVectors, read_vectors, vectors_of
from alignkit.errors import AlignmentError, ArgumentError, FormatError

FORMATS = ["word2vec", "glove", "binary", "binary-lines", "npz", "npz-packed", "gz"]


def write_vectors(path, format, words, array):
    """Write words with their vectors (n, d) into a file; return its path."""
    if format.startswith("npz"):
        save = np.savez if format == "npz" else np.savez_compressed
        with path.open("wb") as stream:
            save(stream, words=np.array(words, dtype=str), vectors=array)
        return path
    header = f"{len(words)} {array.shape[1]}\n".encode()
    if format.startswith("binary"):
        end = b"\n" * (format == "binary-lines")
        rows = [
            word.encode() + b" " + row.astype("<f4").tobytes() + end
            for word, row in zip(words, array, strict=True)
        ]
        path.write_bytes(header + b"".join(rows))
        return path
    lines = [
        f"{word} {' '.join(map(str, row.tolist()))}\n"
        for word, row in zip(words, array.astype(np.float32), strict=True)
    ]
    text = (b"" if format == "glove" else header) + "".join(lines).encode()
    path.write_bytes(gzip.compress(text) if format == "gz" else text)
    return path


FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
# letters with several cases, marks, and a letter beyond 16 bits; no white space
WORDS = st.text(st.sampled_from("aAbBßẞſéÉİ-.1𝒜"), min_size=1, max_size=5)


@st.composite
def known_words(draw, least=0):
    words = draw(st.lists(WORDS, min_size=least, max_size=8))
    shape = len(words), draw(st.integers(1, 4))
    return words, draw(arrays.arrays(np.float32, shape, elements=FINITE))


def looked_up(words, array, word):
    """Return the vector of a word: as written, else the first in another case, else zeros."""
    for same in (str, str.casefold):
        for known, row in zip(words, array, strict=True):
            if same(known) == same(word):
                return row
    return np.zeros(array.shape[1], np.float32)


@given(known_words(), st.lists(WORDS))
def test_a_word_is_found_as_written_or_in_another_case(known, asked):
    vectors = WordVectors(*known)
    found = vectors.of(asked)
    assert (found.dtype, found.shape) == (np.float32, (len(asked), known[1].shape[1]))
    for word, row in zip(asked, found, strict=True):
        np.testing.assert_array_equal(row, looked_up(*known, word))
        assert (word in vectors) == (word.casefold() in {one.casefold() for one in known[0]})


@pytest.mark.parametrize("format", FORMATS)
@given(known_words(least=1), st.lists(WORDS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
def test_what_is_wanted_is_read_as_if_all_were(tmp_path, format, known, asked):
    path = write_vectors(tmp_path / "v", format, *known)
    whole, part = read_vectors(path), read_vectors(path, asked)
    expected = [looked_up(*known, word) for word in asked]
    for vectors in (whole, part):
        assert vectors.dimensions == known[1].shape[1]
        np.testing.assert_array_equal(
            vectors.of(asked), np.reshape(expected, (len(asked), vectors.dimensions))
        )
    assert whole.words == tuple(dict.fromkeys(known[0]))
    assert len(part) <= 2 * len(set(asked))


def test_a_file_larger_than_what_is_read_at_a_time(tmp_path):
    words = [f"w{k}" for k in range(30_000)]
    array = np.random.default_rng(1).normal(size=(len(words), 12)).astype(np.float32)
    for format in ("binary", "binary-lines", "npz", "glove"):
        path = write_vectors(tmp_path / "v", format, words, array)
        shares = []
        found = read_vectors(path, words[::97], progress=shares.append)
        np.testing.assert_array_equal(found.array, array[::97])
        assert shares == sorted(shares)
        assert 0 < shares[0] < shares[-1] <= 1


def test_odd_words_are_read_and_what_is_left_out_is_told(tmp_path, caplog):
    path = tmp_path / "v"
    path.write_bytes("\ufeffa\t1\t2\r\n. . . 3 4 \n\n\u00a0 5 6\n".encode())
    found = read_vectors(path)
    assert found.words == ("a", ". . .", "\u00a0")
    assert found.array.tolist() == [[1, 2], [3, 4], [5, 6]]
    path = tmp_path / "v"
    path.write_bytes(b"a 1 2\n\xff\xfe 3 4\na 5 6\n")
    assert read_vectors(path).array.tolist() == [[1, 2]]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: 1 x word that occurs again; the first vector is used",
        f"{path}: 1 x word that is not UTF-8, ignored",
    ]


def npz(**members):
    def write(path):
        with path.open("wb") as stream:
            np.savez_compressed(stream, **members)

    return write


WORD, ROW = np.array(["a"]), np.ones((1, 2))
BINARY = b"2 2\na " + np.ones(2, "<f4").tobytes() + b"b " + np.ones(2, "<f4").tobytes()


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        (b"", "", "contains no vectors"),
        (b"word\n", ":1", "a word and its numbers"),
        (b'{"alignkit": "corpus", "version": 1}\n', ":1", "'\"corpus\",' is not a number"),
        (b"a 1 2\nb 1\n", ":2", "2 numbers, found 1 numbers: b'b 1'"),
        (b"a 1 2\nb 1 x\n", ":2", "'x' is not a number"),
        (b"a 1 2\nb 1 nan\n", ":2", "'nan' is not a number"),
        (b"a 1 2\nb 1e39 2\n", ":2", "'1e39' is not a number"),
        (b"3 2\na 1 2\nb 3 4\n", ":1", "declares 3 words, but contains 2"),
        (b"1 2\na 1 2\nb 3 4\n", ":1", "declares 1 words, but contains 2"),
        (b"1 0\na\n", ":1", "declares vectors of 0 dimensions"),
        (b"2 99999999\n", ":1", "declares vectors of 99999999 dimensions"),
        (b"-2 2\na 1 2\n", ":1", "found b'-2 2'"),
        (b"9999999999999999999 1\na 1\n", ":1", "of words and of dimensions"),
        (BINARY[:-1], "", "word 2 is incomplete"),
        (BINARY + b"x", "", "data after the 2 words"),
        (BINARY.replace(np.float32(1).tobytes(), b"\0\0\xc0\x7f"), "", "word 1, 'a', has a number"),
        (b"\x93NUMPY\1\0", "", "array without words"),
        (b"\x80\4.", "", "is a pickled object"),
        (b"\x1f\x8b\x08\0", "", "cannot be unpacked"),
        (b"PK\3\4 and so on", "", "as an .npz file"),
        (npz(words=WORD), "", "no array 'vectors'"),
        (npz(word=WORD, vectors=ROW), "", "no array 'words'"),
        (npz(words=WORD.astype(object), vectors=ROW), "", "'words' is of objects"),
        (npz(words=WORD, vectors=ROW[0]), "", "array 'vectors' is float64 (2,)"),
        (npz(words=WORD, vectors=ROW[:, :0]), "", "array 'vectors' is float64 (1, 0)"),
        (npz(words=WORD, vectors=np.ones((2, 2))), "", "has 2 vectors for 1 words"),
        (npz(words=WORD, vectors=np.ones((3, 2)).T), "", "stored by columns"),
        (npz(words=WORD, vectors=ROW * np.inf), "", "vector 1, of 'a'"),
        (npz(words=np.zeros(10**6, "U1"), vectors=ROW), "", "'words' grows to"),
    ],
)
def test_damage_is_named_with_its_place(tmp_path, content, place, message):
    path = tmp_path / "v"
    content(path) if callable(content) else path.write_bytes(content)
    with pytest.raises(FormatError, match=re.escape(message)) as raised:
        read_vectors(path)
    assert str(raised.value).startswith(f"{path}{place}: ")


@given(st.binary(max_size=60), st.sampled_from([b"", b"2 2\n", b"PK\3\4", b"\x1f\x8b\x08"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(tmp_path, rest, begin):
    path = tmp_path / "v"
    path.write_bytes(begin + rest)
    try:
        found = read_vectors(path)
    except FormatError as problem:
        named = str(problem).startswith(f"{path}:")
    else:
        named = bool(np.isfinite(found.array).all())
    assert named


@pytest.mark.parametrize(
    ("words", "array", "error", "message"),
    [
        (["a"], [[1.0], [2.0]], AlignmentError, "of shape (2, 1) for 1 words"),
        (["a"], [1.0], AlignmentError, "of shape (1,)"),
        (["a"], [[float("inf")]], AlignmentError, "for the word 'a'"),
        (["a"], [["x"]], ArgumentError, "an array of numbers"),
        ("ab", [[1.0]], ArgumentError, "is the string 'ab'"),
    ],
)
def test_vectors_must_fit_their_words(words, array, error, message):
    refuses(error, re.escape(message), WordVectors, words, array)


@pytest.mark.parametrize(
    ("given_array", "error", "message"),
    [
        ([[1.0, 2.0]], AlignmentError, "of shape (1, 2) for 2 words"),
        ([1.0, 2.0], AlignmentError, "of shape (2,) for 2 words"),
        ([[1.0], [2.0]], AlignmentError, "gave 1 dimensions, but 2 before"),
        ([[1.0, 2.0], [np.nan, 0]], AlignmentError, "for the word 'b'"),
        ([["x", "y"]] * 2, ArgumentError, "an array of numbers"),
        ([[1.0], [1.0, 2.0]], ArgumentError, "an array of numbers"),
        (None, ArgumentError, "None for 2 words"),
    ],
)
def test_what_a_function_gives_for_a_sentence_is_checked(given_array, error, message):
    refuses(error, re.escape(message), vectors_of, lambda words: given_array, ["a", "b"], 2)
