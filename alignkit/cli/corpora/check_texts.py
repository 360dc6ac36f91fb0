"""`check --text`: list the characters of texts that are not text, and mend them in a copy."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout

from alignkit._support.wording import how_many, visible
from alignkit.cli.common.inputs import reading_options
from alignkit.cli.common.messages import json_text, say
from alignkit.cli.parser import Options, given_flag
from alignkit.errors import OptionError
from alignkit.io.atomic_files import identity, replacing
from alignkit.io.odd_characters import (
    CONTROL,
    MARK,
    RETURN,
    SPACE,
    OddCharacters,
    find_odd_characters,
)
from alignkit.io.text_files import TextFile
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table

_OF_LINKS = ("format", "leaks", "consistency", "fix_source", "fix_target", "source", "target")
_MENDED = {
    CONTROL: "replaced by U+FFFD",
    MARK: "removed",
    RETURN: "removed",
}


def check_texts(options: Options) -> int:
    """Run `check --text`; return 1 if there are characters to mend."""
    flag = given_flag(options, *_OF_LINKS)
    if flag:
        raise OptionError(f"--text is for plain texts, without {flag}; leave one of them out")
    if options.fix:
        if len(options.inputs) > 1:
            raise OptionError("--fix corrects one file; give one IN")
        place = identity(options.fix)
        if place is not None and place == identity(options.inputs[0]):
            raise OptionError(
                f"--text --fix writes a copy, not over {options.fix}; name another OUT"
            )
    declared = reading_options(options)
    checked: dict[str, OddCharacters] = {}
    for path in options.inputs:
        with replacing(options.fix) if options.fix else nullcontext() as output:
            checked[path] = find_odd_characters(TextFile(path, declared).whole_lines(), output)
    with redirect_stdout(sys.stderr if options.fix == "-" else sys.stdout):
        if options.json:
            print(json_text([_record(path, odd, options) for path, odd in checked.items()]))
        else:
            for number, (path, odd) in enumerate(checked.items()):
                if number:
                    print()
                _print(path, odd)
    if options.fix:
        changes = _changes(checked[options.inputs[0]])
        said = ", ".join(f"{count} x {kind} {_MENDED[kind]}" for kind, count in changes.items())
        say(f"{options.fix}: written with {said or 'no changes'}")
    return int(any(odd.problems for odd in checked.values()))


def _print(path: str, odd: OddCharacters) -> None:
    """Print the odd characters of a text."""
    print(f"{visible(path)}: text, {how_many(odd.lines, 'line')}")
    if odd.each:
        columns = [
            Column("kind"),
            Column("character"),
            Column("count", "count"),
            Column("first lines"),
        ]
        rows: list[list[Cell]] = []
        for each in odd.each:
            lines = ", ".join(map(str, each.lines))
            rows.append([each.kind, each.name, each.count, lines])
        print(f"\n{Table('', columns, rows)}\n")
    if any(each.kind == SPACE for each in odd.each):
        print(
            "tools that use Python's split() divide words at that white space: for links "
            "of such tools, use --token-separators unicode"
        )
    listed = ", ".join(f"{count} x {kind}" for kind, count in _changes(odd).items())
    print(f"findings: {listed}" if listed else "clean: no problems found")


def _changes(odd: OddCharacters) -> dict[str, int]:
    """Return how many characters of each kind are to be mended."""
    counts: dict[str, int] = {}
    for each in odd.problems:
        counts[each.kind] = counts.get(each.kind, 0) + each.count
    return counts


def _record(path: str, odd: OddCharacters, options: Options) -> dict[str, object]:
    """Return what `--json` prints about a text."""
    characters = []
    for each in odd.each:
        places = {"count": each.count, "lines": each.lines}
        characters.append({"kind": each.kind, "character": each.name, **places})
    record = {"path": path, "lines": odd.lines, "clean": not odd.problems}
    record |= {"counts": _changes(odd), "characters": characters}
    if options.fix:
        record["fix"] = {"path": options.fix, "changes": _changes(odd)}
    return record
