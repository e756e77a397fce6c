"""Reads promptfoo configurations: prompts, providers, tests, scenarios and their assertions."""

from cupel_core.interop.imports.promptfoo.suite import read_config

__all__ = ["read_config"]
