"""The events: the content of each kind, how it is read, and what a client may send.

An event holds everything that it writes, so the state of a stream (one annotator on one pair) is a
plain fold of its events; see `state`. A cell is ``[i, j]``, 0-based, -1 for the empty word; its
value is 0 (no link), 1 (possible) or 2 (sure).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
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

# what events write: a place or key, the value before and after; None for nothing there
Write = tuple[int, int, int, int]
"""A cell with its value before and after; for marks of a cell (bulk, rejected) 0 or 1."""
Weight = tuple[int, int, float | None, float | None]
WhyWrite = tuple[int, int, str | None, str | None]
Change = tuple[str, str]
Keyed = tuple[str, V | None, V | None]
CommentWrite = tuple[str, str | None, str | None]
RewriteWrite = tuple[str, Texts | None, Texts | None]
ExtractWrite = tuple[str, Spans | None, Spans | None]


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
    """The content of an event of a stream; its kind decides which fields it has."""

    how: str = ""
    of: str = ""
    cells: tuple[Write, ...] = ()
    bulk: tuple[Write, ...] = ()
    rejected: tuple[Write, ...] = ()
    seen: tuple[Cell, ...] = ()
    weights: tuple[Weight, ...] = ()
    comment: OneComment | None = None
    comments: tuple[CommentWrite, ...] = ()
    label: Change | None = None
    flags: tuple[list[str], list[str]] | None = None
    provenance: Change | None = None
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
    p: tuple[tuple[int, int, float], ...] = ()
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
    below: int
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


def _sent(*fields: Any) -> type[Struct]:
    """Return the form of an event of a client; each may say which links were looked at."""
    every = (*fields, ("seen", list[Cell], []))
    return msgspec.defstruct("Sent", every, forbid_unknown_fields=True, kw_only=True)


_CELLS: Any = ("cells", _SentCells, [])
_REJECTED: Any = ("rejected", _SentBits, [])
_P: Any = ("p", list[tuple[int, int, float]], [])
_SET = ("set", _Label, "")
_JUDGED = (
    ("label", tuple[str, _Label] | UnsetType, UNSET),
    ("flags", tuple[list[str], _Flags] | UnsetType, UNSET),
)
_HOW = Literal["cell", "block", "accept", "accept-all", "clear", "restore"]
_BACK = _sent(("of", str))
SENT_KINDS: dict[str, type[Struct]] = {
    "edit": _sent(
        ("how", _HOW),
        _CELLS,
        ("bulk", _SentBits, []),
        _REJECTED,
        _SET,
        ("threshold", float | None, None),
        _P,
    ),
    "reject": _sent(("rejected", _SentBits), _SET, _P),
    "comment": _sent(("key", str), ("before", str), ("after", _Text)),
    "judge": _sent(*_JUDGED),
    "decide": _sent(*_JUDGED, _CELLS, ("whys", list[WhyWrite], [])),
    "rewrite": _sent(("rewrites", list[RewriteWrite])),
    "extract": _sent(("extracts", list[ExtractWrite])),
    "done": _sent(("before", bool), ("after", bool)),
    "undo": _BACK,
    "redo": _BACK,
    "open": _sent(("rev", int), ("suggestions", bool), _SET),
}
"""The kinds of events that clients send, and how each is checked."""

encode = msgspec.json.encode
decode_data = msgspec.json.Decoder(Data).decode

GAP = 60.0  # the least seconds between two events that are a break and do not count as work


def now() -> str:
    """Return the present time in the form that events use."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def _read(text: bytes | str, kind: type[T], problem: str) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except BROKEN as error:
        raise BadEvent(f"{problem}: {error}") from None


decode_request = partial(_read, kind=Request, problem="the request has an unexpected form")
decode_event = partial(_read, kind=LogEvent, problem="is not an event")

_DECODERS = {kind: msgspec.json.Decoder(shape) for kind, shape in SENT_KINDS.items()}
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_CELL_KEY = re.compile(r"(-1|[0-9]{1,7})-(-1|[0-9]{1,7})", re.ASCII)
_NUMBERED_KEY = re.compile(r"([rx])([1-9][0-9]{0,3})", re.ASCII)


