"""Show where two annotators differ: words, sentence pairs, and how many more pairs would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, isnan

from alignkit.agreement.chance.result import BeyondChance
from alignkit.agreement.result import Agreement, Pairing
from alignkit.agreement.show.disagreements import Disagreements, Outcome, PairOutcome
from alignkit.agreement.show.plots import LEVEL_TITLES, PairingPlot, decimal
from alignkit.model.corpus import Corpus
from alignkit.show.cells import letters, make_grid
from alignkit.show.html import draw_figure
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table


def further_pairs(result: BeyondChance, width: float) -> int | None:
    """Extrapolate how many further pairs two annotators would have to annotate."""
    interval = result.interval
    if interval is None or isnan(interval.high - interval.low) or not result.used:
        return None
    now = interval.high - interval.low
    if now <= 0 or width <= 0:  # all pairs are alike, which says nothing of others
        return None
    if now <= width:
        return 0
    wanted = result.used * (now / width) ** 2
    return ceil((wanted - result.used) * len(result.sentences) / result.used)


_MOST_PAIRS, _MOST_BYTES = 200, 3_500_000
_LARGEST_MATRIX = 60_000
_MOST_WORDS = 30
_WIDTHS = (0.1, 0.05, 0.02)


@dataclass(frozen=True)
class PairDifference:
    """Where two differ: the counts, a figure of kinds of links, a table of word pairs."""

    pairing: Pairing
    counts: Disagreements
    kinds: PairingPlot
    words: Table

    @property
    def first(self) -> str:
        """The first of the two."""
        return self.pairing.first

    @property
    def second(self) -> str:
        """The second of the two."""
        return self.pairing.second

    @property
    def total(self) -> Outcome:
        """The counts over all sentence pairs."""
        return self.counts.total


@dataclass(frozen=True)
class Article:
    """The drawing of a sentence pair: its id, a line of facts, and the matrix as HTML."""

    id: str
    facts: str
    figure: str


@dataclass(frozen=True)
class Matrices:
    """The sentence pairs of two annotators that are drawn, and what is said of the others."""

    first: str
    second: str
    said: str
    articles: Sequence[Article]


def word_table(counts: Disagreements) -> Table:
    """Return the word pairs that one annotator alone links most often."""
    first, second = letters(*counts.annotators)
    rows: list[list[Cell]] = []
    for words in counts.words[:_MOST_WORDS]:
        outcome = words.outcome
        numbers = outcome.alone, outcome.first, outcome.second, outcome.both + outcome.unsure
        rows.append([words.source, words.target, ", ".join(words.kinds), *numbers])
    left = len(counts.words) - len(rows)
    headings = ("one only", f"only {first}", f"only {second}", "both")
    columns = [Column(name) for name in ("source", "target", "kind")]
    columns += [Column(name, "count") for name in headings]
    note = f"{left:,} further word pairs are not shown." if left else ""
    return Table("Word pairs that one annotator alone links most often", columns, rows, note)


def further_table(agreement: Agreement) -> Table | None:
    """Return how many further pairs would make intervals of C narrower; None without intervals."""
    rows: list[list[Cell]] = []
    apart = []
    known = [one for one in agreement.of("annotators") if one.chance in one.beyond]
    for pairing in known:
        apart.append(len(rows))
        for level, title in LEVEL_TITLES.items():
            one = pairing.main(level)
            if one.interval is None or isnan(one.interval.low):
                continue
            now = one.interval.high - one.interval.low
            wanted = [now / 2, *(2 * width for width in _WIDTHS)]
            cells = [_further(one, width) for width in wanted]
            rows.append([pairing.name, title, one.used, len(one.sentences), now, *cells])
    if not rows:
        return None
    aim = "for an interval as narrow as"
    columns = [
        *(Column("who"), Column("level")),
        *(Column("used", "count", "now"), Column("of", "count", "now")),
        Column("width", "decimal", "now"),
        Column("half as wide", "count", aim),
        *(Column(f"C ± {width:g}", "count", aim) for width in _WIDTHS),
    ]
    kept = [place for place in dict.fromkeys(apart) if 0 < place < len(rows)]
    title = "Further pairs that both would have to annotate"
    return Table(title, columns, rows, apart=kept, stub=2)


def _further(one: BeyondChance, width: float) -> Cell:
    count = further_pairs(one, width)
    return "-" if count is None else f"{count:,}" if count else "reached"


def draw_pairs(corpus: Corpus, differences: Sequence[PairDifference]) -> Iterator[Matrices]:
    """Draw the sentence pairs in which two differ most, as many as a page has room for.

    All of `differences`, where every two differ, have the same room.
    """
    for one in differences:
        counts = one.counts.pairs
        differing = [pair for pair in counts if pair.outcome.alone or pair.outcome.unsure]
        drawn, large = _draw(corpus, one, differing, share=len(differences))
        alike = len(counts) - len(differing)
        left = len(differing) - len(drawn) - large
        verb = "sentence pair differs" if len(differing) == 1 else "sentence pairs differ"
        said = [f"{len(differing):,} {verb}, {alike:,} {'does' if alike == 1 else 'do'} not"]
        if left:
            said.append(
                f"the {len(drawn):,} that differ most are drawn, {left:,} that differ less are "
                "left out, to keep the page small"
            )
        if large:
            said.append(f"{large:,} are left out because they are too long to draw")
        yield Matrices(one.first, one.second, "; ".join(said), drawn)


def _draw(
    corpus: Corpus, difference: PairDifference, differing: Sequence[PairOutcome], *, share: int
) -> tuple[list[Article], int]:
    """Return the drawings there is room for, and how many pairs are too long for any."""
    most, room = max(_MOST_PAIRS // share, 5), _MOST_BYTES // share
    drawn: list[Article] = []
    large = 0
    known = _sentences(difference.pairing)
    for one in differing:
        pair = corpus[one.place]
        n, m = pair.lengths
        if n * m > _LARGEST_MATRIX:
            large += 1
            continue
        figure = draw_figure(make_grid(pair, difference.counts.annotators))
        room -= len(figure.encode())
        if len(drawn) == most or room < 0:
            break
        drawn.append(Article(pair.id, _facts(one, known), figure))
    return drawn, large


def _sentences(pairing: Pairing) -> dict[str, dict[int, str]]:
    if pairing.chance not in pairing.beyond:
        return {}
    return {
        title: {
            row.place: f"{row.common} shared, of {row.first} of the one and {row.second} of the "
            f"other ({decimal(row.observed)})"
            for row in pairing.main(level).sentences
            if not row.left_out
        }
        for level, title in LEVEL_TITLES.items()
    }


def _facts(one: PairOutcome, known: dict[str, dict[int, str]]) -> str:
    facts = [f"{one.outcome.alone} linked by one only, {one.outcome.unsure} sure for one only"]
    facts += [f"{title}: {rows[one.place]}" for title, rows in known.items() if one.place in rows]
    return " · ".join(facts)
