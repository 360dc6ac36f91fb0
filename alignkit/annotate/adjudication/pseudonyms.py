"""The names that adjudicators see instead of those of annotators, if a project hides these.

An adjudicator sees vote v3f... of a pair, the same until it is decided. Names stand in votes and in
the reasons of decisions (`Why`), which are hidden in what is sent, and put back in what comes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Raw
from sqlalchemy import Connection

from alignkit.annotate.project import events as log
from alignkit.annotate.project import queries
from alignkit.annotate.project.names import BadEvent


class Pseudonyms:
    """The names that an adjudicator sees on a pair instead of annotators' names, and back."""

    def __init__(self, known: Iterable[str], salt: str) -> None:
        self.blind = bool(salt)
        self._salt = salt
        self._names = {self.shown(name): name for name in known}

    def shown(self, name: str) -> str:
        """Return the name shown for an annotator."""
        if not self.blind:
            return name
        digest = hashlib.sha256(f"{self._salt}\n{name}".encode())
        return "v" + digest.hexdigest()[:12]

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Return names in the order of their votes: unchanged, or shuffled if they are hidden."""
        if self.blind:
            return sorted(names, key=self.shown)
        return list(names)

    def hidden_why(self, text: str) -> str:
        """Return the text of a reason without names."""
        if self.blind:
            return renamed_why(text, self.shown)
        return text

    def hidden(self, event: log.Event) -> log.Event:
        """Return an event without names."""
        if not self.blind:
            return event
        data = log.decode_data(event.data)
        if not data.whys:
            return event
        data.whys = renamed_whys(data.whys, self.shown)
        return msgspec.structs.replace(event, data=Raw(log.encode(data)))

    def hidden_conflict(self, conflict: Mapping[str, Any]) -> dict[str, Any]:
        """Return the description of a conflict without names."""
        hidden = dict(conflict)
        if self.blind and hidden.get("field") == "why":
            for key in ("before", "after", "now"):
                if hidden[key]:
                    hidden[key] = self.hidden_why(hidden[key])
        return hidden

    def named(self, sent: log.Sent) -> log.Sent:
        """Return an event from an adjudicator, with the real names of annotators."""
        if not self.blind or sent.kind != "decide":
            return sent
        try:
            data = msgspec.json.decode(sent.data)
            whys = msgspec.convert(data.get("whys", []), list[log.WhyWrite])
        except (msgspec.DecodeError, AttributeError, UnicodeDecodeError, RecursionError) as problem:
            raise BadEvent(f"decide: {problem}") from None

        def named(mark: str) -> str:
            if mark not in self._names:
                raise BadEvent(f"whys: {mark[:40]!r} is not an annotator of this project")
            return self._names[mark]

        data["whys"] = renamed_whys(whys, named)
        return msgspec.structs.replace(sent, data=Raw(msgspec.json.encode(data)))


def renamed_whys(
    whys: Iterable[log.WhyWrite], name: Callable[[str], str]
) -> tuple[log.WhyWrite, ...]:
    """Return reasons with other names of annotators."""

    def turned(text: str | None) -> str | None:
        return None if text is None else renamed_why(text, name)

    return tuple((i, j, turned(before), turned(after)) for i, j, before, after in whys)


def renamed_why(text: str, name: Callable[[str], str]) -> str:
    """Return a reason with other names of annotators."""
    why = log.read_why(text)
    votes = {name(voter): vote for voter, vote in why.votes.items()}
    as_ = name(why.as_) if why.as_ else ""
    renamed = msgspec.structs.replace(why, votes=votes, as_=as_)
    return log.write_why(renamed)


def names_of(conn: Connection, pair: queries.PairRow) -> Pseudonyms:
    """Return the names of annotators that adjudicators of a pair see."""
    setting = queries.settings(conn)
    salt = ""  # names are shown
    if setting.blind:
        salt = f"{setting.key}\n{pair.id}"
    return Pseudonyms(queries.annotators(conn), salt)
