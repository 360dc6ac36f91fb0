"""The commands that align words."""
