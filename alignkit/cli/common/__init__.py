"""Shared code of the commands: inputs, outputs, messages."""
