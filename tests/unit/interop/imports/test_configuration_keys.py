"""A key of a configuration that is left out is reported."""

import pytest

from cupel_core.interop.imports.promptfoo.configuration_keys import (
    ASSERTION,
    CONFIGURATION,
    OPTIONS,
    PROVIDER,
    TEST,
    Fate,
)
from tests.unit.interop.imports.reading import skipped


def left(keys: object) -> list[str]:
    assert isinstance(keys, dict)
    return [name for name, key in keys.items() if key.fate is Fate.LEFT]


VALUES = {"redteam": {}, "providers": []}


@pytest.mark.parametrize("name", left(CONFIGURATION))
def test_a_left_key_of_the_configuration_is_reported(name: str) -> None:
    config = {"prompts": ["a"], name: VALUES.get(name, "x")}
    assert name in [note.where for note in skipped(config)]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *(("tests.0.", name) for name in left(TEST)),
        *(("tests.0.options.", name) for name in left(OPTIONS)),
        *(("tests.0.assert.0.", name) for name in left(ASSERTION) if name != "contextTransform"),
        *(("providers.0.", name) for name in left(PROVIDER)),
    ],
)
def test_a_left_key_below_it_is_reported(path: str, name: str) -> None:
    test: dict[str, object] = {"vars": {"x": "y"}, "options": {}, "assert": [{"type": "is-json"}]}
    config = {"prompts": ["a {{x}}"], "providers": [{"id": "echo"}], "tests": [test]}
    place = config
    for step in filter(None, path.split(".")):
        place = place[int(step)] if step.isdigit() else place[step]  # type: ignore[index,assignment]
    place[name] = "x"  # type: ignore[assignment]
    assert f"{path}{name}" in [note.where for note in skipped(config)]
