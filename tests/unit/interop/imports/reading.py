"""Shared by the tests of imports: reads a configuration given as a Python value."""

from typing import Any

import yaml

from cupel_core.domain.definitions.drafts import ImportedSuite, ImportNote
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.interop.imports.files import InMemoryFiles
from cupel_core.interop.imports.promptfoo import read_config


def read_suite(config: Any, **files: str) -> ImportedSuite:
    """`tests__csv` is the file `tests.csv`, as a keyword cannot contain a dot."""
    text = config if isinstance(config, str) else yaml.safe_dump(config, sort_keys=False)
    return read_config(text, InMemoryFiles({name.replace("__", "."): content for name, content in files.items()}))


def scenarios(config: Any, **files: str) -> tuple[Scenario, ...]:
    drafts = read_suite(config, **files).drafts
    return tuple(scenario for draft in drafts for scenario in draft.scenarios)


def last_messages(config: Any, **files: str) -> list[str]:
    """The text of the last message of each scenario."""
    return [scenario.messages[-1].content for scenario in scenarios(config, **files)]


def first_assertions(config: Any, **files: str) -> list[dict[str, Any]]:
    """The assertions of the first scenario."""
    return [assertion.to_json() for assertion in scenarios(config, **files)[0].assertions]


def skipped(config: Any, **files: str) -> list[ImportNote]:
    return list(read_suite(config, **files).report.skipped)
