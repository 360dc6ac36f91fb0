"""How each medium writes a table."""
