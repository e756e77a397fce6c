"""Evaluations that people have in the formats of other tools, as definitions with scenarios. Nothing in them is run."""
