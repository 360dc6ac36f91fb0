"""The page on formats says what the formats say of themselves."""

from __future__ import annotations

import pytest
from console import ROOT

from alignkit.io import FORMATS, get_format

COLUMNS = [
    "text", "ids", "possible", "nulls", "weights", "labels", "comment", "judgment", "attributes",
    "trees", "annotators", "absent", "empty",
]  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_the_table_has_the_format(name: str) -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    chosen = get_format(name)
    cells = [
        "yes" if column in chosen.holds else "if asked" if column in chosen.asked else ""
        for column in COLUMNS
    ]
    if chosen.text_beside:
        cells[0] = "beside"
    row = " | ".join([f"`{name}`", str(chosen.base), *cells])
    assert f"| {row} |" in page


@pytest.mark.parametrize("name", FORMATS)
def test_the_readme_names_the_format(name: str) -> None:
    assert f"`{name}`" in (ROOT / "README.md").read_text(encoding="utf-8")