def read_sent(sent: Sent, n: int, m: int) -> Data:
    """Check an event of a client against a pair of `n` and `m` words, and return its content."""
    if not _ID.fullmatch(sent.id):
        raise BadEvent(f"id {sent.id[:40]!r}: expected 1 to 64 letters, digits, '.', '_' or '-'")
    if sent.v != 1:
        raise BadEvent(f"unknown version {sent.v} of an event (known: 1)")
    if sent.client_at is not None and len(str(sent.client_at)) > 64:
        raise BadEvent("client_at is too long; expected a time")
    if sent.kind not in SENT_KINDS:
        raise BadEvent(f"unknown kind {sent.kind[:40]!r} (known: {', '.join(SENT_KINDS)})")
    try:
        _DECODERS[sent.kind].decode(sent.data)
        data = decode_data(sent.data)
    except BROKEN as problem:
        raise BadEvent(f"{sent.kind}: {problem}") from None
    for field in ("cells", "bulk", "rejected", "seen", "p", "whys"):
        _check_places(field, getattr(data, field), n, m)
    if data.key is not None and (place := comment_key(data.key)) is not None:
        _check_places("key", [place], n, m)
        if data.key != "{}-{}".format(*place):
            raise BadEvent(f"key {data.key[:40]!r}: write the cell as '{place[0]}-{place[1]}'")
    whys = ((i, j, _plain_why(i, j, old), _plain_why(i, j, new)) for i, j, old, new in data.whys)
    data.whys = tuple(whys) or ()
    _check_keys("rewrite", data.rewrites)
    plain = ((key, _plain_texts(old), _plain_texts(new)) for key, old, new in data.rewrites)
    data.rewrites = tuple(plain) or ()
    _check_keys("extract", data.extracts)
    texts: dict[str, Iterable[object]] = {
        "comment": [data.after],
        "label": data.label[1:] if data.label else [],
        "flags": data.flags[1] if data.flags else [],
        "set": [data.set],
        "whys": [read_why(why).note for *_, why in data.whys if why is not None],
        "rewrites": [text for *_, both in data.rewrites for text in both or ()],
    }
    for field, values in texts.items():
        for text in values:
            if isinstance(text, str) and (control := _CONTROL.search(text)):
                raise BadEvent(
                    f"{field}: contains the control character U+{ord(control[0]):04X}, not text; "
                    "remove it"
                )
    if data.flags is not None:
        data.flags = sorted(set(data.flags[0])), sorted(set(data.flags[1]))
    return data


def _check_places(field: str, rows: Iterable[tuple[Any, ...]], n: int, m: int) -> None:
    seen = set()
    for i, j, *_ in rows:
        nowhere = (i, j) == JUDGMENT and field != "whys"
        if not (-1 <= i < n and -1 <= j < m) or nowhere:
            raise BadEvent(f"{field}: [{i}, {j}] is not a cell of {n} x {m} words")
        if (i, j) in seen:
            raise BadEvent(f"{field}: [{i}, {j}] is given twice")
        seen.add((i, j))


def _check_keys(kind: str, writes: Iterable[Keyed[Any]]) -> None:
    letter = kind[0] if kind == "rewrite" else "x"
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
    return encode(msgspec.structs.replace(why, votes=dict(sorted(why.votes.items())))).decode()


def _plain_why(i: int, j: int, text: str | None) -> str | None:
    if text is None:
        return None
    why = read_why(text)
    if any(isinstance(value, int) == ((i, j) == JUDGMENT) for value, _ in why.votes.values()):
        raise BadEvent(f"whys: {text[:40]!r} has votes that do not fit [{i}, {j}]")
    return write_why(why)


def _plain_texts(texts: Texts | None) -> Texts | None:
    if texts is None:
        return None
    source, target = (" ".join(split_unicode(text)) for text in texts)
    if not source or not target:
        raise BadEvent("rewrite: a text is empty; write both texts")
    return source, target


def check_extracts(writes: Sequence[ExtractWrite], texts: tuple[str, str]) -> None:
    """Check the spans that a client sends against their texts."""
    for key, _, spans in writes:
        for text, begin, end in zip(texts, spans[::2], spans[1::2], strict=True) if spans else ():
            if not begin < end <= len(text) or not text[begin:end].strip():
                raise BadEvent(
                    f"extract: {key}: characters {begin} to {end} are not words of a text of "
                    f"{len(text)} characters"
                )


def document_texts(
    attributes: Mapping[str, str], source: Iterable[str], target: Iterable[str]
) -> tuple[str, str]:
    """Return the texts of a pair of documents; of a pair that only has words, the joined words."""
    return (
        attributes.get(SOURCE_TEXT) or " ".join(source),
        attributes.get(TARGET_TEXT) or " ".join(target),
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
