"""A project: its log of events, its tables, and the state that they give."""
