"""What the help of commands names of drawings and tables, without the code that makes them."""

LANGUAGES = {
    "nl": "dutch",
    "en": "english",
    "fr": "french",
    "de": "german",
    "it": "italian",
    "pt": "portuguese",
    "ro": "romanian",
    "es": "spanish",
}
"""The languages with a list of function words in this folder, by code (ISO 639-1)."""

MEDIA_OPTIONS = {
    "markdown": "print the tables in Markdown",
    "latex": "print the tables for LaTeX",
}
"""The media of `alignkit.tables.media.MEDIA` that a command prints on request, and their help."""

WIDTHS = {"column": 3.3, "full": 6.9}
"""The possible widths of a figure in a paper, in inches."""
