"""The ways into a project and out of it."""
