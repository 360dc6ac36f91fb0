"""Read all parts before anything runs: what they hold, and what is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

from alignkit.cluster.parts import Part
from alignkit.cluster.run import Run, state_of
from alignkit.cluster.session import Session, Task
from alignkit.errors import FileError
from alignkit.formats.options import ReadOptions
from alignkit.formats.textfile import TextFile
from alignkit.formats.words import split_words

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
    from alignkit.texts import lines_of

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
