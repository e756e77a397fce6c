"""Every key that the real promptfoo's schemas know is in the tables of the import."""

import pytest

from cupel_core.imports.promptfoo.configuration_keys import ASSERTION, CONFIGURATION, OPTIONS, TEST
from tests.interop import tools

KNOWN = {"config": CONFIGURATION, "test": TEST, "options": OPTIONS, "assertion": ASSERTION}


@pytest.fixture(scope="module")
def schema_keys() -> dict[str, list[str]]:
    return tools.promptfoo_keys()


@pytest.mark.parametrize("name", KNOWN)
def test_every_key_of_the_schema_has_a_fate(schema_keys: dict[str, list[str]], name: str) -> None:
    assert len(schema_keys[name]) > 8
    assert set(schema_keys[name]) - set(KNOWN[name]) == set()
