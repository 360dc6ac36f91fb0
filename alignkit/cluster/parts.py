"""Find the parts of a corpus by patterns: ``in/*.fr.gz`` and ``in/*.en.gz``."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

from alignkit._support.arguments import every
from alignkit._support.wording import natural_key
from alignkit.cluster.run import Run, state_of
from alignkit.cluster.session import Session, Task
from alignkit.errors import FileError, OptionError
from alignkit.io.atomic_files import identity, refuse_address, refuse_same, refuse_unwritable
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile, split_words

_SHOWN = 3


@dataclass(frozen=True)
class Part:
    """The files of a part of a corpus, line by line the same pairs.

    `name` is what stands in the place of ``*`` in all of them, empty if there is one part alone;
    `paths` are in the order of the patterns.
    """

    name: str
    paths: tuple[str, ...]

    @property
    def key(self) -> str:
        """What files of its own are called."""
        return self.name or "all"

    def called(self, name: Callable[[str], str]) -> Part:
        """Return it with other names of its files."""
        return Part(self.name, tuple(map(name, self.paths)))

    def __str__(self) -> str:
        return f"part {self.name} ({self.paths[0]})" if self.name else " and ".join(self.paths)


def is_pattern(path: str) -> bool:
    """Return whether a path stands for several files: it has a ``*``, and no file is called so."""
    return "*" in path and not os.path.exists(path)


def find_parts(*patterns: str) -> list[Part]:
    """Find the files of all sides; ``*`` joins them.

    Parameters
    ----------
    *patterns
        A path for each side: with one ``*``, the same text in all, without a ``/``; or all without.

    Returns
    -------
    list of Part
        In the order in which people count: 2 before 10.

    Raises
    ------
    OptionError
        If the patterns do not fit, a side lacks a part, or one is standard input.
    FileError
        If there is no such file.
    """
    every("patterns", patterns, str)
    if "-" in patterns:
        raise OptionError("-: parts are files, which may be read again; name them")
    for pattern in patterns:
        refuse_address(pattern)
    if not any(map(is_pattern, patterns)):
        return [Part("", patterns)]
    sides: list[dict[str, str]] = []
    for pattern in patterns:
        if pattern.count("*") != 1:
            raise OptionError(f"{pattern}: give each side a pattern with one *, as in 'in/*.fr.gz'")
        sides.append(_files(pattern))
    names = sorted(set().union(*sides), key=natural_key)
    for pattern, files in zip(patterns, sides, strict=True):
        missing = [name for name in names if name not in files]
        if missing:
            other = next(side[missing[0]] for side in sides if missing[0] in side)
            more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise OptionError(
                f"{other} has no counterpart {named(pattern, missing[0])}{more}; each part needs "
                "a file of each side"
            )
    return [Part(name, tuple(side[name] for side in sides)) for name in names]


def _files(pattern: str) -> dict[str, str]:
    before, _, after = pattern.partition("*")
    known = re.compile(f"{re.escape(before)}([^/]+){re.escape(after)}", re.DOTALL)
    paths = glob.glob(f"{glob.escape(before)}*{glob.escape(after)}")
    matches = ((path, known.fullmatch(path)) for path in paths if not os.path.isdir(path))
    files = {match[1]: path for path, match in matches if match}
    if not files:
        raise FileError(pattern, None, "no file has such a name")
    return files


def named(pattern: str, name: str) -> str:
    """Return what a pattern is called for a part."""
    if not name:
        return pattern
    if pattern.count("*") != 1:
        raise OptionError(
            f"{pattern}: there are several parts; name what is written with one *, as in "
            "'out/*.align.gz'"
        )
    return pattern.replace("*", name)


def one_file(path: str) -> str:
    """Return the path of what is written as one file, whatever the parts."""
    if is_pattern(path):
        raise OptionError(f"{path}: is one file for all parts; name it without *")
    return path


def refuse_replacing(outputs: Sequence[str], parts: Sequence[Part]) -> None:
    """Refuse outputs that could not be written, are one file, or are read too."""
    refuse_same(outputs)
    refuse_unwritable(outputs)
    read = {identity(path): path for part in parts for path in part.paths}
    for output in outputs:
        if (path := read.get(identity(output))) is not None and output != "-":
            raise OptionError(
                f"{output} would be replaced, but is also read ({path}); name another file for the "
                "output; nothing was changed"
            )


def outputs_of(pattern: str, parts: Sequence[Part]) -> list[str]:
    """Return the output of each part; see `named`."""
    if pattern == "-":
        raise OptionError("-: what is written of parts goes to files, as in 'out/*.align.gz'")
    return [named(pattern, part.name) for part in parts]


OnProgress = Callable[[int, int, str], None]
"""Called with how much is done, of how much, and what that is."""

_ERRORS = 10  # that are shown before the others are left
_CHUNK = 1 << 20
_FILE = "parts.json"
_BLOCKS, _BLOCK = 16, 1 << 16  # of a file are compared with what they were


@dataclass(frozen=True)
class Facts:
    """What a part was found to be."""

    pairs: int  # how many it has
    source_words: int
    target_words: int
    cells: int  # the sum of N x M over its pairs; 0 where nobody asked
    longest: int  # the words of its longest line, likewise
    states: list[tuple[int, int, int, str]]  # of its files: as of states_of, and what they hold
    digests: list[str]

    @property
    def words(self) -> int:
        """The words of both sides."""
        return self.source_words + self.target_words


def text_facts(paths: Sequence[str], options: ReadOptions) -> Facts:
    """Read the two texts of a part to their ends, as fast as they can be checked."""
    from alignkit.align.numbered_texts import lines_of

    states = states_of(paths)
    pairs = 0
    words = [0, 0]
    for lines in lines_of(list(paths), options, format=None, whole=False):
        pairs += lines.size
        for side, text in enumerate((lines.source, lines.target)):
            words[side] += text.count(" ") + lines.size
            _refuse_long_lines(text, lines.first, (paths[0], paths[-1])[side], options)
    return Facts(pairs, words[0], words[1], 0, 0, states, [*map(digest_of, paths)])


def _refuse_long_lines(text: str, first: int, path: str, options: ReadOptions) -> None:
    if len(text) < 2 * options.max_words:
        return
    for k, line in enumerate(text.split("\n")):
        if len(line) >= 2 * options.max_words:
            refuse_long([len(split_words(line))], first + k, path, options)


def file_facts(paths: Sequence[str], options: ReadOptions) -> Facts:
    """Return what the files of a part are, without a look at what they say."""
    del options
    return Facts(0, 0, 0, 0, 0, states_of(paths), [*map(digest_of, paths)])


def refuse_long(lengths: Sequence[int], first: int, path: str, options: ReadOptions) -> None:
    """Refuse sentences with too many words; `first` is the line of the first one."""
    for k, size in enumerate(lengths):
        if size > options.max_words:
            raise TextFile(path, options).too_long("a sentence", size, first + k)


def digest_of(path: str, *, sample: bool = False) -> str:
    """Return a digest of what a file holds, as it stands there; perhaps of some blocks alone."""
    digest = blake2b(digest_size=16)
    try:
        with open(path, "rb") as stream:
            last = os.fstat(stream.fileno()).st_size - _BLOCK
            if sample and last > 0:
                for k in range(_BLOCKS):
                    stream.seek(last * k // (_BLOCKS - 1))
                    digest.update(stream.read(_BLOCK))
                return digest.hexdigest()
            for chunk in iter(partial(stream.read, _CHUNK), b""):
                digest.update(chunk)
    except OSError as problem:
        raise FileError.of(problem, path) from None
    return digest.hexdigest()


def check_parts(
    session: Session,
    parts: Sequence[Part],
    find: Callable[[Sequence[str], ReadOptions], Facts],
    options: ReadOptions,
    *,
    run: Run | None = None,
    progress: OnProgress | None = None,
) -> list[Facts]:
    """Read all parts by `find`, or, of a run that was begun, those of which a file has changed."""
    known = _known(run)
    facts: dict[int, Facts] = {}
    for place, part in enumerate(parts):
        part_facts = known.get(_key(part))
        if part_facts is not None and part_facts.states == states_of(part.paths):
            facts[place] = part_facts
    left = largest_first([k for k in range(len(parts)) if k not in facts], parts)
    tasks = [Task(f"{parts[k]}", (parts[k].paths, options)) for k in left]
    for place, part_facts in session.each(find, tasks, errors=_ERRORS):
        facts[left[place]] = part_facts
        if progress is not None:
            progress(len(facts), len(parts), "parts are read")
    if run is not None and left:
        run.write({_key(part): asdict(facts[k]) for k, part in enumerate(parts)}, _FILE)
    return [facts[k] for k in range(len(parts))]


def _key(part: Part) -> str:
    return "\n".join(map(os.path.abspath, part.paths))


def _known(run: Run | None) -> Mapping[str, Facts]:
    saved: Mapping[str, dict[str, Any]] = (run and run.read(_FILE)) or {}
    return {
        key: Facts(**{**values, "states": [tuple(state) for state in values["states"]]})
        for key, values in saved.items()
    }


def states_of(paths: Sequence[str]) -> list[tuple[int, int, int, str]]:
    """Return what shows that files changed: size, times, a digest of head, tail and some blocks."""
    try:
        return [
            (*state_of(path), os.stat(path).st_ctime_ns, digest_of(path, sample=True))
            for path in paths
        ]
    except OSError as problem:
        raise FileError.of(problem, str(problem.filename)) from None


def largest_first(places: Sequence[int], parts: Sequence[Part]) -> list[int]:
    """Return the places of parts, the largest files first, so that no worker is late at the end."""
    return sorted(places, key=lambda k: -_size(parts[k]))


def largest_of(parts: Sequence[Part]) -> Part:
    """Return the part with the largest files, which shows their format: others may be empty."""
    return parts[largest_first(range(len(parts)), parts)[0]]


def _size(part: Part) -> int:
    try:
        return sum(os.path.getsize(path) for path in part.paths)
    except OSError:
        return 0  # reading it will say why


def inputs_of(parts: Sequence[Part], facts: Sequence[Facts]) -> dict[str, str]:
    """Return the digest of each file, for the manifest of a run."""
    return {
        os.path.abspath(path): digest
        for part, facts_of_part in zip(parts, facts, strict=True)
        for path, digest in zip(part.paths, facts_of_part.digests, strict=True)
    }
