"""Implements OpenAI's Evals API: an eval is a definition, its runs are runs, an output item is a probe."""
