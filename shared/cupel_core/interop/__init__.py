"""Formats and interfaces of other tools: imports of their files, and OpenAI's Evals API."""
