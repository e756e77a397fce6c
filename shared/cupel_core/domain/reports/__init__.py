"""Selects the conversations that reports of runs show, and measures how far graders agree."""
