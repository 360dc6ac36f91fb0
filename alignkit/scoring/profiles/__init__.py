"""Profiles of systems by phenomenon."""
