"""Computes the figures of a deep analysis with numpy, which only the analyze function and `cupel[analysis]` have."""
