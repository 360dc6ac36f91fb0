"""The parts of a corpus, given by patterns such as ``in/*.fr.gz``; their sizes and outputs."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any

from alignkit._support.arguments import every
from alignkit._support.wording import natural_key
from alignkit.cluster.run import Run, state_of
from alignkit.cluster.session import OnProgress, Session, Task
from alignkit.errors import FileError, OptionError
from alignkit.io import atomic_files
from alignkit.io.atomic_files import WriteError, identity
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.model.texts import split_words

_ERRORS = 10  # that are shown before the other parts are left
_CHUNK = 1 << 20
_FILE = "parts.json"
# how many blocks of a file are compared, and their bytes
_BLOCKS = 16
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Part:
    """The files of a part of a corpus; line k of all files is the same pair.

    `name` is the text in the place of ``*``, empty if there is only one part; `paths` are in the
    order of the patterns.
    """

    name: str
    paths: tuple[str, ...]

    @property
    def key(self) -> str:
        """The name of files that belong to the part."""
        return self.name or "all"

    def called(self, name: Callable[[str], str]) -> Part:
        """Return the part with `name` applied to its paths."""
        return Part(self.name, tuple(map(name, self.paths)))

    def __str__(self) -> str:
        if self.name:
            return f"part {self.name} ({self.paths[0]})"
        return " and ".join(self.paths)


def is_pattern(path: str) -> bool:
    """Return whether a path is a pattern for several files: it has a ``*`` and is not a file."""
    return "*" in path and not os.path.exists(path)


def find_parts(*patterns: str) -> list[Part]:
    """Find the files of all sides; ``*`` connects them.

    Parameters
    ----------
    *patterns : A path per side: each with one ``*``, for the same text without ``/``; or all
        without.

    Returns
    -------
    list of Part
        In natural order: 2 before 10.

    Raises
    ------
    OptionError : If the patterns do not match, a side lacks a part, or one is standard input.
    FileError : If there is no such file.
    """
    every("patterns", patterns, str)
    if "-" in patterns:
        raise OptionError("-: parts may be read more than once; give files")
    for pattern in patterns:
        atomic_files.refuse_address(pattern)
    if not any(map(is_pattern, patterns)):
        return [Part("", patterns)]
    sides: list[dict[str, str]] = []
    for pattern in patterns:
        if pattern.count("*") != 1:
            raise OptionError(f"{pattern}: give each side a pattern with one *, as in 'in/*.fr.gz'")
        sides.append(_files(pattern))
    names = sorted(set().union(*sides), key=natural_key)
    for pattern, files in zip(patterns, sides, strict=True):
        if missing := [name for name in names if name not in files]:
            other = next(side[missing[0]] for side in sides if missing[0] in side)
            if len(missing) > 1:
                more = f", and {len(missing) - 1} more"
            else:
                more = ""
            raise OptionError(
                f"{other} has no counterpart {named(pattern, missing[0])}{more}; each part "
                "needs a file of each side"
            )
    return [Part(name, tuple(side[name] for side in sides)) for name in names]


def _files(pattern: str) -> dict[str, str]:
    before, _, after = pattern.partition("*")
    known = re.compile(f"{re.escape(before)}([^/]+){re.escape(after)}", re.DOTALL)
    paths = glob.glob(f"{glob.escape(before)}*{glob.escape(after)}")
    matches = ((path, known.fullmatch(path)) for path in paths if not os.path.isdir(path))
    files = {match[1]: path for path, match in matches if match}
    if not files:
        raise FileError(pattern, None, "no file matches")
    return files


def named(pattern: str, name: str) -> str:
    """Return the path of a part, from a pattern."""
    if pattern == "-":
        raise OptionError("-: the output of parts needs files, as in 'out/*.align.gz'")
    if not name:
        return pattern
    if pattern.count("*") != 1:
        raise OptionError(
            f"{pattern}: there are several parts; give an output with one *, as in 'out/*.align.gz'"
        )
    return pattern.replace("*", name)


def one_file(path: str) -> str:
    """Return the path of an output that is a single file for all parts."""
    if is_pattern(path):
        raise OptionError(f"{path}: is one file for all parts; give a name without *")
    return path


def refuse_replacing(outputs: Sequence[str], parts: Sequence[Part]) -> None:
    """Reject outputs that cannot be written, are the same file, or are also read."""
    atomic_files.refuse_same(outputs)
    atomic_files.refuse_unwritable(outputs)
    read = {identity(path): path for part in parts for path in part.paths}
    for output in outputs:
        if (path := read.get(identity(output))) is not None and output != "-":
            raise OptionError(
                f"{output} would be replaced, but is also read ({path}); give another file "
                "for the output; nothing was changed"
            )


@dataclass(frozen=True)
class LinkOutput:
    """The links to write; see `Aligner.align_bitext`."""

    symmetrize: str = "posterior"
    threshold: float | None = None
    sure: float | None = None
    probabilities: bool = False


@dataclass(frozen=True)
class PartOutputs:
    """The outputs of each part: links, and scores."""

    links: str | None = None
    scores: str | None = None
    how: LinkOutput = LinkOutput()  # which links

    @property
    def some(self) -> bool:
        """Whether there is any output."""
        return self.links is not None or self.scores is not None

    def called(self, name: Callable[[str], str]) -> PartOutputs:
        """Return the outputs with `name` applied to their paths."""
        links, scores = (path and name(path) for path in (self.links, self.scores))
        return replace(self, links=links, scores=scores)

    def files(self, parts: Sequence[Part]) -> list[tuple[str | None, str | None]]:
        """Return the paths for links and scores of each part."""
        return [
            (
                self.links and named(self.links, part.name),
                self.scores and named(self.scores, part.name),
            )
            for part in parts
        ]

    def check(self, parts: Sequence[Part], save: str | None, *read: str) -> None:
        """Reject files that cannot be written, or that would be overwritten."""
        paths = [path for files in self.files(parts) for path in files if path is not None]
        if save is not None:
            paths.append(one_file(save))
        refuse_replacing(paths, [*parts, Part("", read)])

    @contextmanager
    def naming_written(self, parts: Sequence[Part]) -> Iterator[None]:
        """Add the outputs that were already written to a writing error."""
        before = {}
        for pair in self.files(parts):
            for path in pair:
                if path:
                    before[path] = _state(path)
        try:
            yield
        except WriteError as problem:
            paths = [path for path, state in before.items() if _state(path) != state]
            if not paths:
                raise
            if len(paths) > 3:
                more = f" and {len(paths) - 3:,} more"
            else:
                more = ""
            text = f"{problem}; already written: {', '.join(paths[:3])}{more}"
            raise WriteError(text) from None


def _state(path: str) -> tuple[int, int] | None:
    return state_of(path) if os.path.isfile(path) else None


@dataclass(frozen=True)
class Facts:
    """The size of a part, and the state of its files."""

    states: list[tuple[int, int, int, str]]  # of its files, as of `states_of`
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

    states = states_of(paths)
    words = [0, 0]
    for lines in lines_of(list(paths), options, format=None, whole=False):
        for side, text in enumerate((lines.source, lines.target)):
            words[side] += text.count(" ") + lines.size
            long = 2 * options.max_words
            for k, line in enumerate(text.split("\n") if len(text) >= long else ()):
                if len(line) >= long:
                    path = paths[0 if side == 0 else -1]
                    refuse_long([len(split_words(line))], lines.first + k, path, options)
    return Facts(states, [*map(digest_of, paths)], *words)


def file_facts(paths: Sequence[str], _options: ReadOptions) -> Facts:
    """Return the facts of a part's files, without reading the text."""
    return Facts(states_of(paths), [*map(digest_of, paths)])


