"""Compare alignkit with plain Python and with nltk: `python -m benchmarks`."""
