"""Pharaoh links are written with weights where asked, and in blocks as they are one by one."""

import math
from time import process_time

import numpy as np
from command import run
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import corpora

from alignkit import NULL, Alignment, LinkArrays, SentencePair, read_corpus, write_corpus
from alignkit.io.formats.pharaoh import FORMAT
from alignkit.io.link_lines import format_lines


@given(
    corpora(FORMAT.holds | {"weights"}),
    st.fixed_dictionaries({"base": st.sampled_from([0, 1]), "transpose": st.booleans()}),
    st.booleans(),
)
def test_links_with_weights_are_read_back(tmp_path_factory, corpus, declared, ids):
    path = tmp_path_factory.mktemp("links") / "a"
    bare = corpus.map(lambda pair: SentencePair(pair.id, None, None, pair.annotations))
    options = {"format": "pharaoh", **declared}
    assert write_corpus(bare, path, weights=True, ids=ids, **options) == {}
    assert read_corpus(path, **options) == bare


def pair(text, **options):
    alignment = Alignment(Alignment.parse(text).sure, Alignment.parse(text).possible, **options)
    return SentencePair("1", None, None, {"alignment": alignment})


def test_weights_are_written_where_asked_and_what_is_lost_is_counted(tmp_path):
    weighted = pair("0-0 1?2 2-1", weights={(0, 0): 0.93, (1, 2): 1})
    assert write_corpus([weighted], tmp_path / "a", format="pharaoh") == {"weights": 1}
    assert (tmp_path / "a").read_text() == "0-0 1?2 2-1\n"
    assert write_corpus([weighted], tmp_path / "a", format="pharaoh", weights=True) == {}
    assert (tmp_path / "a").read_text() == "0-0:0.93 1?2:1.0 2-1\n"
    odd = pair("0-0 1-1", weights={(0, 0): math.nan, (1, 1): 0.5})
    lost = write_corpus([odd, pair("0-0")], tmp_path / "a", format="pharaoh", weights=True)
    assert (lost, (tmp_path / "a").read_text()) == ({"weights": 1, "ids": 1}, "0-0 1-1:0.5\n0-0\n")
    null = pair("0-0", nulls=[(1, NULL)], weights={(1, NULL): 0.5})
    lost = write_corpus([null], tmp_path / "a", format="pharaoh", weights=True)
    assert lost == {"nulls": 1}  # and its weight with it
    weighted = pair("0-0", weights={(0, 0): 0.5})
    assert write_corpus([weighted], tmp_path / "b", format="blinker", weights=True)["weights"] == 1


def test_the_command_writes_weights(capsys, tmp_path):
    (tmp_path / "a.wa").write_text("1 1 1 S 0.93\n1 2 3 P 0.25\n")
    place = [str(tmp_path / "a.wa"), "-", "--from", "naacl", "--to", "pharaoh"]
    ran = run(capsys, "convert", *place)
    assert (ran.out, "weights of 1 pairs" in ran.err) == ("0-0 1?2\n", True)
    ran = run(capsys, "convert", *place, "--to-weights")
    assert (ran.out, ran.err) == ("0-0:0.93 1?2:0.25\n", "")


def plain(path, alignments, **options):
    made = [SentencePair(str(k), None, None, {"alignment": a}) for k, a in enumerate(alignments, 1)]
    write_corpus(made, path, format="pharaoh", **options)
    return path.read_bytes()


def rounded(number):
    """Round to 4 significant digits, the plain way."""
    return float(f"{number:.4g}") if number >= 1e-9 else 0.0


CHANCES = (
    st.floats(0, 1, width=32)
    | st.integers(0, 10_000).map(lambda k: k / 10_000)
    | st.floats(2**-34, 2**-10, width=32)
)
CELLS = st.tuples(st.integers(0, 12) | st.integers(0, 2**20 - 1), st.integers(0, 120))
LINES = st.lists(st.dictionaries(CELLS, st.tuples(st.booleans(), CHANCES), max_size=6), max_size=5)


@given(LINES, st.booleans())
@example([{(2**20 - 1, 0): (True, 1.234e-05)}], True)
@example([], True)
def test_blocks_are_written_as_pair_by_pair(tmp_path_factory, lines, weights):
    path = tmp_path_factory.mktemp("lines") / "a"
    alignments, numbers = [], []
    for line in lines:
        kept = {link: float(np.float32(number)) for link, (_, number) in sorted(line.items())}
        numbers += kept.values()
        sure_links = [link for link, (sure, _) in line.items() if sure]
        weighted = {link: rounded(number) for link, number in kept.items()}
        alignments.append(Alignment(sure_links, line, weights=weighted))
    given_numbers = np.array(numbers, np.float32) if weights else None
    text = format_lines(LinkArrays.pack(alignments), probabilities=given_numbers)
    assert text == plain(path, alignments, weights=weights)


def test_ties_and_edges_are_rounded_as_python_rounds_them():
    """Numbers halfway between two of 4 digits, which 32 bits hold exactly, and around powers."""
    edges = [0, 1, 0.99996, 0.99994, 0.0999999, 1e-4, 1e-5, 1.25e-7, 9.9999e-5, 1e-10, 2.5e-9]
    halves = [k / 2**5 / 100 for k in range(1, 2**5)]  # some are; the others are as good as any
    ties = [n / 2**m for m in range(1, 20) for n in range(1, min(2**m, 200), 2)]
    numbers = np.array([*edges, *halves, *ties], np.float32)
    arrays = LinkArrays.pack([Alignment([(k, 0) for k in range(len(numbers))])])
    text = format_lines(arrays, probabilities=numbers).decode()
    found = [token.partition(":")[2] for token in text.split()]
    assert found == [repr(rounded(float(number))) for number in numbers]


def test_a_million_links_are_written_fast():
    """In about 40 ms on a free machine; the limit leaves room for a busy one."""
    rng = np.random.default_rng(1)
    count, pairs = 1_000_000, 100_000
    links = np.column_stack([np.arange(count) % 10, rng.integers(0, 40, count)]).astype(np.int32)
    arrays = LinkArrays.trusted(
        links,
        np.ones(count, np.uint8),
        np.arange(0, count + 1, count // pairs),
        np.full((pairs, 2), 40, np.int32),
    )
    numbers = rng.random(count, np.float32)
    times = []
    for _ in range(3):
        start = process_time()
        text = format_lines(arrays, probabilities=numbers)
        times.append(process_time() - start)
    assert text.count(b"\n") == pairs
    assert min(times) < 0.4
