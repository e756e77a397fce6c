"""Rescores: further scorings of a run's transcripts, without calling the targets again."""
