r"""Read and write Penn brackets, ``(S (NP (NN rain)) (VP (VBZ falls)))``, to any depth.

Specification
-------------
A tree is ``(LABEL child ...)``; a child is a tree or a word. ASCII white space separates them.

- Outer brackets without a label, ``( (S ...))``, are not a node. ``()`` and ``(())``, which parsers
  write for a sentence without a parse, are not a tree.
- Several consecutive trees are joined under a node ``TOP``.
- In words, ``\(`` ``\)`` ``\\`` mean a bracket or a backslash, ``\/`` and ``\*`` (from the Penn
  treebank) a slash and an asterisk, ``\u{20}`` the character with this hexadecimal number, and
  ``\u{}`` a word without characters. Any other backslash is a backslash. The same is true in
  labels, except that ``\/`` and ``\*`` are kept.
- If the words are known, ``(JJ ()`` is read accordingly: a word that begins with a bracket is read
  if it is the next word and its node has nothing else; a word with brackets elsewhere, if it is the
  next word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from sys import intern

from alignkit.errors import FormatError

TOP = "TOP"  # the node that joins several trees

TRACE = "-NONE-"

_SPACE = r"[ \t-\r]"
_ATOM = r"[^ \t-\r()]"
_ESCAPED = r"[^ \t-\r()\\]*(?:\\(?:[()\\]|(?![()\\]))[^ \t-\r()\\]*)*"

# the parts of a tree, by the last group of `_lexer` that they match
_PRETERMINAL = 2  # (NN rain), with its label in group 1
_OPENING = 3  # (NP
_CLOSING = 4  # )
_WORD = 5  # a word that has nodes beside it


def _lexer(atom: str, possible: str) -> re.Pattern[str]:
    """Return the pattern of the parts of a tree; `possible` is an atom or nothing."""
    return re.compile(
        rf"\(({atom}){_SPACE}+({atom}){_SPACE}*\)"  # 1, 2
        rf"|\({_SPACE}*({possible})"  # 3
        rf"|(\))"  # 4
        rf"|({atom})"  # 5
    )


_PLAIN = _lexer(f"{_ATOM}+", f"{_ATOM}*")
_WITH_ESCAPES = _lexer(rf"(?=[^ \t-\r()]|\\){_ESCAPED}", _ESCAPED)
_GAP = re.compile(f"{_SPACE}*")
_LABEL = re.compile(_ESCAPED)
_NO_TREE = re.compile(r"[ \t-\r]*\([ \t-\r]*(?:\([ \t-\r]*\)[ \t-\r]*)?\)[ \t-\r]*")
_ESCAPE = re.compile(r"\\(?:([()\\])|([/*])|u\{([0-9A-Fa-f]{0,6})\})")
_UNSAFE = re.compile(r"[()\\\x00-\x20\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_MARKS = frozenset("()\\")
_BEHIND = frozenset(" \t\n\v\f\r)")  # what may follow a known word
_NO_LABEL = "a node without a label; write a bracket that is a word as -LRB- or -RRB-"
_TAGGED = re.compile(r"([^-=]+)[-=]")


@dataclass(slots=True)
class Brackets:
    """The result of reading: the columns of a tree, and what was changed."""

    words: list[str] = field(default_factory=list)  # as of Tree
    labels: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    afters: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)  # where in the text each word stands
    function_tags: int = 0  # how many labels lost their function tags
    traces: int = 0  # how many words are traces, dropped or not
    joined: int = 0  # how many trees were joined; 1 where there was one
    resolved: bool = False  # whether brackets were told from words by the known words

    def open(self, label: str, parent: int, start: int) -> None:
        """Add a node with an unknown end."""
        self.labels.append(label)
        self.parents.append(parent)
        self.starts.append(start)
        self.ends.append(0)
        self.afters.append(0)


def read_brackets(
    text: str,
    *,
    tokens: Sequence[str] | None = None,
    drop_function_tags: bool = False,
    drop_traces: bool = False,
) -> Brackets | None:
    """Read the trees of a text as one; None without a tree: blank, ``()`` or ``(())``."""
    if not text or text.isspace() or _NO_TREE.fullmatch(text):
        return None
    builder = _Builder(text, drop_function_tags, drop_traces)
    if tokens is None:
        _read_plain(text, builder)
    else:
        _read_known(text, builder, tokens)
    return builder.whole()


def _read_plain(text: str, builder: _Builder) -> None:
    """Read brackets; those in words are escaped."""
    lexer = _WITH_ESCAPES if "\\" in text else _PLAIN
    for match in lexer.finditer(text):
        kind = match.lastindex
        if kind == _PRETERMINAL:
            builder.open(match[1], match.start())
            builder.word(match[2], match.start(2))
            builder.close(match.start())
        elif kind == _OPENING:
            builder.open(match[_OPENING], match.start())
        elif kind == _CLOSING:
            builder.close(match.start())
        else:
            builder.word(match[_WORD], match.start())


def _read_known(text: str, builder: _Builder, tokens: Sequence[str]) -> None:
    """Read brackets; those in the next known word are part of the word."""
    at = 0
    end = len(text)
    while (at := _GAP.match(text, at).end()) < end:  # type: ignore[union-attr]
        word = _known_word(text, at, builder, tokens)
        if word:
            builder.word(word, at)
            at += len(word)
        elif text[at] == "(":
            label, end_of_label = _label_at(text, at + 1)
            builder.open(label, at)
            at = end_of_label
        elif text[at] == ")":
            builder.close(at)
            at += 1
        else:
            word = _LABEL.match(text, at)[0]  # type: ignore[index]
            builder.word(word, at)
            at += len(word)
    builder.read.resolved = True


def _known_word(text: str, at: int, builder: _Builder, tokens: Sequence[str]) -> str:
    """Return the next known word if it has brackets and is at this place, else nothing."""
    place = builder.count
    if place >= len(tokens) or not builder.within or not text.startswith(tokens[place], at):
        return ""
    token = tokens[place]
    if not token or not _MARKS.intersection(token):
        return ""
    end = at + len(token)
    if token[0] in "()":
        after_space = _GAP.match(text, end).end()  # type: ignore[union-attr]
        fits = builder.empty and text.startswith(")", after_space)
    else:
        fits = text[end : end + 1] in _BEHIND
    return token if fits else ""


def _label_at(text: str, at: int) -> tuple[str, int]:
    """Return the label after a bracket, and its end; a single bracket can be a label."""
    if text[at : at + 1] in ("(", ")") and text[at + 1 : at + 2] in (" ", "\t"):
        rest = text[at + 1 :].lstrip(" \t")[:2]
        if rest in ("()", "))"):
            return text[at], at + 1
    at = _GAP.match(text, at).end()  # type: ignore[union-attr]
    label = _LABEL.match(text, at)[0]  # type: ignore[index]
    return label, at + len(label)


class _Builder:
    """Builds the columns of a tree from brackets, one by one."""

    def __init__(self, text: str, drop_function_tags: bool, drop_traces: bool) -> None:
        self.read = Brackets()
        self.count = 0  # of words, dropped ones not
        self._text = text
        self._drop_tags = drop_function_tags
        self._drop_traces = drop_traces
        self._stack: list[int] = []  # the open nodes; -1 for brackets that are none
        self._before: list[int] = []  # how many traces came before each of them
        self._plain_labels: dict[str, str] = {}  # by the label as written

    @property
    def within(self) -> bool:
        """Whether a word is allowed here."""
        return bool(self._stack) and self._stack[-1] >= 0

    @property
    def empty(self) -> bool:
        """Whether the last opened node is still empty."""
        node = self._stack[-1]
        return node == len(self.read.labels) - 1 and self.read.starts[node] == self.count

    def open(self, label: str, at: int) -> None:
        """Open a node."""
        stack = self._stack
        read = self.read
        if not label:
            if stack:
                raise self._error(_NO_LABEL, at)
            stack.append(-1)
            self._before.append(0)
            return
        if self._drop_tags or "\\" in label:
            plain = self._plain_labels.get(label)
            if plain is None:
                plain = self._plain_labels[label] = self._plain_label(label)
            read.function_tags += self._drop_tags and plain != label
            label = plain
        parent = stack[-1] if stack else -1
        stack.append(len(read.labels))
        self._before.append(read.traces)
        read.open(intern(label), parent, self.count)

    def _plain_label(self, label: str) -> str:
        """Return a label without function tags if they are dropped, or else without escapes."""
        if self._drop_tags and (tagged := _TAGGED.match(label)):
            return tagged[1]
        return _ESCAPE.sub(_label_character, label)

    def word(self, word: str, at: int) -> None:
        """Add a word."""
        if not self._stack or self._stack[-1] < 0:
            raise self._error(f"{word[:40]!r} is outside of a node", at)
        read = self.read
        if read.labels[self._stack[-1]] == TRACE:
            read.traces += 1
            if self._drop_traces:
                return
        read.words.append(word)
        read.offsets.append(at)
        self.count += 1

    def close(self, at: int) -> None:
        """Close the last opened node."""
        if not self._stack:
            raise self._error("a closing bracket without an opening one", at)
        node = self._stack.pop()
        traces = self._before.pop()
        read = self.read
        if node < 0:
            return
        has_no_words = read.starts[node] == self.count
        if self._drop_traces and read.traces > traces and has_no_words:  # nothing but traces
            for column in (read.labels, read.parents, read.starts, read.ends, read.afters):
                del column[node:]
            return
        read.ends[node] = self.count
        read.afters[node] = len(read.labels)

    def whole(self) -> Brackets:
        """Return the result as one tree."""
        read = self.read
        if self._stack:
            node = self._stack[-1]
            opened = ""
            if node >= 0:
                opened = f", of {read.labels[node][:40]!r}"
            missing = len(self._stack)
            some = f"{missing} closing brackets are" if missing > 1 else "a closing bracket is"
            raise self._error(f"{some} missing at the end{opened}", len(self._text.rstrip()))
        if not read.labels:
            raise self._error("nothing but brackets" if not read.traces else "only traces", 0)
        read.joined = read.parents.count(-1)
        if read.joined > 1:
            read.labels.insert(0, TOP)
            read.parents = [-1, *(parent + 1 for parent in read.parents)]
            read.starts.insert(0, 0)
            read.ends.insert(0, self.count)
            read.afters = [len(read.labels), *(after + 1 for after in read.afters)]
        return read

    def _error(self, message: str, at: int) -> FormatError:
        """Return an error with the line and column of a place in the text."""
        return FormatError(message, "", *place_of(self._text, at))


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Return the line and the column of a place in a text, both from 1."""
    line = text.count("\n", 0, offset) + 1
    return line, offset - text.rfind("\n", 0, offset)


