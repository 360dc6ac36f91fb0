"""The alignments of the RTE-2 development set [rte].

Specification
-------------
GIZA's A3 with possible links; three lines per pair, here wrapped to the width of this page::

    # sentence pair 1
    The old mill burned down on Monday .
    NULL ({ / / }) A ({ p1 / / }) mill ({ 3 p2 / / }) was ({ / / }) destroyed ({ 4 5 / / })
    . ({ 8 / / })

- The second line is the text, the source. The third is the hypothesis, the target: each word with
  the 1-based positions of its aligned words in the text. ``p`` before a position means that the
  link is only possible. With ``--transpose`` the text is the target.
- Brackets end in ``/ /``.
- Positions after NULL are explicit nulls. A word with empty brackets is just unaligned.
- The number in the header is the pair's id.
- The very last bracket of a file may lack its ``)``, as in one original file; this is counted.

Nulls are written only of source words. Ids that are not whole numbers are replaced. Each pair gets
a block; if the pair is not annotated, its brackets are empty.

References
----------
Brockett 2007, "Aligning the RTE 2006 corpus", Microsoft Research MSR-TR-2007-77.
"""

from __future__ import annotations

import re

from alignkit.io.formats.giza import A3Layout
from alignkit.io.records import Reading


def _mend(reading: Reading, line: int, text: str) -> str:
    """Return the last line of a file, with the parenthesis that it lacks in some files."""
    if not text.rstrip().endswith(" / / }"):
        return text
    reading.note("missing parenthesis", "the last bracket of the file lacks its ')'", line)
    return text.rstrip() + ")"


FORMAT = A3Layout(
    re.compile(r"# sentence pair (?P<id>[0-9]{1,9})"),
    "# sentence pair N",
    lambda _, number: f"# sentence pair {number}",
    bracketed=1,
    possible="p",
    tail=("/", "/"),
    mend=_mend,
).format("text, possible, nulls, possible nulls, empty")
