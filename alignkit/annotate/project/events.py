"""The events: the content of each kind, how it is read, and what a client may send.

An event holds everything that it writes, so the state of a stream (one annotator on one pair) is a
plain fold of its events; see `state`. A cell is ``[i, j]``, 0-based, -1 for the empty word; its
value is 0 (no link), 1 (possible) or 2 (sure).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from alignkit.annotate.project.names import BadEvent
from alignkit.model.texts import split_unicode

LONGEST_TEXT = 20_000  # the most characters in a comment, a note or a rewritten text from a client
LONGEST_LABEL = 200
SOURCE_TEXT = "source_text"
TARGET_TEXT = "target_text"
"""The attributes that hold the texts of a pair of documents, character by character."""
JUDGMENT = (-1, -1)
"""The place of the judgment of a pair among its cells, in the reasons of decisions."""
UNDOABLE = frozenset({"edit", "reject", "comment", "judge", "done", "decide", "rewrite", "extract"})
BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions of reading broken JSON."""

_Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
_Label = Annotated[str, Meta(max_length=LONGEST_LABEL)]
_Flags = Annotated[list[_Label], Meta(max_length=100)]
_Place = Annotated[int, Meta(ge=0)]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
Cell = tuple[int, int]
Value = int | tuple[str, ...]
"""A decided value: 0 (no link), 1 (possible) or 2 (sure); or a judgment's label and flags."""
Texts = tuple[_Text, _Text]  # the source and the target text of a rewrite
Spans = tuple[_Place, _Place, _Place, _Place]
"""The start and end of a source and a target span, in characters; the end is exclusive."""

# what events write: a place or key, then the value before and after; None for nothing there
Write = tuple[int, int, int, int]
"""A cell with its value before and after; for marks of a cell (bulk, rejected) 0 or 1."""
Weight = tuple[int, int, float | None, float | None]
Likelihood = tuple[int, int, float | None]  # a cell with its probability
WhyWrite = tuple[int, int, str | None, str | None]  # a reason as text; see `read_why`
Change = tuple[str, str]  # of what a pair has only once: no place or key
Keyed = tuple[str, V | None, V | None]  # the key of a comment, a rewrite or an extracted pair
CommentWrite = Keyed[str]
RewriteWrite = Keyed[Texts]
ExtractWrite = Keyed[Spans]


class Mark(Struct, omit_defaults=True):
    """A link that was lost when the words of a pair were corrected."""

    side: Literal["source", "target"]
    at: int
    text: str  # the words that were linked, or the one that was aligned to nothing
    was: tuple[int, int, int]  # the cell in the old text, and its value
    note: str = ""  # the comment that stood on it


class OneComment(Struct):
    """The old and new text of a comment; the key is ``"i-j"``, or empty for the pair."""

    key: str
    before: str
    after: str


class Turn(Struct):
    """The old and new value of a yes/no mark."""

    before: bool
    after: bool


class Data(Struct, omit_defaults=True, rename={"from_": "from"}, gc=False):
    """The content of an event of a stream; its kind decides which fields it has.

    edit: how, cells, bulk, rejected, settled, seen, set, threshold, p, q; if imported, also
        weights, comments, label, flags, provenance, learned, whys, rewrites, extracts, when,
        start
    reject: rejected, set, p
    comment: key, before, after
    judge: label, flags
    decide: cells, whys, label, flags
    rewrite: rewrites
    extract: extracts
    done: before, after, how; if suggestions are kept that nobody looked at, also cells, bulk,
        rejected, set, threshold, p, q; if a pair is opened again, instead of before and after done
        and when
    undo, redo: of, and what the event that is undone or redone wrote
    open: rev, suggestions, set, seen
    text: from, to, marks, and the writes that move all to its place in the new words
    """

    how: str = ""
    of: str = ""
    cells: tuple[Write, ...] = ()
    bulk: tuple[Write, ...] = ()
    rejected: tuple[Write, ...] = ()
    settled: tuple[Write, ...] = ()  # words that were looked at, each by the cell of its null
    seen: tuple[Cell, ...] = ()
    weights: tuple[Weight, ...] = ()
    comment: OneComment | None = None
    comments: tuple[CommentWrite, ...] = ()
    label: Change | None = None
    flags: tuple[list[str], list[str]] | None = None
    provenance: Change | None = None
    learned: Change | None = None  # what a system learned from
    whys: tuple[WhyWrite, ...] = ()
    rewrites: tuple[RewriteWrite, ...] = ()
    extracts: tuple[ExtractWrite, ...] = ()
    done: Turn | None = None
    key: str | None = None
    before: str | bool | None = None
    after: str | bool | None = None
    marks: list[Mark] | None = None
    from_: int = 0
    to: int = 0
    rev: int = 0
    suggestions: bool | None = None
    set: str = ""
    threshold: float | None = None
    p: tuple[Likelihood, ...] = ()  # of suggested links that it writes, their probability if known
    q: tuple[Likelihood, ...] = ()  # of links that it writes, how likely the page took them to be
    when: str = ""  # of an import or a pair opened again: when it was done, if known
    start: str | None = None  # of an import: what the annotator was shown elsewhere, if known


