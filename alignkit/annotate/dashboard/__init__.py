"""The figures of the dashboard: what is followed as work goes on, and what takes a while."""
