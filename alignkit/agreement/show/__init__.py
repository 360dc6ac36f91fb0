"""Agreement as tables, figures and pages."""
