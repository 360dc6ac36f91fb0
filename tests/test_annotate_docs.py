"""The page on annotation says what the key map and the table of schemes say."""

from __future__ import annotations

import json
import re
from pathlib import Path

from console import ROOT

from alignkit.labels import REMARKS, SCHEMES

PAGE = ROOT / "docs" / "annotate.md"
KEYS = ROOT / "alignkit" / "annotate" / "server" / "page" / "keys.js"
TEXT = PAGE.read_text(encoding="utf-8")


def table_under(heading: str) -> list[list[str]]:
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_the_table_of_keys_is_that_of_the_page() -> None:
    """Rows of the key map: keys, action, what it does, and what to show in place of the keys."""
    table = KEYS.read_text(encoding="utf-8").partition("export const KEYS = {\n")[2]
    lines = [line.strip() for line in table.partition("\n}\n")[0].splitlines()]
    rows = [line for line in lines if not re.fullmatch(r"[A-Z][a-z]+: \[|\],", line)]
    found = [json.loads(row.removesuffix(",")) for row in rows]  # each row is a literal
    assert {row[1] for row in found} > {"step", "far", "select", "select-far", "help"}
    told = [[f"`{row[-1] if row[3:] else row[0]}`", row[2]] for row in found if row[2:]]
    assert table_under("The keys") == told


def test_the_table_of_schemes_is_that_of_the_package() -> None:
    rows = table_under("Judgments and flags")
    assert [row[0] for row in rows] == [f"`{name}`" for name in SCHEMES]
    for row, scheme in zip(rows, SCHEMES.values(), strict=True):
        values = [*scheme.values, *(flag.value for flag in scheme.flags)]
        assert re.findall("`([^`]+)`", row[1]) == values
        assert row[2] == scheme.about
    assert all(f"*{flag.name.lower()}*" in TEXT for flag in REMARKS)


def test_links_lead_to_files() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        if Path(target).parent.name == "pictures" and not (PAGE.parent / "pictures").exists():
            continue  # the browser tests make them
        assert (PAGE.parent / target).is_file(), target
