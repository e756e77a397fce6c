"""Every key that the real promptfoo's schemas know is in the tables of the import."""

import pytest

from cupel_core.interop.imports.promptfoo.configuration_keys import (
    ASSERTION,
    COMMAND_LINE_OPTIONS,
    CONFIGURATION,
    EVALUATE_OPTIONS,
    MODEL_OPTIONS,
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


NO_OPTIONS = {
    "config": "a part of the program",
    "costCalculator": "a function of the program",
    "modelName": "set by the program",
    "providerType": "set by the program",
    "outputDimensionality": "of embedding models",
    "taskType": "of embedding models",
    "title": "of embedding models",
}


def test_every_option_that_providers_of_chat_models_read_has_a_fate() -> None:
    read = tools.promptfoo_options()
    assert {"max_tokens", "passthrough", "reasoning_effort", "safetySettings", "thinking"} <= read
    assert read - MODEL_OPTIONS.keys() == NO_OPTIONS.keys()
