"""Have the errors of a system judged by people who do not know whose they are.

`phrases` draws phrase pairs that a system has and the gold standard lacks, and the other way round,
and writes a sheet for each judge, and a key that tells which is which. `read` takes the filled
sheets and the key, and prints the shares of correct, uncertain and incorrect ones, how far the
judges agree, and what that makes of the score.

For example:
  alignkit audit phrases giza.xml gold.xml --n 100 --seed 1 --judges anna ben -o audit
  alignkit audit read audit/sheet-anna.tsv audit/sheet-ben.tsv --key audit/key.json
"""

from __future__ import annotations

COMMANDS = {
    "phrases": "draw phrase pairs in which a system and the gold standard differ",
    "read": "read the filled sheets: shares, agreement, corrected scores",
}
"""The commands of this command; a module each."""
