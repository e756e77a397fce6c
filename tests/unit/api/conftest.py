from itertools import count

import pytest

from authorize import app as authorizer
from cupel_core.domain.access import AccessRole
from cupel_core.store.settings import Settings
from cupel_core.workspace.access import request_rates
from tests.unit.api.client import Client


@pytest.fixture
def client(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Calls as an admin of the workspace `acme`; `token=` calls as someone else.

    Its requests come a minute apart for the authorizer, so that a fast machine does not exceed the limit of a token.
    """
    request_rates.forget()
    monkeypatch.setattr(authorizer, "time", count(1_800_000_000, 60).__next__)
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
