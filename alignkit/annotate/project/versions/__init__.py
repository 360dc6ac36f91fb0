"""The scripts that bring a project to each version, a history of Alembic; see `upgrade`."""
