"""The page's own files: how much a browser loads, and that squeezing leaves them what they are."""

from __future__ import annotations

from pathlib import Path

import alignkit.annotate.server.assets
from alignkit.annotate.server.assets import load_assets

FOLDER = Path(alignkit.annotate.server.assets.__file__).parent / "page"


def test_the_page_is_at_most_100_kilobytes() -> None:
    assets = load_assets()
    own = {name: len(asset.body) for name, asset in assets.items() if name != "guidelines.css"}
    assert sum(own.values()) <= 100_000, own


def test_no_module_has_a_text_of_several_lines() -> None:
    for path in FOLDER.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert "/*" not in text.replace("catch { /*", "").replace("catch {/*", ""), path.name
        for number, line in enumerate(text.splitlines(), 1):
            assert line.count("`") % 2 == 0 or line.lstrip().startswith("//"), (path.name, number)
