"""The product, running in the simulator."""

from collections.abc import Iterator

import pytest

from tests.simulation.harness import Patches, install


@pytest.fixture(scope="module")
def simulation() -> Iterator[None]:
    with install():
        yield


@pytest.fixture
def patches(simulation: None) -> Iterator[Patches]:
    patches = Patches()
    yield patches
    patches.undo()
