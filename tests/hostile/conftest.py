"""These tests take minutes and run only on request: `make hostile`, or `pytest tests/hostile`."""

from pathlib import Path

import pytest

from tests.unit.conftest import finish_starts

__all__ = ["finish_starts"]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_requested = any("tests/hostile" in argument for argument in config.args)
    return True if collection_path.name.startswith("test_") and not is_requested else None
