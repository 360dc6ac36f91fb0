"""Parallel text: two files, or one file with both sentences per line.

A line contains the tokens of a sentence, separated by whitespace, in one of three forms:

- ``tokens`` only: the n-th line is the n-th sentence;
- ``id<TAB>tokens``, see `alignkit.io.text_ids`; the ids are those of the pairs;
- ``<s snum=N> tokens </s>``, as in the NAACL and WPT shared tasks.

Or a file is CoNLL-U (`alignkit.io.formats.conllu`): its sentences and their attributes are read.
A bitext has both sentences on a line, ``source ||| target``, perhaps after an id and a tab.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from alignkit.io.compression import plain_name
from alignkit.io.opening import look_ahead
from alignkit.io.text_files import TextFile
from alignkit.io.text_ids import TextIds, split_id
from alignkit.model.texts import BOM, BOM_BYTES, split_words

if TYPE_CHECKING:
    from alignkit.io.tagged_words import Tagged
    from alignkit.model.sentence_pair import SentencePair

IS_TAGGED = re.compile(
    r"(?:#[^\n]*\n|[ \r]*\n)*(?:1|1-[0-9]+|0\.1)(?:\t[^\t\n]*){2}\t(?:_|[A-Z]+)(?:\t[^\t\n]*){2}"
    r"\t(?:_|[0-9]+)(?:\t[^\t\n]*){3}(?:\n|$)"
)
"""The start of a CoNLL-U file: comments, and a first line of 10 columns."""

_HEAD = 1 << 16  # bytes
_SNUM = re.compile(r"<s\s+snum\s*=\s*\"?([^\s>\"]+)\"?\s*>")

IF_PARTIAL = "if the rest is not annotated, use `partial=True`"
"""What errors advise if there are fewer annotations than texts."""


class PairText(NamedTuple):
    """The words of one sentence pair.

    Parameters
    ----------
    line : The line of the files, from 1; in CoNLL-U the number of the sentence.
    snum : The number by which links name the sentence: of <s snum=N>, or the id before a tab if
        all ids are whole numbers; None if there is none.
    source, target : The lines without number and id, not split yet.
    tagged : The sentences of CoNLL-U.
    own_id : The id before a tab.
    """

    line: int
    snum: str | None
    source: str
    target: str
    tagged: tuple[Tagged | None, Tagged | None] = (None, None)
    own_id: str | None = None

    @property
    def words(self) -> tuple[list[str], list[str]]:
        """The words of both sides."""
        first, second = self.tagged
        source = split_words(self.source) if first is None else first.words
        target = split_words(self.target) if second is None else second.words
        return source, target

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes of the pair, from CoNLL-U."""
        first, second = self.tagged
        attributes: dict[str, str] = {}
        if first is not None:
            attributes |= first.of("source")
        if second is not None:
            attributes |= second.of("target")
        return attributes

    @property
    def id(self) -> str | None:
        """The id before a tab, or that of the source in CoNLL-U; None if there is none."""
        return self.own_id or self.attributes.get("source.sent_id")


def read_texts(reading: TextFile) -> Iterator[PairText] | None:
    """Yield the sentences of the files given in the options; return None if there are none."""
    source = reading.options.source
    target = reading.options.target
    if source is None:
        return None
    if target is None or target == source:
        if plain_name(source).endswith(".conllu"):
            raise reading.error(
                "is CoNLL-U and has the words of one side; name the file of the other with "
                "`target`",
                path=source,
            )
        return _bitext(reading, source)
    return _two_files(reading, source, target)


def text_pairs(reading: TextFile) -> Iterator[SentencePair]:
    """Yield the sentences of the files given in the options as pairs that nobody aligned."""
    from alignkit.model.sentence_pair import SentencePair

    for text in read_texts(reading) or ():
        source, target = map(reading.shared, text.words)
        id = text.id or text.snum or str(text.line)
        yield SentencePair(id, source, target, attributes=text.attributes)


def ids_of(reading: TextFile, paths: Sequence[str], *, divided: bool = False) -> TextIds:
    """Decide whether the lines of texts begin with ids, and log the decision; see `TextIds.of`."""
    ids = TextIds.of(reading, paths, divided=divided)
    if not reading.silent:
        ids.tell(paths)
    return ids


