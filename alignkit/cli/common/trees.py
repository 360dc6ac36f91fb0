"""The options for trees, the same in every command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from alignkit._support.wording import how_many
from alignkit.cli.common.messages import say
from alignkit.cli.parser import (
    Group,
    Options,
    Parser,
    add_options,
    annotator_name,
    given_flag,
    option_values,
)
from alignkit.errors import OptionError, UnknownNameError
from alignkit.io.text_files import Finding
from alignkit.io.tree_files import TREE_FORMATS, TREE_NAME
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair

_FILES = ("source_trees", "target_trees", "both_trees")
_KINDS = ("strict_trees", "lenient_trees", "drop_function_tags", "drop_traces", "tree_format")
_SINGULAR = {
    "trees": "tree",
    "sentences without a parse": "sentence without a parse",
    "trees that do not fit, left out": "tree that does not fit, left out",
    "labels without their function tags": "label without its function tags",
    "traces left out": "trace left out",
    "traces kept as words": "trace kept as a word",
    "sides with several trees, joined below TOP": "side with several trees, joined below TOP",
    "trees with brackets as words, told by the text": "tree with brackets as words, told by the "
    "text",
}


def add_tree_options(parser: Parser) -> Group:
    """Add the options that name files of trees."""
    group = parser.add_argument_group("trees")
    add_options(
        group,
        f"""
        --source-trees FILE  trees of the source sentences, in the same order
        --target-trees FILE  trees of the target sentences, in the same order
        --both-trees FILE  trees of both sides in turn: source, target, source, target, ...
        --tree-name NAME  name of the trees in the files (default: {TREE_NAME}), or of those to use,
            if the corpus has several
        --tree-format  one tree a line, trees over several lines, or XML of Stanford's tools
            (default: detected by the first lines)
        --strict-trees  refuse brackets as words, as in (JJ () (default: compare with the words)
        --lenient-trees  leave out and count trees that do not fit their sentence (default: an
            error)
        --drop-function-tags  read NP-SBJ=1 as NP (default: keep it)
        --drop-traces  leave out -NONE- and nodes without other words (default: they are words)
        """,
        tree_name=annotator_name,
        tree_format=tuple(TREE_FORMATS),
    )
    return group


def trees_named(options: Options) -> bool:
    """Return whether files of trees are named."""
    return any(getattr(options, name) is not None for name in _FILES)


def tree_name(options: Options) -> str | None:
    """Return the name of the trees to use; None for the only ones that a pair has."""
    given: str | None = options.tree_name
    if given is None and trees_named(options):
        return TREE_NAME
    return given


def check_tree_options(options: Options) -> None:
    """Refuse options for trees without a file of trees."""
    flag = given_flag(options, *_KINDS)
    if flag and not trees_named(options):
        raise OptionError(
            f"{flag} needs a file of trees: add --source-trees, --target-trees or --both-trees"
        )


def with_trees(options: Options, pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    """Yield pairs with the trees of the named files, if any; at the end, report counts."""
    check_tree_options(options)
    if trees_named(options):
        return _with_counts(options, pairs)
    return iter(pairs)


def one_tree_a_side(options: Options, pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    """Yield pairs; refuse several trees on a side unless --tree-name chooses."""
    name = tree_name(options)
    known: dict[str, None] = {}
    for pair in pairs:
        for side in SIDES:
            trees = getattr(pair, f"{side}_trees")
            known.update(dict.fromkeys(trees))
            if name is None and len(trees) > 1:
                raise OptionError(
                    f"pair {pair.id!r} has the {side} trees {', '.join(trees)}: choose one "
                    "with --tree-name"
                )
        yield pair
    if name is not None and known and name not in known:
        raise UnknownNameError("tree", name, known)


def _with_counts(options: Options, pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    counts: Counter[str] = Counter()
    yield from attached(options, pairs, counts)
    files = [getattr(options, name) for name in _FILES]
    named = ", ".join(path for path in dict.fromkeys(files) if path is not None)
    if text := trees_told(counts):
        say(f"{named}: {text}")


def trees_told(counts: Counter[str]) -> str:
    """Return the counts of reading trees: 1,200 trees; 1 sentence without a parse."""
    parts = []
    for kind, number in counts.items():
        if number:
            parts.append(how_many(number, _SINGULAR.get(kind, kind), kind, commas=True))
    return "; ".join(parts)


def attached(
    options: Options,
    pairs: Iterable[SentencePair],
    counts: Counter[str],
    observe: Callable[[Finding], None] | None = None,
) -> Iterator[SentencePair]:
    """Yield pairs with the trees of files, like `attach_trees`; with `observe`, leniently."""
    from alignkit.io.tree_files import attach_trees

    how = option_values(options, *_FILES, *_KINDS, "encoding")
    how["lenient_trees"] |= observe is not None
    named = tree_name(options) or TREE_NAME
    return attach_trees(pairs, **how, tree_name=named, counts=counts, observe=observe)
