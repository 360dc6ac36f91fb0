"""Make random rules, of all the text that tokens and labels can hold."""

from hypothesis import strategies as st
from strategies import ANY

from alignkit.rules.grammar import Example, Node, Rule, RuleType, Variable

ODD = [
    "",
    "the",
    "[NP,1]",
    "[X][X]",
    "|||",
    "a|||b",
    "||",
    "->",
    "###",
    "-",
    "x0",
    "x0:NP",
    '"',
    "a b",
    "&#91;",
    "&amp;#91;",
    "&#;",
    "&apos;",
    "a=b",
    "{{{x}}}",
    "\\",
    "\ufeff",
    "\u2028",
    "\x85",
    "\n",
    "\0",
    "(",
    ")",
    "~",
    "NP~S",
    ",",
    "''",
    "``",
    ":",
    "x1(",
    "日本",
    "e\u0301",
    "#",
    "&",
]
TEXTS = st.sampled_from(ODD) | st.text(ANY, max_size=4)
LABELS = st.sampled_from(["NP", "VP", "S", "NN"]) | TEXTS
PROBABILITIES = st.none() | st.floats(0, 1) | st.sampled_from([1 / 3, 1.0, 0.5])
EXTRA = st.lists(
    st.tuples(TEXTS | st.sampled_from(["count", "id", "links", "p(e|f)"]), TEXTS), max_size=2
)


@st.composite
def sides(draw, leaves, *, string):
    if string:
        return tuple(
            leaf._replace(label="") if isinstance(leaf, Variable) else leaf for leaf in leaves
        )
    items = list(leaves)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(items)))
        end = draw(st.integers(start, len(items)))
        items[start:end] = [Node(draw(LABELS), tuple(items[start:end]))]
    return Node(draw(LABELS), tuple(items))


@st.composite
def rules(draw, *, deletions=True):
    count = draw(st.integers(0, 3))
    strings = draw(st.sampled_from([(False, False)] * 3 + [(True, False), (False, True)]))
    made = []
    for side, string in enumerate(strings):
        order = range(count) if side == 0 else draw(st.permutations(range(count)))
        leaves = [Variable(k, draw(LABELS)) for k in order]
        if deletions and draw(st.booleans()):
            leaves.insert(draw(st.integers(0, count)), Variable(0, "PP", "di"[side]))
        for word in draw(st.lists(TEXTS, max_size=3)):
            leaves.insert(draw(st.integers(0, len(leaves))), word)
        made.append(draw(sides(leaves, string=string)))
    return Rule(*made)


def leaves_of(side):
    for item in side.children if isinstance(side, Node) else side:
        if isinstance(item, Node):
            yield from leaves_of(item)
        else:
            yield item


def words_of(side):
    return [k for k, item in enumerate(leaves_of(side)) if isinstance(item, str)]


@st.composite
def rule_types(draw, *, deletions=True, extra=EXTRA):
    rule = draw(rules(deletions=deletions))
    places, alignment = [words_of(side) for side in rule], None
    if draw(st.booleans()):
        links = [(i, j) for i in places[0] for j in places[1]]
        chosen = draw(st.lists(st.sampled_from(links), unique=True)) if links else []
        alignment = tuple(sorted(chosen))
    words = st.lists(TEXTS, min_size=2, max_size=2).map(tuple)
    spans = st.sampled_from([(0, 1), (0, 2), (1, 1)])
    examples = st.builds(Example, TEXTS, words, words, spans, spans)
    return RuleType(
        rule,
        count=draw(st.none() | st.integers(0, 9) | st.floats(0, 1e300)),
        pairs=draw(st.none() | st.integers(0, 10**6)),
        **{
            name: draw(PROBABILITIES)
            for name in ("p_target", "p_source", "p_rule", "lexical_target", "lexical_source")
        },
        alignment=alignment,
        examples=tuple(draw(st.lists(examples, max_size=1))),
        extra=tuple(draw(extra)),
    )
