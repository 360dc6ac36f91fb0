"""A project: its log of events, the tables, and the state that they come to."""