class Event(Struct):
    """An event as it is stored, without its stream."""

    id: str
    seq: int
    n: int
    kind: str
    v: int
    actor: str
    at: str
    client_at: str
    below: int  # the event under it among the steps to undo (of an undo: to redo); 0: none
    data: Raw


class LogEvent(Event, omit_defaults=True):
    """A complete event: a line of `alignkit project log`."""

    k: int = 0  # the pair of its stream; pair 0 is the project itself
    annotator: str = ""
    sent: str = ""  # a digest of what the client sent, by which a repetition is recognized


class LearnedFrom(Struct, omit_defaults=True):
    """The data from which a set of suggestions was learned."""

    parent: str  # the set that it follows: pairs that it does not hold show what they showed
    pairs: int  # how many done pairs taught it
    made: str  # when it was made
    before: float = 0.0
    after: float = 0.0


class Lesson(Struct):
    """The outcome of learning."""

    pairs: int  # how many taught it
    used: bool = False  # whether links are to be suggested by what was learned
    verdict: str = ""  # of the last cross-validation, in words
    before: float = 0.0  # by that, F1 of the aligner alone or the vote, and of what is to be used
    after: float = 0.0
    revs: dict[int, int] = {}


class Sent(Struct, forbid_unknown_fields=True):
    """An event as a client sends it."""

    id: str
    kind: str
    data: Raw
    v: int = 1
    client_at: str | int | float | None = None


class Request(Struct):
    """The events of one request, all for one pair."""

    # the last event of the stream that the sender has seen
    base: Annotated[int, Meta(ge=0, le=2**53)]
    rev: int  # the text that they are meant for
    events: Annotated[list[Sent], Meta(min_length=1)]


_SentCells = list[tuple[int, int, Literal[0, 1, 2], Literal[0, 1, 2]]]
_SentBits = list[tuple[int, int, Literal[0, 1], Literal[0, 1]]]
_Posteriors = list[tuple[int, int, Annotated[float, Meta(ge=0, le=1)] | None]]


class _SentData(Struct, forbid_unknown_fields=True, kw_only=True):
    """The form of the data of an event of a client; each may say which links were looked at."""

    seen: list[Cell] = []


class _SentLinks(_SentData, kw_only=True):
    """Links that are written, and what was suggested for them."""

    cells: _SentCells = []
    bulk: _SentBits = []
    rejected: _SentBits = []
    set: _Label = ""
    threshold: float | None = None
    p: _Posteriors = []
    q: _Posteriors = []


class _Edit(_SentLinks):
    how: Literal["cell", "block", "word", "accept", "accept-all", "clear", "restore"]
    settled: _SentBits = []


class _Reject(_SentData):
    rejected: _SentBits
    set: _Label = ""
    p: _Posteriors = []


class _Comment(_SentData):
    key: str
    before: str
    after: _Text


class _Judge(_SentData):
    label: tuple[str, _Label] | UnsetType = UNSET
    flags: tuple[list[str], _Flags] | UnsetType = UNSET


class _Decide(_Judge):
    cells: _SentCells = []
    whys: list[WhyWrite] = []


class _Rewrite(_SentData):
    rewrites: list[RewriteWrite]


class _Extract(_SentData):
    extracts: list[ExtractWrite]


class _Done(_SentLinks):
    before: bool
    after: bool
    how: Literal["", "done"] = ""


class _UndoOrRedo(_SentData):
    of: str


class _Open(_SentData):
    rev: int
    suggestions: bool
    set: _Label = ""


SENT_KINDS: dict[str, type[Struct]] = {
    "edit": _Edit,
    "reject": _Reject,
    "comment": _Comment,
    "judge": _Judge,
    "decide": _Decide,
    "rewrite": _Rewrite,
    "extract": _Extract,
    "done": _Done,
    "undo": _UndoOrRedo,
    "redo": _UndoOrRedo,
    "open": _Open,
}
"""The kinds of events that clients send, and how each is checked."""

encode = msgspec.json.encode
decode_data = msgspec.json.Decoder(Data).decode

