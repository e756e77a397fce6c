"""Scorings of a run beside its own, and the figures of any of them."""
