"""The events: what each kind holds, how it is read, and what a client may send.

An event holds all that it writes, so that the state of a stream (one annotator on one pair) is a
plain fold of its events; see `state`. A cell is ``[i, j]``, 0-based, -1 for the
empty word; its value is 0 (no link), 1 (possible) or 2 (sure).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from alignkit.annotate.project.names import BadEvent

_LONGEST_NAME, _LONGEST_NOTE, _MOST_VOTES = 200, 20_000, 1000

WhyWrite = tuple[int, int, str | None, str | None]
"""A cell, the text of its why before and after; None where there is none."""

JUDGMENT = (-1, -1)
"""The place of the judgment of a pair among its cells, where reasons of decisions are kept."""

Value = int | tuple[str, ...]
"""What is decided: 0 (no link), 1 (possible) or 2 (sure); a judgment's label and flags."""

_Name = Annotated[str, Meta(max_length=_LONGEST_NAME)]
_Judged = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=101)]
_Vote = tuple[Annotated[int, Meta(ge=0, le=2)] | _Judged, Annotated[int, Meta(ge=0)]]


class Why(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Why a cell is as it is."""

    why: Literal["agreed", "vote", "own"]
    as_: _Name = msgspec.field(default="", name="as")  # whose vote was taken
    votes: Annotated[dict[_Name, _Vote], Meta(max_length=_MOST_VOTES)] = {}
    note: Annotated[str, Meta(max_length=_LONGEST_NOTE)] = ""  # what the adjudicator adds


_decode = msgspec.json.Decoder(Why).decode


def read_why(text: str) -> Why:
    """Read the text of a why."""
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadEvent(f"whys: {text[:40]!r} is no reason of a decision: {problem}") from None


def write_why(why: Why) -> str:
    """Return the text of a why: the same for the same reason, votes by name.

    Examples
    --------
    >>> write_why(Why("vote", "anna", {"ben": (0, 3), "anna": (2, 5)}))
    '{"why":"vote","as":"anna","votes":{"anna":[2,5],"ben":[0,3]}}'
    """
    votes = dict(sorted(why.votes.items()))
    return msgspec.json.encode(msgspec.structs.replace(why, votes=votes)).decode()


def read_whys(writes: Sequence[WhyWrite]) -> tuple[WhyWrite, ...]:
    """Check the whys that a client sends; return them as they are stored."""
    return tuple((i, j, _same((i, j), was), _same((i, j), now)) for i, j, was, now in writes) or ()


def _same(place: tuple[int, int], text: str | None) -> str | None:
    if text is None:
        return None
    why = read_why(text)
    if any(isinstance(value, int) == (place == JUDGMENT) for value, _ in why.votes.values()):
        raise BadEvent(f"whys: the votes of {text[:40]!r} are none on {list(place)}")
    return write_why(why)


SOURCE_TEXT, TARGET_TEXT = "source_text", "target_text"
"""The attributes of a pair of documents that hold their texts, character by character."""

_LONGEST = 20_000  # characters of a rewritten text
_KEY = re.compile(r"([rx])([1-9][0-9]{0,3})", re.ASCII)

_Text = Annotated[str, Meta(max_length=_LONGEST)]
_Place = Annotated[int, Meta(ge=0)]

Texts = tuple[_Text, _Text]
"""The source and the target text of a rewrite."""
Spans = tuple[_Place, _Place, _Place, _Place]
"""Where a source and a target span begin and end, in characters; the end is behind the last."""
RewriteWrite = tuple[str, Texts | None, Texts | None]
"""The key of a rewrite, its texts before and after; None where there is none."""
ExtractWrite = tuple[str, Spans | None, Spans | None]
"""The key of an extracted pair, its spans before and after; None where there is none."""


class SentRewrite(Struct, forbid_unknown_fields=True):
    """What a client sends of rewrites."""

    rewrites: list[RewriteWrite]
    seen: list[tuple[int, int]] = []


class SentExtract(Struct, forbid_unknown_fields=True):
    """What a client sends of extracted pairs."""

    extracts: list[ExtractWrite]
    seen: list[tuple[int, int]] = []


V = TypeVar("V")
Keyed = tuple[str, V | None, V | None]


def key_number(key: str) -> int:
    """Return the number in a key.

    Examples
    --------
    >>> sorted(["r10", "r2"], key=key_number)
    ['r2', 'r10']
    """
    return int(key[1:])


def check_keys(kind: str, writes: Iterable[Keyed[Any]]) -> None:
    """Check the keys of what a client sends."""
    letter, seen = kind[0] if kind == "rewrite" else "x", set()
    for key, *_ in writes:
        match = _KEY.fullmatch(key)
        if match is None or match[1] != letter:
            raise BadEvent(f"{kind}: key {key[:40]!r} is none; expected {letter}1 to {letter}9999")
        if key in seen:
            raise BadEvent(f"{kind}: {key} is named twice")
        seen.add(key)


def read_rewrites(writes: Sequence[RewriteWrite]) -> tuple[RewriteWrite, ...]:
    """Check rewrites that a client sends; return them with white space as words need it."""
    check_keys("rewrite", writes)
    return tuple((key, _plain(before), _plain(after)) for key, before, after in writes) or ()


def _plain(texts: Texts | None) -> Texts | None:
    if texts is None:
        return None
    source, target = (" ".join(text.split()) for text in texts)
    if not source or not target:
        raise BadEvent("rewrite: a text is empty; write both")
    return source, target


def check_extracts(writes: Sequence[ExtractWrite], texts: tuple[str, str]) -> None:
    """Check spans that a client sends against the texts that they are taken from."""
    check_keys("extract", writes)
    for key, _, spans in writes:
        if spans is None:
            continue
        for text, begin, end in zip(texts, spans[::2], spans[1::2], strict=True):
            if not begin < end <= len(text) or not text[begin:end].strip():
                raise BadEvent(
                    f"extract: {key}: characters {begin} to {end} are no words of a text of "
                    f"{len(text)}"
                )


def document_texts(
    attributes: Mapping[str, str], source: Iterable[str], target: Iterable[str]
) -> tuple[str, str]:
    """Return the texts of a pair of documents; of a pair that has words alone, these joined."""
    return (
        attributes.get(SOURCE_TEXT) or " ".join(source),
        attributes.get(TARGET_TEXT) or " ".join(target),
    )


def shared_texts(made: Sequence[Iterable[Texts]]) -> set[Texts]:
    """Return the rewrites that all have, given those of each."""
    return set(made[0]).intersection(*made[1:]) if made else set()


def put(held: dict[str, V], writes: Iterable[Keyed[V]]) -> None:
    """Take over what an event writes."""
    for key, _, after in writes:
        if after is None:
            held.pop(key, None)
        else:
            held[key] = after


def effective(held: Mapping[str, V], writes: Iterable[Keyed[V]]) -> tuple[Keyed[V], ...]:
    """Return those writes that change something."""
    return tuple(write for write in writes if held.get(write[0]) != write[2]) or ()


def keyed_conflicts(
    field: str, held: Mapping[str, V], writes: Iterable[Keyed[V]]
) -> list[dict[str, Any]]:
    """Return where there is neither what was there before nor what is set."""
    return [
        {"field": field, "key": key, "before": before, "after": after, "now": held.get(key)}
        for key, before, after in writes
        if held.get(key) not in (before, after)
    ]


class LearnedFrom(Struct, omit_defaults=True):
    """What a set of suggestions was learned from."""

    parent: str  # the set that it follows: pairs that it does not hold show what they showed
    pairs: int  # how many done pairs taught it
    made: str  # when it was made
    before: float = 0.0
    after: float = 0.0


class Lesson(Struct):
    """What came of learning."""

    pairs: int  # how many taught it
    used: bool = False  # whether links are to be suggested by what was learned
    told: str = ""  # what the last cross-validation found, in words
    before: float = 0.0  # F1 of the links of the aligner alone and of what was learned, by that
    after: float = 0.0
    revs: dict[int, int] = {}


def now() -> str:
    """Return the time as events hold it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


LONGEST_TEXT = 20_000
"""The most characters of a comment that a client sends."""
LONGEST_LABEL = 200
MOST_FLAGS = 100

Cell = tuple[int, int]
Write = tuple[int, int, int, int]
"""A cell, its value before and after; for marks of a cell (bulk, rejected) 0 or 1."""
Change = tuple[str, str]
CommentWrite = tuple[str, str | None, str | None]
"""The key of a comment, its text before and after; None where there is none."""
Weight = tuple[int, int, float | None, float | None]

UNDOABLE = frozenset({"edit", "reject", "comment", "judge", "done", "decide", "rewrite", "extract"})


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
    """What an event of a stream writes and says; which fields it has depends on its kind."""

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


class Event(Struct):
    """An event as it is stored, but for whose it is."""

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
    """An event with all that is known of it: a line of `alignkit events`."""

    k: int = 0  # whose stream it is in; pair 0 is the project itself
    annotator: str = ""
    sent: str = ""  # A digest of what the client sent, by which a repetition is known


class Sent(Struct, forbid_unknown_fields=True):
    """An event as a client sends it."""

    id: str
    kind: str
    data: Raw
    v: int = 1
    client_at: str | int | float | None = None


class Request(Struct):
    """The events of one request, all for one pair."""

    base: Annotated[int, Meta(ge=0)]  # the last event of the stream that the sender has seen
    rev: int  # the text that they are meant for
    events: Annotated[list[Sent], Meta(min_length=1)]


_Bit = Literal[0, 1]
_EventsPlace = tuple[int, int]
_SentCells = list[tuple[int, int, Literal[0, 1, 2], Literal[0, 1, 2]]]
_SentBits = list[tuple[int, int, _Bit, _Bit]]
_Label = Annotated[str, Meta(max_length=LONGEST_LABEL)]
_EventsText = Annotated[str, Meta(max_length=LONGEST_TEXT)]
_Flags = Annotated[list[_Label], Meta(max_length=MOST_FLAGS)]
_Set = Annotated[str, Meta(max_length=LONGEST_LABEL)]


class _Strict(Struct, forbid_unknown_fields=True):
    pass


class _Edit(_Strict):
    how: Literal["cell", "block", "accept", "accept-all", "clear", "restore"]
    cells: _SentCells = []
    bulk: _SentBits = []
    rejected: _SentBits = []
    set: _Set = ""
    threshold: float | None = None
    p: list[tuple[int, int, float]] = []
    seen: list[_EventsPlace] = []


class _Reject(_Strict):
    rejected: _SentBits
    set: _Set = ""
    p: list[tuple[int, int, float]] = []
    seen: list[_EventsPlace] = []


class _Comment(_Strict):
    key: str
    before: str
    after: _EventsText
    seen: list[_EventsPlace] = []


class _Judge(_Strict):
    label: tuple[str, _Label] | UnsetType = UNSET
    flags: tuple[list[str], _Flags] | UnsetType = UNSET
    seen: list[_EventsPlace] = []


class _Decide(_Strict):
    cells: _SentCells = []
    whys: list[WhyWrite] = []
    label: tuple[str, _Label] | UnsetType = UNSET
    flags: tuple[list[str], _Flags] | UnsetType = UNSET
    seen: list[_EventsPlace] = []


class _Done(_Strict):
    before: bool
    after: bool
    seen: list[_EventsPlace] = []


class _Back(_Strict):
    of: str
    seen: list[_EventsPlace] = []


class _Open(_Strict):
    rev: int
    suggestions: bool
    set: _Set = ""
    seen: list[_EventsPlace] = []


SENT_KINDS: dict[str, type[Struct]] = {
    "edit": _Edit,
    "reject": _Reject,
    "comment": _Comment,
    "judge": _Judge,
    "decide": _Decide,
    "rewrite": SentRewrite,
    "extract": SentExtract,
    "done": _Done,
    "undo": _Back,
    "redo": _Back,
    "open": _Open,
}
"""The kinds of events that clients send, and how each is checked."""


encode = msgspec.json.encode
decode_data = msgspec.json.Decoder(Data).decode
_decode_event = msgspec.json.Decoder(LogEvent).decode
_decode_request = msgspec.json.Decoder(Request).decode
_DECODERS = {kind: msgspec.json.Decoder(shape) for kind, shape in SENT_KINDS.items()}
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_KEY_EVENTS = re.compile(r"(-1|[0-9]{1,7})-(-1|[0-9]{1,7})", re.ASCII)
T = TypeVar("T")


def decode_request(body: bytes) -> Request:
    """Read the body of a request."""
    try:
        return _decode_request(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadEvent(f"the request is not as expected: {problem}") from None


def decode_event(line: str | bytes) -> LogEvent:
    """Read a line of a log."""
    try:
        return _decode_event(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadEvent(f"is no event: {problem}") from None


def comment_key(key: str) -> Cell | None:
    """Return the cell that the key of a comment names; None for the pair."""
    if not key:
        return None
    match = _KEY_EVENTS.fullmatch(key)
    if match is None:
        raise BadEvent(f"comment key {key[:40]!r} is neither empty nor of the form i-j")
    return int(match[1]), int(match[2])


def read_sent(sent: Sent, n: int, m: int) -> Data:
    """Check an event of a client against a pair of `n` and `m` words, and return what it holds."""
    if not _ID.fullmatch(sent.id):
        raise BadEvent(f"id {sent.id[:40]!r} is not of 1 to 64 letters, digits, '.', '_' or '-'")
    if sent.v != 1:
        raise BadEvent(f"version {sent.v} of an event is not known here; known: 1")
    if sent.client_at is not None and len(str(sent.client_at)) > 64:
        raise BadEvent("client_at is too long; expected a time")
    if sent.kind not in SENT_KINDS:
        raise BadEvent(f"unknown kind {sent.kind[:40]!r} (known: {', '.join(SENT_KINDS)})")
    try:
        _DECODERS[sent.kind].decode(sent.data)
        data = decode_data(sent.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadEvent(f"{sent.kind}: {problem}") from None
    for field in ("cells", "bulk", "rejected", "seen", "p", "whys"):
        _check_places(field, getattr(data, field), n, m)
    if data.key is not None:
        place = comment_key(data.key)
        if place is not None:
            _check_places("key", [place], n, m)
            if data.key != "{}-{}".format(*place):
                raise BadEvent(f"key {data.key[:40]!r}: write the cell as '{place[0]}-{place[1]}'")
    if data.whys:
        data.whys = read_whys(data.whys)
    data.rewrites = read_rewrites(data.rewrites)
    check_keys("extract", data.extracts)
    _check_texts(data)
    if data.flags is not None:
        data.flags = sorted(set(data.flags[0])), sorted(set(data.flags[1]))
    return data


def _check_texts(data: Data) -> None:
    texts = {
        "comment": [data.after],
        "label": data.label[1:] if data.label else [],
        "flags": data.flags[1] if data.flags else [],
        "set": [data.set],
        "whys": [read_why(why).note for *_, why in data.whys if why is not None],
        "rewrites": [text for *_, texts in data.rewrites for text in texts or ()],
    }
    for field, values in texts.items():
        for text in values:
            control = _CONTROL.search(text) if isinstance(text, str) else None
            if control is not None:
                raise BadEvent(
                    f"{field}: holds the control character U+{ord(control[0]):04X}, which is no "
                    "text; take it out"
                )


def _check_places(field: str, rows: Iterable[tuple[Any, ...]], n: int, m: int) -> None:
    seen = set()
    for i, j, *_ in rows:
        nowhere = (i, j) == JUDGMENT and field != "whys"
        if not (-1 <= i < n and -1 <= j < m) or nowhere:
            raise BadEvent(f"{field}: [{i}, {j}] is no cell of {n} x {m} words")
        if (i, j) in seen:
            raise BadEvent(f"{field}: [{i}, {j}] is named twice")
        seen.add((i, j))
