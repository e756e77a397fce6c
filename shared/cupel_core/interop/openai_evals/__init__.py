"""OpenAI's Evals API on Cupel: an eval is a definition, its runs are runs, an output item is a probe."""