def unescaped(word: str) -> str:
    r"""Return a word without escapes: ``1/2`` for ``1\/2``."""
    if "\\" in word:
        return _ESCAPE.sub(_character, word)
    return word


def _character(match: re.Match[str]) -> str:
    """Return what an escape means."""
    mark, penn_mark, digits = match.groups()
    if digits is None:
        return mark or penn_mark
    if not digits:
        return ""
    number = int(digits, 16)
    if number <= 0x10FFFF:
        return chr(number)
    return match[0]


def _label_character(match: re.Match[str]) -> str:
    r"""Return what an escape means in a label, which keeps ``\/`` and ``\*``."""
    if match[2]:
        return match[0]
    return _character(match)


def _escaped(text: str) -> str:
    """Return a word or label as it is written."""
    if not text:
        return r"\u{}"
    return _UNSAFE.sub(_written_character, text)


def _written_character(match: re.Match[str]) -> str:
    """Return the escape of a character."""
    character = match[0]
    if character in _MARKS:
        return f"\\{character}"
    return f"\\u{{{ord(character):x}}}"


def write_brackets(
    words: Sequence[str],
    labels: Sequence[str],
    starts: list[int],
    ends: list[int],
    afters: list[int],
) -> str:
    """Write a tree as one line that reads back as the same tree; columns as in `Brackets`."""
    written = []
    for kind, at in walk(starts, ends, afters):
        if kind == "word":
            written.append(f" {_escaped(words[at])}")
        elif kind == "open":
            written.append(f" ({_escaped(labels[at])}")
        else:
            written.append(")")
    return "".join(written).lstrip(" ")


def walk(starts: list[int], ends: list[int], afters: list[int]) -> Iterator[tuple[str, int]]:
    """Walk a tree: yield ``("open", node)``, ``("word", position)``, ``("close", node)``."""
    place = 0
    stack: list[int] = []
    for node in range(len(starts) + 1):
        while stack and afters[stack[-1]] <= node:
            last = stack.pop()
            for k in range(place, ends[last]):
                yield ("word", k)
            place = max(place, ends[last])
            yield "close", last
        if node < len(starts):
            for k in range(place, starts[node]):
                yield ("word", k)
            place = max(place, starts[node])
            stack.append(node)
            yield "open", node
