"""The figures of the dashboard."""
