"""Texts to search, and candidate pairs: texts that may be paraphrases."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from alignkit._support.arguments import check_arguments
from alignkit.errors import FormatError
from alignkit.identification.options import SearchOptions
from alignkit.identification.similarity import Places
from alignkit.io.options import ReadOptions
from alignkit.io.strict_json import as_text, parse_json, read_id
from alignkit.io.text_files import TextFile
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import split_unicode, without_first_marks
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import Result
from alignkit.tables.table import Table

BINS = 20
"""The bins of similarity, from 0 to 1; each includes its lower end, the last one also 1."""


@dataclass(frozen=True)
class TextRecord:
    """A text, or several, with attributes, each by its name.

    Parameters
    ----------
    id : The name of the record.
    values : The texts and the attributes.
    place : The file and the line, for messages.

    Examples
    --------
    >>> record = TextRecord("a", {"text": "A fire broke out.", "date": "2020-05-01"})
    >>> record["date"]
    '2020-05-01'
    """

    id: str
    values: Mapping[str, str]
    place: tuple[str, int | None] = ("", None)

    def __getitem__(self, name: str) -> str:
        try:
            return self.values[name]
        except KeyError:
            message = f"text {self.id[:80]!r} has no {name!r}; it has {', '.join(self.values)}"
            raise FormatError(message, *self.place) from None


def read_texts(path: str, *, encoding: str = "utf-8") -> list[TextRecord]:
    r"""Read a folder of text files, JSON lines, or columns below a line with their names.

    The text of a file is called ``text``. A list of texts in JSON is a text of several paragraphs.
    The id is `id`, or the number of the line, or the name of the file.

    Parameters
    ----------
    path : The file or folder; ``-`` is standard input.
    encoding : The encoding of all files.

    Raises
    ------
    FormatError : If a line does not follow the format, or two texts have the same id.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "texts.tsv")
    ...     _ = path.write_text("id\ttext\na\tA fire broke out.\nb\tIt rained.\n")
    ...     records = read_texts(str(path))
    >>> [(record.id, record["text"]) for record in records]
    [('a', 'A fire broke out.'), ('b', 'It rained.')]
    """
    check_arguments(read_texts, locals())
    records: dict[str, TextRecord] = {}
    for row, file, line in _rows(path, ReadOptions(encoding=encoding)):
        id = read_id(row, line or 0)
        if id in records:
            raise FormatError(f"the id {id[:80]!r} is used twice", file, line)
        texts = {name: _text(value) for name, value in row.items() if name != "id"}
        values = {name: text for name, text in texts.items() if text is not None}
        records[id] = TextRecord(id, values, (file, line))
    return list(records.values())


def _rows(path: str, options: ReadOptions) -> Iterator[tuple[dict[str, Any], str, int | None]]:
    """Yield the members of each text, with its file and line."""
    if os.path.isdir(path):
        for file in sorted(map(str, Path(path).iterdir())):
            name = Path(file).stem
            if os.path.isfile(file) and not name.startswith("."):
                yield {"id": name, "text": TextFile(file, options).text()}, file, None
        return
    lines = ((k, text) for k, text in TextFile(path, options).lines(path) if text.strip())
    names: list[str] = []  # of columns
    for number, line in lines:
        fields = line.split("\t")
        if not names and line.lstrip()[0] not in "{[":
            names = fields
            if fields != ["text"] and len(fields) < 2:
                expected = "expected JSON lines, or columns divided by tabs below their names"
                raise FormatError(f"{expected}; for texts in files, name their folder", path)
            continue
        if names:
            row = dict(zip(names, fields, strict=False))
            if len(fields) != len(names):
                expected = f"expected {len(names)} columns, as in the first line"
                raise FormatError(expected, path, number)
        else:
            row = parse_json(line, path, number)
            if type(row) is not dict:
                raise FormatError("expected a JSON object", path, number)
        yield row, path, number


def _text(value: object) -> str | None:
    """Return a text, its paragraphs joined, with ends of lines as `alignkit annotate` has them."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n\n".join(value)
    text = as_text(value)
    if text is None:
        return None
    return without_first_marks(text).replace("\r\n", "\n").replace("\r", "\n")


