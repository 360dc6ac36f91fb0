"""`check --leaks`: list the pairs of a test file that the file for training already has."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

from alignkit.cli.common.inputs import Input
from alignkit.cli.common.messages import json_text, warn
from alignkit.cli.corpora.check_findings import listing, print_some
from alignkit.cli.parser import Options
from alignkit.corpora.leaks import GROUPED, GROUPS, KINDS, Leak, find_leaks, shared_texts
from alignkit.errors import OptionError
from alignkit.model.corpus import Corpus


def check_leaks(options: Options) -> int:
    """Run `check --leaks`; return 1 if there are leaks."""
    if len(options.inputs) != 2:
        raise OptionError("--leaks compares two files: TRAIN and TEST")
    if options.fix:
        raise OptionError("--fix does not work with --leaks; leave one of them out")
    train, test = (Input.of(options, path).corpus() for path in options.inputs)
    for path, part in zip(options.inputs, (train, test), strict=True):
        _check_words(path, part, options)
    leaks = find_leaks(
        train, test, options.group, separator=options.separator, ignore_case=options.ignore_case
    )
    counts = Counter(leak.kind for leak in leaks)
    pairs = len({leak.test for leak in leaks})
    with_both_texts = {leak.test for leak in leaks if leak.kind != GROUPED}
    with_any_text = shared_texts(train, test, ignore_case=options.ignore_case)
    shared = len(with_any_text - with_both_texts)
    if options.json:
        record = {
            "train": {"path": options.inputs[0], "pairs": len(train)},
            "test": {
                "path": options.inputs[1],
                "pairs": len(test),
                "known": pairs,
                "shared_texts": shared,
            },
            "counts": {kind: counts[kind] for kind in KINDS},
            "leaks": [asdict(leak) for leak in leaks],
        }
        print(json_text(record))
        return int(bool(leaks))

    lines = ((leak.kind, _leak_line(leak)) for leak in leaks)
    print_some(lines, counts, options.show)
    if leaks:
        by_kind = listing({kind: counts[kind] for kind in KINDS})
        print(f"{pairs} of {len(test)} pairs match the first file: {by_kind}")
    else:
        groups = ", ".join(GROUPS if options.group is None else options.group)
        print(
            f"clean: none of {len(test)} pairs matches the first file (compared: both texts of "
            f"pairs with words, in either order, and {groups})"
        )
    if shared:
        print(
            f"{shared} of {len(test)} pairs share a single text with the first file (no finding; "
            "'alignkit select --keep-texts' prevents it)"
        )
    return int(bool(leaks))


def _check_words(path: str, part: Corpus, options: Options) -> None:
    """Report pairs without words, which cannot be compared; refuse a file that has no others."""
    without = sum(None in (pair.source, pair.target) for pair in part)
    if without and without == len(part) and not options.group:
        raise OptionError(
            f"{path}: no pair has words to compare; first convert each file, with its "
            "--source and --target, to alignkit-jsonl"
        )
    if without:
        warn(f"{path}: {without} of {len(part)} pairs have no words: they are not compared")


def _leak_line(leak: Leak) -> str:
    """Return a leak as it is printed."""
    text = f"{leak.kind}: pair {leak.test!r} and {leak.train!r} of the first file"
    if leak.group:
        text += f" by {leak.group}"
    if leak.also:
        text += f"; the first file also has {', '.join(leak.also)}"
    return text
