"""The product, on the simulator's stage."""

from collections.abc import Iterator

import pytest

from tests.simulation.harness import Patches, set_up


@pytest.fixture(scope="module")
def stage() -> Iterator[None]:
    with set_up():
        yield


@pytest.fixture
def patches(stage: None) -> Iterator[Patches]:
    made = Patches()
    yield made
    made.undo()
