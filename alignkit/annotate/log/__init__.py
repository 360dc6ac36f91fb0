"""Events, and what they come to: the state of a stream; nothing here knows a database."""
