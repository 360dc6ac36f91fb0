"""Define what is compared: each task is one or more rows of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nltk.metrics import precision, recall
from nltk.translate import AlignedSent, alignment_error_rate
from nltk.translate import Alignment as NltkAlignment
from nltk.translate.phrase_based import phrase_extraction

from alignkit import LinkArrays, extract_phrases, read_corpus, symmetrize
from alignkit.io import open_reading
from alignkit.scoring import count_links, link_ratios
from benchmarks import plain
from benchmarks.clock import Measured, time_calls, time_processes
from benchmarks.material import TIMES, Material
from benchmarks.plain_score import link_counts, link_measures

__all__ = ["TASKS", "Row"]


_SENTENCES = 2000  # for nltk's extraction, spread evenly over the text


class Row(NamedTuple):
    """Hold what a task took: by alignkit, plain and nltk, as far as each was run."""

    task: str
    lines: int
    taken: dict[str, Measured]
    made: int = 0
    """How many phrase pairs came out, for a rate."""


def score_files(material: Material, runs: int) -> Iterator[Row]:
    """Run `alignkit score` and `benchmarks.plain_score`, from start to exit."""
    whole = material.lines

    def row(level: str, lines: int, path: Callable[[str], str], plainly: bool = True) -> Row:
        files = path("hypothesis"), path("reference")
        commands = {"alignkit": ["alignkit", "score", *files, "--level", level]}
        if plainly:
            commands["plain"] = ["benchmarks.plain_score", *files, level]
        taken = time_processes(commands, runs=runs)
        return Row(f"alignkit score --level {level}", lines, taken)

    yield row("links", whole, material.file)
    yield row("links", whole * TIMES, material.repeated)
    yield row("both", whole, material.file)
    yield row("both", whole * TIMES, material.repeated, plainly=False)


def write_phrases(material: Material, runs: int) -> Iterator[Row]:
    """Run `alignkit phrases` and `benchmarks.plain_phrases`, from start to exit."""
    links, *words = (material.file(name) for name in ("hypothesis", "source", "target"))
    out = [str(material.folder / f"phrases-{name}.tsv") for name in ("alignkit", "plain")]
    texts = ["--source", words[0], "--target", words[1]]
    commands = {
        "alignkit": ["alignkit", "phrases", links, *texts, "--kind", "all", "-o", out[0]],
        "plain": ["benchmarks.plain_phrases", links, *words, out[1]],
    }
    taken = time_processes(commands, runs=runs)
    with open(out[0], "rb") as lines:
        made = sum(1 for _ in lines)
    for file in out:
        Path(file).unlink()
    yield Row("alignkit phrases --kind all", material.lines, taken, made)


def read_files(material: Material, runs: int) -> Iterator[Row]:
    """Read links into arrays, and links and words into a corpus."""
    links, source, target = (material.file(name) for name in ("hypothesis", "source", "target"))

    def nltk_links() -> object:
        with open(links, encoding="utf-8") as lines:
            return [NltkAlignment.fromstring(line) for line in lines]

    def nltk_pairs() -> object:
        with (
            open(links, encoding="utf-8") as rows,
            open(source, encoding="utf-8") as sources,
            open(target, encoding="utf-8") as targets,
        ):
            return [
                AlignedSent(words.split(), mots.split(), NltkAlignment.fromstring(row))
                for row, words, mots in zip(rows, sources, targets, strict=True)
            ]

    calls: dict[str, Callable[[], object]] = {
        "alignkit": lambda: link_arrays(links),
        "plain": lambda: plain.read_links(links),
        "nltk": nltk_links,
    }
    yield Row("read links", material.lines, time_calls(calls, runs=runs))
    million = material.repeated("hypothesis")
    taken = time_calls({"alignkit": lambda: link_arrays(million)}, runs=runs)
    yield Row("read links", material.lines * TIMES, taken)
    calls = {
        "alignkit": lambda: read_corpus(links, format="pharaoh", source=source, target=target),
        "plain": lambda: list(plain.read_pairs(links, source, target)),
        "nltk": nltk_pairs,
    }
    yield Row("read a corpus with words", material.lines, time_calls(calls, runs=runs))


def extract(material: Material, runs: int) -> Iterator[Row]:
    """Extract phrase pairs from links that are in memory."""
    few = min(_SENTENCES, material.lines)
    links = material.spread("hypothesis", few)
    alignments = [sorted(possible) for _, possible in plain.read_links(links)]
    words = [
        Path(material.spread(side, few)).read_text(encoding="utf-8").splitlines()
        for side in ("source", "target")
    ]
    triples = list(zip(*words, alignments, strict=True))
    arrays = link_arrays(links)
    calls: dict[str, Callable[[], object]] = {
        "alignkit": lambda: extract_phrases(arrays),
        "plain": lambda: [plain.phrases(alignment) for alignment in alignments],
        "nltk": lambda: [phrase_extraction(*triple) for triple in triples],
    }
    yield Row("extract, tight with kinds (nltk: loose)", few, time_calls(calls, runs=runs))
    yield _extract("extract, tight with kinds", link_arrays(material.file("hypothesis")), runs)
    million = link_arrays(material.repeated("hypothesis"))
    yield _extract("extract, in blocks", million, runs, size=10_000)


def _extract(task: str, arrays: LinkArrays, runs: int, size: int | None = None) -> Row:
    count = len(arrays)
    starts = range(0, count, size or count)
    blocks = [arrays.part(start, min(count, start + (size or count))) for start in starts]

    def run() -> int:
        return sum(len(extract_phrases(block).spans) for block in blocks)

    return Row(task, count, time_calls({"alignkit": run}, runs=runs), run())


def merge_directions(material: Material, runs: int) -> Iterator[Row]:
    """Symmetrize links that are in memory."""
    files = [material.file(name) for name in ("forward", "reverse")]
    forward, reverse = map(link_arrays, files)
    sides = [[possible for _, possible in plain.read_links(file)] for file in files]
    calls: dict[str, Callable[[], object]] = {
        "alignkit": lambda: symmetrize(forward, reverse, "grow-diag-final-and"),
        "plain": lambda: list(map(plain.grow_diag_final_and, *sides)),
    }
    taken = time_calls(calls, runs=runs)
    yield Row("symmetrize, grow-diag-final-and", material.lines, taken)


def score_sentences(material: Material, runs: int) -> Iterator[Row]:
    """Score each sentence pair by itself: precision, recall and AER."""
    files = [material.file(name) for name in ("hypothesis", "reference")]
    hyp, ref = map(link_arrays, files)
    both = list(zip(*map(plain.read_links, files), strict=True))
    triples = [
        tuple(map(NltkAlignment, (hyp_links[1], *ref_links))) for hyp_links, ref_links in both
    ]
    calls: dict[str, Callable[[], object]] = {
        "alignkit": lambda: link_ratios(count_links(hyp, ref)),
        "plain": lambda: [link_measures(link_counts(*pair)) for pair in both],
        "nltk": lambda: [nltk_measures(*triple) for triple in triples],
    }
    taken = time_calls(calls, runs=runs)
    yield Row("precision, recall, AER of each pair", material.lines, taken)


def nltk_measures(hyp: Any, sure: Any, possible: Any) -> tuple[float | None, ...]:
    """Return precision, recall and AER of one sentence pair; None where undefined."""
    error = alignment_error_rate(sure, hyp, possible) if hyp or sure else None
    return precision(possible, hyp), recall(sure, hyp), error


def link_arrays(path: str) -> LinkArrays:
    """Read a file of Pharaoh lines into arrays, as the commands do."""
    pharaoh, reading = open_reading(path, format="pharaoh")
    assert pharaoh.blocks is not None
    return LinkArrays.concatenate([links for _, links in pharaoh.blocks(reading)])


TASKS: Sequence[Callable[[Material, int], Iterator[Row]]] = (
    read_files,
    score_files,
    score_sentences,
    extract,
    write_phrases,
    merge_directions,
)
"""All tasks: each takes the files and the number of runs."""
