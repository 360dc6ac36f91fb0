"""The page's own files: how much a browser loads, and that they are sent compressed."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import alignkit.annotate.server.answers
from alignkit.annotate.server.answers import Asset, load_assets

FOLDER = Path(alignkit.annotate.server.answers.__file__).parent / "page"


def loaded(page: str, assets: dict[str, Asset]) -> dict[str, int]:
    """Return the compressed sizes of what a browser loads with a page, without late imports."""
    sizes: dict[str, int] = {}
    wanted = [page]
    while wanted:
        name = wanted.pop()
        if name not in sizes:
            sizes[name] = len(assets[name].compressed)
            body = assets[name].body.decode()
            wanted += re.findall(r"/page/([\w.-]+)", body)
            wanted += re.findall(r"""from ?["']\./([\w.-]+)["']""", body)
    return sizes


def test_each_page_is_at_most_100_kilobytes() -> None:
    assets = load_assets()
    pages = [name for name in assets if name.endswith(".html")]
    assert "index.html" in pages
    for page in pages:
        sizes = loaded(page, assets)
        assert len(sizes) > 3
        assert sum(sizes.values()) <= 100_000, (page, sizes)


def test_an_asset_is_its_file_and_the_same_compressed() -> None:
    for name, asset in load_assets().items():
        assert asset.body == (FOLDER / name).read_bytes()
        assert gzip.decompress(asset.compressed) == asset.body
