"""Agents under test behind HTTP: their protocols and configuration (docs/connectors.md)."""
