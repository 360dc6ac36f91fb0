"""Hide from adjudicators whose votes they see, where the project says so.

In the place of a name stands a mark that is another one on each pair. It hides names from eyes, not
from whoever computes the marks of the names that they know.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from alignkit.annotate.errors import BadEvent
from alignkit.annotate.log.decisions import WhyWrite, read_why, write_why
from alignkit.annotate.log.events import Event, Sent, decode_data, encode


class Names:
    """Turn the names of annotators into what an adjudicator may read on a pair, and back."""

    def __init__(self, known: Iterable[str], salt: str) -> None:
        self.blind = bool(salt)
        self._salt = salt
        self._names = {self.shown(name): name for name in known}

    def shown(self, name: str) -> str:
        """Return what stands for a name."""
        if not self.blind:
            return name
        return "v" + hashlib.sha256(f"{self._salt}\n{name}".encode()).hexdigest()[:12]

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Return names as their votes are told: in order, or shuffled where they are hidden."""
        return sorted(names, key=self.shown) if self.blind else list(names)

    def _named(self, mark: str) -> str:
        if not self.blind:
            return mark
        if mark not in self._names:
            raise BadEvent(f"whys: {mark[:40]!r} stands for nobody of this project")
        return self._names[mark]

    def hidden_why(self, text: str) -> str:
        """Return the text of a why without names."""
        return _renamed(text, self.shown) if self.blind else text

    def hidden(self, event: Event) -> Event:
        """Return an event without names."""
        if not self.blind:
            return event
        data = decode_data(event.data)
        if data.whys:
            data.whys = _writes(data.whys, self.shown)
            return msgspec.structs.replace(event, data=Raw(encode(data)))
        return event

    def hidden_conflict(self, conflict: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is told of a conflict without names."""
        hidden = dict(conflict)
        if self.blind and hidden.get("field") == "why":
            for key in ("before", "after", "now"):
                hidden[key] = hidden[key] and self.hidden_why(hidden[key])
        return hidden

    def named(self, sent: Sent) -> Sent:
        """Return what an adjudicator sends with the names that are meant."""
        if not self.blind or sent.kind != "decide":
            return sent
        try:
            data = msgspec.json.decode(sent.data)
            whys = msgspec.convert(data.get("whys", []), list[WhyWrite])
        except (msgspec.DecodeError, AttributeError, UnicodeDecodeError, RecursionError) as problem:
            raise BadEvent(f"decide: {problem}") from None
        data["whys"] = _writes(whys, self._named)
        return msgspec.structs.replace(sent, data=Raw(msgspec.json.encode(data)))


def _writes(whys: Iterable[WhyWrite], name: Callable[[str], str]) -> tuple[WhyWrite, ...]:
    def turned(text: str | None) -> str | None:
        return None if text is None else _renamed(text, name)

    return tuple((i, j, turned(before), turned(after)) for i, j, before, after in whys)


def _renamed(text: str, name: Callable[[str], str]) -> str:
    why = read_why(text)
    votes = {name(voter): vote for voter, vote in why.votes.items()}
    as_ = name(why.as_) if why.as_ else ""
    return write_why(msgspec.structs.replace(why, votes=votes, as_=as_))
