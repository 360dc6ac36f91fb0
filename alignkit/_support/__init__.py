"""Shared helpers: kernel compilation, threads, argument checks, wording."""
