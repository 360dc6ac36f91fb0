"""Read and write paraphrases as PPDB does: ``[VP] ||| rose ||| stood up ||| count=2 ||| 0-0``.

Lines of Thrax (see `labelled`) whose alignment links all symbols, variables included; in PPDB 2.0
the relation (``Equivalence``, ...) follows. Its own features, such as the similarities of PPDB, are
written where a file told them, and never made up.
"""

from __future__ import annotations

from alignkit.rules.files.fields import RuleFormat
from alignkit.rules.files.labelled import HELD, labelled_line, parse_labelled
from alignkit.rules.grammar import RuleType


def _line(type: RuleType, number: int, joined: bool) -> str:
    return labelled_line(type, joined, link_variables=True)


def _parse(line: str, number: int) -> RuleType:
    return parse_labelled(line, _line)


FORMAT = RuleFormat(line=_line, parse=_parse, holds=HELD)
