"""Count phrase pairs over a corpus in bounded memory, and join tables of them on a shared side."""

from __future__ import annotations

from alignkit.tables.paraphrases import Paraphrase, pivot
from alignkit.tables.phrase_tables import PhraseEntry, phrase_table
from alignkit.tables.table_file import read_table

__all__ = ["Paraphrase", "PhraseEntry", "phrase_table", "pivot", "read_table"]
