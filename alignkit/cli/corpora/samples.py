"""Copy the samples that come with alignkit into a folder, to try commands with.

The examples of the documentation name files in the folder 'samples'. Files that are there and are
equal stay as they are; if one differs, nothing is written.

For example:
  alignkit samples
  alignkit samples /tmp/samples
  alignkit samples guidelines --guidelines
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from alignkit._support import shipped
from alignkit._support.wording import how_many
from alignkit.cli.common.messages import say
from alignkit.cli.parser import Options, Parser, add_options
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing_folder

_SUFFIXES = {".align", ".jsonl", ".md", ".trees", ".tsv", ".txt"}
"""Those of the files in the wheel; in a checkout, projects may lie next to them."""


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit samples`."""
    add_options(
        parser,
        """
        FOLDER  folder to write (default: samples, or guidelines with --guidelines)
        --guidelines  copy the guidelines for annotators, to write your own from them
        """,
        FOLDER={"nargs": "?", "dest": "folder"},
    )


def run(options: Options) -> None:
    """Copy the files, all or none."""
    if options.guidelines:
        source = shipped.guidelines()
    else:
        source = shipped.samples()
    folder = options.folder or source.name
    missing = _missing(source, Path(folder))
    if not missing:
        say(f"{folder}{os.sep} has all files already")
        return
    with replacing_folder(folder) as new:
        for name in missing:
            target = new.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target)
    say(f"{how_many(len(missing), 'file')} copied to {folder}{os.sep}")


def _missing(source: Path, folder: Path) -> list[Path]:
    """Return the files that the folder lacks; refuse one that has another content."""
    missing = []
    for file in sorted(source.rglob("*")):
        name = file.relative_to(source)
        if file.suffix not in _SUFFIXES or any(part.startswith(".") for part in name.parts):
            continue
        target = folder / name
        if not target.exists():
            missing.append(name)
        elif not target.is_file() or target.read_bytes() != file.read_bytes():
            raise OptionError(f"{target} differs from alignkit's; name another folder")
    return missing
