"""Names of uploaded files: pages show a file's own name, and alignkit stores it under another.

Browsers and people write any character into names: ``corpus (1).tsv``, ``anna's links.tsv``. The
name under which a draft is read has letters, digits, spaces and ``. + - _`` alone, so that it is
possible on every platform and means nothing to a reader of files. Plain names stay as they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from alignkit.annotate.server.security import RefusedError

_LONGEST_SHOWN = 200  # characters of a file's own name, with that of its folder
_LONGEST = 100  # characters of a part of a stored name
_ENDING = 40  # of these, characters at the end that are kept of a longer one
_MOST_BYTES = 200  # of a part: file systems allow 255, and a number or a database adds some
_OTHER = re.compile(r"[^\w.+ -]")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_OF_A_DATABASE = re.compile(r"-(journal|wal|shm)$", re.IGNORECASE)
_COPY = re.compile(r" \(\d+\)$")
_UNSHOWN = ("Cc", "Cs", "Co", "Zl", "Zp")  # categories of characters that no name has
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")  # letters after them are shown in another order


def check_shown_name(name: str, others: Iterable[str]) -> None:
    """Check that a file, or a file in a folder, can be added under its name beside others."""
    shown = ascii(name[:40])
    parts = name.split("/")
    problem = ""
    if len(parts) > 2:
        problem = "Folders inside folders are not opened."
    elif any(unicodedata.category(letter) in _UNSHOWN for letter in name) or _TURNS.search(name):
        problem = f"Rename {shown}: its name has a character that cannot be shown."
    elif len(name) > _LONGEST_SHOWN:
        problem = f"Rename {shown}...: its name has more than {_LONGEST_SHOWN} characters."
    elif not all(part.strip() for part in parts):
        problem = f"Rename {shown}: the name of a file or folder is empty."
    elif any(part.startswith(".") for part in parts):
        problem = f"{name[:40]} is a hidden file. If it is needed, rename it."
    if problem:
        raise RefusedError(422, problem, field="name")
    folded = name.casefold()
    folder, _, _ = folded.rpartition("/")
    files = {other.casefold() for other in others}
    folders = {file.partition("/")[0] for file in files if "/" in file}
    if folded in files or folded in folders or folder in files:
        text = f"There is already a file {name}. Remove it first."
        raise RefusedError(422, text, field="name")


def stored_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name under which each file is stored, by its own name.

    Two names never become the same, also where files are found whatever the case of letters is.
    Files of one folder stay together.
    """
    # the stored name of each part, by the folder that it is in: of the files "a?.tsv" and
    # "b:/c.tsv", {"": {"a?.tsv": "a_.tsv", "b:": "b_"}, "b:": {"c.tsv": "c.tsv"}}
    parts: dict[str, dict[str, str]] = defaultdict(dict)
    paths = [name.split("/") for name in names]
    for path in sorted(paths, key=_must_change):  # plain names first: these keep theirs
        folder = ""
        for part in path:
            known = parts[folder]
            if part not in known:
                known[part] = _distinct(_safe(part), known.values())
            folder = part
    stored = {}
    for path in paths:
        folder, _, file = "/".join(path).rpartition("/")
        place = parts[folder][file]
        if folder:
            place = f"{parts[''][folder]}/{place}"
        stored["/".join(path)] = place
    return stored


def _must_change(path: list[str]) -> bool:
    """Return whether a name cannot be stored as it is."""
    return any(_safe(part) != part for part in path)


def _distinct(safe: str, others: Iterable[str]) -> str:
    """Return a stored name with a number before it, if another file has it."""
    taken = {name.casefold() for name in others}
    name = safe
    number = 1
    while name.casefold() in taken:
        number += 1
        name = f"{number}-{safe}"
    return name


def _safe(part: str) -> str:
    """Return a part of a name as it can be stored anywhere."""
    safe = _OTHER.sub("_", part)
    safe = _OF_A_DATABASE.sub(r"_\1", safe)
    # of a long name, the beginning and the ending stay
    ending = safe[-_ENDING:]
    start = safe[:-_ENDING]
    start = start[: _LONGEST - _ENDING]
    while len((start + ending).encode()) > _MOST_BYTES:
        start = start[:-1]
    safe = start + ending
    if safe[-1] in " .":
        safe = f"{safe[:-1]}_"
    if not re.match(r"\w", safe) or _DEVICE.match(safe):
        safe = f"_{safe}"
    return safe


def stem_of(name: str) -> str:
    """Return a file's own name without folder, endings, and the number of a browser's copy.

    It can be the name of an annotator, so it has no characters that are not shown.
    """
    _, _, file = name.rpartition("/")
    file = "".join(letter for letter in file if letter.isprintable())
    stem, *_ = file.split(".")
    return _COPY.sub("", stem).strip() or stem


def with_own_names(text: str, names: Mapping[str, str]) -> str:
    """Return a message with the own names of files instead of the stored ones.

    `names` are the stored names by own names.
    """
    own = {stored: name for name, stored in names.items() if name != stored}
    if not own:
        return text
    longest_first = sorted(own, key=len, reverse=True)
    stored = "|".join(map(re.escape, longest_first))
    # not within a longer name or path; a dot after it may end the sentence
    return re.sub(rf"(?<![\w./-])(?:{stored})(?![\w/-])", lambda match: own[match[0]], text)
