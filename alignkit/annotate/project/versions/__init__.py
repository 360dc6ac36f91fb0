"""The scripts that bring a project from each version to the next, for Alembic; see `migrations`."""
