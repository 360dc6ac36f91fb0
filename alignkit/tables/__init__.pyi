from .columns import Column as Column
from .columns import Value as Value
from .table import Table as Table
