"""The options for reading, the same in every command, and the inputs of a command.

Reading and detection are imported when a command runs, so that its help is quick.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from alignkit._support.docstrings import docstring
from alignkit.cli.common.files import DISORDER, OPENED, refuse_second_reading
from alignkit.cli.common.messages import ProgressBar, say, warn
from alignkit.cli.parser import (
    Group,
    Options,
    Parser,
    add_options,
    annotator_name,
    format_name,
    number,
    option_values,
)
from alignkit.errors import FormatError, OptionError
from alignkit.io.formats import FORMATS
from alignkit.io.options import ReadOptions
from alignkit.model.texts import SEPARATORS

if TYPE_CHECKING:
    from alignkit.model.arrays import LinkArrays
    from alignkit.model.corpus import Corpus
    from alignkit.model.sentence_pair import SentencePair

_OWN = "detected"
_HARMLESS = ("carriage returns",)
_LOSS = re.compile("out of range|of no word|one side|across|both languages|empty node|other texts")


def add_reading_arguments(
    parser: Parser,
    *,
    flags: tuple[str, ...] = ("--format",),
    formats: Mapping[str, str] = FORMATS,
    default: str = _OWN,
    of: str = "the input",
) -> None:
    """Add the options for facts about a file that it does not contain itself."""
    group = parser.add_argument_group("input")
    group.add_argument(
        *flags,
        dest="format",
        metavar="F",
        type=format_name(formats),
        help=f"format of {of} (default: {default}): {', '.join(formats)}",
    )
    _add_options(group, _DECLARED)


def add_limits(group: Group, *, words: bool = True) -> None:
    """Add the options that raise the memory limits; without `words`, only that of lines."""
    _add_options(group, ["max_size", *(["max_words"] if words else [])])


def add_texts(group: Group) -> None:
    """Add the options that say what the lines of texts are."""
    _add_options(group, ["text_ids", "token_separators"])


_OPTIONS = {option.name: option.default for option in fields(ReadOptions)}
_DECLARED = [name for name in _OPTIONS if name != "lenient"]
_HELP = dict(re.findall(r"^    (\w+) : (.+(?:\n {8}.+)*)", docstring(ReadOptions), re.MULTILINE))
_YES_OR_NO = {"yes": True, "no": False}


def _yes_or_no(word: str) -> bool:
    """Return true for yes and false for no; others are errors of arguments."""
    if word not in _YES_OR_NO:
        raise argparse.ArgumentTypeError(f"{word!r}: expected yes or no")
    return _YES_OR_NO[word]


_SETTINGS: dict[str, dict[str, Any]] = {
    "base": {"type": int, "choices": (0, 1)},
    "source": {"metavar": "FILE"},
    "target": {"metavar": "FILE"},
    "link_weights": {"metavar": "FILE"},
    "languages": {"nargs": 2, "metavar": ("A", "B")},
    "text_ids": {"type": _yes_or_no, "metavar": "yes|no"},
    "token_separators": {"choices": SEPARATORS},
    "encoding": {"metavar": "E"},
    "name": {"type": annotator_name, "metavar": "NAME"},
    "max_size": {"type": number(1), "metavar": "MB"},
    "max_words": {"type": number(1), "metavar": "N"},
}
"""What `argparse` needs for the options of `ReadOptions` with a value."""


def _add_options(group: Group, names: Sequence[str]) -> None:
    """Add options for fields of `ReadOptions`, with their help from its docstring."""
    for name in names:
        settings = _SETTINGS.get(name, {"action": "store_true"}) | {"default": _OPTIONS[name]}
        help = " ".join(_HELP.get(name, "").split())
        group.add_argument(f"--{name.replace('_', '-')}", help=help, **settings)


def reading_options(options: Options, **changes: object) -> ReadOptions:
    """Return the reading options of a command; refuse to read standard input twice."""
    refuse_second_reading(options)
    declared = option_values(options, *_DECLARED)
    return ReadOptions(**(declared | changes))


def detect_format(path: str, declared: str | None, options: ReadOptions) -> str:
    """Return the declared format, or detect it and print its name (except alignkit's own)."""
    if path == "-" and sys.stdin is None:
        raise OptionError("standard input is closed; name a file")
    if declared is not None:
        return declared
    from alignkit.io.detection import find_format

    format = find_format(path, encoding=options.encoding, base=options.base)
    if not format.startswith("alignkit-"):
        say(f"{path}: read as {format}", once=True)
    return format


def is_bitext(path: str, encoding: str) -> bool:
    """Return whether each line of a file has two sentences, and no links: it is no corpus.

    Both are divided by ``|||`` or by a tab.
    """
    from alignkit.io.bitext_lines import is_bitext_line
    from alignkit.io.detection import fitting_formats
    from alignkit.io.opening import head_of

    if os.path.isdir(path):
        return False
    first, _, _ = head_of(path).partition(b"\n")
    two = is_bitext_line(first.decode(encoding, "replace"))
    return two and not fitting_formats(path, encoding=encoding)


def add_input(parser: Parser, metavar: str = "IN") -> None:
    """Add the argument for the corpus that a command reads."""
    parser.add_argument("input", metavar=metavar, help="file or folder to read; - is stdin")


class Input:
    """Read one input of a command, show progress, and report what was dropped."""

    def __init__(self, path: str, format: str | None, options: ReadOptions) -> None:
        from alignkit.io.hints import suspicions
        from alignkit.io.reading import open_reading

        self.path = path
        # what is done with the pairs before anybody gets them: nothing, unless a command says it
        self.way: Callable[[Iterator[SentencePair]], Iterator[SentencePair]] = iter
        self.format = detect_format(path, format, options)
        doubts = suspicions(path, self.format, options) if format is None else []
        self._suspicions = [f"{path}: {doubt}" for doubt in doubts]
        for doubt in doubts:
            warn(f"{path}: warning: {doubt}")
        self.kind, self.reading = open_reading(path, format=self.format, options=options)
        OPENED[path] = self.format, options
        if self.kind.remark and (remark := self.kind.remark(self.reading)):
            say(f"{path}: {remark}", once=True)

    @classmethod
    def of(cls, options: Options, path: str | None = None, **changes: object) -> Input:
        """Open the input of a command, or another file; `changes` are those of its options."""
        place = options.input if path is None else path
        return cls(place, options.format, reading_options(options, **changes))

    @property
    def cautions(self) -> list[str]:
        """Warnings about how the input was read; complete after reading."""
        return [*self._suspicions, *self.reading.cautions]

    def pairs(
        self, *, needed: bool = False, judged: bool = False, worded: bool = False
    ) -> Iterator[SentencePair]:
        """Yield the sentence pairs; at the end, report on stderr what was dropped.

        Raise an error if pairs are `needed` and there are none; with `judged`, if no pair is
        judged; and with `worded`, if the words of a judged pair are missing.
        """
        return self.way(self._pairs(needed, judged, worded))

    def _pairs(self, needed: bool, judged: bool, worded: bool) -> Iterator[SentencePair]:
        """Yield the sentence pairs as they are read."""
        from alignkit.io.reading import read_pairs

        seen = False
        with ProgressBar(self.path, self.reading.fraction, "pairs") as progress:
            for pair in read_pairs(self.kind, self.reading):
                progress.step()
                if worded and None in (pair.source, pair.target) and _is_judged(pair):
                    side = "source" if pair.source is None else "target"
                    raise FormatError(
                        f"pair {pair.id[:40]!r} is judged, but its {side} words are "
                        "missing; add them",
                        *self.reading.place,
                    )
                seen = seen or (judged and _is_judged(pair))
                yield pair
        if (needed or judged) and not self.reading.read:
            raise OptionError(f"{self.path}: no sentence pairs; name another file")
        if judged and not seen:
            raise OptionError(f"{self.path}: no judged pairs; name a file with judgments")
        self._tell()

    def blocks(self) -> Iterator[tuple[Sequence[object], LinkArrays]]:
        """Yield ids and links of many pairs at a time; see the format's `blocks`."""
        from alignkit.io.hints import hinted

        if self.kind.blocks is None:
            raise OptionError(f"format {self.format} cannot be read without its words")
        with ProgressBar(self.path, self.reading.fraction, "pairs") as progress:
            for ids, links in hinted(self.kind.blocks(self.reading), self.reading):
                progress.step(len(ids))
                yield ids, links
        self._tell()

    def corpus(self, *, needed: bool = False, judged: bool = False) -> Corpus:
        """Read the whole input; see `pairs`."""
        from alignkit.model.corpus import Corpus

        return Corpus(self.pairs(needed=needed, judged=judged))

    def _tell(self) -> None:
        """Report what was dropped, and an odd order."""
        counts = self.reading.counts
        tell(self.path, Counter({k: n for k, n in counts.items() if k not in _HARMLESS}))
        if self.reading.disorder:
            DISORDER[self.path] = self.reading.disorder
        if not self.reading.read:
            say(f"{self.path}: no sentence pairs")


def _is_judged(pair: SentencePair) -> bool:
    """Return whether somebody judged a pair."""
    return any(annotation.judgment for annotation in pair.annotations.values())


def tell(path: str, counts: Counter[str], about: str = "") -> None:
    """Print on stderr the counts of events, if there are any."""
    events = [f"{n} x {kind}" for kind, n in counts.items() if n]
    if events:
        lost = any(map(_LOSS.search, +counts))
        report = warn if lost else say
        report(f"{path}: {about}{', '.join(events)}")


def add_order_argument(group: Group) -> None:
    """Add the option that joins pairs by their order."""
    add_options(
        group,
        """
        --in-order  match pairs by their position in the files, not by their ids (default: by id)
        """,
    )


def add_names(group: Group) -> None:
    """Add the options that rename annotators and set their roles."""
    from alignkit.model.roles import ROLES

    repeated = {"action": "append", "default": []}
    add_options(
        group,
        f"""
        --rename OLD=NEW  rename an annotator; repeatable
        --role NAME=ROLE  set the role of an annotator or program: {", ".join(ROLES)}; repeatable
            (default: as in the file)
        """,
        rename=repeated,
        role=dict(repeated),
    )


def named(corpus: Corpus, options: Options) -> Corpus:
    """Return the corpus with the new names, then with the new roles."""
    if options.rename:
        corpus = corpus.rename(_equations("--rename", "OLD=NEW", options.rename))
    if options.role:
        corpus = corpus.with_roles(_equations("--role", "NAME=ROLE", options.role))
    return corpus


def _equations(flag: str, form: str, texts: Iterable[str]) -> dict[str, str]:
    """Return the names and values in texts such as OLD=NEW."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        if not (name and value):
            raise OptionError(f"{flag} {text}: expected {form}")
        if name in pairs:
            raise OptionError(f"{flag}: {name!r} occurs twice; name it once")
        pairs[name] = value
    return pairs
