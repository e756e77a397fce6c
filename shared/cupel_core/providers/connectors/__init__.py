"""Agents under test behind HTTP: the protocols they speak, and how each is set up (docs/connectors.md)."""
