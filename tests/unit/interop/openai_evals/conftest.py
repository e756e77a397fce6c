import pytest
from openai import OpenAI

from tests.openai_client import openai_client
from tests.unit.api.client import Client


@pytest.fixture
def client(cloud: object) -> Client:
    """Calls as an admin of the workspace `acme`."""
    from cupel_core.workspace.access import request_rates

    request_rates.forget()
    called = Client(None)
    called.token = called.issue()
    return called


@pytest.fixture
def openai(client: Client) -> OpenAI:
    return openai_client(client)
