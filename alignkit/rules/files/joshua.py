"""Read and write grammars of Thrax and Joshua: ``[NP] ||| F [NP,1] ||| from [NP,1] ||| count=1``.

After the features come, where known, the links of the words (positions of symbols). See
`labelled`.
"""

from __future__ import annotations

from alignkit.rules.files.fields import RuleFormat
from alignkit.rules.files.labelled import HELD, labelled_line, parse_labelled
from alignkit.rules.grammar import RuleType


def _line(type: RuleType, number: int, joined: bool) -> str:
    return labelled_line(type, joined, link_variables=False)


def _parse(line: str, number: int) -> RuleType:
    return parse_labelled(line, _line)


FORMAT = RuleFormat(line=_line, parse=_parse, holds=HELD)
