"""Imports files of other tools, and implements OpenAI's Evals API."""
