"""Imports of other tools' evaluations as definitions with scenarios. Nothing in them is executed."""