class TextPair(NamedTuple):
    """Two texts and their attributes.

    Examples
    --------
    >>> pair = TextPair("d1", "A fire broke out.", "There was a fire.", {"topic": "fire"})
    >>> pair.id, pair.source
    ('d1', 'A fire broke out.')
    """

    id: str
    source: str
    target: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Candidates(Result):
    """Candidate pairs.

    Returned by `candidate_documents`, `candidate_sentences` and `candidate_groups`.

    Parameters
    ----------
    pairs : The pairs, with their origin as attributes.
    about : What was compared, in one line.
    counts : What was left out, by reason.
    signature : All settings in one line.
    notes : Warnings.
    histogram : (20,): the number of compared pairs in each bin of similarity; None: unknown.
    more : Further tables.

    Examples
    --------
    >>> from alignkit.identification import TextRecord, candidate_documents
    >>> texts = {"a": "A fire broke out on Monday.", "b": "On Monday a fire broke out in Lund."}
    >>> documents = [TextRecord(id, {"text": text}) for id, text in texts.items()]
    >>> candidates = candidate_documents(documents)
    >>> [pair.id for pair in candidates.pairs], int(candidates.histogram.sum())
    (['a~b'], 1)
    """

    pairs: Sequence[TextPair]
    about: str
    counts: Mapping[str, int]
    signature: str
    notes: tuple[str, ...] = ()
    histogram: Places | None = None
    more: Sequence[Table] = ()

    @property
    def head(self) -> Sequence[str]:
        """What was compared."""
        return (self.about,)

    @property
    def corpus(self) -> Corpus:
        """The pairs as a corpus, split into words at white space."""
        pairs = []
        for pair in self.pairs:
            source = split_unicode(pair.source)
            target = split_unicode(pair.target)
            pairs.append(SentencePair(pair.id, source, target, {}, pair.attributes))
        return Corpus(pairs)

    def tables(self) -> Sequence[Table]:
        """Return the counts, the histogram of all compared pairs, and further tables."""
        rows: list[list[Cell]] = [["candidates", len(self.pairs)]]
        rows += [[reason, count] for reason, count in self.counts.items()]
        columns = [Column("", key="what"), Column("number", "count")]
        tables = [Table("", columns, rows, "", "counts")]
        if self.histogram is not None:
            least = Column("from", "decimal", digits=2)
            most = Column("to", "decimal", digits=2)
            columns = [least, most, Column("pairs", "count")]
            rows = [[k / BINS, (k + 1) / BINS, int(n)] for k, n in enumerate(self.histogram)]
            title = "Similarity of all pairs compared"
            tables.append(Table(title, columns, rows, "", "similarity", stub=2))
        return [*tables, *self.more]


def bin_of(values: ArrayLike, bins: int = BINS) -> Places:
    """Return the bin of each value; those below 0 are in the first."""
    places = np.clip(np.asarray(values, float), 0, 1) * bins + 1e-6  # .05 as float32 is below .05
    numbers: Places = np.minimum(places.astype(np.int64), bins - 1)
    return numbers


def histogram_of(values: ArrayLike) -> Places:
    """Return the number of values in each of the `BINS`."""
    return np.bincount(bin_of(values), minlength=BINS).astype(np.int64)


def similarity_of(pair: TextPair) -> float:
    """Return the similarity of a candidate pair."""
    return float(pair.attributes["similarity"])


def with_matches(pairs: Sequence[TextPair], chosen: SearchOptions) -> Sequence[TextPair]:
    """Return pairs with what the encoder says of their words as attributes, if there is one.

    The attribute `matched` is the share of words with a mutual best match; pairs without a
    `similarity` get the cosine of the means of their words, too.
    """
    if chosen.text_encoder is None:
        return pairs
    features = chosen.text_encoder.features([(pair.source, pair.target) for pair in pairs])
    compared = []
    for pair, (cosine, matched) in zip(pairs, features.tolist(), strict=True):
        known = {"similarity": f"{cosine:.4f}"} | dict(pair.attributes)
        known["matched"] = f"{matched:.4f}"
        compared.append(pair._replace(attributes=known))
    return compared


def drawn_by_bins(pairs: Sequence[TextPair], bins: int, seed: int) -> list[tuple[int, int, int]]:
    """Return turn, bin and place of each pair: in a turn, every bin gives one at random."""
    places = bin_of(list(map(similarity_of, pairs)), bins)
    rng = np.random.default_rng(seed)
    drawn = []
    for k in np.unique(places).tolist():
        shuffled = rng.permutation(np.flatnonzero(places == k)).tolist()
        drawn += [(turn, k, place) for turn, place in enumerate(shuffled)]
    return sorted(drawn)
