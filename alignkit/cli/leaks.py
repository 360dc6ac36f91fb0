"""Tell what two parts of a split share, for `check --leaks`."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import asdict

from alignkit.cli.inputs import Input, reading_options
from alignkit.cli.messages import json_text
from alignkit.errors import OptionError
from alignkit.leaks import KINDS, Leak, find_leaks
from alignkit.visible import visible


def check_leaks(options: argparse.Namespace) -> int:
    """Run `check --leaks`; return 1 where there are leaks."""
    if len(options.inputs) != 2:
        raise OptionError("--leaks compares two files: TRAIN and TEST")
    if options.fix:
        raise OptionError("--fix mends one file; leave it or --leaks out")
    declared = reading_options(options)
    train, test = (Input(path, options.format, declared).corpus() for path in options.inputs)
    leaks = find_leaks(
        train, test, options.group, separator=options.separator, ignore_case=options.ignore_case
    )
    counts = Counter(leak.kind for leak in leaks)
    pairs = len({leak.test for leak in leaks})
    if options.json:
        record = {
            "train": {"path": options.inputs[0], "pairs": len(train)},
            "test": {"path": options.inputs[1], "pairs": len(test), "known": pairs},
            "counts": {kind: counts[kind] for kind in KINDS},
            "leaks": [asdict(leak) for leak in leaks],
        }
        print(json_text(record))
        return int(bool(leaks))
    shown: Counter[str] = Counter()
    for leak in leaks:
        shown[leak.kind] += 1
        if shown[leak.kind] <= options.show:
            print(visible(_line(leak)))
    for kind, count in counts.items():
        if count > options.show:
            print(f"... {kind}: {count} in all; --show {count} shows them")
    if leaks:
        listing = ", ".join(f"{counts[kind]} x {kind}" for kind in KINDS if counts[kind])
        print(f"{pairs} of {len(test)} pairs are known to the first file: {listing}")
    else:
        print(f"clean: none of {len(test)} pairs is known to the first file")
    return int(bool(leaks))


def _line(leak: Leak) -> str:
    about = f" by {leak.group}" if leak.group else ""
    also = f"; the first file has {', '.join(leak.also)} too" if leak.also else ""
    return f"{leak.kind}: pair {leak.test!r} and {leak.train!r} of the first file{about}{also}"
