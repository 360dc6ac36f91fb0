"""Find the samples and the guidelines: in a checkout, or in the wheel that was made from it."""

from __future__ import annotations

from pathlib import Path

from alignkit.errors import AlignkitError

_PACKAGE = Path(__file__).resolve().parent.parent


def samples() -> Path:
    """Return the folder of the sample corpora.

    Examples
    --------
    >>> (samples() / "french-english" / "gold.align").is_file()
    True
    """
    return _folder("samples", "paraphrases.jsonl")


def guidelines() -> Path:
    """Return the folder of the guidelines for annotators: Markdown pages and their examples.

    Examples
    --------
    >>> (guidelines() / "README.md").is_file()
    True
    """
    return _folder("guidelines", "README.md")


def _folder(name: str, known: str) -> Path:
    places = [_PACKAGE / name, _PACKAGE.parent / name]
    for place in places:
        if (place / known).is_file():
            return place
    looked = " and ".join(str(place) for place in places)
    raise AlignkitError(
        f"the {name} that belong to alignkit are not there (looked for {known} in {looked}); "
        "install alignkit again"
    )
