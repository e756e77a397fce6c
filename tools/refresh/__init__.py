"""Writes generated files of the repository from data that others maintain."""
