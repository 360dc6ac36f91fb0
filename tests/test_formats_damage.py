"""Broken files of others never break a reader, and their real files are read whole."""

from collections import Counter
from time import process_time

import pytest
from format_files import damaged, lenient, put, refusing, round_trip, survive
from test_formats_folders import ALN, CRP, TRANSREAD
from test_formats_text import GIZA, ISTS, RTE

from alignkit.errors import FormatError
from alignkit.io import open_reading, read_corpus, read_pairs

# --- all of them

SMALL = {
    "naacl": {"x": "1 1 1\n1 2 2 P\n12 1 1 S 0.5\n12 0 3\n3 1 1\n"},
    "giza": {"x": GIZA},
    "rte": {"x": RTE},
    "ists": {"x": ISTS},
    "blinker": {"A1/samp1.SentPair0": "1 2\n2 1\n3 0\n0 1\n", "A2/samp1.SentPair0": "1 1\n"},
    "yawat": {"x.crp": CRP, "x.aln": ALN},
    "transread": {"x.txt": "1\na b\nc d\n2\ne f\ng h\n", "x_annotation_1.txt": TRANSREAD},
}


def put_all(folder, format):
    """Write the small files of a format; return the path to read."""
    paths = [put(folder, name, text) for name, text in SMALL[format].items()]
    return paths[0] if len(paths) == 1 else str(folder)


@pytest.mark.parametrize("format", SMALL)
def test_damaged_files_give_an_error_or_a_corpus(tmp_path, format):
    place = put_all(tmp_path, format)
    for name, text in SMALL[format].items():
        for bytes_ in damaged(text.encode(), 120):
            (tmp_path / name).write_bytes(bytes_)
            survive(place, format)
        put(tmp_path, name, text)


@pytest.mark.parametrize("format", ["giza", "rte", "ists"])
def test_records_read_and_refused_are_all_records_when_a_line_is_dropped(tmp_path, format):
    lines = SMALL[format]["x"].splitlines(keepends=True)
    for k, line in enumerate(lines):
        if line.strip():
            path = put(tmp_path, "x", "".join(lines[:k] + lines[k + 1 :]))
            reading = lenient(path, format)[1]
            assert reading.read + reading.refused == 2, (k, line)


@pytest.mark.parametrize("format", SMALL)
def test_a_long_line_takes_no_time(tmp_path, format):
    start = process_time()
    place = put_all(tmp_path, format)
    numbers = ",".join(map(str, range(50_000)))
    for long in (" " * 500_000, "1" * 500_000, "({ " * 150_000, f"1 {numbers}:{numbers}:sure"):
        for name, text in SMALL[format].items():
            put(tmp_path, name, text + long)
            survive(place, format)
            put(tmp_path, name, text)
    assert process_time() - start < 10


# --- the real files

REAL = {
    "rte": [
        ("rte2/RTE2_dev_A.align.txt", 800),
        ("rte2/RTE2_dev_B.align.txt", 800),
        ("rte2/RTE2_dev_C.align.txt", 800),
    ],
    "ists": [("formats/ists/STSint.testinput.images.wa", 375)],
    "yawat": [("formats/yawat/ep-96-04-15.0000-0099.aln", 100), ("formats/yawat", 100)],
    "transread": [("formats/transread/task_1_es-en", 179)],
    "naacl": [("formats/wpt-eng-hin/data/test.eng.hin.wa", 90)],
}


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("format", "path", "count"), [(f, path, n) for f, files in REAL.items() for path, n in files]
)
def test_real_files_are_read_whole_and_given_back(data, format, path, count):
    encoding = "latin-1" if format == "yawat" else "utf-8"
    corpus = read_corpus(str(data / path), format=format, encoding=encoding)
    assert len(corpus) == count
    assert round_trip(corpus, format) == (corpus, {})


@pytest.mark.real_data
def test_real_quirks(data):
    path = str(data / "rte2/RTE2_dev_C.align.txt")
    chosen, reading = open_reading(path, format="rte")
    assert sum(1 for _ in read_pairs(chosen, reading)) == 800
    assert reading.counts["missing parenthesis"] == 1
    assert reading.counts["byte order mark"] > 0
    yawat = read_corpus(str(data / "formats/yawat"), format="yawat", encoding="latin-1")
    assert sum(not pair.annotations for pair in yawat) == 84
    transread = read_corpus(str(data / "formats/transread/task_1_es-en"), format="transread")
    alignments = [a for pair in transread for a in pair.alignments.values()]
    labels = Counter(label for alignment in alignments for label in alignment.labels.values())
    assert labels == {"sure": 762, "contextual": 132, "partial": 117, "wrong": 555}


@pytest.mark.real_data
def test_real_wpt_links_with_words(data):
    folder = data / "formats/wpt-eng-hin/data"
    beside = {"source": str(folder / "test.eng"), "target": str(folder / "test.hin")}
    path = str(folder / "test.eng.hin.wa")
    with refusing("test.eng.hin.wa:678:", "33-34", "drop_out_of_range=True"):
        read_corpus(path, format="naacl", **beside)
    corpus = read_corpus(path, format="naacl", drop_out_of_range=True, **beside)
    assert (len(corpus), corpus.ids[:3]) == (90, ("26", "27", "29"))
    assert sum(len(pair.alignment("alignment")) for pair in corpus) == 1408
    assert round_trip(corpus, "naacl", written={"source": "s", "target": "t"}) == (corpus, {})


def test_numbered_words_with_much_space_take_no_time(tmp_path):
    links = put(tmp_path, "a", "1 1 1\n")
    text = "<s snum=1> a" + " " * 1_000_000 + "</s> b\n"
    beside = {side: put(tmp_path, side, text) for side in ("source", "target")}
    start = process_time()
    (pair,) = read_corpus(links, format="naacl", **beside)
    assert pair.source == ("a", "</s>", "b")
    assert process_time() - start < 5


def test_no_file_stays_open_after_an_error_or_a_break(tmp_path):
    path = put(tmp_path, "a", GIZA.replace("left ({", "left {") + GIZA)
    chosen, reading = open_reading(path, format="giza")
    records = chosen.parse(reading)  # waits with its file open, as in a traceback
    with pytest.raises(FormatError):
        list(reading.pairs(records))
    assert all(stream.closed for stream in reading._opened)