def refuse_long(lengths: Sequence[int], first: int, path: str, options: ReadOptions) -> None:
    """Reject sentences with too many words; `first` is the line of the first one."""
    for k, size in enumerate(lengths):
        if size > options.max_words:
            raise TextFile(path, options).too_long("a sentence", size, first + k)


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
    find: Callable[[Sequence[str], ReadOptions], Facts],
    options: ReadOptions,
    *,
    run: Run,
    progress: OnProgress | None = None,
) -> list[Facts]:
    """Read all parts with `find`; if the run was begun before, only those with changed files."""
    saved: Mapping[str, dict[str, Any]] = run.read(_FILE) or {}
    facts: dict[int, Facts] = {}
    for place, part in enumerate(parts):
        known = saved.get(_key(part))
        if known and [*map(tuple, known["states"])] == (states := states_of(part.paths)):
            words = known["source_words"], known["target_words"]
            facts[place] = Facts(states, known["digests"], *words)
    left = largest_first([k for k in range(len(parts)) if k not in facts], parts)
    tasks = [Task(f"{parts[k]}", (parts[k].paths, options)) for k in left]
    for place, part_facts in session.each(find, tasks, errors=_ERRORS):
        facts[left[place]] = part_facts
        if progress is not None:
            progress(len(facts), len(parts), "parts are read")
    if left:
        run.write({_key(part): asdict(facts[k]) for k, part in enumerate(parts)}, _FILE)
    return [facts[k] for k in range(len(parts))]


def _key(part: Part) -> str:
    return "\n".join(map(os.path.abspath, part.paths))


def states_of(paths: Sequence[str]) -> list[tuple[int, int, int, str]]:
    """Return size, times and a digest of some blocks of files, to detect changes."""
    try:
        return [
            (*state_of(path), os.stat(path).st_ctime_ns, digest_of(path, sample=True))
            for path in paths
        ]
    except OSError as problem:
        raise FileError.of(problem, str(problem.filename)) from None


def largest_first(places: Sequence[int], parts: Sequence[Part]) -> list[int]:
    """Return part numbers with the largest files first; workers then finish at the same time."""
    return sorted(places, key=lambda k: -_size(parts[k]))


def largest_of(parts: Sequence[Part]) -> Part:
    """Return the part with the largest files; their format is clear, as others may be empty."""
    return parts[largest_first(range(len(parts)), parts)[0]]


def _size(part: Part) -> int:
    try:
        return sum(os.path.getsize(path) for path in part.paths)
    except OSError:
        return 0  # reading it will say why


def inputs_of(parts: Sequence[Part], facts: Sequence[Facts]) -> dict[str, str]:
    """Return the digest of each file, for the manifest of a run."""
    both = zip(parts, facts, strict=True)
    files = (file for part, known in both for file in zip(part.paths, known.digests, strict=True))
    return {os.path.abspath(path): digest for path, digest in files}
