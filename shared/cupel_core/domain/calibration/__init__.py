"""Measures how often a judge is wrong against labels by people, and corrects pass rates for it."""
