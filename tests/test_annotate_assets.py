"""The page's own files: how much a browser loads, and that squeezing leaves them what they are."""

from __future__ import annotations

import re
from pathlib import Path

import alignkit.annotate.server.assets
from alignkit.annotate.server.assets import Asset, load_assets

FOLDER = Path(alignkit.annotate.server.assets.__file__).parent / "page"


def loaded(page: str, assets: dict[str, Asset]) -> dict[str, int]:
    """Return the sizes of all that a browser loads with a page: styles, modules, and theirs.

    What a page imports once it is ready is not among it.
    """
    found: dict[str, int] = {}
    wanted = [page]
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        body = assets[name].body.decode()
        found[name] = len(assets[name].body)
        wanted += re.findall(r"/page/([\w.-]+)", body)
        wanted += re.findall(r"""from ?["']\./([\w.-]+)["']""", body)
    return found


def test_each_page_is_at_most_100_kilobytes() -> None:
    assets = load_assets()
    pages = [name for name in assets if name.endswith(".html")]
    assert "index.html" in pages
    for page in pages:
        sizes = loaded(page, assets)
        assert len(sizes) > 3
        assert sum(sizes.values()) <= 100_000, (page, sizes)


def test_no_module_has_a_text_of_several_lines() -> None:
    for path in FOLDER.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert "/*" not in text.replace("catch { /*", "").replace("catch {/*", ""), path.name
        for number, line in enumerate(text.splitlines(), 1):
            assert line.count("`") % 2 == 0 or line.lstrip().startswith("//"), (path.name, number)
