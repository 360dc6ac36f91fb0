"""The commands that score and compare."""
