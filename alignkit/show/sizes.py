"""The sizes of figures; help needs their names without the code for drawing."""

WIDTHS = {"column": 3.3, "full": 6.9}
"""The possible widths of a figure in a paper, in inches."""
