"""Hold the version, the only number that a release changes."""

__version__ = "1.0.0rc1"
