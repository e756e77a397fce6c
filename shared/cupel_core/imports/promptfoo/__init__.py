"""promptfoo's configurations: prompts, providers, tests, scenarios and their assertions."""

from cupel_core.imports.promptfoo.suite import read

__all__ = ["read"]
