"""What the tests of imports share: a configuration from a Python value, and what became of it."""

from typing import Any

import yaml

from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.imports.drafts import Note, Suite
from cupel_core.imports.files import GivenFiles
from cupel_core.imports.promptfoo import read


def suite(config: Any, **files: str) -> Suite:
    """Files are named `tests__csv` for `tests.csv`, as a keyword has no dot."""
    text = config if isinstance(config, str) else yaml.safe_dump(config, sort_keys=False)
    return read(text, GivenFiles({name.replace("__", "."): content for name, content in files.items()}))


def scenarios(config: Any, **files: str) -> tuple[Scenario, ...]:
    drafts = suite(config, **files).drafts
    return tuple(scenario for draft in drafts for scenario in draft.scenarios)


def said(config: Any, **files: str) -> list[str]:
    """What the user says last in each scenario."""
    return [scenario.messages[-1].content for scenario in scenarios(config, **files)]


def asserted(config: Any, **files: str) -> list[dict[str, Any]]:
    """The assertions of the first scenario."""
    return [assertion.to_json() for assertion in scenarios(config, **files)[0].assertions]


def left(config: Any, **files: str) -> list[Note]:
    return list(suite(config, **files).report.leavings)
