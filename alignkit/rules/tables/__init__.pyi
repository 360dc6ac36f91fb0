from .phrase_tables import PhraseEntry as PhraseEntry
from .phrase_tables import phrase_table as phrase_table
from .pivots import Paraphrase as Paraphrase
from .pivots import pivot as pivot
from .table_file import read_table as read_table
