"""The folders that are installed with alignkit: the samples, and the guidelines for annotators."""

from __future__ import annotations

from pathlib import Path

from alignkit.errors import AlignkitError

_PACKAGE = Path(__file__).parent.parent


def samples() -> Path:
    """Return the folder of the sample corpora."""
    return _folder("samples", "paraphrases.jsonl")


def guidelines() -> Path:
    """Return the folder of the guidelines for annotators: Markdown pages and their examples."""
    return _folder("guidelines", "README.md")


def _folder(name: str, known: str) -> Path:
    """Return the folder of a name in the package or next to it that has a known file."""
    places = [_PACKAGE / name, _PACKAGE.parent / name]
    for place in places:
        if (place / known).is_file():
            return place
    looked = " and ".join(str(place) for place in places)
    raise AlignkitError(
        f"the {name} of alignkit are missing (looked for {known} in {looked}); install alignkit "
        "again"
    )
