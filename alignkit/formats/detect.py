"""Find the format of a file: alignkit's own by their mark, another by reading its first records.

Every format tries the first hundred records. One fits if it reads all of them, whatever base and
direction are: links out of range do not count, for both are declared, never guessed. Of several
that fit, those that find links go before those that find none, and the one that knows a mark of its
own (`Format.surely`) before the others. If more than one is left, nothing is guessed.

A file that no format reads, and that has the keys or headings of one, is of that format, and
broken, and so is one of which one format alone reads no fewer records than it refuses: reading it
will say where.

A folder is of a format that reads it, unless files of a corpus are in it, or in the folders in it,
that the format would pass over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from os import PathLike
from pathlib import Path

from alignkit.arguments import check_arguments
from alignkit.errors import FormatError, OptionError, UnknownFormatError
from alignkit.formats.causes import cause_of, listed, typed
from alignkit.formats.likeness import likeness
from alignkit.formats.options import ReadOptions
from alignkit.formats.registry import check_path
from alignkit.formats.sample import Sample
from alignkit.formats.trial import Head, Trial, best_trial, fitting_trials
from alignkit.input import open_input

_TRIED = 30  # files of a folder that are looked at
_WALKED = 20_000  # files of which those are chosen
_NUMBER = re.compile("[0-9]+")


def find_format(
    path: str | PathLike[str], *, encoding: str = "utf-8", base: int | None = None
) -> str:
    """Return the name of the one format that fits a file.

    Parameters
    ----------
    path
        The file or folder; ``-`` is standard input, which can be read afterwards.
    encoding, base
        What is known of it; see `ReadOptions`. Neither is guessed.

    Raises
    ------
    UnknownFormatError
        If none fits, or several do: its `fitting` lists them.
    FileError
        If the file cannot be read.
    """
    check_arguments(find_format, locals())
    check_path(path)
    options = ReadOptions(encoding=encoding, base=base)
    sample = Sample.of(str(path), options)
    if sample.mark is not None:
        return sample.mark
    if sample.empty:
        return "pharaoh"  # of which a file without lines is one
    trials = [best_trial(name, sample, options) for name in sample.candidates()]
    fitting = fitting_trials(trials)
    if len(fitting) == 1:
        _refuse_others(sample.path, fitting[0])
        return fitting[0].name
    names = [trial.name for trial in fitting]
    if names:
        message = f"reads as {listed(names)} alike; say which it is: {typed(names)}"
        raise UnknownFormatError(message, sample.path, names)
    for trial in _without_pairs(sample, trials):
        return trial.name
    alike = likeness(sample)
    if alike is not None:
        return alike
    broken = [trial for trial in trials if trial.links and trial.read >= trial.refused]
    if len(broken) == 1:
        return broken[0].name
    raise _unknown(sample, trials, options)


def fitting_formats(path: str | PathLike[str], *, encoding: str = "utf-8") -> list[str]:
    """Return the names of the formats that fit a file; of none where it cannot be read."""
    try:
        return [find_format(path, encoding=encoding)]
    except UnknownFormatError as error:
        return error.fitting
    except (FormatError, OptionError):
        return []


def reads_as(name: str, path: str, options: ReadOptions) -> bool:
    """Return whether a format reads all the first records of a file as they are declared."""
    sample = Sample.of(path, options)
    return not sample.empty and (sample.mark is not None or best_trial(name, sample, options).fits)


def _without_pairs(sample: Sample, trials: list[Trial]) -> list[Trial]:
    """Return the one format of which a name without ending stands for files without a pair."""
    if sample.head is not None or os.path.isdir(sample.path):
        return []
    found = [trial for trial in trials if not (trial.read or trial.refused)]
    return found if len(found) == 1 else []


def _refuse_others(path: str, trial: Trial) -> None:
    """Refuse a folder of which a format would pass over files of a corpus."""
    if not os.path.isdir(path):
        return
    read = trial.kind.members
    known = set() if read is None else set(read(trial.reading))
    found = _corpora(path, known)
    if found:
        names = listed([trial.name, *_examples(path, found)])
        message = (
            f"holds files that read as {names}; name one of them, or say {typed([trial.name])}"
        )
        raise UnknownFormatError(message, path, list(dict.fromkeys((trial.name, *found))))


def _corpora(folder: str, known: set[Path]) -> dict[str, str]:
    """Return the formats of files in a folder and the folders in it, each with one such file."""
    found: dict[str, str] = {}
    for path in _spread(path for path in _walk(folder) if Path(path) not in known):
        if os.path.getsize(path):
            for name in fitting_formats(path):
                found.setdefault(name, path)
    return found


def _walk(folder: str) -> Iterator[str]:
    """Yield the files in a folder, and then in the folders in it, but for hidden ones."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = os.path.join(here, name)
            if not name.startswith(".") and os.path.isfile(path):
                yield path


def _spread(files: Iterator[str]) -> list[str]:
    """Return some files: first one of each ending in each folder, then a second, ..."""
    seen: dict[tuple[str, str], int] = {}
    ranked: list[tuple[int, int, str]] = []
    for path in islice(files, _WALKED):
        kind = os.path.dirname(path), _NUMBER.sub("", Path(path).suffix)
        seen[kind] = seen.get(kind, 0) + 1
        ranked.append((seen[kind], len(ranked), path))
    return [path for _, _, path in sorted(ranked)[:_TRIED]]


def _examples(folder: str, found: dict[str, str]) -> list[str]:
    return [f"{name} ({os.path.relpath(path, folder)})" for name, path in found.items()]


def _unknown(sample: Sample, trials: list[Trial], options: ReadOptions) -> FormatError:
    """Return the error of a file that no format fits."""
    if sample.head is None:
        if not os.path.isdir(sample.path):
            with open_input(sample.path):  # raises: there is no such file
                pass
        found = _corpora(sample.path, set())
        if found:
            names = listed(_examples(sample.path, found))
            message = f"holds files that read as {names}; name one of them"
            return UnknownFormatError(message, sample.path)
    else:
        for _ in Head.of(sample, options).lines():
            pass  # what is no text is refused as such
    return UnknownFormatError(cause_of(sample, trials), sample.path)
