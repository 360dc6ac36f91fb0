"""Derive hierarchical rules of phrase pairs, and label them by trees (SAMT)."""
