"""Compare the rules for the defaults of training with variants, on texts that were left out.

    python -m benchmarks.defaults

For each development text and size the table shows the AER of the settings of before the rules
(one value for all sizes), of the rules, and of the variant of the rules that is best on the texts
of all other groups. Equal words are left out of monolingual texts, which are trained with
`identity`. The texts are those of ALIGNKIT_DATA; it takes about twenty minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.align import Aligner, Bitext
from alignkit.tables.table import Table
from benchmarks.texts import TEXTS, Text

Array = NDArray[np.float64]

SIZES = 105, 250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000
IDENTITY = 3.0
BEFORE = {
    "hmm": 5,
    "null": 0.05,
    "jump_smoothing": 1000.0,
    "stem_weight": 1.0,
    "floor": 2e-3,
    "concentration": 1.0,
    "threshold": 0.55,
}
VARIANTS: dict[str, dict[str, float]] = {
    "rules": {},
    "ibm1 2": {"ibm1": 2},
    "hmm 3": {"hmm": 3},
    "hmm 5": {"hmm": 5},
    "null .05": {"null": 0.05},
    "null .15": {"null": 0.15},
    "jumps 300": {"jump_smoothing": 300.0},
    "jumps 1000": {"jump_smoothing": 1000.0},
    "stem 4": {"stem": 4},
    "stems 1": {"stem_weight": 1.0},
    "stems 4": {"stem_weight": 4.0},
    "floor .002": {"floor": 2e-3},
    "concentration 1": {"concentration": 1.0},
    "threshold -.05": {"threshold": -0.05},
    "threshold +.05": {"threshold": 0.05},
}
"""Changes of the rules; that of the threshold is added to it."""


class Case(NamedTuple):
    """A text of some size."""

    text: Text
    name: str
    pairs: int

    @property
    def bitext(self) -> Bitext:
        """The first sentence pairs."""
        return Bitext.pack(self.text.pairs[: self.pairs])


def cases() -> Iterator[Case]:
    """Yield the texts in all sizes that they have, and whole if they are small."""
    for name, read in TEXTS.items():
        text = read()
        sizes = {min(size, len(text.pairs)) for size in SIZES}
        yield from (Case(text, name, size) for size in sorted(sizes))


def aer(case: Case, chosen: Array, starts: NDArray[np.int64]) -> float:
    """Return the AER, in percent, of the cells (C,) that are chosen as links."""
    right = both = found = sure = 0
    for k, gold in enumerate(case.text.gold[: case.pairs]):
        source, target = case.text.pairs[k]
        cells = chosen[starts[k] : starts[k + 1]].reshape(len(source), len(target))
        links = set(map(tuple, np.argwhere(cells).tolist()))
        wanted, fine = set(map(tuple, gold.sure)), {*map(tuple, gold.possible)}
        if case.text.monolingual:
            words, others = (list(map(str.casefold, side)) for side in (source, target))
            equal = {(i, j) for i, a in enumerate(words) for j, b in enumerate(others) if a == b}
            links, wanted, fine = links - equal, wanted - equal, fine - equal
        found, sure = found + len(links), sure + len(wanted)
        right, both = right + len(links & wanted), both + len(links & (wanted | fine))
    return 100 * (1 - (right + both) / max(found + sure, 1))


def errors(case: Case) -> dict[str, float]:
    """Return the AER of each variant, and of the settings of before."""
    bitext, starts = case.bitext, case.bitext.starts
    identity = IDENTITY if case.text.monolingual else 0.0
    judged = int(starts[min(len(case.text.gold), case.pairs)])
    out: dict[str, float] = {}
    kept: tuple[Aligner, Array] | None = None
    for name, change in {"before": BEFORE, **VARIANTS}.items():
        offset = change.get("threshold", 0.0) if name != "before" else 0.0
        if kept is None or not offset:
            settings = dict(change)
            if name == "before":
                settings["stem"] = 3 if case.pairs < 2_000 else 4
            aligner = Aligner.train(bitext, identity=identity, **settings)
            decoder = next(aligner._decoders(bitext, None))[1]
            shown = posteriors = decoder.posteriors(0, min(len(case.text.gold), case.pairs))
            if name != "before":
                shown = decoder.calibrated(0, min(len(case.text.gold), case.pairs), posteriors)
            values = np.add(*shown)[:judged] / 2
            if name == "rules":
                kept = aligner, values
        else:
            aligner, values = kept
        out[name] = aer(case, values > aligner.settings.threshold + offset, starts)
    return out


def main() -> None:
    """Run the command."""
    found = []
    for case in cases():
        found.append((case, errors(case)))
        print(case.name, case.pairs, file=sys.stderr, flush=True)
    rows = []
    for case, mine in found:
        others = [other for known, other in found if known.text.group != case.text.group]
        best = min(VARIANTS, key=lambda name: sum(log(x[name] / x["rules"]) for x in others))
        row: dict[str, object] = {"text": case.name, "pairs": case.pairs}
        rows.append(
            row
            | {"before": mine["before"], "rules": mine["rules"], "left out": mine[best], "by": best}
        )
    print(Table.from_records(rows, digits=dict.fromkeys(("before", "rules", "left out"), 1)))
    print("\nMean of the relative difference of AER, in percent, from the rules:")
    for name in ("before", *VARIANTS):
        means = [
            100 * (exp(np.mean([log(x[name] / x["rules"]) for _, x in some])) - 1)
            for some in (
                [x for x in found if not x[0].text.monolingual],
                [x for x in found if x[0].text.monolingual],
            )
        ]
        print(f"{name:16} {means[0]:+5.1f} (monolingual {means[1]:+5.1f})")


if __name__ == "__main__":
    main()
