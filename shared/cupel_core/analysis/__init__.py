"""Figures computed from the results of runs."""
