"""Computes figures from the results of runs."""
