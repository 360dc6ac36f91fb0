"""Join phrase tables on their pivots: of one file each or of several, here or on a cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from alignkit.cli.cluster import PartsProgress, by_workers, opened_session, refuse_options
from alignkit.cli.messages import json_text, say
from alignkit.cli.progress import Progress
from alignkit.cli.sorting import room
from alignkit.errors import OptionError
from alignkit.output import replacing, sorting_folder

if TYPE_CHECKING:
    from alignkit.tables.paraphrases import Pivot
    from alignkit.tables.pivot_steps import PivotSettings, PivotTally


def join_phrases(
    tables: list[list[str]], names: list[str], settings: PivotSettings, options: argparse.Namespace
) -> int:
    """Join phrase tables, each in some files; messages call them by their names."""
    from alignkit.tables.paraphrases import Pivot

    with (
        replacing(options.output) as out,
        Pivot(len(tables), folder=sorting_folder(options.output), room=room(options)) as pivot,
    ):
        for side, files in enumerate(tables, start=1):
            if not sum([_read(path, side, pivot, options) for path in files]):
                raise OptionError(
                    f"{names[side - 1]}: holds no phrase pairs; name a file that does"
                )
        lines = _json_lines(pivot, settings) if options.jsonl else pivot.lines(settings)
        with Progress(options.table, lambda: None, "paraphrases") as progress:
            for text in lines:
                out.write(text)
                progress.step(text.count("\n"))
    tell_joined(pivot.tally, pivot.repeated, settings, " and ".join(names))
    return 0


def pivot_of_parts(tables: list[str], settings: PivotSettings, options: argparse.Namespace) -> int:
    """Join tables."""
    from alignkit.cluster.parts import find_parts, one_file

    one_file(options.output)
    found = [find_parts(path) for path in tables]
    refuse_options(
        options,
        {"rules": None, "to": None, "one_label": False},
        "it is about rules, and phrase tables alone may be in parts",
    )
    if not by_workers(options):
        files = [[part.paths[0] for part in table] for table in found]
        return join_phrases(files, tables, settings, options)
    refuse_options(options, {"jsonl": False}, "leave it out")
    if options.output == "-":
        raise OptionError("the paraphrases go to a file: name it by -o")
    from alignkit.cluster.pivots import TableInput, join_tables

    given = TableInput(
        options.pivot, options.min_count, options.table_format, options.encoding, options.max_size
    )
    with opened_session(options) as session, PartsProgress("pivot") as progress:
        made = join_tables(
            session,
            found,
            options.output,
            settings,
            given,
            room=room(options),
            work=options.work,
            progress=progress,
        )
    for path, entries, left_out in zip(tables, made.entries, made.left_out, strict=True):
        _tell_rare(path, entries, left_out, options.min_count)
    tell_joined(made.tally, made.repeated, settings, " and ".join(tables))
    return 0


def _read(path: str, side: int, pivot: Pivot, options: argparse.Namespace) -> int:
    """Add a file to a table; return how many entries it holds."""
    from alignkit.tables.table_file import TableFile

    file = TableFile(
        path, format=options.table_format, encoding=options.encoding, max_size=options.max_size
    )
    before = pivot.added
    with Progress(path, file.fraction, "phrase pairs") as progress:
        entries = pivot.add_file(
            side, file, on=options.pivot, min_count=options.min_count, told=progress.step
        )
    _tell_rare(path, entries, entries - (pivot.added - before), options.min_count)
    return entries


def _tell_rare(path: str, entries: int, left_out: int, least: int) -> None:
    if left_out:
        say(
            f"{path}: {left_out:,} of {entries:,} phrase pairs were seen less than {least} times "
            "and are left out"
        )


def _json_lines(pivot: Pivot, settings: PivotSettings) -> Iterator[str]:
    for found in pivot.paraphrases(settings):
        yield json_text(asdict(found), indent=None) + "\n"


def tell_joined(tally: PivotTally, repeated: int, settings: PivotSettings, named: str) -> None:
    """Tell what was found, and what was left out."""
    left_out = {
        f"with p below {settings.min_p:g}": tally.rare,
        f"beyond the best {settings.top}": tally.beyond,
    }
    told = ", ".join(f"{count:,} {why}" for why, count in left_out.items() if count)
    kept = tally.found - tally.rare - tally.beyond
    say(
        f"{named}: {kept:,} of {tally.found:,} paraphrases, by {tally.paths:,} paths over pivots"
        + (f"; left out: {told}" if told else "")
    )
    if repeated:
        say(
            f"{named}: {repeated:,} phrase pairs come again; the greatest probabilities "
            "of each count"
        )
