"""What holds for each format: corpora come back, damage breaks no reader, real files are whole."""

from collections import Counter
from dataclasses import replace
from itertools import count
from math import inf
from time import process_time

import format_files
import pytest
from format_files import holds, lenient, put, read, realigned, rebuilt, round_trip, survive
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses
from repetitions import repetitions
from strategies import ANY, corpora
from test_formats_folders import ALN, CRP, TRANSREAD
from test_formats_text import GIZA, ISTS, RTE
from test_own_formats import FULL, OWN

from alignkit import NULL, AlignkitError, Alignment, Corpus, FormatError, SentencePair
from alignkit.io import get_format, open_reading, read_corpus, read_pairs, write_corpus

pytestmark = pytest.mark.usefixtures("no_collection")  # some texts are nested deeply

# --- corpora come back

FILES = ["jacana", "edinburgh", "multimwa", "xlwa", "jsonl", "paraphrase-xml"]
XML = ANY.filter(lambda char: char in "\t\n\r" or (char >= " " and char not in "\ufffe\uffff"))
LABELS = {
    "ists": st.sampled_from(["EQUI 5", "SPE1 4", "SIMI 2.5", "ALIC", "REL_FACT 3"]),
    "yawat": format_files.labelled(None),
    "transread": format_files.labelled(["contextual", "wrong"]),
}


def any_text(characters):
    return dict.fromkeys(("tokens", "texts", "ids", "names"), st.text(characters, max_size=4))


def with_nulls_of(side, corpus):
    return realigned(corpus, lambda a: rebuilt(a, nulls=lambda null: null[side] == NULL))


def scored(pair):
    return replace(pair, attributes={"score": "1.5e-7"} if int(pair.id) % 2 else {})


def fitting(old):
    """Give every link of an alignment a label that TransRead has for it."""
    there, sure = old.possible | old.nulls, old.sure | old.sure_nulls
    labels = {}
    for link in there | set(old.labels):
        if link in sure or link not in there:
            labels[link] = "sure" if link in sure else "wrong"
        else:
            labels[link] = "contextual" if old.labels.get(link) == "contextual" else "partial"
    return rebuilt(old, labels=labels)


def in_a_batch(corpus):
    """Return the pairs as those of one batch of GoldAlign, with the roles that its folders say."""
    numbers, roles = count(1), {"initial": "initial", "arbit": "adjudicated"}

    def batched(pair):
        more = {"corpus": "corpus", "document": "batch_0000", "pairwise-id": pair.id}
        return SentencePair(f"batch_0000:{next(numbers)}", *pair.words, pair.annotations, more)

    roles = {name: roles[name] for name in corpus.annotators if name in roles}
    return corpus.map(batched).with_roles(roles)


ADAPTED = {
    "giza": lambda corpus: with_nulls_of(0, corpus).map(scored),
    "rte": lambda corpus: with_nulls_of(1, corpus),
    "ists": lambda corpus: realigned(corpus, format_files.labels_of_links),
    "yawat": lambda corpus: realigned(corpus, format_files.labels_of_links),
    "transread": lambda corpus: realigned(corpus, fitting),
    "blinker": lambda corpus: Corpus(
        replace(pair, id=f"{2 + k}.{3 * k}") for k, pair in enumerate(corpus)
    ),
    "goldalign": in_a_batch,
}
"""What a corpus must be like so that these formats hold all of it."""
DRAWN = {
    "giza": {"ids": format_files.NUMBERS},
    "rte": {"ids": format_files.NUMBERS},
    **{format: {"texts": texts} for format, texts in LABELS.items()},
    "goldalign": {"names": st.sampled_from(["initial", "anna", "ben", "arbit"])},
    "alignkit-jsonl": any_text(ANY),
    "alignkit-xml": any_text(XML),
}


@pytest.mark.parametrize("format", [*FILES, *OWN, *ADAPTED])
def test_random_corpora_come_back(format):
    drawn = DRAWN.get(format, {})

    @settings(max_examples=repetitions(80))
    @given(corpora(holds(format) | ({"ids"} & drawn.keys()), **drawn))
    def check(corpus):
        corpus = ADAPTED.get(format, lambda corpus: corpus)(corpus)
        if corpus or not get_format(format).folder:
            assert round_trip(corpus, format) == (corpus, {})

    check()


SAMPLE = Corpus.from_texts(
    ["a b c", "a &quot; ï", "a"], ["d e", "日本", "b"], alignment=["0-0 1?1", "2-0", ""]
)


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("options", [{"base": 1}, {"transpose": True}])
def test_base_and_direction_are_honoured_both_ways(tmp_path, format, options):
    corpus = realigned(SAMPLE, Alignment.sure_only) if "possible" not in holds(format) else SAMPLE
    write_corpus(corpus, tmp_path / "x", format=format, **options)
    assert read_corpus(tmp_path / "x", format=format, **options) == corpus


@pytest.mark.parametrize("format", FILES)
def test_words_that_cannot_be_kept_apart_are_refused(tmp_path, format):
    corpus = Corpus([SentencePair("7", ["a b"], ["c"], {"alignment": Alignment.parse("0-0")})])
    if "spaces" in holds(format):
        write_corpus(corpus, tmp_path / "x", format=format)
        return
    refuses(AlignkitError, "'7'", write_corpus, corpus, tmp_path / "x", format=format)
    assert not list(tmp_path.iterdir())


