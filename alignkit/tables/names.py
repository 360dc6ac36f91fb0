"""The options of commands for media; help needs them without the code of the media."""

MEDIA_OPTIONS = {
    "markdown": "print the tables in Markdown",
    "latex": "print the tables for LaTeX",
}
"""The media of `alignkit.tables.media.MEDIA` that a command prints on request, and their help."""
