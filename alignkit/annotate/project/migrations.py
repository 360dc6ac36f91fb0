"""Bring the tables of a database to a later version, by the scripts in a folder.

The folder is a history of Alembic: the revision of a script is a number, its function `upgrade`
gets the operations. The database itself keeps its version.
"""

from __future__ import annotations

import sqlalchemy as sa

from alignkit.annotate.project.names import ProjectError


def upgrade(conn: sa.Connection, folder: str, now: int, to: int) -> None:
    """Run the scripts after version `now`, up to version `to`, in the transaction of `conn`."""
    try:
        from alembic.operations import Operations
        from alembic.runtime.migration import MigrationContext
        from alembic.script import ScriptDirectory
    except ImportError:
        raise ProjectError(
            "a project of an earlier version needs one more library (alembic); run: pip install "
            "'alignkit[annotate]'"
        ) from None
    scripts = ScriptDirectory(folder, version_locations=[folder]).walk_revisions(head=str(to))
    later = [script for script in scripts if int(script.revision) > now]
    operations = Operations(MigrationContext.configure(conn))
    for script in reversed(later):
        script.module.upgrade(operations)