GAP = 60.0  # the least seconds between two events that are a break and do not count as work


def now() -> str:
    """Return the present time in the form that events use."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def stored(rows: Iterable[T]) -> tuple[T, ...]:
    """Return rows as an event holds them; without rows the default itself, which is not encoded."""
    return tuple(rows) or ()  # Python 3.10 makes other empty tuples


def decode_event(text: bytes | str) -> LogEvent:
    """Read a line of a log."""
    try:
        return msgspec.json.decode(text, type=LogEvent)
    except BROKEN as error:
        raise BadEvent(f"is not an event: {error}") from None


_DECODERS = {kind: msgspec.json.Decoder(shape) for kind, shape in SENT_KINDS.items()}
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_CELL_KEY = re.compile(r"(-1|[0-9]{1,7})-(-1|[0-9]{1,7})", re.ASCII)
_NUMBERED_KEY = re.compile(r"([rx])([1-9][0-9]{0,3})", re.ASCII)


def read_sent(sent: Sent, n: int, m: int) -> Data:
    """Check an event of a client against a pair of `n` and `m` words, and return its content."""
    data = _decode_sent(sent)
    for field in ("cells", "bulk", "rejected", "settled", "seen", "p", "q", "whys"):
        _check_places(field, getattr(data, field), n, m)
    _check_settled(data.settled)
    if data.key is not None:
        _check_comment_key(data.key, n, m)
    _check_keys("rewrite", "r", data.rewrites)
    _check_keys("extract", "x", data.extracts)
    data.whys = stored(_plain_why_write(write) for write in data.whys)
    data.rewrites = stored(_plain_rewrite(write) for write in data.rewrites)
    for field, text in _texts(data):
        control = _CONTROL.search(text)
        if control is not None:
            raise BadEvent(
                f"{field}: contains the control character U+{ord(control[0]):04X}, not text; "
                "remove it"
            )
    if data.flags is not None:
        before, after = data.flags
        data.flags = sorted(set(before)), sorted(set(after))
    return data


def _decode_sent(sent: Sent) -> Data:
    """Check the form of an event of a client, and return its content."""
    if not _ID.fullmatch(sent.id):
        raise BadEvent(f"id {sent.id[:40]!r}: expected 1 to 64 letters, digits, '.', '_' or '-'")
    if sent.v != 1:
        raise BadEvent(f"unknown version {sent.v} of an event (known: 1)")
    if sent.client_at is not None and len(str(sent.client_at)) > 64:
        raise BadEvent("client_at is too long; expected a time")
    if sent.kind not in SENT_KINDS:
        raise BadEvent(f"unknown kind {sent.kind[:40]!r} (known: {', '.join(SENT_KINDS)})")
    try:
        _DECODERS[sent.kind].decode(sent.data)  # only checks: no unknown fields, values in range
        return decode_data(sent.data)
    except BROKEN as problem:
        raise BadEvent(f"{sent.kind}: {problem}") from None


def _texts(data: Data) -> Iterator[tuple[str, str]]:
    """Yield the texts that an event writes, each with the name of its field."""
    if isinstance(data.after, str):
        yield "comment", data.after
    if data.label is not None:
        yield "label", data.label[1]
    if data.flags is not None:
        for flag in data.flags[1]:
            yield "flags", flag
    yield "set", data.set
    for *_, why in data.whys:
        if why is not None:
            yield "whys", read_why(why).note
    for *_, texts in data.rewrites:
        for text in texts or ():
            yield "rewrites", text


def _check_places(field: str, rows: Iterable[tuple[Any, ...]], n: int, m: int) -> None:
    """Check that rows begin with different cells; only reasons may be of the judgment."""
    seen = set()
    for i, j, *_ in rows:
        is_cell = -1 <= i < n and -1 <= j < m
        if (i, j) == JUDGMENT:
            is_cell = field == "whys"
        if not is_cell:
            raise BadEvent(f"{field}: [{i}, {j}] is not a cell of {n} x {m} words")
        if (i, j) in seen:
            raise BadEvent(f"{field}: [{i}, {j}] is given twice")
        seen.add((i, j))


def _check_settled(rows: Iterable[Write]) -> None:
    """Check that words are marked as settled at their nulls."""
    for i, j, *_ in rows:
        if i >= 0 and j >= 0:
            raise BadEvent(f"settled: [{i}, {j}] is no word; write [{i}, -1] or [-1, {j}]")


def _check_comment_key(key: str, n: int, m: int) -> None:
    """Check the key of a comment against a pair of `n` and `m` words."""
    cell = comment_key(key)
    if cell is None:
        return
    _check_places("key", [cell], n, m)
    i, j = cell
    if key != f"{i}-{j}":
        raise BadEvent(f"key {key[:40]!r}: write the cell as '{i}-{j}'")


def _check_keys(kind: str, letter: str, writes: Iterable[Keyed[Any]]) -> None:
    """Check that writes have different keys: the letter and a number."""
    seen = set()
    for key, *_ in writes:
        match = _NUMBERED_KEY.fullmatch(key)
        if match is None or match[1] != letter:
            raise BadEvent(f"{kind}: key {key[:40]!r}: expected {letter}1 to {letter}9999")
        if key in seen:
            raise BadEvent(f"{kind}: {key} is given twice")
        seen.add(key)


def comment_key(key: str) -> Cell | None:
    """Return the cell in the key of a comment; None for the pair."""
    if not key:
        return None
    match = _CELL_KEY.fullmatch(key)
    if match is None:
        raise BadEvent(f"comment key {key[:40]!r}: expected i-j, or an empty text for the pair")
    return int(match[1]), int(match[2])


_Name = Annotated[str, Meta(max_length=200)]
_Judged = Annotated[tuple[_Name, ...], Meta(max_length=101)]
_Vote = tuple[Annotated[int, Meta(ge=0, le=2)] | _Judged, Annotated[int, Meta(ge=0)]]


class Why(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The reason for the value of a cell."""

    why: Literal["agreed", "vote", "own"]
    as_: _Name = msgspec.field(default="", name="as")  # whose vote was taken
    votes: Annotated[dict[_Name, _Vote], Meta(max_length=1000)] = {}
    note: _Text = ""  # what the adjudicator adds


