"""The tables of a project: what they hold, how they are asked, and how events are appended."""
