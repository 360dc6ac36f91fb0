"""Stand in until the package is written."""
