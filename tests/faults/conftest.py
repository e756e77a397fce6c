"""Tests that take minutes run only on request: `make faults`, or `pytest tests/faults/...`."""

from pathlib import Path

import pytest

_SLOW = ("test_fault_matrix.py", "test_kills.py", "test_restart.py")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_requested = any("tests/faults" in argument for argument in config.args)
    return True if collection_path.name in _SLOW and not is_requested else None
