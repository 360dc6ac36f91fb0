"""Make random corpora of what a format holds, for the round-trip tests."""

from datetime import timezone

from hypothesis import strategies as st

from alignkit import NULL, Alignment, Annotation, Corpus, Link, SentencePair, Tree
from alignkit.io.format import JUDGED

UTC = timezone.utc
PLAIN = st.characters(categories=["L", "M", "N", "P", "S"])
"""Characters that are neither white space nor control: all that a line of tokens can hold."""
ANY = st.characters(exclude_categories=["Cs"])
"""All characters but lone surrogates, which are no Unicode text."""
_WORDS = st.sampled_from(["the", "dog", "l'", "&quot;", "{", "naïve", "日本語", "שלום", "0-0", '"'])
LABELS = st.sampled_from(["S", "NP", "NP-SBJ=1", "-NONE-", "-LRB-"]) | st.text(ANY, max_size=3)


def free_texts(characters=PLAIN):
    """Make comments and the like: words divided by single spaces, perhaps none."""
    return st.lists(st.text(characters, min_size=1, max_size=6), max_size=3).map(" ".join)


# Hypothesis prefers what comes first, and makes further examples from it. So pairs with words and
# links come first here, and not what shrinks best: with that, half of 20 corpora had no link.
SELDOM = st.sampled_from([False, False, True, False])


def sizes(least, most):
    """Make a size; the first and the last choice, which are preferred, are of middle size."""
    numbers = list(range(least, most + 1))
    middle = len(numbers) // 2
    return st.sampled_from(numbers[middle:] + numbers[:middle])


def lists_of(elements, least, most, **options):
    return sizes(least, most).flatmap(
        lambda size: st.lists(elements, min_size=size, max_size=size, **options)
    )


@st.composite
def corpora(draw, holds, *, tokens=None, texts=None, ids=None, names=None, max_pairs=4):
    """Make a corpus that a format which holds `holds` gives back as it is.

    Without "ids" the ids are 1, 2, ...; without "names" the one annotator is "alignment". The other
    strategies are of tokens, free texts (comments, labels, ...), ids and names of annotators, where
    a format is narrower than its `holds` says.
    """
    if tokens is None:
        tokens = _WORDS | st.text(PLAIN, min_size=1, max_size=4)
        if "spaces" in holds:
            tokens = tokens | st.text(ANY, max_size=3)
    texts = free_texts() if texts is None else texts
    count = draw(sizes(0, max_pairs))
    if "ids" in holds:
        ids = st.text(PLAIN, min_size=1, max_size=4) if ids is None else ids
        known = draw(st.lists(ids, min_size=count, max_size=count, unique=True))
    else:
        known = [str(number) for number in range(1, count + 1)]
    annotators = _annotators(draw, holds, names)
    return Corpus(draw(_pairs(holds, id, annotators, tokens, texts)) for id in known)


def _annotators(draw, holds, names):
    if "names" not in holds:
        return ["alignment"]
    names = st.sampled_from(["anna", "ben", "gold", "A_B"]) if names is None else names
    most = 3 if "annotators" in holds else 1
    return draw(st.lists(names, min_size=1, max_size=most, unique=True))


@st.composite
def _pairs(draw, holds, id, annotators, tokens, texts):
    sentences = lists_of(tokens, 0 if "empty" in holds else 1, 5)
    source, target = draw(sentences), draw(sentences)
    some = annotators
    if "absent" in holds:
        some = [name for name in annotators if not draw(SELDOM)]
    annotations = {name: draw(_annotations(holds, source, target, texts)) for name in some}
    pool = st.sampled_from(["genre", "language", "a.b", "naïve"])
    given = st.dictionaries(pool, texts.filter(bool), max_size=2)
    attributes = draw(given) if "attributes" in holds else {}
    if "text" not in holds or ("no text" in holds and draw(SELDOM)):
        return SentencePair(id, None, None, annotations, attributes)
    pair = SentencePair(id, source, target, annotations, attributes)
    if "trees" in holds:
        for name in draw(st.lists(st.sampled_from(["parse", "gold", "ü (1)"]), max_size=2)):
            trees = draw(st.none() | tree_of(source)), draw(st.none() | tree_of(target))
            pair = pair.with_trees(name, source=trees[0], target=trees[1])
    return pair


@st.composite
def tree_of(draw, words, labels=LABELS, most=12):
    """Make a random tree over words: nodes beside words, nodes without words, chains."""
    nodes = [(draw(labels), [])]
    path = [nodes[0]]
    for word in [*words, None]:
        while len(nodes) < most and draw(st.booleans()):
            if len(path) > 1 and draw(st.booleans()):
                path.pop()
            else:
                node = (draw(labels), [])
                path[-1][1].append(node)
                path.append(node)
                nodes.append(node)
        if word is not None:
            path[-1][1].append(word)
    return made_tree(nodes[0])


def made_tree(node):
    """Make a tree of (label, children), plainly: the reference of tests."""
    words, labels, parents, starts, ends, afters = [], [], [], [], [], []

    def walk(node, parent):
        number = len(labels)
        labels.append(node[0])
        parents.append(parent)
        starts.append(len(words))
        ends.append(0)
        afters.append(0)
        for child in node[1]:
            if isinstance(child, str):
                words.append(child)
            else:
                walk(child, number)
        ends[number], afters[number] = len(words), len(labels)

    walk(node, -1)
    return Tree(words, labels, parents, starts, ends, afters)


_LEARNED = '30 pairs of ["anna"], digest 5f2c9a0b1c2d3e4f, with this'


@st.composite
def _annotations(draw, holds, source, target, texts):
    def drawn(kind, strategy, otherwise=""):
        return draw(strategy) if kind in holds else otherwise

    cells = [Link(i, j) for i in range(len(source)) for j in range(len(target))]
    empty = [Link(i, NULL) for i in range(len(source))]
    empty += [Link(NULL, j) for j in range(len(target))]
    sure = draw(_subsets(cells, 0 if "empty" in holds else 1))
    possible = drawn("possible", _subsets(cells), [])
    nulls = drawn("nulls", _subsets(empty), [])
    possible_nulls = drawn("possible nulls", _subsets(empty), [])
    links = sorted({*sure, *possible})
    some = texts.filter(bool)
    said = (
        drawn("comment", texts),
        frozenset(drawn("flags", st.lists(some, max_size=2), ())),
        drawn("judgment", texts),
        drawn("provenance", texts),
        drawn("when", st.none() | st.datetimes(timezones=st.just(UTC)).map(_moment), None),
    )
    learned = drawn("learned", st.sampled_from(["", _LEARNED]))
    if JUDGED in holds and any(said[:-1]) and draw(SELDOM):
        return Annotation(None, *said, learned=learned)
    numbers = st.floats(allow_nan=False, allow_infinity=False) | st.just(1.0)
    weighted = drawn("weights", _subsets(sorted({*links, *nulls, *possible_nulls})), ())
    labelled = drawn("labels", _subsets(cells + empty if "other labels" in holds else links), ())
    alignment = Alignment(
        sure,
        possible,
        nulls=nulls,
        possible_nulls=possible_nulls,
        weights={link: draw(numbers) for link in weighted},
        labels={link: draw(texts) for link in labelled},
    )
    unseen = frozenset(drawn("unseen", _subsets(links), ()))
    return Annotation(alignment, *said, learned=learned, unseen=unseen)


def _moment(time):
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")


def _subsets(items, least=0):
    if not items:
        return st.just([])
    return lists_of(st.sampled_from(items), least, min(4, len(items)), unique=True)
