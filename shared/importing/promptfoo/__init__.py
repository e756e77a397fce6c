"""promptfoo's configurations: prompts, providers, tests, scenarios and their assertions."""

from shared.importing.promptfoo.suite import read

__all__ = ["read"]
