"""Shared parts of the writers: options, files, counts of losses, links as texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from alignkit.errors import AlignkitError, OptionError
from alignkit.io.atomic_files import WriteError, replacing, replacing_folder
from alignkit.io.bitext_lines import ParallelWriter
from alignkit.io.pending_files import PendingFolder
from alignkit.io.text_files import is_word
from alignkit.io.write_options import WriteOptions
from alignkit.model.alignment import NULL, SIDES, Alignment, Link
from alignkit.model.annotation import Annotation
from alignkit.model.sentence_pair import SentencePair, word_column
from alignkit.model.texts import without_marks


class Writing:
    """The pairs to write, the options, the files, and the losses."""

    def __init__(self, path: str, options: WriteOptions, *, base: int = 0) -> None:
        self.path = path
        self.options = options
        self.base = base if options.base is None else options.base
        self.pairs: Iterable[SentencePair] = ()  # `write_corpus` gives them
        self.written = 0
        self.lost: Counter[str] = Counter()

    def open(self, path: str | None = None) -> AbstractContextManager[TextIO]:
        """Open the output, or another of its files, for writing; see `replacing`."""
        return replacing(self.path if path is None else path)

    @contextmanager
    def open_texts(self) -> Iterator[ParallelWriter]:
        """Open the files for the words, if the user gave them."""
        with ExitStack() as stack:
            source = None
            target = None
            if self.options.source:
                source = stack.enter_context(replacing(self.options.source))
            if self.options.target:
                target = stack.enter_context(replacing(self.options.target))
            yield ParallelWriter(source, target)

    def folder(self) -> AbstractContextManager[PendingFolder]:
        """Create the folder of a format of several files, and its parent folders."""
        if self.path == "-":
            raise OptionError("this format is a folder of files and cannot go to standard output")
        return replacing_folder(self.path)

    def annotation(self, pair: SentencePair) -> Annotation | None:
        """Return the annotation to write, which has an alignment; None if there is none."""
        chosen = self.options.annotator
        names = [name for name in pair.alignments if chosen in (None, name)]
        if len(names) > 1:
            raise OptionError(
                f"pair {pair.id!r} has alignments of {', '.join(names)}, but this format "
                "allows only one: choose it with `annotator`"
            )
        return pair.annotations[names[0]] if names else None

    def alignment(self, pair: SentencePair) -> Alignment | None:
        """Return the alignment to write, `oriented`; see `annotation`."""
        annotation = self.annotation(pair)
        if annotation is None or annotation.alignment is None:
            return None
        return self.oriented(annotation.alignment)

    def alignment_or_empty(self, pair: SentencePair) -> Alignment:
        """Return the alignment to write in a format with a line for each pair; see `annotation`.

        It has no links if nobody aligned the pair. An alignment with nulls alone is false in
        Python, so `or` must not be used for this.
        """
        alignment = self.alignment(pair)
        return Alignment() if alignment is None else alignment

    def nulls(self, alignment: Alignment) -> list[Link]:
        """Return the nulls of an alignment, if 0 is the empty word and words count from 1."""
        if alignment.nulls and self.base == 0:
            self.lost["nulls"] += 1
            return []
        return sorted(alignment.nulls)

    def without_marks(self, text: str) -> str:
        """Return lines of a pair without byte order marks, which reading would remove."""
        plain = without_marks(text)
        if plain != text:
            self.lost["byte order marks"] += 1
        return plain

    def oriented(self, alignment: Alignment) -> Alignment:
        """Return the alignment with links in the direction for writing."""
        if self.options.transpose:
            return alignment.transpose()
        return alignment

    def link_text(self, links: Iterable[Link]) -> str:
        """Return some links as a text, in the direction and from the base for writing."""
        if self.options.transpose:
            links = [link.transpose() for link in links]
        return write_links(links, self.base)

    def words(self, pair: SentencePair) -> tuple[str, str]:
        """Return both sentences as lines of tokens with single spaces."""
        source, target = pair.words
        refuse_words(pair.id, (*source, *target), is_word, "whitespace")
        return " ".join(source), " ".join(target)


def refuse_others(folder: PendingFolder, pattern: str) -> None:
    """Raise an error if the place of a folder has files of a pattern that are not replaced."""
    for path in sorted(folder.place.glob(pattern)):
        if not (folder.root / path.relative_to(folder.place)).exists():
            raise WriteError(
                f"{path}: already exists and would be read together with the new files; "
                "nothing was changed; use another folder"
            )


def word_ids(pair: SentencePair, pattern: str, made: str) -> list[list[str]]:
    """Return the ids of the words: their columns if these fit, else `made` of side and number."""
    ids = []
    for side, (name, words) in enumerate(zip(SIDES, pair.words, strict=True), start=1):
        own = word_column(pair, name, "id") or []
        if len({*own}) == len(words) and all(re.fullmatch(pattern, id) for id in own):
            ids.append(own)
        else:
            numbers = range(1, len(words) + 1)
            ids.append([made.format(side=side, k=number) for number in numbers])
    return ids


def refuse_breaks(id: str, words: Iterable[str]) -> None:
    """Raise an error for words of a pair that do not fit into a column of a line."""
    refuse_words(id, words, lambda word: word and not _BREAK.search(word), "a tab, a line end")


def refuse_words(
    id: str, words: Iterable[str], fits: Callable[[str], object], without: str
) -> None:
    """Raise an error for the first word of a pair that does not fit."""
    for word in words:
        marked = without_marks(word) != word
        if marked or not fits(word):
            problem = f"token {word!r} is empty or contains {without} or a control character"
            if marked:
                problem = f"token {word!r} begins with U+FEFF (a byte order mark)"
            advice = ""
            if len(word.split()) > 1 and "\n" not in word:
                advice = _OF_SPACES
            raise AlignkitError(
                f"pair {id!r}: {problem}, which this format cannot represent{advice}"
            )


_OF_SPACES = (
    "; write alignkit-jsonl, alignkit-xml or jsonl, or divide such tokens with "
    "'alignkit retokenize --divide-spaces'"
)


def links_and_nulls(alignment: Alignment) -> list[tuple[Link, bool]]:
    """Return the links, then the nulls, in ascending order, each with True if it is sure."""
    nulls = [(null, null in alignment.sure_nulls) for null in sorted(alignment.nulls)]
    return [*alignment.items(), *nulls]


def write_links(links: Iterable[tuple[int, int]], base: int = 0) -> str:
    """Return links, `i-j`, and nulls, `i-` or `-j`, as text in ascending order."""
    texts = []
    for i, j in sorted(links):
        source = "" if i == NULL else i + base
        target = "" if j == NULL else j + base
        texts.append(f"{source}-{target}")
    return " ".join(texts)


class LinkTexts:
    """The links of an alignment as texts, by kind: ``0-0``, a null ``2-``."""

    def __init__(self, alignment: Alignment, base: int = 0) -> None:
        sure: list[Link] = []
        possible: list[Link] = []
        for link, is_sure in alignment.items():
            if is_sure:
                sure.append(link)
            else:
                possible.append(link)
        self.sure = write_links(sure, base)
        self.possible = write_links(possible, base)
        self.null = write_links(alignment.sure_nulls, base)
        self.possible_null = write_links(alignment.nulls - alignment.sure_nulls, base)
        self.weights = {write_links([link], base): v for link, v in alignment.weights.items()}
        self.labels = {write_links([link], base): v for link, v in alignment.labels.items()}


_BREAK = re.compile(r"[\x00-\x1f]")
_WHOLE = re.compile(r"[0-9]{1,9}")


@dataclass
class Numbering:
    """Numbers of pairs: their own ids if these are whole numbers, else the first free ones."""

    lost: Counter[str]
    own: bool = True  # whether a pair may keep its id
    unique: bool = True  # whether only one pair may
    taken: set[int] = field(default_factory=set)
    free: int = 1

    def take(self, id: str) -> str:
        """Return the number of the next pair, as written."""
        if self.own and _WHOLE.fullmatch(id) and int(id) not in self.taken:
            if self.unique:
                self.taken.add(int(id))
            return id
        while self.free in self.taken:
            self.free += 1
        number = str(self.free)
        self.taken.add(self.free)  # a later pair of this id gets another
        if number != id:
            self.lost["ids"] += 1
        return number


def file_part(name: str) -> str:
    """Return an annotator's name for use in a file name."""
    if name in ("", ".", "..") or not name.isprintable() or set(name) & set("/\\"):
        message = f"annotator {name[:40]!r} cannot be part of a file name; rename that annotator"
        raise OptionError(message)
    return name
