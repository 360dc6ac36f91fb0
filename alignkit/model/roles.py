"""The roles of annotations."""

ROLES = ("annotator", "initial", "adjudicated", "system")
"""An annotator (a person); the initial alignment that annotators started
from; the adjudicated version that settled disagreements; another system."""
