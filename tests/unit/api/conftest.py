import pytest

from cupel_core.access import request_rates
from cupel_core.domain.access import AccessRole
from cupel_core.settings import Settings
from tests.unit.api.client import Client


@pytest.fixture
def client(cloud: Settings) -> Client:
    """Calls as an admin of the workspace `acme`; `token=` calls as someone else."""
    request_rates.forget()
    called = Client(None)
    called.token = called.issue()
    return called


@pytest.fixture
def viewer(client: Client) -> str:
    return client.issue(role=AccessRole.VIEWER)


@pytest.fixture
def member(client: Client) -> str:
    return client.issue(role=AccessRole.MEMBER)


@pytest.fixture
def stranger(client: Client) -> str:
    return client.issue("other")
