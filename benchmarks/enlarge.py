"""Make a larger bitext of a given one: repeat it, and perturb what is repeated.

    python -m benchmarks.enlarge SOURCE TARGET TIMES NEW_SOURCE NEW_TARGET

The first copy is the bitext itself. In further copies a tenth of the words is left out, and one
in twenty becomes a word of that copy alone, so that vocabulary and word pairs grow as in texts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from random import Random

LEFT_OUT, NEW = 0.1, 0.05


def perturbed(line: str, copy: int, random: Random) -> Iterator[str]:
    """Give the words of a line that is repeated."""
    for word in line.split():
        chance = random.random()
        if chance >= LEFT_OUT:
            yield f"{word}_{copy}" if chance < LEFT_OUT + NEW else word


def main(source: str, target: str, times: str, new_source: str, new_target: str) -> None:
    """Run the command."""
    for old, new in ((source, new_source), (target, new_target)):
        with open(old, encoding="utf-8") as lines, open(new, "w", encoding="utf-8") as out:
            text = lines.readlines()
            out.writelines(text)
            for copy in range(1, int(times)):
                random = Random(copy)
                out.writelines(" ".join(perturbed(line, copy, random)) + "\n" for line in text)


if __name__ == "__main__":
    main(*sys.argv[1:])