# --- damage

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
    """Write small files of a format; return the path to read, and what they hold by their names."""
    if format not in SMALL:
        write_corpus(FULL if format in OWN else SAMPLE, folder / "x.tsv", format=format)
        return folder / "x.tsv", {"x.tsv": (folder / "x.tsv").read_bytes()}
    paths = [put(folder, name, text) for name, text in SMALL[format].items()]
    files = {name: text.encode() for name, text in SMALL[format].items()}
    return (paths[0] if len(paths) == 1 else str(folder)), files


def records_of(raw, format):
    """Return how many records the lines of a damaged file are, at least and at most."""
    lines = raw.split(b"\n")
    if format == "alignkit-jsonl":
        filled = [line for line in lines if line.strip()]
        header = b'{"alignkit": "corpus", "version": 1}'
        return len(filled) - sum(line.startswith(header) for line in filled), len(filled)
    if format in ("multimwa", "xlwa", "goldalign"):
        return (len(lines) - (not lines[-1]),) * 2
    return 0, inf


@pytest.mark.parametrize("format", [*SMALL, *FILES, "goldalign", *OWN])
def test_damaged_files_give_an_error_or_a_corpus(tmp_path, format):
    place, files = put_all(tmp_path, format)
    for name, raw in files.items():
        for broken in format_files.damaged(raw, repetitions(300)):
            (tmp_path / name).write_bytes(broken)
            _, counts = survive(place, format)
            least, most = records_of(broken, format)
            assert counts is None or least <= sum(counts) <= most
        (tmp_path / name).write_bytes(raw)


@pytest.mark.parametrize("format", ["giza", "rte", "ists"])
def test_records_read_and_refused_are_all_records_when_a_line_is_dropped(tmp_path, format):
    lines = SMALL[format]["x"].splitlines(keepends=True)
    for k, line in enumerate(lines):
        if line.strip():
            reading = lenient(put(tmp_path, "x", "".join(lines[:k] + lines[k + 1 :])), format)[1]
            assert reading.read + reading.refused == 2, (k, line)


@pytest.mark.parametrize("format", SMALL)
def test_a_long_line_takes_no_time(tmp_path, format):
    start = process_time()
    place, files = put_all(tmp_path, format)
    numbers = ",".join(map(str, range(50_000)))
    for long in (" " * 500_000, "1" * 500_000, "({ " * 150_000, f"1 {numbers}:{numbers}:sure"):
        for name, raw in files.items():
            (tmp_path / name).write_bytes(raw + long.encode())
            survive(place, format)
            (tmp_path / name).write_bytes(raw)
    assert process_time() - start < 10


# --- the real files

REAL = {
    "rte": [(f"rte2/RTE2_dev_{name}.align.txt", 800) for name in "ABC"],
    "ists": [("formats/ists/STSint.testinput.images.wa", 375)],
    "yawat": [("formats/yawat/ep-96-04-15.0000-0099.aln", 100), ("formats/yawat", 100)],
    "transread": [("formats/transread/task_1_es-en", 179)],
    "naacl": [("formats/wpt-eng-hin/data/test.eng.hin.wa", 90)],
    "multimwa": [
        ("multimwa/mtref-train.tsv", 2398),
        ("multimwa/mtref-dev.tsv", 800),
        ("multimwa/wiki-dev.tsv", 533),
    ],
    "xlwa": [(f"xl-wa/{language}/dev.tsv", 105) for language in ("bg", "da", "es")],
}


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("format", "path", "count"), [(f, path, n) for f, files in REAL.items() for path, n in files]
)
def test_real_files_are_read_whole_and_given_back(data, format, path, count):
    corpus, counts = read(data / path, format, encoding="latin-1" if format == "yawat" else "utf-8")
    assert len(corpus) == count
    assert not counts or format not in ("multimwa", "xlwa")
    assert round_trip(corpus, format) == (corpus, {})


@pytest.mark.real_data
def test_real_quirks(data):
    chosen, reading = open_reading(str(data / "rte2/RTE2_dev_C.align.txt"), format="rte")
    assert sum(1 for _ in read_pairs(chosen, reading)) == 800
    assert reading.counts["missing parenthesis"] == 1
    assert reading.counts["byte order mark"] > 0
    yawat = read_corpus(str(data / "formats/yawat"), format="yawat", encoding="latin-1")
    assert sum(not pair.annotations for pair in yawat) == 84
    transread = read_corpus(str(data / "formats/transread/task_1_es-en"), format="transread")
    alignments = [a for pair in transread for a in pair.alignments.values()]
    labels = Counter(label for alignment in alignments for label in alignment.labels.values())
    assert labels == {"sure": 762, "contextual": 132, "partial": 117, "wrong": 555}
    for name, has in (("mtref-train", False), ("mtref-dev", True), ("wiki-dev", False)):
        pairs = read_corpus(data / "multimwa" / f"{name}.tsv")
        assert has == any(0 in pair.alignment("alignment").packed()[1] for pair in pairs)


@pytest.mark.real_data
def test_real_wpt_links_with_words(data):
    folder = data / "formats/wpt-eng-hin/data"
    beside = {"source": str(folder / "test.eng"), "target": str(folder / "test.hin")}
    path = str(folder / "test.eng.hin.wa")
    with format_files.refusing("test.eng.hin.wa:678:", "33-34", "drop_out_of_range=True"):
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
    refuses(FormatError, None, list, reading.pairs(records))
    assert all(stream.closed for stream in reading._opened)
