"""Align in both directions with MGIZA: `python -m benchmarks.peer_mgiza SOURCE TARGET ...`.

The settings are those of Moses' train-model.perl: 50 word classes, 5 rounds of Model 1, 5 of the
HMM, 3 of Model 3, 3 of Model 4.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

Link = tuple[int, int]

_SETTINGS = {
    "model1iterations": "5",
    "model2iterations": "0",
    "hmmiterations": "5",
    "model3iterations": "3",
    "model4iterations": "3",
    "model1dumpfrequency": "1",
    "model4smoothfactor": "0.4",
    "nsmooth": "4",
    "p0": "0.999",
    "nodumps": "1",
    "onlyaldumps": "1",
}
_NUMBER = re.compile(r"\((\d+)\)")
_WORD = re.compile(r"\S+ \(\{([\d ]*)\}\)")


def prepare(folder: Path, source: str, target: str) -> None:
    """Give the words of both sides numbers, and learn their classes."""
    vocabularies, sentences = ("-vcb1", "s.vcb", "-vcb2", "t.vcb"), ("-snt1", "st", "-snt2", "ts")
    _call(folder, "plain2snt", source, target, *vocabularies, *sentences)
    for side, text in (("s", source), ("t", target)):
        _call(folder, "mkcls", "-c50", "-n2", f"-p{text}", f"-V{side}.vcb.classes", "opt")


def align(folder: Path, source: str, target: str) -> None:
    """Train from one side to the other (s, t), and write the best alignments."""
    name = source + target
    words = f"{source}.vcb", f"{target}.vcb"
    _call(folder, "snt2cooc", f"{name}.cooc", *words, name)
    files = {"s": words[0], "t": words[1], "c": name, "o": f"{name}.out"}
    files |= {"CoocurrenceFile": f"{name}.cooc", "ncpus": str(os.cpu_count() or 1)}
    options = ((f"-{option}", value) for option, value in (files | _SETTINGS).items())
    _call(folder, "mgiza", *chain.from_iterable(options))


def _call(folder: Path, *command: str) -> None:
    with open(os.devnull, "wb") as nowhere:
        subprocess.run(command, cwd=folder, check=True, stdout=nowhere)


def read_links(folder: Path, name: str) -> dict[int, list[Link]]:
    """Return the links of each sentence pair, counted from 1, from the parts that MGIZA wrote.

    The words of its source come with the positions of their words in the target.
    """
    return {
        number: [(i, j - 1) for i, positions in enumerate(words) for j in positions]
        for part in sorted(folder.glob(f"{name}.out.A3.final.part*"))
        for number, words in _read_part(part)
    }


def _read_part(path: Path) -> Iterator[tuple[int, list[list[int]]]]:
    with path.open(encoding="utf-8") as lines:
        for header, _, words in zip(lines, lines, lines, strict=True):
            number = _NUMBER.search(header)
            if number is None:
                raise SystemExit(f"{path}: not a header of a sentence pair: {header!r}")
            _, *found = [[int(j) for j in each.split()] for each in _WORD.findall(words)]
            yield int(number[1]), found


def main(source: str, target: str, forward: str, reverse: str) -> None:
    with open(source, "rb") as lines:
        count = sum(1 for _ in lines)
    with TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, source, target)
        align(folder, "s", "t")
        align(folder, "t", "s")
        for direction, out in (("st", forward), ("ts", reverse)):
            _write(read_links(folder, direction), count, out, turned=direction == "ts")


def _write(links: dict[int, list[Link]], count: int, out: str, *, turned: bool) -> None:
    with open(out, "w", encoding="utf-8") as stream:
        for number in range(1, count + 1):
            found = links.get(number, [])
            print(*(f"{j}-{i}" if turned else f"{i}-{j}" for i, j in found), file=stream)


if __name__ == "__main__":
    main(*sys.argv[1:])
