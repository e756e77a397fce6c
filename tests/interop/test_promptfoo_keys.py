"""Every key that the real promptfoo's schemas know is in the tables of the import."""

import pytest

from cupel_core.imports.promptfoo.configuration_keys import (
    ASSERTION,
    COMMAND_LINE_OPTIONS,
    CONFIGURATION,
    EVALUATE_OPTIONS,
    OPTIONS,
    PROMPT,
    PROVIDER,
    SCENARIO,
    TEST,
)
from tests.interop import tools

KNOWN = {
    "config": CONFIGURATION,
    "evaluateOptions": EVALUATE_OPTIONS,
    "commandLineOptions": COMMAND_LINE_OPTIONS,
    "prompt": PROMPT,
    "provider": PROVIDER,
    "scenario": SCENARIO,
    "test": TEST,
    "options": OPTIONS,
    "assertion": ASSERTION,
}


@pytest.fixture(scope="module")
def schema_keys() -> dict[str, list[str]]:
    return tools.promptfoo_keys()


@pytest.mark.parametrize("name", KNOWN)
def test_every_key_of_the_schema_has_a_fate(schema_keys: dict[str, list[str]], name: str) -> None:
    assert len(schema_keys[name]) > 2
    assert set(schema_keys[name]) - set(KNOWN[name]) == set()