_decode_why = msgspec.json.Decoder(Why).decode


def read_why(text: str) -> Why:
    """Read a reason from its text."""
    try:
        return _decode_why(text)
    except BROKEN as problem:
        raise BadEvent(f"whys: {text[:40]!r} is not a reason for a decision: {problem}") from None


def write_why(why: Why) -> str:
    """Return a reason as text: always the same text for the same reason, votes by name."""
    by_name = dict(sorted(why.votes.items()))
    return encode(msgspec.structs.replace(why, votes=by_name)).decode()


def _plain_why_write(write: WhyWrite) -> WhyWrite:
    """Return a write with both reasons in their only form."""
    i, j, before, after = write
    return i, j, _plain_why(i, j, before), _plain_why(i, j, after)


def _plain_why(i: int, j: int, text: str | None) -> str | None:
    """Return a reason in its only form; its votes must fit a cell, or the judgment."""
    if text is None:
        return None
    why = read_why(text)
    is_cell = (i, j) != JUDGMENT
    for value, _ in why.votes.values():
        fits_cell = isinstance(value, int)
        if fits_cell != is_cell:
            raise BadEvent(f"whys: {text[:40]!r} has votes that do not fit [{i}, {j}]")
    return write_why(why)


def _plain_rewrite(write: RewriteWrite) -> RewriteWrite:
    """Return a write with single spaces between the words of its texts."""
    key, before, after = write
    return key, _plain_texts(before), _plain_texts(after)


def _plain_texts(texts: Texts | None) -> Texts | None:
    """Return both texts of a rewrite with single spaces between words."""
    if texts is None:
        return None
    source, target = (" ".join(split_unicode(text)) for text in texts)
    if not source or not target:
        raise BadEvent("rewrite: a text is empty; write both texts")
    return source, target


def check_extracts(writes: Sequence[ExtractWrite], texts: tuple[str, str]) -> None:
    """Check the spans that a client sends against their texts."""
    for key, _, spans in writes:
        if not spans:
            continue
        source_begin, source_end, target_begin, target_end = spans
        begins = (source_begin, target_begin)
        ends = (source_end, target_end)
        for text, begin, end in zip(texts, begins, ends, strict=True):
            if not begin < end <= len(text) or not text[begin:end].strip():
                raise BadEvent(
                    f"extract: {key}: characters {begin} to {end} are not words of a text of "
                    f"{len(text)} characters"
                )


def shared_texts(made: Sequence[Iterable[Texts]]) -> set[Texts]:
    """Return the rewrites that everybody has, given the rewrites of each."""
    if made:
        return set(made[0]).intersection(*made[1:])
    return set()


def key_number(key: str) -> int:
    """Return the number in the key of a rewrite or an extracted pair: 10 of ``r10``."""
    return int(key[1:])


def put(held: dict[K, V], writes: Iterable[tuple[K, V | None, V | None]]) -> None:
    """Apply the writes of an event."""
    for key, _, after in writes:
        if after is None:
            held.pop(key, None)
        else:
            held[key] = after
