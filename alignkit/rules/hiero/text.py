"""Write hiero rules as lines of the formats of rules, without creating rule objects.

The lines are the same as those of `alignkit.rules.files`, made from the same pieces: words,
variables and numbers are turned into text only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import Formatter

import numpy as np

from alignkit._support.jit import readonly
from alignkit.rules.files.fields import LABEL, MOSES_LABEL, NO_LABEL, WORD, log_text, number_text
from alignkit.rules.files.notation import quoted, side_text
from alignkit.rules.grammar import Node, Variable
from alignkit.rules.hiero import text_kernel as kernel
from alignkit.rules.hiero.counts import WEIGHTS, HieroBlock
from alignkit.rules.tables.runs import WordPool

_ROOM = 1 << 20


@dataclass(frozen=True)
class LineLayout:
    """The lines of a format."""

    line: str
    lexical: tuple[str, str]
    label: Callable[[str], str]
    variable: Callable[[str, int], str]
    word: Callable[[str], str]


_Numbers = dict[str, Callable[[float], str]]
_NUMBERS: _Numbers = {"": number_text, "log": log_text, "short": "{:.10g}".format}


def _labelled(links: str) -> LineLayout:
    return LineLayout(
        line="{label} ||| {source} ||| {target} ||| p(e|f)={p_target:log} p(f|e)={p_source:log} "
        "LEXICAL"
        f"p(e,f|LHS)={{p_rule:log}} count={{count}} pairs={{pairs}} ||| {{{links}: }}\n",
        lexical=("Lex(e|f)={lexical_target:log} Lex(f|e)={lexical_source:log} ", ""),
        label=lambda label: f"[{LABEL.escape(label)}]",
        variable=lambda label, number: f"[{LABEL.escape(label or NO_LABEL)},{number + 1}]",
        word=WORD.escape,
    )


LAYOUTS = {
    "tsv": LineLayout(
        line="{label}{source}) ||| {label}{target}) ||| {count} {p_target} {p_source} "
        "pairs={pairs} p_rule={p_rule}LEXICAL links={links:,}\n",
        lexical=(" lexical_target={lexical_target} lexical_source={lexical_source}", ""),
        label=lambda label: side_text(Node(label, ())).removesuffix(")"),
        variable=lambda label, number: side_text((Variable(number, label),)),
        word=quoted,
    ),
    "joshua": _labelled("links"),
    "ppdb": _labelled("all_links"),
    "moses": LineLayout(
        line="{source} {label} ||| {target} {label} ||| LEXICAL ||| {all_links: } ||| "
        "{target_count:short} {source_count:short} {count:short}\n",
        lexical=(
            "{p_source:short} {lexical_source:short} {p_target:short} {lexical_target:short}",
            "{p_source:short} {p_target:short}",
        ),
        label=lambda label: f"[{MOSES_LABEL.escape(label)}]",
        variable=lambda label, number: f"[{MOSES_LABEL.escape(label or NO_LABEL)}]" * 2,
        word=WORD.escape,
    ),
}
"""The formats of rules that this module can write."""


class RuleText:
    """Write blocks of rules of a grammar as lines."""

    def __init__(self, layout: LineLayout, block: HieroBlock) -> None:
        has_lexical = block.weights.shape[1] > 3
        line = layout.line.replace("LEXICAL", layout.lexical[not has_lexical])
        labels, self._variables_at = block.labels, len(block.labels)
        pieces = [layout.label(label) for label in labels]
        pieces += [layout.variable(label, number) for label in labels for number in (0, 1)]
        self._words = len(pieces)
        pieces += map(layout.word, block.words)
        self._dash = len(pieces)
        pieces += ["-", *map(str, range(block.most_symbols))]
        self._numbers: list[tuple[str, Callable[[float], str]]] = []
        steps = []
        for text, name, how, _ in Formatter().parse(line):
            if text:
                steps.append((kernel.TEXT, len(pieces)))
                pieces.append(text)
            if name is not None:
                steps.append(self._step(name, how or "", pieces))
        self._steps = np.array(steps, np.int32)
        self._pieces = WordPool.of(pieces, "strict")
        self._out = np.empty(_ROOM, np.uint8)

    def _step(self, name: str, how: str, pieces: list[str]) -> tuple[int, int]:
        if name in ("label", "source", "target"):
            return getattr(kernel, name.upper()), 0 if name == "label" else self._variables_at
        if name in ("links", "all_links"):
            pieces.append(how)
            return getattr(kernel, name.upper()), len(pieces) - 1
        self._numbers.append((name, _NUMBERS[how]))
        return kernel.NUMBER, len(self._numbers) - 1

    def lines(self, block: HieroBlock) -> Iterator[bytes]:
        """Yield the lines of a block, many at a time, in UTF-8."""
        columns = dict(zip(WEIGHTS, block.weights.T, strict=False))
        columns |= zip(("count", "pairs"), block.counts.T, strict=True)
        columns["target_count"] = columns["count"] / columns["p_source"]
        columns["source_count"] = columns["count"] / columns["p_target"]
        numbers = np.empty((len(block), len(self._numbers)), np.int32)
        texts: list[str] = []
        for column, (name, text) in enumerate(self._numbers):
            values, inverse = np.unique(columns[name], return_inverse=True)
            numbers[:, column] = inverse.reshape(-1) + len(texts)
            texts += map(text, values.tolist())
        rule, state = 0, np.zeros(1, np.int64)
        while rule < len(block):
            done = kernel.lines(
                readonly(self._steps), readonly(block.symbols), readonly(block.offsets),
                len(block.labels), block.most_symbols, self._words, self._dash, *self._pieces,
                readonly(numbers), *WordPool.of(texts), rule, self._out, state,
            )  # fmt: skip
            if done == rule:
                self._out = np.empty(2 * len(self._out), np.uint8)
            rule = done
            yield self._out[: state[0]].tobytes()
