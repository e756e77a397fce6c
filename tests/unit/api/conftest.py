from collections.abc import Iterator

import pytest

from shared import accounts
from shared.domain.access import Role
from shared.settings import Settings
from tests.unit.api.client import Client


@pytest.fixture
def client(cloud: Settings) -> Iterator[Client]:  # noqa: ARG001 - the services behind it
    """Calls as an admin of the workspace `acme`; `token=` calls as someone else."""
    accounts.forget()
    called = Client(None)
    called.token = called.issue()
    yield called
    accounts.forget()


@pytest.fixture
def viewer(client: Client) -> str:
    return client.issue(role=Role.VIEWER)


@pytest.fixture
def member(client: Client) -> str:
    return client.issue(role=Role.MEMBER)


@pytest.fixture
def stranger(client: Client) -> str:
    return client.issue("other")
