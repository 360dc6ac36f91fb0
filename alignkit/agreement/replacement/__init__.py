"""Whether a system may replace an annotator."""
