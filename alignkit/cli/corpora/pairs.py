"""Pair several translations of the same sentences with each other.

The output is text in one language, on which you can train an aligner. Several files are read in
parallel: line k of each file translates sentence k. In a single file, each line has the
translations of one sentence in columns, separated by tabs. Words are separated by white space.
Lines and columns without words are missing translations; they are counted, and are in no pair.

Pairs are dropped only by the options below. The counts of kept and dropped pairs are printed on
stderr. The article kept pairs of fewer than 50 words with a length ratio below 1:9.

For example:
  alignkit pairs anna.txt ben.txt cleo.txt --max-length 49 --max-ratio 9 -o train.bitext
  alignkit pairs translations.tsv --drop-identical --to-source train.a --to-target train.b
  cut -f2- with-ids.tsv | alignkit pairs - --which first --both-orders --to tsv
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict

from alignkit.cli.common.cluster import reading_of
from alignkit.cli.common.files import refuse_second_reading
from alignkit.cli.common.inputs import add_limits, add_texts
from alignkit.cli.common.messages import ProgressBar, say
from alignkit.cli.parser import (
    Options,
    Parser,
    add_options,
    number,
    option_values,
    output_file,
    real,
)
from alignkit.corpora.pairings import WHICH, PairingCounts, pair_translations
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing, standard_stream
from alignkit.io.bitext_lines import ParallelWriter, divisible
from alignkit.io.text_files import TextFile
from alignkit.io.translations import Group, groups_of

_ratio = real("a number above 1", 1, hint="; for a ratio of 1:9, use 9")


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit pairs`."""
    add_options(
        parser,
        """
        IN...  one file for each translator, or a single file with a column for each translator (.gz
            too); - is stdin
        --encoding E  encoding of all input (default: utf-8)
        """,
        IN="inputs",
        encoding={"default": "utf-8"},
    )
    add_texts(parser)
    add_limits(parser)
    add_options(
        parser.add_argument_group("pairing and filters"),
        """
        --which  pair all translations, or only the first with each of the others (default: all)
        --both-orders  write each pair in both orders (default: the earlier translation is the
            source)
        --min-length N  minimum number of words on each side (default: 1)
        --max-length N  maximum number of words on each side (default: no limit)
        --max-ratio R  drop pairs whose longer side has R times the words of the shorter one, or
            more; 9 also drops 9:1 itself, as in the article (default: no limit)
        --drop-identical  drop pairs of equal sentences, ignoring case (default: keep them)
        --drop-repeated  drop pairs that occurred before (default: keep them); needs 100 bytes a
            pair
        """,
        which={"choices": tuple(WHICH), "default": "all"},
        min_length={"type": number(1), "default": 1},
        max_length=number(1),
        max_ratio=_ratio,
    )
    add_options(
        parser.add_argument_group("output"),
        """
        -o, --output FILE  file to write (default: stdout)
        --to F  format of the output: bitext, with lines 'source ||| target', or tsv, with two
            columns (default: bitext)
        --to-source FILE  file for the source sentences, one per line; needs --to-target, and no -o
        --to-target FILE  file for the target sentences, one per line
        --to-ids  write an id and a tab first; 7/1-3 pairs translations 1 and 3 of line 7 (not
            bitext)
        --json  print the counts as JSON on stdout (default: in words on stderr)
        """,
        output=output_file,
        to=("bitext", "tsv"),
        to_source=output_file,
        to_target=output_file,
    )


def run(options: Options) -> None:
    """Write pairs of translations, and report what was dropped."""
    _check(options)
    declared = reading_of(options)
    readings = [TextFile(path, declared) for path in options.inputs]
    groups: Iterable[Group] = groups_of(readings)
    if _is_bitext(options):
        groups = _without_divider(groups, readings)
    lengths = ("min_length", "max_length", "max_ratio")
    names = ("which", "both_orders", *lengths, "drop_identical", "drop_repeated")
    pairings = pair_translations(groups, **option_values(options, *names))
    first = readings[0]
    with ExitStack() as stack, ProgressBar(first.path, first.fraction, "pairs") as progress:
        streams = [stack.enter_context(replacing(path)) for path in _paths(options)]
        texts = ParallelWriter(*streams, form=options.to or "bitext")
        for pair in pairings:
            source, target = map(" ".join, pair.words)
            texts.write(pair.id, source, target, before=f"{pair.id}\t" if options.to_ids else "")
            progress.step()
    if options.json:
        print(json.dumps(asdict(pairings.counts), indent=2))
    else:
        _tell(pairings.counts, options)


def _check(options: Options) -> None:
    """Refuse options that do not fit the inputs or the output."""
    inputs = options.inputs
    refuse_second_reading(options)
    twice = next((path for k, path in enumerate(inputs) if path in inputs[:k]), None)
    if twice is not None:
        raise OptionError(f"{twice} is given twice; each file must be a different translation")
    if "-" in inputs and sys.stdin is None:
        raise OptionError("standard input is closed; name a file")
    if (options.to_source is None) != (options.to_target is None):
        raise OptionError("--to-source and --to-target need each other; for a single file use -o")
    if options.to_source is not None and (options.output is not None or options.to is not None):
        raise OptionError("give -o and --to, or --to-source and --to-target, not both")
    if options.to_ids and _is_bitext(options):
        raise OptionError("a bitext has no ids: use --to tsv, or write two files")
    if options.json and any(standard_stream(path) is sys.stdout for path in _paths(options)):
        raise OptionError("--json prints on standard output: write the pairs to a file with -o")


def _is_bitext(options: Options) -> bool:
    """Return whether the output is two texts, one for each side."""
    return options.to_source is None and options.to != "tsv"


def _without_divider(groups: Iterable[Group], readings: list[TextFile]) -> Iterator[Group]:
    """Yield the groups; raise an error for a sentence that contains the divider of a bitext."""
    for line, group in enumerate(groups, start=1):
        for k, words in enumerate(group):
            if not divisible(words):
                raise readings[min(k, len(readings) - 1)].error(
                    "the words contain '|||', the divider of a bitext; use --to tsv, or two files",
                    line,
                )
        yield group


def _paths(options: Options) -> list[str]:
    """Return the files to write."""
    if options.to_source is not None:
        return [options.to_source, options.to_target]
    return [options.output or "-"]


def _tell(counts: PairingCounts, options: Options) -> None:
    """Report how many pairs were made, kept and dropped."""
    say(
        f"{counts.groups:,} groups of {counts.sentences:,} translations, {counts.empty:,} "
        f"empty; {counts.pairs:,} pairs, {counts.kept:,} kept"
    )
    dropped = {
        f"a side under {options.min_length} words": counts.too_short,
        f"a side over {options.max_length} words": counts.too_long,
        f"length ratio of {options.max_ratio or 0:g} or more": counts.too_unequal,
        "identical": counts.identical,
        "repeated": counts.repeated,
    }
    if counts.dropped:
        listing = ", ".join(f"{n:,} x {reason}" for reason, n in dropped.items() if n)
        say(f"dropped: {listing}")
    if counts.unpaired:
        say(f"{counts.unpaired:,} x group without a pair")
