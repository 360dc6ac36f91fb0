"""The page on formats says what the formats say of themselves."""

from __future__ import annotations

from console import page_text

from alignkit.io import FORMATS, get_format

COLUMNS = [
    "text",
    "ids",
    "possible",
    "nulls",
    "weights",
    "labels",
    "comment",
    "judgment",
    "attributes",
    "trees",
    "annotators",
    "absent",
    "empty",
]


def test_the_page_has_each_format_twice() -> None:
    page = page_text("formats.md")
    for name in FORMATS:
        chosen = get_format(name)
        cells = [
            "yes" if column in chosen.holds else "if asked" if column in chosen.asked else ""
            for column in COLUMNS
        ]
        cells[0] = "beside" if chosen.text_beside else cells[0]
        assert f"| {' | '.join([f'`{name}`', str(chosen.base), *cells])} |" in page
        assert f"`{name}`" in page.partition("## ")[0]
