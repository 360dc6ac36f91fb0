"""Annotate in the browser: the project's store, the server and the page."""

from __future__ import annotations
