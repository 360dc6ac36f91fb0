"""Read and write Yawat's two files [yawat].

Specification
-------------
``NAME.crp`` has three lines a pair: its id, the source and the target sentence. ``NAME.aln`` has
an empty first line and then one line a pair, ``id group group ...``::

    1 0:0:unspec 6,5:5:literal 7:6,7:unspec 8::unspec

- A group ``i,i:j,j:label`` links each of its source words to each of its target words. Positions
  count from 0. All links are sure. A group with an empty side says that its words are explicitly
  aligned to nothing.
- The label is kept on each link, except ``unspec``, Yawat's word for none.
- A bare id is a pair not annotated; so there is no annotation without links.
- A pair without a line in the ``.aln`` is an error, or, with ``--partial``, not annotated; a line
  without a pair is an error. The order of the lines does not matter.

The path names either file, or ``NAME`` alone, or a folder, of which all ``.crp`` are read; if
there is more than one, each pair has its NAME as the attribute ``document``, and where an id occurs
in several of them, all ids are ``NAME:ID``. The encoding of
Yawat's own files is often Latin-1: name it by ``--encoding``. Written is UTF-8, into one pair of
files. The cells of one label that hang together become one group where they fill their block,
else one group a source word. A label with white space in it, or one of a cell that is no link, is
lost; an id that is not one word gives way to the number of the pair.

References
----------
Germann 2008, "Yawat: yet another word alignment tool", ACL demo session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from alignkit.errors import OptionError
from alignkit.io.atomic_files import WriteError
from alignkit.io.format import Format
from alignkit.io.formats.three_lines import write_groups
from alignkit.io.formats.triples import ids_repeat, pair_id, read_triples, triple
from alignkit.io.records import Reading, Record
from alignkit.io.writing import Writing
from alignkit.model.alignment import Alignment
from alignkit.model.sentence_pair import SentencePair

_UNLABELLED = "unspec"
_ENDINGS = (".crp", ".aln")


def _parse(reading: Reading) -> Iterator[Record]:
    if reading.path == "-":
        raise OptionError("yawat is two files and cannot be read from standard input")
    folder = Path(reading.path)
    stems = [_stem(reading.path)]
    if folder.is_dir():
        stems = [str(path)[: -len(".crp")] for path in reading.files("*.crp")]
        if not stems:
            raise reading.error("no .crp file in this folder")
    prefixed = ids_repeat(reading, ([Path(stem + ".aln")] for stem in stems))
    for stem in stems:
        attributes = {"document": Path(stem).name} if len(stems) > 1 else {}
        prefix = f"{Path(stem).name}:" if prefixed else ""
        texts, files = Path(stem + ".crp"), {reading.name: Path(stem + ".aln")}
        for record in read_triples(reading, texts, files, None, attributes, prefix=prefix):
            for annotation in record.annotations.values():
                annotation.links = [
                    link._replace(label=None) if link.label == _UNLABELLED else link
                    for link in annotation.links
                ]
            yield record


def _stem(path: str) -> str:
    return path[: -len(".crp")] if path.endswith(_ENDINGS) else path


def _write(pairs: Iterable[SentencePair], writing: Writing) -> None:
    if writing.path == "-":
        raise OptionError("yawat is two files and cannot go to standard output")
    if Path(writing.path).is_dir():
        raise WriteError(f"{writing.path}: is a folder; name the .crp file in it")
    stem = _stem(writing.path)
    with writing.open(stem + ".crp") as texts, writing.open(stem + ".aln") as groups:
        groups.write("\n")
        for number, pair in enumerate(pairs, start=1):
            id = pair_id(pair, number, writing)
            texts.write(triple(pair, id, writing))
            alignment = writing.alignment(pair)
            found = () if alignment is None else _notation(alignment, writing)
            groups.write(" ".join((id, *found)) + "\n")


def _notation(alignment: Alignment, writing: Writing) -> Iterator[str]:
    labels = {
        link: label
        for link, label in alignment.labels.items()
        if label.split() == [label] and label != _UNLABELLED
    }
    cells = sorted(alignment.possible | alignment.nulls)
    if len(labels) < len(alignment.labels) or not labels.keys() <= set(cells):
        writing.lost["labels"] += 1
    labelled = ((link, labels.get(link, _UNLABELLED)) for link in cells)
    yield from write_groups(labelled, writing.base)


FORMAT = Format(
    parse=_parse,
    members=lambda reading: [*reading.files("*.crp"), *reading.files("*.aln")],
    write=_write,
    holds=frozenset({"text", "ids", "nulls", "labels", "other labels", "absent"}),
)
