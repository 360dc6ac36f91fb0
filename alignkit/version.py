"""Hold the version, the only number that a release changes."""

__version__ = "0.1.0"
