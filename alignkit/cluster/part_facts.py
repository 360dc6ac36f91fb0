"""What is known of the files of parts: sizes, digests, and whether they have changed since."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any

from alignkit.cluster.parts import Part, largest_first
from alignkit.cluster.run import Run, state_of
from alignkit.cluster.session import OnProgress, Session, Task
from alignkit.errors import FileError
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.model.texts import split_words

_ERRORS = 10  # that are shown before the other parts are left
_CHUNK = 1 << 20  # bytes that are read at a time
_FILE = "parts.json"  # of a run: the facts of all parts
_BLOCKS = 16  # how many blocks of a file are compared
_BLOCK = 1 << 16  # the bytes of each


@dataclass(frozen=True)
class Facts:
    """The size of a part, and the state of its files."""

    states: list[list[int | str]]  # of its files, as of `_states_of`
    digests: list[str]  # of what they hold
    source_words: int = 0
    target_words: int = 0

    @property
    def words(self) -> int:
        """The number of words of both sides."""
        return self.source_words + self.target_words


def text_facts(paths: Sequence[str], options: ReadOptions) -> Facts:
    """Read and check the two texts of a part completely."""
    from alignkit.align.numbered_texts import lines_of

    facts = file_facts(paths)
    source_words = 0
    target_words = 0
    for lines in lines_of(list(paths), options, format=None, whole=False):
        # a line has a word more than spaces
        source_words += lines.size + _spaces(lines.source, lines.first, paths[0], options)
        target_words += lines.size + _spaces(lines.target, lines.first, paths[-1], options)
    return replace(facts, source_words=source_words, target_words=target_words)


def _spaces(text: str, first: int, path: str, options: ReadOptions) -> int:
    """Return the number of spaces in lines, after a check that none has too many words."""
    long = 2 * options.max_words  # letters and spaces of so many words at least
    if len(text) >= long:
        for number, line in enumerate(text.split("\n"), start=first):
            if len(line) >= long:
                refuse_long([len(split_words(line))], number, path, options)
    return text.count(" ")


def file_facts(paths: Sequence[str]) -> Facts:
    """Return the facts of a part's files, without reading the text."""
    return Facts(_states_of(paths), list(map(digest_of, paths)))


def refuse_long(lengths: Sequence[int], first: int, path: str, options: ReadOptions) -> None:
    """Reject sentences with too many words; `first` is the line of the first one."""
    for line, size in enumerate(lengths, start=first):
        if size > options.max_words:
            raise TextFile(path, options).too_long("a sentence", size, line)


def digest_of(path: str, *, sample: bool = False) -> str:
    """Return a digest of the bytes of a file, or of a sample of them."""
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
    find: Callable[[Sequence[str]], Facts],
    *,
    run: Run,
    progress: OnProgress | None = None,
) -> list[Facts]:
    """Read all parts with `find`; if the run was begun before, only those with changed files."""
    saved: Mapping[str, dict[str, Any]] = run.read(_FILE) or {}
    facts: dict[int, Facts] = {}
    for place, part in enumerate(parts):
        known = saved.get(name_of(part.paths))
        if known and known["states"] == _states_of(part.paths):
            facts[place] = Facts(**known)
    left = largest_first([k for k in range(len(parts)) if k not in facts], parts)
    tasks = [Task(str(parts[k]), (parts[k].paths,)) for k in left]
    for place, part_facts in session.each(find, tasks, errors=_ERRORS, label="read_part"):
        facts[left[place]] = part_facts
        if progress is not None:
            progress(len(facts), len(parts), "parts are read")
    if left:
        run.write({name_of(part.paths): asdict(facts[k]) for k, part in enumerate(parts)}, _FILE)
    return [facts[k] for k in range(len(parts))]


def name_of(paths: Sequence[str]) -> str:
    """Return a name for the files of a part, the same in each run."""
    return "\n".join(map(os.path.abspath, paths))


def _states_of(paths: Sequence[str]) -> list[list[int | str]]:
    """Return size, times and a digest of some blocks of files, to detect changes."""
    states: list[list[int | str]] = []
    try:
        for path in paths:
            created = os.stat(path).st_ctime_ns
            states.append([*state_of(path), created, digest_of(path, sample=True)])
    except OSError as problem:
        raise FileError.of(problem, str(problem.filename)) from None
    return states


def inputs_of(parts: Sequence[Part], facts: Sequence[Facts]) -> dict[str, str]:
    """Return the digest of each file, for the manifest of a run."""
    digests = {}
    for part, known in zip(parts, facts, strict=True):
        for path, digest in zip(part.paths, known.digests, strict=True):
            digests[os.path.abspath(path)] = digest
    return digests
