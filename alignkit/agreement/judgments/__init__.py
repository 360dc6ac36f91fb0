"""Measure how far annotators agree on judgments of whole pairs."""
