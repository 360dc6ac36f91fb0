"""One file a format, each with its specification."""
