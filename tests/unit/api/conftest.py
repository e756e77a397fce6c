import pytest

from cupel_core.domain.access import Role
from cupel_core.settings import Settings
from tests.unit.api.client import Client


@pytest.fixture
def client(cloud: Settings) -> Client:
    """Calls as an admin of the workspace `acme`; `token=` calls as someone else."""
    called = Client(None)
    called.token = called.issue()
    return called


@pytest.fixture
def viewer(client: Client) -> str:
    return client.issue(role=Role.VIEWER)


@pytest.fixture
def member(client: Client) -> str:
    return client.issue(role=Role.MEMBER)


@pytest.fixture
def stranger(client: Client) -> str:
    return client.issue("other")