def _bitext(reading: TextFile, path: str) -> Iterator[PairText]:
    """Yield the sentences of one file, divided as in its first line."""
    from alignkit.io.bitext_lines import Divider

    ids = ids_of(reading, [path], divided=True)
    divider = Divider(reading, path, advice="`source` without `target` must be a bitext")
    for line, text in reading.lines(path):
        id = None
        sentences = text
        if ids.present:
            id, sentences = split_id(reading, line, text, path)
        source, target = divider.divide(sentences, line)
        snum = id if ids.numbers else None
        yield PairText(
            line,
            snum,
            reading.sentence(source, line, path),
            reading.sentence(target, line, path),
            own_id=id,
        )


class _Sentence(NamedTuple):
    """A sentence of one of two files."""

    line: int
    text: str
    id: str | None = None  # before a tab
    snum: str | None = None  # of <s snum=N>
    tagged: Tagged | None = None

    @property
    def name(self) -> str | None:
        """The number or the id, which both files must have in the same order."""
        return self.snum or self.id


def _two_files(reading: TextFile, source: str, target: str) -> Iterator[PairText]:
    """Yield the sentences of two files, which must be as many and have the same ids."""
    ids = ids_of(reading, [source, target])
    sources = _sentences(reading, source, ids)
    targets = _sentences(reading, target, ids)
    for count, (first, second) in enumerate(zip_longest(sources, targets)):
        if first is None or second is None:
            source_count = count + (first is not None) + sum(1 for _ in sources)
            target_count = count + (second is not None) + sum(1 for _ in targets)
            refuse_counts(reading, source_count, target_count)
        if first.name != second.name:
            other_name = second.name or "without a number"
            expected = f"{source}:{first.line} has {first.name or 'none'}"
            raise reading.error(f"sentence {other_name}, but {expected}", second.line, path=target)
        snum = first.snum
        if ids.numbers:
            snum = first.name
        tagged = (first.tagged, second.tagged)
        yield PairText(first.line, snum, first.text, second.text, tagged, first.id)


def refuse_counts(reading: TextFile, sources: int, targets: int) -> NoReturn:
    """Raise an error for two files with different numbers of sentences."""
    sides = (sources, reading.options.source or ""), (targets, reading.options.target or "")
    (fewer, shorter), (more, longer) = sorted(sides)
    raise reading.error(f"has {more} sentences, but {shorter} has {fewer}", path=longer)


def has_own_form(reading: TextFile, path: str) -> bool:
    """Return whether a text is CoNLL-U, or numbers its sentences by <s snum=N>."""
    head, _ = look_ahead(path, 512, reading.options.max_size)
    return head.lstrip(BOM_BYTES + b" \t").startswith(b"<s snum") or is_tagged(reading, path)


def is_tagged(reading: TextFile, path: str) -> bool:
    """Return whether a file of sentences is CoNLL-U."""
    head, _ = look_ahead(path, _HEAD, reading.options.max_size, reading.options.encoding)
    text = head.decode(reading.options.encoding, "replace").lstrip(BOM)
    return IS_TAGGED.match(text) is not None or plain_name(path).endswith(".conllu")


def _sentences(reading: TextFile, path: str, ids: TextIds) -> Iterator[_Sentence]:
    """Yield the sentences of one of two files, in any of the forms."""
    if is_tagged(reading, path):
        from alignkit.io.tagged_words import read_tagged

        for number, sentence in enumerate(read_tagged(reading, path), start=1):
            yield _Sentence(number, " ".join(sentence.words), tagged=sentence)
        return
    has_snums = False
    for line, text in reading.lines(path):
        if line == 1:
            has_snums = text.lstrip().startswith("<s snum")
        if has_snums:
            if text.strip():
                yield _numbered(reading, path, line, text.strip())
        elif ids.present:
            id, words = split_id(reading, line, text, path)
            yield _Sentence(line, reading.sentence(words, line, path), id)
        else:
            yield _Sentence(line, reading.sentence(text, line, path))


def _numbered(reading: TextFile, path: str, line: int, text: str) -> _Sentence:
    """Return the sentence in a line ``<s snum=N> words </s>``."""
    match = _SNUM.match(text)
    if match is None:
        raise reading.error("expected '<s snum=N> words </s>'", line, path=path)
    words = text[match.end() :].removesuffix("</s>")
    return _Sentence(line, reading.sentence(words, line, path), snum=match[1])
