"""Write an annotator's work as a file to be downloaded; what are several files goes as one zip."""

from __future__ import annotations

import re
import shutil
import zipfile
from contextvars import Context
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, NamedTuple

from alignkit.annotate.exchange.made import exported_work
from alignkit.annotate.store import Store
from alignkit.formats import get_format, write_corpus

_ENDINGS = {"alignkit-xml": ".xml", "alignkit-jsonl": ".jsonl", "jsonl": ".jsonl"}
_ENDINGS |= {"jacana": ".json", "edinburgh": ".json", "paraphrase-xml": ".xml", "pharaoh": ".align"}


class Download(NamedTuple):
    """An open file, the name that it gets, and what kind of file it is."""

    file: IO[bytes]
    name: str
    kind: str


def download(store: Store, annotator: str, format: str) -> Download:
    """Write what an annotator has done so far, of all pairs that are theirs."""
    chosen = get_format(format)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{store.project().name}-{annotator}").strip("-.")
    stem = stem[:80] or "export"
    texts = {}
    with TemporaryDirectory() as folder:
        root = Path(folder) / "out"
        root.mkdir()
        if chosen.text_beside:
            texts = {side: str(root / f"{stem}.{side}") for side in ("source", "target")}
        out = root / (stem + _ENDINGS.get(format, ""))
        pairs = exported_work(store, annotator=annotator, assigned=True)
        alone = Context()  # no part of what the command itself writes, which waits for its end
        lost = alone.run(write_corpus, pairs, str(out), format=format, **texts)
        if lost:
            note = [f"{count} x {kind}\n" for kind, count in lost.items()]
            head = f"What format {format} cannot hold, and how many pairs had it:\n"
            (root / "NOT-EXPORTED.txt").write_text(head + "".join(note), encoding="utf-8")
        return _packed(root, stem)


def _packed(root: Path, stem: str) -> Download:
    file = TemporaryFile()  # noqa: SIM115 - it outlives the folder
    places = sorted(path for path in root.rglob("*") if path.is_file())
    if len(places) == 1 and places[0].parent == root:
        with places[0].open("rb") as source:
            shutil.copyfileobj(source, file)
        name, kind = places[0].name, "application/octet-stream"
    else:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for place in places:
                archive.write(place, place.relative_to(root))
        name, kind = f"{stem}.zip", "application/zip"
    file.seek(0)
    return Download(file, name, kind)
