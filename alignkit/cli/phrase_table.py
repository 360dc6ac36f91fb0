"""Write phrase tables: `phrases --table`, of one input or of parts, here or on a cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from alignkit.choice import Choice, naming
from alignkit.cli.cluster import PartsProgress, by_workers, opened_session, refuse_options, size
from alignkit.cli.inputs import Input, detect_format, reading_options, tell
from alignkit.cli.messages import json_text, say
from alignkit.cli.progress import Progress
from alignkit.cli.sorting import room
from alignkit.errors import OptionError
from alignkit.output import replacing, sorting_folder

if TYPE_CHECKING:
    from alignkit.cluster.counting import AlignedInput
    from alignkit.cluster.parts import Part
    from alignkit.tables.phrase_steps import Tally
    from alignkit.tables.phrase_tables import PhraseCounts, TableSettings


def count_phrases(sources: Iterable[Input], name: str, options: argparse.Namespace) -> int:
    """Write the phrase table of some inputs, which messages call `name`."""
    from alignkit.tables.phrase_tables import PhraseCounts

    settings = _settings(options)
    least = options.min_count or 1
    with (
        replacing(options.output) as out,
        PhraseCounts(settings, folder=sorting_folder(options.output), room=room(options)) as counts,
    ):
        for source in sources:
            with naming(source.path):
                counts.add(Choice(source.path, options.annotator).annotated(source.pairs()))
        lines = _table_json if options.jsonl else PhraseCounts.lines
        with Progress(name, lambda: None, "entries") as progress:
            for text in lines(counts, min_count=least):
                out.write(text)
                progress.step(text.count("\n"))
    _tell_counted(name, counts.occurrences, counts.tally, least)
    return 0


def _tell_counted(path: str, occurrences: int, tally: Tally, least: int) -> None:
    left_out = f"; {tally.left_out:,} seen less than {least} times left out" if least > 1 else ""
    say(f"{path}: {occurrences:,} phrase pairs, {tally.different:,} different{left_out}")


def _table_json(counts: PhraseCounts, *, min_count: int) -> Iterator[str]:
    for entry in counts.entries(min_count=min_count):
        yield json_text(asdict(entry), indent=None) + "\n"


def _settings(options: argparse.Namespace) -> TableSettings:
    from alignkit.tables.phrase_tables import TableSettings

    return TableSettings(
        options.links, options.kind, options.loose, options.max_length, options.ignore_identical
    )


def _given(
    parts: Sequence[Part], sides: Iterable[str], options: argparse.Namespace
) -> AlignedInput:
    """Return how parts are read; the format of all is that of the largest."""
    from alignkit.cluster.checking import largest_of
    from alignkit.cluster.counting import AlignedInput

    reading = reading_options(options, source=None, target=None)
    format = detect_format(largest_of(parts).paths[0], options.format, reading)
    return AlignedInput(tuple(sides), format, options.annotator, reading)


def _estimate(parts: Sequence[Part], sides: Iterable[str], options: argparse.Namespace) -> int:
    """Print about how many phrase pairs there are, and what they take."""
    from alignkit.cluster.estimate import estimate_phrases
    from alignkit.cluster.exchanging import memory_of

    found = estimate_phrases(parts, _settings(options), _given(parts, sides, options))
    print(
        f"about {found.pairs:,} pairs in {len(parts):,} parts; {found.occurrences:,} phrase pairs"
    )
    memory = size(memory_of(2 * room(options)))
    print(
        f"counting takes about {memory} of memory a worker (--memory), and at most "
        f"{size(found.disk)} of disk"
    )
    return 0


def phrases_of_parts(options: argparse.Namespace) -> int:
    """Write the phrase table of parts."""
    from alignkit.cluster.parts import find_parts, one_file

    if not options.counted:
        raise OptionError("parts ('*', --cluster) are counted together: say --table")
    given = {"source": options.source, "target": options.target}
    sides = {side: path for side, path in given.items() if path is not None}
    parts = find_parts(options.input, *sides.values())
    if options.estimate:
        return _estimate(parts, sides, options)
    one_file(options.output)
    if not by_workers(options):
        inputs = (
            Input(
                part.paths[0],
                options.format,
                reading_options(options, **dict(zip(sides, part.paths[1:], strict=True))),
            )
            for part in parts
        )
        return count_phrases(inputs, options.input, options)
    refuse_options(options, {"jsonl": False}, "leave it out")
    if options.output == "-":
        raise OptionError("the table goes to a file: name it by -o")
    from alignkit.cluster.counting import count_parts

    least = options.min_count or 1
    with opened_session(options) as session, PartsProgress("phrases") as progress:
        found = count_parts(
            session,
            parts,
            options.output,
            _settings(options),
            _given(parts, sides, options),
            min_count=least,
            room=room(options),
            work=options.work,
            progress=progress,
        )
    tell(options.input, found.found)
    _tell_counted(options.input, found.occurrences, found.tally, least)
    return 0
