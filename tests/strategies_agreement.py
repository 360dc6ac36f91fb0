"""Make small random corpora that several annotators annotated, with equal words among them."""

from hypothesis import strategies as st
from strategies import SELDOM, lists_of, sizes

from alignkit import NULL, Alignment, Corpus, SentencePair

WORDS = st.sampled_from(["a", "A", "b", "c"])
RULES = st.sampled_from(
    [
        {"ignore_identical": False},
        {"ignore_identical": True},
        {"ignore_identical": True, "exact_case": True},
    ]
)
"""Which links count, as options of the plain functions and of their references."""


def two_aligned(a, b, source="xyz", target="uvw", **more):
    annotations = {name: Alignment.parse(text) for name, text in {"A": a, "B": b, **more}.items()}
    return SentencePair("1", tuple(source), tuple(target), annotations)


def edited_corpus(*rows, source="abc", target="xyz", attributes=None):
    """Return pairs with the alignments of "initial", "A" and "B" in this order, None for none."""
    pairs = []
    for number, links in enumerate(rows):
        names = zip(("initial", "A", "B"), links, strict=True)
        annotations = {name: Alignment.parse(text) for name, text in names if text is not None}
        more = attributes[number] if attributes else {}
        pairs.append(SentencePair(str(number), list(source), list(target), annotations, more))
    return Corpus(pairs)


@st.composite
def alignments(draw, n, m):
    cells = [(i, j) for i in range(n) for j in range(m)]
    empty = [(i, NULL) for i in range(n)] + [(NULL, j) for j in range(m)]
    return Alignment(*(draw(_some(cells)) for _ in "SP"), nulls=draw(_some(empty)))


@st.composite
def corpora(draw, annotators=("A", "B", "C"), complete=False):
    pairs = []
    for number in range(draw(sizes(1, 4))):
        source, target = (draw(lists_of(WORDS, 0, 4)) for _ in range(2))
        names = [name for name in annotators if complete or number == 0 or not draw(SELDOM)]
        annotations = {name: draw(alignments(len(source), len(target))) for name in names}
        attributes = {"genre": draw(st.sampled_from(["news", "talk"]))}
        pairs.append(SentencePair(str(number), source, target, annotations, attributes))
    return Corpus(pairs)


def _some(items):
    if not items:
        return st.just([])
    return lists_of(st.sampled_from(items), 0, min(4, len(items)), unique=True)
