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
from alignkit.align.settings import Symmetrization
from alignkit.cluster.run import Run, state_of
from alignkit.cluster.session import OnProgress, Session, Task
from alignkit.errors import FileError, OptionError
from alignkit.io import atomic_files
from alignkit.io.atomic_files import WriteError, identity
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.model.texts import split_words

_ERRORS = 10  # that are shown before the other parts are left
_CHUNK = 1 << 20  # bytes that are read at a time
_FILE = "parts.json"  # of a run: the facts of all parts
_BLOCKS = 16  # how many blocks of a file are compared
_BLOCK = 1 << 16  # the bytes of each


@dataclass(frozen=True)
class Part:
    """The files of a part of a corpus; line k of all files is the same pair.

    `name` is the text in the place of ``*``, empty if there is only one part; `paths` are in the
    order of the patterns.

    Returned by `find_parts`.

    Examples
    --------
    >>> from alignkit.cluster import find_parts
    >>> part = find_parts("samples/french-english/*.align")[-1]
    >>> part.name, len(part.paths)
    ('gold', 1)
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

    Examples
    --------
    >>> [part] = find_parts("samples/french-english/fr.txt", "samples/french-english/en.txt")
    >>> len(part.paths)
    2
    >>> [part.name for part in find_parts("samples/french-english/*.align")]
    ['eflomal', 'fast_align', 'gold']
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
        missing = [name for name in names if name not in files]
        if missing:
            first = missing[0]
            other = next(side[first] for side in sides if first in side)
            more = ""
            if len(missing) > 1:
                more = f", and {len(missing) - 1} more"
            raise OptionError(
                f"{other} has no counterpart {named(pattern, first)}{more}; each part needs a "
                "file of each side"
            )
    return [Part(name, tuple(side[name] for side in sides)) for name in names]


def _files(pattern: str) -> dict[str, str]:
    """Return the path of each file of a pattern, by the text in the place of ``*``."""
    before, _, after = pattern.partition("*")
    known = re.compile(f"{re.escape(before)}([^/]+){re.escape(after)}", re.DOTALL)
    files = {}
    for path in glob.glob(f"{glob.escape(before)}*{glob.escape(after)}"):
        match = known.fullmatch(path)
        if match and not os.path.isdir(path):
            files[match[1]] = path
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
    read: dict[Any, str] = {}
    for part in parts:
        read |= {identity(path): path for path in part.paths}
    for output in outputs:
        path = read.get(identity(output))
        if path is not None and output != "-":
            raise OptionError(
                f"{output} would be replaced, but is also read ({path}); give another file "
                "for the output; nothing was changed"
            )


@dataclass(frozen=True)
class LinkOutput:
    """The links to write; see `Aligner.align_bitext`."""

    symmetrize: Symmetrization = "posterior"
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
        links = self.links and name(self.links)
        scores = self.scores and name(self.scores)
        return replace(self, links=links, scores=scores)

    def files(self, parts: Sequence[Part]) -> list[tuple[str | None, str | None]]:
        """Return the paths for links and scores of each part."""
        files = []
        for part in parts:
            links = self.links and named(self.links, part.name)
            scores = self.scores and named(self.scores, part.name)
            files.append((links, scores))
        return files

    def check(self, parts: Sequence[Part], save: str | None, *read: str) -> None:
        """Reject files that cannot be written, or that would be overwritten."""
        paths: list[str] = []
        for files in self.files(parts):
            paths += [path for path in files if path is not None]
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
            more = ""
            if len(paths) > 3:
                more = f" and {len(paths) - 3:,} more"
            text = f"{problem}; already written: {', '.join(paths[:3])}{more}"
            raise WriteError(text) from None


def _state(path: str) -> tuple[int, int] | None:
    """Return the state of a file; None if there is none."""
    if not os.path.isfile(path):
        return None
    return state_of(path)


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
        words[0] += lines.size + _spaces(lines.source, lines.first, paths[0], options)
        words[1] += lines.size + _spaces(lines.target, lines.first, paths[-1], options)
    return Facts(states, list(map(digest_of, paths)), *words)


def _spaces(text: str, first: int, path: str, options: ReadOptions) -> int:
    """Return the number of spaces in lines, after a check that none has too many words."""
    long = 2 * options.max_words  # letters and spaces of so many words at least
    if len(text) >= long:
        for number, line in enumerate(text.split("\n"), start=first):
            if len(line) >= long:
                refuse_long([len(split_words(line))], number, path, options)
    return text.count(" ")


def file_facts(paths: Sequence[str], _options: ReadOptions) -> Facts:
    """Return the facts of a part's files, without reading the text."""
    return Facts(states_of(paths), list(map(digest_of, paths)))


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
        if not known:
            continue
        states = states_of(part.paths)
        if list(map(tuple, known["states"])) == states:
            words = known["source_words"], known["target_words"]
            facts[place] = Facts(states, known["digests"], *words)
    left = largest_first([k for k in range(len(parts)) if k not in facts], parts)
    tasks = [Task(str(parts[k]), (parts[k].paths, options)) for k in left]
    for place, part_facts in session.each(find, tasks, errors=_ERRORS):
        facts[left[place]] = part_facts
        if progress is not None:
            progress(len(facts), len(parts), "parts are read")
    if left:
        run.write({_key(part): asdict(facts[k]) for k, part in enumerate(parts)}, _FILE)
    return [facts[k] for k in range(len(parts))]


def _key(part: Part) -> str:
    """Return the name of a part in the file of facts."""
    return "\n".join(map(os.path.abspath, part.paths))


def states_of(paths: Sequence[str]) -> list[tuple[int, int, int, str]]:
    """Return size, times and a digest of some blocks of files, to detect changes."""
    states = []
    try:
        for path in paths:
            created = os.stat(path).st_ctime_ns
            states.append((*state_of(path), created, digest_of(path, sample=True)))
    except OSError as problem:
        raise FileError.of(problem, str(problem.filename)) from None
    return states


def largest_first(places: Sequence[int], parts: Sequence[Part]) -> list[int]:
    """Return part numbers with the largest files first; workers then finish at the same time."""
    return sorted(places, key=lambda k: -_size(parts[k]))


def largest_of(parts: Sequence[Part]) -> Part:
    """Return the part with the largest files; their format is clear, as others may be empty."""
    return max(parts, key=_size)


def _size(part: Part) -> int:
    """Return the bytes of the files of a part; 0 if one cannot be read."""
    try:
        return sum(os.path.getsize(path) for path in part.paths)
    except OSError:
        return 0  # reading it will say why


def inputs_of(parts: Sequence[Part], facts: Sequence[Facts]) -> dict[str, str]:
    """Return the digest of each file, for the manifest of a run."""
    digests = {}
    for part, known in zip(parts, facts, strict=True):
        for path, digest in zip(part.paths, known.digests, strict=True):
            digests[os.path.abspath(path)] = digest
    return digests
