"""Annotate in the browser: the project's store, the server and the page."""
