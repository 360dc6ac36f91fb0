"""Compile kernels before they are needed."""
